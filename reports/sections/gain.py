"""What smaller models gain: speed, where the time went, and what they need."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..findings import Findings
from ..rendering import Sheet, caption_of, render
from ..role_letters import percent
from ..wording import ABSENT, fixed, interval, missing, scaled, signed, whole
from . import section

Row = dict[str, Any]
WHOLE_MODEL = "whole"
ATTENTION = "attention"


@section("gain", title="What smaller models gain", place=29, needs=("gain",))
def gain(findings: Findings) -> Markup | None:
    """Speed-up by search and batch, time by part, and size, of models that took turns."""
    speed = findings.records("gain", "speed")
    if not any(row["model"] != WHOLE_MODEL for row in speed):
        return None
    parts = findings.records("gain", "parts")
    size = findings.records("gain", "size")
    result = findings.results["gain"]
    return render(
        "gain.html",
        {
            "lead": _lead(speed, parts),
            "hardware": result.provenance.hardware,
            "speed": _speed_sheet(speed),
            "speed_caption": caption_of(
                findings,
                "gain",
                ("speed",),
                "Both models translate the same sentences by turns in one process. A speed-up is "
                "the median over rounds of tokens a second over the whole model’s in the same "
                "round; processor time leaves out what waiting for other programs took. With "
                "equal lengths all sentences have as many tokens, with its own each model says "
                "what it wants.",
                unit="tokens a second; times as fast",
                figure="gain",
            ),
            "parts": _parts_sheet(parts) if parts else None,
            "parts_caption": caption_of(
                findings,
                "gain",
                ("parts",),
                "Where the time of a search goes at equal lengths. Multiplications are those "
                "that torch counts in the same searches. Realised is the share of time spared "
                "over the share of multiplications spared: 1 where time falls as they do.",
                unit="milliseconds a batch; share",
            )
            if parts
            else None,
            "size": _size_sheet(size),
            "size_caption": caption_of(
                findings,
                "gain",
                ("size",),
                result.tables["size"].caption,
                unit="as in the table",
            ),
            "remarks": result.remarks,
        },
    )


def _lead(speed: list[Row], parts: list[Row]) -> list[str]:
    """Say the speed-up of every model at the smallest and the largest batch of greedy search."""
    said = []
    for name in dict.fromkeys(row["model"] for row in speed if row["model"] != WHOLE_MODEL):
        own = [row for row in speed if row["model"] == name]
        search = own[0]["search"]
        rows = [row for row in own if row["search"] == search and row["lengths"] == "equal"]
        rows = sorted(rows or own[:1], key=lambda row: int(row["batch"]))
        ends = rows if len(rows) < 2 else [rows[0], rows[-1]]
        faster = " and ".join(f"{_times(row)} at batch {row['batch']}" for row in ends)
        line = f"{name}: {search} search is {faster}."
        largest = ends[-1]["batch"]
        for row in parts:
            found = (row["model"], row["search"], row["batch"], row["part"])
            if found == (name, search, largest, ATTENTION) and not missing(row["realised"]):
                line += (
                    f" At batch {largest} attention lost {percent(row['products_spared'])} of "
                    f"its multiplications and {percent(row['time_spared'])} of its time."
                )
        said.append(line)
    return said


def _times(row: Row) -> str:
    """Write a speed-up by processor time where there is one, with its interval."""
    name = "speedup" if missing(row["processor_speedup"]) else "processor_speedup"
    bounds = interval(row[f"{name}_low"], row[f"{name}_high"])
    return f"{fixed(row[name])} {bounds} times as fast"


def _speed_sheet(rows: list[Row]) -> Sheet:
    whole_rate = {_place(row): row["tokens_per_second"] for row in rows if _is_whole(row)}
    printed = [
        [
            row["model"],
            row["search"],
            whole(row["batch"]),
            row["lengths"],
            whole(whole_rate[_place(row)]),
            whole(row["tokens_per_second"]),
            fixed(1000 * row["latency"], 1),
            _with_interval(row, "speedup"),
            _with_interval(row, "processor_speedup"),
        ]
        for row in rows
        if not _is_whole(row)
    ]
    columns = ["Model", "Search", "Batch", "Lengths", "Tokens/s, whole", "Tokens/s"]
    columns += ["Latency (ms)", "Speed-up", "Speed-up, processor time"]
    return Sheet("Speed by search and batch", columns, printed, 3, frozenset({0, 1, 3}))


def _parts_sheet(rows: list[Row]) -> Sheet:
    printed = [
        [
            row["model"],
            row["search"],
            whole(row["batch"]),
            row["part"],
            fixed(1000 * row["whole_seconds"], 2),
            fixed(1000 * row["seconds"], 2),
            f"{percent(row['time_spared'])} "
            f"[{percent(row['time_spared_low'])}, {percent(row['time_spared_high'])}]",
            percent(row["products_spared"]),
            fixed(row["realised"]),
        ]
        for row in rows
    ]
    columns = ["Model", "Search", "Batch", "Part", "Whole (ms)", "Smaller (ms)"]
    columns += ["Time spared", "Multiplications spared", "Realised"]
    return Sheet("Time by part of the search", columns, printed, 4, frozenset({0, 1, 3}))


def _size_sheet(rows: list[Row]) -> Sheet:
    first = next(row for row in rows if _is_whole(row))
    printed = [
        [
            row["model"],
            whole(row["heads"]),
            whole(row["parameters"]),
            scaled(row["disk"], 1e6),
            _change(row, first, "products"),
            _change(row, first, "attention_products"),
            scaled(row["cache"], 2**20),
            scaled(row["peak"], 2**20),
        ]
        for row in rows
    ]
    columns = ["Model", "Heads", "Parameters", "On disk (MB)", "Multiplications"]
    columns += ["Attention’s", "Keys and values (MiB)", "Peak (MiB)"]
    return Sheet("What the models need", columns, printed)


def _is_whole(row: Row) -> bool:
    return bool(row["model"] == WHOLE_MODEL)


def _place(row: Row) -> tuple[Any, ...]:
    return row["search"], row["batch"], row["lengths"]


def _with_interval(row: Row, name: str) -> str:
    if missing(row[name]):
        return ABSENT
    return f"{fixed(row[name])} {interval(row[f'{name}_low'], row[f'{name}_high'])}"


def _change(row: Row, first: Row, name: str) -> str:
    """Write a count a token in millions, with its change against the whole model."""
    if missing(row[name]) or missing(first[name]):
        return ABSENT
    millions = f"{fixed(row[name] / 1e6)} M"
    if row is first or not first[name]:
        return millions
    return f"{millions} ({signed(100 * (row[name] / first[name] - 1), 0)} %)"
