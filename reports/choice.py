"""How many heads are enough: the rule behind the first sentence of the page.

For one removal order, a head count is enough if the whole 95 % interval of its loss of BLEU
against the whole model (paired bootstrap on the same sentences) stays within the loss that
is allowed, and if the same holds for every larger count that was measured. This is a test of
non-inferiority: an interval that merely touches the whole model's would reward a small test
set, whose intervals are wide. The second condition keeps a lucky dip from being chosen.

Of all orders, the one that gets by with the fewest heads is taken; of equals, the higher
BLEU. A model that does not translate gives no answer: what heads does nothing need? That is a
model below 10 BLEU, which Google's guide to the score calls almost useless
(cloud.google.com/translate/automl/docs/evaluate), or one that would be allowed to lose
everything, because its BLEU is no higher than the allowed loss. Pitfall: the order is chosen on
the sentences that the BLEU is measured on, so the loss of the winner is slightly flattered; the
page says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

RANDOM = "random"
LEAST = 10.0
"""BLEU below which a model does not translate, and a number of heads would mean nothing."""


@dataclass(frozen=True)
class Choice:
    """The smallest model within the allowed loss.

    Args:
        allowed_loss: BLEU points.
        whole: the row of `prune/curve` of the whole model.
        chosen: the row of the smallest model, or None if no smaller one is good enough.
        nearest: the row of the smaller model that surely loses least, or None if there is none.
        orders: how many removal orders were compared.
    """

    allowed_loss: float
    whole: pd.Series
    chosen: pd.Series | None
    nearest: pd.Series | None
    orders: int

    @property
    def vacuous(self) -> bool:
        """Whether the whole model translates too badly for the question to have an answer."""
        return not self.whole["bleu"] > max(LEAST, self.allowed_loss)


def smallest_within(curve: pd.DataFrame, allowed_loss: float) -> Choice | None:
    """Apply the rule above to `prune/curve`.

    Args:
        curve: the rows of `prune/curve`; random orders are not candidates.
        allowed_loss: BLEU points, at least 0.

    Returns:
        The choice, or None where no order but random ones was measured.
    """
    ordered = curve[curve["order"] != RANDOM]
    if ordered.empty:
        return None
    most = ordered["heads_left"].max()
    whole = ordered[ordered["heads_left"] == most].iloc[0]
    smaller = ordered[(ordered["heads_left"] < most) & ordered["difference_low"].notna()]
    nearest = None if smaller.empty else smaller.loc[smaller["difference_low"].idxmax()]
    choice = Choice(allowed_loss, whole, None, nearest, ordered["order"].nunique())
    if choice.vacuous:
        return choice
    best: pd.Series | None = None
    for _, rows in ordered.groupby("order", sort=False):
        reached = _last_within(rows[rows["heads_left"] < most], allowed_loss)
        if reached is not None and (best is None or _better(reached, best)):
            best = reached
    return replace(choice, chosen=best)


def _last_within(rows: pd.DataFrame, allowed_loss: float) -> pd.Series | None:
    """Walk down from the most heads and return the last row before the loss is too large."""
    reached = None
    for _, row in rows.sort_values("heads_left", ascending=False).iterrows():
        # A bound that was not measured is NaN, and NaN is within nothing.
        if not row["difference_low"] >= -allowed_loss:
            break
        reached = row
    return reached


def _better(row: pd.Series, best: pd.Series) -> bool:
    """Say whether `row` has fewer heads than `best`, or as many and more BLEU."""
    return (row["heads_left"], -row["bleu"]) < (best["heads_left"], -best["bleu"])
