"""`headcount train`: the first stage of a run by itself, on one device or on several."""

from __future__ import annotations

import os
from pathlib import Path

import click

from .run_options import run_of, run_options


@click.command(
    epilog="""\b
Examples:
  headcount train --preset small --corpus multi30k -o runs/small
  headcount train --train a.en a.de --valid b.en b.de --test c.en c.de -o runs/own
  headcount train --resume -o runs/small         go on after an interruption
\b
On 4 GPUs of one machine (micro_batches is the number for all of them together):
  torchrun --nproc-per-node 4 -m headcount train --preset base \\
      --set training.micro_batches=4 -o runs/base
"""
)
@run_options
def command(
    preset: str,
    config: Path | None,
    assignments: tuple[str, ...],
    folder: Path | None,
    seed: int,
    device: str,
) -> None:
    """Train a model and keep it in a run folder.

    An interrupted training goes on with the same command; `headcount run -o RUN` then does
    the other stages.
    """
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result
    from ..analyses.run_folder import RunFolder
    from ..models.devices import resolve_device
    from ..models.training.processes import joined, own_device
    from .progress import ProgressBar

    place = resolve_device(own_device(device))
    with joined(place) as processes, ProgressBar() as progress:
        text = None
        if processes.first:
            run, text = run_of(preset, config, assignments, folder, seed)
        processes.wait()
        if not processes.first:
            run = RunFolder.open(folder or Path("runs") / preset)
        Pipeline(run, place, progress, text).train(processes)
    if processes.first:
        outcome = Result.load(run.result("train")).tables["outcome"].rows.iloc[0]
        click.echo(f"Validation NLL {outcome['valid_nll']:.3f} nats a token")
        click.echo(f"The model is {os.path.relpath(run.model)}")
