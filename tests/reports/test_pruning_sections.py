"""The sections on smaller models and on ways to choose heads, from Results made by hand."""

from dataclasses import replace

import pytest
from made_results import HOSTILE, made_prune, provenance, write_run
from reading import read, sheet

from headcount.analyses.proof import PROOF
from headcount.analyses.pruning.curves import AGAINST, OVERVIEW, SUMMARY
from headcount.analyses.pruning.tables import ANSWER, COST, GATES, KEPT, OUTCOME, TRIED
from headcount.analyses.pruning.vanishing import GONE
from headcount.analyses.result import Result, Table
from headcount.reports.page import build_page

WAYS = {"l0": 80.0, "greedy": 78.0, "random": 60.0}
COUNTS = {72: 0.0, 36: 2.0, 18: 8.0}


def bounded(name, value, by=1.0):
    return {name: value, f"{name}_low": value - by, f"{name}_high": value + by}


def summary(order: str, heads: int, **more) -> dict:
    bleu = WAYS[order] - COUNTS[heads]
    row = {"order": order, "where": "all", "heads_left": heads, "repetitions": 3}
    row |= bounded("bleu", bleu) | bounded("chrf", bleu + 5) | bounded("nll", 0.5, 0.1)
    for name, value in (("bleu", bleu), ("chrf", bleu + 5), ("nll", 0.5)):
        row |= {f"{name}_least": value - 2, f"{name}_most": value + 2}
    loss = {"bleu_difference": -COUNTS[heads], "difference_low": -9.0, "difference_high": 1.0}
    return row | loss | more


def gone(order, kind, group, at) -> dict:
    row = {"order": order, "where": "all", "kind": kind, "group": group, "heads": 24}
    return (
        row
        | {"repetitions": 3, "gone_at": at, "gone_at_least": at - 1}
        | {
            "gone_at_most": at + 1,
            "of_all": 30.0,
        }
    )


def cut(**more) -> dict:
    row = {"order": "l0", "draw": 0, "heads_left": 18, "sentences": 8}
    row |= {"largest_logit_difference": 2e-6, "largest_logit": 14.2, "nll_difference": 1e-8}
    return row | {"translations_equal": 8} | more


def made_ways() -> Result:
    rows = [summary(order, heads) for order in WAYS for heads in COUNTS]
    against = [
        {"order": order, "where": "all", "against": "random", "heads_left": heads}
        | bounded("difference", WAYS[order] - 60)
        for order in ("l0", "greedy")
        for heads in COUNTS
    ]
    overview = [
        {"order": order, "where": "all", "repetitions": 3, **bounded("area", 0.9, 0.01)}
        | {"knee": 18.0, "updates": 208.0, "choosing": 3.0, "training": 60.0, "measuring": 8.0}
        for order in WAYS
    ]
    groups = [("site", "encoder", 40.0), ("site", "cross", 20.0), ("role", "none", 33.0)]
    vanished = [gone(order, *group) for order in WAYS for group in groups]
    n = "300 test sentences"
    tables = {
        "summary": Table.of("made", SUMMARY, rows, n=n, interval="over sentences and repetitions"),
        "curve": Table.of("made", SUMMARY, rows, n=n),
        "against": Table.of("made", AGAINST, against, n=n),
        "overview": Table.of("made", OVERVIEW, overview, n=n),
        "gone": Table.of("made", GONE, vanished),
        "groups": Table.of("made", GONE, vanished),
        "proof": Table.of("made", PROOF, [cut(), cut(largest_logit_difference=5e-6)]),
    }
    settings = {"finish": {"finetune": "short", "share": 0.04}}
    return Result("ways", tables, settings, provenance(), ("Repetitions are seeds.",))


def outcome(model: str, heads: int, bleu: float, loss: float) -> dict:
    row = {"model": model, "heads": heads, "encoder_heads": 0, "decoder_heads": 5}
    row |= {"cross_heads": heads - 5, "parameters": 1_000_000 + heads, "chrf": 80.0, "nll": 0.4}
    return (
        row
        | bounded("bleu", bleu)
        | {"seconds": 1.0}
        | {
            "bleu_difference": -loss,
            "difference_low": -loss - 1,
            "difference_high": -loss + 1,
        }
    )


