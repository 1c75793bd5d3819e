"""The figures for papers: seaborn, as SVG and PDF in `figures/`, one file a figure.

The page draws its own charts, which answer to light, dark and a reader's choices. A paper
wants the same numbers in a file of its own. The same Results give the same bytes: no date
is written, ids in the SVG come from a fixed salt, and nothing depends on a screen.

    @figure("curve", "prune", "curve")
    def draw_curve(findings: Findings) -> Figure:
        ...
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from ...models.errors import DataError
from ...models.files import replacing
from ..findings import Findings
from .family import figures
from .style import STYLE

FOLDER = "figures"

for _module in pkgutil.iter_modules(__path__):
    import_module(f".{_module.name}", __name__)


def draw_figures(run_folder: Path, formats: Sequence[str] = ("svg", "pdf")) -> list[Path]:
    """Draw every figure whose Results exist, as `figures/NAME.svg` and `figures/NAME.pdf`.

    Args:
        run_folder: a run folder with at least one finished Result in `results/`.
        formats: of the files; a PDF takes the longest.

    Returns:
        The paths that were written.

    Raises:
        DataError: the folder holds no finished Result, a damaged one, or tables that another
            version made.
    """
    findings = Findings.of_run(run_folder)
    written = []
    for name in figures:
        member = figures[name]
        if not member.shown_by(findings):
            continue
        with matplotlib.rc_context(STYLE):
            try:
                drawn = member.draw(findings)
            except KeyError as error:
                raise DataError(
                    f"the figure '{name}' does not find {error} in the results of {findings.run}, "
                    "which another version has made: measure them again with `headcount run -o "
                    "RUN`, or leave figures out with --no-figures"
                ) from error
            for ending in formats:
                path = run_folder / FOLDER / f"{name}.{ending}"
                _save(drawn, path, ending)
                written.append(path)
    return written


def _save(figure: Figure, path: Path, ending: str) -> None:
    """Write one file without a date in it."""
    dates = {"Date": None} if ending == "svg" else {"CreationDate": None, "ModDate": None}
    with replacing(path) as temporary, warnings.catch_warnings():
        # Text of a corpus may hold characters that matplotlib's font has no picture of.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(temporary, format=ending, metadata=dates)
    figure.set_layout_engine("none")  # found once; to find it again takes most of the time
