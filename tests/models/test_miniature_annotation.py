"""Every tree is a tree, every agreement agrees, every index points at what it says.

Agreement is derived a second time from tables written for these tests, not from the grammar.
"""

from __future__ import annotations

from itertools import islice

import pytest

from headcount.models.data.miniature import AnnotatedPair, AnnotatedSentence, Word, pairs

COUNT = 1_500
CONTENT = ("NOUN", "VERB", "ADJ", "PROPN")

# Nominative, accusative, dative, genitive by Masc, Fem, Neut, Plur: Duden's tables.
DER = {
    "Nom": {"Masc": "der", "Fem": "die", "Neut": "das", "Plur": "die"},
    "Acc": {"Masc": "den", "Fem": "die", "Neut": "das", "Plur": "die"},
    "Dat": {"Masc": "dem", "Fem": "der", "Neut": "dem", "Plur": "den"},
    "Gen": {"Masc": "des", "Fem": "der", "Neut": "des", "Plur": "der"},
}
ADJECTIVE_ENDINGS = {
    "weak": {
        "Nom": {"Masc": "e", "Fem": "e", "Neut": "e", "Plur": "en"},
        "Acc": {"Masc": "en", "Fem": "e", "Neut": "e", "Plur": "en"},
        "Dat": {"Masc": "en", "Fem": "en", "Neut": "en", "Plur": "en"},
        "Gen": {"Masc": "en", "Fem": "en", "Neut": "en", "Plur": "en"},
    },
    "mixed": {
        "Nom": {"Masc": "er", "Fem": "e", "Neut": "es", "Plur": "en"},
        "Acc": {"Masc": "en", "Fem": "e", "Neut": "es", "Plur": "en"},
        "Dat": {"Masc": "en", "Fem": "en", "Neut": "en", "Plur": "en"},
        "Gen": {"Masc": "en", "Fem": "en", "Neut": "en", "Plur": "en"},
    },
    "strong": {
        "Nom": {"Masc": "er", "Fem": "e", "Neut": "es", "Plur": "e"},
        "Acc": {"Masc": "en", "Fem": "e", "Neut": "es", "Plur": "e"},
        "Dat": {"Masc": "em", "Fem": "er", "Neut": "em", "Plur": "en"},
        "Gen": {"Masc": "en", "Fem": "er", "Neut": "en", "Plur": "er"},
    },
}
DECLENSION = {
    **dict.fromkeys(("der", "dieser", "jeder", "alle"), "weak"),
    **dict.fromkeys(("ein", "kein", "mein", "unser", "sein", "ihr"), "mixed"),
}
TWO_WAY = ("in", "an", "auf", "unter", "hinter", "vor", "neben", "über")
PREPOSITION_CASES = {
    **dict.fromkeys(("mit", "von", "zu", "nach", "aus", "bei"), frozenset({"Dat"})),
    **dict.fromkeys(("für", "ohne"), frozenset({"Acc"})),
    **dict.fromkeys(TWO_WAY, frozenset({"Dat", "Acc"})),
    "während": frozenset({"Gen"}),
}


@pytest.fixture(scope="module")
def sample() -> list[AnnotatedPair]:
    return list(islice(pairs(seed=3), COUNT))


def sides(sample: list[AnnotatedPair]) -> list[AnnotatedSentence]:
    return [side for pair in sample for side in (pair.source, pair.target)]


def feats(word: Word) -> dict[str, str]:
    return dict(word.feats)


def cell(word: Word) -> tuple[str, str]:
    """Case and column (gender, or Plur) of a German nominal word."""
    found = feats(word)
    return found["Case"], "Plur" if found["Number"] == "Plur" else found["Gender"]


def children(sentence: AnnotatedSentence, head: int, *relations: str) -> list[Word]:
    return [w for w in sentence.words if w.head == head and w.relation in relations]


