"""Greedy and beam search against exhaustive search, and the cache against no cache."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor

from headcount.models.batch import Tokens
from headcount.models.decoding import Hypothesis, search
from headcount.models.decoding.beam import beam_search
from headcount.models.decoding.incremental import Prefixes, PreparedDecoder
from headcount.models.decoding.ranking import Rules, best, largest
from headcount.models.errors import DataError, UsageError
from headcount.models.gates import Head
from headcount.models.network import Network, NetworkSettings
from headcount.models.surgery import without_heads
from headcount.models.translator import SearchSettings

PAD, UNK, BOS, EOS = range(4)
MARKS = {"bos": BOS, "eos": EOS, "pad": PAD}
SHAPE = {
    "width": 16,
    "feed_forward_width": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "heads": 4,
    "tie": "none",
    "max_positions": 64,
}


def network_of(vocabulary: int = 40, seed: int = 3, sharpness: float = 2.0, **parts) -> Network:
    """Return a random float64 network whose next tokens depend on source and prefix."""
    settings = NetworkSettings(**{**SHAPE, **parts})
    network = Network(settings, settings.full_layout(), vocabulary, vocabulary).double()
    generator = torch.Generator().manual_seed(seed)
    network.initialise(generator)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith("bias"):
                weight.normal_(0, 0.1, generator=generator)
            elif "attention" in name or "feed_forward" in name:
                weight.mul_(1.5)
        network.output_table.mul_(sharpness)
        network.output_table[EOS].mul_(5)  # now likely, now unlikely: lengths differ
    return network.eval().requires_grad_(False)


def sources(count: int, vocabulary: int = 40, seed: int = 1) -> list[tuple[int, ...]]:
    """Return sentences of 1 to 12 tokens and EOS."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 13, (count,), generator=generator).tolist()
    draw = [torch.randint(4, vocabulary, (n,), generator=generator).tolist() for n in lengths]
    return [(*sentence, EOS) for sentence in draw]


def log_probabilities(
    network: Network, source: tuple[int, ...], target: list[tuple[int, ...]], gates=None
) -> Tensor:
    """Return teacher-forced log P of each of equally long targets  # [target, token]."""
    inputs = [(BOS, *ids[:-1]) for ids in target]
    tokens = Tokens.padded([source] * len(target), PAD, {BOS, EOS})
    memory = network.encode(tokens, gates)
    states = network.decode(Tokens.padded(inputs, PAD, {BOS, EOS}), memory, tokens, gates)
    log_p = network.project(states).log_softmax(-1)  # [target, token, vocabulary]
    return log_p.gather(-1, torch.tensor(target)[..., None])[..., 0]


def exhaustive(network: Network, source: tuple[int, ...], limit: int, alpha: float, gates=None):
    """Return (score, ids, log P) of the best of all sentences of at most `limit` tokens."""
    vocabulary = network.output_table.shape[0]
    allowed = [token for token in range(vocabulary) if token not in (PAD, BOS, EOS)]
    best_found = (float("-inf"), (), 0.0)
    for length in range(limit):
        targets = [(*ids, EOS) for ids in product(allowed, repeat=length)]
        totals = log_probabilities(network, source, targets, gates).sum(1)
        scores = totals / ((5 + length + 1) / 6) ** alpha
        top = int(scores.argmax())
        best_found = max(best_found, (float(scores[top]), targets[top][:-1], float(totals[top])))
    return best_found


def greedy_uncached(network: Network, source: tuple[int, ...], limit: int, gates=None):
    """Return greedy search that computes the whole prefix anew at every step."""
    ids, total = [], 0.0
    tokens = Tokens.padded([source], PAD, {BOS, EOS})
    memory = network.encode(tokens, gates)
    for _ in range(limit):
        prefix = Tokens.padded([(BOS, *ids)], PAD, {BOS, EOS})
        logits = network.project(network.decode(prefix, memory, tokens, gates))[0, -1]
        log_p = logits.log_softmax(-1)
        log_p[[PAD, BOS]] = float("-inf")
        token = int(log_p.argmax())
        total += float(log_p[token])
        if token == EOS:
            return Hypothesis(tuple(ids), total, True)
        ids.append(token)
    return Hypothesis(tuple(ids), total, False)


