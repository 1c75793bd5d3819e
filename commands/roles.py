"""`headcount roles`: what every head looks at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .options import SEED, device_option, echo_json, json_option, treebank_option
from .role_lines import show

if TYPE_CHECKING:
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result
    from ..analyses.role_text import RoleText
    from ..analyses.roles import RolesSettings
    from ..models.translator import Translator
    from .progress import ProgressBar


@click.command(
    epilog="""\b
Examples:
  headcount roles runs/miniature                     on the gold annotation of its test text
  headcount roles runs/small --treebank en_pud-ud-test.conllu.gz
  headcount roles runs/small --treebank en_pud.conllu --target-treebank de_pud.conllu
  headcount roles runs/small --links test.en test.de test.links
  headcount roles runs/own --xl-wa xl-wa/data/es/dev.tsv   alignment against hand-made links
  headcount roles runs/seed0 --seeds runs/seed1 --seeds runs/seed2    do other seeds agree?
  headcount roles runs/miniature --pruned runs/smaller     the same heads after pruning
  headcount roles runs/miniature --causal 200 --bleu       close the heads of a role
  headcount roles runs/miniature --json | jq '.roles[] | {site, layer, head, role, share}'
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@treebank_option
@click.option(
    "--target-treebank",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The same sentences in the target language; without it the model translates.",
)
@click.option(
    "--links",
    nargs=3,
    metavar="SRC TGT LINKS",
    type=click.Path(path_type=Path),
    help="Aligned files of tokenised text, and their word alignments (0-0 1-2 ...).",
)
@click.option(
    "--xl-wa",
    "xl_wa",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Pairs with word alignments in one table, as XL-WA has them (.tsv).",
)
@click.option(
    "--alibi",
    nargs=3,
    metavar="SRC TGT LINKS",
    type=click.Path(path_type=Path),
    help="Numbered lines of text and word alignments, as Alibi has them.",
)
@click.option(
    "--seeds",
    multiple=True,
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="A run that differs by its seed: do its heads have the same roles? Repeatable.",
)
@click.option(
    "--pruned",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="A smaller model of RUN, from `headcount prune --save`: what became of its roles.",
)
@click.option(
    "--causal",
    metavar="N",
    type=click.IntRange(min=0),
    help="Close the heads of a role, on N sentences of each phenomenon of the built-in corpus.",
)
@click.option("--bleu", is_flag=True, help="With --causal: translate these sentences as well.")
@click.option("--sentences", type=click.IntRange(min=2), help="Look at so many at most.")
@click.option(
    "--random-networks",
    type=click.IntRange(min=0),
    help="Networks with random weights to compare with.",
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep what was found here; by default in RUN/results/roles.",
)
@click.option("--seed", type=SEED, help="Of random networks and resamples.")
@device_option
@json_option
def command(
    run: Path,
    treebank: Path | None,
    target_treebank: Path | None,
    links: tuple[Path, Path, Path] | None,
    xl_wa: Path | None,
    alibi: tuple[Path, Path, Path] | None,
    seeds: tuple[Path, ...],
    pruned: Path | None,
    causal: int | None,
    bleu: bool,
    sentences: int | None,
    random_networks: int | None,
    output: Path | None,
    seed: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Say of every head of RUN what it looks at.

    Offsets, resting places, relations of the dependency tree, words of one meaning, rare and
    repeated tokens, and translations: each beside the best fixed place, chance and random
    weights, chosen and scored on different sentences, and corrected for all questions asked.
    """
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.roles import RolesSettings
    from ..models.devices import resolve_device
    from .progress import ProgressBar

    if target_treebank and not treebank:
        raise UsageError("--target-treebank needs the source's --treebank too")
    texts = {"--treebank": treebank, "--links": links, "--xl-wa": xl_wa, "--alibi": alibi}
    given = [name for name, value in texts.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are different texts: give one of them")
    if bleu and causal == 0:
        raise UsageError("--bleu translates the sentences of --causal: ask for some")
    if run.resolve() in [path.resolve() for path in seeds]:
        raise UsageError(f"--seeds {run} is the run itself: give runs that differ by their seed")
    changes = {"sentences": sentences, "random_networks": random_networks}
    changes |= {"causal_sentences": causal, "causal_bleu": bleu or None}
    chosen = {name: value for name, value in changes.items() if value is not None}
    settings = RolesSettings.from_dict(chosen, "roles")
    with ProgressBar() as progress:
        opened = open_run(run)
        where = resolve_device(device)
        pipeline = Pipeline(opened, where, progress)
        text = _text(pipeline, treebank, target_treebank, links, xl_wa, alibi, settings.sentences)
        if causal and not text.contrasted:
            raise UsageError("--causal needs the test text of a run on miniature, en to de")
        found = _found(pipeline, settings, text, seed, pruned)
        if seeds:
            others = {path.resolve().name: Pipeline(open_run(path), where) for path in seeds}
            found = _with_seeds(found, run.resolve().name, others, settings, text, progress)
        found.save(output or opened.result("roles"))
    if as_json:
        from .records import records_of

        echo_json({**records_of(found), "remarks": list(found.remarks)})
    else:
        show(found)


def _found(
    pipeline: Pipeline,
    settings: RolesSettings,
    text: RoleText,
    seed: int | None,
    pruned: Path | None,
) -> Result:
    """Look at the run's own model, and at what is left of it."""
    from ..analyses.roles import roles

    run = pipeline.run
    return roles(
        pipeline.translator,
        pipeline.corpus,
        settings,
        pipeline.settings.seed if seed is None else seed,
        pipeline.progress,
        scores=_kept(run.result("score")),
        removals=_kept(run.result("prune")),
        pruned=_left(pipeline, pruned) if pruned else None,
        text=text,
    )


def _left(pipeline: Pipeline, folder: Path) -> dict[str, Translator]:
    """Return the model that was cut and nothing else, and the smaller one that was saved.

    Raises:
        UsageError: the smaller model was not made of the run's own.
    """
    from ..models.transformer import TransformerTranslator

    whole = pipeline.translator
    smaller = TransformerTranslator.load(folder, pipeline.device)
    words = smaller.vocabularies  # the same heads of another model would mean nothing
    removed = [head for head in whole.layout if head not in smaller.layout]
    if len(smaller.layout) + len(removed) != len(whole.layout) or not removed:
        raise UsageError(
            f"{folder} is no smaller model of this run: it has {smaller.layout.describe()} heads, "
            f"the run's has {whole.layout.describe()}"
        )
    if any(it.fingerprint != whole.vocabularies[side].fingerprint for side, it in words.items()):
        raise UsageError(f"{folder} has other vocabularies than this run: it is no part of it")
    return {"cut": whole.without(removed), "smaller": smaller}


def _with_seeds(
    own: Result,
    name: str,
    others: dict[str, Pipeline],
    settings: RolesSettings,
    text: RoleText,
    progress: ProgressBar,
) -> Result:
    """Return the result with the tables that compare it with models of other seeds."""
    from ..analyses.role_seeds import seeds_tables
    from ..analyses.roles import roles

    alone = settings.with_changes(causal_sentences=0)
    results = {name: own}
    for number, (other, pipeline) in enumerate(others.items(), 1):
        # Far apart, so that no two models are set beside the same random networks.
        seed = own.provenance.seed + 1000 * number
        arguments = (pipeline.translator, pipeline.corpus, alone, seed, progress)
        results[other] = roles(*arguments, text=text)
    return replace(own, tables={**own.tables, **seeds_tables(results, own.provenance.seed)})


def _kept(folder: Path) -> Result | None:
    """Return importance or orders of removal if RUN has them; roles are set beside them."""
    from ..analyses.result import Result

    return Result.load(folder) if (folder / "result.json").exists() else None


def _text(
    pipeline: Pipeline,
    treebank: Path | None,
    target_treebank: Path | None,
    links: tuple[Path, Path, Path] | None,
    xl_wa: Path | None,
    alibi: tuple[Path, Path, Path] | None,
    sentences: int,
) -> RoleText:
    """Return the text that was asked for, by default the run's own test text."""
    from ..analyses.role_text import linked_text, own_text, treebank_text
    from ..probe.annotations import (
        AlibiReader,
        PharaohReader,
        XlwaReader,
        read_conllu,
        read_conllulex,
    )

    def read(path: Path) -> Any:
        return (read_conllulex if ".conllulex" in path.suffixes else read_conllu)(path)

    if treebank:
        target = read(target_treebank) if target_treebank else None
        return treebank_text(read(treebank), target, pipeline.translator, sentences)
    if links:
        source, target, gold = links
        return linked_text(PharaohReader(source=source, target=target, alignments=gold).read())
    if alibi:
        source, target, gold = alibi
        return linked_text(AlibiReader(source=source, target=target, alignments=gold).read())
    if xl_wa:
        return linked_text(XlwaReader(path=xl_wa).read())
    return own_text(pipeline.corpus, pipeline.settings.corpus)