def test_every_tree_is_a_tree(sample: list[AnnotatedPair]) -> None:
    for sentence in sides(sample):
        words = sentence.words
        roots = [word for word in words if word.head == -1]
        assert len(roots) == 1 and roots[0].relation == "root"
        assert all(word.relation != "root" for word in words if word.head >= 0)
        for index, word in enumerate(words):
            assert -1 <= word.head < len(words) and word.head != index
            steps, current = 0, index
            while words[current].head >= 0:
                current = words[current].head
                steps += 1
                assert steps <= len(words), sentence.text  # no cycle
            assert steps == word.depth


def test_function_words_have_no_dependents_but_fixed_ones(sample: list[AnnotatedPair]) -> None:
    for sentence in sides(sample):
        for word in sentence.words:
            if word.head >= 0:
                head = sentence.words[word.head]
                if head.relation in ("case", "mark", "cc", "punct", "aux", "cop", "det"):
                    assert word.relation == "fixed", sentence.text


def test_spans_and_text_agree(sample: list[AnnotatedPair]) -> None:
    for sentence in sides(sample):
        fused = {i: form for first, last, form in sentence.fused for i in (first, last)}
        text = ""
        for index, word in enumerate(sentence.words):
            written = sentence.text[word.start : word.end]
            assert written == fused.get(index, word.form)
            if word.start >= len(text):
                text = text.ljust(word.start) + written
        assert text == sentence.text
        assert sentence.text[0].isupper() and sentence.text[-1] in ".?"
        assert "  " not in sentence.text and " ," not in sentence.text


def test_constituents_nest(sample: list[AnnotatedPair]) -> None:
    for sentence in sides(sample):
        spans = [(span.start, span.end) for span in sentence.constituents]
        assert (0, len(sentence.words)) in spans
        for start, end in spans:
            assert 0 <= start < end <= len(sentence.words)
            for other, stop in spans:
                crossing = start < other < end < stop
                assert not crossing, sentence.text


def test_alignments_point_at_words_and_cover_the_content(sample: list[AnnotatedPair]) -> None:
    for pair in sample:
        linked_source = {i for i, _ in pair.alignment}
        linked_target = {j for _, j in pair.alignment}
        assert linked_source <= set(range(len(pair.source.words)))
        assert linked_target <= set(range(len(pair.target.words)))
        for words, linked in (
            (pair.source.words, linked_source),
            (pair.target.words, linked_target),
        ):
            content = {i for i, w in enumerate(words) if w.upos in ("NOUN", "VERB", "ADJ", "PROPN")}
            assert content <= linked, pair.source.text
        for i, j in pair.alignment:
            source, target = pair.source.words[i], pair.target.words[j]
            if source.upos in ("NOUN", "PROPN"):
                assert (source.supersense, source.sense) == (target.supersense, target.sense)


def test_german_articles_agree_with_their_nouns(sample: list[AnnotatedPair]) -> None:
    seen = set()
    for pair in sample:
        words = pair.target.words
        for word in words:
            if word.relation in ("det", "det:poss") and word.upos == "DET":
                assert cell(word) == cell(words[word.head]), pair.target.text
                case, column = cell(word)
                if word.lemma == "der":
                    assert word.form.lower() == DER[case][column], pair.target.text
                    seen.add((case, column))
                elif word.lemma in ("ein", "kein", "mein", "unser", "sein", "ihr"):
                    bare = (case, column) in (("Nom", "Masc"), ("Nom", "Neut"), ("Acc", "Neut"))
                    ending = "" if bare else DER[case][column].replace("ie", "e")[1:]
                    ending = "e" if column in ("Fem", "Plur") and case in ("Nom", "Acc") else ending
                    assert word.form.lower() == word.lemma + ending, pair.target.text
    assert len(seen) == 16  # every cell of the table occurs


