"""What is known of 72 heads one by one: roles made by hand, and attention on two sentences."""

from __future__ import annotations

import base64
from typing import Any

from made_results import NUMBER, TEXT, WHOLE, columns, heads, provenance

from headcount.analyses.result import Result, Table

KINDS = {"site": TEXT, "layer": WHOLE, "head": WHOLE}
SOURCE, TARGET = ("▁A", "▁dog", "<b>", "</s>"), ("<s>", "▁Ein", "▁Hund")
SIDES = {"encoder": (4, 4), "decoder": (3, 3), "cross": (3, 4)}
ROLES = [
    ("encoder", 0, 3, "position", "-1", 0.93, None),
    ("decoder", 1, 2, "syntax", "nsubj, dependent->head", 0.8, 0.35),
    ("decoder", 1, 2, "semantics", "agent, argument->predicate", 0.7, 0.2),
    ("cross", 2, 7, "alignment", "alignment, target word->source word, said", 0.9, 0.4),
]


def weight(place: int, query: int, key: int) -> int:
    """A made-up weight of one head, 0 to 255."""
    return (37 * place + 11 * query + 101 * key) % 256


def seen(place: int, query: int, key: int) -> bool:
    """Whether a query of a head may look at a key: in the decoder not ahead."""
    return heads()[place][0] != "decoder" or key <= query


def table(records: list[dict[str, Any]], **kinds: str) -> Table:
    return Table.of("made", columns(**kinds), records, n="40 sentences")


def of_heads() -> list[dict[str, Any]]:
    return [dict(zip(KINDS, name, strict=True)) for name in heads()]


def made_roles() -> Result:
    """Roles of three heads; profiles, rests and nearest heads of all."""
    names = ("site", "layer", "head", "family", "role", "share", "effect")
    roles = [
        dict(zip(names, row, strict=True))
        | {"baseline": 0.5, "effect_low": row[6] and row[6] - 0.1, "effect_high": row[6]}
        for row in ROLES
    ]
    arcs = [
        {**head, "family": "syntax", "kind": kind, "direction": "dependent->head"}
        | {"accuracy": 0.6, "place": "-1", "baseline": 0.4, "chance": 0.1, "floor": 0.2}
        | {"effect": effect, "effect_low": 0.0, "effect_high": 0.4, "p_holm": 0.2}
        | {"chosen": False}
        for head in of_heads()
        for kind, effect in (("obj", 0.1), ("nsubj", 0.2), ("det", -0.3), ("aux", 0.15))
    ]
    offsets = [
        {**head, "offset": offset, "share": share}
        for head in of_heads()
        for offset, share in ((-12, 0.05), (-1, 0.6), (0, 0.25), (None, 0.1))
    ]
    sinks = [
        {**head, "kind": kind, "mass": mass, "mass_low": mass - 0.01, "mass_high": mass + 0.01}
        | {"random": 0.5}
        for head in of_heads()
        for kind, mass in (("words", 0.7), ("end", 0.3))
    ]
    likeness = [
        {"site": site, "layer": layer, "head": head, "other_layer": layer, "other_head": head + 1}
        | {"distance": 0.3 + head / 100, "twins": head == 0}
        for site, layer, head in heads()
        if head < 7
    ]
    bounds = {"effect_low": NUMBER, "effect_high": NUMBER}
    tables = {
        "roles": table(
            roles, **KINDS, family=TEXT, role=TEXT, share=NUMBER, baseline=NUMBER, effect=NUMBER,
            **bounds,
        ),
        "arcs": table(
            arcs, **KINDS, family=TEXT, kind=TEXT, direction=TEXT, accuracy=NUMBER, place=TEXT,
            baseline=NUMBER, chance=NUMBER, floor=NUMBER, effect=NUMBER, **bounds, p_holm=NUMBER,
            chosen="truth",
        ),
        "offsets": table(offsets, **KINDS, offset=WHOLE, share=NUMBER),
        "sinks": table(
            sinks, **KINDS, kind=TEXT, mass=NUMBER, mass_low=NUMBER, mass_high=NUMBER,
            random=NUMBER,
        ),
        "likeness": table(
            likeness, **KINDS, other_layer=WHOLE, other_head=WHOLE, distance=NUMBER, twins="truth"
        ),
    }  # fmt: skip
    return Result("roles", tables, {}, provenance())


def made_attention(sources: tuple[str, ...] = ("A dog <b>", "It sees the bank .")) -> Result:
    """The same tokens for every sentence, and weights that `weight` tells."""
    sentences = [
        {"sentence": number, "source": source, "target": "Ein Hund", "reference": "Ein Hund"}
        for number, source in enumerate(sources)
    ]
    tokens = [
        {"sentence": number, "side": side, "place": place, "piece": piece}
        for number in range(len(sources))
        for side, pieces in (("source", SOURCE), ("target", TARGET))
        for place, piece in enumerate(pieces)
    ]
    attention = []
    for number in range(len(sources)):
        for place, head in enumerate(of_heads()):
            queries, keys = SIDES[head["site"]]
            weights = bytes(
                weight(place + number, query, key) if seen(place, query, key) else 0
                for query in range(queries)
                for key in range(keys)
            )
            packed = base64.b64encode(weights).decode("ascii")
            row = {"queries": queries, "keys": keys, "weights": packed}
            attention.append({"sentence": number, **head, **row})
    tables = {
        "sentences": table(sentences, sentence=WHOLE, source=TEXT, target=TEXT, reference=TEXT),
        "tokens": table(tokens, sentence=WHOLE, side=TEXT, place=WHOLE, piece=TEXT),
        "attention": table(
            attention, sentence=WHOLE, **KINDS, queries=WHOLE, keys=WHOLE, weights=TEXT
        ),
    }
    return Result("attention_examples", tables, {}, provenance())
