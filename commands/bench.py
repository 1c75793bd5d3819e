"""`headcount bench`: how fast and how small measurements and models are on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..models.errors import UsageError
from .options import device_option, echo_json, json_option, seed_option

if TYPE_CHECKING:
    from ..analyses.result import Result


@click.group()
def command() -> None:
    """Measure speed and memory: of smaller models, and of the importance metrics.

    \b
    Examples:
      headcount bench gain runs/miniature --model runs/miniature/smaller/l0-heads-18
      headcount bench score
      headcount bench score --rounds 1 --no-memory
    """


@command.command(
    epilog="""\b
Examples:
  headcount bench score                          minutes; leave the machine alone meanwhile
  headcount bench score --rounds 1 --no-memory
  headcount bench score --memory gradient --memory lrp --json
"""
)
@click.option(
    "--sentences",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Sentences of the text.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How often everything is timed.",
)
@click.option(
    "--orders",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Orders of the heads for Shapley values.",
)
@click.option(
    "--shape",
    type=click.Choice(["nano", "miniature", "small", "base"]),
    default="small",
    show_default=True,
    help="Preset whose shape the model has.",
)
@click.option(
    "--vocabulary", type=click.IntRange(16, 17_000), help="Its entries; the preset's own."
)
@click.option("--threads", type=click.IntRange(min=1), help="Threads; as many as torch takes.")
@click.option("--memory", multiple=True, metavar="METRIC", help="Measure its memory; repeatable.")
@click.option("--no-memory", is_flag=True, help="Measure no memory.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep the result here.",
)
@seed_option
@json_option
def score(
    sentences: int,
    rounds: int,
    orders: int,
    shape: str,
    vocabulary: int | None,
    threads: int | None,
    memory: tuple[str, ...],
    no_memory: bool,
    output: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Compare the importance metrics with the passes that they are made of.

    Weights are random, the text is drawn, and all is measured on the CPU. The table gives
    each ratio as reached beside its target, which is the largest that is good enough.
    """
    import torch

    from ..analyses.bench.score import ScoreBenchmark, benchmark_score
    from ..analyses.bench.subject import Subject
    from ..analyses.presets import run_settings
    from .progress import ProgressBar

    if threads:
        torch.set_num_threads(threads)
    preset = run_settings(shape, where="--shape")
    subject = Subject(
        network=preset.network,
        vocabulary=vocabulary or preset.vocabulary.size,
        sentences=sentences,
        seed=seed,
    )
    chosen = () if no_memory else memory or None
    settings = ScoreBenchmark(subject=subject, rounds=rounds, orders=orders, memory=chosen)
    with ProgressBar() as progress:
        result = benchmark_score(settings, progress)
    if output:
        result.save(output)
    _show(result, as_json)


def _show(result: Result, as_json: bool) -> None:
    """Print the ratios."""
    from .records import records

    table = result.tables["ratios"]
    rows = records(table.rows)
    if as_json:
        echo_json({"ratios": rows, "n": table.n})
        return
    click.echo(f"{table.caption} {table.n}.")
    for remark in result.remarks:
        click.echo(remark)
    click.echo(f"\n{'reached':>8} {'target':>7}  what")
    for row in rows:
        target = "" if row["target"] is None else f"{row['target']:.2f}"
        mark = "  <- MISSED" if row["met"] is False else ""
        note = f" ({row['note']})" if row["note"] else ""
        click.echo(
            f"{row['reached']:8.3f} {target:>7}  {row['what']} / {row['against']}{note}{mark}"
        )


