"""`headcount report`: the page of a run, and its figures for papers."""

from __future__ import annotations

from pathlib import Path

import click

from .options import echo_json, json_option


@click.command(
    epilog="""\b
Examples:
  headcount report runs/small --open
  headcount report runs/small --loss 0.5
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
@click.option("--open", "open_page", is_flag=True, help="Open the page in the browser.")
@json_option
def command(run: Path, loss: float, figures: bool, open_page: bool, as_json: bool) -> None:
    """Write the page of RUN from its results, computing nothing again.

    Sections appear when their results exist. The same results give the same page, byte for
    byte.
    """
    from ..reports.page import build_page

    drawn: list[Path] = []
    if figures:
        from ..reports.figures import draw_figures

        drawn = draw_figures(run)
    page = build_page(run, allowed_loss=loss)
    if as_json:
        echo_json({"page": str(page), "figures": [str(path) for path in drawn]})
    else:
        click.echo(f"The page is {page}")
    if open_page:
        click.launch(page.resolve().as_uri())
