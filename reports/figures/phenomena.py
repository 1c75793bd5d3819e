"""BLEU by phenomenon as heads go."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..findings import Findings
from .family import figure
from .style import ink_over, new_figure


@figure("phenomena", "prune", "phenomena")
def draw_phenomena(findings: Findings) -> Figure:
    """Draw BLEU by phenomenon and heads left; a star where it surely changed."""
    rows = findings.rows("prune", "phenomena")
    lost = rows.groupby("phenomenon")["bleu_difference"].sum().astype(float).sort_values()
    counts = sorted(rows["heads_left"].unique(), reverse=True)
    by_place = rows.set_index(["phenomenon", "heads_left"])
    drawn = new_figure(1.9 + 0.42 * len(counts), 0.9 + 0.22 * len(lost))
    axes = drawn.subplots()
    bleu = by_place["bleu"].astype(float).unstack().loc[lost.index, counts]
    shown = axes.imshow(bleu.to_numpy(), cmap="viridis", vmin=0, vmax=100, aspect="auto")
    for down, name in enumerate(lost.index):
        for across, count in enumerate(counts):
            row = by_place.loc[(name, count)]
            sure = row["difference_high"] < 0 or row["difference_low"] > 0
            axes.text(
                across,
                down,
                f"{row['bleu']:.0f}{'*' if sure else ''}",
                ha="center",
                va="center",
                size=6.5,
                color=ink_over(shown, float(row["bleu"])),
            )
    axes.set_xticks(range(len(counts)), [str(count) for count in counts])
    axes.set_yticks(range(len(lost)), [name.replace("_", " ") for name in lost.index])
    axes.tick_params(length=0)
    axes.set(xlabel="Heads left")
    for spine in axes.spines.values():
        spine.set_visible(False)
    drawn.colorbar(shown, ax=axes, label="BLEU")
    return drawn
