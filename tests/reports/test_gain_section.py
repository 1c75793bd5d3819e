"""What smaller models gain, and what feed-forward units cost, from Results made by hand."""

from typing import Any

import pytest
from made_results import provenance, write_run
from reading import read

from headcount.analyses.bench.size import SIZE
from headcount.analyses.bench.turns import PARTS, SPEED
from headcount.analyses.result import Result, Table
from headcount.analyses.units import BLOCKS, LAYERS, OUTCOME, PROOF
from headcount.reports.page import build_page


def speed(model: str, batch: int, rate: float, **more: Any) -> dict[str, Any]:
    place = {"model": model, "search": "greedy", "batch": batch, "lengths": "equal"}
    return {**place, "tokens_per_second": rate, "latency": 0.02, "processor": 0.01, **more}


def faster(name: str, value: float) -> dict[str, float]:
    return {name: value, f"{name}_low": value - 0.1, f"{name}_high": value + 0.1}


def made_gain(*, parts: bool = True, processor: bool = True) -> Result:
    both = {**faster("speedup", 1.5), **(faster("processor_speedup", 1.4) if processor else {})}
    rows = [
        speed("whole", 1, 100),
        speed("eighteen", 1, 110, **faster("speedup", 1.1)),
        speed("whole", 64, 1000),
        speed("eighteen", 64, 1500, **both),
    ]
    part = {"model": "eighteen", "search": "greedy", "batch": 64, "part": "attention"}
    part |= {"whole_seconds": 0.1, "seconds": 0.04, **faster("time_spared", 0.6)}
    part |= {"products_spared": 0.75, "realised": 0.8}
    same = {**part, "part": "feed-forward", "products_spared": 0.0, "realised": None}
    size = {"heads": 72, "parameters": 1000, "disk": 4_000_000, "products": 2e6}
    size |= {"attention_products": 1e6, "cache": 2**21}
    less = {**size, "heads": 18, "products": 1.5e6, "attention_products": 2.5e5}
    tables = {
        "speed": Table.of("Speed.", SPEED, rows, n="15 rounds by turns, 1 thread", interval="how"),
        "parts": Table.of("Parts.", PARTS, [part, same] if parts else [], n="15 rounds"),
        "size": Table.of(
            "Needs.", SIZE, [{"model": "whole", **size}, {"model": "eighteen", **less}], n="8"
        ),
    }
    return Result("gain", tables, {}, provenance(), ("Mind the machine.",))


def page(tmp_path, *results: Result):
    return read(build_page(write_run(tmp_path, *results)).read_text(encoding="utf-8"))


def cells(table) -> list[list[str]]:
    rows = table.one("tbody").all("tr")
    return [[cell.text for cell in row.all() if cell.tag in ("th", "td")] for row in rows]


def test_the_section_says_how_much_faster_and_where_from(tmp_path):
    section = page(tmp_path, made_gain()).one("section", id="gain")
    text = section.text
    assert "eighteen: greedy search is 1.10 [1.00, 1.20] times as fast at batch 1" in text
    assert "and 1.40 [1.30, 1.50] times as fast at batch 64." in text
    assert "attention lost 75 % of its multiplications and 60 % of its time." in text
    assert "15 rounds by turns, 1 thread" in text
    assert "2 x Example CPU" in text
    assert "Mind the machine." in text
    first, parts, size = (cells(it) for it in section.all("table"))
    assert first == [
        ["eighteen", "greedy", "1", "equal", "100", "110", "20.0", "1.10 [1.00, 1.20]", "–"],
        [
            "eighteen",
            "greedy",
            "64",
            "equal",
            "1,000",
            "1,500",
            "20.0",
            "1.50 [1.40, 1.60]",
            "1.40 [1.30, 1.50]",
        ],
    ]
    assert parts[0][3:] == ["attention", "100.00", "40.00", "60 % [50 %, 70 %]", "75 %", "0.80"]
    assert parts[1][-2:] == ["0 %", "–"]
    assert size[1] == [
        "eighteen",
        "18",
        "1,000",
        "4.0",
        "1.50 M (−25 %)",
        "0.25 M (−75 %)",
        "2.0",
        "–",
    ]
    links = [it.attributes["href"] for it in section.all("a")]
    assert {f"results/gain/{name}.csv" for name in ("speed", "parts", "size")} <= set(links)


def test_without_parts_and_on_a_gpu_there_is_less_to_say(tmp_path):
    section = page(tmp_path, made_gain(parts=False, processor=False)).one("section", id="gain")
    assert "1.50 [1.40, 1.60] times as fast at batch 64." in section.text
    assert "Where the time goes" not in section.text


def made_units() -> Result:
    row = {"heads": 72, "units": 6144, "parameters": 7_000_000, "bleu": 39.0, "bleu_low": 37.0}
    row |= {"bleu_high": 41.0, "bleu_difference": 0.0, "difference_low": 0.0}
    row |= {"difference_high": 0.0, "chrf": 63.0, "nll": 1.7, "products": 1.0}
    row |= {"attention_products": 1.0, "feed_forward_products": 1.0}
    cut = {**row, "heads": 18, "units": 3072, "bleu": 38.0, "bleu_difference": -1.0}
    cut |= {"difference_low": -1.5, "difference_high": -0.5, "feed_forward_products": 0.5}
    rows = [{"model": "whole", **row}, {"model": "units removed too", **cut}]
    layer = {"side": "encoder", "layer": 0, "units": 1024, "units_left": 512}
    block = {"side": "encoder", "layer": 0, "first_unit": 0, "units": 16, "importance": 0.1}
    proof = {"sentences": 32, "largest_logit_difference": 3e-6, "largest_logit": 19.0}
    tables = {
        "outcome": Table.of("Models.", OUTCOME, rows, n="1,000 sentences", interval="how"),
        "layers": Table.of("Layers.", LAYERS, [layer]),
        "blocks": Table.of("Blocks.", BLOCKS, [{**block, "kept": True}]),
        "proof": Table.of("Proof.", PROOF, [proof]),
    }
    settings = {"importance": "taylor", "block": 16}
    return Result("units", tables, settings, provenance(), ())


def test_units_stand_apart_with_their_price_and_their_proof(tmp_path):
    result = made_units()
    root = write_run(tmp_path)
    result.save(root / "results" / "units-l0-heads-18")
    section = read(build_page(root).read_text(encoding="utf-8")).one("section", id="units")
    assert "3,072 of 6,144 units, 18 of 72 heads" in section.text
    last = cells(section.one("table"))[-1]
    assert last[:3] == ["Units removed too", "18", "3,072"]
    assert last[4:6] == ["38.00 [37.00, 41.00]", "−1.00 [−1.50, −0.50]"]
    assert last[-2:] == ["50 %", "100 %"]
    assert "512 of 1024" in section.text
    assert "the largest difference of a logit is 3.0e−06, the largest logit 19.0" in section.text
    links = [it.attributes["href"] for it in section.all("a")]
    assert "results/units-l0-heads-18/blocks.csv" in links


@pytest.mark.parametrize("name", ["gain", "units"])
def test_a_run_without_them_has_no_such_sections(tmp_path, name):
    only = made_units() if name == "gain" else made_gain()
    assert not page(tmp_path, only).all("section", id=name)
