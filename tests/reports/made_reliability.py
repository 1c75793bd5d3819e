"""A reliability Result made by hand, for the metrics of `made_results`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from made_results import COUNTS, NUMBER, ORDERS, TEXT, WHOLE, columns, provenance

from headcount.analyses.result import Result, Table

TRUTH = "truth"
METRICS = (*ORDERS, "random")
SITES = (("all", 72), ("encoder", 24), ("decoder", 24), ("cross", 24))
WRONG = 'softmax of a <query> sums to "1"'


def made_proofs(failing: str = "") -> Table:
    """Two claims of every metric; the second of `failing` does not hold."""
    records = []
    for metric in ORDERS:
        broken = metric == failing
        for claim, error in (("a & b", 0.0), (WRONG, 0.25 if broken else 1e-8)):
            records.append(
                {
                    "metric": metric,
                    "claim": claim,
                    "error": error,
                    "tolerance": 1e-6,
                    "unit": "nats",
                    "holds": error <= 1e-6,
                }
            )
    described = columns(
        metric=TEXT, claim=TEXT, error=NUMBER, tolerance=NUMBER, unit=TEXT, holds=TRUTH
    )
    return Table.of("Proofs.", described, records, n="4 of 200 sentences")


def tau(one: str, other: str, site: str) -> float:
    """A made correlation; the encoder's with random is not defined."""
    if site == "encoder" and "random" in (one, other):
        return math.nan
    return 0.1 * (METRICS.index(one) + 1) - 0.05 * METRICS.index(other)


def bounded(name: str, value: float, apart: float = 0.05) -> dict[str, float]:
    return {name: value, f"{name}_low": value - apart, f"{name}_high": value + apart}


def pairs() -> Iterator[dict[str, Any]]:
    for site, heads in SITES:
        for place, one in enumerate(METRICS):
            for other in METRICS[place + 1 :]:
                value = tau(one, other, site)
                yield {
                    "metric": one,
                    "other": other,
                    "site": site,
                    "heads": heads,
                    **bounded("kendall", value),
                    **bounded("spearman", value + 0.2),
                }


def against(gain: float) -> dict[str, float]:
    return {**bounded("against_random", gain), **bounded("against_greedy", gain + 0.8)}


def made_reliability() -> Result:
    both = dict.fromkeys(("kendall", "kendall_low", "kendall_high"), NUMBER)
    both |= dict.fromkeys(("spearman", "spearman_low", "spearman_high"), NUMBER)
    agreement = Table.of(
        "Agreement.",
        columns(metric=TEXT, other=TEXT, site=TEXT, heads=WHOLE, **both),
        list(pairs()),
        n="200 sentences",
        interval="95 % bootstrap",
    )
    faithful = [
        {**row, "metric": row["other"]} for row in pairs() if row["metric"] == "leave_one_out"
    ]
    faithfulness = Table.of(
        "Faithfulness.",
        columns(metric=TEXT, site=TEXT, heads=WHOLE, **both),
        [{key: value for key, value in row.items() if key != "other"} for row in faithful],
        n="200 sentences",
    )
    draws = [*((name, 0) for name in (*ORDERS, "greedy")), *(("random", i) for i in range(3))]
    curves = [
        {
            "order": order,
            "draw": draw,
            "heads_left": count,
            "share_left": count / 72,
            "nll": 0.3 + (1 + place / 4) * (1 - count / 72) ** 2,
            "bleu": math.nan,
        }
        for place, (order, draw) in enumerate(draws)
        for count in COUNTS
    ]
    areas = []
    for order, area in zip((*ORDERS, "greedy", "random"), (0.5, 0.6, 0.9, 0.45, 1.3), strict=True):
        row: dict[str, Any] = {"order": order, "measure": "nll", "unit": "nats a token"}
        row |= {"area": area, "low": area - 0.1, "high": area + 0.1}
        areas.append(row | (against(area - 1.3) if order in ORDERS else {}))
    tables = {
        "agreement": agreement,
        "faithfulness": faithfulness,
        "curves": Table.of(
            "Curves.",
            columns(
                order=TEXT,
                draw=WHOLE,
                heads_left=WHOLE,
                share_left=NUMBER,
                nll=NUMBER,
                bleu=NUMBER,
            ),
            curves,
            n="100 sentences",
        ),
        "areas": Table.of(
            "Areas.",
            columns(
                order=TEXT,
                measure=TEXT,
                area=NUMBER,
                low=NUMBER,
                high=NUMBER,
                unit=TEXT,
                **dict.fromkeys(against(0.0), NUMBER),
            ),
            areas,
            n="100 sentences",
        ),
        "stability": made_stability(both),
        "concentration": made_concentration(),
        "verdict": made_verdict(),
    }
    remarks = ("The greedy order was made on 50 sentences.",)
    return Result("reliability", tables, {"sentences": 200}, provenance(60.0), remarks)