def same(left: list[Hypothesis], right: list[Hypothesis], tolerance: float = 1e-9) -> None:
    """Assert equal tokens and nearly equal probabilities."""
    assert [(it.ids, it.finished) for it in left] == [(it.ids, it.finished) for it in right]
    for ours, theirs in zip(left, right, strict=True):
        assert ours.log_probability == pytest.approx(theirs.log_probability, abs=tolerance)


@pytest.mark.parametrize("norm_place", ["pre", "post"])
def test_a_beam_that_holds_everything_is_exhaustive_search(norm_place):
    lengths = set()
    for seed, alpha in product(range(6), (-0.5, 1.0, 3.0)):
        network = network_of(7, seed, norm_place=norm_place)
        source = sources(1, 7, seed)[0]
        settings = SearchSettings(beam=320, length_penalty=alpha, max_ratio=0, max_extra=4)
        (found,) = search(network, [source], settings, **MARKS)
        _, ids, log_p = exhaustive(network, source, 4, alpha)
        same([found], [Hypothesis(ids, log_p, True)])
        lengths.add(len(ids))
    assert len(lengths) > 2  # the answer is not always the shortest or the longest


@pytest.mark.parametrize("norm_place", ["pre", "post"])
@pytest.mark.parametrize("sharpness", [0.5, 3.0])
def test_greedy_equals_beam_1_and_no_cache(norm_place, sharpness):
    network = network_of(sharpness=sharpness, norm_place=norm_place)
    source = sources(20)
    settings = SearchSettings(max_ratio=1.0, max_extra=5, log_probability=True)
    found = search(network, source, settings, **MARKS)
    silent = search(network, source, settings.with_changes(log_probability=False), **MARKS)
    assert silent == [replace(it, log_probability=None) for it in found]
    same(found, [greedy_uncached(network, one, len(one) + 5) for one in source])
    rules = Rules(**MARKS, min_tokens=0, length_penalty=1.0)
    tokens = Tokens.padded(source, PAD, {BOS, EOS})
    prefixes = Prefixes(PreparedDecoder(network), network.encode(tokens), tokens, None)
    same(found, beam_search(prefixes, tokens.lengths + 5, rules, 1))
    assert len({it.finished for it in found}) == 2  # both ends of a search are met


@pytest.mark.parametrize("norm_place", ["pre", "post"])
@pytest.mark.parametrize("beam", [2, 5])
def test_log_probability_is_the_networks_own(norm_place, beam):
    network = network_of(norm_place=norm_place)
    settings = SearchSettings(beam=beam, max_ratio=1.0, max_extra=5)
    source = sources(20)
    for one, found in zip(source, search(network, source, settings, **MARKS), strict=True):
        ids = (*found.ids, EOS) if found.finished else found.ids
        expected = float(log_probabilities(network, one, [ids]).sum())
        assert found.log_probability == pytest.approx(expected, abs=1e-9)
        assert len(ids) <= len(one) + 5
        assert found.finished or len(ids) == len(one) + 5


@pytest.mark.parametrize(("beam", "norm_place"), [(1, "pre"), (3, "pre"), (5, "post")])
def test_a_batch_of_1_equals_a_batch_of_64(beam, norm_place):
    network = network_of(norm_place=norm_place)
    source = sources(64)
    together = SearchSettings(beam=beam, max_ratio=1.0, max_extra=4, batch_tokens=10_000)
    alone = together.with_changes(batch_tokens=1)
    some = together.with_changes(batch_tokens=40)
    found = search(network, source, together, **MARKS)
    same(found, search(network, source, alone, **MARKS))
    same(found, search(network, source, some, **MARKS))
    assert len({len(it.ids) for it in found}) > 5


