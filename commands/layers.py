"""`headcount layers`: what every layer knows of syntax and semantics."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from .options import device_option, echo_json, json_option, treebank_option

if TYPE_CHECKING:
    from ..analyses.result import Result


@click.command(
    epilog="""\b
Examples:
  headcount layers runs/miniature
  headcount layers runs/seed0 runs/seed1 runs/seed2         a verdict needs several seeds
  headcount layers runs/small --treebank en_ewt-ud-dev.conllu --task upos --task relation
  headcount layers runs/miniature --side encoder --json | jq '.verdict'
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1, type=click.Path(path_type=Path))
@click.option("--task", "tasks", multiple=True, metavar="NAME", help="Probe this; repeatable.")
@click.option(
    "--side",
    type=click.Choice(["encoder", "decoder"]),
    help="Probe this side only; by default both, of a treebank the encoder.",
)
@treebank_option
@click.option(
    "--sentences", type=click.IntRange(min=1), help="Training sentences of the built-in corpus."
)
@click.option("--controls", type=click.IntRange(min=0), help="Draws of the control task.")
@click.option("--memory", type=click.IntRange(min=1), metavar="MB", help="For states, in MB.")
@click.option("--processes", type=click.IntRange(min=1), help="Layers probed at once.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep what was found here; by default in RUN/results/layers.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of splits and draws; the run's own.")
@device_option
@json_option
def command(
    run: Path,
    others: tuple[Path, ...],
    tasks: tuple[str, ...],
    side: str | None,
    treebank: Path | None,
    sentences: int | None,
    controls: int | None,
    memory: int | None,
    processes: int | None,
    output: Path | None,
    seed: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Show what each layer of RUN knows, and whether syntax lies lower than semantics.

    Linear probes read every layer for every task that the annotation allows, beside their
    baselines: control tasks, the network with random weights, the most frequent label. OTHERS
    are runs of the same model from other seeds; without them the verdict is `undecided`.
    """
    from ..analyses.layers import LayersSettings, layers, miniature_text, treebank_text
    from ..analyses.pipeline import Pipeline, open_run
    from ..models.devices import resolve_device
    from .progress import ProgressBar

    survey: dict[str, Any] = {}
    store: dict[str, Any] = {}
    if controls is not None:
        survey["controls"] = controls
    if processes:
        survey["processes"] = processes
    if memory:
        survey["memory"] = store["memory"] = memory << 20
    changes: dict[str, Any] = {"survey": survey, "store": store, "tasks": tasks}
    if side:
        changes["sides"] = (side,)
    if sentences:
        changes["sentences"] = sentences
    settings = LayersSettings.from_dict(changes, "layers")
    settings.members()
    with ProgressBar() as progress, TemporaryDirectory() as states:
        first = open_run(run)
        pipelines = [
            Pipeline(it, resolve_device(device), progress)
            for it in (first, *[open_run(other) for other in others])
        ]
        own = pipelines[0].settings
        seed = own.seed if seed is None else seed
        if treebank:
            text = treebank_text(_read(treebank), seed)
        else:
            text = miniature_text(own.corpus, settings)
        result = layers(
            pipelines[0].translator,
            text,
            settings,
            seed,
            progress,
            folder=Path(states),
            others=[it.translator for it in pipelines[1:]],
        )
        result.save(output or first.result("layers"))
    _show(result, as_json)


def _read(path: Path) -> Any:
    """Read a treebank by the ending of its name."""
    from ..probe.annotations import read_conllu, read_conllulex

    reads = read_conllulex if ".conllulex" in path.suffixes else read_conllu
    return reads(path)


def _show(result: Result, as_json: bool) -> None:
    tables = result.tables
    if as_json:
        names = ("verdict", "baselines", "probes")
        echo_json({name: tables[name].rows.to_dict("records") for name in names})
        return
    probes = tables["probes"].rows[tables["probes"].rows["model"] == 0]
    click.echo(f"accuracy in %, layer by layer; {tables['probes'].n}")
    for base in tables["baselines"].rows.to_dict("records"):
        own = probes[(probes["side"] == base["side"]) & (probes["task"] == base["task"])]
        curves = {
            name: " ".join(f"{100 * value:5.1f}" for value in rows["accuracy"])
            for name, rows in own.groupby("network", sort=False)
        }
        untrained = f"   random {curves['random']}" if "random" in curves else ""
        click.echo(
            f"  {base['side']} {base['family']:11} {base['task']:36} {curves['trained']}"
            f"{untrained}   majority {100 * base['majority']:5.1f}"
        )
    for row in tables["verdict"].rows.to_dict("records"):
        click.echo(f"{row['side']}: {row['answer']} ({row['reason']})")
    for remark in result.remarks:
        click.echo(remark)
