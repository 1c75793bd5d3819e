"""Do models of other seeds have the same roles? Agreement of roles between trainings.

Training gives heads their numbers by chance, so head 3 of one model is not head 3 of the next.
What can agree is whether SOME head of a site has a role, how well the best head for a
question does it, and in which layer that head is:

| measure | of two models | by chance |
| --- | --- | --- |
| roles in common | roles that both have / roles that either has (Jaccard) | as many other roles |
| lead | Spearman's rho of the best heads' leads over all questions | leads of other questions |
| layer | roles of both: best heads in the same layer | layers of other roles |
| head | roles of both: best heads of the same layer and number | heads of other roles |

By chance means: what one model says of a question is dealt out anew among the questions of the
same site, 1000 times; p is how often that agrees as well. Values are means over all pairs of
models, and the bounds are the smallest and the largest pair: pairs share models, so nothing
finer would be honest. `head` is a control: it should be no better than chance given the layer.

The table `shared` has, role by role, how many models have it, with the best heads' lead and
its t interval over models. `unlike` puts a number on "one or two heads in a layer are unlike the
rest": the share of layers of which that is true, with its t interval over models, beside what
happens by chance within the same layers (`probe/roles/grouping.py`) and in random weights.

Pitfall: three models are few. A t interval over three is 2.5 standard deviations wide, each way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ..models.gates import SITES
from ..probe.roles.grouping import at_least
from .result import Column, Result, Table

Array = NDArray[np.float64]
Row = dict[str, Any]
PERMUTATIONS = 1000
SHARED = (
    Column("site", "text", "encoder, decoder or cross"),
    Column("family", "text", "syntax, semantics, tokens, alignment, position, block or rest"),
    Column("role", "text", "what heads look at"),
    Column("models", "whole", "models that were looked at"),
    Column("having", "whole", "models of which some head has the role"),
    Column("heads", "text", "heads with the role, model by model; - where there is none"),
    Column("layers", "text", "layers of the best heads for it, model by model"),
    Column("lead", "number", "lead of the best head, mean of the models", "share"),
    Column("lead_low", "number", "lower bound of the interval", "share"),
    Column("lead_high", "number", "upper bound of the interval", "share"),
)
AGREEMENT = (
    Column("measure", "text", "what is compared: roles in common, lead, layer, head"),
    Column("site", "text", "encoder, decoder, cross, or all"),
    Column("questions", "whole", "questions that are compared, mean of the pairs of models"),
    Column("value", "number", "mean over pairs of models", "0 to 1; lead -1 to 1"),
    Column("low", "number", "the pair of models that agrees least", "as value"),
    Column("high", "number", "the pair that agrees most", "as value"),
    Column("by_chance", "number", "the same if answers belonged to other questions", "as value"),
    Column("p", "number", "how often chance agrees as well", "probability"),
)
UNLIKE = (
    Column("network", "text", "trained, or random weights"),
    Column("site", "text", "encoder, decoder, cross, or all"),
    Column("models", "whole", "models"),
    Column("layers", "whole", "layers of all models together"),
    Column("some", "whole", "of them, with one or two heads unlike the rest"),
    Column("share", "number", "mean over models of the share of such layers", "0 to 1"),
    Column("share_low", "number", "lower bound of the interval", "0 to 1"),
    Column("share_high", "number", "upper bound of the interval", "0 to 1"),
    Column("by_chance", "number", "share if distances belonged to no head", "0 to 1"),
    Column("p", "number", "so many layers or more by chance", "probability"),
)
KEY = ["site", "family", "role"]


def seeds_tables(results: Mapping[str, Result], seed: int) -> dict[str, Table]:
    """Compare the roles of models that were trained alike from several seeds.

    Args:
        results: of the analysis `roles` on the same text, by name of the model.
        seed: of the permutations.

    Returns:
        tables `shared`, `agreement` and `unlike`
    """
    n = f"{len(results)} models: {', '.join(results)}"
    shared, asked = _shared(list(results.values()))
    agreement = _agreements(asked, np.random.default_rng(seed))
    unlike = _unlike([it.tables["layers"].rows for it in results.values()])
    captions = {
        "shared": "Roles of models trained from several seeds, and where their best heads are.",
        "agreement": "How far models from several seeds have the same roles at the same places.",
        "unlike": "Layers in which one or two heads are unlike the rest, over several models.",
    }
    over = "95 % t interval over models"
    return {
        "shared": Table.of(captions["shared"], SHARED, shared, n=n, interval=over),
        "agreement": Table.of(
            captions["agreement"], AGREEMENT, agreement, n=n, interval="least and most of the pairs"
        ),
        "unlike": Table.of(captions["unlike"], UNLIKE, unlike, n=n, interval=over),
    }


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % t interval of a mean; NaN of fewer than two values."""
    if len(values) < 2:
        return float("nan"), float("nan")
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values) - half), float(np.mean(values) + half)


