"""`headcount roles`: what every head looks at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .options import device_option, echo_json, json_option, treebank_option

if TYPE_CHECKING:
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result
    from ..analyses.role_text import RoleText

STRONGEST = 10  # head-relation pairs that are printed


@click.command(
    epilog="""\b
Examples:
  headcount roles runs/miniature                     on the gold annotation of its test text
  headcount roles runs/small --treebank en_pud-ud-test.conllu.gz
  headcount roles runs/small --treebank en_pud.conllu --target-treebank de_pud.conllu
  headcount roles runs/small --links test.en test.de test.links
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
@click.option("--seed", type=click.IntRange(min=0), help="Of random networks and resamples.")
@device_option
@json_option
def command(
    run: Path,
    treebank: Path | None,
    target_treebank: Path | None,
    links: tuple[Path, Path, Path] | None,
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
    from ..analyses.roles import RolesSettings, roles
    from ..models.devices import resolve_device
    from .progress import ProgressBar

    if target_treebank and not treebank:
        raise UsageError("--target-treebank needs the source's --treebank too")
    if links and treebank:
        raise UsageError("--links and --treebank are different texts: give one of them")
    changes = {"sentences": sentences, "random_networks": random_networks}
    given = {name: value for name, value in changes.items() if value is not None}
    settings = RolesSettings.from_dict(given, "roles")
    with ProgressBar() as progress:
        opened = open_run(run)
        pipeline = Pipeline(opened, resolve_device(device), progress)
        result = roles(
            pipeline.translator,
            pipeline.corpus,
            settings,
            pipeline.settings.seed if seed is None else seed,
            progress,
            scores=_scores(opened.result("score")),
            text=_text(pipeline, treebank, target_treebank, links, settings.sentences),
        )
        result.save(output or opened.result("roles"))
    if as_json:
        echo_json({**_records(result), "remarks": list(result.remarks)})
    else:
        _show(result)


def _scores(folder: Path) -> Result | None:
    """Return the importance of heads if RUN has it; roles are set beside it."""
    from ..analyses.result import Result

    return Result.load(folder) if (folder / "result.json").exists() else None


def _text(
    pipeline: Pipeline,
    treebank: Path | None,
    target_treebank: Path | None,
    links: tuple[Path, Path, Path] | None,
    sentences: int,
) -> RoleText:
    """Return the text that was asked for, by default the run's own test text."""
    from ..analyses.role_text import linked_text, own_text, treebank_text
    from ..probe.annotations import PharaohReader, read_conllu, read_conllulex

    def read(path: Path) -> Any:
        return (read_conllulex if ".conllulex" in path.suffixes else read_conllu)(path)

    if treebank:
        target = read(target_treebank) if target_treebank else None
        return treebank_text(read(treebank), target, pipeline.translator, sentences)
    if links:
        source, target, gold = links
        return linked_text(PharaohReader(source=source, target=target, alignments=gold).read())
    return own_text(pipeline.corpus, pipeline.settings.corpus)


def _records(result: Result) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of all tables; what is missing is None."""
    import pandas as pd

    return {
        table: [
            {str(name): None if pd.isna(value) else value for name, value in record.items()}
            for record in it.rows.to_dict("records")
        ]
        for table, it in result.tables.items()
    }


def _show(result: Result) -> None:
    """Print the roles of every head, and the strongest pairs of a head and a relation."""
    records = _records(result)
    click.echo(f"{result.tables['roles'].caption} {result.tables['roles'].n}.\n")
    by_head: dict[str, list[str]] = {}
    for row in records["roles"]:
        name = "{site}.{layer}.{head}".format(**row)
        by_head.setdefault(name, []).append(f"{row['role']} ({row['share']:.0%})")
    for name, found in by_head.items():
        click.echo(f"{name:14} {'; '.join(found)}")
    total = len({(row["site"], row["layer"], row["head"]) for row in records["offsets"]})
    click.echo(f"{len(by_head)} of {total} heads have a role\n")
    best = [row for row in records["arcs"] if row["chosen"]]
    best.sort(key=lambda row: -row["effect"])
    if best:
        click.echo("strongest pairs, chosen on one half of the sentences and scored on the other:")
    for row in best[:STRONGEST]:
        name = "{site}.{layer}.{head}".format(**row)
        strongest = max(row["baseline"], row["chance"], row["floor"])
        click.echo(
            f"  {name:14} {row['kind']}, {row['direction']}: {row['accuracy']:.1%} against "
            f"{strongest:.1%}, lead {row['effect']:+.3f} "
            f"[{row['effect_low']:+.3f}, {row['effect_high']:+.3f}], p {row['p_holm']:.1g}"
        )
    for row in records.get("alignment", []):
        if row["chosen"] or row["aligner"] in ("mean", "union"):
            click.echo(
                f"alignment by {row['aligner']}, where a word is {row['asked']}: precision "
                f"{row['precision']:.1%}, recall {row['recall']:.1%}, error rate "
                f"{row['error_rate']:.1%}"
            )
    for remark in result.remarks:
        click.echo(remark)
