"""What does each layer know, and does syntax lie lower than semantics? The `layers` analysis.

Every layer of encoder and decoder is probed for every task that the annotation allows, in the
trained network and in the same network with random weights. The table `probes` holds each
task and layer with all of its baselines; `verdict` answers "lower layers lean to syntax, upper
ones to semantics" with one of: syntax lower, semantics lower, equivalent, undecided. One
model alone is always undecided: give several that were trained from different seeds.

The encoder is asked for the labels of its words, and what they were translated by. The decoder
has three kinds of question, kept apart: about the target word just read, about the word to
come (`of the next word`), and about the aligned source word (`of the aligned source word`).

| table | one row | file |
| --- | --- | --- |
| `probes`, `baselines` | a task and a layer; a task | `layer_tables.py` |
| `seeds` | a task and a layer, mean of all models | `layer_tables.py` |
| `verdict`, `centres`, `gains` | a side; a task; a task and a layer | `layer_tables.py` |
| `mixes`, `shares`, `structure`, `likeness` | ways to look at several layers | `layer_shapes.py` |
| `lost` | what a smaller model no longer knows | `layer_others.py` |
| `heads` | a task and a head, in place of a layer | `layer_others.py` |
| `numbers`, `nonlinear` | ridge regression; probes with a hidden layer | `layer_others.py` |

Pitfalls. A probe shows what can be read, not what is used. Accuracies of layers differ by a
point or two with the penalty and the convergence of the fit, so look at `gradient` and
`at_edge` before comparing them. Layers 0 and 1 of a random network are good already. What
leaves the final norm of a pre-norm network is shown as `norm` and is no layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from joblib import Parallel, delayed

from ..models.errors import UsageError
from ..models.settings import Settings
from ..models.translator import Translator
from ..probe.layers.mixing import MixFinding, mixes_of
from ..probe.layers.mlp import MlpSettings
from ..probe.layers.store import StoreSettings
from ..probe.layers.structural import StructuralSettings
from ..probe.layers.survey import SurveySettings
from ..probe.layers.tasks import ProbeTask, task
from ..probe.layers.verdict import Verdict
from .analysis import Progress, analysis, silent
from .layer_asking import Asked, Networks, ask, judge
from .layer_others import heads_table, lost_table, nonlinear_table, numbers_table
from .layer_shapes import (
    likeness_table,
    mix_tables,
    structure_rows,
    structure_table,
)
from .layer_tables import (
    baselines_table,
    centre_tables,
    probes_table,
    seeds_table,
    verdict_table,
)
from .layer_text import ProbedText, Side, fit_of_words
from .provenance import Stopwatch, provenance
from .result import Result


class LayersSettings(Settings):
    """What to probe, and how carefully.

    Args:
        tasks: members of the `probe task` family; none named: all that have examples.
        sides: `encoder`, `decoder` or both; the decoder needs sentence pairs.
        sentences: training sentences of the built-in corpus that the probes learn from; 0
            takes its test text alone, split in three.
        words: training words of a treebank that the probes learn from, at most.
        same_words: a word task; all others are asked only of the words that it has a label
            for, so that tasks are compared on the same tokens. Empty: each of its own words.
        altered: sentences for each task about the order of words or clauses, at most.
        decoder_tasks: word tasks that the decoder is asked for the next and the aligned word.
        translations: whether source words are asked what they were translated by.
        mixes: tasks for which layers are mixed.
        mix_examples: training examples of every mix, and of every probe with a hidden layer.
        structure: training of the structural probes.
        structure_sentences: sentences of each part for them, at most; 0 leaves them out.
        heads: tasks that the outputs of single heads are probed for; none by default.
        numbers: whether depths, distances and judgements are read as numbers too.
        nonlinear: tasks that are asked with a hidden layer as well.
        mlp: how these are trained.
        store: how states are kept.
        survey: effort of each probe.
        resamples: bootstrap resamples of the test sentences.
    """

    tasks: tuple[str, ...] = ()
    sides: tuple[Side, ...] = ("encoder", "decoder")
    sentences: int = 1500
    words: int = 30_000
    same_words: str = ""
    altered: int = 1000
    decoder_tasks: tuple[str, ...] = ("upos", "supersense")
    translations: bool = True
    mixes: tuple[str, ...] = ("upos", "relation", "supersense", "role")
    mix_examples: int = 5000
    structure: StructuralSettings = StructuralSettings()
    structure_sentences: int = 400
    heads: tuple[str, ...] = ()
    numbers: bool = True
    nonlinear: tuple[str, ...] = ()
    mlp: MlpSettings = MlpSettings()
    store: StoreSettings = StoreSettings()
    survey: SurveySettings = SurveySettings()
    resamples: int = 1000

    def members(self) -> list[ProbeTask]:
        """Return the tasks.

        Raises:
            UsageError: an unknown task, here or in another list, or a task that heads or a
                hidden layer are asked for but layers are not.
        """
        named = (*self.heads, *self.nonlinear, *self.mixes, *self.decoder_tasks)
        for name in (*named, *filter(None, [self.same_words])):
            task[name]
        for name in (*self.heads, *self.nonlinear):
            if self.tasks and name not in self.tasks:
                raise UsageError(f"task '{name}' is asked of heads alone: name it with --task too")
        return [task[name] for name in self.tasks or tuple(task)]


class AffordableSurvey(SurveySettings):
    """One process, one control draw, no online code, and fits as exact as accuracies need."""

    penalties: tuple[float, ...] = (1.0, 10.0, 100.0)
    controls: int = 1
    codes: bool = False
    tolerance: float = 1e-3
    processes: int = 1


class AffordableLayers(LayersSettings):
    """What every run can pay for: three tasks a family, of the encoder, on the test text.

    `headcount layers` asks for more, of the decoder too, and of more text.
    """

    tasks: tuple[str, ...] = ("upos", "relation", "depth", "supersense", "role", "animacy")
    sides: tuple[Side, ...] = ("encoder",)
    sentences: int = 0
    altered: int = 0
    decoder_tasks: tuple[str, ...] = ()
    translations: bool = False
    mixes: tuple[str, ...] = ()
    structure_sentences: int = 0
    numbers: bool = False
    survey: AffordableSurvey = AffordableSurvey()
    resamples: int = 500


@analysis("layers")
def layers(
    translator: Translator,
    text: ProbedText,
    settings: LayersSettings,
    seed: int,
    progress: Progress = silent,
    *,
    folder: Path,
    others: Sequence[Translator] = (),
    smaller: Translator | None = None,
) -> Result:
    """Probe every layer for syntax and semantics.

    Args:
        translator: the model whose table is shown.
        text: annotated sentences, in place of the corpus.
        folder: where states are kept while they are needed.
        others: the same model trained from other seeds, for the verdict.
        smaller: the model after heads were removed, to tell what went with them.

    Raises:
        DataError: text that cannot be probed; see the parts.
    """
    stopwatch = Stopwatch()
    settings.members()
    remarks = [fit_of_words(translator, text), *text.remarks]
    networks = Networks(translator, others, smaller)
    asked = ask(networks, text, settings, seed, progress, folder, remarks)
    for it in asked:
        if it.store.unaligned:
            remarks.append(f"{it.store.unaligned} words of the {it.side} side have no piece.")
    n = text.described()
    models = 1 + len(others)
    answers: dict[str, Verdict | None] = {
        it.side: judge(it, seed, settings.resamples) for it in asked
    }
    judged = {side: it for side, it in answers.items() if it is not None}
    tables = {
        "probes": probes_table(asked, seed, settings.resamples, n),
        "baselines": baselines_table(asked, n),
        "verdict": verdict_table(judged, models, n),
        **centre_tables(judged, n),
        **mix_tables(_mixes(asked, settings, seed), settings.resamples, n),
        "structure": structure_table(
            [
                row
                for it in asked
                if settings.structure_sentences
                for row in structure_rows(
                    it,
                    settings.structure,
                    settings.structure_sentences,
                    settings.resamples,
                    seed,
                    settings.survey,
                )
            ],
            settings.resamples,
            n,
        ),
        "likeness": likeness_table(asked, n),
    }
    if others:
        tables["seeds"] = seeds_table(asked, seed, settings.resamples, n)
    if smaller is not None:
        tables["lost"] = lost_table(asked, seed, settings.resamples, n)
    if settings.heads:
        tables["heads"] = heads_table(asked, networks, settings, seed, folder, n)
    if settings.numbers:
        tables["numbers"] = numbers_table(asked, seed, settings.resamples, n)
    if settings.nonlinear:
        tables["nonlinear"] = nonlinear_table(asked, settings, seed, n)
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"annotated": text.plain.fingerprint},
        device=translator.device,
    )
    return Result("layers", tables, settings.model_dump(mode="json"), origin, tuple(remarks))


def _mixes(
    asked: Sequence[Asked], settings: LayersSettings, seed: int
) -> list[tuple[str, MixFinding]]:
    """Mix the layers of the first model for the chosen tasks that there are."""
    sides, work = [], []
    workers = settings.survey.workers
    for it in asked:
        penalties = {
            finding.task: finding.chosen.penalty
            for finding in it.trained[0]
            if finding.layer == it.store.layers - 1
        }
        for question in it.questions:
            if question.task in settings.mixes:
                mix = delayed(mixes_of)(
                    it.store,
                    question,
                    it.text.split,
                    penalties[question.task],
                    examples=settings.mix_examples,
                    resamples=settings.resamples,
                    memory=settings.survey.memory // workers,
                    seed=seed,
                )
                sides.append(str(it.side))
                work.append(mix)
    return list(zip(sides, Parallel(n_jobs=workers)(work), strict=True))
