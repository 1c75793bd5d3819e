"""The run folder: everything one run knows, in one place, that survives being interrupted.

| in `runs/NAME/` | what it is | written by |
| --- | --- | --- |
| `config.toml` | every setting, resolved, before any work | `RunFolder.create` |
| `run.json` | when, which version, and the record of every stage | `RunFolder` |
| `model/` | weights, settings, vocabularies | training |
| `results/NAME/` | one Result: `result.json` and a CSV a table | analyses |
| `figures/`, `report.html` | what is shown | reports |
| `log.txt` | what happened and when, for people | everyone |
| `log.jsonl` | the steps of training, for programs | training |
| `scratch/STAGE/` | what an unfinished stage needs to go on, such as checkpoints | stages |
| `outdated/` | outputs of stages that had to be done again, with the time | `RunFolder` |

A run is created once and its settings are fixed: going on with other settings is an error that
names the first difference. Settings that the record does not know at all are accepted and
written down, for they are what a newer version of headcount brought.

Work is done in stages. A stage names its inputs (fingerprints of settings, data, weights and
code), its outputs (files or folders of the run) and the work. It is left alone only when it
was finished with exactly these inputs and its outputs are still what it wrote, byte for byte.
When it has to be done again, what it wrote before is set aside in `outdated/`, never
overwritten, so that a page never shows a mixture and a trained model is never lost. When it
was interrupted with these same inputs, it finds its scratch folder as it left it.

Every record is replaced atomically, and a stage is recorded as done only after its work
returned: a process killed at any point leaves the run as it was, or one stage further.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from .. import __version__
from ..models.errors import DataError, UsageError, system_says
from ..models.files import write_json, write_text
from .provenance import Stopwatch
from .run_lock import only_process
from .run_record import (
    FORMAT,
    as_json,
    files_of,
    first_change,
    first_difference,
    is_ours,
    is_sealed,
    is_written,
    read_record,
    refuse_edited,
    seal,
    set_aside,
)
from .toml_text import toml_text


@dataclass(frozen=True)
class Stage:
    """What the work of a stage is told.

    Args:
        name: the stage.
        scratch: a folder of its own for what it needs to go on after an interruption; removed
            when the stage is done.
        resuming: whether `scratch` holds what an interrupted attempt with the same inputs left.
    """

    name: str
    scratch: Path
    resuming: bool


class RunFolder:
    """One run: its settings, its paths, its stages and its log.

    Args:
        path: a folder made by `create`.

    Attributes:
        model, results, figures, page, steps_log: where things are, as in the table above.

    Raises:
        DataError: `path` holds no run, or a damaged one, or one of a newer version.
        UsageError: `config.toml` was edited.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.normpath(Path(path).absolute()))
        self.model = self.path / "model"
        self.results = self.path / "results"
        self.figures = self.path / "figures"
        self.page = self.path / "report.html"
        self.steps_log = self.path / "log.jsonl"
        self._settings_file = self.path / "config.toml"
        self._record = read_record(self.path)
        self._working = False
        refuse_edited(self._settings_file, self._record["config"])

    @classmethod
    def create(cls, path: Path, config: Mapping[str, Any]) -> Self:
        """Make a run that does not exist yet and write its settings down.

        Args:
            path: a folder that is missing or empty.
            config: every setting, resolved; what TOML can hold, and None.

        Raises:
            UsageError: there is a run in `path` already, or something else.
        """
        path = Path(path)
        if (path / "run.json").exists():
            raise UsageError(f"{path} holds a run already; choose another folder with -o")
        cls._create(path, as_json(config))
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a run that exists, to read it or to work on it."""
        return cls(path)

    @classmethod
    def resume(cls, path: Path, config: Mapping[str, Any]) -> Self:
        """Create a run, or go on with the one that is there if its settings are the same.

        Raises:
            UsageError: the run was made with other settings; names the first that differs.
        """
        path = Path(path)
        if not (path / "run.json").exists():
            return cls.create(path, config)
        run = cls(path)
        run._agree(as_json(config))
        return run

    @classmethod
    def _create(cls, path: Path, config: dict[str, Any]) -> None:
        """Write `config.toml`, then `run.json`, without which the folder is no run yet."""
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is a file; choose a folder with -o")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{path} cannot be made ({system_says(error)}); choose another -o"
            ) from None
        foreign = sorted(file.name for file in path.iterdir() if not is_ours(file.name))
        if foreign:
            raise UsageError(
                f"{path} holds '{foreign[0]}' and is no run; choose an empty folder with -o"
            )
        with only_process(path / ".lock", str(path)):
            if (path / "run.json").exists():
                raise UsageError(f"{path} holds a run already; choose another folder with -o")
            write_text(path / "config.toml", toml_text(config))
            record = {
                "format": FORMAT,
                "version": __version__,
                "created": Stopwatch().started,
                "config": config,
                "stages": {},
            }
            write_json(path / "run.json", record)

    @property
    def name(self) -> str:
        """The name of the run: its folder's."""
        return self.path.resolve().name

    @property
    def config(self) -> dict[str, Any]:
        """The settings as they were recorded; a copy."""
        config: dict[str, Any] = json.loads(json.dumps(self._record["config"]))
        return config

    @property
    def stages(self) -> dict[str, Any]:
        """The record of every stage by name: state, inputs, outputs, times; a copy."""
        stages: dict[str, Any] = json.loads(json.dumps(self._record["stages"]))
        return stages

    def scratch(self, stage: str) -> Path:
        """Return where a stage keeps what it needs to go on after an interruption."""
        return self.path / "scratch" / stage

    def result(self, analysis: str) -> Path:
        """Return the folder of one analysis's Result."""
        return self.results / analysis

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold the run for this process while the body runs; may be nested.

        Raises:
            HeadcountError: another process is working on the run.
        """
        if self._working:
            yield
            return
        with only_process(self.path / ".lock", str(self.path)):
            self._record = read_record(self.path)
            self._working = True
            try:
                yield
            finally:
                self._working = False

    def stage(
        self,
        name: str,
        inputs: Mapping[str, str],
        outputs: Sequence[Path],
        work: Callable[[Stage], None],
    ) -> bool:
        """Do one stage, unless it is done already; return whether there was work.

        A run whose very first work is refused for its settings or its text (UsageError or
        DataError), before there is anything to go on from, is taken away again: it would stand
        in the way of the corrected command.

        Args:
            name: unique in the run, and fit for a folder's name.
            inputs: everything the outputs depend on, by name, as fingerprints or short texts.
            outputs: the files or folders that the work writes and nobody else does, such as
                `run.model`; a relative path is one within the run.
            work: called when the stage has to be done.

        Raises:
            ValueError: an output lies outside the run.
            RuntimeError: the work returned without writing an output.
        """
        with self.working():
            reason = self.why(name, inputs, outputs)
            if reason is None:
                self.log(f"{name}: nothing changed, kept")
                return False
            before = self._record["stages"].get(name, {})
            interrupted = before.get("state") == "begun" and before["inputs"] == dict(inputs)
            self.log(f"{name}: {'goes on' if interrupted else 'starts'} ({reason})")
            stage = self._begin(name, inputs, outputs, resuming=interrupted)
            stopwatch = Stopwatch()
            try:
                work(stage)
            except BaseException as error:
                self.log(f"{name}: stopped by {type(error).__name__}")
                if isinstance(error, UsageError | DataError) and self._is_new(name):
                    self._withdraw()
                raise
            self._finish(stage, inputs, outputs, stopwatch)
            self.log(f"{name}: done in {stopwatch.seconds:.1f} s")
            return True

    def _is_new(self, stage: str) -> bool:
        """Whether all that the run has is a first attempt at its first stage, with no state."""
        stages = self._record["stages"]
        first = list(stages) == [stage] and stages[stage]["attempts"] == 1
        saved = self.scratch(stage).rglob("state.safetensors")
        return first and stages[stage]["state"] == "begun" and not any(saved)

    def _withdraw(self) -> None:
        """Take away what `create` and the first attempt wrote, and the folder if it is empty."""
        (self.path / "run.json").unlink()  # without it the folder is no run
        shutil.rmtree(self.path / "scratch", ignore_errors=True)
        for name in ("config.toml", "log.txt", "log.jsonl", ".lock"):
            (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()

    def log(self, line: str) -> None:
        """Add a line with the local time to `log.txt`."""
        text = f"{datetime.now().isoformat(sep=' ', timespec='seconds')}  {line}\n"
        handle = os.open(self.path / "log.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)

    def why(self, name: str, inputs: Mapping[str, str], outputs: Sequence[Path]) -> str | None:
        """Return why a stage would have to be done now, or None if it would be left alone."""
        record = self._record["stages"].get(name)
        paths = [self._inside(path) for path in outputs]
        if record is None:
            return "for the first time"
        if changed := first_change(record["inputs"], inputs):
            return f"{changed} changed"
        if record["state"] != "done":
            return "it was not finished"
        if record["paths"] != paths:
            return "it has other outputs"
        for file, sealed in record["outputs"].items():
            if not is_sealed(self.path / file, sealed):
                return f"{file} is not what it wrote"
        return None

    def _begin(
        self, name: str, inputs: Mapping[str, str], outputs: Sequence[Path], *, resuming: bool
    ) -> Stage:
        """Set aside what an earlier stage wrote, make the scratch folder, and record both."""
        scratch = self.scratch(name)
        before = self._record["stages"].get(name, {})
        paths = [self._inside(path) for path in outputs]
        if not resuming:
            folder = set_aside(self.path, name, [*before.get("paths", []), *paths])
            if folder:
                self.log(f"{name}: what it wrote before is now in {folder}")
            shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True, exist_ok=True)
        self._write_stage(
            name,
            {
                "state": "begun",
                "inputs": dict(inputs),
                "paths": paths,
                "attempts": before.get("attempts", 0) + 1 if resuming else 1,
            },
        )
        return Stage(name, scratch, resuming)

    def _finish(
        self, stage: Stage, inputs: Mapping[str, str], outputs: Sequence[Path], watch: Stopwatch
    ) -> None:
        """Record the stage as done, with a seal on every file it wrote."""
        paths = [self._inside(path) for path in outputs]
        for path in paths:
            if not (self.path / path).exists():
                raise RuntimeError(f"stage '{stage.name}' did not write {path}")
        files = [file for path in paths for file in files_of(self.path / path)]
        self._write_stage(
            stage.name,
            {
                "state": "done",
                "inputs": dict(inputs),
                "paths": paths,
                "outputs": {file.relative_to(self.path).as_posix(): seal(file) for file in files},
                "attempts": self._record["stages"][stage.name]["attempts"],
                "started": watch.started,
                "seconds": round(watch.seconds, 3),
                "version": __version__,
            },
        )
        shutil.rmtree(stage.scratch, ignore_errors=True)

    def _write_stage(self, name: str, record: dict[str, Any]) -> None:
        """Replace the record of one stage."""
        self._record["stages"][name] = record
        write_json(self.path / "run.json", self._record)

    def _inside(self, path: Path) -> str:
        """Return an output's path within the run."""
        whole = Path(os.path.normpath(self.path / path))
        if whole == self.path or not whole.is_relative_to(self.path):
            raise ValueError(f"{path} is not inside {self.path}")
        return whole.relative_to(self.path).as_posix()

    def _agree(self, config: dict[str, Any]) -> None:
        """Refuse other settings; write down settings that the record does not know."""
        difference = first_difference(self._record["config"], config)
        if difference:
            raise UsageError(f"{self.path} was made with {difference}; choose another -o")
        if self._record["config"] == config and is_written(self._settings_file, config):
            return
        with self.working():
            self._record["config"] = config
            write_json(self.path / "run.json", self._record)
            write_text(self._settings_file, toml_text(config))