def made_smaller(why: str = "18 heads were asked for", **tables) -> Result:
    models = {"whole": (72, 85.0, 0.0), "smaller": (18, 81.5, 3.5), "from scratch": (18, 79.0, 6.0)}
    cost = [
        {"model": name, "parameters": 1, "weights": 4_200_000, "attention": 10.0, "forward": 100.0}
        | {"attention_left": heads / 72, "forward_left": 0.7, "disk": 4_500_000, "peak": 3 * 2**19}
        for name, (heads, _, _) in models.items()
    ]
    kept = {"site": "cross", "layer": 0, "head": 0, "kept": True, "step": 72}
    answer = {"heads left": "18 of 72 (0 encoder, 5 decoder, 13 cross)", "why it stopped": why}
    gates = [
        {"update": update, "price": 1.0, "open": 72.0 - update, "undecided": 0.1}
        for update in (1, 30, 54)
    ]
    made = {
        "answer": (ANSWER, [{"property": key, "value": it} for key, it in answer.items()]),
        "outcome": (OUTCOME, [outcome(name, *it) for name, it in models.items()]),
        "cost": (COST, cost),
        "tried": (TRIED, []),
        "kept": (KEPT, [kept]),
        "gates": (GATES, gates),
        "proof": (PROOF, [cut(order="smaller", sentences=32, translations_equal=32)]),
    }
    built = {
        name: Table.of("made", columns, rows, n="1000 sentences", interval="95 %")
        for name, (columns, rows) in (made | tables).items()
    }
    settings = {"way": "l0", "finish": {"finetune": "short", "distil": True}}
    return Result("smaller", built, settings, provenance(), ("Chosen elsewhere.",))


