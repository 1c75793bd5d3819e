"""The section on what heads do, from a Result of two heads made by hand."""

import pytest
from made_results import HOSTILE, NUMBER, TEXT, WHOLE, columns, provenance, write_run
from reading import read

from headcount.analyses.result import Result, Table
from headcount.reports.page import build_page

KINDS = {"site": TEXT, "layer": WHOLE, "head": WHOLE}
FIRST, SECOND = ({"site": "encoder", "layer": 0, "head": head} for head in (0, 1))
SHARES = {-4: 0.1, -1: 0.6, 0: 0.2, None: 0.1}
ARC = {
    "family": "syntax", "kind": "nsubj", "direction": "dependent->head", "accuracy": 0.9,
    "place": "-2", "baseline": 0.4, "chance": 0.1, "floor": 0.3, "effect": 0.5,
    "effect_low": 0.42, "effect_high": 0.58, "p_holm": 2e-9,
}  # fmt: skip
ARC_KINDS = {name: TEXT if isinstance(value, str) else NUMBER for name, value in ARC.items()}


def table(records, **kinds) -> Table:
    return Table.of("made", columns(**kinds), records, n="40 sentences")


NUMBERS = dict.fromkeys(
    ("accuracy", "accuracy_closed", "accuracy_others", "margin_excess", "margin_excess_low",
     "margin_excess_high", "p", "bleu", "bleu_closed", "bleu_others"), NUMBER,
)  # fmt: skip
TESTED = {
    "causal": (
        [
            {"phenomenon": "agreement", "kind": "nsubj", "direction": "dependent->head"}
            | {"heads": "encoder.1.2", "held": held, "accuracy": 1.0, "accuracy_closed": 0.75}
            | {"accuracy_others": 0.99, "margin_excess": 1.5, "margin_excess_low": 1.0}
            | {"margin_excess_high": 2.0, "p": 0.042}
            | {"bleu": 90.0, "bleu_closed": 80.5, "bleu_others": 89.0}
            for held in (True, False)
        ],
        {"phenomenon": TEXT, "kind": TEXT, "direction": TEXT, "heads": TEXT, "held": "truth"}
        | NUMBERS,
    ),
    "survival": (
        [
            {"order": order, "family": "any", "having": 3, "time": 0.75, "time_lacking": 0.25}
            | {"p_within": 0.01}
            for order in ("gradient", "random")
        ],
        {"order": TEXT, "family": TEXT, "having": WHOLE, "time": NUMBER, "time_lacking": NUMBER}
        | {"p_within": NUMBER},
    ),
    "kept": (
        [
            {"model": "cut", "family": "syntax", "role": "nsubj, dependent->head", "heads": 3}
            | {"removed": 1, "stayed": 2, "gained": 0}
        ],
        {"model": TEXT, "family": TEXT, "role": TEXT}
        | dict.fromkeys(("heads", "removed", "stayed", "gained"), WHOLE),
    ),
    "drift": (
        [
            {"model": "smaller", **SECOND, "family": "rest", "role": "end", "had": True}
            | {"before": 0.7, "after": 0.7 + change, "change": change, "has": change > 0}
            | {"change_low": change - 0.1, "change_high": change + 0.1}
            for change in (0.1, -0.4)
        ],
        {"model": TEXT, **KINDS, "family": TEXT, "role": TEXT, "had": "truth", "has": "truth"}
        | dict.fromkeys(("before", "after", "change", "change_low", "change_high"), NUMBER),
    ),
    "agreement": (
        [
            {"measure": "layer", "site": site, "questions": 9, "value": 0.5, "low": 0.25}
            | {"high": 0.75, "by_chance": 0.3, "p": 0.2}
            for site in ("encoder", "all")
        ],
        {
            "measure": TEXT,
            "site": TEXT,
            "questions": WHOLE,
            "value": NUMBER,
            "low": NUMBER,
            "high": NUMBER,
        }
        | {"by_chance": NUMBER, "p": NUMBER},
    ),
    "unlike": (
        [
            {"network": "trained", "site": "all", "layers": 27, "some": 9, "share": 1 / 3}
            | {"share_low": low, "share_high": high, "by_chance": 0.3, "p": 0.4}
            for low, high in ((0.25, 0.5), (None, None))
        ],
        {
            "network": TEXT,
            "site": TEXT,
            "layers": WHOLE,
            "some": WHOLE,
            "share": NUMBER,
            "p": NUMBER,
        }
        | {"share_low": NUMBER, "share_high": NUMBER, "by_chance": NUMBER},
    ),
    "shapes": (
        [
            {"network": "trained", "number": 0, "site": "encoder", "medoid": medoid}
            | {"mean_silhouette": 0.5}
            for medoid in ("encoder.0.1", "encoder.1.1", "encoder.1.1")
        ]
        + [
            {"network": "random", "number": number, "site": "encoder", "medoid": "encoder.0.0"}
            | {"mean_silhouette": 0.1}
            for number in (0, 0, 1)
        ],
        {"network": TEXT, "number": WHOLE, "site": TEXT, "medoid": TEXT, "mean_silhouette": NUMBER},
    ),
    "layers": (
        [
            {"network": network, "site": "encoder", "layer": 0, "gap": gap, "variance": 0.8}
            | {"gradient": 0.125}
            for network, gap in (("trained", 0.5), ("random", 0.2), ("random", 0.3))
        ],
        {
            "network": TEXT,
            "site": TEXT,
            "layer": WHOLE,
            "gap": NUMBER,
            "variance": NUMBER,
            "gradient": NUMBER,
        },
    ),
}


