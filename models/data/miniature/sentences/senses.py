"""Ambiguous English words whose German is decided by a cue elsewhere in the sentence.

A sentence shows the word with exactly one cue and is neutral otherwise, so the cue must be read
to translate the word: The bat in the cave is old | Die Fledermaus in der Hoehle ist alt.
"""

from __future__ import annotations

from collections.abc import Callable

from ..grammar import clauses
from ..grammar.descriptions import Clause, Subordinate
from ..grammar.nominals import Prepositional, Pronoun, RelativeGap
from ..grammar.noun_phrases import NounPhrase
from ..grammar.tree import Pair, Token
from ..grammar.verb_chains import COPULA, PAST, PRESENT
from ..words.ambiguity import Sense, adjective_senses, senses
from ..words.lexicon import Adjective, Verb
from .drafts import Draft, sentence, text_of
from .family import Grammar, phenomenon
from .relatives import RelativeClause

_NEUTRAL = ("see", "find", "describe", "photograph", "look", "forget", "examine", "discover")
_NEUTRAL_TIME = ("describe", "forget")


@phenomenon("sense")
def sense(grammar: Grammar) -> Draft | None:
    """An ambiguous noun and its cue: The bat in the cave is old | Die Fledermaus ..."""
    sampler, rng = grammar.sampler, grammar.rng
    entry, others = senses().draw(rng)
    singular = bool({"body", "time"} & entry.noun.tags) or any(o.noun.mass for o in others)
    fixed = singular or entry.noun.mass
    phrase = NounPhrase(entry.noun, plural=not fixed and sampler.chance(0.15))
    if not fixed and not phrase.plural and sampler.chance(0.25):
        phrase.determiner = "a"
    kind = rng.choice(entry.kinds)
    built = _SAYING[kind](grammar, entry, phrase)
    if built is None:
        return None
    build, cue = built
    draft = sentence(build())
    draft.focus, draft.cue = phrase.words, cue()

    def wrong() -> list[str]:
        texts = []
        for other in others:
            phrase.noun = other.noun
            texts.append(text_of(sentence(build()).german))
        phrase.noun = entry.noun
        return texts

    draft.contrasts = wrong
    return draft


# Builds the sentence; returns the cue words, once built.
Built = tuple[Callable[[], Pair], Callable[[], tuple[Token, Token] | None]]


def _as_object(grammar: Grammar, entry: Sense, phrase: NounPhrase) -> Built | None:
    """The cue is the verb before or after it."""
    sampler = grammar.sampler
    verb = grammar.rng.choice(entry.objects)
    subject = _agent(grammar, verb)
    when = PRESENT if verb.same_past or sampler.chance(0.4) else PAST
    if verb.frame in ("dt", "dto"):
        receiver = sampler.noun_phrase("person", plural=0.1, adjectives=0.1, determiner="the")
        clause = Clause(verb, subject, direct=phrase, indirect=receiver, when=when)
    elif (
        sampler.chance(0.3)
        and verb.frame == "t"
        and verb.lemma != "fressen"
        and not verb.stative
        and "en" not in verb.extras
    ):
        clause = Clause(verb, phrase, when=when, passive=True)
        if phrase.determiner == "a":
            phrase.determiner = "the"
        _lengthen(grammar, phrase)
    else:
        clause = Clause(verb, subject, direct=phrase, when=when)
        _mention_adjective(grammar, phrase)
    return (lambda: clauses.build(clause)), (lambda: clause.heads)


def _agent(grammar: Grammar, verb: Verb) -> NounPhrase | Pronoun:
    sampler = grammar.sampler
    if verb.lemma == "fressen":
        return sampler.noun_phrase("animal", plural=0.1, adjectives=0.15, determiner="the")
    if sampler.chance(0.2):
        return sampler.pronoun()
    if sampler.chance(0.15):
        return sampler.name("PERSON")
    return sampler.noun_phrase("person", plural=0.15, adjectives=0.15)


def _mention_adjective(grammar: Grammar, phrase: NounPhrase) -> None:
    """Add an adjective that says nothing about the sense."""
    if grammar.sampler.chance(0.2) and not phrase.noun.mass:
        bodily = not {"readable", "sound", "event", "body", "time"} & phrase.noun.tags
        names = ("old", "beautiful", "big", "small")[: 4 if bodily else 2]
        name = grammar.rng.choice(names)
        words = grammar.sampler.words.adjectives
        phrase.adjectives = (next(word for word in words if word.english == name),)


def _lengthen(grammar: Grammar, phrase: NounPhrase) -> None:
    """Put a relative clause that fits every sense between the word and its cue."""
    if grammar.modifiers() == 0 or phrase.noun.mass:
        return
    sampler = grammar.sampler
    verbs = [verb for verb in sampler.transitive.items if verb.english in _NEUTRAL]
    verb = grammar.rng.choice(verbs)
    human = "person&male,person&female"
    subject = sampler.noun_phrase(human, plural=0.15, adjectives=0.1, determiner="the")
    gap = RelativeGap(phrase)
    phrase.after = (*phrase.after, RelativeClause(Clause(verb, subject, direct=gap, when=PAST)))


def _as_subject(grammar: Grammar, entry: Sense, phrase: NounPhrase) -> Built | None:
    """The cue is what it does."""
    verb = grammar.rng.choice(entry.subjects)
    _lengthen(grammar, phrase)
    when = PRESENT if grammar.sampler.chance(0.5) else PAST
    clause = Clause(verb, phrase, when=when)
    if grammar.sampler.chance(0.4):
        clause.adverbials += [grammar.sampler.time("past" if when is PAST else "present")]
    return (lambda: clauses.build(clause)), (lambda: clause.heads)