@pytest.mark.parametrize("beam", [1, 3])
def test_threads_change_nothing(beam):
    network = network_of()
    source = sources(30)
    settings = SearchSettings(beam=beam, max_extra=2, batch_tokens=50)
    rows = torch.rand(30, len(network.layout), generator=torch.Generator().manual_seed(2)).double()
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 5):
            torch.set_num_threads(threads)
            found.append(search(network, source, settings, rows, **MARKS))
            assert torch.get_num_threads() == threads
        with pytest.raises(DataError, match="positions for"):
            search(network, [*source, (*[5] * 70, EOS)], settings, **MARKS)
        assert torch.get_num_threads() == 5
    finally:
        torch.set_num_threads(before)
    same(*found)


@pytest.mark.parametrize("beam", [1, 4])
def test_gate_rows_side_by_side_equal_runs_of_their_own(beam):
    network = network_of()
    source = sources(8)
    rows = torch.rand(8, len(network.layout), generator=torch.Generator().manual_seed(2)).double()
    settings = SearchSettings(beam=beam, max_extra=2, batch_tokens=60, log_probability=True)
    found = search(network, source, settings, rows, **MARKS)
    for row, one, theirs in zip(rows, source, found, strict=True):
        same(search(network, [one], settings, row[None], **MARKS), [theirs])
    shared = search(network, source, settings, rows[:1], **MARKS)
    same(shared[:1], found[:1])
    assert [it.ids for it in shared] != [it.ids for it in found]
    if beam == 1:
        same(
            found[:1],
            [greedy_uncached(network, source[0], int(1.5 * len(source[0]) + 2), rows[:1])],
        )


@pytest.mark.parametrize("norm_place", ["pre", "post"])
@pytest.mark.parametrize("beam", [1, 4])
def test_closed_gates_equal_removed_heads(norm_place, beam):
    network = network_of(norm_place=norm_place)
    gone = [head for head in network.layout if (head.layer + 1) * head.head > 2]
    gone += [Head("cross", 0, head) for head in range(3)] + [Head("decoder", 1, 0)]
    gone += [Head("decoder", 1, 1)]
    smaller = without_heads(network, gone).eval()
    assert smaller.layout.ids_at("cross", 0) == ()
    assert smaller.layout.ids_at("decoder", 1) == ()
    gates = network.layout.closing(gone).double()
    settings = SearchSettings(beam=beam, max_extra=2)
    source = sources(10)
    closed = search(network, source, settings, gates, **MARKS)
    same(closed, search(smaller, source, settings, **MARKS))
    rest = smaller.layout.ones(len(source)).double()
    same(closed, search(smaller, source, settings, rest, **MARKS))


def test_the_limit_the_shortest_length_and_the_marks():
    network = network_of(sharpness=4.0)
    with torch.no_grad():
        network.output_table[[PAD, BOS]] = 0  # likelier than most tokens
    source = sources(30)
    for beam in (1, 5):
        settings = SearchSettings(beam=beam, min_tokens=6, max_ratio=0, max_extra=9)
        found = search(network, source, settings, **MARKS)
        assert all(6 <= len(it.ids) <= 9 for it in found)
        assert all(it.finished == (len(it.ids) < 9) for it in found)
        assert not {PAD, BOS, EOS} & {token for it in found for token in it.ids}


def test_sentences_without_tokens_are_empty_translations():
    network = network_of()
    source = [(), (7, 8, EOS), (EOS,)]
    for beam in (1, 3):
        empty, words, also_empty = search(network, source, SearchSettings(beam=beam), **MARKS)
        assert empty == also_empty == Hypothesis((), 0.0, True)
        assert words.ids
    assert search(network, [], SearchSettings(), **MARKS) == []


def test_searching_leaves_the_network_as_it_was():
    network = network_of(dropout=0.5)
    still = search(network, sources(3), SearchSettings(beam=3), **MARKS)
    network.requires_grad_(True).train()
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    strides = [weight.stride() for weight in network.parameters()]
    assert search(network, sources(3), SearchSettings(beam=3), **MARKS) == still
    assert network.training
    assert all(torch.equal(weight, before[name]) for name, weight in network.state_dict().items())
    assert [weight.stride() for weight in network.parameters()] == strides
    assert all(weight.requires_grad for weight in network.parameters())


