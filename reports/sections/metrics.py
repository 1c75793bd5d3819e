"""Which importance metric to believe, and what each of them is."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from .. import reliability
from ..agreement import squares
from ..blocks import Block, blocks_of
from ..findings import Findings
from ..rendering import Caption, Sheet, caption_of
from ..unproven import unproven
from ..wording import ABSENT, duration, fixed, missing, significant, title_of, whole
from . import section


@section("metrics", title="Which metric to believe", place=50, needs=("score",))
def metrics(findings: Findings) -> Markup | None:
    """Whether each metric can be believed on this run, and what it is."""
    broken = unproven(findings)
    asked = findings.table("reliability", "verdict") is not None
    blocks = _reliability(findings, broken) if asked else [_agreement(findings, broken)]
    blocks += [_area(findings, broken), _proofs(findings), _metrics(findings, broken)]
    return blocks_of(
        blocks,
        lead=reliability.verdict_lead(findings, broken) if asked else "",
        broken=[(title_of(name), why) for name, why in broken.items()],
        remarks=findings.results["reliability"].remarks if asked else (),
    )


def _reliability(findings: Findings, broken: Mapping[str, str]) -> list[Block | None]:
    """Return the figures of the reliability analysis, the verdict first."""

    def caption(table: str, text: str, unit: str) -> Caption:
        return caption_of(findings, "reliability", (table,), text, unit=unit, figure=table)

    blocks: list[Block | None] = []
    text = (
        "τ (Kendall) and ρ (Spearman) tell how alike two orders of the heads are: 1 the same, 0 "
        "unrelated. Leave-one-out removes every head by itself and is exact, but only for single "
        f"heads. {findings.results['reliability'].tables['verdict'].caption}"
    )
    sheet = reliability.verdict_sheet(findings, broken)
    blocks.append(Block("verdict", "", sheet, caption("verdict", text, "as in the table")))
    text = (
        "Kendall’s τ below the diagonal, Spearman’s ρ above it: 1 is the same "
        "order of heads, 0 no relation, −1 the opposite order. All heads together can agree "
        "merely because one site matters more than another; within a site that is not so. "
        "n/d: not defined, because a metric gives all these heads the same value. Pointing at a "
        "cell tells its interval; all are in the data."
    )
    blocks.append(
        Block(
            "agreement",
            "Do they agree?",
            None,
            caption("agreement", text, "−1 to 1"),
            squares=tuple(squares(findings, broken)),
        )
    )
    text = (
        "How far each metric orders single heads as leave-one-out does, which is exact. A resample "
        "is noisier than the sample, so a value often lies near the upper end of its interval."
    )
    sheet = reliability.faithfulness_sheet(findings, broken)
    unit = "−1 to 1"
    blocks.append(Block("faithfulness", "", sheet, caption("faithfulness", text, unit)))
    blocks.append(_curves(findings, broken))
    text = (
        "Random halves of the sentences are compared, and so many sentences with all the others; "
        "ρ over all heads, mean over the splits. ρ of two whole samples: what is to be "
        "expected of two samples as large as this one (Spearman-Brown)."
    )
    sheet = reliability.stability_sheet(findings, broken)
    title = "Would other sentences say the same?"
    blocks.append(Block("stability", title, sheet, caption("stability", text, unit)))
    blocks.append(_seeds(findings, broken))
    text = (
        "Gini: 0 when all heads are worth the same, towards 1 when one head has all. Values below "
        "zero count as zero. A metric whose small values matter has no share to speak of."
    )
    sheet = reliability.concentration_sheet(findings, broken)
    title = "Is importance concentrated?"
    what = caption("concentration", text, "share, 0 to 1")
    blocks.append(Block("concentration", title, sheet, what))
    return blocks


def _curves(findings: Findings, broken: Mapping[str, str]) -> Block | None:
    """Return the joint-removal curves with their areas."""
    if findings.table("reliability", "areas") is None:
        return None
    chart, legend = reliability.curves_chart(findings, broken)
    text = (
        "Heads go from the least to the most important; the line is the model that is left, the "
        "grey band the random orders. The area is the mean loss over all head counts: the rise of "
        "NLL is 0 and the share of BLEU 1 if nothing is lost. Drawn are the greedy order, the "
        "metrics that lose least and the one that loses most."
    )
    caption = caption_of(
        findings,
        "reliability",
        ("areas", "curves"),
        text,
        unit="as in the table",
        measure="bleu",
        figure="areas",
    )
    sheet = reliability.areas_sheet(findings, broken)
    title = "Do their orders prune well?"
    return Block("areas", title, sheet, caption, chart, tuple(legend))


def _seeds(findings: Findings, broken: Mapping[str, str]) -> Block | None:
    """Return the comparison with models of other seeds."""
    sheet = reliability.seeds_sheet(findings, broken)
    if sheet is None:
        return None
    text = (
        "Heads of two trainings share nothing but a number and their sublayer: ρ by number means "
        "something only where it exceeds that with the numbers shuffled within the sublayers. "
        "Sublayers: the mean importance of each. Ranked: the heads of each sublayer in order of "
        "importance, beside what shuffled heads give. Distance: the largest gap "
        "between the curves of the share of the k largest heads, 0 for equal ones."
    )
    caption = caption_of(findings, "reliability", ("stability",), text, unit="−1 to 1")
    return Block("seeds", "Would another training say the same?", sheet, caption)


def _metrics(findings: Findings, broken: Mapping[str, str]) -> Block | None:
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
    greyed = frozenset(place for place, row in enumerate(rows) if row["metric"] in broken)
    sheet = Sheet("The metrics", columns, printed, 1, frozenset({0, 1, 2}), greyed)
    text = "How each metric was measured."
    caption = caption_of(findings, "score", ("metrics",), text, unit="")
    return Block("metrics-used", "What they are", sheet, caption)


def _proofs(findings: Findings) -> Block | None:
    """Return every claim that was checked, those that fail first."""
    rows = findings.records("score", "proofs")
    if not rows:
        return None
    rows.sort(key=lambda row: bool(row["holds"]))
    printed = [
        [
            title_of(row["metric"]),
            row["claim"],
            "not a number" if missing(row["error"]) else significant(row["error"], 2),
            significant(row["tolerance"], 2),
            row["unit"] or "ratio",
            "holds" if row["holds"] else "FAILS",
        ]
        for row in rows
    ]
    columns = ["Metric", "What must hold", "Error", "Allowed", "Unit", "Result"]
    sheet = Sheet("Proofs", columns, printed, 1, frozenset({0, 1, 4, 5}))
    text = (
        "Each metric was checked on this run against another way to its numbers. What is allowed "
        "is rounding, or an approximation that is stated."
    )
    caption = caption_of(findings, "score", ("proofs",), text, unit="as in the table")
    held = f"{sum(bool(row['holds']) for row in rows)} of {len(rows)} proofs hold"
    return Block("metric-proofs", "Are they computed right?", sheet, caption, folded=held)


def _agreement(findings: Findings, broken: Mapping[str, str]) -> Block | None:
    rows = findings.records("score", "agreement")
    if not rows:
        return None
    printed, greyed = [], set()
    for place, row in enumerate(rows):
        cells = [reliability.number(row[name]) for name in ("kendall", "spearman")]
        if row["metric"] in broken or row["other"] in broken:
            greyed.add(place)
            cells = [ABSENT, ABSENT]
        printed.append([title_of(row["metric"]), title_of(row["other"]), *cells])
    columns = ["Metric", "Other metric", "Kendall τ", "Spearman ρ"]
    words = frozenset({0, 1})
    sheet = Sheet("Agreement of metrics", columns, printed, 1, words, frozenset(greyed))
    text = "Rank correlation over all heads: 1 is the same order, 0 is no relation."
    caption = caption_of(findings, "score", ("agreement",), text, unit="−1 to 1")
    return Block("agreement", "Do they agree?", sheet, caption)


def _area(findings: Findings, broken: Mapping[str, str]) -> Block | None:
    if findings.table("prune", "area") is None:
        return None
    rows = findings.rows("prune", "area")
    lines = []
    for order, group in rows.groupby("order", sort=False):
        low, high = group["area"].min(), group["area"].max()
        spread = f"{fixed(low, 3)} to {fixed(high, 3)}" if len(group) > 1 else ABSENT
        lines.append((str(order), [fixed(group["area"].mean(), 3), spread, f"{len(group)}"]))
    columns = ["Removal order", "Area", "Range over draws", "Draws"]
    name = "Area under the removal curve on test sentences"
    sheet = reliability.by_metric(name, columns, lines, broken)
    text = (
        "Area under BLEU against the share of heads left, as a share of the whole model’s "
        "BLEU: 1 is no loss at any head count. The best order is the one that prunes best, which "
        "need not be the one that ranks single heads best."
    )
    caption = caption_of(findings, "prune", ("area",), text, unit="share, 0 to 1", measure="bleu")
    return Block("area", "What do their orders keep of BLEU?", sheet, caption)