def test_german_adjectives_agree(sample: list[AnnotatedPair]) -> None:
    seen = set()
    for pair in sample:
        words = pair.target.words
        for index, word in enumerate(words):
            if word.relation != "amod":
                continue
            assert cell(word) == cell(words[word.head]), pair.target.text
            determiners = children(pair.target, word.head, "det", "det:poss", "nummod")
            lemma = determiners[0].lemma if determiners else ""
            declension = DECLENSION.get(lemma, "strong")
            case, column = cell(word)
            ending = ADJECTIVE_ENDINGS[declension][case][column]
            stem = {"hoch": "hoh", "teuer": "teur", "dunkel": "dunkl"}.get(word.lemma)
            stem = stem or {"sauer": "saur", "edel": "edl", "müde": "müd"}.get(word.lemma)
            assert word.form.lower() == (stem or word.lemma) + ending, (index, pair.target.text)
            seen.add((declension, case, column))
    assert len(seen) > 20


def test_german_nouns_have_their_case(sample: list[AnnotatedPair]) -> None:
    """Dative plural in -n or -s, genitive in -s or weak -n; nouns are capitalised."""
    for pair in sample:
        for word in pair.target.words:
            if word.upos != "NOUN":
                continue
            assert word.form[0].isupper()
            if cell(word) == ("Dat", "Plur"):
                assert word.form[-1] in "ns", pair.target.text
            if cell(word)[0] == "Gen" and cell(word)[1] in ("Masc", "Neut"):
                assert word.form[-1] in "ns", pair.target.text


@pytest.mark.parametrize(
    ("lemma", "oblique"),
    [("Student", "Studenten"), ("Bär", "Bären"), ("Junge", "Jungen"), ("Kunde", "Kunden")],
)
def test_weak_nouns_take_their_ending(
    sample: list[AnnotatedPair], lemma: str, oblique: str
) -> None:
    forms = {
        (feats(word)["Case"], word.form)
        for pair in sample
        for word in pair.target.words
        if word.lemma == lemma and feats(word)["Number"] == "Sing"
    }
    assert ("Nom", lemma) in forms
    assert {form for case, form in forms if case != "Nom"} == {oblique}


def test_prepositions_govern_their_case(sample: list[AnnotatedPair]) -> None:
    for pair in sample:
        for word in pair.target.words:
            if word.relation == "case" and word.upos == "ADP":
                noun = pair.target.words[word.head]
                assert feats(noun)["Case"] in PREPOSITION_CASES[word.lemma], pair.target.text


def test_two_way_prepositions_tell_motion_from_rest(sample: list[AnnotatedPair]) -> None:
    for pair in sample:
        for word in pair.target.words:
            if word.lemma in TWO_WAY and word.relation == "case":
                noun = pair.target.words[word.head]
                roles = {role for role, _ in noun.roles}
                if "direction" in roles:
                    assert feats(noun)["Case"] == "Acc", pair.target.text
                if roles & {"location", "time"}:
                    assert feats(noun)["Case"] == "Dat", pair.target.text


def finite_verb(sentence: AnnotatedSentence, predicate: int) -> Word | None:
    candidates = [
        sentence.words[predicate],
        *children(sentence, predicate, "aux", "aux:pass", "cop"),
    ]
    finite = [word for word in candidates if feats(word).get("VerbForm") == "Fin"]
    return finite[0] if finite else None


def test_verbs_agree_with_their_subjects(sample: list[AnnotatedPair]) -> None:
    checked = 0
    for sentence in sides(sample):
        words = sentence.words
        for index, word in enumerate(words):
            if word.relation not in ("nsubj", "nsubj:pass"):
                continue
            verb = finite_verb(sentence, word.head)
            assert verb is not None, sentence.text
            subject = word
            if feats(word).get("PronType") == "Rel":  # the antecedent's number
                subject = words[words[word.head].head]
            number = feats(subject).get("Number", "Sing")
            if children(sentence, words.index(subject), "conj"):
                number = "Plur"
            found = feats(verb)
            if "Number" in found:
                assert found["Number"] == number, sentence.text
                person = feats(subject).get("Person", "3")
                assert found["Person"] == person, sentence.text
                checked += 1
            assert index != word.head
    assert checked > COUNT