def _with_adjective(grammar: Grammar, entry: Sense, phrase: NounPhrase) -> Built | None:
    """The cue is an adjective, beside the noun, after it or in a clause of its own."""
    rng = grammar.rng
    adjective = rng.choice(entry.adjectives)
    kind = rng.choices(("attribute", "predicate", "reason"), (3, 5, 2))[0]
    if kind == "predicate":
        if phrase.determiner == "a":
            phrase.determiner = "the"
        _lengthen(grammar, phrase)
        clause = Clause(COPULA, phrase, predicate=adjective, when=rng.choice((PRESENT, PAST)))
        return (lambda: clauses.build(clause)), (lambda: clause.heads)
    clause = _neutral(grammar, phrase)
    if kind == "attribute":
        phrase.adjectives = (adjective,)
        return (lambda: clauses.build(clause)), (lambda: _adjective_words(phrase))
    return _reason(grammar, clause, phrase, adjective)


def _reason(grammar: Grammar, clause: Clause, phrase: NounPhrase, adjective: Adjective) -> Built:
    """The cue follows in a because-clause, whose pronoun has the gender of the sense."""
    state = Clause(COPULA, None, predicate=adjective, when=clause.when)
    clause.after = [Subordinate(state, "because", "weil", "advcl")]

    def build() -> Pair:
        noun = phrase.noun
        english = "n"
        if phrase.plural:
            state.subject = Pronoun("3", True, "", "", noun.animacy)
        else:
            state.subject = Pronoun("3", False, english, noun.gender, noun.animacy)
        return clauses.build(clause)

    return build, (lambda: state.heads)


def _adjective_words(phrase: NounPhrase) -> tuple[Token, Token] | None:
    return phrase.adjective_words


def _neutral(grammar: Grammar, phrase: NounPhrase) -> Clause:
    """A clause that fits every sense of the noun, its object."""
    sampler = grammar.sampler
    names = _NEUTRAL_TIME if "time" in phrase.noun.tags else _NEUTRAL
    verbs = [verb for verb in sampler.transitive.items if verb.english in names]
    verb = grammar.rng.choice(verbs)
    subject = _agent(grammar, verb)
    return Clause(verb, subject, direct=phrase, when=PAST if sampler.chance(0.6) else PRESENT)


def _of(grammar: Grammar, entry: Sense, phrase: NounPhrase) -> Built | None:
    """The cue is what it belongs to: the trunk of the elephant | der Ruessel des Elefanten."""
    owner = NounPhrase(grammar.rng.choice(entry.of), grammar.sampler.chance(0.12), "the")
    if not owner.plural and grammar.sampler.chance(0.2):
        choice = grammar.sampler.words.adjectives_of(owner.noun)
        owner.adjectives = (choice.draw(grammar.rng),) if len(choice) else ()
    phrase.determiner = "the"
    phrase.after = (Prepositional("of", "", "gen", owner),)
    clause = _neutral(grammar, phrase)
    return (lambda: clauses.build(clause)), (lambda: owner.words)


def _at(grammar: Grammar, entry: Sense, phrase: NounPhrase) -> Built | None:
    """The cue is where it is, in front or at the end of the sentence."""
    noun = grammar.rng.choice(entry.places)
    where = NounPhrase(noun, False, "the")
    english, german = noun.place
    if "surface" in noun.tags:
        english, german = "on", "auf"
    place = Prepositional(english, german, "dat", where)
    clause = _neutral(grammar, phrase)
    clause.adverbials.append(place)
    if grammar.sampler.chance(0.35):
        clause.front = place
    return (lambda: clauses.build(clause)), (lambda: where.words)


_SAYING = {
    "objects": _as_object,
    "subjects": _as_subject,
    "adjectives": _with_adjective,
    "of": _of,
    "places": _at,
}


@phenomenon("sense_adjective")
def sense_adjective(grammar: Grammar) -> Draft | None:
    """An ambiguous adjective that its noun decides: ein leichter Koffer, ein helles Zimmer."""
    sampler, rng = grammar.sampler, grammar.rng
    adjective, other = rng.choice(adjective_senses())
    phrase = sampler.noun_phrase(adjective.goes_with, plural=0.2, adjectives=0.0)
    if phrase.noun.mass and phrase.determiner == "bare":
        phrase.determiner = "the"
    attribute = sampler.chance(0.45)
    if attribute:
        verb = rng.choice([v for v in sampler.transitive.items if v.english in _NEUTRAL])
        phrase.adjectives = (adjective,)
        when = PAST if sampler.chance(0.6) else PRESENT
        clause = Clause(verb, _agent(grammar, verb), direct=phrase, when=when)
    else:
        if phrase.determiner != "this":
            phrase.determiner = "the"
        _lengthen(grammar, phrase)
        clause = Clause(COPULA, phrase, predicate=adjective, when=rng.choice((PRESENT, PAST)))
    draft = sentence(clauses.build(clause))
    draft.focus = phrase.adjective_words if attribute else clause.heads
    draft.cue = phrase.words

    def wrong() -> list[str]:
        if attribute:
            phrase.adjectives = (other,)
        else:
            clause.predicate = other
        text = text_of(sentence(clauses.build(clause)).german)
        if attribute:
            phrase.adjectives = (adjective,)
        clause.predicate = adjective
        return [text]

    draft.contrasts = wrong
    return draft
