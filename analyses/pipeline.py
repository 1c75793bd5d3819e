"""The whole way: train, evaluate, score, prune, explain, report, as stages of a run folder.

A stage is done when its record says so and every input is unchanged: its part of the
settings, the text it reads, the weights, the Results it builds on, and the code behind it.
So the same command goes on after Ctrl-C or a kill, and does nothing when all is done.

    text -> train -> evaluate ----------------+
              +----> score -> prune -> roles -+-> report
              +----> relevance ---------------+
              +----> attention_examples ------+
              +----> layers ------------------+

Layers are probed only where the corpus has gold annotation. Drawing is not known on this
floor: whoever calls the pipeline brings the function that writes the page.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from ..models.data.corpora import load_corpus
from ..models.data.parallel_text import Corpus
from ..models.errors import DataError
from ..models.settings import Settings
from ..models.training.processes import Processes
from ..models.transformer import TransformerTranslator
from .analysis import Progress, silent
from .attention_examples import attention_examples
from .evaluate import evaluate
from .layer_text import has_gold, miniature_test_text
from .layers import layers
from .phenomena import shown_by
from .presets import RunSettings
from .provenance import code_fingerprint, fingerprint
from .prune import prune
from .relevance import relevance
from .reliability import ReliabilitySettings, reliability
from .result import Result
from .role_text import own_text
from .roles import roles
from .run_folder import RunFolder, Stage
from .score import score
from .train import help_to_train, train

MEASURING = ("models", "probe", "analyses")
EXAMPLES = ("relevance", "attention_examples")
RESULTS = ("train", "evaluate", "score", "prune", *EXAMPLES, "roles", "layers", "reliability")


class Pipeline:
    """The stages of one run; each leaves alone what is done and unchanged.

    Args:
        run: where everything is kept; its settings are the ones that count.
        device: where to compute.
        progress: hears how far long work has come.
        corpus: the text of the run, where it has been loaded already.
    """

    def __init__(
        self,
        run: RunFolder,
        device: torch.device,
        progress: Progress = silent,
        corpus: Corpus | None = None,
    ) -> None:
        self.run = run
        self.settings = RunSettings.from_dict(run.config, str(run.path / "config.toml"))
        self.device = device
        self.progress = progress
        self._corpus = corpus
        self._translator: TransformerTranslator | None = None

    def whole_way(self, write_page: Callable[[Path], None]) -> None:
        """Do all stages.

        Args:
            write_page: writes `report.html` and `figures/` into a run folder, from its Results.
        """
        with self.run.working():
            self.train()
            self.evaluate()
            self.prune()
            self.relevance()
            self.attention_examples()
            self.roles()
            self.layers()
            self.reliability()
            self.report(write_page)

    @property
    def corpus(self) -> Corpus:
        """The text of the run, loaded when it is first needed."""
        if self._corpus is None:
            self._corpus = load_corpus(self.settings.corpus)
        return self._corpus

    @property
    def translator(self) -> TransformerTranslator:
        """The trained model.

        Raises:
            CheckpointError: it is not trained yet, or damaged.
        """
        if self._translator is None:
            self._translator = TransformerTranslator.load(self.run.model, self.device)
        return self._translator

    def train(self, processes: Processes = Processes()) -> None:
        """Train the model.

        Args:
            processes: those that share the work; all of them call this, and the first keeps
                the run folder.
        """
        run, corpus, recipe = self.run, self.corpus, self.settings.recipe

        def work(stage: Stage) -> None:
            processes.agreed(True, self.device)
            arguments = (corpus, recipe, stage.scratch, run.steps_log, self.device)
            translator, result = train(*arguments, self.progress, processes)
            translator.save(run.model)
            result.save(run.result("train"))

        inputs = {
            "recipe": recipe.fingerprint(corpus),
            "code": code_fingerprint("models", "analyses/train.py"),
        }
        outputs = [run.model, run.steps_log, run.result("train")]
        if not processes.first:
            if processes.agreed(False, self.device):
                help_to_train(corpus, recipe, run.scratch("train"), self.device, processes)
        elif not run.stage("train", inputs, outputs, work):
            processes.agreed(False, self.device)

    def evaluate(self) -> None:
        """Translate and score the test splits."""
        settings, run = self.settings, self.run

        def work(stage: Stage) -> None:
            arguments = (self.translator, self.corpus, settings.evaluate, settings.seed)
            result = evaluate(*arguments, self.progress, shown=shown_by(settings.corpus))
            result.save(run.result("evaluate"))

        tests = {f"text {name}": it.fingerprint for name, it in self.corpus.tests.items()}
        inputs = self._inputs(settings.evaluate) | tests
        run.stage("evaluate", inputs, [run.result("evaluate")], work)

    def score(self) -> Result:
        """Measure the importance of every head, and return what was found."""
        settings, run = self.settings, self.run

        def work(stage: Stage) -> None:
            arguments = (self.translator, self.corpus, settings.score, settings.seed)
            score(*arguments, self.progress).save(run.result("score"))

        split = settings.score.split
        text = self.corpus.split(split).fingerprint
        inputs = self._inputs(settings.score) | {f"text {split}": text}
        run.stage("score", inputs, [run.result("score")], work)
        return Result.load(run.result("score"))

    def prune(self) -> Result:
        """Measure the curve of BLEU against heads, and return what was found."""
        settings, run = self.settings, self.run
        scores = self.score()

        def work(stage: Stage) -> None:
            result = prune(
                self.translator,
                self.corpus,
                settings.prune,
                settings.seed,
                self.progress,
                scores=scores,
                folder=stage.scratch,
                shown=shown_by(settings.corpus),
            )
            result.save(run.result("prune"))

        inputs = self._inputs(settings.prune) | {
            "text test": self.corpus.test.fingerprint,
            "scores": self._made("score"),
        }
        run.stage("prune", inputs, [run.result("prune")], work)
        return Result.load(run.result("prune"))

    def relevance(self) -> Result:
        """Explain example sentences token by token, and return what was found."""
        settings, run = self.settings, self.run

        def work(stage: Stage) -> None:
            arguments = (self.translator, self.corpus, settings.relevance, settings.seed)
            relevance(*arguments, self.progress).save(run.result("relevance"))

        inputs = self._inputs(settings.relevance) | {"text valid": self.corpus.valid.fingerprint}
        run.stage("relevance", inputs, [run.result("relevance")], work)
        return Result.load(run.result("relevance"))

    def roles(self) -> Result:
        """Say what each head looks at, and return what was found."""
        settings, run = self.settings, self.run
        scores, removals = self.score(), self.prune()

        def work(stage: Stage) -> None:
            text = own_text(self.corpus, settings.corpus)
            arguments = (self.translator, self.corpus, settings.roles, settings.seed)
            found = roles(*arguments, self.progress, text=text, scores=scores, removals=removals)
            found.save(run.result("roles"))

        inputs = self._inputs(settings.roles) | {
            "text test": self.corpus.test.fingerprint,
            "text train": self.corpus.train.fingerprint,
            "scores": self._made("score"),
            "removals": self._made("prune"),
        }
        run.stage("roles", inputs, [run.result("roles")], work)
        return Result.load(run.result("roles"))

    def attention_examples(self) -> Result:
        """Keep where every head looks in a few sentences, and return what was found."""
        settings, run = self.settings, self.run

        def work(stage: Stage) -> None:
            arguments = (self.translator, self.corpus, settings.attention_examples, settings.seed)
            attention_examples(*arguments, self.progress).save(run.result("attention_examples"))

        inputs = self._inputs(settings.attention_examples)
        inputs |= {"text valid": self.corpus.valid.fingerprint}
        run.stage("attention_examples", inputs, [run.result("attention_examples")], work)
        return Result.load(run.result("attention_examples"))

    def layers(self) -> Result | None:
        """Probe every layer for syntax and semantics; None where the text has no annotation."""
        settings, run = self.settings, self.run
        if not has_gold(settings.corpus):
            return None

        def work(stage: Stage) -> None:
            text = miniature_test_text(settings.corpus, settings.seed)
            arguments = (self.translator, text, settings.layers, settings.seed, self.progress)
            layers(*arguments, folder=stage.scratch).save(run.result("layers"))

        inputs = self._inputs(settings.layers) | {"text test": self.corpus.test.fingerprint}
        run.stage("layers", inputs, [run.result("layers")], work)
        return Result.load(run.result("layers"))

    @property
    def reliability_settings(self) -> ReliabilitySettings:
        """What is asked of the metrics: by default of those that are scored, as they are."""
        asked, scored = self.settings.reliability, self.settings.score
        if asked.metrics is not None:
            return asked
        return asked.with_changes(metrics=scored.metrics, options=scored.options)

    def reliability(self) -> Result:
        """Ask which metric can be believed, and return what was found."""
        run, settings = self.run, self.reliability_settings

        def work(stage: Stage) -> None:
            arguments = (self.translator, self.corpus, settings, self.settings.seed, self.progress)
            result = reliability(*arguments, folder=stage.scratch)
            result.save(run.result("reliability"))

        inputs = self._inputs(settings) | {"text valid": self.corpus.valid.fingerprint}
        run.stage("reliability", inputs, [run.result("reliability")], work)
        return Result.load(run.result("reliability"))

    def report(self, write_page: Callable[[Path], None]) -> None:
        """Write the page and the figures from whatever Results there are."""
        run = self.run

        def work(stage: Stage) -> None:
            run.figures.mkdir(exist_ok=True)
            write_page(run.path)

        made = {name: self._made(name) for name in RESULTS if name in run.stages}
        inputs = made | {"code": code_fingerprint("reports", "analyses/result.py")}
        run.stage("report", inputs, [run.page, run.figures], work)

    def _inputs(self, settings: Settings) -> dict[str, str]:
        """Return the inputs that every measuring stage has."""
        return {
            "settings": fingerprint([settings.model_dump(mode="json"), self.settings.seed]),
            "weights": self.translator.fingerprint,
            "code": code_fingerprint(*MEASURING),
        }

    def _made(self, stage: str) -> str:
        """Return a fingerprint of what a stage has written."""
        return fingerprint(self.run.stages[stage].get("outputs"))


def open_run(path: Path) -> RunFolder:
    """Open a run that has a trained model.

    Raises:
        DataError: no run, or one whose training has not ended.
    """
    if (path / "model.json").exists() and not (path / "run.json").exists():
        raise DataError(
            f"{path} is a model and no run: name its run, and this with --model where a "
            "command has it"
        )
    run = RunFolder.open(path)
    if not (run.model / "model.json").exists():
        raise DataError(f"{path} has no trained model yet: go on with `headcount run -o {path}`")
    return run
