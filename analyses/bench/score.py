"""Is measuring importance as fast and as small as it can be? Ratios, with what they should be.

| what | measured against | target |
| --- | --- | --- |
| gradient and Fisher of all heads | forward and backward, explicit attention | 1.1 |
| LRP | the same | 1.3 |
| leave-one-out of all heads | its floor (`flops.py`), at the speed of a plain pass | 1.1 |
| Shapley values | captum's sampler, one forward pass a set of heads | 1/5 |
| the same, of equal accuracy | the same, 25 orders | 1/5 |
| all attention statistics together | a forward pass with fused attention | 1.6 |
| peak memory of every metric | that of a plain evaluation pass | 1.5 |
| what three times the sentences add to it | the same | 0.05 |

Every target is a largest ratio. The forward and backward pass goes back to the gates alone,
which is less than a training step and therefore the harder comparison. A plain pass is the
loss of every token without gradients.

What costs a pass a head is measured on one batch of middle length; Shapley values with few
orders on both sides, for time is proportional to orders. The rest is measured on all
sentences. Memory is measured on as many long sentences as fill a batch, since the largest
batch decides, and on three copies of them, to see whether it grows: metrics in their own
batches, the plain pass in those that are usual, and once more in the metrics'.

No sharing brings order for order to a fifth: what the sets of an order differ in reaches the
last layer, so each needs a feed-forward network and logits of its own, which the first row of
the Shapley values says the price of. What can be saved are orders; see `probe/shapley.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ...models.batch import Batch
from ...models.losses import token_cross_entropy
from ...models.settings import Settings
from ...models.transformer import TransformerTranslator
from ...probe.importance import Metric, metric
from ...probe.leave_one_out import losses_without_each
from ...probe.shapley import draw_orders, mean_gains, shapley_by_captum
from ...probe.slopes import open_gates
from ...probe.stream import StreamedMetric, stream
from ..analysis import Progress, silent
from ..provenance import Stopwatch, provenance
from ..result import Column, Result, Table
from .clock import Times, Work, by_turns
from .flops import forward_cost, leave_one_out_cost, set_cost
from .memory import PLAIN, can_measure, peak_memory
from .subject import LONGEST, Subject

RATIOS = (
    Column("what", "text", "what was measured"),
    Column("against", "text", "what it is divided by"),
    Column("reached", "number", "measured ratio; smaller is better"),
    Column("target", "number", "largest ratio that is good enough; empty where it only informs"),
    Column("met", "truth", "whether reached <= target; empty without a target"),
    Column("seconds", "number", "processor time of what was measured", "seconds"),
    Column("note", "text", "how it was measured, where that is not plain"),
)
SLOPES, STATISTICS = ("gradient", "fisher"), ("confidence", "entropy", "attention_norm")
SMALL_BUDGETS: dict[str, dict[str, Any]] = {
    "integrated_gradients": {"steps": 2},
    "shapley": {"permutations": 1, "sentences": None},
    "kernel_shap": {"samples": 128, "sentences": 4},
}
"""Peak memory does not depend on these, and time does."""
COPIES = (1, 1, 3)  # of the text whose memory is measured, one after another


class ScoreBenchmark(Settings):
    """What to measure.

    Args:
        subject: model and text.
        rounds: how often everything is timed, by turns.
        orders: orders of the heads for Shapley values, on both sides.
        memory: metrics whose peak memory is measured; None is all.
    """

    subject: Subject = Subject()
    rounds: int = 3
    orders: int = 2
    memory: tuple[str, ...] | None = None


def benchmark_score(settings: ScoreBenchmark, progress: Progress = silent) -> Result:
    """Measure all ratios, on the CPU.

    Args:
        settings: what to measure.
        progress: hears how far the work has come.
    """
    stopwatch, subject = Stopwatch(), settings.subject
    translator, batches = subject.translator, subject.batches()
    middle = batches[len(batches) // 2]
    rows: list[dict[str, Any]] = []
    parts = (
        ("slopes and relevance", lambda: _slopes(settings, batches)),
        ("attention statistics", lambda: _statistics(settings, batches)),
        ("leave-one-out", lambda: _leave_one_out(settings, middle)),
        ("Shapley values", lambda: _shapley(settings, middle)),
        ("memory", lambda: _memory(settings)),
    )
    for done, (what, part) in enumerate(parts):
        progress(f"bench: {what}", done, len(parts))
        rows += part()
    progress("bench", len(parts), len(parts))
    table = Table.of(
        "Time and memory of the importance metrics, as ratios.",
        RATIOS,
        rows,
        n=f"{subject.sentences} sentences, {settings.rounds} rounds, "
        f"{torch.get_num_threads()} threads",
    )
    origin = provenance(
        stopwatch,
        seed=subject.seed,
        model=translator.fingerprint,
        data={"drawn words": subject.text.fingerprint},
    )
    remarks = (
        "Times are processor seconds, taken by turns; ratios are medians over rounds.",
        *(() if can_measure() else ("This system does not say how much memory was used.",)),
    )
    return Result(
        "bench_score", {"ratios": table}, settings.model_dump(mode="json"), origin, remarks
    )


def _row(
    what: str,
    against: str,
    reached: float,
    target: float | None = None,
    seconds: float | None = None,
    note: str = "",
) -> dict[str, Any]:
    met = None if target is None else reached <= target
    return {
        "what": what,
        "against": against,
        "reached": reached,
        "target": target,
        "met": met,
        "seconds": seconds,
        "note": note,
    }


def _timed(
    times: Times, what: str, against: str, target: float | None = None, note: str = ""
) -> dict[str, Any]:
    """Return the row of two works that are compared directly."""
    return _row(what, against, times.ratio(what, against), target, times.seconds(what), note)


def _slopes(settings: ScoreBenchmark, batches: Sequence[Batch]) -> list[dict[str, Any]]:
    """Compare gradient and relevance with forward and backward."""
    subject = settings.subject
    both, lrp = "gradient and Fisher, all heads", "LRP, all heads"
    against = "forward + backward, explicit attention"

    def passes() -> None:
        for batch in batches:
            _forward_backward(subject.translator, batch)

    works: dict[str, Work] = {
        against: passes,
        both: lambda: stream(_streamed(SLOPES, subject), subject.translator, subject.text),
    }
    if "lrp" in metric:
        member = metric["lrp"](tokens=subject.tokens)
        works[lrp] = lambda: member.scores(subject.translator, subject.text, torch.Generator())
    times = by_turns(works, settings.rounds)
    rows = [_timed(times, both, against, 1.1)]
    return rows + ([_timed(times, lrp, against, 1.3)] if lrp in works else [])


def _statistics(settings: ScoreBenchmark, batches: Sequence[Batch]) -> list[dict[str, Any]]:
    """Compare what reads attention weights with a pass that never forms them."""
    subject = settings.subject
    what, against = "attention statistics, all together", "forward pass, fused attention"
    members = _streamed(STATISTICS, subject)
    works = {
        against: lambda: [_plain(subject.translator, batch) for batch in batches],
        what: lambda: stream(members, subject.translator, subject.text),
    }
    return [_timed(by_turns(works, settings.rounds), what, against, 1.6, ", ".join(STATISTICS))]


def _leave_one_out(settings: ScoreBenchmark, batch: Batch) -> list[dict[str, Any]]:
    """Compare with the floor and with one whole pass a head."""
    translator, shape = settings.subject.translator, settings.subject.network
    what, plain, naive = "leave-one-out, all heads", "plain pass", "one whole pass a head"
    works = {
        plain: lambda: _plain(translator, batch),
        naive: lambda: [
            _plain(translator, batch, mask[None]) for mask in translator.layout.each_closed()
        ],
        what: lambda: losses_without_each(translator, batch),
        "plain pass again": lambda: _plain(translator, batch),
    }
    times = by_turns(works, settings.rounds, warm_up=False)
    sizes = (shape, translator.layout, len(translator.vocabularies["target"]), batch)
    floor = leave_one_out_cost(*sizes) / forward_cost(*sizes)  # forward passes
    heads = len(translator.layout)
    reached = times.ratio(what, naive) * heads / floor
    counted = f"floor: {floor:.1f} passes for {heads} heads, {floor / heads:.3f} a head"
    return [
        _row(what, "its floor, by multiplications", reached, 1.1, times.seconds(what), counted),
        _timed(times, what, naive),
    ]


def _shapley(settings: ScoreBenchmark, batch: Batch) -> list[dict[str, Any]]:
    """Compare with captum on the same orders."""
    translator = settings.subject.translator
    generator = torch.Generator().manual_seed(settings.subject.seed)
    orders = draw_orders(len(translator.layout), settings.orders, generator, tied=True)
    what, against = "Shapley values", "captum, one forward pass a set"
    works = {
        against: lambda: shapley_by_captum(translator, batch, orders),
        what: lambda: mean_gains(translator, batch, orders),
    }
    times = by_turns(works, settings.rounds, warm_up=False)
    sizes = (settings.subject.network, translator.layout, len(translator.vocabularies["target"]))
    least = set_cost(*sizes, batch) / forward_cost(*sizes, batch)  # forward passes
    note = f"{settings.orders} orders on both sides; whatever is shared, a set needs {least:.2f}"
    equal = "Shapley values, 8 tied orders against 25 independent ones"
    reached = times.ratio(what, against)
    why = "from the row above; 8 tied ones, the default, are as accurate, see probe/shapley.py"
    return [
        _timed(times, what, against, 0.2, note),
        _row(equal, against, reached * 8 / 25, 0.2, note=why),
    ]


def _memory(settings: ScoreBenchmark) -> Iterator[dict[str, Any]]:
    """Compare every metric's peak with a plain pass, and with itself on more sentences."""
    if not can_measure():
        return
    chosen = metric if settings.memory is None else settings.memory
    members = {name: metric[name].from_dict(SMALL_BUDGETS.get(name, {})) for name in chosen}
    passes = {settings.subject.tokens, *(it.tokens for it in members.values())}
    plain = {tokens: max(_peaks(settings, PLAIN, None, tokens)) for tokens in passes}
    usual = plain[settings.subject.tokens]
    for name, member in members.items():
        first, again, more = _peaks(settings, name, member, member.tokens)
        note = (
            f"{first / 2**20:.1f} MiB, {again / 2**20:.1f} when repeated; "
            f"{first / plain[member.tokens]:.2f} of a pass in its own batches of "
            f"{member.tokens:,} tokens"
        )
        yield _row(f"peak memory, {name}", PLAIN, max(first, again) / usual, 1.5, note=note)
        what = f"what {COPIES[-1]} times the sentences add to it, {name}"
        yield _row(what, PLAIN, (more - max(first, again)) / usual, 0.05)


def _peaks(settings: ScoreBenchmark, name: str, member: Metric | None, tokens: int) -> list[int]:
    """Return peaks in bytes on long sentences that fill a batch of `tokens`  # [copies]."""
    filling = settings.subject.with_changes(
        tokens=tokens, sentences=tokens // LONGEST + 1, shortest=LONGEST - 1
    )
    return peak_memory(filling, name, member, copies=COPIES)


def _streamed(names: Sequence[str], subject: Subject) -> dict[str, StreamedMetric]:
    members: dict[str, Metric] = {name: metric[name](tokens=subject.tokens) for name in names}
    return {name: it for name, it in members.items() if isinstance(it, StreamedMetric)}


@torch.no_grad()
def _plain(
    translator: TransformerTranslator, batch: Batch, gates: torch.Tensor | None = None
) -> None:
    translator.token_losses(batch, gates).cpu()


def _forward_backward(translator: TransformerTranslator, batch: Batch) -> None:
    gates = open_gates(translator.layout, len(batch)).requires_grad_()
    logits = translator.capture(batch, gates, attention=True).logits
    losses = token_cross_entropy(logits, batch.labels.ids, batch.labels.real)
    torch.autograd.grad(losses.sum(), gates)
