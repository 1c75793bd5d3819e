"""`headcount doctor`: what this machine has, and what is missing and how to get it.

Three questions are answered, in the order in which they stop a run: are the libraries there
in a version that fits, what can be computed on, and which corpora lie on this machine.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from packaging.requirements import Requirement

from .. import __version__
from ..analyses.provenance import ROOT, commit, memory_bytes, processor, usable_cores
from ..models.errors import HeadcountError
from .doctor_planted import show_planted
from .options import echo_json, json_option


@click.command()
@click.option(
    "--planted",
    is_flag=True,
    help="Instead: let every metric look for the head that carries the answer of a network "
    "whose weights were set by hand.",
)
@json_option
def command(planted: bool, as_json: bool) -> None:
    """Show versions, devices, data found, and what is missing.

    Exit code 1 when a required library is missing or has a version that does not fit; with
    --planted, when a metric does not rank that head first or a proof of it fails.

    \b
    Examples:
      headcount doctor
      headcount doctor --json
      headcount doctor --planted
    """
    if planted:
        show_planted(as_json)
        return
    libraries = libraries_by_extra()
    report = {
        "headcount": {"version": __version__, "commit": commit(), "folder": str(ROOT)},
        "python": platform.python_version(),
        "libraries": libraries[""],
        "extras": {extra: found for extra, found in libraries.items() if extra},
        "machine": machine(),
        "devices": devices(),
        "data": data_found(),
    }
    if as_json:
        echo_json(report)
    else:
        click.echo("\n".join(_lines(report)))
    wrong = [row for row in libraries[""] if not row["fits"]]
    if wrong:
        row = wrong[0]
        raise HeadcountError(
            f"{row['name']} {row['version'] or 'is missing'}, needed is "
            f"{row['name']}{row['needed']}; pip install '{row['name']}{row['needed']}'"
        )


def libraries_by_extra() -> dict[str, list[dict[str, Any]]]:
    """Return every library that pyproject.toml names, with its version, by extra.

    The required ones stand under the empty name. What is asked is the record of the installed
    package, so that this list cannot differ from what pip would install.
    """
    try:
        whole = metadata.metadata("headcount")
    except metadata.PackageNotFoundError:
        raise HeadcountError("headcount is not installed; pip install -e .") from None
    extras: dict[str, list[dict[str, Any]]] = {
        extra: [] for extra in ["", *(whole.get_all("Provides-Extra") or [])]
    }
    for line in metadata.requires("headcount") or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None:
            extras[""].append(_library(requirement))
            continue
        for extra in extras:
            if extra and marker.evaluate({"extra": extra}):
                extras[extra].append(_library(requirement))
    return extras


def _library(requirement: Requirement) -> dict[str, Any]:
    """Return name, range, version found (None if missing) and whether it fits."""
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        version = None
    return {
        "name": requirement.name,
        "needed": str(requirement.specifier),
        "version": version,
        "fits": version is not None and requirement.specifier.contains(version, prereleases=True),
    }


def machine() -> dict[str, Any]:
    """Return the processor, usable cores, memory in GiB, and the system."""
    return {
        "processor": processor(),
        "cores": usable_cores(),
        "memory_gib": round(memory_bytes() / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def devices() -> list[dict[str, Any]]:
    """Return what can be computed on, as `--device` names it, the choice of `auto` first."""
    try:
        import torch
    except ImportError:
        return []
    found: list[dict[str, Any]] = []
    for index in range(torch.cuda.device_count()):
        gpu = torch.cuda.get_device_properties(index)
        found.append(
            {
                "device": f"cuda:{index}",
                "name": gpu.name,
                "memory_gib": round(gpu.total_memory / 2**30, 1),
                "bfloat16": gpu.major >= 8,
            }
        )
    if torch.backends.mps.is_available():
        found.append({"device": "mps", "name": "Apple GPU"})
    found.append({"device": "cpu", "name": processor(), "threads": torch.get_num_threads()})
    return found


def data_found() -> dict[str, Any]:
    """Return where every named corpus is, the cache, and what lies in the shared folder."""
    from ..models.data.corpora import cache_folder, corpus, whereabouts

    cache = cache_folder()
    shared = Path(os.environ.get("HEADCOUNT_SHARED") or ROOT.parent / "shared")
    data = shared / "data"
    holds = sorted(it.name for it in data.iterdir() if it.is_dir()) if data.is_dir() else []
    return {
        "cache": str(cache),
        "corpora": [{"name": name, "where": whereabouts(name, cache)} for name in corpus],
        "shared": {"folder": str(shared), "holds": holds},
    }


def _lines(report: dict[str, Any]) -> Iterable[str]:
    """Turn the report into lines for people."""
    own, on = report["headcount"], report["machine"]
    yield f"headcount {own['version']} {own['commit'][:12]}".rstrip() + f" in {own['folder']}"
    yield (
        f"Python {report['python']} on {on['system']}: {on['processor']}, {on['cores']} cores, "
        + (f"{on['memory_gib']} GiB")
    )
    yield "\nDevices (--device auto takes the first)"
    for row in report["devices"]:
        extra = ", ".join(
            f"{key.replace('_gib', ' GiB')} {value}"
            for key, value in row.items()
            if key not in ("device", "name")
        )
        yield f"  {row['device']:8} {row['name']}" + (f" ({extra})" if extra else "")
    yield "\nLibraries"
    for row in report["libraries"]:
        mark = "" if row["fits"] else "   <- does not fit" if row["version"] else "   <- missing"
        yield f"  {row['name']:14} {row['version'] or '-':12} {row['needed']}{mark}"
    yield "\nExtras"
    for extra, rows in report["extras"].items():
        missing = [row["name"] for row in rows if not row["fits"]]
        state = f"missing {', '.join(missing)}; pip install -e '.[{extra}]'" if missing else "ready"
        yield f"  {extra:14} {state}"
    yield "\nCorpora"
    for row in report["data"]["corpora"]:
        yield f"  {row['name']:14} {row['where'] or 'headcount data fetch ' + row['name']}"
    shared = report["data"]["shared"]
    yield "\nData folders"
    yield f"  fetched        {report['data']['cache']} (HEADCOUNT_DATA)"
    holds = ", ".join(shared["holds"]) or "nothing found"
    yield f"  shared         {shared['folder']} (HEADCOUNT_SHARED): {holds}"
