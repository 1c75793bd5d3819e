"""The second step of pruning: feed-forward units removed after heads, shown apart."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..findings import Findings
from ..rendering import Sheet, caption_of, render
from ..role_letters import percent
from ..wording import fixed, interval, signed, significant, whole
from . import section

Row = dict[str, Any]


@section("units", title="Feed-forward units removed too", place=28, needs=())
def units(findings: Findings) -> Markup | None:
    """Every model that lost feed-forward units after its heads."""
    names = findings.names_of("units", "outcome")
    if not names:
        return None
    return render("units.html", {"models": [_model(findings, name) for name in names]})


def _model(findings: Findings, name: str) -> dict[str, Any]:
    rows = findings.records(name, "outcome")
    settings = findings.results[name].settings
    text = (
        f"After heads were removed, {settings['importance'].replace('_', ' ')} importance ranked "
        f"blocks of {settings['block']} units on validation text. Changes of BLEU are paired with "
        "the whole model’s. Shares are of the whole model’s multiplications in a greedy search."
    )
    layers = findings.records(name, "layers")
    proof = findings.records(name, "proof")
    return {
        "name": name,
        "title": f"{whole(rows[-1]['units'])} of {whole(rows[0]['units'])} units, "
        f"{rows[-1]['heads']} of {rows[0]['heads']} heads",
        "sheet": _sheet(rows),
        "layers": [
            (f"{row['side']} {row['layer']}", f"{row['units_left']} of {row['units']}")
            for row in layers
        ],
        "proof": [
            (significant(row["largest_logit_difference"], 2), significant(row["largest_logit"], 3))
            for row in proof
        ],
        "caption": caption_of(
            findings,
            name,
            ("outcome", "layers", "blocks", "proof"),
            text,
            unit="as in the table",
            measure="bleu",
        ),
        "remarks": findings.results[name].remarks,
    }


def _sheet(rows: list[Row]) -> Sheet:
    printed = [
        [
            str(row["model"]).capitalize(),
            whole(row["heads"]),
            whole(row["units"]),
            whole(row["parameters"]),
            f"{fixed(row['bleu'])} {interval(row['bleu_low'], row['bleu_high'])}",
            f"{signed(row['bleu_difference'])} "
            f"{interval(row['difference_low'], row['difference_high'])}",
            fixed(row["chrf"], 1),
            fixed(row["nll"], 3),
            *(percent(row[it]) for it in ("feed_forward_products", "products")),
        ]
        for row in rows
    ]
    columns = ["Model", "Heads", "Units", "Parameters", "BLEU", "Change of BLEU", "chrF", "NLL"]
    columns += ["Feed-forward", "All products"]
    return Sheet("Heads and units, one step after the other", columns, printed)
