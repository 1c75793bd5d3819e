"""What did every output word rest on: on which source words, on which words said before?

Relevance of the tokens by the LRP rules of `probe/relevance`, for a few example sentences:
by default the model's own translations, taken as given (teacher-forced), so that what is
explained is what the model said. The question of source against target prefix is that of
Voita et al. 2021 ("Analyzing the Source and Target Contributions to Predictions in Neural
Machine Translation"), the rules are signed ones here: a token below 0 spoke against the
output. Shares are therefore shares of ABSOLUTE relevance.

Every table of relevance rests on a balance, the table `conservation`: what the inputs did
not receive was absorbed by biases, by the softmax rule, or by epsilon, layer by layer.
Where that is large, the tokens tell only a part of the story.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..models.data.parallel_text import Corpus, ParallelText
from ..models.data.vocabulary import UNK
from ..models.errors import DataError, UsageError
from ..models.translator import Translator
from ..probe.relevance import RelevanceSettings
from .analysis import Progress, analysis, silent, spread
from .provenance import Stopwatch, provenance
from .relevance_tables import tables_of, traced
from .result import Result


class ExampleSettings(RelevanceSettings):
    """Which sentences to explain, and how.

    Args:
        rule, epsilon, start, pair: as in `RelevanceSettings`.
        sentences: so many, spread evenly over the validation split.
        text: whose words are explained: the model's own `translation`, or the `reference`.
        per_token: whether to keep the relevance of every head for every output token.
    """

    sentences: int = Field(default=6, ge=1)
    text: Literal["translation", "reference"] = "translation"
    per_token: bool = False


@analysis("relevance")
def relevance(
    translator: Translator,
    corpus: Corpus,
    settings: ExampleSettings,
    seed: int,
    progress: Progress = silent,
) -> Result:
    """What each output word of example sentences rested on, source against target prefix.

    Raises:
        DataError: the validation split is empty.
        RuleError: the network does something no relevance rule is known for.
    """
    data = corpus.valid
    chosen = spread(len(data), settings.sentences)
    return relevance_of(translator, data.select(chosen), settings, seed, chosen, progress)


def relevance_of(
    translator: Translator,
    data: ParallelText,
    settings: ExampleSettings,
    seed: int,
    numbers: list[int] | None = None,
    progress: Progress = silent,
) -> Result:
    """Explain all sentences of a text; see `relevance`.

    Args:
        data: sentences with references, which are read only where `settings.text` or
            `settings.start` asks for them.
        numbers: what to call the sentences in the tables; 0, 1, ... when not given.
    """
    if not len(data):
        raise DataError("no sentences to explain; give at least one")
    stopwatch = Stopwatch()
    progress("relevance", 0, len(data))
    said = list(data.target)
    if settings.text == "translation":
        said = [translation.text for translation in translator.translate(data.source)]
    pairs = ParallelText(data.name, data.source, said)
    found = []
    for one in traced(translator, pairs, settings, numbers or list(range(len(data)))):
        found.append(one)
        progress("relevance", min(len(found), len(data)), len(data))
    n = f"{len(data)} sentences ({data.name})"
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"examples": data.fingerprint},
        device=translator.device,
    )
    tables = tables_of(translator, found, data.target, n, per_token=settings.per_token)
    remarks = remarks_of(settings)
    return Result("relevance", tables, settings.model_dump(mode="json"), origin, remarks)


def token_of(translator: Translator, word: str) -> int:
    """Return the target token that a word is.

    Raises:
        UsageError: the word is unknown, no token, or several.
    """
    [batch] = translator.batches([word], [word])
    ids = batch.labels.ids[0, :-1]  # without EOS
    if ids.tolist() == [UNK]:
        raise UsageError(f"'{word}' is unknown to the target vocabulary; contrast other words")
    if len(ids) != 1:
        pieces = " ".join(translator.pieces(ids.tolist(), "target")) or "no piece"
        raise UsageError(
            f"'{word}' is not one piece of the target vocabulary but {pieces}: "
            "contrast words that are one piece each"
        )
    return int(ids[0])


def remarks_of(settings: ExampleSettings) -> tuple[str, ...]:
    """Return what a reader of the tables must know."""
    softmax = (
        "Attention weights are constants (cp), so all that a head carries goes to its values."
        if settings.rule == "cp"
        else "The AttnLRP rule of the softmax does not conserve relevance: its Taylor expansion "
        "has a constant term, whose share is listed."
    )
    starts = {
        "top": "Explained is the largest logit of each position.",
        "reference": "Explained is the logit of the reference's token.",
        "contrast": "Explained is the largest logit minus that of the word that should have been "
        "said, or of the runner-up where the model is right.",
        "pair": "Explained is the logit of one given token minus that of another.",
    }
    signed = (
        "Relevance is signed: below 0 a token speaks against the output. Shares are shares of "
        "absolute relevance."
    )
    return starts[settings.start], softmax, signed
