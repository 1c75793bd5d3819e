"""`headcount relevance`: what every word of a translation rested on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .options import device_option, echo_json, json_option

if TYPE_CHECKING:
    from ..analyses.relevance import ExampleSettings
    from ..analyses.result import Result

SHOWN = ("sentences", "shares", "tokens", "conservation", "heads")
NAMED = 3  # input tokens shown for an output token


@click.command(
    epilog="""\b
Examples:
  headcount relevance runs/miniature                  sentences of the validation text
  headcount relevance runs/miniature --source 'The dog sleeps.'
  headcount relevance runs/miniature --source 'The dog sleeps.' --target 'Der Hund schläft.'
  headcount relevance runs/miniature --start contrast --rule cp -o results/contrast
  headcount relevance runs/miniature --source 'She sleeps.' --words sie er
  headcount relevance runs/miniature --json | jq '.shares[] | {piece, source_share}'
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--source", metavar="TEXT", help="Explain the translation of this sentence.")
@click.option("--target", metavar="TEXT", help="Explain this translation of --source instead.")
@click.option(
    "--sentences", type=click.IntRange(min=1), help="Sentences of the validation text to explain."
)
@click.option(
    "--text",
    type=click.Choice(["translation", "reference"]),
    help="Whose words: the model's own translation (default), or the reference.",
)
@click.option(
    "--rule",
    type=click.Choice(["attnlrp", "cp"]),
    help="Softmax by the AttnLRP rule (default), or attention weights held constant.",
)
@click.option(
    "--start",
    type=click.Choice(["top", "reference", "contrast"]),
    help="What is explained: the largest logit (default), the reference's, or the difference "
    "of the largest and its rival.",
)
@click.option(
    "--words",
    nargs=2,
    metavar="WORD WORD",
    help="Explain why the first word and not the second: the difference of their logits.",
)
@click.option("--epsilon", type=click.FloatRange(min=0), help="Signed stabiliser; 0 is exact.")
@click.option("--per-token", is_flag=True, help="Also every head's relevance for each token.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep what was found here.",
)
@device_option
@json_option
def command(
    run: Path,
    source: str | None,
    target: str | None,
    sentences: int | None,
    text: str | None,
    rule: str | None,
    start: str | None,
    words: tuple[str, str] | None,
    epsilon: float | None,
    per_token: bool,
    output: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """Show what each output word of RUN's translations relied on.

    Layer-wise relevance propagation tells for every output token how much of its logit comes
    from each source token and from each token said before. Without options the sentences are
    those of the run, which are explained and kept in RUN if they are not there yet.
    """
    given = {
        "sentences": sentences,
        "text": text,
        "rule": rule,
        "start": start,
        "epsilon": epsilon,
        "per_token": per_token or None,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if target is not None and source is None:
        raise UsageError("--target needs the sentence that it translates: give --source too")
    if source is not None and sentences is not None:
        raise UsageError("--source is one sentence: leave out --sentences")
    if words is not None and start is not None:
        raise UsageError("--words says what is explained: leave out --start")
    result = _found(run, source, target, changes, words, output is not None, device)
    if output:
        result.save(output)
    if as_json:
        tables = {name: result.tables[name].rows for name in SHOWN if name in result.tables}
        rows = {name: it.to_dict("records") for name, it in tables.items()}
        echo_json({**rows, "remarks": list(result.remarks)})
    else:
        _show(result)


def _found(
    run: Path,
    source: str | None,
    target: str | None,
    changes: dict[str, Any],
    words: tuple[str, str] | None,
    kept_elsewhere: bool,
    device: str,
) -> Result:
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.relevance import relevance, relevance_of, token_of
    from ..models.data.parallel_text import ParallelText
    from ..models.devices import resolve_device
    from .progress import ProgressBar

    with ProgressBar() as progress:
        pipeline = Pipeline(open_run(run), resolve_device(device), progress)
        if words is not None:
            first, second = (token_of(pipeline.translator, word) for word in words)
            changes = {**changes, "start": "pair", "pair": (first, second)}
        settings: ExampleSettings = pipeline.settings.relevance.with_changes(**changes)
        seed = pipeline.settings.seed
        if source is None:
            if not changes and not kept_elsewhere:
                return pipeline.relevance()
            return relevance(pipeline.translator, pipeline.corpus, settings, seed, progress)
        if not source.strip():
            raise UsageError("--source is empty: give a sentence")
        if target is not None:
            settings = settings.with_changes(text="reference")
        elif settings.start in ("reference", "contrast") or settings.text == "reference":
            raise UsageError(
                "--start reference, --start contrast and --text reference need the right "
                "translation: give --target"
            )
        pair = ParallelText("given", [source], [target or ""])
        return relevance_of(pipeline.translator, pair, settings, seed, progress=progress)


def _show(result: Result) -> None:
    shares, tokens = (result.tables[name].rows for name in ("shares", "tokens"))
    for sentence in result.tables["sentences"].rows.itertuples():
        click.echo(f"{sentence.source}\n{sentence.target}")
        click.echo(
            f"  inputs alone miss the logits by {sentence.error:.1%}; with what biases, softmax "
            f"and epsilon absorbed by {sentence.accounted_error:.1g}"
        )
        own = tokens[tokens["sentence"] == sentence.sentence]
        for row in shares[shares["sentence"] == sentence.sentence].itertuples():
            mine = own[own["position"] == row.position]
            named = "   ".join(
                f"{side}: {_largest(mine[mine['side'] == side])}" for side in ("source", "prefix")
            )
            click.echo(f"  {row.piece:16} source {row.source_share:4.0%}   {named}")
        click.echo()
    for remark in result.remarks:
        click.echo(remark)


def _largest(tokens: Any) -> str:
    """Name the input tokens of largest absolute relevance, with their sign."""
    order = tokens["relevance"].abs().sort_values(ascending=False).index[:NAMED]
    return ", ".join(
        f"{tokens.loc[at, 'piece']} {tokens.loc[at, 'relevance']:+.1f}" for at in order
    )
