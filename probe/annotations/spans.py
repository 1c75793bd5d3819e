"""Where the words stand in the text.

Annotation counts words, a model counts pieces of the text; characters are what they share.
Tokens stand in the text one after another, so walking along the text finds them:
`SpaceAfter=No` is not even needed. Where text and tokens differ (a quotation mark that was
replaced, a soft hyphen or another zero-width character within a word, an accent that is a
character of its own in one of the two), the characters of both are matched in order, as a
difference between two files is shown:

- both are decomposed (Unicode NFD), and white space and format characters (category Cf) are
  ignored, so `e` + accent equals the accented letter, and `co-operate` with a soft hyphen
  equals `cooperate`;
- a token is located if at least half of its characters are matched, and its span reaches
  from the first to the last of them, with the combining marks that follow;
- matches that spread over more than twice the token's length (and two characters more) are
  no place for it.

Such sentences are counted, and so are tokens that have no place.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .sentence import NOWHERE


@dataclass(frozen=True, slots=True)
class Located:
    """The tokens' places.

    Args:
        spans: characters [start, end) of every token, (-1, -1) where the text lacks it.
        exact: whether the text is the tokens and white space, and nothing else.
    """

    spans: tuple[tuple[int, int], ...]
    exact: bool


def locate(text: str, forms: Sequence[str]) -> Located:
    """Find tokens in their text.

    Args:
        text: the sentence.
        forms: its surface tokens in order (of a range, what is written: `du`).
    """
    spans, position = [], 0
    for form in forms:
        position = _skip_space(text, position)
        if not text.startswith(form, position):
            return Located(_matched(text, forms), exact=False)
        spans.append((position, position + len(form)))
        position += len(form)
    return Located(tuple(spans), exact=_skip_space(text, position) == len(text))


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _matched(text: str, forms: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Locate tokens by matching characters in order."""
    characters, places = _decomposed(text)
    token_characters, owners = "", list[int]()
    for index, form in enumerate(forms):
        visible = _decomposed(form)[0]
        token_characters += visible
        owners += [index] * len(visible)
    found: list[list[int]] = [[] for _ in forms]
    matcher = SequenceMatcher(None, characters, token_characters, autojunk=False)
    for start, token_start, size in matcher.get_matching_blocks():
        for offset in range(size):
            found[owners[token_start + offset]].append(places[start + offset])
    sizes = [owners.count(index) for index in range(len(forms))]
    return tuple([_span(text, at, size) for at, size in zip(found, sizes, strict=True)])


def _decomposed(text: str) -> tuple[str, list[int]]:
    """Return the visible characters, decomposed, and where in the text each is from."""
    characters, places = [], []
    for place, character in enumerate(text):
        if character.isspace() or unicodedata.category(character) == "Cf":
            continue
        for part in unicodedata.normalize("NFD", character):
            characters.append(part)
            places.append(place)
    return "".join(characters), places


def _span(text: str, places: list[int], size: int) -> tuple[int, int]:
    """Return the span of a token of `size` characters that were matched at `places`."""
    if not places or 2 * len(places) < size:
        return NOWHERE
    start, end = places[0], places[-1] + 1
    if end - start > 2 * size + 2:
        return NOWHERE
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return start, end
