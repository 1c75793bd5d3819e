"""One network with a head for every role, its weights set by hand: all are found, no others."""

import random
from dataclasses import replace

import pytest
import torch

from headcount.analyses.role_text import RoleText
from headcount.analyses.roles import RolesSettings, roles
from headcount.models.data.parallel_text import Corpus, ParallelText
from headcount.models.data.vocabulary import BOS, EOS, Vocabulary
from headcount.models.gates import Attention, Head
from headcount.models.network import Network, NetworkSettings
from headcount.models.reinitialised import with_random_weights
from headcount.models.transformer import TransformerTranslator
from headcount.probe.annotations import AlignedPair, AnnotatedSentence
from headcount.probe.annotations.sentence import Role, Supersense, words_of


def names(stem: str) -> tuple[str, ...]:
    """Four words of a kind. One word would be found by some random head as well."""
    return tuple(stem + letter for letter in "abcd")


VERB, SUBJECT, ACT, AGENT = (names(stem) for stem in ("verb", "subject", "act", "agent"))
PRONOUN, TREE, RARE = (names(stem) for stem in ("pronoun", "tree", "rare"))
CLASSES = {"bush": "plant", "weed": "plant", "cup": "thing", "jug": "thing"}
MARK = "mark"
# Before the mark and behind it: two blocks.
LEFT, RIGHT = (*VERB, *SUBJECT, *ACT, *AGENT), (*PRONOUN, *TREE, *CLASSES, *RARE)
FREQUENT = (*LEFT, MARK, *PRONOUN, *TREE, *CLASSES)
"""Words that are not rare, the more frequent first."""
VOCABULARY = (*LEFT, MARK, *RIGHT)
PLACES, HEADS, SHARP = 20, 13, 2.0

pytestmark = pytest.mark.slow
PLANTED = {
    "encoder.0.0": ("position", "+1"),
    "encoder.0.1": ("syntax", "nsubj, head->dependent"),
    "encoder.0.2": ("tokens", "rare, token->rarest"),
    "encoder.0.3": ("tokens", "duplicate, token->same token"),
    "encoder.0.4": ("rest", "end"),
    "encoder.0.5": ("rest", "self"),
    "encoder.0.6": ("rest", "punctuation"),
    "encoder.0.7": ("semantics", "supersense, word->same class"),
    "encoder.0.8": ("semantics", "role, argument->predicate"),
    "encoder.0.9": ("semantics", "role, predicate->argument"),
    "encoder.0.10": ("semantics", "pronoun, word->what decides it"),
    "encoder.0.11": ("block", "block"),
    "decoder.0.0": ("position", "-1"),
    "decoder.0.1": ("rest", "start"),
    "decoder.0.2": ("tokens", "duplicate, token->same token"),
    "decoder.1.0": ("tokens", "induction, token->what followed it"),
    "cross.0.0": ("alignment", "alignment, target word->source word, read"),
}


def annotated(number: int, draw: random.Random) -> AnnotatedSentence:
    """Two shuffled blocks with a mark between them, some words of them twice.

    A verb has its own subject beside another's, an act its own agent, a pronoun its own tree.
    """
    (verb, other), (act, one), (it, two) = (draw.sample(range(4), k=2) for _ in range(3))
    left = [VERB[verb], SUBJECT[verb], SUBJECT[other], ACT[act], AGENT[act], AGENT[one]]
    right = [PRONOUN[it], TREE[it], TREE[two], *draw.sample(sorted(CLASSES), k=3)]
    left += draw.choices(left, k=draw.randrange(2))
    right += draw.choices(right[3:], k=draw.randrange(2))
    right += draw.choices(RARE, k=number % 2)
    draw.shuffle(left)
    draw.shuffle(right)
    forms = [*left, MARK, *right]
    at = {form: forms.index(form) for form in set(forms)}
    root, subject = at[VERB[verb]], at[SUBJECT[verb]]
    words = [
        replace(
            word,
            upos="PRON" if word.form in PRONOUN else "PUNCT" if word.form == MARK else "X",
            head=-1 if place == root else root,
            relation="root" if place == root else "nsubj" if place == subject else "dep",
        )
        for place, word in enumerate(words_of(" ".join(forms)))
    ]
    about = (("focus", str(at[PRONOUN[it]] + 1)), ("cue", str(at[TREE[it]] + 1)))
    senses = tuple(
        Supersense((place,), "N", CLASSES[form])
        for place, form in enumerate(forms)
        if form in CLASSES
    )
    return AnnotatedSentence(
        str(number),
        " ".join(forms),
        tuple(words),
        comments=about,
        has_tree=True,
        supersenses=senses,
        roles=(Role(at[ACT[act]], at[AGENT[act]], "agent"),),
    )


