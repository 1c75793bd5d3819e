"""Where attention rests, by hand."""

from dataclasses import replace

import pytest
import torch
from test_head_roles import CROSS, DECODER, ENCODER, ONE_EACH, Shown

from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.roles import KINDS, SinkObserver, joined, walk

# Encoder and cross read `go , now` EOS; the decoder reads BOS `go , now`.
SENTENCE = AnnotatedSentence("s", "go , now", words_of("go , now"))
WEIGHTS = torch.tensor(
    [
        [0.1, 0.2, 0.3, 0.4],
        [0.0, 0.5, 0.0, 0.5],
        [0.3, 0.3, 0.4, 0.0],
        [0.7, 0.1, 0.1, 0.1],
    ]
)


def masses(sentence: AnnotatedSentence = SENTENCE) -> list[dict[str, float]]:
    translator = Shown(ONE_EACH, dict.fromkeys((ENCODER, DECODER, CROSS), WEIGHTS[None, None]))
    observer = SinkObserver(ONE_EACH, 1)
    walk(translator, joined(translator, [(sentence, sentence)]), [observer])
    return [dict(zip(KINDS, row, strict=True)) for row in observer.found.shares().tolist()]


def test_every_key_is_of_one_kind():
    encoder, decoder, cross = masses()
    # Queries go, `,` and now (rows 0 to 2): the comma is column 1, EOS column 3.
    assert encoder == pytest.approx(
        {
            "words": (0.3 + 0 + 0.3) / 3,
            "punctuation": (0.2 + 0.3) / 3,
            "start": 0,
            "end": 0.9 / 3,
            "self": (0.1 + 0.5 + 0.4) / 3,
        }
    )
    # Queries are rows 1 to 3, BOS column 0, the comma column 2.
    assert decoder == pytest.approx(
        {
            "words": (0.5 + 0.3 + 0.1) / 3,
            "punctuation": (0 + 0.1) / 3,
            "start": (0 + 0.3 + 0.7) / 3,
            "end": 0,
            "self": (0.5 + 0.4 + 0.1) / 3,
        }
    )
    # Rows 1 to 3 again, but over the source; nothing is the query itself.
    assert cross == pytest.approx(
        {"words": 1.5 / 3, "punctuation": 0.9 / 3, "start": 0, "end": 0.6 / 3, "self": 0}
    )
    assert all(sum(kinds.values()) == pytest.approx(1) for kinds in (encoder, decoder, cross))


def test_a_tag_decides_what_is_punctuation():
    tagged = replace(SENTENCE, words=tuple(replace(w, upos="SYM") for w in SENTENCE.words))
    assert masses(tagged)[0]["punctuation"] == 0
