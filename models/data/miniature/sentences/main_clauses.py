"""Main clauses: tenses, questions, negation, passive, copula and motion."""

from __future__ import annotations

from ..grammar.descriptions import Adverb, Clause
from ..grammar.nominals import Coordination, Nominal, Prepositional, Question
from ..grammar.noun_phrases import NounPhrase
from ..grammar.verb_chains import PAST, PRESENT, Tense
from ..words.lexicon import Verb
from .drafts import Draft, main
from .family import Grammar, phenomenon, predication
from .sampling import Sampler


@phenomenon("statement")
def statement(grammar: Grammar) -> Draft | None:
    """A main clause: The man sees the dog."""
    clause = grammar.sampler.clause(extras=1.5)
    subject = clause.subject
    if isinstance(subject, NounPhrase) and grammar.sampler.chance(0.06):
        bare = not (subject.noun.mass or subject.noun.name or subject.adjectives or subject.owner)
        subject.determiner = "no" if bare else subject.determiner
    return main(clause)


@phenomenon("fronting")
def fronting(grammar: Grammar) -> Draft | None:
    """An adverbial in front, and the German verb second: Gestern sah der Mann den Hund."""
    clause = grammar.sampler.clause(extras=0.0, adjectives=0.25)
    return _with_front(grammar, clause)


def _with_front(grammar: Grammar, clause: Clause) -> Draft | None:
    sampler = grammar.sampler
    kind = "progressive" if clause.when.progressive else clause.when.tense
    if clause.verb.stative and kind == "present":
        kind = "progressive"
    if kind == "progressive" and clause.when.tense == "past":
        kind = "past"
    time = sampler.time(kind)
    if "loc" in clause.verb.extras and sampler.chance(0.4):
        time = sampler.place()
    clause.adverbials.append(time)
    clause.front = time
    return main(clause)


@phenomenon("question")
def question(grammar: Grammar) -> Draft | None:
    """A question with do-support: Does the man see the dog? | Sieht der Mann den Hund?"""
    sampler, rng = grammar.sampler, grammar.rng
    kind = rng.choices(("yes-no", "subject", "object", "where"), (5, 2, 3, 2))[0]
    if kind == "subject":
        verb = sampler.personal.draw(rng)
        when = rng.choice((PRESENT, PAST))
        return main(sampler.clause(verb, Question(True), when=when, extras=0.5), "?")
    if kind == "object":
        verb = sampler.transitive.draw(rng)
        human = "person" in verb.object.split(",") and sampler.chance(0.5)
        if "en" in verb.extras or (not human and not _takes_things(verb)):
            return None
        subject = _asked_subject(sampler, verb)
        when = rng.choice((PRESENT, PAST))
        clause = Clause(verb, subject, direct=Question(human), when=when)
        return main(clause, "?")
    verb = sampler.verbs.draw(rng)
    if kind == "where" and "loc" not in verb.extras:
        return None
    clause = sampler.clause(
        verb, _asked_subject(sampler, verb), extras=0.0 if kind == "where" else 0.6
    )
    if any(adverbial.role == "frequency" for adverbial in clause.adverbials):
        return None
    if kind == "where":
        clause.adverbials.append(Adverb("where", "wo", "location"))
    return main(clause, "?")


def _takes_things(verb: Verb) -> bool:
    return not set(verb.object.split(",")) <= {"person", "animal", "worker", "group", "wild"}


def _asked_subject(sampler: Sampler, verb: Verb) -> Nominal:
    subject = sampler.subject(verb)
    return subject


@phenomenon("negation")
def negation(grammar: Grammar) -> Draft | None:
    """Negation: nicht in its place, kein with an indefinite object."""
    sampler = grammar.sampler
    clause = sampler.clause(extras=0.5)
    clause.negated = True
    if clause.when.tense == "present" and not clause.when.progressive and sampler.chance(0.2):
        clause.when = Tense(modal="can")
    return _negated(clause, sampler)