def text(count: int) -> RoleText:
    """Sentences whose translation is the same words backwards, linked word by word."""
    draw = random.Random(0)
    pairs = []
    for number in range(count):
        source = annotated(number, draw)
        forms = list(source.forms)
        said = " ".join(reversed(forms))
        target = AnnotatedSentence(source.id, said, words_of(said))
        links = tuple(
            (here, there)
            for here, form in enumerate(forms)
            for there, other in enumerate(reversed(forms))
            if form == other
        )
        pairs.append(AlignedPair(source, target, links, links))
    return RoleText("garden", pairs, linked=True)


class Garden:
    """A network of zeros in which heads are planted, one after another.

    Features of the residual stream: the word, the word before (which the first head of the
    decoder writes), and the position.
    """

    def __init__(self) -> None:
        self.vocabulary = Vocabulary.train(
            [" ".join(VOCABULARY)], kind="word", size=4 + len(VOCABULARY)
        )
        self.words = len(self.vocabulary)
        settings = NetworkSettings(
            width=2 * self.words + PLACES,
            feed_forward_width=4,
            encoder_layers=1,
            decoder_layers=2,
            heads=HEADS,
            head_width=self.words + PLACES,
            dropout=0.0,
            positions="learned",
            norm_place="pre",
            max_positions=PLACES,
        )
        self.network = Network(settings, settings.full_layout(), self.words, self.words)
        one = torch.eye(settings.width)
        tables = {
            "target_embedding.table": one[: self.words] / settings.width**0.5,
            "source_positions.table": one[2 * self.words :],
            "target_positions.table": one[2 * self.words :],
        }
        with torch.no_grad():
            for name, parameter in self.network.named_parameters():
                if name in tables:
                    parameter.copy_(tables[name])
                else:
                    parameter.fill_(1.0 if name.endswith("norm.weight") else 0.0)

    def id(self, form: str) -> int:
        special = {"BOS": BOS, "EOS": EOS}
        return special[form] if form in special else self.vocabulary.encode([form])[0].ids[0]

    def part(self, head: str):
        """The rows of a head in query and key, and the query's bias."""
        at = Head.parse(head)
        attention = self.network.attentions[Attention(at.site, at.layer)]
        rows = slice(at.head * attention.head_width, (at.head + 1) * attention.head_width)
        return attention.query.weight[rows], attention.key.weight[rows], attention.query.bias[rows]

    def look(self, head: str, pairs) -> None:
        """Let queries with one feature look at keys with another."""
        query, key, _ = self.part(head)
        for row, (asks, looks) in enumerate(pairs):
            query[row, asks], key[row, looks] = SHARP, SHARP

    def join(self, head: str, groups) -> None:
        """Let words look at words of their group, all alike."""
        query, key, _ = self.part(head)
        for row, group in enumerate(groups):
            for form in group:
                query[row, self.id(form)] = key[row, self.id(form)] = SHARP

    def avoid_self(self, head: str) -> None:
        """Keep a head from its own position."""
        query, key, _ = self.part(head)
        for place in range(PLACES):
            query[self.words + place, 2 * self.words + place] = 2 * SHARP
            key[self.words + place, 2 * self.words + place] = -2 * SHARP

    def rest(self, head: str, weights) -> None:
        """Let all queries look at words, the more the larger their weight."""
        _, key, bias = self.part(head)
        bias[0] = 5.0
        for form, weight in weights.items():
            key[0, self.id(form)] = weight

    def carry_back(self, head: str) -> None:
        """Write the word that the head reads to where the word before belongs."""
        at = Head.parse(head)
        attention = self.network.attentions[Attention(at.site, at.layer)]
        first = at.head * attention.head_width
        for word in range(self.words):
            attention.value.weight[first + word, word] = 1.0
            attention.output.weight[self.words + word, first + word] = 0.3


