"""The benchmark counts what torch counts, and its floor is what the shared work comes to."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headcount.analyses.bench import score
from headcount.analyses.bench.clock import Times, by_turns
from headcount.analyses.bench.flops import forward_cost, leave_one_out_cost, set_cost
from headcount.analyses.bench.memory import PLAIN, can_measure, peak_memory
from headcount.analyses.bench.score import ScoreBenchmark, benchmark_score
from headcount.analyses.bench.subject import LONGEST, Subject
from headcount.models.attention import masked_softmax
from headcount.models.gates import Head
from headcount.models.network import NetworkSettings
from headcount.models.scores import ScaledDot
from headcount.probe.importance import metric
from headcount.probe.leave_one_out import losses_without_each

TINY = NetworkSettings(
    width=16, feed_forward_width=32, encoder_layers=2, decoder_layers=2, heads=4, dropout=0.0
)


@pytest.fixture(scope="module")
def subject() -> Subject:
    return Subject(network=TINY, vocabulary=40, sentences=12, tokens=128)


def multiplications(work) -> int:
    """What torch counts, which is two operations a multiplication."""
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops() // 2


@pytest.mark.parametrize("gone", [[], [Head("cross", 1, 0), Head("encoder", 0, 3)]])
def test_a_forward_costs_what_torch_counts(subject, gone):
    translator = subject.translator.without(gone)
    for batch in subject.batches():
        with torch.no_grad():
            # The explicit path, whose products are all counted.
            counted = multiplications(lambda: translator.capture(batch, attention=True))  # noqa: B023
        assert forward_cost(TINY, translator.layout, 40, batch) == counted


def test_units_that_are_gone_cost_nothing(subject):
    translator = subject.translator
    gone = [translator.network.units.blocks(5)[number] for number in (0, 1, -1)]
    cut = translator.without_units(gone)
    batch = subject.batches()[0]
    with torch.no_grad():
        counted = multiplications(lambda: cut.capture(batch, attention=True))
    assert forward_cost(TINY, cut.layout, 40, batch, cut.network.units) == counted


def in_the_open(query, key, value, visible, causal):
    """Fused attention by products that torch counts."""
    weights = masked_softmax(ScaledDot.explicit(query, key), visible, causal)
    return weights @ value


@pytest.mark.parametrize("place", ["post", "pre"])
def test_leave_one_out_stays_near_its_floor(place, monkeypatch):
    monkeypatch.setattr(ScaledDot, "fused", staticmethod(in_the_open))
    # Preset `small` at a quarter of its width, with a layer less and half of the heads.
    shape = TINY.with_changes(width=64, feed_forward_width=256, norm_place=place)
    subject = Subject(network=shape, vocabulary=1250, sentences=60, tokens=200)
    translator, batch = subject.translator, subject.batches()[-2]
    floor = leave_one_out_cost(shape, translator.layout, 1250, batch)
    counted = multiplications(lambda: losses_without_each(translator, batch))
    # The output projection is done for all heads, and padding is not projected to logits.
    assert 0.95 * floor < counted < 1.05 * floor


def test_the_floor_by_hand(subject):
    shape = NetworkSettings(
        width=2, feed_forward_width=3, encoder_layers=1, decoder_layers=1, heads=2
    )
    batch = subject.batches()[0]
    source, target = batch.source.ids.numel(), batch.target.ids.numel()
    longest = batch.source.ids.shape[1], batch.target.ids.shape[1]
    logits = target * 2 * 10
    output, forward = 2 * 2, 2 * 2 * 3
    encoder = source * (3 * 4 + output + forward + 2 * longest[0] * 2)
    decoder = target * (3 * 4 + output + 2 * longest[1] * 2)
    mixing = target * (4 + 2 * longest[0] * 2)
    cross = source * 2 * 4 + mixing + target * (output + forward)
    assert forward_cost(shape, shape.full_layout(), 10, batch) == (
        encoder + decoder + cross + logits
    )
    # Without an encoder head: half an output projection, feed-forward, all of cross, logits.
    without_encoder_head = source * (output // 2 + forward) + cross + logits
    without_decoder_head = target * output // 2 + mixing + target * (output + forward) + logits
    without_cross_head = target * (output // 2 + forward) + logits
    each = without_encoder_head + without_decoder_head + without_cross_head
    found = leave_one_out_cost(shape, shape.full_layout(), 10, batch)
    assert found == encoder + decoder + cross + logits + 2 * each
    least = set_cost(shape, shape.full_layout(), 10, batch)
    assert least == target * forward + logits


def test_works_are_done_by_turns_and_compared_round_by_round():
    done = []
    times = by_turns({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 2)
    assert done == ["a", "b"] * 3
    assert [len(it) for it in times.of.values()] == [2, 2]
    # The machine was three times slower in the second round, and the ratio does not care.
    assert Times({"a": [1.0, 3.0, 1.2], "b": [2.0, 6.0, 2.4]}).ratio("a", "b") == 0.5


def test_the_subject_is_the_same_for_the_same_seed():
    one, same, other = (Subject(network=TINY, vocabulary=40, seed=seed) for seed in (1, 1, 2))
    assert one.text.fingerprint == same.text.fingerprint != other.text.fingerprint
    assert one.translator.fingerprint == same.translator.fingerprint
    assert len(one.translator.vocabularies["source"]) == 40
    assert all(6 <= len(line.split()) <= 24 for line in one.text.source)
    words = sum(len(line.split()) + 1 for line in one.text.source)  # and EOS
    assert sum(int(batch.source.real.sum()) for batch in one.batches()) == words


def test_every_ratio_is_measured_and_has_its_target():
    subject = Subject(network=TINY.with_changes(heads=1), vocabulary=40, sentences=4)
    settings = ScoreBenchmark(subject=subject, rounds=1, orders=1, memory=())
    heard = []
    result = benchmark_score(settings, lambda *said: heard.append(said))
    rows = result.tables["ratios"].rows
    targets = rows.dropna(subset=["target"]).set_index("what")["target"].to_dict()
    expected = {
        "gradient and Fisher, all heads": 1.1,
        "attention statistics, all together": 1.6,
        "leave-one-out, all heads": 1.1,
        "Shapley values": 0.2,
        "Shapley values, 8 tied orders against 25 independent ones": 0.2,
    }
    if "lrp" in metric:
        expected["LRP, all heads"] = 1.3
    assert targets == expected
    assert (rows["reached"] > 0).all()
    known = rows.dropna(subset=["target"])
    assert (known["met"] == (known["reached"] <= known["target"])).all()
    assert heard[-1] == ("bench", 5, 5)


def test_memory_is_compared_with_the_usual_pass_and_its_growth_with_a_limit(monkeypatch):
    asked = []

    def stand_in(subject, name, member, *, copies):
        asked.append((subject, name, copies))
        return [100 * subject.tokens / 2048] * 3 if name == PLAIN else [140, 150, 170]

    monkeypatch.setattr(score, "peak_memory", stand_in)
    monkeypatch.setattr(score, "can_measure", lambda: True)
    settings = ScoreBenchmark(subject=Subject(network=TINY, vocabulary=40), memory=("gradient",))
    peak, growth = score._memory(settings)
    assert (peak["reached"], peak["target"], peak["met"]) == (1.5, 1.5, True)
    assert "3.73 of a pass in its own batches of 768 tokens" in peak["note"]
    assert (growth["reached"], growth["target"], growth["met"]) == (0.2, 0.05, False)
    # Every text fills a batch of those that read it, however few words its sentences have.
    assert all(copies == score.COPIES for *_, copies in asked)
    assert all(it.sentences * LONGEST > it.tokens for it, *_ in asked)
    assert [it.tokens for it, name, _ in asked if name != PLAIN] == [768]
    assert {it.tokens for it, name, _ in asked if name == PLAIN} == {768, 2048}


@pytest.mark.slow
@pytest.mark.skipif(not can_measure(), reason="this system does not reset peaks of memory")
def test_peak_memory_repeats_and_is_that_of_the_largest_batch_alone():
    # Sentences of one length, so that every batch but the last has the same shape.
    subject = Subject(
        network=TINY, vocabulary=8000, sentences=42, tokens=1000, shortest=LONGEST - 1
    )
    peaks = peak_memory(subject, PLAIN, None, copies=(1, 1, 4))
    logits = 1000 * 8000 * 4  # bytes; the log-probabilities take as many
    assert 1.9 * logits < min(peaks) <= max(peaks) < min(2.5 * logits, 1.03 * min(peaks))
