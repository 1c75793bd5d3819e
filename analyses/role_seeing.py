"""What is counted while annotated sentences go by once: all roles of one network.

The same questions are put to the model, to the same network with random weights, and to what
is left of the model after pruning; they are made once, because what a model reads does not
depend on its weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..models.translator import Translator
from ..probe.relevance import RuleError
from ..probe.roles import (
    MAPS,
    AlignmentObserver,
    AlignmentScores,
    ArcObserver,
    ArcScores,
    LinkObserver,
    Observer,
    OffsetObserver,
    OffsetProfile,
    QuestionObserver,
    RelativeMap,
    RelativeObserver,
    Side,
    SinkMass,
    SinkObserver,
    semantic_questions,
    token_observers,
    walk,
)
from ..probe.roles.walk import RELEVANCE
from .role_text import RoleText

ASKED = ("read", "said")
Asking = Sequence[tuple[str, QuestionObserver]]
"""Observers of questions with their families."""
Way = tuple[str, str]
"""What a map is made of, and where target words ask."""


@dataclass
class Seen:
    """What one network was seen to do.

    Args:
        offsets, sinks, relative: of all heads.
        answers: by family, the scores of every site.
        alignment: of the text's gold links, if they were looked for.
        remarks: what could not be looked for.
    """

    offsets: OffsetProfile
    sinks: SinkMass
    relative: RelativeMap
    answers: list[tuple[str, ArcScores]]
    alignment: dict[Way, AlignmentScores] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def asking_of(
    translator: Translator,
    text: RoleText,
    sides: tuple[Side, Side],
    counts: Mapping[int, int],
    *,
    fewest: int,
    types: int,
) -> Asking:
    """Return observers of all questions that the text has annotation for.

    Args:
        translator: says which heads there are, and how text is cut.
        text: the sentences, and `sides` their words joined to pieces.
        counts: of source ids in training text, for rare words.
        fewest: questions that a kind must have to be asked.
        types: how many of the most frequent types are not rare.
    """
    layout = translator.layout
    asking: list[tuple[str, QuestionObserver]] = []
    for site, side in zip(("encoder", "decoder"), sides, strict=True):
        asking.append(("syntax", ArcObserver(layout, site, side, fewest=fewest)))
        meaning = ArcObserver(layout, site, side, ask=semantic_questions, fewest=fewest)
        asking.append(("semantics", meaning))
    tokens = token_observers(translator, sides, counts, layout, fewest=fewest, types=types)
    asking += [("tokens", observer) for observer in tokens]
    if text.linked:
        for asked in ASKED:
            said = asked == "said"
            link = LinkObserver(layout, sides, text.pairs, said=said, fewest=fewest)
            asking.append(("alignment", link))
    return asking


def see(
    translator: Translator,
    sides: tuple[Side, Side],
    asking: Asking,
    linked: RoleText | None = None,
    maps: Sequence[str] = MAPS,
) -> Seen:
    """Walk over the text once with all observers.

    Args:
        translator: the network to look at.
        sides: the sentences.
        asking: of `asking_of`, which stay as they are.
        linked: the text whose gold links are compared, if any.
        maps: of which links are made, some of `MAPS`.
    """
    layout, size = translator.layout, len(sides[0].sentences)
    offsets, sinks = OffsetObserver(layout, size), SinkObserver(layout, size)
    relative = RelativeObserver(layout, size)
    questions = [(family, observer.fresh()) for family, observer in asking]
    aligning = {
        (of, asked): AlignmentObserver(layout, sides, linked.pairs, said=asked == "said", of=of)
        for of in maps
        for asked in ASKED
        if linked and linked.linked
    }
    observers: list[Observer] = [offsets, sinks, relative, *aligning.values()]
    try:
        walk(translator, sides, [*observers, *[observer for _, observer in questions]])
    except RuleError as error:
        if RELEVANCE not in maps:
            raise
        left = [each for each in maps if each != RELEVANCE]
        seen = see(translator, sides, asking, linked, left)
        seen.remarks = (*seen.remarks, f"No alignment from relevance: {error}.")
        return seen
    return Seen(
        offsets.profile,
        sinks.found,
        relative.found,
        [(family, observer.scores) for family, observer in questions],
        {way: observer.scores for way, observer in aligning.items()},
    )


def not_asked(seen: Seen) -> list[str]:
    """Say how many questions of the annotation could not be asked, if any."""
    names = {"syntax": "arcs", "semantics": "pairs joined by meaning", "alignment": "gold links"}
    lost = {name: [it.unseen for of, it in seen.answers if of == name] for name in names}
    lost["alignment"] = lost["alignment"][:1]  # where words are read and said it is the same links
    said = [f"{sum(count)} {names[name]}" for name, count in lost.items() if sum(count)]
    if not said:
        return []
    return [f"Not asked for, because no pieces tell their words apart: {', '.join(said)}."]
