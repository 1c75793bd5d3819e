"""How fast and how small measurements and models are, as ratios to what they are made of.

A ratio of two times, measured by turns in one process, says the same on a slow machine as on
a fast one; seconds do not.

| file | what is told there |
| --- | --- |
| `clock.py`, `memory.py` | how time and memory are taken |
| `flops.py` | multiplications of a forward, by its shapes |
| `score.py`, `subject.py` | the importance metrics against the passes that they are made of |
| `turns.py` | whole and smaller models that translate by turns |
| `parts.py` | the parts of a search, each under its own meter |
| `size.py` | what a model needs besides time |
"""
