"""Maps, cards and embedded attention say what the Results say, each number once."""

import base64
import json

import pytest
from made_heads import made_attention, made_roles, seen, weight
from made_results import (
    COUNTS,
    heads,
    importance,
    made_prune,
    made_score,
    said_by,
    write_run,
)
from reading import read, sheet

from headcount.analyses.result import Column, Table
from headcount.reports import attention as embedding
from headcount.reports.attention import attention_of
from headcount.reports.cards import anchor, cards_of
from headcount.reports.findings import Findings
from headcount.reports.page import build_page
from headcount.reports.removal import head_names, removal_of
from headcount.reports.role_letters import letters, role_words

SENTENCES = ("A dog runs .", "It <b>sees</b> the bank .")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    results = made_prune(SENTENCES), made_score(), made_roles(), made_attention()
    return write_run(tmp_path_factory.mktemp("runs") / "heads", *results)


@pytest.fixture(scope="module")
def findings(run):
    return Findings.of_run(run)


@pytest.fixture(scope="module")
def page(run):
    return read(build_page(run).read_text(encoding="utf-8"))


def place_of(*name):
    return heads().index(name)


def rows_of(cards, title, place):
    (at,) = [at for at, part in enumerate(cards["parts"]) if part["title"] == title]
    return cards["rows"][place][at]


def test_heads_are_numbered_alike_with_and_without_scores(findings):
    assert head_names(findings) == heads()
    results = {name: it for name, it in findings.results.items() if name != "score"}
    assert head_names(Findings("x", results)) == heads()
    assert head_names(Findings("x", {})) == []


def test_the_card_has_roles_beside_their_baselines(findings):
    cards = cards_of(findings)
    assert rows_of(cards, "Roles", place_of("encoder", 0, 3)) == [
        ["P: offset −1", "93 %", "50 %", ""]
    ]
    assert rows_of(cards, "Roles", 0) == []
    assert [row[0][0] for row in rows_of(cards, "Roles", place_of("decoder", 1, 2))] == ["S", "M"]


def test_the_card_has_the_three_best_questions(findings):
    best = rows_of(cards_of(findings), "Best of all questions", 7)
    assert [row[0].split(",")[0] for row in best] == ["nsubj", "aux", "obj"]
    assert best[0][1:] == ["60 %", "40 %", "10 %", "20 %", "+20"]


def test_the_card_has_the_nearest_heads_of_both_sides(findings):
    # Distances grow along a layer: head 3 lies .32 from head 2 and .33 from head 4.
    near = rows_of(cards_of(findings), "Most alike", place_of("cross", 1, 3))
    assert near == [["cross.1.2", "0.32", "no"], ["cross.1.4", "0.33", "no"]]
    twins = rows_of(cards_of(findings), "Most alike", place_of("cross", 1, 0))
    assert twins == [["cross.1.1", "0.30", "yes"]]


def test_the_card_says_what_breaks(findings):
    (nll, bleu) = rows_of(cards_of(findings), "What breaks without it", 5)
    value = 1000 * importance("leave_one_out", 5)
    assert float(nll[1].replace("−", "-")) == pytest.approx(value, abs=0.0051)
    assert bleu[:2] == ["BLEU, points", "not measured"]


def test_the_card_has_the_change_of_bleu_where_it_was_measured(tmp_path):
    score = made_score()
    names = ("difference", "low", "high", "p_holm")
    columns = [
        Column("site", "text", ""),
        Column("layer", "whole", ""),
        Column("head", "whole", ""),
    ]
    columns += [Column(name, "number", "") for name in names]
    row = {"site": "cross", "layer": 2, "head": 7, "difference": -1.25, "low": -2.0, "high": -0.5}
    score.tables["bleu"] = Table.of("BLEU.", columns, [{**row, "p_holm": 0.012}])
    cards = cards_of(Findings.of_run(write_run(tmp_path, score)))
    found = rows_of(cards, "What breaks without it", 71)
    assert found[1] == ["BLEU, points", "−1.25", "[−2.00, −0.50]", "0.012 (Holm)"]
    assert cards["profiles"] is None  # no roles, no profiles


def test_profiles_have_one_bar_an_offset_as_high_as_its_share(findings):
    path, words = cards_of(findings)["profiles"][0]
    # −1: 60 % of 48 units at the 8th place, 0: 25 %, and 15 % further away, last.
    assert path == "M70 48v-29h8v29zM80 48v-12h8v12zM180 48v-7h8v7z"
    assert words == "−1: 60 %, 0: 25 %, further: 15 %"


def test_attention_is_embedded_head_after_head_byte_for_byte(findings):
    embedded = attention_of(findings)
    assert embedded["left_out"] == 0 and len(embedded["sentences"]) == 2
    second = embedded["sentences"][1]
    assert (second["source"], second["target"]) == (
        ["A", "dog", "<b>", "</s>"],
        ["<s>", "Ein", "Hund"],
    )
    shapes = {"encoder": (4, 4), "decoder": (3, 3), "cross": (3, 4)}
    expected = [
        weight(place + 1, query, key)
        for place, (site, _, _) in enumerate(heads())
        for query in range(shapes[site][0])
        for key in range(shapes[site][1])
        if seen(place, query, key)
    ]
    assert list(base64.b64decode(second["weights"])) == expected


