"""How small a model shall be.

A goal is a number of heads, a share of them, a price for a head, a loss of BLEU that is
allowed, or a gain of speed. It counts heads of the sites that may be pruned; heads of the
other sites all stay. `search` finds the model that meets it.

A loss is allowed when the upper bound of its interval (95 %, paired bootstrap) is inside, or,
on request, when its mean is: a bound that is inside needs more sentences or fewer removals,
and then means what it says.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from ...models.errors import UsageError, did_you_mean
from ...models.gates import SITES, Head, HeadLayout
from ...models.pruning.plan import PruningPlan
from ...models.quality import Difference
from ...models.settings import Settings
from ...probe.importance import metric
from .importance import ByImportance
from .way import Chosen, Task, Way, fewest, way


class Goal(Settings):
    """How small the model shall be.

    Args:
        heads: heads that shall be left at the sites.
        keep: the share of their heads that shall be left.
        max_bleu_loss: BLEU points that may be lost against the whole model.
        speedup: how many times as fast as the whole model it shall decode.
        by: what of the loss has to be inside: the upper `bound` of its interval, or its `mean`.
        sites: where heads may go.
    """

    heads: int | None = Field(default=None, ge=0)
    keep: float | None = Field(default=None, ge=0, le=1)
    max_bleu_loss: float | None = Field(default=None, ge=0)
    speedup: float | None = Field(default=None, gt=1)
    by: Literal["bound", "mean"] = "bound"
    sites: tuple[str, ...] = SITES

    @model_validator(mode="after")
    def _sites_exist(self) -> Goal:
        for site in self.sites:
            if site not in SITES:
                raise UsageError(f"unknown site '{site}'" + did_you_mean(site, SITES))
        if sum(it is not None for it in (self.heads, self.keep, self.speedup)) > 1:
            raise UsageError("give a number of heads, a share of them, or a speedup: one of them")
        return self

    def candidates(self, layout: HeadLayout) -> tuple[Head, ...]:
        """Return the heads that may go.

        Raises:
            UsageError: the sites have no heads.
        """
        heads = tuple(head for head in layout if head.site in self.sites)
        if not heads:
            raise UsageError(f"the model has no heads at {', '.join(self.sites)} to remove")
        return heads

    def count(self, layout: HeadLayout) -> int | None:
        """Return the number of heads that shall be left at the sites; None where it is open.

        Raises:
            UsageError: as many heads as there are or more, or none in the whole model.
        """
        total = len(self.candidates(layout))
        if self.heads is None and self.keep is None:
            return None
        wanted = self.heads if self.heads is not None else round(total * (self.keep or 0))
        if wanted > total:
            raise UsageError(f"{wanted} heads cannot be left of {total}: ask for less than {total}")
        if wanted < fewest(layout, total):
            raise UsageError("a model without any head cannot translate: leave at least one head")
        if wanted == total:
            raise UsageError(f"{self.where}all {total} heads would stay: ask for fewer")
        return wanted

    @property
    def where(self) -> str:
        """Name the sites in front of a number of heads, where not all may lose some."""
        return "" if set(self.sites) == set(SITES) else f"at {' and '.join(self.sites)}, "

    def allows(self, loss: Difference) -> bool:
        """Say whether a loss of BLEU (a negative difference) is within what is allowed."""
        if self.max_bleu_loss is None:
            return True
        worst = loss.low if self.by == "bound" else loss.difference
        return -worst <= self.max_bleu_loss


def way_of(name: str, options: dict[str, Any]) -> Way:
    """Return the way of a name; the name of a metric means its order of importance.

    Raises:
        UsageError: neither, or an option that the way does not have.
    """
    if name in way:
        return way[name].from_dict(options, f"way {name}")
    if name in metric:
        return ByImportance.from_dict({"metric": name, **options}, f"way {name}")
    raise UsageError(f"unknown way '{name}'" + did_you_mean(name, {*way, *metric}))


class Planned(Way):
    """The heads of a plan go, and no others."""

    removed: tuple[Head, ...]

    @classmethod
    def by(cls, plan: PruningPlan) -> Planned:
        """Return the way that follows a plan."""
        return cls(removed=plan.removed)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Put the heads of the plan in front; see `Way.choose`."""
        rest = tuple(head for head in task.candidates if head not in self.removed)
        return Chosen(task.translator, (*self.removed, *rest))