def made_stability(both: dict[str, str]) -> Table:
    records: list[dict[str, Any]] = []
    for place, metric in enumerate(ORDERS):
        rho = 0.95 - place / 10
        common = {"metric": metric, "site": "all", "detail": "", "compared": "heads"}
        values = {**bounded("kendall", rho - 0.1), **bounded("spearman", rho)}
        records.append(
            {**common, **values, "across": "halves", "sentences": 100, "spearman_brown": 0.98}
        )
        records += [
            {**common, **values, "across": "sentences", "sentences": count, "others": 200 - count}
            for count in (50, 100)
        ]
        records.append({**common, **values, "across": "domain", "detail": "<other> text"})
        seeds = {**common, "across": "seeds", "detail": "this / that"}
        records.append({**seeds, "spearman": 0.53, "chance": 0.51})
        records.append({**seeds, "compared": "sublayers", "spearman": 0.88})
        records.append({**seeds, "compared": "ranked", "spearman": 0.91, "chance": 0.62})
        if metric != "confidence":
            records.append({**seeds, "compared": "shape", "distance": 0.07})
    described = columns(
        metric=TEXT,
        across=TEXT,
        compared=TEXT,
        detail=TEXT,
        site=TEXT,
        sentences=WHOLE,
        others=WHOLE,
        **both,
        spearman_brown=NUMBER,
        chance=NUMBER,
        distance=NUMBER,
    )
    return Table.of("Stability.", described, records, n="200 sentences")


def made_concentration() -> Table:
    records = [
        {
            "metric": metric,
            "measure": measure,
            "value": math.nan if metric == "confidence" else 0.61,
            "low": math.nan if metric == "confidence" else 0.55,
            "high": math.nan if metric == "confidence" else 0.66,
            "random_weights": math.nan if metric == "confidence" else 0.12,
        }
        for metric in METRICS
        for measure in ("gini", "top_fifth")
    ]
    described = columns(
        metric=TEXT, measure=TEXT, value=NUMBER, low=NUMBER, high=NUMBER, random_weights=NUMBER
    )
    return Table.of("Concentration.", described, records, n="200 sentences")


def made_verdict() -> Table:
    records = []
    for place, metric in enumerate(METRICS):
        good = metric in ("leave_one_out", "gradient")
        records.append(
            {
                "metric": metric,
                "believable": good,
                "proofs": 2,
                "proofs_hold": 2,
                "kendall": math.nan if metric == "leave_one_out" else 0.4321 - place / 10,
                "against_random": -0.777 + place / 10,
                "against_greedy": 0.05,
                "halves": 0.95 - place / 10,
                "stable_at": 50 if good else None,
                "against": "" if good else "tau is <below> 0.3",
                "why": "all of it",
            }
        )
    described = columns(
        metric=TEXT,
        believable=TRUTH,
        proofs=WHOLE,
        proofs_hold=WHOLE,
        kendall=NUMBER,
        against_random=NUMBER,
        against_greedy=NUMBER,
        halves=NUMBER,
        stable_at=WHOLE,
        against=TEXT,
        why=TEXT,
    )
    return Table.of(
        "Believable: all questions answered yes.", described, records, n="200 sentences"
    )
