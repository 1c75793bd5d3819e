"""`headcount score`: how much every head of a trained model matters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .head_tokens import per_token_result, show_per_token
from .options import SEED, device_option, echo_json, json_option, metrics_option
from .run_options import assigned

if TYPE_CHECKING:
    from ..analyses.result import Result
    from ..models.data.parallel_text import Corpus

SHOWN = ("heads", "metrics", "agreement", "proofs", "bleu")


class ScoreCommand(click.Command):
    """A command whose help lists the members of the `metric` family."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the metrics before the examples."""
        from ..probe.importance import metric

        with formatter.section("Metrics"):
            formatter.write_dl([(name, metric.summary(name)) for name in metric])
        super().format_epilog(ctx, formatter)


@click.command(
    cls=ScoreCommand,
    epilog="""\b
Examples:
  headcount score runs/miniature                    the scores of the run, made if missing
  headcount score runs/miniature --metrics gradient,entropy --sentences 1000 -o scores/two
  headcount score runs/miniature --metrics all --data train
  headcount score runs/miniature --metrics confidence --option confidence.keep_special=true
  headcount score runs/miniature --files dev.en dev.de --bleu
  headcount score runs/miniature --metrics lrp --per-token
  headcount score runs/miniature --json | jq '.heads[:3]'
""",
)
@click.argument("run", type=click.Path(path_type=Path))
@metrics_option("Measure these, or all")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="METRIC.KEY=VALUE",
    help="An option of one metric, such as gradient.absolute=token; repeatable.",
)
@click.option(
    "--data", "split", metavar="SPLIT", help="The text to read: valid or train, never a test split."
)
@click.option(
    "--files",
    nargs=2,
    metavar="SRC TGT",
    type=click.Path(path_type=Path),
    help="Read these two aligned files instead.",
)
@click.option("--sentences", type=click.IntRange(min=1), help="Sentences to read.")
@click.option(
    "--bleu", is_flag=True, help="Also translate without each head; BLEU with Holm's correction."
)
@click.option(
    "--per-token",
    is_flag=True,
    help="Also the LRP relevance of every head for each token of example sentences.",
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep scores made with other settings than the run's here.",
)
@click.option("--seed", type=SEED, help="Seed of the resamples; the run's own.")
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="Heads shown."
)
@device_option
@json_option
def command(
    run: Path,
    metrics: tuple[str, ...],
    options: tuple[str, ...],
    split: str | None,
    files: tuple[Path, Path] | None,
    sentences: int | None,
    bleu: bool,
    per_token: bool,
    output: Path | None,
    seed: int | None,
    top: int,
    device: str,
    as_json: bool,
) -> None:
    """Show the most important heads of RUN by every metric.

    Without further options these are the run's own scores, which are measured and kept in
    RUN if they are missing. With options they are measured anew and kept only with -o.
    """
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.score import score
    from ..models.devices import resolve_device
    from .progress import ProgressBar
    from .records import records

    if split and files:
        raise UsageError("--data and --files both name the text: give one of them")
    given = {"split": split, "sentences": sentences, "bleu": bleu or None}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    tokens = None
    with ProgressBar() as progress:
        pipeline = Pipeline(open_run(run), resolve_device(device), progress)
        changes |= _chosen(metrics, options, pipeline.settings.score.options)
        if changes or files or output or seed is not None:
            settings = pipeline.settings.score.with_changes(**changes)
            seed = pipeline.settings.seed if seed is None else seed
            corpus = pipeline.corpus
            if files:
                corpus = _with_own_text(corpus, files, settings.sentences)
                settings = settings.with_changes(split="valid")
            result = score(pipeline.translator, corpus, settings, seed, progress)
            if output:
                result.save(output)
        else:
            result = pipeline.score()
        if per_token:
            tokens = per_token_result(pipeline, result, progress)
            if output:
                tokens.save(output / "per_token")
    if as_json:
        found = {"per_token": records(tokens.tables["heads"].rows)} if tokens else {}
        echo_json(_as_json(result) | found)
    else:
        _show(result, top)
        if tokens:
            show_per_token(tokens, top)


