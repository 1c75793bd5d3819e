"""Training a trained model on: after heads were cut, or while heads are chosen.

The model that is given stays as it is; what is trained is a copy. The optimiser begins anew,
so the learning rate has to rise again, and the state of the training is kept in a folder, so
that an interrupted one goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from torch import nn

from ..data.parallel_text import ParallelText
from ..errors import UsageError
from ..network import Network
from ..surgery import without_heads
from ..transformer import TransformerTranslator
from ..translator import Translator
from .companion import Companion
from .from_corpus import validation
from .loop import Plan, Report, train
from .order import TrainingText
from .settings import TrainingSettings
from .state import Progress


@dataclass(frozen=True)
class Further:
    """How a model is trained on.

    Args:
        settings: of the training.
        text: encoded training text, in the model's own vocabularies.
        valid: text that decides which checkpoint is kept.
        folder: keeps the state.
        seed: orders the sentences and draws dropout masks and gates.
        inputs: whatever else the training depends on, such as a hash of the text.
        report: called after every update with its figures.
        companion: what is trained along.
        teacher: a model of the same vocabularies to learn from besides the labels.
        frozen: sides that are not trained: `encoder`, `decoder`. An embedding or output
            table that a frozen side shares is frozen with it.
        keep_last: see `Plan`.
    """

    settings: TrainingSettings
    text: TrainingText
    valid: ParallelText
    folder: Path
    seed: int
    inputs: str
    report: Report = lambda _: None
    companion: Companion = field(default_factory=Companion)
    teacher: Translator | None = None
    frozen: tuple[str, ...] = ()
    keep_last: bool = False


def train_further(
    translator: Translator, further: Further
) -> tuple[TransformerTranslator, Progress]:
    """Return a copy of `translator` that was trained on, and the history of that.

    Raises:
        UsageError: a model that was not trained by headcount.
        CheckpointError: a state in the folder that was made from other inputs.
    """
    network = own_network(translator)
    vocabularies = _own(translator).vocabularies
    both = (vocabularies["source"], vocabularies["target"])
    for part in _frozen_parts(network, further.frozen):
        part.requires_grad_(False)
    plan = Plan(
        settings=further.settings,
        text=further.text,
        validate=validation(further.valid, both, further.settings, further.seed),
        report=further.report,
        folder=further.folder,
        inputs=_fingerprint(translator, further),
        seed=further.seed,
        companion=further.companion,
        teacher=None if further.teacher is None else _own(further.teacher).network,
        keep_last=further.keep_last,
    )
    progress = train(network, plan)
    return TransformerTranslator(network.eval().requires_grad_(False), *both), progress


def own_network(translator: Translator) -> Network:
    """Return a trainable copy of the network of a model that was trained by headcount.

    Raises:
        UsageError: another kind of model.
    """
    return without_heads(_own(translator).network, ())


def _own(translator: Translator) -> TransformerTranslator:
    if not isinstance(translator, TransformerTranslator):
        raise UsageError(
            "only models that headcount trained can be trained on; choose heads by importance "
            "and no fine-tuning"
        )
    return translator


def _frozen_parts(network: Network, sides: Iterable[str]) -> list[nn.Module]:
    parts: list[nn.Module] = []
    if "encoder" in sides:
        parts += [network.source_embedding, network.source_positions]
        parts += [network.encoder, network.encoder_norm]
    if "decoder" in sides:
        parts += [network.target_embedding, network.target_positions]
        parts += [network.decoder, network.decoder_norm]
    return parts


def _fingerprint(translator: Translator, further: Further) -> str:
    parts = [
        translator.fingerprint,
        further.settings.model_dump(),
        further.seed,
        further.inputs,
        further.frozen,
        None if further.teacher is None else further.teacher.fingerprint,
        type(further.companion).__name__,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
