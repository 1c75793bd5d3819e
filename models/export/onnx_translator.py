"""A model that was written as ONNX, read back: greedy translation with onnxruntime.

It follows the same rules as `decoding/greedy.py`: the most probable token that may come, until
EOS or the limit of the sentence. Keys and values grow by one slot a step; all sentences of a
batch go on until the last has ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax

from ..batch import Batch
from ..data.vocabulary import BOS, EOS, PAD, Vocabulary
from ..decoding.ranking import Rules
from ..decoding.search import batches_by_length
from ..errors import CheckpointError, SentenceTooLongError, UsageError
from ..files import sha256_of
from ..translator import SearchSettings, Translation

FORMAT = "headcount onnx 1"
DESCRIPTION = "onnx.json"
GRAPHS = {"encoder": "encoder.onnx", "step": "step.onnx"}
VOCABULARIES = {side: f"{side}.vocabulary.json" for side in ("source", "target")}

Array = NDArray[Any]


class OnnxTranslator:
    """Translates greedily with exported graphs.

    Args:
        described: what `onnx.json` says.
        sessions: the graphs by name, as onnxruntime holds them.
        vocabularies: by side.
    """

    def __init__(
        self,
        described: dict[str, Any],
        sessions: dict[str, Any],
        vocabularies: dict[str, Vocabulary],
    ) -> None:
        self.described, self.sessions, self.vocabularies = described, sessions, vocabularies
        self.names = {name: [it.name for it in one.get_inputs()] for name, one in sessions.items()}

    @classmethod
    def load(cls, folder: Path, threads: int = 0) -> OnnxTranslator:
        """Read what `save_onnx` wrote.

        Args:
            threads: of onnxruntime; 0 leaves it to the library.

        Raises:
            UsageError: onnxruntime is not installed.
            CheckpointError: nothing there, unfinished, damaged, or of another format.
        """
        try:
            import onnxruntime
        except ImportError:
            raise UsageError(
                "reading ONNX needs onnxruntime: pip install 'headcount[export]'"
            ) from None
        described = _described(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        own = ["CPUExecutionProvider"]
        sessions = {
            name: onnxruntime.InferenceSession(str(folder / file), options, providers=own)
            for name, file in GRAPHS.items()
        }
        vocabularies = {side: Vocabulary.load(folder / it) for side, it in VOCABULARIES.items()}
        return cls(described, sessions, vocabularies)

    def translate(
        self, sentences: Sequence[str], search: SearchSettings = SearchSettings()
    ) -> list[Translation]:
        """Translate greedily.

        Raises:
            UsageError: a beam was asked for.
            SentenceTooLongError: a sentence longer than the model has positions for.
        """
        if search.beam != 1:
            raise UsageError("an exported model translates greedily: ask for --beam 1")
        ids = [[*it, EOS] for it in self.vocabularies["source"].encode_ids(sentences)]
        for number, sentence in enumerate(ids, 1):
            limit = self.described["max_positions"]
            if len(sentence) > limit:
                raise SentenceTooLongError(number, len(sentence), limit, "source sentence")
        found = [Translation("", (), 0.0, True)] * len(ids)
        searched = sorted(
            (i for i, it in enumerate(ids) if len(it) > 1), key=lambda i: -len(ids[i])
        )
        for batch in batches_by_length(searched, ids, search):
            for i, said in zip(batch, self._greedy([ids[i] for i in batch], search), strict=True):
                found[i] = said
        return found

    def logits(self, batch: Batch) -> torch.Tensor:
        """Return teacher-forced logits, token by token  # [batch, target, vocabulary]."""
        steps = self._steps(batch.source.ids.numpy(), batch.source.real.numpy())
        next(steps)
        said = [steps.send(column[:, None]) for column in batch.target.ids.numpy().T]
        return torch.from_numpy(np.stack(said, axis=1))

    def _steps(self, source: Array, visible: Array) -> Any:
        """Take tokens [batch, 1] and give the logits of the next ones [batch, vocabulary]."""
        inputs = {"source": source, "visible": visible}
        kept = self.sessions["encoder"].run(None, _only(inputs, self.names["encoder"]))
        heads, width = self.described["prefix_heads"], self.described["head_width"]
        prefix = [np.zeros((len(source), it, 0, width), dtype=np.float32) for it in heads]
        logits, position = None, 0
        while True:
            token = yield logits
            inputs = {"token": token, "position": np.array([position]), "visible": visible}
            inputs |= {f"source_{number}": it for number, it in enumerate(kept)}
            inputs |= {f"prefix_{number}": it for number, it in enumerate(prefix)}
            named = _only(inputs, self.names["step"])
            logits, *prefix = self.sessions["step"].run(None, named)
            position += 1

    def _greedy(
        self, sentences: Sequence[Sequence[int]], search: SearchSettings
    ) -> Iterator[Translation]:
        """Translate one batch of sentences, given as ids with EOS."""
        lengths = np.array([len(it) for it in sentences])
        source = np.full((len(sentences), lengths.max()), PAD)
        for row, ids in zip(source, sentences, strict=True):
            row[: len(ids)] = ids
        visible = np.arange(source.shape[1]) < lengths[:, None]
        longest = (search.max_ratio * lengths + search.max_extra).astype(int)
        limits = longest.clip(1, self.described["max_positions"])
        rules = Rules(BOS, EOS, PAD, search.min_tokens, search.length_penalty)
        said: list[list[int]] = [[] for _ in sentences]
        log_p, running = np.zeros(len(sentences)), np.ones(len(sentences), dtype=bool)
        steps = self._steps(source, visible)
        next(steps)
        token = np.full((len(sentences), 1), BOS)
        for step in range(int(limits.max())):
            gains = log_softmax(steps.send(token).astype(np.float64), axis=1)
            permitted = gains.copy()
            permitted[:, rules.banned(step)] = -np.inf
            chosen = permitted.argmax(1)
            for row in np.flatnonzero(running):
                log_p[row] += gains[row, chosen[row]]
                said[row].append(int(chosen[row]))
                running[row] = chosen[row] != EOS and len(said[row]) < limits[row]
            if not running.any():
                break
            token = chosen[:, None]
        decode = self.vocabularies["target"].decode
        for ids, total in zip(said, log_p, strict=True):
            finished = ids[-1] == EOS
            kept = tuple(ids[:-1] if finished else ids)
            yield Translation(decode(kept), kept, float(total), finished)


def _only(inputs: dict[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """Return the inputs that a graph has: what nothing depends on is not there any more."""
    return {name: inputs[name] for name in names}


def _described(folder: Path) -> dict[str, Any]:
    """Read `onnx.json` and make sure that the files are the ones that it describes."""
    path = folder / DESCRIPTION
    try:
        described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if described["format"] != FORMAT:
            raise CheckpointError(f"{path} is not a model of format '{FORMAT}'")
        expected = described["sha256"]
    except FileNotFoundError:
        raise CheckpointError(
            f"{folder} holds no model as ONNX: {path} is missing; write one with "
            "`headcount export --format onnx`"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is damaged: {error!r}") from None
    for name, digest in expected.items():
        if not (folder / name).exists():
            raise CheckpointError(f"{folder / name} is missing: export the model again")
        if sha256_of(folder / name) != digest:
            raise CheckpointError(f"{folder / name} was changed: export the model again")
    return described
