"""From a corpus to a trained Translator: vocabularies, encoded text, network, training."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ..data.merge_dropout import CutTable, check_mergeable
from ..data.parallel_text import Corpus, ParallelText
from ..data.token_store import TokenStore
from ..data.vocabulary import Vocabulary, VocabularySettings, train_vocabularies
from ..data.vocabulary_kinds import check_size, vocabulary_kind
from ..errors import SentenceTooLongError, UsageError
from ..initialisation import initialisation
from ..network import Network, NetworkSettings
from ..quality import bleu
from ..transformer import TransformerTranslator
from .loop import Plan, Report, train
from .order import RecutText, TextByEpoch, TrainingText
from .processes import Processes
from .schedule import schedule
from .settings import TrainingSettings
from .state import Progress

BLOCK = 10_000


@dataclass(frozen=True)
class Recipe:
    """All settings that make a model, together."""

    vocabulary: VocabularySettings
    network: NetworkSettings
    training: TrainingSettings
    seed: int

    def check(self) -> None:
        """Refuse now, before anything is read or written, what could not be built or trained.

        Raises:
            UsageError: an unknown kind or part, shapes that do not fit together, or settings
                that exclude each other.
        """
        vocabulary_kind[self.vocabulary.kind]
        check_size(self.vocabulary.kind, self.vocabulary.size)
        schedule[self.training.schedule]
        if self.training.merge_dropout:
            check_mergeable(self.vocabulary.kind)
        if self.training.consistency and not self.network.dropout:
            raise UsageError(
                "training.consistency compares two readings under dropout, and network.dropout is "
                "0: set one of them"
            )
        sizes = (8, 8 if self.vocabulary.joint else 9)  # Any: only whether they are equal counts.
        with torch.device("meta"):
            network = Network(self.network, self.network.full_layout(), *sizes)
        initialisation[network.settings.initialisation]

    def fingerprint(self, corpus: Corpus) -> str:
        """Return a hash of everything that the weights depend on."""
        parts = [
            self.vocabulary.model_dump(),
            self.network.model_dump(),
            self.training.model_dump(),
            self.seed,
            corpus.train.fingerprint,
            corpus.valid.fingerprint,
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def train_from_corpus(
    corpus: Corpus,
    recipe: Recipe,
    folder: Path,
    *,
    device: torch.device,
    report: Report,
    processes: Processes = Processes(),
) -> tuple[TransformerTranslator, Progress]:
    """Train a model, going on where an earlier try was killed.

    Args:
        folder: where vocabularies, encoded text and the training state are kept.
        report: called after every update with its figures.

    Returns:
        The translator, and the history of its training.

    Raises:
        SentenceTooLongError: a sentence of more tokens than the network has positions for.
    """
    vocabularies = _vocabularies(corpus, recipe.vocabulary, folder, processes)
    network = _network(recipe, vocabularies).to(device)
    text = _text_by_epoch(corpus.train, vocabularies, recipe, folder, processes)
    first = text.of_epoch(0)
    _check_lengths(corpus.train.name, first.source_lengths, first.target_lengths, recipe.network)
    for other in (corpus.valid, *corpus.tests.values()):
        _check_lengths(other.name, *_lengths(other, vocabularies), recipe.network)
    plan = Plan(
        settings=recipe.training,
        text=text,
        validate=validation(corpus.valid, vocabularies, recipe.training, recipe.seed),
        report=report,
        folder=folder,
        inputs=recipe.fingerprint(corpus),
        seed=recipe.seed,
    )
    progress = train(network, plan, processes)
    return TransformerTranslator(network.eval().requires_grad_(False), *vocabularies), progress


def _lengths(
    text: ParallelText, vocabularies: tuple[Vocabulary, Vocabulary]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens of every sentence of a text that is never encoded as a whole."""
    source, target = (
        np.fromiter((len(ids) for ids in _blocks(sentences, vocabulary)), np.int64)
        for sentences, vocabulary in zip((text.source, text.target), vocabularies, strict=True)
    )
    return source, target


def _check_lengths(
    text: str, source: np.ndarray, target: np.ndarray, settings: NetworkSettings
) -> None:
    """Refuse a sentence that the network has too few positions for, before any update."""
    for side, lengths in (("source", source), ("target", target)):
        if not lengths.size:
            continue
        longest = int(lengths.argmax())
        tokens = int(lengths[longest]) + 1  # the end of a source, the beginning of a target
        if tokens > settings.max_positions:
            what = f"{text}: {side} sentence"
            raise SentenceTooLongError(longest + 1, tokens, settings.max_positions, what)


