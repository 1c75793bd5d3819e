"""Sentences of two clauses: relative, complement and adverbial clauses, coordination."""

from __future__ import annotations

from ..grammar import clauses
from ..grammar.descriptions import Clause, Subordinate
from ..grammar.nominals import Coordination, Nominal, Pronoun
from ..grammar.noun_phrases import NounPhrase
from ..grammar.tree import Pair
from ..grammar.verb_chains import COPULA, PAST, PRESENT, Tense
from .drafts import Draft, coordinate, main, sentence
from .family import Grammar, phenomenon, same_again, unclear


@phenomenon("relative")
def relative(grammar: Grammar) -> Draft | None:
    """A relative clause at the subject or the object."""
    sampler = grammar.sampler
    clause = sampler.clause(extras=0.2, adjectives=0.15)
    choices = [n for n in (clause.subject, clause.direct) if isinstance(n, NounPhrase)]
    choices = [n for n in choices if not n.noun.name and n.owner is None]
    if not choices:
        return None
    phrase = grammar.rng.choice(choices)
    if phrase.determiner not in ("the", "a", "this", "many", "two", "three", "some"):
        phrase.determiner = "the"
    if phrase is clause.direct and (clause.verb.prefix or clause.when.progressive):
        return None
    return main(clause) if grammar.relatives.add(phrase, main=clause) else None


@phenomenon("coordination")
def coordination(grammar: Grammar) -> Draft | None:
    """Two noun phrases, two verb phrases or two clauses joined."""
    sampler, rng = grammar.sampler, grammar.rng
    kind = rng.choices(("subjects", "verbs", "clauses"), (3, 3, 2))[0]
    if kind == "subjects":
        verb = sampler.personal.draw(rng)
        first = sampler.noun_phrase("person", plural=0.1, adjectives=0.15, determiner="the")
        second = sampler.noun_phrase("person", plural=0.1, adjectives=0.15, determiner="the")
        if first.noun is second.noun:
            return None
        if verb.frame in ("t", "dt", "d") and verb.same_past:
            return None
        return main(sampler.clause(verb, Coordination(first, second), extras=0.5))
    first_clause = sampler.clause(sampler.personal.draw(rng), extras=0.2, adjectives=0.2)
    if kind == "verbs":
        subject = first_clause.subject
        suits = sampler.personal
        if isinstance(subject, NounPhrase):
            suits = grammar.relatives.verbs_of(subject.noun, False)
        verb = suits.draw(rng)
        second_clause = sampler.clause(
            verb, first_clause.subject, when=first_clause.when, extras=0.2, adjectives=0.2
        )
        second_clause.elided = True
        if verb is first_clause.verb or unclear(second_clause) or unclear(first_clause):
            return None
        pair = _build_both(first_clause, second_clause, "and", "und")
        return sentence(pair)
    if first_clause.when.progressive:
        return None
    second_clause = sampler.clause(when=first_clause.when, extras=0.2, adjectives=0.2)
    if unclear(first_clause) or unclear(second_clause):
        return None
    words = rng.choice((("and", "und"), ("and", "und"), ("but", "aber")))
    return sentence(_build_both(first_clause, second_clause, *words))


def _build_both(first: Clause, second: Clause, english: str, german: str) -> Pair:
    pair = clauses.build(first), clauses.build(second)
    return coordinate(*pair, english, german, commas=not second.elided)


@phenomenon("complement")
def complement(grammar: Grammar) -> Draft | None:
    """A that-clause with the German verb last: Er weiss, dass der Hund schlaeft."""
    sampler, rng = grammar.sampler, grammar.rng
    verb = sampler.that_verbs.draw(rng)
    subject = sampler.subject(verb, 0.15)
    tenses = (PRESENT, PAST, Tense(perfect=True))
    when = rng.choices(tenses, (5, 4, 0 if verb.stative else 1))[0]
    inner_tenses = (
        None,
        Tense(future=True),
        Tense(perfect=True),
        Tense(modal="can"),
        Tense(modal="must"),
    )
    inner_when = rng.choices(inner_tenses, (6, 1, 1, 1, 1))[0]
    if when is not PRESENT:  # said that he had come, not: said that he will come
        inner_when = PAST if sampler.chance(0.75) else Tense("past", perfect=True)
    inner = sampler.clause(when=inner_when, extras=0.3, adjectives=0.2)
    if unclear(inner):
        return None
    outer = Clause(verb, subject, when=when, after=[Subordinate(inner, "that", "dass", "ccomp")])
    if sampler.chance(0.08):
        outer.negated = True
        if isinstance(subject, NounPhrase) and subject.determiner not in ("the", "my"):
            subject.determiner = "the"
    return main(outer)


@phenomenon("subordinate")
def subordinate(grammar: Grammar) -> Draft | None:
    """because, although, if, when, while: verb last; `when` is wenn or als by the tense."""
    sampler, rng = grammar.sampler, grammar.rng
    when = rng.choice((PRESENT, PAST))
    words = [("because", "weil"), ("although", "obwohl"), ("while", "während")]
    words.append(("when", "als" if when is PAST else "wenn"))
    if when is PRESENT:
        words.append(("if", "wenn"))
    first = sampler.clause(sampler.personal.draw(rng), when=when, extras=0.2, adjectives=0.2)
    pronoun = same_again(first.subject)
    english, german = rng.choice(words)
    second: Clause | None
    if pronoun is not None and sampler.chance(0.55):
        second = _state(grammar, first.subject, pronoun, when, english)
    else:
        second = sampler.clause(when=when, extras=0.2, adjectives=0.2)
    if second is None or first.verb is second.verb or unclear(first) or unclear(second):
        return None
    link_words = Subordinate(second, english, german, "advcl")
    if sampler.chance(0.3) and not isinstance(second.subject, Pronoun):
        first.before = link_words
    else:
        first.after.append(link_words)
    return main(first)


def _state(
    grammar: Grammar, subject: Nominal | None, pronoun: Pronoun, when: Tense, english: str
) -> Clause | None:
    """Say in what state or at what the subject is, for a reason or a circumstance."""
    sampler = grammar.sampler
    moods = ("tired", "hungry", "happy", "angry", "sad", "thirsty", "sick", "curious", "rich")
    if english in ("because", "although", "when", "if") and sampler.chance(0.6):
        name = grammar.rng.choice(moods)
        adjective = next(a for a in sampler.words.adjectives if a.english == name)
        return Clause(COPULA, pronoun, predicate=adjective, when=when)
    del subject
    return sampler.clause(sampler.personal.draw(grammar.rng), pronoun, when=when, extras=0.2)


@phenomenon("infinitive")
def infinitive(grammar: Grammar) -> Draft | None:
    """An infinitive with zu: Der Mann versucht, die Tuer zu oeffnen."""
    sampler, rng = grammar.sampler, grammar.rng
    verb = sampler.to_verbs.draw(rng)
    subject = sampler.subject(verb, 0.15)
    inner_verb = sampler.verbs.draw(rng)
    terms = set(inner_verb.subject.split(","))
    human = not (isinstance(subject, NounPhrase) and subject.noun.supersense == "noun.animal")
    if inner_verb.stative or inner_verb.extras.get("en") == "to":
        return None
    if not ({"person"} if human else {"animal"}) & terms:
        return None
    inner = Clause(inner_verb, subject)
    sampler.fill(inner, 0.25)
    sampler.add_extras(inner, 0.0)
    inner.elided = True
    when = rng.choice((PRESENT, PAST))
    after = Subordinate(inner, relation="xcomp", order="to")
    return main(Clause(verb, subject, when=when, after=[after]))
