"""Does a role matter? Close the heads that have it, and see whether what it serves breaks.

Attention only shows where a head looks. So heads of a role are put to a test of a grammar that
knows what they are for: of an English sentence and its German translation, the translation is
also made wrong in one respect alone (the verb's number, the pronoun's gender, the noun's
sense). With the losses of whole sentences in nats,

    margin   = smallest loss of the wrong translations - loss of the right one
    accuracy = share of sentences with margin > 0       (contrastive scoring, Sennrich 2017)
    excess   = what closing the heads of the role takes from either
               - what closing equally many other heads of the same site takes, mean of draws

If the role is real and used, the margin falls with its heads and not with others. Intervals
are percentile bootstraps over sentences and draws together; p is the rank of the role's heads
among the draws, (1 + draws that take as much) / (1 + draws), so with 23 other heads of a site
no p is below 0.042. Where no head has the role, the best head for it is closed, `held` is
false, and nothing is claimed of the role.

The sentences are drawn for the phenomenon alone and are in no training text.

Pitfall: several heads can do the same. That closing one of them breaks nothing does not show
that the role is not used, so all heads of a role are closed together. Pitfall: accuracy has a
ceiling; where it is near 100 % with all heads, look at the margin.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ..models.data import miniature
from ..models.data.parallel_text import Corpus, ParallelText
from ..models.gates import Head
from ..models.quality import bleu as corpus_bleu
from ..models.translator import Translator
from .analysis import Progress, silent
from .result import Column, Table

SERVES: Mapping[str, tuple[str, ...]] = {
    "agreement": ("nsubj", "agreement"),
    "pronoun": ("pronoun",),
    "possessive": ("pronoun",),
    "sense": ("sense",),
    "sense_adjective": ("sense",),
}
"""Kinds of questions whose heads a phenomenon of the built-in corpus would need."""
ATTEMPTS = 50
"""Sentences drawn for each that is wanted, at most; many come twice or are in training text."""
SHARE, NATS = "share, 0 to 1", "nats a sentence"
CAUSAL = (
    Column("phenomenon", "text", "what the wrong translations have wrong"),
    Column("kind", "text", "what the closed heads look for"),
    Column("direction", "text", "who asks, and what is right"),
    Column("site", "text", "encoder or decoder"),
    Column("heads", "text", "heads that are closed together"),
    Column("held", "truth", "whether they have the role; else the best head for it is closed"),
    Column("closed", "whole", "how many"),
    Column("draws", "whole", "sets of equally many other heads of the site"),
    Column("accuracy", "number", "right above all wrong translations, all heads open", SHARE),
    Column("accuracy_closed", "number", "the same without the heads of the role", SHARE),
    Column("accuracy_others", "number", "the same without as many others, mean of draws", SHARE),
    Column("accuracy_excess", "number", "accuracy_others - accuracy_closed", SHARE),
    Column("accuracy_excess_low", "number", "lower bound of the interval", SHARE),
    Column("accuracy_excess_high", "number", "upper bound of the interval", SHARE),
    Column("margin", "number", "loss of the best wrong translation - of the right one", NATS),
    Column("margin_closed", "number", "the same without the heads of the role", NATS),
    Column("margin_others", "number", "the same without as many others, mean of draws", NATS),
    Column("margin_excess", "number", "margin_others - margin_closed", NATS),
    Column("margin_excess_low", "number", "lower bound of the interval", NATS),
    Column("margin_excess_high", "number", "upper bound of the interval", NATS),
    Column("p", "number", "rank among the draws by margin, one-sided", "probability"),
    Column("bleu", "number", "BLEU of these sentences, all heads open", "BLEU points"),
    Column("bleu_closed", "number", "the same without the heads of the role", "BLEU points"),
    Column(
        "bleu_others", "number", "the same without as many others, mean of draws", "BLEU points"
    ),
)
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contrast:
    """A sentence, its translation, and translations that are wrong in one respect."""

    source: str
    right: str
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Closed:
    """Heads that are closed together, because they answer one kind of question.

    Args:
        kind, direction, site: of the question.
        heads: that have the role, or the best one for it.
        held: whether they have it.
    """

    kind: str
    direction: str
    site: str
    heads: tuple[Head, ...]
    held: bool


def contrasts(phenomenon: str, sentences: int, seed: int, known: set[str]) -> list[Contrast]:
    """Return sentences of a phenomenon of the built-in corpus, each once.

    Args:
        phenomenon: with wrong translations.
        sentences: at most so many.
        seed: of the generator.
        known: sources to leave out, such as training text.
    """
    found: dict[str, Contrast] = {}
    drawn = miniature.pairs(seed, phenomenon)
    for pair in itertools.islice(drawn, ATTEMPTS * sentences):
        source = pair.source.text
        if pair.contrasts and source not in known:
            found.setdefault(source, Contrast(source, pair.target.text, pair.contrasts))
        if len(found) == sentences:
            break
    return list(found.values())


def closed_sets(arcs: pd.DataFrame, kinds: Sequence[str]) -> list[Closed]:
    """Return the heads to close for the questions that are about some kinds.

    Args:
        arcs: table `arcs` of the analysis `roles`.
        kinds: such as nsubj.

    Returns:
        for each question the heads that have the role; where no head has any of them, the one
        head with the largest lead.
    """
    asked = arcs[arcs["kind"].isin(list(kinds)) & (arcs["site"] != "cross")]
    having = asked[asked["role"]]
    if having.empty:
        having = asked[asked["chosen"]].sort_values("effect", ascending=False).head(1)
    heads: dict[tuple[str, str, str], list[Head]] = {}
    for row in having.to_dict("records"):
        head = Head(str(row["site"]), int(row["layer"]), int(row["head"]))
        key = str(row["kind"]), str(row["direction"]), head.site
        heads.setdefault(key, []).append(head)
    held = bool(asked["role"].any())
    return [Closed(*key, tuple(found), held) for key, found in sorted(heads.items())]


def causal_table(
    translator: Translator,
    corpus: Corpus,
    arcs: pd.DataFrame,
    *,
    sentences: int,
    draws: int,
    bleu: bool,
    resamples: int,
    seed: int,
    progress: Progress = silent,
) -> Table | None:
    """Close the heads of every role that serves a phenomenon.

    Args:
        translator: of English into German.
        corpus: whose training text is left out.
        arcs: table `arcs` of the analysis `roles`.
        sentences: of each phenomenon.
        draws: sets of other heads that are closed for comparison, at most.
        bleu: whether the sentences are translated too.
        resamples: for the intervals.
        seed: of sentences, draws and resamples.

    Returns:
        None where no question about these phenomena was asked.
    """
    known = set(corpus.train.source)
    rows: list[dict[str, object]] = []
    sizes: list[int] = []
    for done, (phenomenon, kinds) in enumerate(SERVES.items()):
        sets = closed_sets(arcs, kinds)
        progress(f"roles: {phenomenon}", done, len(SERVES))
        made = contrasts(phenomenon, sentences, seed + 1, known) if sets else []
        if not made:
            continue
        sizes.append(len(made))
        generator = np.random.default_rng(seed)
        others = {it: _others(translator, it.heads, draws, generator) for it in sets}
        masks = [(), *(it.heads for it in sets), *(o for it in sets for o in others[it])]
        found = margins(translator, made, masks)
        for closed in sets:
            if others[closed]:
                means = _means(found, closed.heads, others[closed], resamples, generator)
                said = _bleu(translator, made, closed.heads, others[closed]) if bleu else {}
                rows.append(
                    {
                        "phenomenon": phenomenon,
                        "kind": closed.kind,
                        "direction": closed.direction,
                        "site": closed.site,
                        "heads": " ".join(map(str, closed.heads)),
                        "held": closed.held,
                        "closed": len(closed.heads),
                        "draws": len(others[closed]),
                        **means,
                        **said,
                    }
                )
    progress("roles", len(SERVES), len(SERVES))
    if not rows:
        return None
    caption = (
        "What closing the heads of a role takes from the phenomenon that it would serve, beside "
        "closing equally many other heads of the site."
    )
    few, many = min(sizes), max(sizes)
    each = f"{few}" if few == many else f"{few} to {many}"
    n = f"{each} sentences of each phenomenon, in no training text"
    how = f"95 % percentile bootstrap over sentences and draws, {resamples} resamples"
    return Table.of(caption, CAUSAL, rows, n=n, interval=how)


def _others(
    translator: Translator, heads: Sequence[Head], draws: int, generator: np.random.Generator
) -> list[tuple[Head, ...]]:
    """Return sets of equally many other heads of the same site, each once."""
    rest = [it for it in translator.layout if it.site == heads[0].site and it not in heads]
    if len(heads) > len(rest):
        return []
    if len(heads) == 1:
        order = generator.permutation(len(rest))[:draws]
        return [(rest[place],) for place in sorted(order)]
    found = {
        tuple(sorted(generator.choice(len(rest), len(heads), replace=False).tolist()))
        for _ in range(draws)
    }
    return [tuple(rest[place] for place in places) for places in sorted(found)]


def margins(
    translator: Translator, made: Sequence[Contrast], masks: Sequence[tuple[Head, ...]]
) -> dict[tuple[Head, ...], Array]:
    """Return by how much the right translation beats the best wrong one, under each mask.

    Args:
        made: sentences with their translations.
        masks: heads that are closed together.

    Returns:
        by mask, nats, float64  # each [sentence]
    """
    distinct = list(dict.fromkeys(masks))
    sources = [it.source for it in made for _ in (it.right, *it.wrong)]
    targets = [text for it in made for text in (it.right, *it.wrong)]
    gates = torch.cat([translator.layout.closing(mask) for mask in distinct])  # [mask, head]
    losses = np.zeros((len(distinct), len(targets)))  # [mask, text]
    for batch in translator.batches(sources, targets):
        indices = batch.indices.numpy()
        with torch.no_grad():
            for row, found in translator.token_losses_of_masks(batch, gates.to(translator.device)):
                losses[row, indices] = found.double().sum(1).cpu().numpy()
    starts = np.cumsum([0, *(1 + len(it.wrong) for it in made)])
    right = losses[:, starts[:-1]]  # [mask, sentence]
    losses[:, starts[:-1]] = np.inf
    wrong = np.minimum.reduceat(losses, starts[:-1], axis=1)  # [mask, sentence]
    return dict(zip(distinct, wrong - right, strict=True))


def _means(
    found: Mapping[tuple[Head, ...], Array],
    heads: tuple[Head, ...],
    others: Sequence[tuple[Head, ...]],
    resamples: int,
    generator: np.random.Generator,
) -> dict[str, float]:
    """Return accuracy and margin, open and closed, with what is due to the role."""
    whole, closed = found[()], found[heads]  # each [sentence]
    drawn = np.stack([found[each] for each in others])  # [draw, sentence]
    sentences, draws = drawn.shape[1], len(drawn)
    weigh = generator.multinomial(sentences, [1 / sentences] * sentences, resamples) / sentences
    mix = generator.multinomial(draws, [1 / draws] * draws, resamples) / draws
    values: dict[str, float] = {}
    for name, rule in (("accuracy", _is_right), ("margin", np.asarray)):
        own, other = rule(closed), rule(drawn)
        excess = ((mix @ other - own) * weigh).sum(1)  # [resample]
        low, high = np.percentile(excess, (2.5, 97.5)) if resamples else (np.nan, np.nan)
        values |= {
            name: float(rule(whole).mean()),
            f"{name}_closed": float(own.mean()),
            f"{name}_others": float(other.mean()),
            f"{name}_excess": float(other.mean() - own.mean()),
            f"{name}_excess_low": float(low),
            f"{name}_excess_high": float(high),
        }
    as_much = int((drawn.mean(1) <= closed.mean()).sum())
    return values | {"p": (1 + as_much) / (1 + draws)}


def _is_right(margin: Array) -> Array:
    return (margin > 0).astype(np.float64)


def _bleu(
    translator: Translator,
    made: Sequence[Contrast],
    heads: tuple[Head, ...],
    others: Sequence[tuple[Head, ...]],
    draws: int = 3,
) -> dict[str, float]:
    """Return BLEU of the sentences with all heads, and without some."""
    text = ParallelText("contrasts", [it.source for it in made], [it.right for it in made])

    def without(closed: Sequence[Head]) -> float:
        gates = translator.layout.closing(closed).to(translator.device)
        said = [it.text for it in translator.translate(text.source, gates=gates)]
        return corpus_bleu(said, text.target, np.random.default_rng(0), resamples=1).score

    few = others[:: max(1, len(others) // draws)][:draws]
    return {
        "bleu": without(()),
        "bleu_closed": without(heads),
        "bleu_others": float(np.mean([without(each) for each in few])),
    }
