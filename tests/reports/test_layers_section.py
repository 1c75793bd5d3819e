"""The section on what layers know, from a Result of two tasks made by hand."""

import pytest
from made_results import HOSTILE, NUMBER, TEXT, WHOLE, columns, provenance, write_run
from reading import read, sheet

from headcount.analyses.result import Result, Table
from headcount.reports.findings import Findings
from headcount.reports.methods import methods_paragraph
from headcount.reports.page import build_page

CURVES = {"upos": (60, 80, 90), "role": (50, 52, 70)}
FAMILY = {"upos": "syntax", "role": "semantics"}


def table(records, **kinds) -> Table:
    return Table.of("made", columns(**kinds), records, n="40 test sentences", interval="95 %")


def made_layers(names=("upos", "role"), answer="undecided") -> Result:
    probes, gains, centres, baselines = [], [], [], []
    for task, name in zip(CURVES, names, strict=True):
        same = {"side": "encoder", "task": name, "family": FAMILY[task]}
        for network, less in (("trained", 0), ("random", 20)):
            for layer, value in enumerate((*CURVES[task], 91)):
                accuracy = (value - less) / 100
                probes.append(
                    {**same, "network": network, "model": 0, "layer": layer,
                     "unit": "norm" if layer == 3 else str(layer), "accuracy": accuracy,
                     "accuracy_low": accuracy - 0.02, "accuracy_high": accuracy + 0.02,
                     "control": 0.4 if task == "upos" else None}
                )  # fmt: skip
        gains += [
            {**same, "layer": layer, "gain": layer / 2, "low": layer / 2 - 0.1, "high": layer / 2}
            for layer in range(3)
        ]
        centre = (1.25, 1.1, 1.4)
        centres.append({**same, **dict(zip(("centre", "low", "high"), centre, strict=True))})
        baselines.append(
            {**same, "majority": 0.3, "by_type": 0.55 if task == "upos" else None}
        )  # fmt: skip
    verdict = {
        "side": "encoder", "answer": answer, "reason": "one model; train more seeds",
        "difference": 0.5, "low": -0.25, "high": 1.0, "p": 0.4, "smallest_p": 0.1,
        "detectable": 0.9, "models": 1,
    }  # fmt: skip
    lost = [
        {"side": "encoder", "task": names[0], "unit": "2", "whole": 0.9, "smaller": 0.8,
         "difference": -0.1, "low": -0.15, "high": -0.05},
        {"side": "encoder", "task": names[1], "unit": "2", "whole": 0.7, "smaller": 0.69,
         "difference": -0.01, "low": -0.05, "high": 0.03},
    ]  # fmt: skip
    mixes = [
        {"side": "encoder", "task": "upos", "centre": 1.1, "divergence": 0.012, "expected": 1.4,
         "expected_low": 1.2, "expected_high": 1.5, "gain": 0.05, "gain_low": 0.03,
         "gain_high": 0.07},
        {"side": "encoder", "task": "role", "centre": 0.9, "divergence": 0.001, "expected": None,
         "expected_low": None, "expected_high": None, "gain": 0.01, "gain_low": -0.01,
         "gain_high": 0.03},
    ]  # fmt: skip
    heads = [
        {"side": "encoder", "site": "encoder", "layer": 0, "head": head, "task": "upos",
         "accuracy": accuracy, "low": 0.5, "high": 0.9, "random": 0.3, "layer_accuracy": 0.95}
        for head, accuracy in ((0, 0.6), (1, 0.8), (2, 0.7))
    ]  # fmt: skip
    numbers = [
        {"side": "encoder", "quantity": "depth", "layer": layer, "unit": unit, "r2": r2,
         "low": r2 - 0.1, "high": r2 + 0.1, "random": r2 / 2}
        for layer, (unit, r2) in enumerate((("0", 0.2), ("1", 0.4), ("2", 0.3), ("norm", -0.1)))
    ]  # fmt: skip
    structure = [
        {"side": "encoder", "layer": layer, "kind": kind, "accuracy": 0.3 + layer / 10,
         "low": 0.25, "high": 0.55}
        for layer in range(2) for kind in ("distance", "depth")
    ]  # fmt: skip
    nonlinear = [
        {"side": "encoder", "task": "upos", "layer": 0, "unit": "0", "accuracy": 0.7,
         "low": 0.6, "high": 0.8, "control": 0.65}
    ]  # fmt: skip
    side = {"side": TEXT, "task": TEXT, "family": TEXT}
    bounds = {"low": NUMBER, "high": NUMBER}
    tables = {
        "probes": table(
            probes, **side, network=TEXT, model=WHOLE, layer=WHOLE, unit=TEXT, accuracy=NUMBER,
            accuracy_low=NUMBER, accuracy_high=NUMBER, control=NUMBER,
        ),
        "baselines": table(baselines, **side, majority=NUMBER, by_type=NUMBER),
        "verdict": table(
            [verdict], side=TEXT, answer=TEXT, reason=TEXT, difference=NUMBER, **bounds, p=NUMBER,
            smallest_p=NUMBER, detectable=NUMBER, models=WHOLE,
        ),
        "centres": table(centres, **side, centre=NUMBER, **bounds),
        "gains": table(gains, **side, layer=WHOLE, gain=NUMBER, **bounds),
        "mixes": table(
            mixes, side=TEXT, task=TEXT, **dict.fromkeys(list(mixes[0])[2:], NUMBER)
        ),
        "heads": table(
            heads, side=TEXT, site=TEXT, layer=WHOLE, head=WHOLE, task=TEXT,
            **dict.fromkeys(list(heads[0])[5:], NUMBER),
        ),
        "numbers": table(
            numbers, side=TEXT, quantity=TEXT, layer=WHOLE, unit=TEXT, r2=NUMBER, **bounds,
            random=NUMBER,
        ),
        "structure": table(
            structure, side=TEXT, layer=WHOLE, kind=TEXT, accuracy=NUMBER, **bounds
        ),
        "nonlinear": table(
            nonlinear, side=TEXT, task=TEXT, layer=WHOLE, unit=TEXT, accuracy=NUMBER, **bounds,
            control=NUMBER,
        ),
        "lost": table(
            lost, side=TEXT, task=TEXT, unit=TEXT, whole=NUMBER, smaller=NUMBER,
            difference=NUMBER, **bounds,
        ),
    }  # fmt: skip
    return Result("layers", tables, {}, provenance(), ("Two words have no piece.",))


