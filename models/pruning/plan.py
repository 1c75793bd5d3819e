"""A pruning plan: which heads of which model go, written down.

A plan names the model by its hash, for head ids alone say nothing: `encoder.0.3` is another
head in another model, and the plan would fit it without a word.

    {"format": "headcount plan 1", "model": SHA-256, "way": "l0", "removed": ["encoder.0.3"]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError, UsageError, system_says
from ..files import write_json
from ..gates import Head, HeadLayout

FORMAT = "headcount plan 1"


@dataclass(frozen=True)
class PruningPlan:
    """Heads to remove from one model.

    Args:
        model: fingerprint of the model that the heads belong to.
        way: how they were chosen.
        removed: the first to go in front.
    """

    model: str
    way: str
    removed: tuple[Head, ...]

    def save(self, path: Path) -> None:
        """Write the plan as JSON, atomically."""
        heads = [str(head) for head in self.removed]
        plan = {"format": FORMAT, "model": self.model, "way": self.way, "removed": heads}
        write_json(path, plan)

    @classmethod
    def load(cls, path: Path) -> PruningPlan:
        """Read what `save` wrote.

        Raises:
            DataError: no such file, or not a plan.
            UsageError: it names something that is not a head.
        """
        try:
            plan = json.loads(path.read_text(encoding="utf-8"))
            if plan["format"] != FORMAT:
                raise DataError(f"{path} is not a plan of format '{FORMAT}'")
            removed = plan["removed"]
            if not isinstance(removed, list):
                raise TypeError
            heads = tuple(Head.parse(text) for text in removed)
            return cls(str(plan["model"]), str(plan["way"]), heads)
        except OSError as error:
            raise DataError(
                f"{path} cannot be read: {system_says(error)}; check the path"
            ) from None
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None
        except ValueError as error:
            raise DataError(f"{path} is not JSON ({error}); restore it") from None
        except (KeyError, TypeError, AttributeError):
            raise DataError(
                f"{path} is not a pruning plan: give the plan.json of a smaller model"
            ) from None

    def check(self, model: str, layout: HeadLayout) -> None:
        """Make sure that the plan can be carried out on a model.

        Args:
            model: its fingerprint.
            layout: its heads.

        Raises:
            UsageError: the plan was made for another model, names heads that this one does
                not have, names one twice, or removes them all.
        """
        if self.model != model:
            raise UsageError(
                f"the plan was made for another model ({self.model[:12]}..., this one is "
                f"{model[:12]}...): make a plan for this one"
            )
        refuse_impossible(self.removed, layout)


def refuse_impossible(removed: Iterable[Head], layout: HeadLayout) -> None:
    """Refuse to remove heads that are not there, one twice, or all.

    Raises:
        UsageError: one of these.
    """
    heads = list(removed)
    for head in heads:
        layout.column_of(head)
    if len(set(heads)) < len(heads):
        twice = next(head for head in heads if heads.count(head) > 1)
        raise UsageError(f"{twice} is to be removed twice: name every head once")
    if heads and len(heads) == len(layout):
        raise UsageError("a model without any head cannot translate: leave at least one head")