@pytest.fixture(scope="module")
def translator() -> TransformerTranslator:
    garden = Garden()
    words, places = garden.words, range(PLACES - 1)
    place = 2 * words
    same = [(word, word) for word in range(words)]

    def pairs(asks, looks):
        return [(garden.id(one), garden.id(other)) for one, other in zip(asks, looks, strict=True)]

    with torch.no_grad():
        garden.look("encoder.0.0", [(place + at, place + at + 1) for at in places])
        garden.look("encoder.0.1", pairs(VERB, SUBJECT))
        garden.rest("encoder.0.2", dict.fromkeys(RARE, 10.0))
        garden.look("encoder.0.3", same)
        garden.avoid_self("encoder.0.3")
        garden.rest("encoder.0.4", {"EOS": 10.0})
        garden.look("encoder.0.5", [(place + at, place + at) for at in range(PLACES)])
        garden.rest("encoder.0.6", {MARK: 10.0})
        garden.join("encoder.0.7", [("bush", "weed"), ("cup", "jug")])
        garden.avoid_self("encoder.0.7")
        garden.look("encoder.0.8", pairs(AGENT, ACT))
        garden.look("encoder.0.9", pairs(ACT, AGENT))
        garden.look("encoder.0.10", pairs(PRONOUN, TREE))
        garden.join("encoder.0.11", [LEFT, RIGHT])
        garden.look("decoder.0.0", [(place + at + 1, place + at) for at in places])
        garden.carry_back("decoder.0.0")
        garden.rest("decoder.0.1", {"BOS": 10.0})
        garden.look("decoder.0.2", same)
        garden.avoid_self("decoder.0.2")
        garden.look("decoder.1.0", [(word, words + word) for word in range(words)])
        garden.look("cross.0.0", same)
    garden.network.requires_grad_(False).eval()
    return TransformerTranslator(garden.network, garden.vocabulary, garden.vocabulary)


def corpus() -> Corpus:
    """Training text in which words are as rare as the planted head believes."""
    lines = [form for rank, form in enumerate(FREQUENT) for _ in range(40 - rank)] + [*RARE]
    train = ParallelText("train", lines, lines)
    return Corpus("garden", "xx", "xx", train, train, {"test": train}, "made")


SETTINGS = RolesSettings(random_networks=2, resamples=50, likeness_sentences=4, frequent_types=25)


def roles_of(translator: TransformerTranslator, **changes) -> dict[str, set[tuple[str, str]]]:
    settings = SETTINGS.with_changes(**changes)
    result = roles(translator, corpus(), settings, 0, text=text(80))
    found: dict[str, set[tuple[str, str]]] = {}
    for row in result.tables["roles"].rows.to_dict("records"):
        name = "{site}.{layer}.{head}".format(**row)
        found.setdefault(name, set()).add((row["family"], row["role"]))
    return found


def test_a_planted_head_for_every_role_is_recognised_and_idle_heads_have_none(translator):
    found = roles_of(translator)
    missing = {head: role for head, role in PLANTED.items() if role not in found.get(head, ())}
    assert not missing, found
    idle = {str(head) for head in translator.layout} - set(PLANTED)
    # Idle heads of the decoder rest on BOS in front, for they see little else.
    assert {head for head in idle & set(found) if not head.startswith("decoder")} == set()


def test_random_weights_have_next_to_none_of_these_roles(translator):
    """Beside four random networks a fifth is the most extreme once in five times, by little."""
    fifth = with_random_weights(translator, torch.Generator().manual_seed(100))
    found = roles_of(fifth, random_networks=4)
    kinds = {role for of in found.values() for role in of if role[0] != "rest"}
    assert len(kinds) <= 1, found  # of twenty kinds of questions that 52 heads were asked
