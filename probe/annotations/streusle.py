"""CoNLL-U-Lex: STREUSLE's supersenses and multiword expressions, nine columns after CoNLL-U's.

| column | what |
| --- | --- |
| SMWE | `1:2`: second word of the sentence's strong multiword expression 1 |
| LEXCAT | lexical category of the strong expression that begins here: N, V.LVC.full, P, ... |
| LEXLEMMA | its lemmas, which are not read |
| SS | supersense: n.PERSON, v.motion; of a preposition its SCENE ROLE (p.Topic) |
| SS2 | of a preposition its FUNCTION; the two differ where a preposition is used loosely |
| WMWE, WCAT, WLEMMA | weak multiword expressions, as SMWE; the two others are not read |
| LEXTAG | all of it as one tag, which is not read |

Every word belongs to exactly one strong expression, most often alone; the annotation stands
at the expression's first word and `_` at the others. `have a good experience` is the strong
expression `have ... experience` (words 1 and 4) with `a` and `good` between. In place of a
supersense stand `??` (unclear) and `` `$ `` (a possessive slot in an idiom) at times.
See https://github.com/nert-nlp/streusle/blob/master/CONLLULEX.md and Schneider et al. 2018.

The training part is not always at hand in this format; a table with the columns id, form,
LEXCAT, SS, SS2, SMWE can be put onto the words of a treebank instead (`SupersenseLayer`).

Counts: `sentences with supersenses`, `supersenses` (n., v. and p. labels), `unclear supersenses`
(`??`, `` `$ ``), `strong expressions`, `weak expressions` (of several words each).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .blocks import Block, Row, damaged, read_blocks
from .conllu_files import parsed_sentences, treebank_name
from .reader import LayerReader, TreebankReader, reader
from .sentence import AnnotatedSentence, Expression, Supersense
from .treebank import Treebank

COLUMNS = 19
LAYER_COLUMNS = 6
_MEMBER = re.compile(r"([1-9][0-9]*):([1-9][0-9]*)")


@reader("conllulex")
class ConllulexReader(TreebankReader):
    """CoNLL-U-Lex (STREUSLE): a treebank with supersenses and multiword expressions.

    Args:
        path: the file, also gzipped.
    """

    path: Path

    def read(self) -> Treebank:
        """Read the file; see `TreebankReader.read`."""
        return read_conllulex(self.path)


@reader("supersenses")
class SupersenseLayer(LayerReader):
    """STREUSLE's annotation on the words of another treebank of the same sentences (EWT).

    Args:
        path: a `.conllulex` file, or a table of id, form, LEXCAT, SS, SS2, SMWE; also gzipped.
    """

    path: Path

    def add_to(self, treebank: Treebank) -> Treebank:
        """Put the layers on; see `LayerReader.add_to`."""
        return add_supersenses(treebank, self.path)


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """What the lexical columns say of one word; `_` is None."""

    line: int
    category: str | None
    label: str | None
    function: str | None
    strong: str | None
    weak: str | None = None


def read_conllulex(path: Path) -> Treebank:
    """Read a CoNLL-U-Lex file.

    Raises:
        DataError: as `parsed_sentences`, or expressions whose words are not numbered in order.
    """
    counts: Counter[str] = Counter()
    sentences = []
    for parsed in parsed_sentences(path, COLUMNS):
        rows = [_lexical(row.line, row.columns[10:16]) for row in parsed.words]
        sentences.append(_with_layers(parsed.sentence, path, rows))
        counts.update(parsed.counts)
    counts.update(_counted(sentences))
    return Treebank(treebank_name(path), tuple(sentences), dict(counts))


def add_supersenses(treebank: Treebank, path: Path) -> Treebank:
    """Put supersenses and multiword expressions on sentences of the same ids and words.

    Args:
        treebank: what the annotation belongs to.
        path: a `.conllulex` file, or a table of id, form, LEXCAT, SS, SS2, SMWE.

    Raises:
        DataError: a damaged file, or a sentence that the treebank lacks or has in other words.
    """
    known = treebank.by_id
    annotated: dict[str, AnnotatedSentence] = {}
    for block, words, rows in _blocks(path):
        identity = block.value("sent_id") or ""
        if identity not in known:
            raise damaged(
                path,
                block.line,
                f"sentence '{identity}' is not in {treebank.name}",
                "give the treebank that the annotation was made for",
            )
        check_forms(path, words, [row.columns[1] for row in words], known[identity])
        annotated[identity] = _with_layers(known[identity], path, rows)
    return treebank.with_layer(annotated, _counted(annotated.values()))


def check_forms(
    path: Path, rows: Sequence[Row], forms: Sequence[str], sentence: AnnotatedSentence
) -> None:
    """Refuse annotation of other words than the sentence's.

    Raises:
        DataError: the first word that differs.
    """
    for row, form, word in zip(rows, forms, sentence.words, strict=False):
        if form != word.form:
            raise damaged(
                path,
                row.line,
                f"word '{form}' where sentence '{sentence.id}' has '{word.form}'",
                "give the version of the treebank that the annotation was made for",
            )
    if len(forms) != len(sentence):
        raise damaged(
            path,
            rows[-1].line,
            f"{len(forms)} words where sentence '{sentence.id}' has {len(sentence)}",
            "give the version of the treebank that the annotation was made for",
        )


def _blocks(path: Path) -> Iterator[tuple[Block, list[Row], list[LexicalRow]]]:
    """Yield every sentence's lines, the rows of its words, and their lexical columns."""
    whole = path.name.removesuffix(".gz").endswith(".conllulex")
    for block in read_blocks(path, COLUMNS if whole else LAYER_COLUMNS):
        words = block.rows
        if whole:
            words = [row for row in words if row.columns[0].isdecimal()]
            rows = [_lexical(row.line, row.columns[10:16]) for row in words]
        else:
            for number, row in enumerate(words, start=1):
                if row.columns[0] != str(number):
                    raise damaged(
                        path, row.line, f"id '{row.columns[0]}' where {number} is expected"
                    )
            rows = [_layer_row(row) for row in words]
        yield block, words, rows


