"""From a trained network to translations: greedy and beam search with a cache.

A translation is the target sentence Y that maximises

    log P(Y | X) / ((5 + |Y|) / 6)^alpha      (Wu et al. 2016, eq. 14)

which nobody can find exactly, because there are too many Y. Greedy search takes the most
probable next token each time; beam search carries the `beam` most probable prefixes along.

| file | what is told there |
| --- | --- |
| `prepared.py` | weights laid out for single steps |
| `cache.py` | where keys and values of the prefixes are kept |
| `incremental.py` | one decoder step at a time, and what is kept between steps |
| `ranking.py` | the best of many tokens, the length penalty, which tokens may come |
| `greedy.py`, `beam.py` | the two searches over one batch of sentences |
| `search.py` | many sentences: order, batches, gate rows, threads |
"""

from .hypothesis import Hypothesis
from .search import search

__all__ = ["Hypothesis", "search"]