@command.command(
    epilog="""\b
Examples:
  headcount bench gain runs/long --model runs/long/smaller/gradient-heads-18
  headcount bench gain runs/long --model cut --batch 1 --batch 64 --beam 1 --rounds 25
  headcount bench gain runs/long --model cut --threads 1 --no-memory --json
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="A smaller model that `headcount prune` has saved; repeatable.",
)
@click.option(
    "--batch",
    "batches",
    multiple=True,
    type=click.IntRange(min=1),
    default=(1, 16, 64),
    show_default=True,
    help="Sentences translated together; repeatable.",
)
@click.option(
    "--beam",
    "beams",
    multiple=True,
    type=click.IntRange(min=1),
    default=(1, 5),
    show_default=True,
    help="Hypotheses a sentence, 1 is greedy; repeatable.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=6),
    default=15,
    show_default=True,
    help="How often the models take turns.",
)
@click.option("--threads", type=click.IntRange(min=1), help="Threads; as many as torch takes.")
@click.option("--parts/--no-parts", default=True, help="Time attention and other parts too.")
@click.option("--memory/--no-memory", default=True, help="Measure the peak of memory too.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep the result here; RUN/results/gain, which the page reads, when not given.",
)
@device_option
@json_option
def gain(
    run: Path,
    models: tuple[Path, ...],
    batches: tuple[int, ...],
    beams: tuple[int, ...],
    rounds: int,
    threads: int | None,
    parts: bool,
    memory: bool,
    output: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """Compare the speed and the size of smaller models with RUN's own.

    All models translate the same test sentences by turns in this process, greedily and by
    beam search. What counts is the median over rounds of the ratios, with its interval.
    """
    import torch

    from ..analyses.gain import GainSettings
    from ..analyses.gain import gain as measure
    from ..analyses.pipeline import Pipeline, open_run
    from ..models.devices import resolve_device
    from ..models.transformer import TransformerTranslator
    from .progress import ProgressBar

    names = _names(models)
    if threads:
        torch.set_num_threads(threads)
    settings = GainSettings(batches=batches, beams=beams, rounds=rounds, parts=parts, memory=memory)
    with ProgressBar() as progress:
        pipeline = Pipeline(open_run(run), resolve_device(device), progress)
        smaller = {
            name: TransformerTranslator.load(_model_in(folder), pipeline.device)
            for name, folder in names.items()
        }
        arguments = (pipeline.translator, smaller, pipeline.corpus.test, settings)
        result = measure(*arguments, pipeline.settings.seed, progress)
        with pipeline.run.working():
            result.save(output or pipeline.run.result("gain"))
    _show_gain(result, as_json)


def _model_in(folder: Path) -> Path:
    """Return the folder of the model: that of a run, or the folder itself."""
    return folder / "model" if (folder / "model").is_dir() else folder


def _names(folders: tuple[Path, ...]) -> dict[str, Path]:
    """Return the folders by the names that the models have in the tables."""
    names = {folder.resolve().name: folder for folder in folders}
    if len(names) < len(folders):
        raise UsageError("two of the models have the same name: name every folder once")
    return names


def _show_gain(result: Result, as_json: bool) -> None:
    """Print speed, parts and size."""
    from .records import records_of

    tables = records_of(result)
    if as_json:
        echo_json({**tables, "n": result.tables["speed"].n, "remarks": list(result.remarks)})
        return
    click.echo(f"{result.provenance.hardware}; {result.tables['speed'].n}")
    for row in tables["speed"]:
        faster = ""
        if row["speedup"] is not None:
            faster = "  {:.2f} [{:.2f}, {:.2f}] times as fast".format(
                *(row[f"speedup{end}"] for end in ("", "_low", "_high"))
            )
        if row["processor_speedup"] is not None:
            faster += ", {:.2f} [{:.2f}, {:.2f}] by processor time".format(
                *(row[f"processor_speedup{end}"] for end in ("", "_low", "_high"))
            )
        click.echo(
            f"  {row['search']:7} batch {row['batch']:3} {row['lengths']:5} {row['model']:20} "
            f"{row['tokens_per_second']:7.0f} tokens/s  {1000 * row['latency']:7.1f} ms{faster}"
        )
    for row in tables["parts"]:
        if row["part"] == "attention" and row["realised"] is not None:
            click.echo(
                f"  {row['search']:7} batch {row['batch']:3} {row['model']:20} attention: "
                f"{row['products_spared']:.0%} of its multiplications spared, and "
                f"{row['time_spared']:.0%} [{row['time_spared_low']:.0%}, "
                f"{row['time_spared_high']:.0%}] of its time ({row['realised']:.2f} of that)"
            )
    for row in tables["size"]:
        peak = "" if row["peak"] is None else f", peak {row['peak'] / 2**20:.1f} MiB"
        cache = "" if row["cache"] is None else f", keys and values {row['cache'] / 2**20:.2f} MiB"
        click.echo(
            f"  {row['model']:20} {row['heads']:3} heads  {row['parameters']:,} parameters  "
            f"{row['disk'] / 1e6:.1f} MB on disk{cache}{peak}"
        )
    for remark in result.remarks:
        click.echo(remark)
