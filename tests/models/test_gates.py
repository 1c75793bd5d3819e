"""Heads, layouts and gate matrices."""

import pytest
import torch

from headcount.models.errors import UsageError
from headcount.models.gates import Attention, Head, HeadLayout


@pytest.fixture
def uneven() -> HeadLayout:
    return HeadLayout.from_dict({"encoder": [[0, 2], []], "decoder": [[1]], "cross": [[0, 3]]})


def test_a_head_reads_what_it_writes():
    assert str(Head("cross", 2, 5)) == "cross.2.5"
    assert Head.parse(" cross.2.5 ") == Head("cross", 2, 5)


@pytest.mark.parametrize("text", ["encoder.2", "encoders.2.5", "encoder.-1.0", "encoder.2.5.1", ""])
def test_text_that_names_no_head_is_refused(text: str):
    with pytest.raises(UsageError, match=r"encoder\.2\.5"):
        Head.parse(text)


def test_columns_follow_site_layer_and_original_id(uneven: HeadLayout):
    names = [str(head) for head in uneven]
    assert names == ["encoder.0.0", "encoder.0.2", "decoder.0.1", "cross.0.0", "cross.0.3"]
    assert uneven.slices[Attention("encoder", 1)] == slice(2, 2)
    assert uneven.slices[Attention("cross", 0)] == slice(3, 5)
    assert uneven.column_of(Head("cross", 0, 3)) == 4


def test_a_layout_survives_writing_and_reading(uneven: HeadLayout):
    assert HeadLayout.from_dict(uneven.to_dict()) == uneven


def test_ids_stay_original_through_repeated_removal():
    whole = HeadLayout.full({"encoder": 1, "decoder": 1, "cross": 1}, 3)
    once = whole.without([Head("encoder", 0, 0)])
    twice = once.without([Head("encoder", 0, 2)])
    assert twice.ids_at("encoder", 0) == (1,)
    assert len(twice) == 7
    with pytest.raises(UsageError, match=r"no head encoder\.0\.0"):
        twice.without([Head("encoder", 0, 0)])


def test_gate_rows(uneven: HeadLayout):
    closed = uneven.closing([Head("decoder", 0, 1), Head("encoder", 0, 0)])
    assert closed.tolist() == [[0, 1, 0, 1, 1]]
    assert uneven.each_closed().tolist()[1] == [1, 0, 1, 1, 1]


@pytest.mark.parametrize("shape", [(5,), (1, 4), (2, 5), (1, 5, 1)])
def test_gates_that_do_not_fit_are_refused(uneven: HeadLayout, shape: tuple[int, ...]):
    with pytest.raises(UsageError, match="expected"):
        uneven.checked(torch.ones(shape), rows=3)


def test_gates_may_have_one_row_or_one_a_sentence(uneven: HeadLayout):
    for rows in (1, 3):
        assert uneven.checked(torch.ones(rows, 5), rows=3).shape == (rows, 5)
