"""Which importance metric to believe: how they agree, and how well their orders prune."""

from __future__ import annotations

from markupsafe import Markup

from ..findings import Findings
from ..rendering import Caption, Sheet, caption_of, render
from ..wording import duration, fixed, title_of, whole
from . import section


@section("metrics", title="Metrics compared", place=50, needs=("score",))
def metrics(findings: Findings) -> Markup | None:
    """What every metric is, how metrics agree, and the area under their removal curves."""
    shown = [
        block
        for block in (_metrics(findings), _agreement(findings), _area(findings))
        if block is not None
    ]
    return render("metrics.html", {"blocks": shown}) if shown else None


def _metrics(findings: Findings) -> tuple[str, Sheet, Caption] | None:
    rows = findings.records("score", "metrics")
    if not rows:
        return None
    printed = [
        [
            title_of(row["metric"]),
            row["summary"],
            row["unit"],
            whole(row["sentences"]),
            duration(row["seconds"]),
        ]
        for row in rows
    ]
    columns = ["Metric", "What it is", "Unit", "Sentences", "Time"]
    sheet = Sheet("The metrics", columns, printed, 1, frozenset({0, 1, 2}))
    caption = caption_of(findings, "score", ("metrics",), "How each metric was measured.", unit="")
    return "metrics-used", sheet, caption


def _agreement(findings: Findings) -> tuple[str, Sheet, Caption] | None:
    rows = findings.records("score", "agreement")
    if not rows:
        return None
    printed = [
        [
            title_of(row["metric"]),
            title_of(row["other"]),
            fixed(row["kendall"]),
            fixed(row["spearman"]),
        ]
        for row in rows
    ]
    columns = ["Metric", "Other metric", "Kendall τ", "Spearman ρ"]
    sheet = Sheet("Agreement of metrics", columns, printed, 1, frozenset({0, 1}))
    text = "Rank correlation over all heads: 1 is the same order, 0 is no relation."
    return "agreement", sheet, caption_of(findings, "score", ("agreement",), text, unit="−1 to 1")


def _area(findings: Findings) -> tuple[str, Sheet, Caption] | None:
    if findings.table("prune", "area") is None:
        return None
    rows = findings.rows("prune", "area")
    printed = []
    for order, group in rows.groupby("order", sort=False):
        low, high = group["area"].min(), group["area"].max()
        spread = f"{fixed(low, 3)} to {fixed(high, 3)}" if len(group) > 1 else "–"
        printed.append(
            [title_of(str(order)), fixed(group["area"].mean(), 3), spread, f"{len(group)}"]
        )
    columns = ["Removal order", "Area", "Range over draws", "Draws"]
    sheet = Sheet("Area under the removal curve", columns, printed, 1, frozenset({0}))
    text = (
        "Area under BLEU against the share of heads left, as a share of the whole model's BLEU: "
        "1 is no loss at any head count. The best order is the one that prunes best, which need "
        "not be the one that ranks single heads best."
    )
    caption = caption_of(findings, "prune", ("area",), text, unit="share, 0 to 1", measure="bleu")
    return "area", sheet, caption
