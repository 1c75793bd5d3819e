"""`headcount score --per-token`: which heads carry each output token of some sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..models.errors import UsageError

if TYPE_CHECKING:
    from ..analyses.analysis import Progress
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result


def per_token_result(pipeline: Pipeline, scores: Result, progress: Progress) -> Result:
    """Explain the run's example sentences with the LRP options that heads were scored with.

    Raises:
        UsageError: LRP is not among the metrics.
    """
    from ..analyses.relevance import relevance
    from ..probe.relevance import RelevanceSettings

    if "lrp" not in scores.settings["metrics"]:
        raise UsageError("--per-token shows LRP: add --metrics lrp")
    options = scores.settings["options"].get("lrp", {})
    chosen = {name: it for name, it in options.items() if name in RelevanceSettings.model_fields}
    settings = pipeline.settings.relevance.with_changes(per_token=True, **chosen)
    seed = pipeline.settings.seed
    return relevance(pipeline.translator, pipeline.corpus, settings, seed, progress)


def show_per_token(result: Result, top: int) -> None:
    """Print the heads of largest absolute relevance for every output token."""
    heads, sentences = result.tables["heads"].rows, result.tables["sentences"].rows
    click.echo("LRP relevance by output token, in units of its logit")
    for sentence in sentences.itertuples():
        click.echo(f"{sentence.source}\n{sentence.target}")
        own = heads[heads["sentence"] == sentence.sentence]
        for _, rows in own.groupby("position"):
            order = rows["relevance"].abs().sort_values(ascending=False, kind="stable").index
            largest = "  ".join(
                f"{row.site}.{row.layer}.{row.head} {row.relevance:+.2f}"
                for row in rows.loc[order].head(min(top, 5)).itertuples()
            )
            click.echo(f"  {rows['piece'].iloc[0]:16} {largest}")
