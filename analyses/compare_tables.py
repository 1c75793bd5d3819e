"""The plain tables of a comparison: what each run is, scored, cost and was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from .columns import BLEU
from .columns import QUALITY as SCORE
from .removal import RANDOM
from .result import Column, Provenance, Result, leaves

Record = dict[str, Any]
Runs = Mapping[str, Mapping[str, Result]]
ABSENT = "not set"

_RUN = Column("run", "text", "a run")
RUNS = (
    _RUN,
    Column("property", "text", "what is described"),
    Column("value", "text", "its value"),
)
QUALITY = (
    _RUN,
    *SCORE,
    Column("text", "text", "SHA-256 of the split"),
)
DIFFERENCES = (
    _RUN,
    Column("baseline", "text", "the run it is compared with"),
    Column("split", "text", "test split"),
    Column("search", "text", "greedy, or beam and its size; the NLL depends on none"),
    Column("measure", "text", "bleu, chrf or nll"),
    Column("difference", "number", "the run's score less the baseline's", "see unit"),
    Column("low", "number", "lower bound of the paired interval", "see unit"),
    Column("high", "number", "upper bound of the paired interval", "see unit"),
    Column("p", "number", "two-sided p-value of the paired bootstrap"),
    Column("unit", "text", "unit of difference, low and high"),
    Column("sentences", "whole", "sentences that both have translated"),
    Column("signature", "text", "sacrebleu's signature"),
)
CURVES = (
    _RUN,
    Column("order", "text", "order of removal: a metric; random for the mean of the draws"),
    Column("best", "truth", "whether no other metric's order of this run keeps more"),
    Column("heads_left", "whole", "heads of the smaller model, all sites together"),
    Column("share_left", "number", "heads left / heads of the whole model"),
    *BLEU,
)
SETTINGS = (
    Column("setting", "text", "analysis and name of the setting"),
    _RUN,
    Column("value", "text", f"its value; '{ABSENT}' where the run has no such setting"),
)
COSTS = (
    _RUN,
    Column("what", "text", "what was paid"),
    Column("value", "number", "how much", "see unit"),
    Column("unit", "text", "unit of value"),
)


def _origin(results: Mapping[str, Result]) -> Provenance:
    """Return where a run began, which is its training; later analyses may have other seeds."""
    return min((it.provenance for it in results.values()), key=lambda it: it.started)


def run_rows(runs: Runs) -> list[Record]:
    """Return what each run is: corpus, model, version, seed, machine."""
    rows = []
    for name, results in runs.items():
        described: dict[str, str] = {}
        if "evaluate" in results:
            for table in ("corpus", "model"):
                if table in results["evaluate"].tables:
                    pairs = results["evaluate"].tables[table].rows
                    described |= dict(zip(pairs["property"], pairs["value"], strict=True))
        first = _origin(results)
        described |= {
            "seed": f"{first.seed}",
            "version": first.version,
            "commit": first.commit,
            "hardware": first.hardware,
            "weights": first.model,
            "results": ", ".join(results),
        }
        rows += [{"run": name, "property": key, "value": it} for key, it in described.items()]
    return rows


def quality_rows(runs: Runs) -> list[Record]:
    """Return every run's own scores."""
    rows = []
    for name, results in runs.items():
        if "evaluate" in results:
            data = results["evaluate"].provenance.data
            for record in results["evaluate"].tables["quality"].rows.to_dict("records"):
                kept = {c.name: record[c.name] for c in QUALITY if c.name in record}
                rows.append({**kept, "run": name, "text": data.get(record["split"], "")})
    return rows


def curve_rows(runs: Runs) -> list[Record]:
    """Return every run's curves: each metric's order, and the mean of the random ones."""
    rows: list[Record] = []
    for name, results in runs.items():
        if "prune" not in results:
            continue
        tables = results["prune"].tables
        areas = tables["area"].rows
        ranked = areas[areas["order"] != RANDOM].sort_values("area", ascending=False)
        best = ranked["order"].iloc[0] if len(ranked) else ""
        curve = tables["curve"].rows
        for record in curve[curve["order"] != RANDOM].to_dict("records"):
            kept = {c.name: record[c.name] for c in CURVES if c.name in record}
            rows.append({**kept, "run": name, "best": record["order"] == best})
        rows += _random(name, curve[curve["order"] == RANDOM])
    return rows


def _random(run: str, draws: pd.DataFrame) -> list[Record]:
    """Return the mean of the random orders at each head count; it has no interval."""
    means = draws.groupby("heads_left", sort=False)[["share_left", "bleu"]].mean()
    return [
        {
            "run": run,
            "order": RANDOM,
            "best": False,
            "heads_left": int(str(count)),
            "share_left": float(row["share_left"]),
            "bleu": float(row["bleu"]),
        }
        for count, row in means.iterrows()
    ]


def setting_rows(runs: Runs) -> list[Record]:
    """Return the settings that are not the same in all runs that have the analysis."""
    flat = {
        name: {
            key: ", ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value}"
            for analysis, result in results.items()
            for key, value in leaves(result.settings, f"{analysis}.")
        }
        | {"seed": f"{_origin(results).seed}"}
        for name, results in runs.items()
    }
    rows = []
    for key in dict.fromkeys(key for settings in flat.values() for key in settings):
        analysis = key.partition(".")[0]
        having = [name for name in runs if analysis in runs[name] or analysis == key]
        values = {name: flat[name].get(key, ABSENT) for name in having}
        if len(set(values.values())) > 1:
            rows += [{"setting": key, "run": name, "value": it} for name, it in values.items()]
    return rows


def cost_rows(runs: Runs) -> list[Record]:
    """Return the time of every analysis, the speed of training and decoding, and the size."""
    rows = []
    for name, results in runs.items():
        costs: list[tuple[str, Any, str]] = [
            (f"time of {analysis}", result.provenance.seconds, "seconds")
            for analysis, result in results.items()
        ]
        if "train" in results:
            curve = results["train"].tables["curve"].rows
            costs.append(("training updates", float(curve["step"].max()), "updates"))
            speed = float(curve["tokens_per_second"].median())
            costs.append(("training speed", speed, "tokens a second"))
        if "evaluate" in results:
            tables = results["evaluate"].tables
            quality = tables["quality"].rows
            for row in quality[quality["measure"] == "bleu"].to_dict("records"):
                seconds = float(row["seconds"])
                speed = float(row["sentences"]) / seconds if seconds else float("nan")
                what = f"decoding speed, {row['split']}, {row['search']}"
                costs.append((what, speed, "sentences a second"))
            model = tables["model"].rows if "model" in tables else pd.DataFrame()
            for row in model.to_dict("records"):
                if row["property"] == "parameters":
                    size = float(str(row["value"]).replace(",", ""))
                    costs.append(("parameters", size, "parameters"))
        rows += [{"run": name, "what": w, "value": v, "unit": unit} for w, v, unit in costs]
    return rows
