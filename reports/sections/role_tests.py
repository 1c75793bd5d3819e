"""What roles are worth: heads closed, roles after pruning, roles of other seeds, layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from ..findings import Findings
from ..rendering import Caption, Sheet, caption_of, render
from ..unproven import unproven
from ..wording import fixed, interval, missing, signed, significant, title_of
from . import section

ANY = "any"
MOST = 10  # changes of roles that are listed
MODELS = {"cut": "heads removed", "smaller": "removed, trained on"}
Figure = tuple[Sheet, Caption]
Row = dict[str, Any]


@section("role-tests", title="Do roles matter?", place=36, needs=("roles",))
def role_tests(findings: Findings) -> Markup | None:
    """Roles put to tests: closing heads, removing heads, other seeds; None without any."""
    parts: tuple[tuple[str, str, Callable[[Findings], Figure | None]], ...] = (
        ("importance", "Do important heads have roles?", _importance),
        ("causal", "What breaks without the heads of a role?", _causal),
        ("survival", "Which roles go first when heads are removed?", _survival),
        ("kept", "What became of each role?", _kept),
        ("drift", "Whose roles changed?", _drift),
        ("agreement", "Do models of other seeds have the same roles?", _agreement),
        ("unlike", "One or two heads unlike the rest, over seeds", _unlike),
        ("shapes", "Which shapes do attention maps have?", _shapes),
        ("layers", "How different are the heads of a layer?", _layers),
    )
    found = [(name, title, draw(findings)) for name, title, draw in parts]
    figures = [part for part in found if part[2] is not None]
    return render("role_tests.html", {"figures": figures}) if figures else None


def _p(value: Any) -> str:
    return "< 0.001" if not missing(value) and value < 0.001 else significant(value, 2)


def _arrow(row: Row) -> str:
    return f"{row['kind']}, {row['direction']}".replace("->", " → ")


def _percent(share: Any) -> str:
    return fixed(None if missing(share) else 100 * share, 1)


def _importance(findings: Findings) -> Figure | None:
    """Return, metric by metric, the odds of a role among important heads."""
    broken = unproven(findings)
    rows = [
        row
        for row in findings.records("roles", "importance")
        if row["site"] == "all" and row["metric"] not in broken
    ]
    if not rows:
        return None
    printed = [
        [
            title_of(row["metric"]),
            _of(row["important_with"], row["important_without"]),
            _of(row["others_with"], row["others_without"]),
            significant(row["odds_ratio"]),
            _p(row["p_within"]),
        ]
        for row in rows
    ]
    columns = ["Metric", "Important heads with a role", "Other heads with a role"]
    columns += ["Odds ratio", "p within sites"]
    sheet = Sheet("Roles and importance", columns, printed)
    text = (
        "Important are the heads in the top quarter of their site. Roles are dealt out anew "
        "within each site for p, because sites differ in both."
    )
    return sheet, caption_of(findings, "roles", ("importance",), text, unit="heads")


def _of(some: int, others: int) -> str:
    return f"{some} of {some + others}"


def _causal(findings: Findings) -> Figure | None:
    """Return what closing the heads of each role does to the phenomenon that it serves."""
    rows = findings.records("roles", "causal")
    if not rows:
        return None
    printed = [
        [
            title_of(row["phenomenon"]),
            row["heads"] + ("" if row["held"] else " (best, no role)"),
            _arrow(row),
            f"{_percent(row['accuracy'])} → {_percent(row['accuracy_closed'])}",
            _percent(row["accuracy_others"]),
            signed(row["margin_excess"], 3)
            + " "
            + interval(row["margin_excess_low"], row["margin_excess_high"], 3),
            _p(row["p"]),
            *_bleu(row),
        ]
        for row in rows
    ]
    columns = ["What is wrong", "Heads closed", "Their role", "Right, %", "Others closed, %"]
    columns += ["Margin lost, nats", "p"]
    if len(printed[0]) > len(columns):
        columns += ["BLEU", "Others closed, BLEU"]
    sheet = Sheet("Heads of a role closed", columns, printed, 2, frozenset({0, 1, 2}))
    text = (
        "Right is a sentence whose translation is more probable than the same with one thing "
        "wrong (the verb’s number, the pronoun’s gender, the sense). Beside it stands what "
        "closing equally many other heads of the site leaves. Margin lost is what the heads of "
        "the role take more than these others from the log probability of right over wrong; "
        "0 means that the role is not what the translation rests on, or that others do the same."
    )
    return sheet, caption_of(findings, "roles", ("causal",), text, unit="percent of sentences")


def _bleu(row: Row) -> list[str]:
    """Return BLEU of the same sentences with all heads, without, and without others, if known."""
    if missing(row.get("bleu")):
        return []
    both = f"{fixed(row['bleu'], 1)} → {fixed(row['bleu_closed'], 1)}"
    return [both, fixed(row["bleu_others"], 1)]


def _survival(findings: Findings) -> Figure | None:
    """Return the mean time of removal of heads with each role, by order."""
    broken = unproven(findings)
    rows = [row for row in findings.records("roles", "survival") if row["order"] not in broken]
    if not rows:
        return None
    orders = list(dict.fromkeys(row["order"] for row in rows))
    cells: dict[tuple[str, int], dict[str, str]] = {}
    for row in rows:
        cell = f"{fixed(row['time'])} / {fixed(row['time_lacking'])} (p {_p(row['p_within'])})"
        cells.setdefault((row["family"], row["having"]), {})[row["order"]] = cell
    printed = [
        ["any role" if family == ANY else family, str(having)]
        + [by_order.get(order, "") for order in orders]
        for (family, having), by_order in cells.items()
    ]
    columns = ["Role", "Heads", *map(title_of, orders)]
    sheet = Sheet("Survival of roles", columns, printed, 1, frozenset({0}))
    text = (
        "Mean share of heads that are removed before a head with the role / without it, by order "
        "of removal; larger stays longer. p deals roles out anew within each site, for sites "
        "differ in both. Orders by confidence favour heads that look at one token."
    )
    return sheet, caption_of(findings, "roles", ("survival",), text, unit="share of heads")


def _kept(findings: Findings) -> Figure | None:
    """Return what became of the heads of every role in the smaller model."""
    rows = findings.records("roles", "kept")
    if not rows:
        return None
    printed = [
        [
            MODELS.get(row["model"], row["model"]),
            f"{row['family']}: {row['role']}".replace("->", " → "),
            *(str(row[name]) for name in ("heads", "removed", "stayed", "gained")),
        ]
        for row in rows
    ]
    columns = ["Model", "Role", "Heads before", "Removed", "Still have it", "Gained it"]
    sheet = Sheet("Roles after pruning", columns, printed, 2, frozenset({0, 1}))
    text = (
        "The same heads with the same questions, before heads were removed, after it, and after "
        "further training."
    )
    return sheet, caption_of(findings, "roles", ("kept",), text, unit="heads")


def _drift(findings: Findings) -> Figure | None:
    """Return the heads that stayed whose roles changed most, before and after."""
    rows = findings.records("roles", "drift")
    if not rows:
        return None
    rows.sort(key=lambda row: -abs(row["change"]))
    became = {(True, True): "kept", (True, False): "lost", (False, True): "gained"}
    printed = [
        [
            MODELS.get(row["model"], row["model"]),
            "{site}.{layer}.{head}".format(**row),
            f"{row['family']}: {row['role']}".replace("->", " → "),
            became[bool(row["had"]), bool(row["has"])],
            f"{_percent(row['before'])} → {_percent(row['after'])}",
            f"{signed(100 * row['change'], 1)} "
            f"{interval(100 * row['change_low'], 100 * row['change_high'], 1)}",
        ]
        for row in rows[:MOST]
    ]
    columns = ["Model", "Head", "Role", "The role is", "Share, %", "Change, points"]
    sheet = Sheet("Roles that changed most", columns, printed, 2, frozenset({0, 1, 2, 3}))
    text = (
        f"Of heads that stayed, at most {MOST} largest changes of a role that the head had or has. "
        "A role is held at a limit, so a small change can make or unmake it."
    )
    return sheet, caption_of(findings, "roles", ("drift",), text, unit="percent of queries")


def _agreement(findings: Findings) -> Figure | None:
    """Return how far models of other seeds agree, for all sites together."""
    rows = [row for row in findings.records("roles", "agreement") if row["site"] == "all"]
    if not rows:
        return None
    names = {
        "roles in common": "roles that both have / that either has",
        "lead": "rank correlation of the best heads’ leads",
        "layer": "best heads of a common role in the same layer",
        "head": "the same layer and number",
    }
    printed = [
        [
            names.get(row["measure"], row["measure"]),
            str(row["questions"]),
            f"{fixed(row['value'])} {interval(row['low'], row['high'])}",
            fixed(row["by_chance"]),
            _p(row["p"]),
        ]
        for row in rows
    ]
    columns = ["Of two models", "Questions", "Agreement", "By chance", "p"]
    sheet = Sheet("Agreement of seeds", columns, printed)
    text = (
        "Means over pairs of models, and the smallest and largest pair. By chance, answers belong "
        "to other questions of the same site. Heads have their numbers by chance, so the last line "
        "should be no better than chance gives."
    )
    tables = ("agreement", "shared")
    return sheet, caption_of(findings, "roles", tables, text, unit="see rows")


def _unlike(findings: Findings) -> Figure | None:
    """Return the share of layers with one or two outliers, over models."""
    rows = findings.records("roles", "unlike")
    if not rows:
        return None
    printed = [
        [
            title_of(row["site"]),
            "random weights" if row["network"] == "random" else "trained",
            f"{row['some']} of {row['layers']}",
            f"{_percent(row['share'])} {_interval(row['share_low'], row['share_high'])}",
            _percent(row["by_chance"]),
            _p(row["p"]),
        ]
        for row in rows
    ]
    columns = ["Site", "Weights", "Layers with one or two", "Share, %", "By chance, %", "p"]
    sheet = Sheet("Layers with one or two heads unlike the rest", columns, printed, 2)
    text = (
        "A head is unlike the rest beyond median + 3 MAD of its layer. By chance, the layer’s "
        "distances are dealt out anew to its pairs of heads. Training has brought it about only "
        "as far as trained models have more of it than random weights."
    )
    return sheet, caption_of(findings, "roles", ("unlike",), text, unit="percent of layers")


def _interval(low: Any, high: Any) -> str:
    return "" if missing(low) or missing(high) else interval(100 * low, 100 * high, 1)


def _shapes(findings: Findings) -> Figure | None:
    """Return the groups of attention shapes of each site, by their medoids."""
    rows = findings.records("roles", "shapes")
    trained = [row for row in rows if row["network"] == "trained"]
    if not trained:
        return None
    printed = []
    for site in dict.fromkeys(row["site"] for row in trained):
        own = [row for row in trained if row["site"] == site]
        sizes: dict[str, int] = {}
        for row in own:
            sizes[row["medoid"]] = sizes.get(row["medoid"], 0) + 1
        groups = sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))
        beside = {
            row["number"]: row["mean_silhouette"]
            for row in rows
            if row["network"] == "random" and row["site"] == site
        }
        printed.append(
            [
                title_of(site),
                ", ".join(f"{size} like {medoid}" for medoid, size in groups),
                fixed(own[0]["mean_silhouette"]),
                ", ".join(fixed(value) for value in beside.values()),
            ]
        )
    columns = ["Site", "Groups", "Silhouette", "With random weights"]
    sheet = Sheet("Shapes of attention", columns, printed, 1, frozenset({0, 1}))
    text = (
        "Heads grouped around some of them (k-medoids) by how a query’s attention is divided "
        "among distances and the tokens before and behind the text. A silhouette near 1 is "
        "well apart, near 0 arbitrary."
    )
    return sheet, caption_of(findings, "roles", ("shapes",), text, unit="heads")


def _layers(findings: Findings) -> Figure | None:
    """Return gap, variance and gradient of every layer, trained beside random weights."""
    rows = findings.records("roles", "layers")
    trained = [row for row in rows if row["network"] == "trained"]
    if not trained:
        return None
    printed = []
    for own in trained:
        at = [
            row
            for row in rows
            if row["network"] == "random" and (row["site"], row["layer"]) == _place(own)
        ]
        cells = [f"{title_of(own['site'])} {own['layer']}"]
        for name, digits in (("gap", 2), ("variance", 3), ("gradient", 3)):
            random = [row[name] for row in at if not missing(row[name])]
            cells.append(fixed(own[name], digits))
            cells.append(fixed(sum(random) / len(random) if random else None, digits))
        printed.append(cells)
    columns = ["Layer"]
    for name in ("Gap", "Variance", "Gradient, nats"):
        columns += [name, f"{name.split(',')[0]} before training"]
    sheet = Sheet("Heads of a layer", columns, printed)
    text = (
        "Gap is the mean distance of the maps of the layer’s heads; variance is between what "
        "heads add to the residual stream, of its mean square. They are two things. Gradient "
        "is the root mean square of the loss’s slope by the heads’ outputs. Before training is "
        "the mean of networks with random weights."
    )
    return sheet, caption_of(findings, "roles", ("layers",), text, unit="see columns")


def _place(row: Row) -> tuple[str, int]:
    return row["site"], row["layer"]