def section_of(folder, result: Result):
    page = build_page(write_run(folder, result)).read_text(encoding="utf-8")
    return read(page).one("section", id="layers")


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    return section_of(tmp_path_factory.mktemp("runs") / "layers", made_layers())


def test_the_verdict_is_one_sentence_with_its_conditions(section):
    text = " ".join(section.one("p", class_="lead").text.split())
    assert text.startswith("Encoder: whether syntax lies lower than semantics is undecided (1 mod")
    assert "lie +0.50 layers [−0.25, 1.00] from those" in text
    assert "p = 0.40 over all namings" in text and "a difference of 0.90 layers could" in text
    assert "Two words have no piece." in section.text


def test_every_layer_stands_beside_its_baselines(section):
    columns, rows = sheet(section, "Encoder: right answers by layer, %")
    assert columns[2:6] == ["0", "1", "2", "norm"]
    assert rows[0][2:] == [
        "60.0", "80.0", "90.0", "91.0", "[89.0, 93.0]", "71.0", "40.0", "55.0", "30.0",
    ]  # fmt: skip
    assert rows[1][-4:] == ["71.0", "–", "–", "30.0"]
    _, centres = sheet(section, "Encoder: centres")
    assert [row[2] for row in centres] == ["1.25 [1.10, 1.40]"] * 2


def test_families_differ_by_colour_and_dash_and_tasks_by_marker(section):
    figure = section.one("figure", id="figure-layers-gains-encoder")
    wide = figure.all("svg", class_="chart wide")[0]
    drawn = [it.attributes.get("class", "") for it in wide.all("g")]
    drawn = [name for name in drawn if name.startswith("line ")]
    assert drawn == ["line line-0", "line line-1"]
    assert figure.all("ul", class_="legend")[0].text.split() == [
        "part", "of", "speech", "(syntax)", "role", "(semantics)",
    ]  # fmt: skip
    small = section.one("figure", id="figure-layers-curves-encoder")
    titles = [it.text for it in small.all("h4")]
    assert titles == [
        "part of speech (syntax; majority 30.0 %, word type 55.0 %)",
        "role (semantics; majority 30.0 %)",
    ]
    wide = small.all("svg", class_="chart wide")[0]
    assert {"line line-0", "line line-random", "line line-2"} <= {
        it.attributes.get("class") for it in wide.all("g")
    }
    assert "majority" in wide.text and "word type" in wide.text
    assert "0.5" not in wide.text
    # Every rule lies inside the frame, whatever the curves reach.
    for rule in wide.all("g", class_="rule"):
        assert 30 <= float(rule.all("line")[0].attributes["y1"]) <= 250 - 42


