"""Batches: everything once, within the budget, little padding, the same from the same state."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.models.data.batching import collate, length_batches, padding_share
from headcount.models.errors import UsageError

LENGTHS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=120)


def as_lists(batches: list[np.ndarray]) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


@given(LENGTHS, st.integers(1, 200), st.integers(1, 60), st.none() | st.integers(0, 9))
@settings(max_examples=300, deadline=None)
def test_everything_once_and_within_the_budget(
    lengths: list[tuple[int, int]], tokens: int, bucket: int, seed: int | None
) -> None:
    source, target = [s for s, _ in lengths], [t for _, t in lengths]
    generator = None if seed is None else np.random.default_rng(seed)
    batches = length_batches(source, target, tokens, generator, bucket=bucket)
    assert sorted(i for batch in as_lists(batches) for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(max(source[i], target[i]) + 1 for i in batch)  # EOS counts
        assert len(batch) == 1 or longest * len(batch) <= tokens


def test_the_budget_holds_for_the_padded_tensors() -> None:
    random = np.random.default_rng(1)
    source = [random.integers(4, 99, n).tolist() for n in random.integers(1, 30, 200)]
    target = [random.integers(4, 99, n).tolist() for n in random.integers(1, 30, 200)]
    lengths = [[len(ids) for ids in side] for side in (source, target)]
    for batch in length_batches(*lengths, 128, random):
        padded = collate(source, target, batch)
        sides = (padded.source, padded.target, padded.labels)
        assert max(side.ids.numel() for side in sides) <= 128


def test_no_batch_could_take_its_neighbour() -> None:
    lengths = np.random.default_rng(0).integers(1, 40, 500)
    batches = length_batches(lengths, lengths, 256)
    for batch, following in pairwise(batches):
        assert (lengths[following[0]] + 1) * (len(batch) + 1) > 256


def test_a_pair_longer_than_the_budget_stands_alone() -> None:
    batches = as_lists(length_batches([3, 500, 3, 2], [3, 3, 400, 2], 20))
    assert [1] in batches
    assert [2] in batches
    assert [3, 0] in batches


def test_without_generator_from_short_to_long() -> None:
    assert as_lists(length_batches([5, 1, 3], [5, 1, 3], 6)) == [[1], [2], [0]]
    assert as_lists(length_batches([], [], 6)) == []


def test_order_comes_from_the_generator_alone() -> None:
    lengths = np.random.default_rng(0).integers(1, 40, 300)

    def epoch(generator: np.random.Generator) -> list[list[int]]:
        return as_lists(length_batches(lengths, lengths, 200, generator, bucket=100))

    generator = np.random.default_rng(7)
    first, state = epoch(generator), generator.bit_generator.state
    second = epoch(generator)
    assert first != second
    restored = np.random.default_rng()
    restored.bit_generator.state = state
    assert epoch(restored) == second
    assert epoch(np.random.default_rng(7)) == first
    assert epoch(np.random.default_rng(8)) != first


def test_who_meets_whom_changes_with_the_epoch() -> None:
    same = np.full(100, 9)
    generator = np.random.default_rng(0)
    epochs = [
        {frozenset(batch) for batch in as_lists(length_batches(same, same, 100, generator))}
        for _ in range(2)
    ]
    assert len(epochs[0] & epochs[1]) == 0


def caption_lengths() -> tuple[np.ndarray, np.ndarray]:
    """Return lengths like those of 29,000 image captions."""
    random = np.random.default_rng(0)
    source = np.clip(random.gamma(10, 1.45, 29_000), 3, 48).astype(int)
    target = np.clip(source + random.normal(0.5, 2.5, 29_000), 2, 53).astype(int)
    return source, target


def test_padding_is_small() -> None:
    source, target = caption_lengths()
    batches = length_batches(source, target, 2048, np.random.default_rng(0))
    assert padding_share(batches, source, target) < 0.05
    shuffled = np.array_split(np.random.default_rng(0).permutation(29_000), len(batches))
    assert padding_share(shuffled, source, target) > 0.4


def test_padding_share_by_hand() -> None:
    # With EOS, lengths 2 and 4 fill 6 of 8 places; the other batch has 3 of 3.
    assert padding_share([np.array([0, 1]), np.array([2])], [1, 3, 2]) == pytest.approx(2 / 11)
    assert padding_share([], [1]) == 0


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="2 source lengths but 1"):
        length_batches([1, 2], [1], 10)
    with pytest.raises(UsageError, match="at least 1"):
        length_batches([1], [1], 0)


def test_collate_by_hand() -> None:
    source = [[10], [11, 12, 13]]
    target = [np.array([20, 21], dtype=np.uint16), np.array([22], dtype=np.uint16)]
    batch = collate(source, target, [1, 0])
    assert batch.source.ids.tolist() == [[11, 12, 13, 3], [10, 3, 0, 0]]
    assert batch.target.ids.tolist() == [[2, 22, 0], [2, 20, 21]]
    assert batch.labels.ids.tolist() == [[22, 3, 0], [20, 21, 3]]
    assert batch.source.real.tolist() == [[True] * 4, [True, True, False, False]]
    assert batch.target.ordinary.tolist() == [[False, True, False], [False, True, True]]
    assert batch.labels.ordinary.tolist() == [[True, False, False], [True, True, False]]
    assert batch.indices.tolist() == [1, 0]
    assert batch.source.ids.dtype == torch.long


def test_collate_with_the_special_ids_of_another_model() -> None:
    batch = collate([[10]], [[20, 21]], np.array([0]), pad=99, bos=50, eos=51)
    assert batch.source.ids.tolist() == [[10, 51]]
    assert batch.target.ids.tolist() == [[50, 20, 21]]
    assert batch.labels.ids.tolist() == [[20, 21, 51]]


def test_recurring_sizes_are_few_and_lose_nothing():
    random = np.random.default_rng(1)
    source, target = random.integers(5, 30, (2, 20_000))

    def sizes(recurring: bool) -> set[int]:
        generator = np.random.default_rng(0)
        batches = length_batches(source, target, 2048, generator, recurring=recurring)
        assert sorted(np.concatenate(batches)) == list(range(20_000))
        return {
            len(batch) * int(side[batch].max() + 1)
            for batch in batches
            for side in (source, target)
        }

    assert len(sizes(True)) <= 66  # multiples of 32 up to 2,048, and the rest of the bucket
    assert len(sizes(False)) > 150
