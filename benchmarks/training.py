"""The training step beside a lean torch.nn.Transformer loop and HuggingFace Marian.

    python benchmarks/training.py [--precision float32|bfloat16] [--rounds 7]

All contestants have width 256, 3 + 3 layers, 8 heads, a feed-forward width of 1,024, one tied
table of 8,000 entries, dropout 0.1 after every sublayer and label smoothing 0.1, and make the
same updates (AdamW, clipped gradients) on the same batches of 4,096 padded target tokens.
Ours has its gates in place: they are multiplied with every head's output. Rounds are
interleaved, so that whatever else the machine does hits all alike; the medians are compared.
Marian needs `pip install transformers` and is left out without it.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headcount.models.batch import Batch
from headcount.models.data.batching import collate
from headcount.models.network import Network, NetworkSettings
from headcount.models.training.objective import Objective

WIDTH, INNER, LAYERS, HEADS, VOCABULARY = 256, 1024, 3, 8, 8000
DROPOUT, SMOOTHING, TOKENS = 0.1, 0.1, 4096

Loss = Callable[[Batch], Tensor]


def batches(count: int) -> list[Batch]:
    """Return batches of sentences of nearly equal lengths, as sorting by length makes them."""
    random = np.random.default_rng(0)
    made = []
    for longest in random.integers(10, 24, count):
        sentences = TOKENS // int(longest + 1)
        lengths = longest - random.integers(0, 2, sentences)
        ids = [random.integers(4, VOCABULARY, length) for length in lengths]
        made.append(collate(ids, ids, range(sentences)))
    return made


def ours(precision: str) -> tuple[nn.Module, Loss]:
    """Return this project's network, gated, with its training loss."""
    settings = NetworkSettings(width=WIDTH, feed_forward_width=INNER, dropout=DROPOUT)
    network = Network(settings, settings.full_layout(), VOCABULARY, VOCABULARY)
    network.initialise(torch.Generator().manual_seed(0))
    gates = network.layout.ones()
    forward = network.forward
    network.forward = lambda batch: forward(batch, gates)  # type: ignore[method-assign]
    objective = Objective(network, SMOOTHING, precision)
    return network, lambda batch: objective(batch)[0] / batch.labels.real.sum()


class LeanTransformer(nn.Module):
    """What one writes in an afternoon around torch.nn.Transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, WIDTH)
        nn.init.normal_(self.table.weight, std=WIDTH**-0.5)
        self.transformer = nn.Transformer(
            WIDTH, HEADS, LAYERS, LAYERS, INNER, DROPOUT, batch_first=True
        )
        self.dropout = nn.Dropout(DROPOUT)
        angle = torch.arange(512)[:, None] * torch.exp(
            -math.log(1e4) * torch.arange(0, WIDTH, 2) / WIDTH
        )
        self.register_buffer("positions", torch.stack((angle.sin(), angle.cos()), -1).flatten(1))

    def embed(self, ids: Tensor) -> Tensor:
        """Return what enters the first layer."""
        return self.dropout(self.table(ids) * WIDTH**0.5 + self.positions[: ids.shape[1]])

    def forward(self, batch: Batch) -> Tensor:
        """Return logits."""
        length = batch.target.ids.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        states = self.transformer(
            self.embed(batch.source.ids),
            self.embed(batch.target.ids),
            tgt_mask=causal,
            src_key_padding_mask=~batch.source.real,
            tgt_key_padding_mask=~batch.target.real,
            memory_key_padding_mask=~batch.source.real,
            tgt_is_causal=True,
        )
        return F.linear(states, self.table.weight)


def lean(precision: str) -> tuple[nn.Module, Loss]:
    """Return the lean loop's model and loss."""
    model = LeanTransformer()
    return model, _cross_entropy(model, precision)


def marian(precision: str, attention: str) -> tuple[nn.Module, Loss]:
    """Return HuggingFace Marian of the same shape."""
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=WIDTH,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=INNER,
        decoder_ffn_dim=INNER,
        dropout=DROPOUT,
        attention_dropout=0.0,
        activation_dropout=0.0,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=0,
        eos_token_id=3,
        decoder_start_token_id=2,
        forced_eos_token_id=3,
        max_position_embeddings=512,
        use_cache=False,
    )
    config._attn_implementation = attention
    model = MarianMTModel(config)

    def logits(batch: Batch) -> Tensor:
        return model(
            input_ids=batch.source.ids,
            attention_mask=batch.source.real.long(),
            decoder_input_ids=batch.target.ids,
            decoder_attention_mask=batch.target.real.long(),
        ).logits

    return model, _cross_entropy(logits, precision)


def _cross_entropy(logits_of: Callable[[Batch], Tensor], precision: str) -> Loss:
    def loss(batch: Batch) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            logits = logits_of(batch)
        labels = batch.labels.ids.masked_fill(~batch.labels.real, -100).flatten()
        return F.cross_entropy(logits.float().flatten(0, 1), labels, label_smoothing=SMOOTHING)

    return loss


def step(model: nn.Module, loss: Loss, optimiser: torch.optim.Optimizer, batch: Batch) -> float:
    """Make one update and return target tokens a second."""
    started = time.perf_counter()
    loss(batch).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    return float(batch.labels.real.sum()) / (time.perf_counter() - started)


def main() -> None:
    """Print the median speed of every contestant and the ratio to the best peer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", choices=["float32", "bfloat16"], nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for precision in arguments.precision or ["float32", "bfloat16"]:
        contest(precision, arguments.rounds)


def contest(precision: str, rounds: int) -> None:
    """Run interleaved rounds in one precision and print the outcome."""
    contestants = {"headcount": ours(precision), "torch.nn.Transformer": lean(precision)}
    try:
        for attention in ("sdpa", "eager"):
            contestants[f"Marian, {attention}"] = marian(precision, attention)
    except ImportError:
        print("transformers is not installed: Marian is left out")
    made = {
        name: (model.train(), loss, torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True))
        for name, (model, loss) in contestants.items()
    }
    speeds: dict[str, list[float]] = {name: [] for name in made}
    for number, batch in enumerate(batches(rounds + 1)):
        for name, contestant in made.items():
            speed = step(*contestant, batch)
            if number:  # the first round warms up
                speeds[name].append(speed)
    best = max(statistics.median(them) for name, them in speeds.items() if name != "headcount")
    for name, them in speeds.items():
        median = statistics.median(them)
        print(f"{precision:9} {name:22} {median:8,.0f} tokens/s  {median / best:5.2f} x best peer")


if __name__ == "__main__":
    main()
