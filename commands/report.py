"""`headcount report`: the page of a run, and its figures for papers."""

from __future__ import annotations

from pathlib import Path

import click

from .options import echo_json


@click.command(
    epilog="""\b
Examples:
  headcount report runs/small --open
  headcount report runs/small --loss 0.5
  headcount report runs/small --sections answer,curve
  headcount report runs/small --json > tables.json
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--loss",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    metavar="POINTS",
    help="The loss of BLEU within which a smaller model is good enough.",
)
@click.option(
    "--figures/--no-figures",
    default=True,
    show_default=True,
    help="Also draw SVG and PDF figures for papers.",
)
@click.option(
    "--sections",
    metavar="NAME,...",
    default="",
    help="Only these sections; names as in the links of the page, such as answer,curve.",
)
@click.option("--open", "open_page", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print all tables as one JSON object; write nothing."
)
def command(
    run: Path,
    loss: float,
    figures: bool,
    sections: str,
    open_page: bool,
    as_json: bool,
) -> None:
    """Write the page of RUN from its results, computing nothing again.

    Sections appear when their results exist. The same results give the same page, byte for
    byte.
    """
    from ..models.errors import UsageError
    from ..reports.findings import Findings
    from ..reports.page import build_page, page_of

    if as_json:
        if open_page or sections:
            raise UsageError("--json writes no page: leave out --open and --sections")
        found = Findings.of_run(run).results
        echo_json({name: result.as_json() for name, result in found.items()})
        return
    only = [name.strip() for name in sections.split(",") if name.strip()]
    if only:
        page_of(Findings.of_run(run, loss), only)  # what cannot be shown must change no file
    if figures:
        from ..reports.figures import draw_figures

        draw_figures(run)
    page = build_page(
        run, allowed_loss=loss, only=[it.strip() for it in sections.split(",") if it.strip()]
    )
    click.echo(f"The page is {page}")
    if open_page:
        click.launch(page.resolve().as_uri())