def made_roles(kind: str = "nsubj", positions=()) -> Result:
    found = {**FIRST, "family": "syntax", "role": f"{kind}, dependent->head"}
    found |= {"share": 0.9, "effect": 0.5}
    weak = {**ARC, **SECOND, "kind": "amod", "effect": 0.06, "p_holm": 0.3, "chosen": True}
    aligned = [
        {
            "model": "whole",
            "map": "weights",
            "aligner": name,
            "asked": "said",
            "chosen": name == "cross.0.1",
            "precision": 0.8,
        }
        | {"recall": 0.7, "error_rate": 0.25, "error_rate_low": 0.2, "error_rate_high": 0.3}
        for name in ("cross.0.0", "cross.0.1", "mean", "union")
    ]
    counted = [
        {"network": kind, "number": number, "site": "encoder", "heads": 2, "outliers": count}
        | {
            "layers": 1,
            "layers_with_one_or_two": count,
            "by_chance": 0.3,
            "median_distance": 0.5 + number,
        }
        for kind, number, count in (("trained", 0, 1), ("random", 0, 0), ("random", 1, 1))
    ]
    pair = {"other_layer": 0, "other_head": 1, "distance": 0.36, "twins": True}
    odds = {"metric": "gradient", "site": "all", "important_with": 2, "important_without": 1}
    odds |= {"others_with": 1, "others_without": 5, "odds_ratio": 7.5, "p_within": 0.04}
    tables = {
        "importance": table(
            [odds], metric=TEXT, site=TEXT, important_with=WHOLE, important_without=WHOLE,
            others_with=WHOLE, others_without=WHOLE, odds_ratio=NUMBER, p_within=NUMBER,
        ),
        "roles": table(
            [found, *positions], **KINDS, family=TEXT, role=TEXT, share=NUMBER, effect=NUMBER
        ),
        "arcs": table(
            [
                {**ARC, **FIRST, "kind": kind, "chosen": True},
                {**ARC, **SECOND, "kind": "left out", "chosen": False},
                weak,
            ],
            **KINDS,
            **ARC_KINDS,
            chosen="truth",
        ),
        "offsets": table(
            [
                {**head, "offset": offset, "share": share}
                for head in (FIRST, SECOND)
                for offset, share in SHARES.items()
            ],
            **KINDS,
            offset=WHOLE,
            share=NUMBER,
        ),
        "sinks": table(
            [
                {**head, "kind": name, "mass": mass}
                for head in (FIRST, SECOND)
                for name, mass in (("words", 0.25), ("self", 0.75))
            ],
            **KINDS,
            kind=TEXT,
            mass=NUMBER,
        ),
        "alignment": table(
            aligned, model=TEXT, map=TEXT, aligner=TEXT, asked=TEXT, chosen="truth",
            precision=NUMBER, recall=NUMBER,
            error_rate=NUMBER, error_rate_low=NUMBER, error_rate_high=NUMBER,
        ),
        "outliers": table(
            counted, network=TEXT, number=WHOLE, site=TEXT, heads=WHOLE, outliers=WHOLE,
            layers=WHOLE, layers_with_one_or_two=WHOLE, by_chance=NUMBER, median_distance=NUMBER,
        ),
        "map": table(
            [{**FIRST, "outlier": False}, {**SECOND, "outlier": True}], **KINDS, outlier="truth"
        ),
        "likeness": table(
            [{**FIRST, **pair}], **KINDS, other_layer=WHOLE, other_head=WHOLE, distance=NUMBER,
            twins="truth",
        ),
    }  # fmt: skip
    tables |= {name: table(records, **kinds) for name, (records, kinds) in TESTED.items()}
    return Result("roles", tables, {}, provenance(), ("Two words have no piece.",))


def section_of(folder, result: Result, name: str = "roles"):
    page = build_page(write_run(folder, result)).read_text(encoding="utf-8")
    return read(page).one("section", id=name)


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    return section_of(tmp_path_factory.mktemp("runs") / "roles", made_roles())


