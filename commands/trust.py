"""`headcount trust`: which importance metric can be believed on a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .options import SEED, device_option, echo_json, json_option, metrics_option
from .score import chosen_metrics

if TYPE_CHECKING:
    import torch

    from ..analyses.pipeline import Pipeline
    from ..analyses.reliability import Other
    from ..analyses.result import Result

SHOWN = ("verdict", "faithfulness", "areas", "stability", "concentration", "agreement")


@click.command(
    epilog="""\b
Examples:
  headcount trust runs/miniature                     the run's own answer, found if missing
  headcount trust runs/miniature --sentences 300 --bleu --greedy
  headcount trust runs/miniature --metrics all -o runs/miniature/results/reliability
  headcount trust runs/miniature --seeds runs/seed1 --seeds runs/seed2
  headcount trust runs/miniature --other val.en val.de
  headcount trust runs/miniature --json | jq '.verdict[] | {metric, believable, why}'
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@metrics_option("Ask of these, or of all")
@click.option(
    "--data", "split", type=click.Choice(["valid", "train"]), help="What importance is measured on."
)
@click.option("--sentences", type=click.IntRange(min=1), help="Sentences it is measured on.")
@click.option(
    "--curve-sentences", type=click.IntRange(min=0), help="Other sentences for removal curves."
)
@click.option("--bleu", is_flag=True, help="Also translate on the removal curves.")
@click.option(
    "--greedy/--no-greedy",
    default=None,
    help="Compare with an order that measures anew after each removal; slow for many heads.",
)
@click.option(
    "--seeds",
    multiple=True,
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="A run trained alike from another seed; repeatable.",
)
@click.option(
    "--other",
    nargs=2,
    metavar="SRC TGT",
    type=click.Path(path_type=Path),
    help="Two aligned files of another domain.",
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep what was found here; the page of RUN shows RUN/results/reliability.",
)
@click.option("--seed", type=SEED, help="Of splits and random orders; RUN's own.")
@device_option
@json_option
def command(
    run: Path,
    metrics: tuple[str, ...],
    split: str | None,
    sentences: int | None,
    curve_sentences: int | None,
    bleu: bool,
    greedy: bool | None,
    seeds: tuple[Path, ...],
    other: tuple[Path, Path] | None,
    output: Path | None,
    seed: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Say of every importance metric whether it can be believed on RUN, and why.

    Metrics are compared with each other, with leave-one-out, and with random and greedy
    orders of removal; on other sentences, and if given, on other seeds and other text. No
    test text is read. Without options this is the run's own answer, which is found and kept
    in RUN if it is missing. With options it is found anew and kept only with -o.
    """
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.reliability import reliability
    from ..models.devices import resolve_device
    from .progress import ProgressBar
    from .records import records_of

    given: dict[str, Any] = {"split": split, "sentences": sentences, "greedy": greedy}
    given |= {"curve_sentences": curve_sentences, "bleu": bleu or None}
    changes = {name: value for name, value in given.items() if value is not None}
    with ProgressBar() as progress:
        found = resolve_device(device)
        pipeline = Pipeline(open_run(run), found, progress)
        if metrics:
            changes["metrics"] = chosen_metrics(metrics)
        if changes or seeds or other or output or seed is not None:
            settings = pipeline.reliability_settings.with_changes(**changes)
            result = reliability(
                pipeline.translator,
                pipeline.corpus,
                settings,
                pipeline.settings.seed if seed is None else seed,
                progress,
                seeds=[_of_run(path, found) for path in seeds],
                domain=_of_files(pipeline, other) if other else None,
                name=run.resolve().name,
            )
            if output:
                result.save(output)
        else:
            result = pipeline.reliability()
    if as_json:
        tables = records_of(result, *(name for name in SHOWN if name in result.tables))
        echo_json({**tables, "remarks": list(result.remarks)})
    else:
        _show(result)


def _of_run(path: Path, device: torch.device) -> Other:
    """Return the model of another run with its own validation text."""
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.reliability import Other

    pipeline = Pipeline(open_run(path), device)
    return Other(path.resolve().name, pipeline.translator, pipeline.corpus.valid)


def _of_files(pipeline: Pipeline, files: tuple[Path, Path]) -> Other:
    """Return the run's own model with other text.

    Raises:
        UsageError: there is no sentence pair in the files.
    """
    from ..analyses.reliability import Other
    from ..models.data.parallel_text import ParallelText
    from ..models.data.readers import read_pairs

    pairs = list(read_pairs(*files))
    name = " ".join(path.name for path in files)
    if not pairs:
        raise UsageError(f"--other: {name} holds no sentence pair")
    text = ParallelText(name, [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    return Other(name, pipeline.translator, text)


def _show(result: Result) -> None:
    """Print the verdicts."""
    from .records import records

    table = result.tables["verdict"]
    click.echo(f"{table.caption} {table.n}.\n")
    for row in records(table.rows):
        answer = "chance" if row["metric"] == "random" else "yes" if row["believable"] else "no"
        click.echo(f"{row['metric']:22} {answer:7} {row['why']}")
    for remark in result.remarks:
        click.echo(f"\n{remark}")
