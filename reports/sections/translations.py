"""Example translations by the whole model and by smaller ones, with what changed marked."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from ..differences import Segment, differing
from ..drawing.palette import HEAT
from ..findings import Findings
from ..phenomena import grid, worst_losses
from ..rendering import Caption, caption_of, render
from ..wording import title_of
from . import section

OPEN = 6  # so many are shown at once, the others when they are asked for


@dataclass(frozen=True)
class Version:
    """One model's translation; `before` and `after` mark what it changed.

    Args:
        heads_left: heads of the model that made it.
        before: the whole model's translation, cut where this one differs.
        after: this translation, cut where it differs from the whole model's.
    """

    heads_left: int
    before: list[Segment]
    after: list[Segment]

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return not any(segment.changed for segment in (*self.before, *self.after))


@dataclass(frozen=True)
class Example:
    """One sentence, its reference, and how models of several sizes translate it."""

    order: str
    sentence: int
    source: str
    reference: str
    whole: str
    whole_heads: int
    versions: list[Version]


@section("translations", title="Translations", place=40, needs=("prune",))
def translations(findings: Findings) -> Markup | None:
    """How the same sentences are translated as heads go."""
    examples = examples_of(findings)
    if not examples:
        return None
    order = title_of(examples[0].order).lower()
    text = (
        f"The whole model’s translation, and those of smaller models made by the order "
        f"“{order}”; sentences spread evenly over the test split, not chosen. Words that the "
        "smaller model lost are underlined with dots in the upper line, words that are new with a "
        "solid line in the lower one."
    )
    losses, (counts, lines) = worst_losses(findings), grid(findings)
    return render(
        "translations.html",
        {
            "first": examples[:OPEN],
            "others": examples[OPEN:],
            "caption": caption_of(
                findings, "prune", ("examples",), text, unit="", n=f"{len(examples)} sentences"
            ),
            "losses": losses,
            "losses_caption": _losses_caption(findings) if losses else None,
            "counts": counts,
            "lines": lines,
            "steps": range(len(HEAT)),
            "phenomena_caption": _phenomena_caption(findings) if lines else None,
        },
    )


def _losses_caption(findings: Findings) -> Caption:
    text = (
        "Chosen because they are the worst: they show what can happen, not what happens on "
        "average. Losses are of chrF of the single sentence, against the whole model’s translation."
    )
    return caption_of(findings, "prune", ("losses",), text, unit="chrF points")


def _phenomena_caption(findings: Findings) -> Caption:
    text = (
        "BLEU of the sentences that show a phenomenon, the phenomenon that loses most first. "
        "A star: the paired interval of the change from the whole model excludes zero. With so "
        "many phenomena one in twenty would at chance. Pointing at a cell tells its interval and "
        "its NLL; all are in the data."
    )
    return caption_of(
        findings,
        "prune",
        ("phenomena",),
        text,
        unit="BLEU points",
        measure="bleu",
        figure="phenomena",
    )


def examples_of(findings: Findings) -> list[Example]:
    """Gather `prune/examples` by sentence: the whole model, then one order's smaller models."""
    if findings.table("prune", "examples") is None:
        return []
    rows = findings.rows("prune", "examples")
    cut = rows[rows["heads_left"] < rows["heads_left"].max()]
    order = cut["order"].iloc[0] if len(cut) else rows["order"].iloc[0]
    examples = []
    for sentence, versions in rows.groupby("sentence", sort=False):
        records = versions.sort_values("heads_left", ascending=False, kind="stable")
        smaller = records[(records["order"] == order) & records.index.isin(cut.index)]
        first = records.iloc[0]
        examples.append(
            Example(
                order=order,
                sentence=int(str(sentence)),
                source=first["source"],
                reference=first["reference"],
                whole=first["translation"],
                whole_heads=first["heads_left"],
                versions=[
                    Version(heads_left, *differing(first["translation"], translation))
                    for heads_left, translation in zip(
                        smaller["heads_left"], smaller["translation"], strict=True
                    )
                ],
            )
        )
    return examples
