"""English inflection: plurals, verb forms, pronouns and the indefinite article."""

from __future__ import annotations

from functools import cache

from .lexicon import Noun, Verb

_PERSONAL = {
    ("1", False, ""): ("I", "me"),
    ("1", True, ""): ("we", "us"),
    ("3", False, "m"): ("he", "him"),
    ("3", False, "f"): ("she", "her"),
    ("3", False, "n"): ("it", "it"),
    ("3", True, ""): ("they", "them"),
}
# Words whose first letter misleads: "an hour", "a university".
_CONSONANT_SOUND = ("uni", "use", "eu", "one", "ural")
_VOWEL_SOUND = ("hour", "honest", "heir", "honour")

BE = {
    "present": {("1", False): "am", ("3", False): "is", ("", True): "are"},
    "past": {("1", False): "was", ("3", False): "was", ("", True): "were"},
}


def add_s(word: str) -> str:
    """Add the -s of plurals and of the third person: boxes, ladies, gives."""
    if word.endswith(("s", "x", "ch", "sh", "z")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def noun(word: Noun, plural: bool) -> str:
    """Return a noun's form."""
    if not plural:
        return word.english
    return word.english_plural or add_s(word.english)


def article(following: str) -> str:
    """Return `a` or `an` by the sound of the word that follows."""
    if following.startswith(_VOWEL_SOUND):
        return "an"
    vowel = following[0] in "aeiou" and not following.startswith(_CONSONANT_SOUND)
    return "an" if vowel else "a"


def personal_pronoun(person: str, plural: bool, gender: str, subject: bool) -> str:
    """Return a personal pronoun; `gender` counts in the third person singular alone."""
    key = (person, plural, gender if person == "3" and not plural else "")
    return _PERSONAL[key][0 if subject else 1]


@cache
def third_person(verb: Verb) -> str:
    """Return the third person singular of the present: goes, tries, has."""
    if verb.english == "have":
        return "has"
    return verb.english + "es" if verb.english in ("go", "do") else add_s(verb.english)


@cache
def past(verb: Verb) -> str:
    """Return the simple past."""
    return verb.english_past or _ed(verb.english)


@cache
def participle(verb: Verb) -> str:
    """Return the past participle."""
    return verb.english_participle or past(verb)


@cache
def ing(verb: Verb) -> str:
    """Return the present participle: seeing, giving, lying."""
    if verb.english_ing:
        return verb.english_ing
    word = verb.english
    return (word[:-1] if word.endswith("e") and not word.endswith("ee") else word) + "ing"


def _ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ied"
    double = {"plan": "planned", "hug": "hugged", "travel": "travelled"}
    return double.get(word, word + "ed")