def test_what_cannot_be_searched_is_refused():
    network = network_of(max_positions=8)
    with pytest.raises(DataError, match="positions for 8"):
        search(network, [(*range(4, 14), EOS)], SearchSettings(), **MARKS)
    (found,) = search(network, [(4, EOS)], SearchSettings(min_tokens=30), **MARKS)
    assert len(found.ids) == 8  # the positions end before the limit
    with pytest.raises(UsageError, match="expected"):
        search(network, sources(3), SearchSettings(), torch.ones(2, 24), **MARKS)


@pytest.mark.parametrize("vocabulary", [64, 192, 1024])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_the_best_of_blocks_are_the_best_of_all(vocabulary, k):
    generator = torch.Generator().manual_seed(vocabulary)
    logits = torch.randn(6, 4, vocabulary, generator=generator)
    logits[1, :, 2:] = float("-inf")
    offsets = torch.randn(6, 4, generator=generator)
    offsets[2, 1:] = float("-inf")
    everything = (logits + offsets[..., None]).flatten(1)
    values, positions = best(logits, offsets, k)
    assert torch.equal(values, everything.topk(k).values)
    assert torch.equal(everything.gather(1, positions), values)
    assert all(len(set(row)) == k for row in positions.tolist())


def test_equal_values_come_in_the_order_of_their_positions():
    logits = torch.zeros(1, 2, 128)
    logits[0, 0, [65, 3]] = 1.0
    logits[0, 1, 5] = 1.0
    _, positions = best(logits, torch.zeros(1, 2), 3)
    assert positions.tolist() == [[3, 65, 133]]


def test_a_changed_weight_is_searched_as_it_is_now():
    network, source = network_of(), sources(4)
    settings = SearchSettings(beam=1, max_extra=8)
    before = search(network, source, settings, **MARKS)
    assert search(network, source, settings, **MARKS) == before
    fresh = network_of(seed=8)
    expected = search(fresh, source, settings, **MARKS)
    assert expected != before
    network.load_state_dict(fresh.state_dict())
    assert search(network, source, settings, **MARKS) == expected


def test_weights_in_training_are_searched_as_they_are_now():
    """A fused optimiser writes in place without raising the count of versions."""
    network = network_of().requires_grad_(True)
    optimiser = torch.optim.AdamW(network.parameters(), lr=0.3, fused=True)
    before = search(network, sources(12), SearchSettings(), **MARKS)
    for weight in network.parameters():
        weight.grad = torch.ones_like(weight)
    optimiser.step()
    after = search(network, sources(12), SearchSettings(), **MARKS)
    assert after == search(copy.deepcopy(network), sources(12), SearchSettings(), **MARKS)
    assert after != before


def test_a_banned_token_keeps_its_share_of_the_probability():
    network, (source,) = network_of(), sources(1)
    limits = {"min_tokens": 3, "max_ratio": 0, "max_extra": 5}
    settings = SearchSettings(log_probability=True).with_changes(**limits)
    (free,) = search(network, [source], settings, **MARKS)
    with torch.no_grad():  # BOS now is by far more probable than what is said first
        network.output_table[BOS] = 20 * network.output_table[free.ids[0]]
    (found,) = search(network, [source], settings, **MARKS)
    assert found.ids[0] == free.ids[0]
    said = (*found.ids, *([EOS] if found.finished else []))
    expected = float(log_probabilities(network, source, [said]).sum())
    assert expected < -100
    assert found.log_probability == pytest.approx(expected, abs=1e-9)


def test_the_largest_is_the_first_of_the_largest():
    draw = torch.Generator().manual_seed(5)
    rows = torch.randint(-3, 4, (50, 192), generator=draw).double()  # many equal values
    values, positions = largest(rows)
    assert values.tolist() == rows.max(1).values.tolist()
    assert positions.tolist() == [row.index(max(row)) for row in rows.tolist()]