def mean_nll(
    translator: TransformerTranslator,
    text: ParallelText,
    gates: torch.Tensor | None = None,
    *,
    tokens: int = 4096,
) -> float:
    """Return the mean -log p of all labels, EOS included, in nats a token.

    Args:
        gates: one row for all sentences, None for open ones  # [1, head]
    """
    total, labels = 0.0, 0
    with torch.inference_mode():
        for batch in translator.batches(text.source, text.target, tokens=tokens):
            total += float(translator.token_losses(batch, gates).double().sum())
            labels += int(batch.labels.real.sum())
    return total / labels


def _vocabularies(
    corpus: Corpus, settings: VocabularySettings, folder: Path, processes: Processes
) -> tuple[Vocabulary, Vocabulary]:
    """Learn the vocabularies, or read the ones that an earlier try has learnt."""
    paths = [folder / "source.vocabulary.json", folder / "target.vocabulary.json"]
    if processes.first and not all(path.exists() for path in paths):
        for vocabulary, path in zip(train_vocabularies(corpus, settings), paths, strict=True):
            vocabulary.save(path)
    processes.wait()
    source = Vocabulary.load(paths[0])
    return source, source if settings.joint else Vocabulary.load(paths[1])


def _network(recipe: Recipe, vocabularies: tuple[Vocabulary, Vocabulary]) -> Network:
    sizes = (len(vocabularies[0]), len(vocabularies[1]))
    network = Network(recipe.network, recipe.network.full_layout(), *sizes)
    return network.initialise(torch.Generator().manual_seed(recipe.seed))


def _text_by_epoch(
    text: ParallelText,
    vocabularies: tuple[Vocabulary, Vocabulary],
    recipe: Recipe,
    folder: Path,
    processes: Processes,
) -> TextByEpoch:
    """Encode the training text, once for all epochs or anew for each of them."""
    plain = encoded(text, vocabularies, folder, processes)
    rate, after = recipe.training.merge_dropout, recipe.training.merge_dropout_after
    if rate == 0:
        return plain
    # Every process cuts for itself: the cuts are the same, only the files are its own.
    files = [folder / f"{side}.{processes.rank}" for side in ("source", "target")]
    words, epochs = ([Path(f"{file}.{what}") for file in files] for what in ("words", "epoch"))
    sides = zip((text.source, text.target), vocabularies, words, strict=True)
    source, target = (CutTable.of(*side, rate, recipe.seed) for side in sides)
    sizes = (len(vocabularies[0]), len(vocabularies[1]))
    paths, positions = (epochs[0], epochs[1]), recipe.network.max_positions
    return RecutText(plain, after, (source, target), paths, sizes, recipe.seed, positions)


def encoded(
    text: ParallelText,
    vocabularies: tuple[Vocabulary, Vocabulary],
    folder: Path,
    processes: Processes = Processes(),
) -> TrainingText:
    """Encode the training text into memory-mapped stores in `folder`, block by block."""
    sides = (("source", text.source), ("target", text.target))
    stores = []
    for (side, sentences), vocabulary in zip(sides, vocabularies, strict=True):
        path = folder / f"{side}.tokens"
        if processes.first:
            ids = _blocks(sentences, vocabulary)
            TokenStore.build(path, ids, vocabulary_size=len(vocabulary))
        processes.wait()
        stores.append(TokenStore.open(path))
    return TrainingText(stores[0], stores[1], stores[0].lengths, stores[1].lengths)


def _blocks(sentences: Sequence[str], vocabulary: Vocabulary) -> Iterator[list[int]]:
    """Encode sentences a block at a time, so that a large corpus is never in memory."""
    for start in range(0, len(sentences), BLOCK):
        yield from vocabulary.encode_ids(sentences[start : start + BLOCK])


def validation(
    valid: ParallelText,
    vocabularies: tuple[Vocabulary, Vocabulary],
    settings: TrainingSettings,
    seed: int,
) -> Callable[[Network], dict[str, float]]:
    """Return the function that measures NLL, and greedy BLEU of the first sentences."""
    few = valid.head(settings.validation_sentences)

    def validate(network: Network) -> dict[str, float]:
        translator = TransformerTranslator(network, *vocabularies)
        measured = {"valid_nll": mean_nll(translator, valid)}
        if len(few):
            texts = [translation.text for translation in translator.translate(few.source)]
            generator = np.random.default_rng(seed)
            measured["valid_bleu"] = bleu(texts, few.target, generator, resamples=1).score
        return measured

    return validate
