"""Ways to choose the heads that go, and what is done after they are gone.

A way joins the `way` family of `way.py` when its file is imported here. `finish` trains the
smaller model on, `goal` says how small a model shall be and searches for it.
"""

from . import early, greedy, importance, trained

__all__ = ["early", "greedy", "importance", "trained"]
