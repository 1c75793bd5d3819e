"""A tiny training run as a program, to be killed, resumed and started several times over.

python training_job.py FOLDER SETTINGS_JSON [KILL_AT_UPDATE]; prints one JSON line an update.
"""

import json
import os
import signal
import sys
from pathlib import Path

import torch

from headcount.models.checkpoints import fingerprint_of
from headcount.models.data.parallel_text import Corpus, ParallelText
from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.network import NetworkSettings
from headcount.models.training.from_corpus import Recipe, train_from_corpus
from headcount.models.training.processes import joined
from headcount.models.training.settings import TrainingSettings


def copying_corpus() -> Corpus:
    """Return 300 sentences whose translation is themselves in capitals."""
    words = list("abcdefghij")
    source = [" ".join(words[(i * k) % 10] for k in range(1, 3 + i % 5)) for i in range(1, 301)]
    target = [sentence.upper() for sentence in source]
    train = ParallelText("train", source[:260], target[:260])
    rest = ParallelText("rest", source[260:], target[260:])
    return Corpus("copying", "en", "de", train, rest, {"test": rest}, "none")


def recipe(training: dict) -> Recipe:
    """Return a network of a few thousand weights and the given training.

    Where merges are to be left out the vocabulary is one of merges, else one of words.
    """
    network = NetworkSettings(
        width=16,
        feed_forward_width=32,
        encoder_layers=1,
        decoder_layers=1,
        heads=2,
        dropout=training.pop("dropout", 0.1),
    )
    vocabulary = VocabularySettings(
        kind="bpe" if training.get("merge_dropout") else "word", size=300
    )
    return Recipe(vocabulary, network, TrainingSettings(**training), seed=3)


def main() -> None:
    """Train; print every update; print the hash of the trained network."""
    folder, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    kill_at = int(sys.argv[3]) if len(sys.argv) > 3 else 0

    def report(figures: dict[str, float]) -> None:
        print(json.dumps(figures), flush=True)
        if figures["update"] == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    device = torch.device("cpu")
    with joined(device) as processes:
        translator, progress = train_from_corpus(
            copying_corpus(),
            recipe(settings),
            folder,
            device=device,
            report=report,
            processes=processes,
        )
        if processes.first:
            print(json.dumps({"done": fingerprint_of(translator.network), **progress.history[-1]}))


if __name__ == "__main__":
    main()