def _shared(results: Sequence[Result]) -> tuple[list[Row], dict[str, pd.DataFrame]]:
    """Return one row a role, and the answers of every model to the questions of all.

    Returns:
        rows of the table `shared`
        `has`, `lead`, `layer`, `head`: a row a question, a column a model
    """
    best = [_best(it) for it in results]  # each with a row a question
    held = [_held(it) for it in results]  # each with heads by role
    index = pd.MultiIndex.from_tuples(sorted({*itertools.chain(*best, *held)}), names=KEY)
    rows = []
    for key in index:
        heads = [it.get(key, []) for it in held]
        known = [it[key] for it in best if key in it]
        leads = [it["effect"] for it in known]
        if any(heads):
            low, high = t_interval(leads)
            rows.append(
                dict(zip(KEY, key, strict=True))
                | {
                    "models": len(results),
                    "having": sum(bool(it) for it in heads),
                    "heads": "; ".join(" ".join(it) or "-" for it in heads),
                    "layers": "; ".join(str(it["layer"]) for it in known),
                    "lead": float(np.mean(leads)) if leads else None,
                    "lead_low": low,
                    "lead_high": high,
                }
            )
    rows.sort(key=lambda row: (-row["having"], -(row["lead"] or 0.0)))
    asked = [key for key in index if all(key in it for it in best)]
    frames = {
        "has": [[bool(it.get(key)) for it in held] for key in asked],
        "lead": [[it[key]["effect"] for it in best] for key in asked],
        "layer": [[it[key]["layer"] for it in best] for key in asked],
        "head": [[100 * it[key]["layer"] + it[key]["head"] for it in best] for key in asked],
    }
    where = pd.MultiIndex.from_tuples(asked, names=KEY)
    return rows, {name: pd.DataFrame(values, index=where) for name, values in frames.items()}


def _best(result: Result) -> dict[tuple[str, str, str], Row]:
    """Return the head that was chosen for every question."""
    rows = result.tables["arcs"].rows
    found = {}
    for record in rows[rows["chosen"]].to_dict("records"):
        row = {str(name): value for name, value in record.items()}
        found[row["site"], row["family"], f"{row['kind']}, {row['direction']}"] = row
    return found


