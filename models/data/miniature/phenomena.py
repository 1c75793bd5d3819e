"""What sentences show: one function a phenomenon, drawn by `WEIGHTS`.

Each function draws a description and returns it built on both sides. Where a phenomenon is
about one word that another decides (a pronoun by its antecedent, a verb by its subject), the
draft names both, and how the target looks if the model is fooled.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ...registry import Registry
from . import clauses
from .descriptions import Adverb, Clause, Subordinate
from .drafts import Draft, coordinate, main, sentence
from .lexicon import Verb
from .noun_phrases import Coordination, Nominal, NounPhrase, Prepositional, Pronoun, Question
from .relatives import RelativeSampler
from .sampling import Sampler
from .tree import Pair
from .verb_chains import COPULA, PAST, PRESENT, Tense


class Grammar:
    """Everything a phenomenon draws from.

    Args:
        rng: the only source of randomness
        distance: how far apart a word and what decides it should stand: the number of
            modifiers between them, None to draw it
    """

    def __init__(self, rng: Random, distance: int | None = None) -> None:
        self.rng = rng
        self.sampler = Sampler(rng)
        self.relatives = RelativeSampler(self.sampler)
        self.distance = distance

    def modifiers(self) -> int:
        """Draw how many modifiers stand between a word and what decides it."""
        if self.distance is not None:
            return self.distance
        return self.rng.choices((0, 1, 2, 3), (25, 45, 22, 8))[0]


Phenomenon = Callable[[Grammar], Draft | None]
phenomenon: Registry[Phenomenon] = Registry("phenomenon")

WEIGHTS = {
    "statement": 14,
    "fronting": 6,
    "question": 7,
    "negation": 8,
    "perfect": 8,
    "future": 3,
    "modal": 7,
    "passive": 7,
    "copula": 3,
    "motion": 6,
    "relative": 8,
    "coordination": 7,
    "complement": 7,
    "subordinate": 8,
    "infinitive": 5,
    "pronoun": 9,
    "possessive": 3,
    "agreement": 8,
    "sense": 10,
    "sense_adjective": 3,
}


@phenomenon("statement")
def statement(grammar: Grammar) -> Draft | None:
    """A main clause: The man sees the dog."""
    clause = grammar.sampler.clause(extras=1.5)
    subject = clause.subject
    if isinstance(subject, NounPhrase) and grammar.sampler.chance(0.06):
        if not (subject.noun.mass or subject.noun.name or subject.adjectives or subject.owner):
            subject.determiner = "no"
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


def predication(grammar: Grammar, phrase: NounPhrase, when: Tense) -> Clause | None:
    """Say of a noun phrase what it is like; None if no adjective suits it."""
    choice = grammar.sampler.words.adjectives_of(phrase.noun)
    if not len(choice):
        return None
    adjective = choice.draw(grammar.rng)
    phrase.adjectives = ()
    if phrase.determiner in ("bare", "no", "every", "a"):
        phrase.determiner = "the"
    return Clause(COPULA, phrase, predicate=adjective, when=when)


@phenomenon("motion")
def motion(grammar: Grammar) -> Draft | None:
    """Two-way prepositions: in den Garten (motion, accusative), im Garten (rest, dative)."""
    sampler = grammar.sampler
    verb = sampler.verbs.draw(grammar.rng)
    while verb.frame not in ("dir", "city", "put", "loc"):
        verb = sampler.verbs.draw(grammar.rng)
    return main(sampler.clause(verb, extras=0.5))


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
        if verb is first_clause.verb or _unclear(second_clause) or _unclear(first_clause):
            return None
        pair = _build_both(first_clause, second_clause, "and", "und")
        return sentence(pair)
    if first_clause.when.progressive:
        return None
    second_clause = sampler.clause(when=first_clause.when, extras=0.2, adjectives=0.2)
    if _unclear(first_clause) or _unclear(second_clause):
        return None
    words = rng.choice((("and", "und"), ("and", "und"), ("but", "aber")))
    return sentence(_build_both(first_clause, second_clause, *words))


def _build_both(first: Clause, second: Clause, english: str, german: str) -> Pair:
    pair = clauses.build(first), clauses.build(second)
    return coordinate(*pair, english, german, commas=not second.elided)


def _unclear(clause: Clause) -> bool:
    """Tell whether the tense of the clause could be read two ways."""
    subject = clause.subject
    plain = not (clause.when.perfect or clause.when.progressive or clause.when.modal)
    third = subject is not None and subject.person == "3" and not subject.plural
    progressive = clause.when.progressive
    return progressive or (plain and clause.verb.same_past and not third)


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
    inner = sampler.clause(when=inner_when, extras=0.3, adjectives=0.2)
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
    pronoun = _same_again(first.subject)
    english, german = rng.choice(words)
    second: Clause | None
    if pronoun is not None and sampler.chance(0.55):
        second = _state(grammar, first.subject, pronoun, when, english)
    else:
        second = sampler.clause(when=when, extras=0.2, adjectives=0.2)
    if second is None or _unclear(first) or _unclear(second):
        return None
    link_words = Subordinate(second, english, german, "advcl")
    if sampler.chance(0.3) and not isinstance(second.subject, Pronoun):
        first.before = link_words
    else:
        first.after.append(link_words)
    return main(first)


def _same_again(subject: Nominal | None) -> Pronoun | None:
    """Return the pronoun that takes a human subject up again."""
    if isinstance(subject, Pronoun):
        return Pronoun(subject.person, subject.plural, subject.gender)
    if not isinstance(subject, NounPhrase) or subject.noun.supersense != "noun.person":
        return None
    if subject.determiner in ("no", "every"):
        return None
    if subject.plural:
        return Pronoun("3", True)
    for tag, gender in (("male", "m"), ("female", "f")):
        if tag in subject.noun.tags:
            return Pronoun("3", False, gender)
    return None


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
