"""How fast and how small the measurements are, as ratios to what they are made of.

A ratio of two times, measured by turns in one process, says the same on a slow machine as on
a fast one; seconds do not. What is counted is in `flops.py`, how time and memory are taken
in `clock.py` and `memory.py`, and what is compared in `score.py`.
"""
