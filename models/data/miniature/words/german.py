"""German inflection: articles, adjectives, nouns, pronouns and verbs.

Cases are `nom`, `acc`, `dat`, `gen`; genders `m`, `f`, `n`; in the plural gender is lost, so
tables have a fourth column `p`. Verbs are conjugated from principal parts: infinitive, third
person singular of the present and of the preterite, participle (fahren, faehrt, fuhr, gefahren).
"""

from __future__ import annotations

from functools import cache

from .lexicon import Noun, Verb

CASES = ("nom", "acc", "dat", "gen")
UD_CASE = {"nom": "Nom", "acc": "Acc", "dat": "Dat", "gen": "Gen"}
UD_GENDER = {"m": "Masc", "f": "Fem", "n": "Neut"}

# Rows nom, acc, dat, gen; columns m, f, n, p.
_DEFINITE = (
    ("der", "die", "das", "die"),
    ("den", "die", "das", "die"),
    ("dem", "der", "dem", "den"),
    ("des", "der", "des", "der"),
)
_RELATIVE = (
    ("der", "die", "das", "die"),
    ("den", "die", "das", "die"),
    ("dem", "der", "dem", "denen"),
    ("dessen", "deren", "dessen", "deren"),
)
# Endings of `der`-words (dieser, jeder, alle) and of strong adjectives ...
_STRONG_DETERMINER = (
    ("er", "e", "es", "e"),
    ("en", "e", "es", "e"),
    ("em", "er", "em", "en"),
    ("es", "er", "es", "er"),
)
_STRONG = (*_STRONG_DETERMINER[:3], ("en", "er", "en", "er"))
# ... of `ein`-words (ein, kein, mein) ...
_EIN = (
    ("", "e", "", "e"),
    ("en", "e", "", "e"),
    ("em", "er", "em", "en"),
    ("es", "er", "es", "er"),
)
# ... of adjectives after a `der`-word and after an `ein`-word.
_WEAK = (
    ("e", "e", "e", "en"),
    ("en", "e", "e", "en"),
    ("en", "en", "en", "en"),
    ("en", "en", "en", "en"),
)
_MIXED = (
    ("er", "e", "es", "en"),
    ("en", "e", "es", "en"),
    ("en", "en", "en", "en"),
    ("en", "en", "en", "en"),
)

EIN_WORDS = {"ein", "kein", "mein", "dein", "sein", "ihr", "unser"}
DER_WORDS = {"dieser": "dies", "jeder": "jed", "alle": "all", "welcher": "welch"}
STRONG_WORDS = {"viele": "viel", "einige": "einig"}  # themselves and the adjectives after them
NUMERALS = {"zwei", "drei", "vier", "fünf"}  # do not inflect; adjectives after them are strong

_PERSONAL = {
    ("1", False, ""): ("ich", "mich", "mir"),
    ("1", True, ""): ("wir", "uns", "uns"),
    ("3", False, "m"): ("er", "ihn", "ihm"),
    ("3", False, "f"): ("sie", "sie", "ihr"),
    ("3", False, "n"): ("es", "es", "ihm"),
    ("3", True, ""): ("sie", "sie", "ihnen"),
}


def _cell(table: tuple[tuple[str, ...], ...], case: str, gender: str, plural: bool) -> str:
    return table[CASES.index(case)]["mfn".index(gender) if not plural else 3]


@cache
def determiner(lemma: str, case: str, gender: str, plural: bool) -> str:
    """Return the form of a determiner (`der`, `ein`, `kein`, `mein`, `dieser`, `alle`, ...)."""
    if lemma == "der":
        return _cell(_DEFINITE, case, gender, plural)
    if lemma in EIN_WORDS:
        return lemma + _cell(_EIN, case, gender, plural)
    if lemma in DER_WORDS:
        return DER_WORDS[lemma] + _cell(_STRONG_DETERMINER, case, gender, plural)
    if lemma in STRONG_WORDS:
        return STRONG_WORDS[lemma] + _cell(_STRONG, case, gender, plural)
    return lemma


@cache
def adjective(stem: str, after: str, case: str, gender: str, plural: bool) -> str:
    """Return an attributive adjective.

    Args:
        stem: stem before endings (`hoh` of `hoch`)
        after: lemma of the determiner before it, empty for none
    """
    if after == "der" or after in DER_WORDS:
        table = _WEAK
    elif after in EIN_WORDS:
        table = _MIXED
    else:
        table = _STRONG
    return stem + _cell(table, case, gender, plural)


def relative_pronoun(case: str, gender: str, plural: bool) -> str:
    """Return the relative pronoun that agrees with an antecedent."""
    return _cell(_RELATIVE, case, gender, plural)


def personal_pronoun(person: str, plural: bool, gender: str, case: str) -> str:
    """Return a personal pronoun; `gender` counts in the third person singular alone."""
    key = (person, plural, gender if person == "3" and not plural else "")
    return _PERSONAL[key][CASES.index(case)]


@cache
def noun(word: Noun, case: str, plural: bool) -> str:
    """Return a noun's form."""
    if plural:
        form = word.german_plural
        return form + "n" if case == "dat" and form[-1] not in "ns" else form
    if word.name:
        return word.german + "s" if case == "gen" else word.german
    if word.weak:
        return word.german if case == "nom" else word.german_plural
    if case == "gen" and word.gender != "f":
        return word.german + genitive_ending(word.german)
    return word.german


def genitive_ending(form: str) -> str:
    """Return `s`, `es` or `ses`: `es` after sibilants and one syllable, `nis` doubles its s."""
    if form.endswith("nis") or form in ("Bus", "Kürbis"):
        return "ses"
    if form.endswith(("s", "ß", "x", "z", "sch", "st")):
        return "es"
    return "es" if syllables(form) == 1 and form[-1] not in "aeiouäöü" else "s"


def syllables(form: str) -> int:
    """Count groups of vowels."""
    count, before = 0, False
    for letter in form.lower():
        vowel = letter in "aeiouäöüy"
        count += vowel and not before
        before = vowel
    return count


_SEIN = {
    "present": {("1", False): "bin", ("3", False): "ist", ("", True): "sind"},
    "past": {("1", False): "war", ("3", False): "war", ("", True): "waren"},
}
# First persons that do not follow from the infinitive: stem + e.
_FIRST = {"wissen": "weiß", "werden": "werde", "haben": "habe", "sammeln": "sammle"}
_FIRST |= {"lächeln": "lächle", "fotografieren": "fotografiere"}
_FIRST |= {"können": "kann", "müssen": "muss", "dürfen": "darf", "sollen": "sollte"}


@cache
def finite(verb: Verb, tense: str, person: str, plural: bool) -> str:
    """Return a finite form, without the separable prefix.

    Args:
        verb: principal parts
        tense: `present` or `past` (preterite)
        person: "1" or "3"
    """
    if verb.stem == "sein":
        return _SEIN[tense]["" if plural else person, plural]
    if tense == "past":
        form = verb.german_preterite
        if not plural:
            return form
        return form + ("n" if form.endswith("e") else "en")
    if plural:
        return verb.stem if verb.stem != "sollen" else "sollten"
    if person == "3":
        return verb.german_present
    return _FIRST.get(verb.stem) or (
        verb.stem[:-1] if verb.stem.endswith("en") else verb.stem[:-1] + "e"
    )


def participle(verb: Verb) -> str:
    """Return the past participle, prefix included: angerufen."""
    return verb.prefix + verb.german_participle


def infinitive(verb: Verb) -> str:
    """Return the infinitive, prefix included: anrufen."""
    return verb.prefix + verb.stem
