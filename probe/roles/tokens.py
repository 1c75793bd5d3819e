"""Questions about tokens, which need no annotation: rare words, repeated words.

| kind | direction | who asks, and what is right |
| --- | --- | --- |
| rare | token->rarest | every token; the rarest of the sentence |
| rare | token->two rarest | every token; one of the two rarest |
| duplicate | token->same token | a token that comes again; its other places (if causal, earlier) |
| induction | token->what followed it | a token that was there before; the token behind its place |

Rare words are asked for in sentences whose rarest token is outside the 500 most frequent types
of the training text (Voita et al. 2019, section 5.2, found one such head in the first layer).
Equally rare tokens are all right. Duplicate tokens and induction are those of Olsson et al.
2022 ("In-context Learning and Induction Heads"); a translation repeats little but `the` and
commas, so look at the number of questions.

Queries and keys are positions of the model's input, and keys are BOS and EOS as well. The
previous and the next token are offsets (`positional.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...models.batch import Tokens
from ...models.data.parallel_text import ParallelText
from ...models.gates import SITES, HeadLayout
from ...models.translator import Translator
from .asking import FEWEST, Asked, TokenObserver, visible_in
from .questions import Arc, Question
from .walk import Side

FREQUENT = 500
"""How many of the most frequent types are not rare."""
RAREST, TWO_RAREST = Arc("rare", "token->rarest"), Arc("rare", "token->two rarest")
DUPLICATE = Arc("duplicate", "token->same token")
INDUCTION = Arc("induction", "token->what followed it")


@dataclass(frozen=True)
class Read:
    """What a model reads of one sentence.

    Args:
        ids: of every position, BOS and EOS included, padding left out.
        ordinary: whether a position is neither.
    """

    ids: tuple[int, ...]
    ordinary: tuple[bool, ...]

    @property
    def places(self) -> list[int]:
        """Return the positions of ordinary tokens."""
        return [place for place, is_ordinary in enumerate(self.ordinary) if is_ordinary]


def reads(translator: Translator, sides: tuple[Side, Side]) -> tuple[list[Read], list[Read]]:
    """Return what the model reads of every sentence, source and target, without reading it."""
    texts = [[sentence.text for sentence in side.sentences] for side in sides]
    empty = Read((), ())
    found = ([empty] * len(texts[0]), [empty] * len(texts[0]))
    for batch in translator.batches(*texts):
        for tokens, into in ((batch.source, found[0]), (batch.target, found[1])):
            for row, index in enumerate(batch.indices.tolist()):
                into[index] = _row(tokens, row)
    return found


def _row(tokens: Tokens, row: int) -> Read:
    real = int(tokens.lengths[row])
    return Read(tuple(tokens.ids[row, :real].tolist()), tuple(tokens.ordinary[row, :real].tolist()))


def source_counts(translator: Translator, text: ParallelText) -> Counter[int]:
    """Count the ordinary source tokens of a text, by id."""
    counts: Counter[int] = Counter()
    for batch in translator.batches(text.source, [""] * len(text)):
        counts.update(batch.source.ids[batch.source.ordinary].tolist())
    return counts


def rare_questions(
    queries: Read, keys: Read, counts: Mapping[int, int], frequent: Collection[int]
) -> list[Question]:
    """Return the questions for the rarest source tokens, if they are rare enough.

    Args:
        queries: the sentence that asks, source or target.
        keys: the source sentence.
        counts: of the source's ids in training text.
        frequent: ids that are not rare.
    """
    order = sorted((counts.get(keys.ids[place], 0), place) for place in keys.places)
    if len(order) < 3 or keys.ids[order[0][1]] in frequent:
        return []  # of one or two words every one is among the two rarest
    asked = []
    for arc, worst in ((RAREST, order[0][0]), (TWO_RAREST, order[1][0])):
        right = frozenset(place for count, place in order if count <= worst)
        asked += [Question(arc, query, right) for query in queries.places]
    return asked


def repeated_questions(read: Read, *, causal: bool) -> list[Question]:
    """Return the questions for tokens that stand in a sentence more than once.

    Args:
        read: the sentence.
        causal: whether only earlier positions can be seen; only then is induction asked for.
    """
    asked = []
    before: dict[int, list[int]] = {}
    everywhere: dict[int, list[int]] = {}
    for place in read.places:
        everywhere.setdefault(read.ids[place], []).append(place)
    for place in read.places:
        earlier = before.setdefault(read.ids[place], [])
        same = earlier if causal else [it for it in everywhere[read.ids[place]] if it != place]
        if same:
            asked.append(Question(DUPLICATE, place, frozenset(same)))
        followed = frozenset(it + 1 for it in earlier if it + 1 < place)
        if causal and followed:
            asked.append(Question(INDUCTION, place, followed))
        earlier.append(place)
    return asked


def token_observers(
    translator: Translator,
    sides: tuple[Side, Side],
    counts: Mapping[int, int],
    layout: HeadLayout,
    *,
    fewest: int = FEWEST,
    types: int = FREQUENT,
) -> list[TokenObserver]:
    """Return one observer of token questions for each site.

    Args:
        translator: says how text is cut.
        sides: of `joined`.
        counts: of source ids in training text; none leave rare words out.
        layout: heads of the model.
        fewest: questions that a kind must have.
        types: how many of the most frequent types are not rare.
    """
    source, target = reads(translator, sides)
    frequent = {each for each, _ in Counter(counts).most_common(types)}

    def of_site(site: str) -> Iterator[tuple[list[Question], int]]:
        for read, said in zip(source, target, strict=True):
            asked = []
            if site != "cross":
                own = read if site == "encoder" else said
                asked += repeated_questions(own, causal=site == "decoder")
            if site != "decoder" and counts:
                asking = read if site == "encoder" else said
                asked += rare_questions(asking, read, counts, frequent)
            yield asked, 0

    return [
        TokenObserver(
            layout,
            site,
            Asked(of_site(site), [len(it.ids) for it in (target if site == "decoder" else source)]),
            visible_in(site),
            fewest=fewest,
        )
        for site in SITES
    ]
