"""The price of an open head, moved until as many are open as were asked for.

The price lambda multiplies the share of heads that are open, so the loss is always
cross-entropy a token + lambda x share, whoever sets lambda. A fixed lambda gives a number of
heads that nobody knows before; a wanted number is reached by a controller with a proportional
and an integral part,

    e_t = share_t - target_t,    lambda_t = P e_t + I sum over i <= t of e_i,

which is dual ascent on the constraint share = target with its quadratic penalty (Platt & Barr
1988; Wang et al. 2020, section 3.3, use the same for sparsity of weights). The target falls in
a straight line from 1 to the wanted share, so that the network can follow, and then stays.
lambda may become negative: a gate that was closed too eagerly is paid to open again.

Adam makes steps of one size whatever the price, so what counts is how soon the price outweighs
the noise of the loss. With P = 10 a training of 80 updates ended with 8 to 10 gates open where
6 were asked for; a larger I shoots past the target (2 open); with P = 100 it ends with 6.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

PROPORTIONAL, INTEGRAL, LARGEST = 100.0, 0.2, 200.0


class Controller(nn.Module):
    """A price that follows a target; its state is saved with the training.

    Args:
        target: the share of the heads that shall be open in the end, 0 to 1.
        ramp: updates over which the target falls from 1 to that.
    """

    price: Tensor
    total: Tensor

    def __init__(self, target: float, ramp: int) -> None:
        super().__init__()
        self.target = target
        self.ramp = max(1, ramp)
        self.register_buffer("price", torch.zeros(()))
        self.register_buffer("total", torch.zeros(()))

    def target_at(self, update: int) -> float:
        """Return the share that shall be open after `update`."""
        return 1 - (1 - self.target) * min(1.0, update / self.ramp)

    def see(self, update: int, share: float) -> None:
        """Set the price for the next update, now that `share` of the heads is open."""
        error = share - self.target_at(update)
        self.total += error
        price = PROPORTIONAL * error + INTEGRAL * self.total
        self.price.copy_(price.clamp(-LARGEST, LARGEST))


class FixedPrice(Controller):
    """A price that stays what it is.

    Args:
        price: lambda, in nats a token for all heads together.
    """

    def __init__(self, price: float) -> None:
        super().__init__(1.0, 1)
        self.price.fill_(price)

    def see(self, update: int, share: float) -> None:
        """Leave the price alone."""