def _negated(clause: Clause, sampler: Sampler) -> Draft | None:
    subject = clause.subject
    if isinstance(subject, NounPhrase) and subject.determiner not in ("the", "this", "my", "our"):
        subject.determiner = "the"
    for nominal in (clause.direct, clause.indirect):
        if isinstance(nominal, Coordination):
            return None
        if isinstance(nominal, NounPhrase) and nominal.determiner not in ("the", "a", "this"):
            nominal.determiner = "a" if sampler.chance(0.5) else "the"
    if isinstance(clause.indirect, NounPhrase) and clause.indirect.determiner == "a":
        clause.indirect.determiner = "the"
    if any(adverbial.role == "frequency" for adverbial in clause.adverbials):
        return None
    return main(clause)


@phenomenon("perfect")
def perfect(grammar: Grammar) -> Draft | None:
    """The perfect with haben or sein: Der Mann ist gegangen."""
    tense = "past" if grammar.sampler.chance(0.25) else "present"
    return main(grammar.sampler.clause(when=Tense(tense, perfect=True), extras=1.0))


@phenomenon("future")
def future(grammar: Grammar) -> Draft | None:
    """The future: The man will see the dog | Der Mann wird den Hund sehen."""
    return main(grammar.sampler.clause(when=Tense(future=True), extras=1.2))


@phenomenon("modal")
def modal(grammar: Grammar) -> Draft | None:
    """A modal verb with the infinitive at the end: Der Mann kann den Hund sehen."""
    verb = grammar.rng.choices(("can", "must", "should", "may"), (5, 3, 3, 1))[0]
    return main(grammar.sampler.clause(when=Tense(modal=verb), extras=0.8))


@phenomenon("passive")
def passive(grammar: Grammar) -> Draft | None:
    """The passive with werden: Das Buch wird gelesen, wurde gelesen, ist gelesen worden."""
    sampler, rng = grammar.sampler, grammar.rng
    verb = sampler.passive_verbs.draw(rng)
    subject = sampler.noun_phrase(verb.object, adjectives=0.3)
    tenses = (PAST, PRESENT, Tense(perfect=True), Tense(modal="must"), Tense(modal="can"))
    when = rng.choices(tenses, (8, 5, 3, 1, 1))[0]
    clause = Clause(verb, subject, when=when, passive=True)
    if sampler.chance(0.45) or verb.lemma == "fressen":
        agent = sampler.noun_phrase(verb.subject, plural=0.15, adjectives=0.2)
        if agent.noun is subject.noun:
            return None
        by = Prepositional("by", "von", "dat", agent, "agent", "obl:agent")
        clause.adverbials.append(by)
    sampler.add_extras(clause, 0.6)
    clause.adverbials = [a for a in clause.adverbials if a.role != "manner"]
    return main(clause)


@phenomenon("copula")
def copula(grammar: Grammar) -> Draft | None:
    """A predicate adjective, which German leaves without ending: Das Haus ist alt."""
    sampler, rng = grammar.sampler, grammar.rng
    phrase = sampler.noun_phrase(
        "visible,abstract,food,drink,readable,event,room,sound", adjectives=0.1
    )
    clause = predication(grammar, phrase, rng.choice((PRESENT, PAST)))
    if clause is None:
        return None
    clause.negated = sampler.chance(0.15) and phrase.kind == "definite"
    return main(clause)


@phenomenon("motion")
def motion(grammar: Grammar) -> Draft | None:
    """Two-way prepositions: in den Garten (motion, accusative), im Garten (rest, dative)."""
    sampler = grammar.sampler
    verb = sampler.verbs.draw(grammar.rng)
    while verb.frame not in ("dir", "city", "put", "loc"):
        verb = sampler.verbs.draw(grammar.rng)
    return main(sampler.clause(verb, extras=0.5))
