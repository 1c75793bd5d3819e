"""Proof that cutting heads out of the weights is what closing their gates promised."""

from __future__ import annotations

from typing import Any

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
    orders = list(dict.fromkeys(row["order"] for row in rows))
    printed = [_of_order(order, [row for row in rows if row["order"] == order]) for order in orders]
    columns = ["Removal order", "Models", "Largest logit difference", "Largest logit"]
    columns += ["NLL difference (nats a token)", "Equal translations"]
    sheet = Sheet("The cut model against the model with closed gates", columns, printed, 1)
    equal = sum(row["translations_equal"] for row in rows)
    asked = sum(row["sentences"] for row in rows)
    text = (
        "Heads are removed from the weights, not masked. Both must give the same numbers but for "
        "rounding: compare the largest difference of a logit with the largest logit. Differences "
        "are the largest over the models of an order; the file has every model."
    )
    return render(
        "proofs.html",
        {
            "sheet": sheet,
            "equal": equal,
            "asked": asked,
            "caption": caption_of(
                findings,
                "prune",
                ("proof",),
                text,
                unit="as in the table",
                figure="proofs",
                n=f"{rows[0]['sentences']} sentences a cut",
            ),
        },
    )


def _of_order(order: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return the largest differences of all models of an order, and their equal translations."""
    equal, asked = (sum(row[name] for row in rows) for name in ("translations_equal", "sentences"))
    return [
        title_of(order),
        f"{len(rows)}",
        significant(max(row["largest_logit_difference"] for row in rows), 2),
        significant(max(row["largest_logit"] for row in rows), 3),
        significant(max(row["nll_difference"] for row in rows), 2),
        f"{equal} of {asked}",
    ]
