"""Syntactic heads: heads that look along the arcs of the dependency tree.

    accuracy = right answers / questions of a relation and direction (see `questions.py`),

where the answer is the word with the largest attention, between units of words (`pooling.py`).
Adjectives stand before nouns, so a head that always looks one word to the right finds most
heads of amod and knows no syntax: accuracies stand beside those of what knows nothing
(`answers.py`). A head is called syntactic only if it is at least 10 points above all of it.

Choices made here: the words looked at include the word itself; BOS and EOS are left out
(their weight is not redistributed, which no argmax would notice); subtypes are merged
(nsubj:pass is nsubj); offsets are between units; in the decoder only partners that come
before the word are asked for, because the others cannot be seen.
"""

from __future__ import annotations

from ...models.gates import HeadLayout
from .asking import FEWEST, FURTHEST, Asked, WordObserver, visible_in
from .questions import Ask, questions
from .walk import Side


class ArcObserver(WordObserver):
    """Counts right answers of one site's heads, relation by relation.

    Args:
        layout: heads of the model.
        site: `encoder` (annotation of the source) or `decoder` (of the target).
        side: the sentences that have the annotation.
        ask: which questions: those of the tree, or of meaning (`semantic.py`).
        fewest: arcs that a relation must have in the whole corpus, or questions that a kind of
            meaning must have.
        furthest: largest offset of a fixed place.
    """

    def __init__(
        self,
        layout: HeadLayout,
        site: str,
        side: Side,
        *,
        ask: Ask = questions,
        fewest: int = FEWEST,
        furthest: int = FURTHEST,
    ) -> None:
        if site not in ("encoder", "decoder"):
            raise ValueError(f"no tree joins queries and keys of '{site}'")
        found = (
            ask(sentence, pieces, causal=site == "decoder")
            for sentence, pieces in zip(side.sentences, side.pieces, strict=True)
        )
        keys = [len(pieces.unit_pieces) for pieces in side.pieces]
        asked = Asked(found, keys, by_arc=ask is questions)
        super().__init__(layout, site, asked, visible_in(site), fewest=fewest, furthest=furthest)