def _held(result: Result) -> dict[tuple[str, str, str], list[str]]:
    """Return the heads with every role."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in result.tables["roles"].rows.to_dict("records"):
        key = row["site"], row["family"], row["role"]
        found.setdefault(key, []).append(f"{row['layer']}.{row['head']}")
    return found


def _agreements(asked: Mapping[str, pd.DataFrame], generator: np.random.Generator) -> list[Row]:
    """Return every measure of agreement, for each site and for all."""
    rows = []
    for site in (*SITES, "all"):
        here = {
            name: it if site == "all" else it[it.index.get_level_values("site") == site]
            for name, it in asked.items()
        }
        if not len(here["has"]):
            continue
        has = here["has"].to_numpy()  # [question, model]
        groups = here["has"].index.get_level_values("site").to_numpy()
        for measure, name, rule in (
            ("roles in common", "has", _jaccard),
            ("lead", "lead", _spearman),
            ("layer", "layer", _same),
            ("head", "head", _same),
        ):
            both = measure in ("layer", "head")
            values = here[name].to_numpy(dtype=float)  # [question, model]
            found = _agreement(values, has if both else None, groups, rule, generator)
            if found:
                rows.append({"measure": measure, "site": site, **found})
    return rows


def _agreement(
    values: Array,
    has: NDArray[np.bool_] | None,
    groups: NDArray[Any],
    rule: Callable[[Array, Array], float],
    generator: np.random.Generator,
) -> Row | None:
    """Compare all pairs of models, and what chance makes of the same answers.

    Args:
        values: answers [question, model]
        has: if given, only questions are compared whose role both models have
            [question, model]
        groups: questions among which chance may exchange [question]
        rule: agreement of two models' answers; NaN where it has none.
    """
    pairs, sizes = [], []
    dealt = np.zeros(PERMUTATIONS)
    for one, other in itertools.combinations(range(values.shape[1]), 2):
        kept = np.ones(len(values), bool) if has is None else has[:, one] & has[:, other]
        left, right, group = values[kept, one], values[kept, other], groups[kept]
        value = rule(left, right) if kept.sum() > 1 else float("nan")
        if np.isnan(value):
            continue
        pairs.append(value)
        sizes.append(int(kept.sum()))
        for draw in range(PERMUTATIONS):
            dealt[draw] += rule(left, _dealt(right, group, generator))
    if not pairs:
        return None
    by_chance = dealt / len(pairs)
    mean = float(np.mean(pairs))
    return {
        "questions": round(float(np.mean(sizes))),
        "value": mean,
        "low": min(pairs),
        "high": max(pairs),
        "by_chance": float(by_chance.mean()),
        "p": (1 + int((by_chance >= mean - 1e-12).sum())) / (1 + PERMUTATIONS),
    }


def _dealt(values: Array, groups: NDArray[Any], generator: np.random.Generator) -> Array:
    """Deal values out anew within groups."""
    dealt = values.copy()
    for group in set(groups.tolist()):
        dealt[groups == group] = generator.permutation(values[groups == group])
    return dealt


def _jaccard(one: Array, other: Array) -> float:
    either = ((one + other) > 0).sum()
    return float((one * other).sum() / either) if either else float("nan")


def _spearman(one: Array, other: Array) -> float:
    if len(one) < 3 or not np.ptp(one) or not np.ptp(other):
        return float("nan")
    return float(np.corrcoef(stats.rankdata(one), stats.rankdata(other))[0, 1])


def _same(one: Array, other: Array) -> float:
    return float((one == other).mean())


def _unlike(layers: Iterable[pd.DataFrame]) -> list[Row]:
    """Return, for trained and for random weights, the share of layers with one or two outliers."""
    models = list(layers)
    rows = []
    for network in ("trained", "random"):
        for site in (*SITES, "all"):
            own = [
                it[(it["network"] == network) & (it["site"].isin([site]) | (site == "all"))]
                for it in models
            ]
            own = [it for it in own if len(it)]
            if not own:
                continue
            some = [it["outliers"].isin([1, 2]) for it in own]
            shares = [float(it.mean()) for it in some]
            chances = [float(it) for each in own for it in each["by_chance"]]
            low, high = t_interval(shares)
            rows.append(
                {
                    "network": network,
                    "site": site,
                    "models": len(own),
                    "layers": len(chances),
                    "some": int(sum(it.sum() for it in some)),
                    "share": float(np.mean(shares)),
                    "share_low": max(0.0, low) if low == low else None,
                    "share_high": min(1.0, high) if high == high else None,
                    "by_chance": float(np.mean(chances)),
                    "p": at_least(int(sum(it.sum() for it in some)), chances),
                }
            )
    return rows
