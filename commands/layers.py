"""`headcount layers`: what every layer knows of syntax and semantics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .annotation_options import layer_option, read_treebank
from .options import SEED, device_option, echo_json, json_option, treebank_option

if TYPE_CHECKING:
    from ..analyses.layer_text import ProbedText
    from ..analyses.layers import LayersSettings
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result

TASKS: dict[str, Any] = {"multiple": True, "metavar": "TASK"}


@click.command(
    epilog="""\b
Examples:
  headcount layers runs/miniature
  headcount layers runs/seed0 --seeds runs/seed1 --seeds runs/seed2     for a verdict
  headcount layers runs/small --treebank en_ewt-ud-train.conllu.gz \\
    --layer supersenses=streusle.ud_train.derived.tsv --same-words supersense
  headcount layers runs/small --treebank en_pud.conllu --target-treebank de_pud.conllu
  headcount layers runs/miniature --pruned runs/smaller --heads upos --heads relation
  headcount layers runs/miniature --side encoder --json | jq '.verdict'
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--seeds",
    multiple=True,
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="A run trained alike from another seed; repeatable.",
)
@click.option("--task", "tasks", **TASKS, help="Probe this; repeatable. By default all.")
@click.option(
    "--side",
    type=click.Choice(["encoder", "decoder"]),
    help="Probe this side only; by default both, of a treebank without a target the encoder.",
)
@treebank_option
@click.option(
    "--target-treebank",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The same sentences in the target language, for the decoder.",
)
@layer_option
@click.option(
    "--all-sentences",
    is_flag=True,
    help="Of a treebank, also sentences that lack some of its layers of annotation.",
)
@click.option(
    "--same-words", metavar="TASK", help="Ask all tasks only of words that TASK has a label for."
)
@click.option(
    "--pruned",
    "smaller",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The model after heads were removed: say what it no longer knows.",
)
@click.option("--heads", **TASKS, help="Ask the outputs of single heads too; repeatable.")
@click.option("--nonlinear", **TASKS, help="Ask with a hidden layer too; repeatable.")
@click.option(
    "--sentences", type=click.IntRange(min=1), help="Training sentences of the built-in corpus."
)
@click.option("--words", type=click.IntRange(min=1), help="Training words of a treebank.")
@click.option("--no-structure", is_flag=True, help="Leave out the structural probes of trees.")
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
@click.option("--seed", type=SEED, help="Of splits and draws; the run's own.")
@device_option
@json_option
def command(
    run: Path,
    seeds: tuple[Path, ...],
    treebank: Path | None,
    target_treebank: Path | None,
    layers: tuple[str, ...],
    all_sentences: bool,
    smaller: Path | None,
    output: Path | None,
    seed: int | None,
    device: str,
    as_json: bool,
    **changes: Any,
) -> None:
    """Show what each layer of RUN knows, and whether syntax lies lower than semantics.

    Linear probes read every layer for every task that the annotation allows, beside their
    baselines: control tasks, the network with random weights, the most frequent label. One
    model alone leaves the verdict `undecided`: give runs of other --seeds.
    """
    from ..analyses.layers import layers as probe_layers
    from ..analyses.pipeline import Pipeline, open_run
    from ..models.devices import resolve_device
    from ..models.transformer import TransformerTranslator
    from .progress import ProgressBar

    if not treebank and (layers or target_treebank):
        raise UsageError("--layer and --target-treebank need a --treebank that they belong to")
    settings = _settings(changes)
    settings.members()
    where = resolve_device(device)
    with ProgressBar() as progress, TemporaryDirectory() as states:
        opened = open_run(run)
        pipelines = [Pipeline(it, where, progress) for it in (opened, *map(open_run, seeds))]
        own = pipelines[0].settings
        seed = own.seed if seed is None else seed
        text = _text(pipelines[0], treebank, target_treebank, layers, all_sentences, settings, seed)
        pruned = None
        if smaller:
            folder = smaller / "model" if (smaller / "model").is_dir() else smaller
            pruned = TransformerTranslator.load(folder, where)
        result = probe_layers(
            pipelines[0].translator,
            text,
            settings,
            seed,
            progress,
            folder=Path(states),
            others=[it.translator for it in pipelines[1:]],
            smaller=pruned,
        )
        result.save(output or opened.result("layers"))
    if as_json:
        from .records import records_of

        echo_json({**records_of(result), "remarks": list(result.remarks)})
    else:
        _show(result)


