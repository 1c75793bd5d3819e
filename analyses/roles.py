"""What does each head attend to? The `roles` analysis.

One walk over annotated sentences asks every head of all sites: at which offset it looks, on
what it rests, whether it finds the other end of each dependency relation, words of the same
meaning, rare and repeated tokens, and the source words that a target word is a translation
of. Each accuracy stands beside that of the best fixed place, of chance and of the same network
with random weights, all chosen on one half of the sentences and compared on the other, and
Holm's correction counts every head, direction and relation that was asked.

| table | one row |
| --- | --- |
| `roles` | a role that a head was found to have |
| `arcs` | a head and a kind of question, with all baselines, effect, interval and p |
| `offsets` | a head and an offset |
| `sinks` | a head and a kind of key |
| `alignment` | an aligner: a head, a mean, the union |
| `importance` | a metric and a site: do important heads have roles (`role_importance.py`) |
| `likeness`, `map`, `merges`, `outliers` | which heads are alike; see `likeness.py` |

Pitfall: attention says where a head looks, not what it does with what it sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from ..models.data.parallel_text import Corpus
from ..models.errors import UsageError
from ..models.gates import Head
from ..models.reinitialised import with_random_weights
from ..models.settings import Settings
from ..models.translator import Translator
from ..probe.roles import (
    AlignmentObserver,
    AlignmentScores,
    ArcObserver,
    ArcScores,
    LinkObserver,
    Observer,
    OffsetObserver,
    OffsetProfile,
    QuestionObserver,
    Side,
    SinkMass,
    SinkObserver,
    compared,
    holm,
    joined,
    semantic_questions,
    source_counts,
    token_observers,
    walk,
)
from .analysis import Progress, analysis, silent, spread
from .likeness import likeness, likeness_tables
from .provenance import Stopwatch, provenance
from .result import Result, Table
from .role_importance import importance_table
from .role_tables import (
    Answer,
    alignment_table,
    arcs_table,
    offsets_table,
    roles_table,
    sinks_table,
)
from .role_text import RoleText

ASKED = ("read", "said")


class RolesSettings(Settings):
    """How much text to look at, and how carefully; the defaults are what a run can afford.

    Args:
        sentences: at most so many, spread evenly over the text.
        random_networks: networks with random weights that are looked at as well.
        fewest: questions that a kind must have to be asked.
        likeness_sentences: of these, so many tell which heads are alike.
        training_sentences: on which it is counted which source tokens are rare.
        resamples: bootstrap resamples of the sentences for the intervals.
    """

    sentences: int = 1000
    random_networks: int = 2
    fewest: int = 50
    likeness_sentences: int = 150
    training_sentences: int = 5000
    resamples: int = 1000


@dataclass
class Seen:
    """What one network was seen to do.

    Args:
        offsets, sinks: of all heads.
        answers: by family, the scores of every site.
        alignment: by where target words ask.
    """

    offsets: OffsetProfile
    sinks: SinkMass
    answers: list[tuple[str, ArcScores]]
    alignment: dict[str, AlignmentScores] = field(default_factory=dict)


@analysis("roles")
def roles(
    translator: Translator,
    corpus: Corpus,
    settings: RolesSettings,
    seed: int,
    progress: Progress = silent,
    *,
    text: RoleText,
    scores: Result | None = None,
) -> Result:
    """Say what each head attends to.

    Args:
        translator: the model.
        corpus: whose training text says which words are rare.
        text: annotated sentences to look at.
        scores: of the analysis `score`, to set roles beside importance.

    Raises:
        DataError: no sentences.
    """
    stopwatch = Stopwatch()
    text = text.head(settings.sentences)
    sides = joined(translator, [(pair.source, pair.target) for pair in text.pairs])
    counted = corpus.train.select(spread(len(corpus.train), settings.training_sentences))
    networks: list[Translator] = [translator]
    remarks = list(text.remarks)
    try:
        for number in range(settings.random_networks):
            generator = torch.Generator().manual_seed(seed + number)
            networks.append(with_random_weights(translator, generator))
    except UsageError:
        remarks.append("No random network: this kind of model cannot be drawn anew.")
    # Asked once: what a model reads does not depend on its weights.
    asking = _asking(translator, text, sides, source_counts(translator, counted), settings)
    seen = []
    for number, network in enumerate(networks):
        progress("roles", number, len(networks))
        seen.append(_see(network, text if not number else None, sides, asking))
    progress("roles", len(networks), len(networks))
    n = f"{len(text.pairs)} sentences ({text.name})"
    for name, side in zip(("source", "target"), sides, strict=True):
        remarks.append(f"Of the {name} side, {side.coverage.remark()}")
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"roles": text.plain.fingerprint},
        device=translator.device,
    )
    tables = tables_of(seen[0], seen[1:], settings, seed, n)
    if scores is not None:
        having = _having(tables["roles"])
        ranks = scores.tables["heads"].rows
        tables["importance"] = importance_table(ranks, translator.layout.heads, having, seed, n)
    few = text.head(settings.likeness_sentences)
    some = joined(translator, [(pair.source, pair.target) for pair in few.pairs])
    alike = [likeness(network, some) for network in networks]
    tables |= likeness_tables(alike[0], alike[1:], f"{len(few.pairs)} of {n}")
    return Result("roles", tables, settings.model_dump(mode="json"), origin, tuple(remarks))


def _having(found: Table) -> set[Head]:
    """Return the heads with a role; to rest on something is none."""
    rows = found.rows[found.rows["family"] != "rest"]
    names = rows[["site", "layer", "head"]].to_numpy().tolist()
    return {Head(str(site), int(layer), int(head)) for site, layer, head in names}


Asking = Sequence[tuple[str, QuestionObserver]]
"""Observers of questions with their families."""


def _asking(
    translator: Translator,
    text: RoleText,
    sides: tuple[Side, Side],
    counts: Mapping[int, int],
    settings: RolesSettings,
) -> Asking:
    """Return observers of all questions that the text has annotation for."""
    layout, fewest = translator.layout, settings.fewest
    asking: list[tuple[str, QuestionObserver]] = []
    for site, side in zip(("encoder", "decoder"), sides, strict=True):
        asking.append(("syntax", ArcObserver(layout, site, side, fewest=fewest)))
        meaning = ArcObserver(layout, site, side, ask=semantic_questions, fewest=fewest)
        asking.append(("semantics", meaning))
    tokens = token_observers(translator, sides, counts, layout, fewest=fewest)
    asking += [("tokens", observer) for observer in tokens]
    if text.linked:
        for asked in ASKED:
            said = asked == "said"
            link = LinkObserver(layout, sides, text.pairs, said=said, fewest=fewest)
            asking.append(("alignment", link))
    return asking


def _see(
    translator: Translator, linked: RoleText | None, sides: tuple[Side, Side], asking: Asking
) -> Seen:
    """Walk over the text once with all observers.

    Args:
        linked: the text whose gold links are compared, if any.
        asking: of `_asking`, which stay as they are.
    """
    layout, size = translator.layout, len(sides[0].sentences)
    offsets, sinks = OffsetObserver(layout, size), SinkObserver(layout, size)
    questions = [(family, observer.fresh()) for family, observer in asking]
    aligning = {
        asked: AlignmentObserver(layout, sides, linked.pairs, said=asked == "said")
        for asked in ASKED
        if linked and linked.linked
    }
    observers: list[Observer] = [offsets, sinks, *aligning.values()]
    walk(translator, sides, [*observers, *[observer for _, observer in questions]])
    return Seen(
        offsets.profile,
        sinks.found,
        [(family, observer.scores) for family, observer in questions],
        {asked: observer.scores for asked, observer in aligning.items()},
    )


def answers_of(
    own: Seen, floors: Sequence[Seen], settings: RolesSettings, seed: int
) -> list[Answer]:
    """Test every head on every kind of question, with one correction for all of them."""
    choose, score = halves(len(own.offsets.counts))
    found = []
    for place, (family, scores) in enumerate(own.answers):
        others = [floor.answers[place][1] for floor in floors]
        generator = np.random.default_rng(seed)
        rows = compared(
            scores, choose, score, others, generator=generator, resamples=settings.resamples
        )
        found += [(family, row) for row in rows]
    corrected = holm([row.p for _, row in found])
    return [Answer(*pair, p) for pair, p in zip(found, corrected, strict=True)]


def halves(sentences: int) -> tuple[range, range]:
    """Return the sentences that choose, and those on which the choice is scored."""
    return range(0, sentences, 2), range(1, sentences, 2)


def tables_of(
    own: Seen, floors: Sequence[Seen], settings: RolesSettings, seed: int, n: str
) -> dict[str, Table]:
    """Return all tables.

    Args:
        own: of the model.
        floors: of the networks with random weights.
        n: how many sentences, in words.
    """
    size = len(own.offsets.counts)
    choose, score = halves(size)
    draw = np.random.default_rng(seed)
    whole = draw.multinomial(size, [1 / size] * size, settings.resamples)
    answers = answers_of(own, floors, settings, seed)
    half = f"{len(score)} of {n}"
    tables = {
        "roles": roles_table(answers, own.offsets, own.sinks, whole, n),
        "arcs": arcs_table(answers, half),
        "offsets": offsets_table(own.offsets, [floor.offsets for floor in floors], n),
        "sinks": sinks_table(own.sinks, [floor.sinks for floor in floors], whole, n),
    }
    if own.alignment:
        drawn = draw.multinomial(len(score), [1 / len(score)] * len(score), settings.resamples)
        tables["alignment"] = alignment_table(own.alignment, choose, score, drawn, half)
    return tables