def _lexical(line: int, columns: list[str]) -> LexicalRow:
    strong, category, _, label, function, weak = [_present(value) for value in columns]
    return LexicalRow(line, category, label, function, strong, weak)


def _layer_row(row: Row) -> LexicalRow:
    category, label, function, strong = [_present(value) for value in row.columns[2:]]
    return LexicalRow(row.line, category, label, function, strong)


def _present(value: str) -> str | None:
    return None if value == "_" else value


def _with_layers(
    sentence: AnnotatedSentence, path: Path, rows: list[LexicalRow]
) -> AnnotatedSentence:
    """Return the sentence with its lexical expressions."""
    strong = _groups(path, [(row.line, row.strong) for row in rows])
    weak = _groups(path, [(row.line, row.weak) for row in rows])
    begins = {words[0]: words for words in strong}
    continues = {word for words in strong for word in words[1:]}
    supersenses = []
    for index, row in enumerate(rows):
        if index in continues:
            if row.category or row.label or row.function:
                raise damaged(
                    path, row.line, "a label within an expression; it belongs to the first word"
                )
            continue
        if row.category is None:
            raise damaged(path, row.line, "a lexical expression without a category (LEXCAT)")
        words = begins.get(index, (index,))
        supersenses.append(Supersense(words, row.category, row.label or "", row.function or ""))
    expressions = [Expression(words, True) for words in strong]
    expressions += [Expression(words, False) for words in weak]
    return replace(sentence, supersenses=tuple(supersenses), expressions=tuple(expressions))


def _groups(path: Path, members: list[tuple[int, str | None]]) -> list[tuple[int, ...]]:
    """Return the words of every multiword expression, in the order of their first words."""
    groups: dict[str, list[int]] = {}
    for index, (line, member) in enumerate(members):
        if member is None:
            continue
        match = _MEMBER.fullmatch(member)
        if match is None:
            raise damaged(path, line, f"'{member}' is no place in an expression, such as 1:2")
        words = groups.setdefault(match[1], [])
        words.append(index)
        if int(match[2]) != len(words):
            raise damaged(
                path,
                line,
                f"place {match[2]} in expression {match[1]}, which has {len(words)} so far",
            )
    return [tuple(words) for words in groups.values()]


def _counted(sentences: Iterable[AnnotatedSentence]) -> dict[str, int]:
    counts = dict.fromkeys(
        (
            "sentences with supersenses",
            "supersenses",
            "unclear supersenses",
            "strong expressions",
            "weak expressions",
        ),
        0,
    )
    for sentence in sentences:
        counts["sentences with supersenses"] += 1
        for sense in sentence.supersenses or ():
            counts["supersenses"] += sense.classified
            counts["unclear supersenses"] += bool(sense.label) and not sense.classified
        for expression in sentence.expressions or ():
            counts["strong expressions" if expression.strong else "weak expressions"] += 1
    return counts
