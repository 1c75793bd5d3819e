"""What can be chosen about training."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..settings import Settings

Decay = Annotated[float, Field(ge=0, lt=1)]


class TrainingSettings(Settings):
    """How a network is trained.

    Args:
        updates: optimiser steps, unless patience or minutes run out before.
        batch_tokens: padded tokens of the longer side in one micro-batch.
        micro_batches: micro-batches in one update, over all processes together; their
            gradients are summed, so N processes and one process make the same updates.
        learning_rate: the highest rate, reached at the end of the warm-up.
        warmup: updates over which the rate rises.
        schedule: how the rate goes on, from the `schedule` registry.
        cooldown: share of the updates, at the end, over which the rate falls to zero.
        smoothing: label smoothing e (Vaswani et al. 2017, section 5.4).
        merge_dropout: probability that a possible merge of a BPE vocabulary is left out while a
            word of the training text is cut, anew in every epoch (Provilkov et al. 2020). What is
            trained for pruning, the control from scratch too, reads with all merges.
        merge_dropout_after: epochs that are read with all merges first. A small corpus that is
            cut at random from the start takes long to show which words translate which.
        consistency: what a nat of disagreement between two readings under different dropout costs
            (R-Drop, Liang et al. 2021), half of their alpha; 0 reads once. Each update takes twice
            the time. Fine-tuning that follows a teacher leaves it out.
        consistency_after: epochs that are read once first, because the rough start of a training
            gains nothing from agreement that it pays for twice. Every training counts its own, so
            fine-tuning of fewer epochs reads once to its end, as it should: of a Multi30k model
            cut to 24 of 72 heads, 100 updates took the validation NLL from 1.87 to 1.72 where
            they read once, and to 1.77, in twice the time, where they read twice.
        weight_decay: AdamW's decay of matrices; norms and biases take none.
        betas: Adam's decay rates of the gradient's first and second moment.
        clip: largest l2 norm of the gradient; 0 does not clip.
        average: at the end, the mean of the weights of this many last checkpoints.
        validate_every: updates between validations, each of which writes a checkpoint.
        validation_sentences: sentences whose greedy BLEU is taken at a validation; 0 for none.
        patience: validations without a better NLL after which training stops; 0 for none.
        minutes: wall-clock limit; 0 for none. A run that it ends cannot be repeated exactly.
        precision: `auto` is bfloat16 where the processor has instructions for it.
        compile: compile the layers with torch.compile (dynamic shapes).
    """

    updates: int = Field(default=10_000, ge=1)
    batch_tokens: int = Field(default=2048, ge=1)
    micro_batches: int = Field(default=1, ge=1)
    learning_rate: float = Field(default=2e-3, gt=0)
    warmup: int = Field(default=1000, ge=1)
    schedule: str = "inverse_sqrt"
    cooldown: float = Field(default=0.0, ge=0, le=1)
    smoothing: float = Field(default=0.1, ge=0, lt=1)
    merge_dropout: float = Field(default=0.0, ge=0, lt=1)
    merge_dropout_after: int = Field(default=0, ge=0)
    consistency: float = Field(default=0.0, ge=0)
    consistency_after: int = Field(default=0, ge=0)
    weight_decay: float = Field(default=0.0, ge=0)
    betas: tuple[Decay, Decay] = (0.9, 0.98)
    clip: float = Field(default=1.0, ge=0)
    average: int = Field(default=5, ge=1)
    validate_every: int = Field(default=500, ge=1)
    validation_sentences: int = Field(default=200, ge=0)
    patience: int = Field(default=0, ge=0)
    minutes: float = Field(default=0.0, ge=0)
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    compile: bool = False
