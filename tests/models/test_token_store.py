"""Token stores: what is written comes back, in parts, and damage is noticed."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.models.data.batching import collate, length_batches
from headcount.models.data.token_store import HEADER_BYTES, TokenStore
from headcount.models.errors import DataError

SENTENCES = [[4, 5, 6], [], [7], [65_535, 4]]


def built(folder: Path, size: int = 65_536) -> TokenStore:
    return TokenStore.build(folder / "a.tokens", SENTENCES, vocabulary_size=size, fingerprint="f")


@pytest.mark.parametrize(("size", "dtype"), [(65_536, np.uint16), (65_537, np.uint32)])
def test_what_was_written_comes_back(tmp_path: Path, size: int, dtype: type) -> None:
    store = built(tmp_path, size)
    again = TokenStore.open(store.path)
    for opened in (store, again):
        assert [opened[i].tolist() for i in range(len(opened))] == SENTENCES
        assert opened[-1].tolist() == SENTENCES[-1]
        assert opened[0].dtype == dtype
        assert opened.lengths.tolist() == [3, 0, 1, 2]
        assert opened.fingerprint == "f"
    with pytest.raises(IndexError):
        store[4]
    with pytest.raises(ValueError, match="read-only"):
        store[0][0] = 1


@given(sentences=st.lists(st.lists(st.integers(0, 2**17 - 1))))
@settings(max_examples=40, deadline=None)
def test_any_sentences_come_back(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tokens"
    TokenStore.build(path, iter(sentences), vocabulary_size=2**17)
    store = TokenStore.open(path)
    assert [ids.tolist() for ids in store] == sentences


def test_batches_come_out_of_a_store(tmp_path: Path) -> None:
    store = built(tmp_path)
    batches = length_batches(store.lengths, store.lengths, 8)
    assert sorted(i for batch in batches for i in batch.tolist()) == [0, 1, 2, 3]
    batch = collate(store, store, [3, 2])
    assert batch.labels.ids.tolist() == [[65_535, 4, 3], [7, 3, 0]]


def test_pickling_carries_the_path_only(tmp_path: Path) -> None:
    store = TokenStore.build(tmp_path / "a", [[5] * 10_000], vocabulary_size=10)
    pickled = pickle.dumps(store)
    assert len(pickled) < 1000
    assert pickle.loads(pickled)[0].tolist() == [5] * 10_000


@pytest.mark.parametrize("wrong", [-1, 10, 2**40])
def test_an_id_outside_the_vocabulary_leaves_nothing(tmp_path: Path, wrong: int) -> None:
    with pytest.raises(DataError, match="sentence 2 has a token id outside the vocabulary of 10"):
        TokenStore.build(tmp_path / "a", [[1], [2, wrong]], vocabulary_size=10)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_build_keeps_the_old_store(tmp_path: Path) -> None:
    store = built(tmp_path)

    def breaks() -> Iterator[list[int]]:
        yield [4]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TokenStore.build(store.path, breaks(), vocabulary_size=10)
    assert list(tmp_path.iterdir()) == [store.path]
    assert TokenStore.open(store.path)[0].tolist() == [4, 5, 6]


def test_damage_is_noticed(tmp_path: Path) -> None:
    path = built(tmp_path).path
    whole = path.read_bytes()

    def refusal(content: bytes, *, verify: bool = True) -> str:
        path.write_bytes(content)
        with pytest.raises(DataError) as caught:
            TokenStore.open(path, verify=verify)
        return str(caught.value)

    for length in (HEADER_BYTES + 3, len(whole) - 1):
        assert "bytes where" in refusal(whole[:length], verify=False)
    assert "bytes where" in refusal(whole + b"\0", verify=False)
    for position in (HEADER_BYTES, len(whole) - 1):
        flipped = bytearray(whole)
        flipped[position] ^= 1
        assert "checksum differs" in refusal(bytes(flipped))
    moved = bytearray(whole)
    moved[-8] += 1
    assert "offsets" in refusal(bytes(moved), verify=False)
    assert "header" in refusal(whole[:30] + whole[40:])
    assert "header" in refusal(whole.replace(b'"format": 1', b'"format": 9'))
    assert "not a token file" in refusal(b"")
    assert "not a token file" in refusal(b"something else" * 1000)
    assert "encode the corpus again" in refusal(whole[:-1])
    with pytest.raises(DataError, match="no such token file"):
        TokenStore.open(tmp_path / "missing")


LARGE = """
import resource, sys
from pathlib import Path
from headcount.models.data.token_store import TokenStore
path, sentences = Path(sys.argv[1]), 100_000
small = TokenStore.build(path, ([7] * 200 for _ in range(10)), vocabulary_size=100_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store = TokenStore.build(path, ([7] * 200 for _ in range(sentences)), vocabulary_size=100_000)
assert store[sentences - 1].sum() == 1400 and path.stat().st_size > 80_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.slow
def test_memory_stays_small(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LARGE, str(tmp_path / "large")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 8_000, "KiB of memory, for a store of 80 MB"