def test_a_floor_far_below_the_curves_does_not_flatten_them(tmp_path):
    made = made_layers()
    made.tables["baselines"].rows.loc[0, "majority"] = 0.02
    small = section_of(tmp_path, made).one("figure", id="figure-layers-curves-encoder")
    wide = small.all("svg", class_="chart wide")
    assert "majority" not in wide[0].text and "majority" in wide[1].text
    assert small.all("h4")[0].text.startswith("part of speech (syntax; majority 2.0 %")


def test_mixes_and_the_best_head_stand_beside_what_explains_them(section):
    _, rows = sheet(section, "Mixes of layers")
    assert rows[0][2:] == ["1.10", "0.012", "1.40 [1.20, 1.50]", "+5.0 [3.0, 7.0]"]
    assert rows[1][4:] == ["refused", "+1.0 [−1.0, 3.0]"]
    _, rows = sheet(section, "What single heads tell")
    assert rows == [
        ["Encoder", "part of speech", "encoder.0.1", "80.0 [50.0, 90.0]", "30.0", "95.0"]
    ]


def test_numbers_trees_and_hidden_layers_are_shown_by_layer(section):
    columns, rows = sheet(section, "Numbers that layers tell: explained variance, %")
    assert columns == [
        "Side", "What", "0", "1", "2", "norm", "Interval of the best", "Random weights, best",
    ]  # fmt: skip
    assert rows == [
        ["Encoder", "depth", "20.0", "40.0", "30.0", "−10.0", "[30.0, 50.0]", "20.0"]
    ]  # fmt: skip
    columns, rows = sheet(section, "Trees in the geometry of layers, %")
    assert columns[2:] == ["0", "1", "Interval of the best"]
    assert rows[0] == ["Encoder", "distance", "30.0", "40.0", "[25.0, 55.0]"]
    _, rows = sheet(section, "Right answers of probes with a hidden layer, %")
    assert rows == [["Encoder", "part of speech", "70.0", "[60.0, 80.0]", "65.0"]]


def test_of_several_models_their_mean_is_shown(tmp_path):
    made = made_layers()
    rows = [
        {"side": "encoder", "task": "upos", "layer": layer, "unit": unit, "accuracy": 0.5,
         "low": 0.4, "high": 0.6, "models": 3}
        for layer, unit in enumerate(("0", "1", "2", "norm"))
    ]  # fmt: skip
    kinds = {"side": TEXT, "task": TEXT, "layer": WHOLE, "unit": TEXT, "accuracy": NUMBER}
    made.tables["seeds"] = table(rows, **kinds, low=NUMBER, high=NUMBER, models=WHOLE)
    section = section_of(tmp_path, made)
    _, rows = sheet(section, "Encoder: right answers by layer, %")
    assert rows[0][2:7] == ["50.0"] * 4 + ["[40.0, 60.0]"]
    assert "Mean of 3 models" in section.text


def test_tasks_to_which_layers_add_nothing_have_no_centre_and_no_line(tmp_path):
    made = made_layers()
    for name in ("centre", "low", "high"):
        made.tables["centres"].rows.loc[1, name] = None
    section = section_of(tmp_path, made)
    _, centres = sheet(section, "Encoder: centres")
    assert centres[1][2].startswith("none")
    figure = section.one("figure", id="figure-layers-gains-encoder")
    assert "role" not in figure.all("ul", class_="legend")[0].text


def test_only_what_surely_changed_is_said_to_have_gone_with_the_heads(section):
    _, rows = sheet(section, "What went with the heads")
    assert rows == [["Encoder", "part of speech", "2", "90.0", "80.0", "−10.0 [−15.0, −5.0]"]]
    assert "1 of 2 tasks and layers differ" in section.text


def test_the_methods_claim_no_code_that_was_not_measured():
    found = Findings("made", {"layers": made_layers()})
    assert "control tasks and random weights." in methods_paragraph(found)
    found.rows("layers", "probes")["online"] = 5.0
    assert "random weights, and with the online code of the labels." in methods_paragraph(found)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_tasks_stay_text(tmp_path, text):
    section = section_of(tmp_path, made_layers(names=(text, "role")))
    assert not section.all("script") and not section.all("img")
