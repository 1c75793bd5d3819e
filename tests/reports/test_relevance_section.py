"""The section on what each word relied on, from a Result of two tokens made by hand."""

from typing import Any

import pytest
from made_results import HOSTILE, NUMBER, TEXT, WHOLE, columns, provenance, write_run
from reading import read

from headcount.analyses.result import Result, Table
from headcount.reports.page import build_page

PIECES = {"source": ["▁The", "▁dog", "</s>"], "prefix": ["<s>", "▁Der"]}
RELEVANCE = {  # by output position and side
    (0, "source"): [6.0, 1.0, -1.0],
    (0, "prefix"): [2.0],
    (1, "source"): [0.1, 4.9, 0.0],
    (1, "prefix"): [0.0, -5.0],
}


def made_relevance(words: tuple[str, str] = ("▁Der", "▁Hund")) -> Result:
    tokens, shares = [], []
    for position, piece in enumerate(words):
        parts = {side: RELEVANCE[position, side] for side in PIECES}
        size = {side: sum(map(abs, values)) for side, values in parts.items()}
        for side, values in parts.items():
            for place, value in enumerate(values):
                row = {"sentence": 4, "position": position, "side": side, "place": place}
                tokens.append({**row, "piece": PIECES[side][place], "relevance": value})
        row = {"sentence": 4, "position": position, "piece": piece, "rival": ""}
        source_share = size["source"] / sum(size.values())
        shares.append({**row, "logit": 9.0, "source_share": source_share})
    sentence: dict[str, Any] = {"sentence": 4, "source": "The dog", "target": "Der Hund"}
    sentence |= {"reference": "Der Hund", "error": 0.125, "accounted_error": 1e-7}
    layers = [
        {"side": "decoder", "layer": 0, "bias": -0.2, "softmax": 0.05, "epsilon": 0.0},
        {"side": "output", "layer": 0, "bias": 0.1, "softmax": 0.0, "epsilon": 0.0},
    ]
    tables = {
        "sentences": table(
            [sentence], sentence=WHOLE, source=TEXT, target=TEXT, reference=TEXT, error=NUMBER,
            accounted_error=NUMBER,
        ),
        "tokens": table(
            tokens, sentence=WHOLE, position=WHOLE, side=TEXT, place=WHOLE, piece=TEXT,
            relevance=NUMBER,
        ),
        "shares": table(
            shares, sentence=WHOLE, position=WHOLE, piece=TEXT, rival=TEXT, logit=NUMBER,
            source_share=NUMBER,
        ),
        "conservation": table(
            layers, side=TEXT, layer=WHOLE, bias=NUMBER, softmax=NUMBER, epsilon=NUMBER
        ),
    }  # fmt: skip
    return Result("relevance", tables, {}, provenance(), ("Mind the sign.",))


def table(records, **kinds) -> Table:
    return Table.of("made", columns(**kinds), records, n="1 sentence")


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    run = write_run(tmp_path_factory.mktemp("runs") / "relevance", made_relevance())
    return read(build_page(run).read_text(encoding="utf-8")).one("section", id="relevance")


def rows_of(table):
    return [
        [cell.text for cell in row.inside if not isinstance(cell, str)] for row in table.all("tr")
    ]


def test_numbers_are_signed_shares_of_the_row(section):
    source, prefix = section.all("table", class_="map relied")
    assert rows_of(source) == [
        ["output", "source, %", "The", "dog", "</s>"],
        ["Der", "80", "60", "10", "−10"],
        ["Hund", "50", "1", "49", "0"],
    ]
    assert rows_of(prefix) == [["output", "<s>", "Der"], ["Der", "20", ""], ["Hund", "0", "−50"]]


def test_shades_repeat_what_the_numbers_say(section):
    source, prefix = section.all("table", class_="map relied")
    shades = [cell.attributes.get("class", "") for cell in source.all("td")]
    assert shades == ["share", "heat-12", "heat-5", "heat-5 against", "share", "", "heat-11", ""]
    assert [cell.attributes.get("class", "") for cell in prefix.all("td")][-1] == "heat-11 against"
    assert "+6.00 of the logit" in source.all("td")[1].attributes["title"]


def test_the_error_and_what_was_absorbed_stand_beside_the_numbers(section):
    text = " ".join(section.text.split())
    assert "65 % of the relevance lies on the source: most for “Der” (80 %)" in text
    assert "The inputs alone miss these logits by 12.5 %." in text
    assert "Mind the sign." in text
    assert rows_of(section.all("table", class_="sheet")[0]) == [
        ["Layer", "Biases, %", "Softmax, %", "Epsilon, %"],
        ["Decoder 0", "−20.0", "+5.0", "0.0"],
        ["Output", "+10.0", "0.0", "0.0"],
        ["All", "−10.0", "+5.0", "0.0"],
    ]
    links = {link.attributes["href"] for link in section.all("a")}
    assert "results/relevance/tokens.csv" in links


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_text(tmp_path, text):
    result = made_relevance((text, "▁Hund"))
    page = read(build_page(write_run(tmp_path / "run", result)).read_text(encoding="utf-8"))
    assert not page.one("section", id="relevance").all("script")
    assert not page.one("section", id="relevance").all("img")