def _settings(options: dict[str, Any]) -> LayersSettings:
    """Return the settings that the options ask for; what was not given stays as it is."""
    from ..analyses.layers import LayersSettings

    given = {name: value for name, value in options.items() if value}
    survey: dict[str, Any] = {}
    if (controls := options.get("controls")) is not None:
        survey["controls"] = controls
    if processes := given.pop("processes", None):
        survey["processes"] = processes
    given.pop("controls", None)
    if memory := given.pop("memory", None):
        survey["memory"] = memory << 20
        given["store"] = {"memory": memory << 20}
    if given.pop("no_structure", False):
        given["structure_sentences"] = 0
    if side := given.pop("side", None):
        given["sides"] = (side,)
    return LayersSettings.from_dict({**given, "survey": survey}, "layers")


def _text(
    pipeline: Pipeline,
    treebank: Path | None,
    target: Path | None,
    layers: tuple[str, ...],
    all_sentences: bool,
    settings: LayersSettings,
    seed: int,
) -> ProbedText:
    """Return the text that was asked for, by default the built-in corpus."""
    from ..analyses.layer_text import miniature_text, source_language, treebank_text

    if treebank is None:
        return miniature_text(pipeline.settings.corpus, settings.sentences)
    return treebank_text(
        read_treebank(treebank, layers),
        seed,
        target=read_treebank(target) if target else None,
        words=settings.words,
        same_sentences=not all_sentences,
        language=source_language(pipeline.settings.corpus),
        familiar=_training_words(pipeline),
    )


def _training_words(pipeline: Pipeline) -> frozenset[str] | None:
    """Return the source words that the model was trained on, None where the text is gone."""
    from ..analyses.layer_text import words_in
    from ..models.errors import HeadcountError

    try:
        return words_in(pipeline.corpus.train.source)
    except HeadcountError:
        return None


def _show(result: Result) -> None:
    """Print a line of accuracies for every task, and the verdict."""
    tables = {name: table.rows for name, table in result.tables.items()}
    probes = tables["probes"][tables["probes"]["model"] == 0]
    click.echo(f"accuracy in %, layer by layer; {result.tables['probes'].n}")
    for base in tables["baselines"].to_dict("records"):
        own = probes[(probes["side"] == base["side"]) & (probes["task"] == base["task"])]
        curves = {
            name: " ".join(f"{100 * value:5.1f}" for value in rows["accuracy"])
            for name, rows in own.groupby("network", sort=False)
        }
        further = "".join(f"   {name} {line}" for name, line in curves.items() if name != "trained")
        click.echo(
            f"  {base['side']} {base['family']:11} {base['task']:36} {curves['trained']}"
            f"{further}   majority {100 * base['majority']:5.1f}"
        )
    for row in tables["centres"].dropna().to_dict("records"):
        click.echo(
            f"{row['side']} {row['family']:9} {row['task']:20} centre {row['centre']:.2f} "
            f"[{row['low']:.2f}, {row['high']:.2f}]"
        )
    _show_others(tables)
    for row in tables["verdict"].to_dict("records"):
        click.echo(f"{row['side']}: {row['answer']} ({row['reason']})")
    for remark in result.remarks:
        click.echo(remark)


def _show_others(tables: Mapping[str, Any]) -> None:
    """Print which single heads tell most, and what a smaller model no longer knows."""
    if "heads" in tables:
        for (side, asked), rows in tables["heads"].groupby(["side", "task"], sort=False):
            best = rows.nlargest(1, "accuracy").to_dict("records")[0]
            click.echo(
                f"{side} {asked}: of single heads {best['site']}.{best['layer']}.{best['head']} "
                f"tells most, {best['accuracy']:.1%} [{best['low']:.1%}, {best['high']:.1%}], "
                f"its layer's input {best['layer_accuracy']:.1%}"
            )
    if "lost" in tables:
        rows = tables["lost"]
        surely = rows[rows["high"] < 0]
        click.echo(
            f"without the heads {len(surely)} of {len(rows)} tasks and layers are told worse"
        )
        for row in surely.nsmallest(5, "difference").to_dict("records"):
            click.echo(
                f"  {row['side']} {row['task']}, layer {row['unit']}: {row['whole']:.1%} to "
                f"{row['smaller']:.1%}, {row['difference']:+.3f} "
                f"[{row['low']:+.3f}, {row['high']:+.3f}]"
            )