def test_sentences_beyond_the_budget_are_counted_and_left_out(findings, monkeypatch):
    size = len(attention_of(findings)["sentences"][0]["weights"])
    monkeypatch.setattr(embedding, "BUDGET", 2 * size - 1)
    embedded = attention_of(findings)
    assert len(embedded["sentences"]) == 1 and embedded["left_out"] == 1


def test_without_the_script_the_key_that_is_looked_at_most_is_told(page):
    plain = page.one("noscript")
    source, target = ["A", "dog", "<b>", "</s>"], ["<s>", "Ein", "Hund"]
    sides = {"Encoder self-attention": (source, source), "Decoder self-attention": (target, target)}
    sides["Cross-attention"] = (target, source)
    for sentence in (0, 1):
        for at, (site, (queries, keys)) in enumerate(sides.items()):
            name = f"{site}, sentence {sentence}: what each head looks at most"
            columns, rows = sheet(plain, name)
            assert columns == ["Head", *queries] and len(rows) == 24
            for place, (_, *cells) in enumerate(rows, start=24 * at):
                for query, cell in enumerate(cells):
                    weights = [
                        weight(place + sentence, query, key) * seen(place, query, key)
                        for key in range(len(keys))
                    ]
                    most = max(weights)
                    assert cell == f"{keys[weights.index(most)]} {round(100 * most / 255)}"


def test_the_slider_has_every_order_count_and_sentence(findings):
    removal = removal_of(findings)
    for order in removal["orders"]:
        assert [stop["left"] for stop in order["stops"]] == sorted(COUNTS)
        for stop in order["stops"]:
            for text, said in zip(SENTENCES, stop["says"], strict=True):
                pieces = removal["says"][said]
                after = "".join(words for kind, words in pieces if kind != 2)
                assert after.strip() == said_by(order["name"], stop["left"], text)
                assert any(kind == 1 for kind, _ in pieces) == (stop["left"] != 72)


def test_runs_without_samples_show_the_examples_they_have(tmp_path):
    prune = made_prune(SENTENCES)
    del prune.tables["samples"], prune.tables["costs"]
    removal = removal_of(Findings.of_run(write_run(tmp_path, prune)))
    kept = {(o["name"], s["left"]) for o in removal["orders"] for s in o["stops"] if "says" in s}
    assert kept >= {("leave_one_out", 72), ("leave_one_out", 24), ("leave_one_out", 12)}
    assert not any(left not in (72, 24, 12) for _, left in kept)
    assert removal["orders"][0]["stops"][0]["facts"][4:6] == ["–", "–"]


def test_the_map_of_steps_numbers_the_heads_as_they_go(page):
    cells = page.one("div", **{"data-metric": "step"}).all("td")
    order = sorted(range(72), key=lambda place: (importance("leave_one_out", place), place))
    for cell in cells:
        step = order.index(int(cell.attributes["data-head"])) + 1
        assert cell.inside[0] == str(step)
        assert cell.attributes["title"].endswith(f"removed as number {step} of 72")


def test_the_map_of_roles_has_letters_and_the_colour_of_the_strongest(page):
    cells = {
        int(cell.attributes["data-head"]): cell
        for cell in page.one("div", **{"data-metric": "role"}).all("td")
    }
    both = cells[place_of("decoder", 1, 2)]
    assert (both.text, both.attributes["class"]) == ("SM", "role-syntax")
    assert cells[0].text == "·" and "class" not in cells[0].attributes
    assert "nsubj, dependent → head (80 %)" in both.attributes["title"]
    legend = page.one("p", class_="letters note").text
    assert all(words in legend for words in ("fixed distance", "syntactic", "meaning", "aligns"))


def test_without_scripts_an_address_of_a_head_leads_to_its_row(page):
    for name in heads():
        row = page.one("tr", id=anchor(name))
        assert row.all("th")[0].text == ".".join(map(str, name))


def test_one_site_alone_has_a_table(page):
    columns, rows = sheet(page, "BLEU by heads left at one site")
    assert columns[1:] == ["Encoder self-attention", "Decoder self-attention", "Cross-attention"]
    assert [row[0] for row in rows] == ["24", "12", "0"]
    assert rows[1][2] == "91.00 [79.00, 99.00]"


def test_sentences_of_the_card_cannot_end_their_data(page):
    data = json.loads(page.one("script", id="attention").text)
    assert data[0]["source"][2] == "<b>"
    options = page.one("select", id="sentence").all("option")
    assert [option.text for option in options] == ["1. A dog <b>", "2. It sees the bank ."]


def test_families_that_are_not_known_have_their_initial():
    row = {"family": "zebra", "role": "a->b", "effect": None}
    assert letters([row, {**row, "family": "rest"}]) == "RZ"
    assert role_words(row) == "a → b"
    assert role_words({"family": "position", "role": "+1"}) == "offset +1"
    assert role_words({"family": "rest", "role": "end"}) == "rests on end"