def rows_of(table):
    return [
        [cell.text.strip() for cell in row.inside if not isinstance(cell, str)]
        for row in table.all("tr")
    ]


def test_roles_are_named_head_by_head(section):
    sheets = [rows_of(it) for it in section.all("table", class_="sheet")]
    heads, pairs, alignment, unlike = sheets
    assert heads[1:] == [["encoder.0.0", "nsubj, dependent → head (90 %, lead +50)"]]
    assert pairs[1:] == [
        ["encoder.0.0", "nsubj, dependent → head", "90.0", "40.0 (−2)", "10.0", "30.0",
         "+50.0 [42.0, 58.0]", "< 0.0001"],
        ["encoder.0.1", "amod, dependent → head", "90.0", "40.0 (−2)", "10.0", "30.0",
         "+6.0 [42.0, 58.0]", "0.30"],
    ]  # fmt: skip
    assert [row[0] for row in alignment[1:]] == [
        "cross.0.1 (best head)",
        "mean of all heads",
        "union of all heads",
    ]
    assert alignment[1][1:] == ["weight", "said", "80.0", "70.0", "25.0 [20.0, 30.0]"]
    assert unlike[1][1:] == [
        "1 of 1",
        "0.3",
        "0 to 1",
        "0.50",
        "0.50 to 1.50",
        "0.1",
        "0.0 and 0.1",
    ]


def test_roles_are_put_to_tests(tmp_path):
    tests = section_of(tmp_path, made_roles(), name="role-tests")
    sheets = [rows_of(it) for it in tests.all("table", class_="sheet")]
    importance, causal, survival, kept, drift, agreement, unlike, shapes, layers = sheets
    assert importance[1] == ["Gradient", "2 of 3", "1 of 6", "7.50", "0.040"]
    assert causal[1][1:] == [
        "encoder.1.2", "nsubj, dependent → head", "100.0 → 75.0", "99.0", "+1.500 [1.000, 2.000]",
        "0.042", "90.0 → 80.5", "89.0",
    ]  # fmt: skip
    assert causal[2][1] == "encoder.1.2 (best, no role)"
    assert survival[1] == ["any role", "3", *["0.75 / 0.25 (p 0.010)"] * 2]
    assert kept[1] == ["heads removed", "syntax: nsubj, dependent → head", "3", "1", "2", "0"]
    assert [row[1:] for row in drift[1:]] == [
        ["encoder.0.1", "rest: end", "lost", "70.0 → 30.0", "−40.0 [−50.0, −30.0]"],
        ["encoder.0.1", "rest: end", "kept", "70.0 → 80.0", "+10.0 [0.0, 20.0]"],
    ]
    assert [row[1:] for row in agreement[1:]] == [["9", "0.50 [0.25, 0.75]", "0.30", "0.20"]]
    assert [row[3] for row in unlike[1:]] == ["33.3 [25.0, 50.0]", "33.3"]
    assert shapes[1][1:] == ["2 like encoder.1.1, 1 like encoder.0.1", "0.50", "0.10, 0.10"]
    assert layers[1][1:] == ["0.50", "0.25", "0.800", "0.800", "0.125", "0.125"]


def test_the_absence_of_positional_heads_is_said(section):
    text = " ".join(section.text.split())
    assert "1 of 2 heads have a role." in text
    assert "the closest is encoder.0.0, 60 % at offset −1" in text
    assert "Two words have no piece." in text


def test_positional_heads_are_named(tmp_path):
    placed = {**SECOND, "family": "position", "role": "+1", "share": 0.95}
    text = " ".join(section_of(tmp_path, made_roles(positions=[placed])).text.split())
    assert "2 of 2 heads have a role." in text
    assert "At one fixed distance look encoder.0.1 (+1)." in text
    assert "offset +1 (95 %)" in text


def test_to_rest_is_no_role(tmp_path):
    resting = {**SECOND, "family": "rest", "role": "end", "share": 0.95}
    text = " ".join(section_of(tmp_path, made_roles(positions=[resting])).text.split())
    assert "1 of 2 heads have a role; 1 more only rest on one kind of token." in text


def test_profiles_and_distances_are_shown(section):
    profiles, square = section.all("table", class_="map pairs-of")
    assert rows_of(profiles)[0] == [
        "head", "−3", "−2", "−1", "0", "+1", "+2", "+3", "further", "self",
    ]  # fmt: skip
    assert rows_of(profiles)[1][1:] == ["", "", "60", "20", "", "", "", "20", "75"]
    assert rows_of(square) == [["head", "0.0"], ["0.1", "36"]]
    links = {link.attributes["href"] for link in section.all("a")}
    assert {"results/roles/arcs.csv", "results/roles/merges.csv"} <= links


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_relations_stay_text(tmp_path, text):
    section = section_of(tmp_path, made_roles(kind=text))
    assert not section.all("script") and not section.all("img")
