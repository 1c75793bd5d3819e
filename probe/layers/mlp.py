"""A probe with one hidden layer: how much of the answer is there, but not linearly.

    p(label | h) = softmax(W_2 relu(W_1 h + b_1) + b_2)

It is a check of sensitivity, not the measure: it has a seed, it stops by validation instead of
converging, and it can learn word types by heart, so its control accuracy is high and its
selectivity low (Hewitt & Liang 2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...models.settings import Settings
from .examples import Numbers
from .features import Features
from .stacked import ABSENT, one_thread


class MlpSettings(Settings):
    """Shape and training of the probe.

    Args:
        hidden: units of the hidden layer.
        rate: learning rate of Adam.
        decay: weight decay (AdamW).
        batch: examples a step.
        epochs: at most.
        patience: epochs without a better validation loss before the best is taken.
    """

    hidden: int = 128
    rate: float = 3e-3
    decay: float = 1e-2
    batch: int = 256
    epochs: int = 40
    patience: int = 3


@dataclass(frozen=True)
class MlpProbe:
    """A trained probe.

    Args:
        network: states to logits.
        epochs: until the best validation loss.
        validation: mean bits a label there.
    """

    network: nn.Module
    epochs: int
    validation: float

    def predict(self, features: Features, labels: Numbers) -> tuple[Numbers, NDArray[np.float64]]:
        """Return predicted classes and -log2 p(label), NaN without a label  # each [example]."""
        with one_thread(), torch.no_grad():
            logs = torch.cat([self.network(block).log_softmax(1) for block in features.blocks()])
        gold = torch.from_numpy(labels)
        cost = -logs.double().gather(1, gold.clamp(min=0)[:, None]).squeeze(1) / np.log(2)
        return logs.argmax(1).numpy(), cost.masked_fill(gold < 0, float("nan")).numpy()


def fit_mlp(
    train: Features,
    valid: Features,
    labels: tuple[Numbers, Numbers],
    classes: int,
    generator: torch.Generator,
    settings: MlpSettings = MlpSettings(),
) -> MlpProbe:
    """Train until the validation loss no longer falls.

    Args:
        train, valid: standardised; one matrix of states is held in memory.
        labels: of the training and of the validation rows; -1: no example  # each [example]
        classes: how many classes.
        generator: initial weights and order.
    """
    chosen = np.flatnonzero(labels[0] != ABSENT)
    rows = torch.from_numpy(train.select(chosen).whole())  # [example, feature]
    gold = torch.from_numpy(labels[0][chosen])  # [example]
    network = nn.Sequential(
        nn.Linear(rows.shape[1], settings.hidden), nn.ReLU(), nn.Linear(settings.hidden, classes)
    )
    for weight in network.parameters():
        bound = rows.shape[1] ** -0.5
        with torch.no_grad():
            weight.copy_(torch.rand(weight.shape, generator=generator) * 2 * bound - bound)
    adam = torch.optim.AdamW(network.parameters(), settings.rate, weight_decay=settings.decay)
    best, kept = MlpProbe(network, 0, float("inf")), _weights(network)
    with one_thread():
        for epoch in range(1, settings.epochs + 1):
            for part in torch.randperm(len(rows), generator=generator).split(settings.batch):
                adam.zero_grad()
                nn.functional.cross_entropy(network(rows[part]), gold[part]).backward()
                adam.step()
            loss = float(np.nanmean(best.predict(valid, labels[1])[1]))
            if loss < best.validation:
                best, kept = MlpProbe(network, epoch, loss), _weights(network)
            elif epoch >= best.epochs + settings.patience:
                break
    network.load_state_dict(kept)
    return best


def _weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in network.state_dict().items()}
