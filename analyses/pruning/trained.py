"""Choosing while the model trains on: L0 gates, exact subsets, group lasso.

The trained model goes on training for a part of its own updates, at a lower learning rate,
with a selector beside it (`models/pruning`). What comes out is the model with its last
weights (or, on request, the one that was given) and the order of its heads. Half-open gates
are left behind, and the heads that go are cut out of the weights.

`l0` takes a price for an open head (lambda, on the scale of `models/pruning/hard_concrete`)
or, with a number of heads, a controller that moves the price until that many are open.
`subset` has the number of open heads for its own. `group_lasso` pulls the weights of whole
heads to zero; it needs a price, and has one order for all numbers.

Where only encoder heads may go, `l0` keeps the decoder's weights as they are, as Voita et al.
2019 (section 6.2) do, so that the decoder cannot take over what encoder heads did.

Updates that choose are worth little to the model that is cut in the end: on a small model a
training of 80 updates with gates gained as much as 15 of fine-tuning. So a choice takes a tenth
of the model's own updates, and more of them belong to what comes after the cut.

Pitfall: the expected number of open gates can be right while most gates are undecided. The
history tells; `undecided` should be near 0 at the end. `l0` needs some 60 updates for that,
`subset` half as many.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

from pydantic import Field

from ...models.errors import UsageError
from ...models.network import Network
from ...models.pruning.controller import Controller, FixedPrice
from ...models.pruning.group_lasso import GroupLasso
from ...models.pruning.hard_concrete import HardConcrete, HardConcreteGates
from ...models.pruning.selector import RECORDS, Selector
from ...models.pruning.subset import SubsetGates
from ...models.training.further import own_network
from .way import Chosen, Task, Way, way


class TrainedWay(Way):
    """A way that trains the model on to choose.

    Args:
        share: updates over those of the model's own training.
        rate: highest learning rate of the weights over that of the model's own training.
        gate_rate: learning rate of the gates, where there are any; None lets them travel 20
            units, there and back again from open to closed, in the updates that there are.
        weights: which are cut: those that were `trained` with the choice, or the model's own
            as they were `given`, to compare choices alone.
        ramp: share of these updates over which heads are closed.
        saves: how often the state is kept, so that a killed choice goes on from there.
    """

    seeded: ClassVar[bool] = True
    trains: ClassVar[bool] = True

    title: ClassVar[str]
    """Names the folder of the training."""

    fastest: ClassVar[float] = 0.2
    """The highest learning rate of gates in a short training."""

    share: float = Field(default=0.1, gt=0)
    rate: float = Field(default=0.3, gt=0)
    gate_rate: float | None = Field(default=None, gt=0)
    weights: Literal["trained", "given"] = "trained"
    ramp: float = Field(default=0.5, gt=0, le=1)
    saves: int = Field(default=4, ge=1)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Train on with a selector, and order the heads by what it found; see `Way.choose`."""
        settings = task.training(self.share, self.rate, saves=self.saves)
        selector = self.selector(own_network(task.translator), task, heads, settings.updates)
        selector.record_every = max(1, settings.updates // RECORDS)
        name = f"{self.title}-{'any' if heads is None else heads}"
        trained = task.train(
            name,
            task.translator,
            settings,
            about=[
                self.model_dump(mode="json"),
                [str(head) for head in task.candidates],
                heads,
            ],
            companion=selector,
            frozen=self.frozen(task),
            keep_last=True,
        )
        order = selector.order(trained.network)
        left = selector.left(trained.network)
        own = self.weights == "trained"
        return Chosen(
            trained if own else task.translator,
            order,
            left,
            tuple(selector.history),
            task.candidates,
            share=self.share if own else 0.0,
        )

    @abstractmethod
    def selector(self, network: Network, task: Task, heads: int | None, updates: int) -> Selector:
        """Return what is trained along.

        Args:
            network: the trained model's.
            heads: candidates that shall be left; None where a price decides.
            updates: of the training.
        """

    def rate_of_gates(self, updates: int) -> float:
        """Return the learning rate of gates that have so many updates to be decided in.

        Adam's steps are about as long as the rate, so a fixed rate would leave gates between
        open and closed when a training is short, and throw them about when it is long.
        """
        return self.gate_rate or min(max(20 / updates, 0.01), self.fastest)

    def frozen(self, task: Task) -> tuple[str, ...]:
        """Return the sides whose weights stay as they are."""
        return ()


@way("l0")
class L0(TrainedWay):
    """Stochastic gates whose expected number is paid for (Louizos 2018, Voita 2019).

    Args:
        price: lambda, in nats a token for all heads together; None lets a controller reach
            the wanted number of heads.
        shape: of the hard-concrete distribution.
        initial: the gates' a at the start, at least 2.5: open, but for a little noise.
        freeze: whether the decoder stays as it is where only encoder heads may go.
    """

    one_order: ClassVar[bool] = False
    title: ClassVar[str] = "l0"

    price: float | None = Field(default=None, gt=0)
    shape: HardConcrete = HardConcrete()
    initial: float = Field(default=3.0, ge=2.5)
    freeze: bool = True

    def selector(self, network: Network, task: Task, heads: int | None, updates: int) -> Selector:
        """Return hard-concrete gates with a fixed price or a controller."""
        total = len(task.candidates)
        if self.price is not None:
            controller: Controller = FixedPrice(self.price)
        elif heads is not None:
            controller = Controller(heads / total, round(updates * self.ramp))
        else:
            raise UsageError("l0 needs a number of heads to reach, or a price (lambda)")
        return HardConcreteGates(
            network.layout,
            task.candidates,
            controller,
            shape=self.shape,
            initial=self.initial,
            learning_rate=self.rate_of_gates(updates),
        )

    def frozen(self, task: Task) -> tuple[str, ...]:
        """Freeze the decoder where only encoder heads may go."""
        only_encoder = all(head.site == "encoder" for head in task.candidates)
        return ("decoder",) if self.freeze and only_encoder else ()


@way("subset")
class Subset(TrainedWay):
    """Gates of which exactly so many are open, drawn by Gumbel top-k (Li et al. 2021).

    Args:
        settle: share of the updates, at the end, in which the set is drawn without noise.
        straight_through: whether the forward takes the hard mask.
    """

    one_order: ClassVar[bool] = False
    title: ClassVar[str] = "subset"
    fastest: ClassVar[float] = 0.6

    settle: float = Field(default=0.25, ge=0, lt=1)
    straight_through: bool = True

    def selector(self, network: Network, task: Task, heads: int | None, updates: int) -> Selector:
        """Return subset gates for the wanted number."""
        if heads is None:
            raise UsageError("subset needs a number of heads to reach")
        return SubsetGates(
            network.layout,
            task.candidates,
            heads,
            updates=updates,
            ramp=round(updates * self.ramp),
            settle=round(updates * self.settle),
            straight_through=self.straight_through,
            learning_rate=self.rate_of_gates(updates),
        )


@way("group_lasso")
class Lasso(TrainedWay):
    """A price on the norm of every head's weights (Behnke & Heafield 2021).

    Args:
        price: lambda, in nats a token for a whole set of untouched heads.
    """

    title: ClassVar[str] = "group_lasso"

    price: float = Field(default=1.0, gt=0)

    def selector(self, network: Network, task: Task, heads: int | None, updates: int) -> Selector:
        """Return the price on norms."""
        return GroupLasso(network, task.candidates, self.price)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Train once, whatever the number; see `Way.choose`."""
        return super().choose(task, None)