@pytest.mark.parametrize(
    ("lemma", "singular", "plural"),
    [
        ("sehen", {"sieht", "sah"}, {"sehen", "sahen"}),
        ("sein", {"ist", "war"}, {"sind", "waren"}),
        ("haben", {"hat", "hatte"}, {"haben", "hatten"}),
        ("werden", {"wird", "wurde"}, {"werden", "wurden"}),
        ("können", {"kann"}, {"können"}),
        ("kaufen", {"kauft", "kaufte"}, {"kaufen", "kauften"}),
    ],
)
def test_verb_forms_of_the_third_person(
    sample: list[AnnotatedPair], lemma: str, singular: set[str], plural: set[str]
) -> None:
    forms: dict[str, set[str]] = {"Sing": set(), "Plur": set()}
    for pair in sample:
        for word in pair.target.words:
            found = feats(word)
            if word.lemma == lemma and found.get("Person") == "3":
                forms[found["Number"]].add(word.form.lower())
    assert forms["Sing"] and forms["Sing"] <= singular
    assert forms["Plur"] and forms["Plur"] <= plural


def test_german_verbs_stand_second_or_last(sample: list[AnnotatedPair]) -> None:
    for pair in sample:
        words = pair.target.words
        for index, word in enumerate(words):
            marks = [w for w in children(pair.target, index, "mark") if w.upos == "SCONJ"]
            if not marks or word.relation == "root":
                continue
            verb = finite_verb(pair.target, index)
            assert verb is not None
            following = words[words.index(verb) + 1]
            assert following.upos in ("PUNCT", "CCONJ"), pair.target.text


def test_separable_verbs_split_in_main_clauses_alone(sample: list[AnnotatedPair]) -> None:
    forms = {
        (word.form, tuple(p.form for p in children(pair.target, index, "compound:prt")))
        for pair in sample
        for index, word in enumerate(pair.target.words)
        if word.lemma == "anrufen"
    }
    assert {("ruft", ("an",)), ("angerufen", ())} <= forms
    assert all(prefix == ("an",) for form, prefix in forms if form in ("ruft", "rufen", "rief"))
    assert all(not prefix for form, prefix in forms if "an" in form)


def test_relative_pronouns_agree_with_their_antecedents(sample: list[AnnotatedPair]) -> None:
    forms = {**DER["Nom"]}
    for pair in sample:
        words = pair.target.words
        for word in words:
            if feats(word).get("PronType") != "Rel":
                continue
            relative = word.head if words[word.head].relation == "acl:relcl" else -1
            if relative >= 0:
                antecedent = words[words[relative].head]
                assert cell(word)[1] == cell(antecedent)[1], pair.target.text
                if cell(word)[0] == "Nom":
                    assert word.form == forms[cell(word)[1]]


def test_roles_point_at_predicates(sample: list[AnnotatedPair]) -> None:
    for sentence in sides(sample):
        for word in sentence.words:
            for _, predicate in word.roles:
                assert sentence.words[predicate].upos in ("VERB", "ADJ"), sentence.text
                assert predicate == word.head


def test_english_articles_fit_their_words(sample: list[AnnotatedPair]) -> None:
    vowel_sounds = ("honest", "heir")
    consonant_sounds = ("university", "useful")
    for pair in sample:
        words = pair.source.words
        for index, word in enumerate(words):
            if word.lemma == "a":
                following = words[index + 1].form
                vowel = following[0] in "aeiou" and following not in consonant_sounds
                expected = "an" if vowel or following in vowel_sounds else "a"
                assert word.form.lower() == expected, pair.source.text
                assert feats(words[word.head])["Number"] == "Sing"
