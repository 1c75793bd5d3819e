"""Words that another word decides, near or far: pronouns, possessives and agreement.

- `pronoun`: English `it` is German er, sie or es by the gender of its antecedent.
- `possessive`: `its` is sein or ihr by the gender of the possessor.
- `agreement`: the verb agrees with its subject, whatever stands between them; the modifiers
  in between have nouns of the other number (attractors).
"""

from __future__ import annotations

from ..grammar import clauses
from ..grammar.descriptions import Clause, Subordinate
from ..grammar.nominals import Prepositional, Pronoun
from ..grammar.noun_phrases import NounPhrase
from ..grammar.verb_chains import COPULA, PAST, PRESENT
from .drafts import Draft, coordinate, sentence, text_with, wrong_gender, wrong_number
from .family import Grammar, phenomenon, predication, same_again
from .relatives import RelativeClause

_THINGS = "movable,vehicle,furniture,building&!station,device,music,fruit,animal,plant,picture"
# Verbs whose object is taken up by `it`, and verbs that take it up.
_USED = frozenset(
    (
        "buy",
        "sell",
        "find",
        "repair",
        "look",
        "clean",
        "paint",
        "steal",
        "admire",
        "visit",
        "photograph",
        "build",
        "rent",
        "lose",
        "use",
        "examine",
        "see",
        "feed",
        "watch",
        "need",
    )
)
_SECOND = frozenset(
    (
        "read",
        "sell",
        "repair",
        "admire",
        "photograph",
        "use",
        "clean",
        "paint",
        "hide",
        "eat",
        "wash",
        "forget",
        "examine",
    )
)


def _modify(grammar: Grammar, phrase: NounPhrase, count: int, plural: bool | None = None) -> bool:
    """Hang modifiers behind a noun; `plural` is the number of the nouns in them."""
    sampler = grammar.sampler
    current = phrase
    for index in range(count):
        last = index == count - 1
        if last and sampler.chance(0.45):
            kind = "object" if plural is not None or sampler.chance(0.8) else "predicate"
            return grammar.relatives.add(current, kind, plural=plural)
        following = _attractor(grammar, current, plural)
        if following is None:
            return False
        if following.english == "of" and current.determiner in ("my", "our"):
            current.determiner = "the"
        current.after = (*current.after, following)
        if not isinstance(following.nominal, NounPhrase):
            return False
        current = following.nominal
    return True


# What modifies a noun: tags of the noun, then English, German, case and tags of the modifier.
_MODIFIERS = (
    (
        "person",
        "with",
        "mit",
        "dat",
        "hat,bag,umbrella,basket,book,pet,horse,guitar,camera,suitcase",
    ),
    ("person", "from", "aus", "dat", "region,castle,hotel,shop,library"),
    (
        "friend,brother,sister,son,daughter,colleague,guest,pet,farm,movable,vehicle,music,furniture",
        "of",
        "",
        "gen",
        "person&!child",
    ),
    ("person,animal,vehicle", "behind", "hinter", "dat", "tree,bush,house,church,gate,desk,door"),
    ("animal,vehicle,plant", "next to", "neben", "dat", "house,tree,bridge,river,school,tower"),
    ("plant,animal", "in", "in", "dat", "garden,park,forest,valley,zoo"),
    ("movable&!container", "in", "in", "dat", "box"),
    ("movable", "on", "auf", "dat", "surface"),
    ("furniture,device&!movable", "in", "in", "dat", "room&!balcony&!attic,house,office"),
    ("building&!station&!airport", "in", "in", "dat", "region,valley"),
    ("building,room,place", "behind", "hinter", "dat", "house,church,forest,school,museum,castle"),
    ("building,region,place", "next to", "neben", "dat", "river,lake,mountain,station,tower"),
)


def _attractor(grammar: Grammar, phrase: NounPhrase, plural: bool | None) -> Prepositional | None:
    """Return a modifier with a noun of the given number: of the teachers, in the boxes."""
    sampler = grammar.sampler
    share = 0.3 if plural is None else float(plural)
    suiting = [entry for entry in _MODIFIERS if sampler.words.matches(phrase.noun, entry[0])]
    if not suiting:
        return None
    _, english, german, case, tags = sampler.rng.choice(suiting)
    inner = sampler.noun_phrase(tags, plural=share, adjectives=0.12, determiner="the")
    return Prepositional(english, german, case, inner) if inner.noun is not phrase.noun else None


@phenomenon("agreement")
def agreement(grammar: Grammar) -> Draft | None:
    """The verb agrees with a distant subject: The keys of the teacher are old."""
    sampler, rng = grammar.sampler, grammar.rng
    plural = sampler.chance(0.5)
    tags = "person&!child,animal,movable,vehicle,furniture,building,plant"
    subject = sampler.noun_phrase(tags, plural=float(plural), adjectives=0.1, determiner="the")
    count = grammar.modifiers() if grammar.distance is not None else rng.choice((1, 1, 1, 2, 2, 3))
    if not _modify(grammar, subject, count, not plural):
        return None
    if subject.noun.supersense in ("noun.person", "noun.animal") and sampler.chance(0.6):
        verb = grammar.relatives.verbs_of(subject.noun, False).draw(rng)
        clause = sampler.clause(verb, subject, when=PRESENT, extras=0.0, adjectives=0.1)
    else:
        found = predication(grammar, subject, PRESENT if sampler.chance(0.6) else PAST)
        if found is None:
            return None
        clause = found
    draft = sentence(clauses.build(clause))
    draft.focus, draft.cue = clause.finite, subject.words
    draft.contrasts = lambda: wrong_number(clause, draft)
    return draft