def page(folder, *results):
    write_run(folder)
    for result in results:
        name = "smaller-l0-heads-18" if result.analysis == "smaller" else result.analysis
        result.save(folder / "results" / name)
    return read(build_page(folder).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return page(tmp_path_factory.mktemp("runs") / "pruned", made_ways(), made_smaller())


def test_the_answer_names_the_smallest_trained_model_within_the_loss(tmp_path):
    folder = tmp_path / "run"
    for name, heads, loss in (("a", 20, 0.5), ("b", 30, -1.0), ("c", 10, 9.0)):
        rows = [outcome("whole", 72, 85.0, 0.0), outcome("smaller", heads, 85.0 - loss, loss)]
        made_smaller(outcome=(OUTCOME, rows)).save(folder / "results" / f"smaller-{name}")
    write_run(folder, made_prune())
    for loss, said in ((1.5, "20 of 72 heads by L0 gates"), (0.5, "30 of 72 heads by L0 gates")):
        html = build_page(folder, allowed_loss=loss).read_text(encoding="utf-8")
        assert said in words(read(html).one("section", id="answer"))


def words(node) -> str:
    return " ".join(node.text.split())


@pytest.mark.parametrize(
    ("finish", "trained"),
    [
        ({"finetune": "short"}, True),
        ({"finetune": "none"}, False),
        ({"finetune": "short", "share": 0.0}, False),  # a share goes before the word
        ({"finetune": "none", "share": 0.1}, True),
    ],
)
def test_training_on_is_told_where_there_was_some(tmp_path, finish, trained):
    results = [
        replace(it, settings={**it.settings, "finish": finish})
        for it in (made_prune(), made_ways(), made_smaller())
    ]
    said = words(page(tmp_path / "run", *results))
    assert ("L0 gates, trained on after the cut" in said) == trained
    assert ("cut out of the weights; then trained on" in said) == trained
    assert ("and what is left is trained on." in said) == trained
    assert ("cut out of the weights, and nothing is trained again. Lines" in said) != trained


def test_the_best_way_is_named_with_its_loss_and_with_what_chance_gives(both):
    section = both.one("section", id="ways")
    said = words(section)
    assert "With 18 of 72 heads, L0 gates reaches BLEU 72.0 [71.0, 73.0]" in said
    assert "−8.0 [−9.0, 1.0] against the whole model" in said
    assert "+20.0 [19.0, 21.0] against random orders." in said
    assert "Repetitions are seeds." in said


def test_every_measure_of_every_way_is_printed(both):
    section = both.one("section", id="curve")
    headings, rows = sheet(section, "BLEU by heads left and way")
    assert headings == ["Heads left", "L0 gates", "Greedy elimination", "Random order"]
    assert [row[0] for row in rows] == ["72", "36", "18"]
    assert rows[2][1:] == ["72.0 [71.0, 73.0]", "70.0 [69.0, 71.0]", "52.0 [51.0, 53.0]"]
    _, rows = sheet(section, "NLL in nats a token by heads left and way")
    assert rows[0][1] == "0.500 [0.400, 0.600]"
    section = both.one("section", id="ways")
    _, rows = sheet(section, "BLEU less that of random orders")
    assert rows == [
        ["36", "+20.0 [19.0, 21.0]", "+18.0 [17.0, 19.0]"],
        ["18", "+20.0 [19.0, 21.0]", "+18.0 [17.0, 19.0]"],
    ]
    _, rows = sheet(section, "Ways over all numbers of heads")
    assert rows[0] == ["L0 gates", "0.900 [0.890, 0.910]", "18", "3", "208", "3.0 s", "60.0 s",
                       "8.0 s"]  # fmt: skip


def test_random_orders_are_a_band_and_no_line_with_bars(both):
    section = both.one("section", id="curve")
    assert not section.all("select")  # one panel is nothing to choose from
    for chart in section.all("svg", role="img"):
        assert len(chart.all("path", class_="band")) == 1
        assert len(chart.all("line", class_="whisker")) == 2 * len(COUNTS)


def test_what_goes_first_is_told_by_site_and_role(both):
    title = "How many heads the model had left when a head was gone"
    headings, rows = sheet(both.one("section", id="ways"), title)
    assert headings[1:] == [
        "Encoder self-attention (24)",
        "Cross-attention (24)",
        "No role (24)",
        "All",
    ]
    assert rows[0][1:] == ["40.0 [39.0, 41.0]", "20.0 [19.0, 21.0]", "33.0 [32.0, 34.0]", "30.0"]


def test_the_largest_difference_of_all_cuts_is_printed(both):
    _, rows = sheet(both.one("section", id="ways"), "Cut heads against closed gates")
    assert rows == [["2", "5.0e−06", "16 of 16"]]


def test_a_smaller_model_stands_beside_the_whole_one_and_the_control(both):
    section = both.one("section", id="pruning")
    said = words(section)
    assert "18 of 72 heads by L0 gates" in said
    assert "On test text its BLEU is 81.5 [80.5, 82.5]: −3.50 [−4.50, −2.50] against" in said
    assert "from scratch the same shape has 79.0 [78.0, 80.0]." in said
    assert "Why it stopped: 18 heads were asked for" in said
    assert "is 2.0e−06 (the largest logit is 14.2), and 32 of 32 beam outputs are equal" in said
    assert "half of the loss being what the whole model would say" in said
    _, rows = sheet(section, "The smaller model beside the whole one")
    assert rows[1] == ["Smaller", "18 (0, 5, 13)", "81.50 [80.50, 82.50]", "−3.50 [−4.50, −2.50]",
                       "80.0", "0.400", "1,000,018", "25 %", "70 %", "4.5", "1.5"]  # fmt: skip
    legend = section.one("ul", class_="legend")
    assert words(legend) == "Open Undecided"
    links = {link.attributes["href"] for link in section.all("a")}
    assert "results/smaller-l0-heads-18/outcome.csv" in links


def test_models_on_the_way_are_shown_and_hostile_words_stay_words(tmp_path):
    tried = [
        {"heads_left": heads, "bleu": 80.0, "nll": 0.5, "accepted": heads > 18, "seconds": 3.0}
        | {"bleu_difference": -1.0, "difference_low": -2.0, "difference_high": 0.0}
        for heads in (36, 18)
    ]
    hostile = "".join(HOSTILE)
    result = made_smaller(hostile, tried=(TRIED, tried))
    section = page(tmp_path / "run", result).one("section", id="pruning")
    assert " ".join(hostile.split()) in words(section)
    _, rows = sheet(section, "Models on the way")
    assert rows == [
        ["36", "80.00", "−1.00 [−2.00, 0.00]", "yes"],
        ["18", "80.00", "−1.00 [−2.00, 0.00]", "no"],
    ]


def test_without_random_orders_and_roles_their_tables_are_left_out(tmp_path):
    whole = made_ways()
    rows = whole.tables["summary"].rows
    tables = dict(whole.tables) | {
        "summary": replace(whole.tables["summary"], rows=rows[rows["order"] != "random"]),
        "against": Table.of("made", AGAINST, []),
        "gone": Table.of("made", GONE, []),
        "proof": Table.of("made", PROOF, []),
    }
    result = replace(whole, tables=tables)
    found = page(tmp_path / "run", result)
    said = words(found.one("section", id="ways"))
    assert "against random orders" not in said
    assert "What goes first" not in said
    assert "Better than chance?" not in said
    assert not found.one("section", id="curve").all("path", class_="band")
