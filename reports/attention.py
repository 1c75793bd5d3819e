"""Attention on example sentences, as the page embeds it: once, one byte a weight.

The bytes of all heads of a sentence stand behind each other in the order of the heads, which
say by their site how many queries and keys they have; base64 makes them text. The decoder
cannot look ahead, so of its weights only those up to the query itself are there.
"""

from __future__ import annotations

import base64
from typing import Any

from .findings import Findings
from .removal import head_names
from .wording import visible

BUDGET = 960_000
"""Characters that the weights may take on the page; what is beyond stands in the CSV alone."""


def attention_of(findings: Findings) -> dict[str, Any] | None:
    """Return the examples for the script, or None where a run has none.

    Returns:
        `heads`, how many there are of each site, in order; `sentences`, each with its number,
        its `source` and `target` tokens and its `weights`; `left_out`, how many sentences
        were too many for the page.
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
    for number, by_head in weights.items():
        if set(by_head) != set(names):
            continue
        packed = base64.b64encode(b"".join(by_head[name] for name in names)).decode("ascii")
        used += len(packed)
        if used > BUDGET:
            break
        sentences.append({"number": number, **tokens[number], "weights": packed})
    if not sentences:
        return None
    return {"sentences": sentences, "left_out": len(weights) - len(sentences)}
