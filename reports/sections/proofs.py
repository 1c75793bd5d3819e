"""Proof that cutting heads out of the weights is what closing their gates promised."""

from __future__ import annotations

from markupsafe import Markup

from ..findings import Findings
from ..rendering import Sheet, caption_of, render
from ..wording import significant, title_of
from . import section


@section("proofs", title="Proof of the cut", place=80, needs=("prune",))
def proofs(findings: Findings) -> Markup | None:
    """How far the cut model is from the model whose gates are closed."""
    rows = findings.records("prune", "proof")
    if not rows:
        return None
    printed = [
        [
            title_of(row["order"]),
            f"{row['heads_left']}",
            significant(row["largest_logit_difference"], 2),
            significant(row["largest_logit"], 3),
            significant(row["nll_difference"], 2),
            f"{row['translations_equal']} of {row['sentences']}",
        ]
        for row in rows
    ]
    columns = ["Removal order", "Heads left", "Largest logit difference", "Largest logit"]
    columns += ["NLL difference (nats a token)", "Equal translations"]
    sheet = Sheet("The cut model against the model with closed gates", columns, printed, 1)
    equal = sum(row["translations_equal"] for row in rows)
    asked = sum(row["sentences"] for row in rows)
    text = (
        "Heads are removed from the weights, not masked. Both must give the same numbers but for "
        "rounding: compare the largest difference of a logit with the largest logit."
    )
    return render(
        "proofs.html",
        {
            "sheet": sheet,
            "equal": equal,
            "asked": asked,
            "caption": caption_of(findings, "prune", ("proof",), text, unit="as in the table"),
        },
    )
