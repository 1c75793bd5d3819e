"""Results made by hand: a run of 72 heads whose every number is known to the tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headcount.analyses.result import Column, Provenance, Result, Table

ORDERS = ("leave_one_out", "gradient", "confidence")
COUNTS = (72, 60, 48, 36, 24, 18, 12, 6, 0)
BLEU = {
    "leave_one_out": (88.9, 88.9, 88.7, 88.6, 88.3, 86.1, 74.8, 41.5, 3.2),
    "gradient": (88.9, 88.8, 88.6, 87.9, 85.2, 80.3, 61.0, 30.7, 3.2),
    "confidence": (88.9, 88.2, 84.4, 77.0, 62.1, 50.2, 33.9, 15.8, 3.2),
}
HOSTILE = (
    "<b>bold</b> <img src=x onerror=alert(1)> & &amp;",
    "</script><script>window.broken = true</script>",
    "He said \"yes\" and 'no' `maybe` \\ %} {{ 7 * 7 }} <!--",
    "\u202eright to left override \u200f\u05e9\u05dc\u05d5\u05dd",
    "emoji \U0001f469\u200d\U0001f680 \U0001f1e9\U0001f1ea and a\u0301\u0302\u0303\u0304\u0305",
    "x" * 5000,
    "\u2028line\u2029paragraph\ttab",
)
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.5.1"

WHOLE, NUMBER, TEXT = "whole", "number", "text"


def heads() -> list[tuple[str, int, int]]:
    """All 72 heads in layout order."""
    return [(s, y, h) for s in ("encoder", "decoder", "cross") for y in range(3) for h in range(8)]


def columns(**kinds: str) -> list[Column]:
    """Columns by name and kind; `bleu="number"`."""
    return [Column(name, kind, f"the {name}") for name, kind in kinds.items()]


def provenance(seconds: float = 12.5, **changes: Any) -> Provenance:
    values: dict[str, Any] = {
        "version": "0.1.0",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "command": "headcount run -o runs/made --seed 7",
        "seed": 7,
        "model": "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
        "data": {"valid": "7d793037a0760186574b0282f2f435e7" * 2, "test": "ab" * 32},
        "hardware": "2 x Example CPU, 24 GiB memory",
        "libraries": {"torch": "2.13.0", "sacrebleu": "2.5.1", "numpy": "2.4.6"},
        "started": "2026-11-30T09:00:00+00:00",
        "seconds": seconds,
        "signatures": {"bleu": SIGNATURE},
    }
    return Provenance(**{**values, **changes})


def importance(metric: str, index: int) -> float:
    """A smooth made-up importance: some heads matter, most do not."""
    shift = ORDERS.index(metric)
    wave = math.sin(1.7 * index + shift) ** 8
    scale = {"leave_one_out": 0.031, "gradient": 2.4, "confidence": 1.0}[metric]
    sign = -0.05 if metric == "leave_one_out" and index % 11 == 3 else 1.0
    return scale * sign * (0.02 + 0.9 * wave + 0.001 * index)


def made_train(steps: int = 60) -> Result:
    records = []
    for step in range(steps):
        nll = 0.12 + 6 * math.exp(-step / 9)
        measured = step % 10 == 9
        records.append(
            {
                "step": (step + 1) * 50,
                "train_loss": nll + 0.9,
                "valid_nll": nll,
                "valid_bleu": 89 * (1 - math.exp(-step / 8)) if measured else math.nan,
                "tokens_per_second": 9000.0 + step,
                "seconds": 3.0 * (step + 1),
                "learning_rate": 1e-3 * min((step + 1) / 10, (10 / (step + 1)) ** 0.5),
            }
        )
    described = columns(
        step=WHOLE,
        train_loss=NUMBER,
        valid_nll=NUMBER,
        valid_bleu=NUMBER,
        tokens_per_second=NUMBER,
        seconds=NUMBER,
        learning_rate=NUMBER,
    )
    table = Table.of("Loss and quality while training.", described, records, n="500 sentences")
    return Result("train", {"curve": table}, {"steps": steps}, provenance(180.0))


def made_evaluate() -> Result:
    rows = [
        ("valid", "greedy", "bleu", 89.91, 88.8, 90.9, "BLEU points", SIGNATURE),
        ("test", "greedy", "bleu", 88.93, 87.81, 90.02, "BLEU points", SIGNATURE),
        ("test", "beam 5", "bleu", 89.4, 88.3, 90.4, "BLEU points", SIGNATURE),
        ("test", "greedy", "chrf", 94.2, 93.6, 94.9, "chrF points", "nrefs:1|case:mixed|nc:6"),
        ("test", "teacher forcing", "nll", 0.1312, 0.12, 0.15, "nats a token", ""),
        ("unseen", "greedy", "bleu", 71.3, 69.0, 73.4, "BLEU points", SIGNATURE),
    ]
    names = ("split", "search", "measure", "value", "low", "high", "unit", "signature")
    records = [dict(zip(names, row, strict=True), sentences=500, seconds=4.2) for row in rows]
    described = columns(
        split=TEXT,
        search=TEXT,
        measure=TEXT,
        value=NUMBER,
        low=NUMBER,
        high=NUMBER,
        unit=TEXT,
        sentences=WHOLE,
        seconds=NUMBER,
        signature=TEXT,
    )
    quality = Table.of(
        "Quality of the whole model.",
        described,
        records,
        n="500 sentences a split",
        interval="95 % percentile bootstrap over sentences, 1000 resamples",
    )
    model = Table.of(
        "The model.",
        columns(property=TEXT, value=TEXT),
        [
            {"property": "parameters", "value": "1,204,224"},
            {"property": "width", "value": "128"},
            {"property": "heads", "value": "72"},
        ],
    )
    corpus = Table.of(
        "The text.",
        columns(property=TEXT, value=TEXT),
        [
            {"property": "corpus", "value": "made"},
            {"property": "licence", "value": "CC BY 4.0 & more"},
        ],
    )
    tables = {"quality": quality, "model": model, "corpus": corpus}
    return Result("evaluate", tables, {}, provenance(21.0))


def made_score(metrics: Sequence[str] = ORDERS) -> Result:
    units = {"leave_one_out": "nats a token", "gradient": "nats", "confidence": "share"}
    records = []
    for metric in metrics:
        values = [importance(metric, index) for index in range(72)]
        ranked = sorted(range(72), key=lambda index: -values[index])
        for index, (site, layer, head) in enumerate(heads()):
            records.append(
                {
                    "metric": metric,
                    "site": site,
                    "layer": layer,
                    "head": head,
                    "value": values[index],
                    "low": values[index] - abs(values[index]) / 10,
                    "high": values[index] + abs(values[index]) / 10,
                    "normalised": values[index] / 3,
                    "rank": ranked.index(index) + 1,
                    "unit": units[metric],
                }
            )
    described = columns(
        metric=TEXT,
        site=TEXT,
        layer=WHOLE,
        head=WHOLE,
        value=NUMBER,
        low=NUMBER,
        high=NUMBER,
        normalised=NUMBER,
        rank=WHOLE,
        unit=TEXT,
    )
    table = Table.of(
        "Importance of every head by every metric.",
        described,
        records,
        n="200 sentences",
        interval="95 % percentile bootstrap over sentences, 1000 resamples",
    )
    summaries = Table.of(
        "The metrics.",
        columns(
            metric=TEXT,
            summary=TEXT,
            unit=TEXT,
            sentences=WHOLE,
            seconds=NUMBER,
            higher_is_important="truth",
        ),
        [
            {
                "metric": metric,
                "summary": f"What {metric} means in one line.",
                "unit": units[metric],
                "sentences": 200,
                "seconds": 1.5,
                "higher_is_important": True,
            }
            for metric in metrics
        ],
    )
    agreement = Table.of(
        "How far two metrics agree.",
        columns(metric=TEXT, other=TEXT, kendall=NUMBER, spearman=NUMBER),
        [
            {"metric": a, "other": b, "kendall": 0.41, "spearman": 0.58}
            for place, a in enumerate(metrics)
            for b in metrics[place + 1 :]
        ],
        n="72 heads",
    )
    remarks = ("Confidence drops BOS, EOS and padding as queries and keys.",)
    tables = {"heads": table, "metrics": summaries, "agreement": agreement}
    return Result("score", tables, {"split": "valid", "sentences": 200}, provenance(9.0), remarks)


def curve_records() -> list[dict[str, Any]]:
    """The rows of `prune/curve`: every order, then ten random draws."""
    records = []
    scores = [(order, 0, BLEU[order]) for order in ORDERS]
    for draw in range(10):
        low = tuple(
            b - (72 - k) * 0.06 * draw / 9 for k, b in zip(COUNTS, BLEU["confidence"], strict=True)
        )
        scores.append(("random", draw, tuple(max(0.0, value) for value in low)))
    for order, draw, bleu in scores:
        for count, value in zip(COUNTS, bleu, strict=True):
            share = count / 72
            whole = count == 72
            records.append(
                {
                    "order": order,
                    "draw": draw,
                    "heads_left": count,
                    "share_left": share,
                    "encoder_left": count // 3,
                    "decoder_left": count // 3,
                    "cross_left": count // 3,
                    "bleu": value,
                    "bleu_low": value - 1.1,
                    "bleu_high": value + 1.1,
                    "bleu_difference": value - 88.9,
                    "difference_low": 0.0 if whole else value - 88.9 - 0.35,
                    "difference_high": 0.0 if whole else value - 88.9 + 0.35,
                    "p": 1.0 if whole else 0.01,
                    "nll": 0.13 + (1 - share) ** 3,
                    "parameters": 600_000 + count * 8_400,
                    "seconds": 2.0 + 3.0 * share,
                    "sentences": 500,
                }
            )
    return records


def said_by(order: str, count: int, text: str) -> str:
    """What the smaller models of the slider say."""
    return text if count == 72 else f"{text} by {order} with {count}"


def slider_tables(sentences: Sequence[str]) -> dict[str, Table]:
    """The tables `samples`, `costs` and `sites` of `prune`."""
    points = [(order, count) for order in ORDERS for count in COUNTS]
    samples = [
        {"order": order, "heads_left": count, "sentence": number, "source": text}
        | {"reference": f"{text} !", "translation": said_by(order, count, text)}
        for order, count in points
        for number, text in enumerate(sentences)
    ]
    costs = [
        {"order": order, "draw": 0, "heads_left": count, "weights": 40_000 * count}
        | {"multiplications": 10_000.0 * count, "share": count / 72}
        for order, count in points
    ]
    sites = [
        {"order": "leave_one_out", "site": site, "site_left": left, "heads_left": 48 + left}
        | {"bleu": 80.0 + left - at, "bleu_low": 79.0, "bleu_high": 99.0}
        for at, site in enumerate(("encoder", "decoder", "cross"))
        for left in (24, 12, 0)
    ]
    kinds = {"order": TEXT, "heads_left": WHOLE, "sentence": WHOLE, "source": TEXT}
    cost = {"draw": WHOLE, "heads_left": WHOLE, "weights": WHOLE, "multiplications": NUMBER}
    site = {"order": TEXT, "site": TEXT, "site_left": WHOLE, "heads_left": WHOLE}
    bleu = {"bleu": NUMBER, "bleu_low": NUMBER, "bleu_high": NUMBER}
    return {
        "samples": Table.of(
            "Samples.", columns(**kinds, reference=TEXT, translation=TEXT), samples
        ),
        "costs": Table.of("Costs.", columns(order=TEXT, **cost, share=NUMBER), costs),
        "sites": Table.of("Sites.", columns(**site, **bleu), sites, n="500 sentences"),
    }


def made_prune(sentences: Sequence[str] = ("A dog runs .", "It sees the bank .")) -> Result:
    curve = Table.of(
        "Quality against heads left.",
        [
            *columns(order=TEXT, draw=WHOLE, heads_left=WHOLE, share_left=NUMBER),
            *columns(encoder_left=WHOLE, decoder_left=WHOLE, cross_left=WHOLE),
            *columns(bleu=NUMBER, bleu_low=NUMBER, bleu_high=NUMBER, bleu_difference=NUMBER),
            *columns(difference_low=NUMBER, difference_high=NUMBER, p=NUMBER, nll=NUMBER),
            *columns(parameters=WHOLE, seconds=NUMBER, sentences=WHOLE),
        ],
        curve_records(),
        n="500 sentences",
        interval="95 % percentile bootstrap over sentences, 1000 resamples",
    )
    draws = [row for row in curve_records() if row["order"] == "random"]
    band = []
    for count in COUNTS:
        values = [row["bleu"] for row in draws if row["heads_left"] == count]
        band.append(
            {
                "heads_left": count,
                "draws": 10,
                "mean": sum(values) / 10,
                "low": min(values),
                "high": max(values),
            }
        )
    removals = []
    for order in ORDERS:
        last = sorted(range(72), key=lambda index: (importance(order, index), index))
        for step, index in enumerate(last, start=1):
            site, layer, head = heads()[index]
            removals.append(
                {
                    "order": order,
                    "draw": 0,
                    "step": step,
                    "site": site,
                    "layer": layer,
                    "head": head,
                }
            )
    examples = []
    for count in (72, 24, 12):
        for sentence, text in enumerate(sentences):
            examples.append(
                {
                    "order": "leave_one_out",
                    "heads_left": count,
                    "sentence": sentence,
                    "source": text,
                    "reference": text,
                    "translation": text if count == 72 else f"{text} with {count} heads",
                }
            )
    proof = [
        {
            "order": order,
            "draw": 0,
            "heads_left": count,
            "sentences": 64,
            "largest_logit_difference": 3.1e-6,
            "largest_logit": 14.2,
            "nll_difference": 1e-8,
            "translations_equal": 64,
        }
        for order in ORDERS
        for count in (36, 12)
    ]
    area = [{"order": order, "draw": 0, "area": 0.8} for order in ORDERS]
    tables = {
        "curve": curve,
        "band": Table.of(
            "Random removal.",
            columns(heads_left=WHOLE, draws=WHOLE, mean=NUMBER, low=NUMBER, high=NUMBER),
            band,
            n="10 random orders",
            interval="smallest and largest of the draws",
        ),
        "removals": Table.of(
            "In which order heads go.",
            columns(order=TEXT, draw=WHOLE, step=WHOLE, site=TEXT, layer=WHOLE, head=WHOLE),
            removals,
        ),
        "area": Table.of("Area.", columns(order=TEXT, draw=WHOLE, area=NUMBER), area),
        "proof": Table.of(
            "Masked equals cut.",
            columns(
                order=TEXT,
                draw=WHOLE,
                heads_left=WHOLE,
                sentences=WHOLE,
                largest_logit_difference=NUMBER,
                largest_logit=NUMBER,
                nll_difference=NUMBER,
                translations_equal=WHOLE,
            ),
            proof,
            n="64 sentences",
        ),
        "examples": Table.of(
            "Translations before and after.",
            columns(
                order=TEXT,
                heads_left=WHOLE,
                sentence=WHOLE,
                source=TEXT,
                reference=TEXT,
                translation=TEXT,
            ),
            examples,
        ),
    }
    tables |= slider_tables(sentences)
    return Result("prune", tables, {"split": "test", "draws": 10}, provenance(40.0))


def write_run(folder: Path, *results: Result) -> Path:
    """Write Results as a run folder does and return the folder."""
    for result in results:
        result.save(folder / "results" / result.analysis)
    return folder


def whole_run(folder: Path, sentences: Sequence[str] = ("A dog runs .",)) -> Path:
    """Write a run folder with every Result."""
    return write_run(folder, made_train(), made_evaluate(), made_score(), made_prune(sentences))
