"""Attention on example sentences, as the page embeds it: once, one byte a weight.

The bytes of all heads of a sentence stand behind each other in the order of the heads, which
say by their site how many queries and keys they have; base64 makes them text. The decoder
cannot look ahead, so of its weights only those up to the query itself are there.

Only the script can unfold them. For readers without it the first sentences are told in words:
for every head and query the key that it looks at most.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from .findings import Findings
from .removal import Name, head_names
from .rendering import Sheet
from .wording import title_of, visible

BUDGET = 960_000
"""Characters that the weights may take on the page; what is beyond stands in the CSV alone."""
PLAIN = 2
"""So many sentences are told without the script too; more would not fit the page."""
Sides = Mapping[str, Sequence[str]]


def attention_of(findings: Findings) -> dict[str, Any] | None:
    """Return the examples for the script, or None where a run has none.

    Returns:
        `sentences`, each with its number, its `source` and `target` tokens and its `weights`;
        `plain`, for the first of them one table a site of what is looked at most;
        `left_out`, how many sentences were too many for the page.
    """
    if findings.table("attention_examples", "attention") is None:
        return None
    names = head_names(findings)
    weights: dict[int, dict[tuple[str, int, int], bytes]] = {}
    for row in findings.records("attention_examples", "attention"):
        own = weights.setdefault(row["sentence"], {})
        seen = base64.b64decode(row["weights"])
        if row["site"] == "decoder":
            keys = row["keys"]
            seen = b"".join(seen[at * keys : at * keys + at + 1] for at in range(row["queries"]))
        own[row["site"], row["layer"], row["head"]] = seen
    tokens: dict[int, dict[str, list[str]]] = {}
    for row in findings.records("attention_examples", "tokens"):
        sides = tokens.setdefault(row["sentence"], {"source": [], "target": []})
        sides[row["side"]].append(visible(row["piece"]))
    sentences, used = [], 0
    plain: list[Sheet] = []
    for number, by_head in weights.items():
        if set(by_head) != set(names):
            continue
        packed = base64.b64encode(b"".join(by_head[name] for name in names)).decode("ascii")
        used += len(packed)
        if used > BUDGET:
            break
        sentences.append({"number": number, **tokens[number], "weights": packed})
        if len(sentences) <= PLAIN:
            plain += _plain(by_head, tokens[number], number)
    if not sentences:
        return None
    left_out = len(weights) - len(sentences)
    return {"sentences": sentences, "plain": plain, "left_out": left_out}


def _plain(by_head: Mapping[Name, bytes], sides: Sides, number: int) -> list[Sheet]:
    """Return one table a site: a row a head, a column a query, in a cell the key and percent."""
    sheets = []
    for site in dict.fromkeys(name[0] for name in by_head):
        queries = sides["source" if site == "encoder" else "target"]
        keys = sides["target" if site == "decoder" else "source"]
        printed = [
            [f"{layer}.{head}", *_most(seen, queries, keys, causal=site == "decoder")]
            for (own, layer, head), seen in by_head.items()
            if own == site
        ]
        caption = f"{title_of(site)}, sentence {number}: what each head looks at most"
        sheets.append(Sheet(caption, ["Head", *queries], printed))
    return sheets


def _most(seen: bytes, queries: Sequence[str], keys: Sequence[str], *, causal: bool) -> list[str]:
    """Return, for every query, the key with the largest weight and that weight in percent."""
    cells, at = [], 0
    for query in range(len(queries)):
        own = seen[at : at + (query + 1 if causal else len(keys))]
        at += len(own)
        best = max(range(len(own)), key=own.__getitem__)
        cells.append(f"{keys[best]} {round(100 * own[best] / 255)}")
    return cells