@phenomenon("pronoun")
def pronoun(grammar: Grammar) -> Draft | None:
    """`It` takes up a noun: Er kauft die Lampe, weil sie billig ist."""
    sampler, rng = grammar.sampler, grammar.rng
    verbs = [v for v in sampler.transitive.items if v.english in _USED and v.frame == "t"]
    verb = rng.choice(verbs)
    when = PRESENT if sampler.chance(0.45) else PAST
    subject = sampler.subject(verb, 0.1)
    while not _person(subject):
        subject = sampler.subject(verb, 0.1)
    antecedent = sampler.noun_phrase(verb.object, plural=0.0, adjectives=0.15)
    while not sampler.words.matches(antecedent.noun, _THINGS):
        antecedent = sampler.noun_phrase(verb.object, plural=0.0, adjectives=0.15)
    if antecedent.determiner not in ("the", "a", "this", "my"):
        antecedent.determiner = "the"
    if not _modify(grammar, antecedent, grammar.modifiers()):
        return None
    it = Pronoun("3", False, "n", antecedent.noun.gender, antecedent.noun.animacy)
    first = Clause(verb, subject, direct=antecedent, when=when)
    kind = rng.choices(("state", "need", "second"), (6, 2, 3))[0]
    second = _about(grammar, kind, antecedent, it, first)
    if second is None:
        return None
    if kind == "second":
        second.elided = True
        both = clauses.build(first), clauses.build(second)
        pair = coordinate(*both, "and", "und", commas=False)
    else:
        words = ("although", "obwohl") if sampler.chance(0.3) else ("because", "weil")
        if kind == "need":
            words = ("because", "weil")
        first.after.append(Subordinate(second, *words, "advcl"))
        pair = clauses.build(first)
    draft = sentence(pair)
    draft.focus, draft.cue = it.words, antecedent.words
    draft.contrasts = lambda: wrong_gender(it, draft)
    return draft


def _person(subject: object) -> bool:
    """Tell whether a subject cannot be what `it` means."""
    if isinstance(subject, Pronoun):
        return True
    return isinstance(subject, NounPhrase) and subject.noun.supersense == "noun.person"


def _about(
    grammar: Grammar, kind: str, antecedent: NounPhrase, it: Pronoun, first: Clause
) -> Clause | None:
    """Return the second clause, in which `it` is subject or object."""
    sampler, rng = grammar.sampler, grammar.rng
    if kind == "state":
        choice = sampler.words.adjectives_of(antecedent.noun)
        if not len(choice):
            return None
        adjective = choice.draw(rng)
        said = [m.clause.predicate for m in antecedent.after if isinstance(m, RelativeClause)]
        if adjective in antecedent.adjectives or any(said):
            return None
        return Clause(COPULA, it, predicate=adjective, when=first.when)
    verbs = [
        verb
        for verb in sampler.transitive.items
        if verb.english in (_SECOND if kind == "second" else ("need", "love", "know"))
        and sampler.words.matches(antecedent.noun, verb.object)
        and "person" in verb.subject
        and verb is not first.verb
    ]
    if not verbs:
        return None
    verb = rng.choice(verbs)
    singular = (
        first.subject is not None and first.subject.person == "3" and not first.subject.plural
    )
    if verb.same_past and not singular:
        return None
    if kind == "second":
        return Clause(verb, first.subject, direct=it, when=first.when)
    again = same_again(first.subject)
    if again is None:
        return None
    negated = first.verb.english in ("sell", "lose", "forget")
    return Clause(verb, again, direct=it, when=first.when, negated=negated)


@phenomenon("possessive")
def possessive(grammar: Grammar) -> Draft | None:
    """`Its` is sein or ihr by the possessor: Die Katze trinkt ihre Milch."""
    sampler, rng = grammar.sampler, grammar.rng
    verbs = [v for v in sampler.verbs.items if "animal" in v.subject.split(",") and v.frame == "t"]
    verb = rng.choice(verbs)
    subject = sampler.noun_phrase("animal", plural=0.0, adjectives=0.25, determiner="")
    if subject.determiner not in ("the", "a", "this", "my"):
        subject.determiner = "the"
    count = min(grammar.modifiers(), 2)
    if not _modify(grammar, subject, count):
        return None
    owned = "food,drink,ball&!stone,basket,friend,brother,mother"
    if not any(
        sampler.words.matches(noun, verb.object) for noun in sampler.words.matching(owned).items
    ):
        return None
    thing = sampler.noun_phrase(owned, plural=0.2, adjectives=0.15)
    while not sampler.words.matches(thing.noun, verb.object):
        thing = sampler.noun_phrase(owned, plural=0.2, adjectives=0.15)
    if "female" in thing.noun.tags:
        thing.plural = False
    thing.determiner = "its " + subject.noun.gender
    clause = sampler.clause(verb, subject, extras=0.4)
    clause.direct = thing
    draft = sentence(clauses.build(clause))
    draft.cue = subject.words
    own = next(token for token in draft.english.tokens if token.form == "its")
    other = own.links[0]
    draft.focus = own, other
    wrong = "sein" if other.lemma == "ihr" else "ihr"
    form = wrong + other.form[len(other.lemma) :]
    draft.contrasts = lambda: [text_with(draft.german, other, form)]
    return draft
