"""The gold annotation as files: CoNLL-U for each side, and the word alignment.

Annotation beyond Universal Dependencies stands in MISC as Key=Value:

| key | value |
| --- | --- |
| Supersense | WordNet-like class: noun.animal, verb.motion, adj.all |
| Role | semantic role and the number of its predicate, agent:3; several are joined by `,` |
| Entity | PERSON, LOCATION, ORGANIZATION, DATE |
| Sense | sense of an ambiguous word: bat.animal |
| Animacy | human, animal, inanimate |
| Depth | dependency arcs to the root |
| SpaceAfter | No, where no space follows |

Comments before a sentence: `sent_id`, `text`, `text_en` or `text_de` (the translation),
`phenomenon`, `distance`, `focus` and `cue` (numbers of the word in question and of what decides
it), `constituents` (label:first-last ...), and on the German side `contrast` for each wrong
translation. Numbers count from 1, as everywhere in CoNLL-U; the alignment file is in Pharaoh
format, `i-j` for source word i and target word j, and counts from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ...files import replacing
from .annotation import AnnotatedPair, AnnotatedSentence, Word
from .corpus import MiniatureCorpus


def write_gold(corpus: MiniatureCorpus, folder: Path) -> list[Path]:
    """Write every part of a corpus: PART.en.conllu, PART.de.conllu and PART.align.

    Args:
        corpus: annotated pairs
        folder: made if missing; files in it are replaced whole or not at all

    Returns:
        the files, in the order in which they were written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part, pairs in corpus.splits.items():
        for suffix, lines in (
            ("en.conllu", conllu_lines(pairs, part, target=False)),
            ("de.conllu", conllu_lines(pairs, part, target=True)),
            ("align", alignment_lines(pairs)),
        ):
            path = folder / f"{part}.{suffix}"
            with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
            paths.append(path)
    return paths


def alignment_lines(pairs: Iterable[AnnotatedPair]) -> Iterator[str]:
    """Yield one line of Pharaoh format for each pair."""
    for pair in pairs:
        yield " ".join(f"{source}-{target}" for source, target in pair.alignment)


def conllu_lines(pairs: Iterable[AnnotatedPair], name: str, target: bool) -> Iterator[str]:
    """Yield the lines of a CoNLL-U file of one side.

    Args:
        pairs: what to write
        name: beginning of every `sent_id`
        target: the German side instead of the English one
    """
    for number, pair in enumerate(pairs, 1):
        yield from _comments(pair, f"{name}-{number}", target)
        yield from _rows(pair.target if target else pair.source)
        yield ""


def _comments(pair: AnnotatedPair, identity: str, target: bool) -> Iterator[str]:
    sentence, other = (pair.target, pair.source) if target else (pair.source, pair.target)
    yield f"# sent_id = {identity}"
    yield f"# text = {sentence.text}"
    yield f"# text_{'en' if target else 'de'} = {other.text}"
    yield f"# phenomenon = {pair.phenomenon}"
    yield f"# distance = {pair.distance}"
    word, cue = pair.focus.source, pair.focus.source_cue
    if target:
        word, cue = pair.focus.target, pair.focus.target_cue
    if word >= 0:
        yield f"# focus = {word + 1}"
        yield f"# cue = {cue + 1}"
    spans = (f"{span.label}:{span.start + 1}-{span.end}" for span in sentence.constituents)
    yield f"# constituents = {' '.join(spans)}"
    if target:
        for contrast in pair.contrasts:
            yield f"# contrast = {contrast}"


def _rows(sentence: AnnotatedSentence) -> Iterator[str]:
    """Yield the words, each contraction before its words as a range."""
    ranges = {first: (last, form) for first, last, form in sentence.fused}
    inside: set[int] = set()
    for index, word in enumerate(sentence.words):
        if index in ranges:
            last, form = ranges[index]
            misc = "SpaceAfter=No" if _runs_on(word, sentence.text) else "_"
            yield "\t".join([f"{index + 1}-{last + 1}", form, *["_"] * 7, misc])
            inside.update(range(index, last + 1))
        yield _row(index, word, sentence.text, index in inside)


def _row(index: int, word: Word, text: str, inside: bool) -> str:
    feats = "|".join(f"{name}={value}" for name, value in word.feats) or "_"
    columns = [
        str(index + 1),
        word.form,
        word.lemma,
        word.upos,
        "_",
        feats,
        str(word.head + 1),
        word.relation,
        "_",
        _misc(word, text, inside),
    ]
    return "\t".join(columns)


def _misc(word: Word, text: str, inside: bool) -> str:
    values = {
        "Animacy": word.animacy,
        "Depth": str(word.depth),
        "Entity": word.entity,
        "Role": ",".join(f"{role}:{predicate + 1}" for role, predicate in word.roles),
        "Sense": word.sense,
        "SpaceAfter": "No" if not inside and _runs_on(word, text) else "",
        "Supersense": word.supersense,
    }
    return "|".join(f"{key}={value}" for key, value in values.items() if value)


def _runs_on(word: Word, text: str) -> bool:
    """Tell whether another character follows a word at once."""
    return text[word.end : word.end + 1] not in ("", " ")