def _chosen(
    metrics: tuple[str, ...], options: tuple[str, ...], run_options: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return the settings that choose metrics and their options, unknown names refused.

    Args:
        metrics, options: as they were typed.
        run_options: options that the run's own metrics have, over which `options` are laid.
    """
    from ..analyses.presets import merged

    chosen: dict[str, Any] = {"metrics": chosen_metrics(metrics)} if metrics else {}
    for text in options:
        chosen["options"] = merged(chosen.get("options", run_options), assigned(text, "--option"))
    return chosen


def chosen_metrics(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the metrics that were typed, each once.

    Args:
        words: names with commas between; `all` stands for the whole family.

    Raises:
        UsageError: an unknown metric, or none at all.
    """
    from ..probe.importance import metric

    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    if not names:
        raise UsageError("--metrics names no metric; give names with commas between, or all")
    if "all" in names:
        return tuple(metric)
    for name in names:
        metric[name]
    return tuple(dict.fromkeys(names))


def _with_own_text(corpus: Corpus, files: tuple[Path, Path], sentences: int) -> Corpus:
    """Return the corpus with the first pairs of two files in the place of its validation text.

    Raises:
        UsageError: most of the pairs stand in a test split of the corpus.
    """
    from itertools import islice

    from ..analyses.score import pairs_of_tests
    from ..models.data.parallel_text import ParallelText
    from ..models.data.readers import read_pairs

    pairs = list(islice(read_pairs(*files), sentences))
    name = " ".join(path.name for path in files)
    text = ParallelText(name, [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    if 2 * pairs_of_tests(text, corpus) > len(text):
        raise UsageError(
            f"{name} is test text of this run: heads that are chosen on a text cannot be judged "
            "on it; give other text, or --data valid"
        )
    return replace(corpus, valid=text)


def _as_json(result: Result) -> dict[str, Any]:
    """Return the tables with the best heads first; what is missing or undefined is null."""
    from .records import records

    tables = {name: result.tables[name].rows for name in SHOWN if name in result.tables}
    tables["heads"] = tables["heads"].sort_values(["metric", "rank"])
    shown: dict[str, Any] = {name: records(rows) for name, rows in tables.items()}
    return {**shown, "n": result.tables["heads"].n, "remarks": list(result.remarks)}


def _show(result: Result, top: int) -> None:
    """Print the best heads by every metric, and what is to be known of each."""
    from .records import records

    heads, metrics = (result.tables[name].rows for name in ("heads", "metrics"))
    for about in records(metrics):
        name = about["metric"]
        own = heads[heads["metric"] == name].sort_values("rank")
        stable = about["stable_sentences"]
        needed = "not stable yet" if stable is None else f"stable from {stable} sentences"
        proved = f"; {about['proofs']} proofs hold" if about["proofs_hold"] else ""
        measured = result.tables["heads"].n
        click.echo(f"{name} ({about['unit']}), {measured}; order {needed}{proved}")
        for row in own.head(top).itertuples():
            head = f"{row.site}.{row.layer}.{row.head}"
            click.echo(
                f"  {row.rank:3} {head:14} {row.value:9.4f}  [{row.low:.4f}, {row.high:.4f}]"
            )
        if about["proofs"] and not about["proofs_hold"]:
            click.echo(f"  not to be believed here: {_failures(result, name)}")
    if "bleu" in result.tables:
        _show_bleu(result, top)


def _failures(result: Result, metric: str) -> str:
    """Say which claims of a metric do not hold, and by how much."""
    proofs = result.tables["proofs"].rows
    failed = proofs[(proofs["metric"] == metric) & ~proofs["holds"]]
    return "; ".join(
        f"'{row.claim}' is off by {row.error:.2g} {row.unit}".rstrip()
        + f" (at most {row.tolerance:.2g})"
        for row in failed.itertuples()
    )


def _show_bleu(result: Result, top: int) -> None:
    """Print the heads without which BLEU changes most."""
    rows = result.tables["bleu"].rows
    click.echo(f"BLEU without the head, {result.tables['bleu'].n}; p after Holm's correction")
    largest = rows["difference"].abs().sort_values(ascending=False, kind="stable").index
    for row in rows.loc[largest].head(top).itertuples():
        head = f"{row.site}.{row.layer}.{row.head}"
        click.echo(
            f"      {head:14} {row.difference:+9.2f}  [{row.low:+.2f}, {row.high:+.2f}]"
            f"  p = {row.p_holm:.4f}"
        )
