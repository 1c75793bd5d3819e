"""Where numbers come from: version, commit, code, command, hardware, libraries, time.

Two fingerprints of the code are kept apart on purpose. The commit is for people: it can be
looked up, but says nothing about uncommitted changes or an installed copy. The code
fingerprint is for the run folder: the SHA-256 of the product's own files, so that a stage is
done again when, and only when, the code behind it changed.

Pitfall: numbers repeat bit for bit only on the same hardware with the same libraries and the
same number of threads, which is why all three are recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from .result import Provenance

if TYPE_CHECKING:
    import torch

ROOT = Path(__file__).resolve().parent.parent
"""The folder of the package, which is the checkout when it is installed from one."""

ROOMS = ("__init__.py", "cli.py", "analyses", "commands", "models", "probe", "reports")

LIBRARIES = (
    "captum",
    "numpy",
    "pandas",
    "sacrebleu",
    "safetensors",
    "scikit-learn",
    "scipy",
    "tokenizers",
    "torch",
)
"""The libraries whose version can change a number."""


class Stopwatch:
    """When work started, and for how long it has been going on.

    Attributes:
        started: UTC time in ISO 8601, to the second.
    """

    def __init__(self) -> None:
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since the start."""
        return time.perf_counter() - self._start


def provenance(
    stopwatch: Stopwatch,
    *,
    seed: int,
    model: str,
    data: Mapping[str, str],
    device: torch.device | str = "cpu",
    signatures: Mapping[str, str] | None = None,
    command: str | None = None,
) -> Provenance:
    """Return where the numbers of an analysis came from, when it has just ended.

    Args:
        stopwatch: made when the analysis began.
        seed: the one seed of the run.
        model: fingerprint of the translator.
        data: fingerprint of every text that was read, by name.
        device: where it was computed.
        signatures: for every quality measure its signature.
        command: what was typed; by default the command line of this process.
    """
    return Provenance(
        version=__version__,
        commit=commit(),
        command=command_line() if command is None else command,
        seed=seed,
        model=model,
        data=dict(data),
        hardware=hardware(device),
        libraries=library_versions(),
        started=stopwatch.started,
        seconds=round(stopwatch.seconds, 3),
        signatures=dict(signatures or {}),
    )


def fingerprint(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, such as of a part of the settings.

    Keys are sorted, so that order does not count; 1 and 1.0 count as different.

    Raises:
        TypeError: the value is not made of JSON's kinds.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def code_fingerprint(*parts: str) -> str:
    """Return the SHA-256 over the files of some parts of the package, names included.

    Args:
        parts: rooms or files below the package's folder, such as `"models"` or
            `"analyses/score.py"`; by default everything. Imports go downwards only, so a
            stage in one file of `analyses` depends on that file, on `probe` and on `models`.

    Raises:
        ValueError: there is no such part.
    """
    digest = hashlib.sha256(__version__.encode())
    for part in sorted(parts or ROOMS):
        path = ROOT / part
        if not path.exists():
            raise ValueError(f"the package has no part '{part}'")
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(ROOT)
            hidden = any(step.startswith((".", "__pycache__")) for step in name.parts)
            if file.is_file() and not hidden:
                content = hashlib.sha256(file.read_bytes()).hexdigest()
                digest.update(f"{name.as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


@cache
def commit() -> str:
    """Return the checkout's commit, `+changes` behind it if files differ; empty if unknown.

    A copy that is installed inside some other repository must not report that one's commit,
    so only a `.git` in the package's own folder counts.
    """
    if not (ROOT / ".git").exists():
        return ""
    head = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no") if head else ""
    return f"{head}+changes" if changed else head


def _git(*words: str) -> str:
    """Return what git answers in the checkout; empty when it fails or is not there."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(ROOT), *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()


def command_line() -> str:
    """Return what was typed, quoted so that it can be typed again."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    name = "headcount" if program in ("headcount", "__main__.py") else program
    return shlex.join([name, *sys.argv[1:]])


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of every library that can change a number."""
    versions = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            versions[library] = "missing"
    return versions


def hardware(device: torch.device | str = "cpu") -> str:
    """Return one line on the machine: processor, usable cores, threads, memory, and the GPU."""
    import torch  # here, for reading a run must not cost the loading of torch

    threads, cores = torch.get_num_threads(), usable_cores()
    parts = [
        f"{processor()}, {cores} core{'s' * (cores != 1)}, {threads} thread{'s' * (threads != 1)}",
        f"{memory_bytes() / 2**30:.0f} GiB",
        f"{platform.system()} {platform.machine()}",
    ]
    device = torch.device(device)
    if device.type == "cuda":
        found = torch.cuda.get_device_properties(device)
        parts.insert(0, f"{found.name} ({found.total_memory / 2**30:.0f} GiB)")
    elif device.type != "cpu":
        parts.insert(0, device.type)
    return ", ".join(parts)


@cache
def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def usable_cores() -> int:
    """Return how many cores this process may use, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
