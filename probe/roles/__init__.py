"""What each head attends to: roles that can be read off attention weights.

    sides = joined(translator, [(pair.source, pair.target) for pair in aligned])
    offsets = OffsetObserver(translator.layout, len(sides[0].sentences))
    arcs = ArcObserver(translator.layout, "encoder", sides[0])
    walk(translator, sides, [offsets, arcs])
    offsets.profile.best()                              # offset and share of every head
    compared(arcs.scores, even, odd, generator=draw)    # every head beside its baselines
    sides[0].coverage.remark()                          # what could not be aligned

Attention weights say where a head looks, not what it does with what it sees; whether a role
matters is a question for the head gates.
"""

from .aligning import AlignmentObserver, AlignmentQuality, AlignmentScores, LinkObserver
from .answers import ArcScores
from .asking import QuestionObserver
from .positional import OffsetObserver, OffsetProfile
from .questions import Arc
from .relative import RelativeMap, RelativeObserver
from .semantic import semantic_questions
from .sinks import KINDS, SinkMass, SinkObserver
from .syntactic import ArcObserver
from .testing import Tested, compared, drawn_sentences, holm
from .tokens import source_counts, token_observers
from .walk import MAPS, Observer, RoleView, Side, joined, walk

__all__ = [
    "KINDS",
    "MAPS",
    "SinkMass",
    "SinkObserver",
    "AlignmentObserver",
    "AlignmentQuality",
    "AlignmentScores",
    "Arc",
    "ArcObserver",
    "ArcScores",
    "LinkObserver",
    "QuestionObserver",
    "Tested",
    "compared",
    "drawn_sentences",
    "holm",
    "source_counts",
    "token_observers",
    "Observer",
    "RelativeMap",
    "RelativeObserver",
    "OffsetObserver",
    "OffsetProfile",
    "RoleView",
    "Side",
    "joined",
    "semantic_questions",
    "walk",
]
