"""Tokens in their text, also where the two differ."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.probe.annotations.spans import locate

ZERO_WIDTH, SOFT_HYPHEN, ACUTE, NO_BREAK = "\u200b", "\u00ad", "\u0301", "\u00a0"


def found(text: str, *forms: str) -> list[str | None]:
    return [text[start:end] if start >= 0 else None for start, end in locate(text, forms).spans]


def test_tokens_stand_one_after_another():
    located = locate("(Yes), no. No", ["(", "Yes", ")", ",", "no", ".", "No"])
    assert located.exact
    assert located.spans == ((0, 1), (1, 4), (4, 5), (5, 6), (7, 9), (9, 10), (11, 13))


def test_a_token_may_hold_spaces_and_no_break_spaces_are_space():
    assert found(f"vers 10 000{NO_BREAK}km", "vers", "10 000", "km") == ["vers", "10 000", "km"]


def test_text_that_no_token_claims_is_no_exact_fit():
    assert not locate("one two", ["one"]).exact
    assert locate("one  ", ["one"]).exact


def test_zero_width_characters_do_not_hide_a_token():
    assert found(f"a{ZERO_WIDTH} b", "a", "b") == ["a", "b"]
    assert found(f"co{SOFT_HYPHEN}op is", "coop", "is") == [f"co{SOFT_HYPHEN}op", "is"]


def test_an_accent_may_be_a_character_of_its_own_on_either_side():
    assert found(f"cafe{ACUTE} noir", "café", "noir") == [f"cafe{ACUTE}", "noir"]
    assert found("café noir", f"cafe{ACUTE}", "noir") == ["café", "noir"]


def test_a_replaced_character_is_passed_over():
    assert found("say “hi” now", "say", '"', "hi", '"', "now") == ["say", None, "hi", None, "now"]


def test_a_token_needs_half_of_its_characters_in_one_place():
    assert found("abXX c", "abYZ", "c") == ["ab", "c"]
    assert found("aXXX c", "aYZW", "c") == [None, "c"]
    assert found("a 0123456789 b c", "ab", "c") == [None, "c"]


def test_a_word_that_is_missing_leaves_the_others_in_place():
    assert found("one three", "one", "two", "three") == ["one", None, "three"]


@settings(deadline=None)  # a busy machine is no error
@given(st.lists(st.text("ab,é 0" + ACUTE + ZERO_WIDTH, min_size=1), max_size=6), st.text("ab é"))
def test_spans_are_in_order_and_inside_the_text(forms: list[str], text: str):
    spans = [span for span in locate(text, forms).spans if span != (-1, -1)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    starts = [start for start, _ in spans]
    assert starts == sorted(starts)


@settings(deadline=None)  # a busy machine is no error
@given(st.lists(st.text("abé-", min_size=1), min_size=1), st.data())
def test_tokens_are_found_where_they_were_written(forms: list[str], data: st.DataObject):
    text, spans = "", []
    for form in forms:
        text += " " * data.draw(st.integers(0, 2))
        spans.append((len(text), len(text) + len(form)))
        text += form
    located = locate(text, forms)
    assert located.exact
    assert list(located.spans) == spans
