"""The settings of a whole run, and sizes that go together.

A preset is a complete `RunSettings`. What a configuration file or an option says is laid
over it, and the result is what the run folder writes down before any work starts.

| preset | network | text | what for |
| --- | --- | --- | --- |
| `nano` | width 32, 1+1 layers, 4 heads | miniature, small | tests: the whole way in a minute |
| `miniature` | width 128, 3+3 layers, 8 heads | miniature | five minutes on two cores |
| `small` | width 256, 3+3 layers, 8 heads | multi30k | real text on a CPU or a GPU |
| `base` | width 512, 6+6 layers, 8 heads | multi30k, or your own | Vaswani et al. 2017, on a GPU |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..models.data.corpora import CorpusSettings
from ..models.data.vocabulary import VocabularySettings
from ..models.errors import UsageError, did_you_mean
from ..models.network import NetworkSettings
from ..models.settings import Seed, Settings
from ..models.training.from_corpus import Recipe
from ..models.training.settings import TrainingSettings
from .attention_examples import AttentionExampleSettings
from .evaluate import EvaluateSettings
from .layers import AffordableLayers
from .prune import PruneSettings
from .relevance import ExampleSettings
from .reliability import ReliabilitySettings
from .roles import RolesSettings
from .score import ScoreSettings


class RunSettings(Settings):
    """Everything that can be chosen about a run, one section a stage.

    Args:
        seed: of the network's weights, the training, the resamples and the random orders.
    """

    seed: Seed = 0
    corpus: CorpusSettings = CorpusSettings()
    vocabulary: VocabularySettings = VocabularySettings()
    network: NetworkSettings = NetworkSettings()
    training: TrainingSettings = TrainingSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    score: ScoreSettings = ScoreSettings()
    prune: PruneSettings = PruneSettings()
    relevance: ExampleSettings = ExampleSettings()
    attention_examples: AttentionExampleSettings = AttentionExampleSettings()
    roles: RolesSettings = RolesSettings()
    layers: AffordableLayers = AffordableLayers()
    reliability: ReliabilitySettings = ReliabilitySettings()

    @property
    def recipe(self) -> Recipe:
        """All that makes the model."""
        return Recipe(self.vocabulary, self.network, self.training, self.seed)

    def check(self) -> None:
        """Refuse now, before a run folder is made, what a stage would refuse later.

        Raises:
            UsageError: an unknown name, or settings that do not fit together.
        """
        self.recipe.check()
        self.score.members()
        self.layers.members()
        self.reliability.members()
        for name in self.prune.metrics or ():
            if name not in self.score.metrics:
                raise UsageError(
                    f"prune.metrics names '{name}', which score.metrics does not measure"
                    + did_you_mean(name, self.score.metrics)
                )


# Every order costs a model at each head count; these are the field's own and the exact one.
FOLLOWED = ("confidence", "gradient", "lrp", "leave_one_out")

PRESETS: dict[str, dict[str, Any]] = {
    "nano": {
        "corpus": {"name": "miniature", "sentences": 1500},
        "vocabulary": {"size": 700},
        "network": {
            "width": 32,
            "feed_forward_width": 64,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "heads": 4,
            "dropout": 0.0,
        },
        "training": {
            "updates": 400,
            "batch_tokens": 512,
            "learning_rate": 0.015,
            "warmup": 100,
            "validate_every": 100,
            "validation_sentences": 20,
            "average": 2,
        },
        "evaluate": {"sentences": 40, "beams": [1, 2]},
        "score": {"sentences": 40, "resamples": 200},
        "relevance": {"sentences": 2},
        "attention_examples": {"sentences": 3},
        "roles": {
            "sentences": 200,
            "likeness_sentences": 40,
            "resamples": 200,
            "causal_sentences": 10,
        },
        "reliability": {
            "sentences": 40,
            "curve_sentences": 20,
            "splits": 10,
            "resamples": 50,
            "draws": 2,
            "shares": [1, 0.5, 0],
        },
        "prune": {
            "sentences": 40,
            "resamples": 200,
            "draws": 3,
            "shares": [1, 0.75, 0.5, 0.25, 0],
            "proof_sentences": 8,
            "jobs": 1,
        },
    },
    "miniature": {
        "corpus": {"name": "miniature", "sentences": 20_000},
        "vocabulary": {"size": 4000},
        "network": {
            "width": 128,
            "feed_forward_width": 512,
            "dropout": 0.05,
            "norm_place": "pre",
        },
        "training": {
            "updates": 660,
            "learning_rate": 4e-3,
            "warmup": 120,
            "cooldown": 0.5,
            "validate_every": 110,
            "validation_sentences": 50,
            "average": 2,
        },
        "prune": {"metrics": FOLLOWED},
    },
    "small": {
        "corpus": {"name": "multi30k"},
        "vocabulary": {"size": 8000},
        "network": {
            "width": 256,
            "feed_forward_width": 1024,
            "dropout": 0.3,
            "norm_place": "pre",
        },
        "training": {
            # On Multi30k 40.0 BLEU by greedy search and 41.1 by beam 5. As many updates that read
            # every sentence once take half as long and reach 37.3 and 39.2.
            "updates": 9500,
            "consistency": 2.5,
            "consistency_after": 10,
            "schedule": "constant",
            "learning_rate": 2e-3,
            "warmup": 500,
            "cooldown": 0.5,
            "validate_every": 500,
            "average": 1,
        },
        "prune": {"metrics": FOLLOWED},
    },
    "base": {
        "corpus": {"name": "multi30k"},
        "vocabulary": {"size": 8000},
        "network": {
            "width": 512,
            "feed_forward_width": 2048,
            "encoder_layers": 6,
            "decoder_layers": 6,
            "dropout": 0.2,
        },
        "training": {"batch_tokens": 8192, "learning_rate": 7e-4, "warmup": 4000},
    },
}
DEFAULT = "miniature"


def run_settings(preset: str = DEFAULT, *changes: Mapping[str, Any], where: str) -> RunSettings:
    """Return a preset with changes laid over it, the later ones on top.

    A `corpus` section that names its corpus (or its own files) takes the place of the
    preset's, because settings of one corpus mean nothing for another.

    Args:
        preset: a name in `PRESETS`.
        changes: nested like `RunSettings`, such as a configuration file.
        where: names the origin of the changes in errors.

    Raises:
        UsageError: an unknown preset, an unknown key (with the closest known one), or a
            wrong value.
    """
    if preset not in PRESETS:
        raise UsageError(f"unknown preset '{preset}'" + did_you_mean(preset, PRESETS))
    values: dict[str, Any] = PRESETS[preset]
    for change in changes:
        corpus = change.get("corpus")
        if isinstance(corpus, Mapping) and {"name", "train"} & corpus.keys():
            values = {key: value for key, value in values.items() if key != "corpus"}
        values = merged(values, change)
    return RunSettings.from_dict(values, where)


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings with changes laid over them; neither is altered."""
    result = dict(values)
    for key, change in changes.items():
        old = result.get(key)
        if isinstance(old, Mapping) and isinstance(change, Mapping):
            change = merged(old, change)
        result[key] = change
    return result
