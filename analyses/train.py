"""What did training cost, and did it end? The trained model and its `train` Result.

The table `curve` holds the loss of the training batches, averaged over stretches of updates,
and the validation NLL and BLEU where they were measured. The training loss is the plain NLL
of the labels, without the smoothing that is minimised, but with dropout, so it lies above
the validation NLL until the model overfits. The table `outcome` describes the weights that
were kept: the mean of the last checkpoints, or the best checkpoint where that did better.

Pitfall: a training that was stopped by the clock (`minutes`) cannot be repeated exactly, for
the machine decides how many updates it makes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import torch

from ..models.data.parallel_text import Corpus
from ..models.training.from_corpus import Recipe, train_from_corpus
from ..models.training.processes import Processes
from ..models.training.state import Progress as History
from ..models.transformer import TransformerTranslator
from .analysis import Progress, silent
from .provenance import Stopwatch, provenance
from .result import Column, Result, Table

STRETCHES = 100  # rows of the curve, about

CURVE = (
    Column("step", "whole", "updates made"),
    Column(
        "train_loss",
        "number",
        "NLL of training labels, mean of the updates since the row above",
        "nats a token",
    ),
    Column("valid_nll", "number", "NLL of the validation split", "nats a token"),
    Column("valid_bleu", "number", "greedy BLEU of some validation sentences", "BLEU points"),
    Column("tokens_per_second", "number", "target tokens learnt from, likewise", "tokens a second"),
    Column("seconds", "number", "training time so far, validations included", "seconds"),
    Column("learning_rate", "number", "learning rate of the last update"),
)
OUTCOME = (
    Column("updates", "whole", "optimiser steps made"),
    Column("averaged", "whole", "checkpoints averaged at the end"),
    Column("valid_nll", "number", "NLL of the validation split", "nats a token"),
    Column("valid_bleu", "number", "greedy BLEU of some validation sentences", "BLEU points"),
    Column("seconds", "number", "training time, validations included", "seconds"),
)


def train(
    corpus: Corpus,
    recipe: Recipe,
    folder: Path,
    steps_log: Path,
    device: torch.device,
    progress: Progress = silent,
    processes: Processes = Processes(),
) -> tuple[TransformerTranslator, Result]:
    """Train a model, going on where an interrupted training in `folder` was.

    Args:
        recipe: settings of vocabulary, network and training, and the seed.
        folder: keeps the state of the training.
        steps_log: one JSON object an update is appended here.
        device: where to train.
        processes: those that share the work; this function is the first one's.

    Raises:
        DivergedError: the loss became infinite or not a number.
        CheckpointError: a state that is damaged or was made with other settings.
    """
    stopwatch = Stopwatch()
    updates = recipe.training.updates
    with _appending(steps_log) as log:

        def report(figures: Mapping[str, float]) -> None:
            log.write(json.dumps(figures) + "\n")
            speed = f"loss {figures['train_nll']:.3f}, {figures['tokens_per_second']:,.0f} tokens/s"
            progress("train", int(figures["update"]), updates, speed)

        translator, history = train_from_corpus(
            corpus, recipe, folder, device=device, report=report, processes=processes
        )
    splits = {"train": corpus.train, "valid": corpus.valid}
    tables = {
        "curve": Table.of(
            "How the model learnt.",
            CURVE,
            curve_records(read_steps(steps_log), history.history, recipe.training.validate_every),
            n=f"{len(corpus.train)} training and {len(corpus.valid)} validation sentences",
        ),
        "outcome": Table.of("The weights that were kept.", OUTCOME, [_outcome(history)]),
    }
    settings = {
        part: getattr(recipe, part).model_dump(mode="json")
        for part in ("vocabulary", "network", "training")
    }
    origin = provenance(
        stopwatch,
        seed=recipe.seed,
        model=translator.fingerprint,
        data={name: text.fingerprint for name, text in splits.items()},
        device=device,
    )
    return translator, Result("train", tables, settings, origin)


def help_to_train(
    corpus: Corpus, recipe: Recipe, folder: Path, device: torch.device, processes: Processes
) -> None:
    """Take this process's share of a training that the first process leads and records."""
    train_from_corpus(
        corpus, recipe, folder, device=device, report=lambda _: None, processes=processes
    )


def curve_records(
    steps: Sequence[Mapping[str, float]],
    validations: Sequence[Mapping[str, float]],
    validate_every: int,
) -> list[dict[str, Any]]:
    """Return the rows of `CURVE`: averages of stretches that end where validations are.

    Args:
        steps: the figures of every update, in order.
        validations: one record a validation; the one of the averaged weights is left out.
        validate_every: updates between validations.
    """
    if not steps:
        return []
    # A stretch divides the validation interval, so that every validation ends one.
    wanted = max(1, int(steps[-1]["update"]) // STRETCHES)
    stretch = next(n for n in range(min(wanted, validate_every), 0, -1) if validate_every % n == 0)
    measured = {int(it["update"]): it for it in validations if "averaged" not in it}
    records, start = [], 0
    for position, step in enumerate(steps):
        update = int(step["update"])
        if update % stretch and update not in measured and position + 1 < len(steps):
            continue
        part = steps[start : position + 1]
        start = position + 1
        here = measured.get(update, {})
        records.append(
            {
                "step": update,
                "train_loss": sum(it["train_nll"] for it in part) / len(part),
                "valid_nll": here.get("valid_nll", float("nan")),
                "valid_bleu": here.get("valid_bleu", float("nan")),
                "tokens_per_second": sum(it["tokens_per_second"] for it in part) / len(part),
                "seconds": step["seconds"],
                "learning_rate": step["learning_rate"],
            }
        )
    return records


def read_steps(path: Path) -> list[dict[str, float]]:
    """Read the log of updates; of updates that were made again after a kill the later counts.

    A line that a kill cut short is left out; its update was made again.
    """
    steps: dict[int, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            figures = json.loads(line)
        except ValueError:
            continue
        steps[int(figures["update"])] = figures
    return [steps[update] for update in sorted(steps)]


def _appending(path: Path) -> IO[str]:
    """Open the log to append whole lines, behind a line that may have been cut short."""
    torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    log = path.open("a", encoding="utf-8", buffering=1)
    if torn:
        log.write("\n")
    return log


def _outcome(history: History) -> dict[str, Any]:
    """Return the row of `OUTCOME`: what was measured last."""
    last = history.history[-1]
    return {
        "updates": history.update,
        "averaged": int(last.get("averaged", 1)),
        "valid_nll": last["valid_nll"],
        "valid_bleu": last.get("valid_bleu", float("nan")),
        "seconds": history.seconds,
    }
