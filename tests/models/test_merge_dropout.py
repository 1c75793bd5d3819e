"""Merge dropout: no dropout is the library's own cut, and random cuts are cuts of the same text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from headcount.models.data.merge_dropout import CutTable, Draws, cut_with_dropout
from headcount.models.data.vocabulary import Vocabulary
from headcount.models.errors import UsageError
from headcount.models.training.order import RecutText, TrainingText

TEXTS = [
    "A brown dog runs over the green grass .",
    "",
    "Zwei junge Frauen laufen; die ältere lächelt nicht .",
    "  two  spaces \t and a tab, 漢字 and 👩‍👩‍👧‍👦",
    "running runner runs, Straße Straßen größer größere",
] * 4
VOCABULARY = Vocabulary.train(TEXTS, "bpe", 320)


def drawn(rate: float, folder: Path, seed: int = 0) -> list[list[int]]:
    table = CutTable.of(TEXTS, VOCABULARY, folder / "words", rate, seed)
    return [ids.tolist() for ids in table.draw(np.random.default_rng(seed))]


def test_without_dropout_the_cut_is_the_librarys(tmp_path: Path):
    assert drawn(0.0, tmp_path) == VOCABULARY.encode_ids(TEXTS)


def test_whatever_is_dropped_the_text_stays(tmp_path: Path):
    cuts = drawn(0.3, tmp_path)
    assert [VOCABULARY.decode(cut) for cut in cuts] == TEXTS
    assert cuts != VOCABULARY.encode_ids(TEXTS)


def test_nearly_everything_dropped_leaves_bytes(tmp_path: Path):
    cuts = drawn(1 - 1e-12, tmp_path)
    assert sum(map(len, cuts)) == sum(len(f" {text}".encode()) for text in TEXTS if text)


def test_the_same_seed_gives_the_same_cuts_and_another_gives_others(tmp_path: Path):
    assert drawn(0.3, tmp_path, seed=1) == drawn(0.3, tmp_path, seed=1)
    assert drawn(0.3, tmp_path, seed=1) != drawn(0.3, tmp_path, seed=2)


def test_the_chances_of_the_cuts_are_those_of_the_algorithm():
    # Bytes 0 1 2 with merges (0, 1) -> 3 of rank 0 and (3, 2) -> 4 of rank 1. The first step
    # merges with 1 - p; the second then with 1 - p. A step at which nothing is left ends it.
    merges = {(0, 1): (0, 3), (3, 2): (1, 4)}
    draws, rate, times = Draws(np.random.default_rng(0)), 0.4, 20_000
    found = Counter(tuple(cut_with_dropout([0, 1, 2], merges, rate, draws)) for _ in range(times))
    expected = {(0, 1, 2): 0.4, (3, 2): 0.6 * 0.4, (4,): 0.6 * 0.6}
    assert found.keys() == expected.keys()
    for cut, chance in expected.items():
        # Four standard errors of a share.
        assert found[cut] / times == pytest.approx(chance, abs=4 * (chance / times) ** 0.5)


def test_a_merge_that_is_left_out_may_be_made_at_a_later_step():
    # (0, 1) is left out at first while (2, 3) is made, and then made after all. Only with a
    # new draw at every step does [4, 5] come more often than both surviving the first.
    merges = {(0, 1): (0, 4), (2, 3): (1, 5)}
    draws, rate, times = Draws(np.random.default_rng(0)), 0.5, 20_000
    found = Counter(
        tuple(cut_with_dropout([0, 1, 2, 3], merges, rate, draws)) for _ in range(times)
    )
    # (0,1) first: 1/2, then (2,3): 1/2. (2,3) first: 1/4, then (0,1): 1/2.
    assert found[(4, 5)] / times == pytest.approx(3 / 8, abs=0.02)


WHOLE = VOCABULARY.encode_ids(TEXTS)


def recut(folder: Path, positions: int = 1000) -> RecutText:
    tables = tuple(
        CutTable.of(TEXTS, VOCABULARY, folder / f"{side}.words", 0.3, 0) for side in range(2)
    )
    lengths = np.array([len(sentence) for sentence in WHOLE])
    plain = TrainingText(WHOLE, WHOLE, lengths, lengths)
    paths = (folder / "source.epoch", folder / "target.epoch")
    return RecutText(plain, 1, tables, paths, (len(VOCABULARY),) * 2, 5, positions)


def read(epoch: int, text: RecutText) -> list[list[int]]:
    """Return the source sentences and behind them the target sentences."""
    of_epoch = text.of_epoch(epoch)
    assert of_epoch.source_lengths.tolist() == [len(of_epoch.source[i]) for i in range(20)]
    return [list(side[i]) for side in (of_epoch.source, of_epoch.target) for i in range(20)]


def test_each_epoch_is_cut_anew_and_an_epoch_again_is_the_same(tmp_path: Path):
    text = recut(tmp_path)
    first, second = read(1, text), read(2, text)
    assert first != second
    assert read(2, recut(tmp_path)) == second
    assert read(1, text) == first
    assert read(0, text) == 2 * WHOLE


def test_a_cut_of_more_tokens_than_there_are_positions_is_not_taken(tmp_path: Path):
    """The longest sentence fits with its EOS as long as all its merges are made."""
    positions = 1 + max(len(sentence) for sentence in WHOLE)
    free, fitting = read(1, recut(tmp_path)), read(1, recut(tmp_path, positions))
    pairs = zip(free, 2 * WHOLE, strict=True)
    assert fitting == [cut if len(cut) < positions else whole for cut, whole in pairs]
    assert fitting != free
    assert fitting != 2 * WHOLE


@pytest.mark.parametrize("kind", ["unigram", "word"])
def test_a_vocabulary_without_merges_is_refused(kind: str, tmp_path: Path):
    with pytest.raises(UsageError, match="kind 'bpe', not"):
        CutTable.of(TEXTS, Vocabulary.train(TEXTS, kind, 300), tmp_path / "words", 0.1, 0)
