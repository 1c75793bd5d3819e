"""The screen finds the largest logit, however close the others are."""

import pytest
import torch
from torch import Tensor

from headcount.models.decoding import prepared
from headcount.models.decoding.screening import WORTH, Screen
from headcount.models.decoding.search import search
from headcount.models.network import Network, NetworkSettings
from headcount.models.translator import SearchSettings

WIDTH, VOCABULARY = 32, 150


def found(table: Tensor, rows: Tensor, banned: list[int]) -> Tensor:
    return Screen(table).best(rows, banned)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def exact(table: Tensor, rows: Tensor, banned: list[int]) -> Tensor:
    logits = rows.double() @ table.double().T  # [row, vocabulary]
    logits[:, banned] = float("-inf")
    return logits


def test_the_token_is_that_of_the_whole_table():
    table, rows, banned = drawn(VOCABULARY, WIDTH), drawn(400, WIDTH, seed=1), [0, 7]
    logits = exact(table, rows, banned)
    assert found(table, rows, banned).tolist() == logits.argmax(1).tolist()
    assert logits.argmax(1).unique().numel() > 100


def test_what_rounding_puts_in_the_wrong_order_is_put_right():
    """Every token has a twin that is better by less than rounding to bfloat16 can see."""
    half = drawn(VOCABULARY // 2, WIDTH)
    rows = drawn(300, WIDTH, seed=1)
    better = half * (1 + 2.0**-12)
    table = torch.cat((half, better))
    rough = (rows.bfloat16() @ table.bfloat16().T).float().argmax(1)
    logits = exact(table, rows, [])
    assert (rough != logits.argmax(1)).float().mean() > 0.3
    assert found(table, rows, []).tolist() == logits.argmax(1).tolist()


def test_a_long_row_is_not_overlooked():
    """A bound from the other rows would miss the one whose rounding error is by far largest."""
    table = drawn(VOCABULARY, WIDTH) * 0.01
    rows = drawn(1, WIDTH, seed=1)
    # Nearly at right angles to the state: terms of 1,000 that cancel to a small logit.
    long = 1000 * drawn(WIDTH, seed=2)
    long -= (long @ rows[0] - 0.5) / (rows[0] @ rows[0]) * rows[0]
    table[70] = long
    logits = exact(table, rows, [])
    assert int(logits.argmax()) == 70
    assert (rows.bfloat16() @ table.bfloat16().T).float()[0, 70] < logits[0].topk(2).values[1]
    assert found(table, rows, []).tolist() == [70]


def test_of_equal_tokens_the_first_is_said():
    table = drawn(4, WIDTH).repeat(30, 1)
    tokens = found(table, drawn(50, WIDTH, seed=1), [])
    assert tokens.max() < 4


def test_a_state_that_is_not_finite_says_some_token():
    rows = drawn(3, WIDTH)
    rows[1] = float("nan")
    tokens = found(drawn(VOCABULARY, WIDTH), rows, [])
    assert 0 <= tokens[1] < VOCABULARY


@pytest.mark.parametrize("tiles", [True, False])
def test_greedy_search_finds_the_same_with_and_without(tiles: bool, monkeypatch):
    monkeypatch.setattr(prepared.Screen, "serves", staticmethod(lambda _: tiles))
    settings = NetworkSettings(width=16, feed_forward_width=32, heads=2)
    network = Network(settings, settings.full_layout(), 200, 200)
    network.initialise(torch.Generator().manual_seed(0)).eval()
    source = [(*range(4 + it, 10 + 2 * it), 3) for it in range(40)]
    marks = {"bos": 2, "eos": 3, "pad": 0}
    silent = search(network, source, SearchSettings(), **marks)
    said = search(network, source, SearchSettings(log_probability=True), **marks)
    assert (prepared.prepared(network).screen is not None) == tiles
    assert len(source) > WORTH  # in one batch, so the screen is asked at first
    assert [it.ids for it in silent] == [it.ids for it in said]
    assert all(it.log_probability is None for it in silent)
    assert len({it.ids for it in silent}) > 1
