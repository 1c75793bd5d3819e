"""What each output token of the first example sentence relied on."""

from __future__ import annotations

from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from ..findings import Findings
from ..wording import fixed, visible
from .family import figure
from .style import ink_over, new_figure

LONGEST = 20  # characters of a token that are printed
PLAIN = 0.03  # smaller shares are not printed


@figure("relevance", "relevance", "tokens")
def draw_relevance(findings: Findings) -> Figure:
    """Draw the share of every input token in the relevance of every output token, in percent."""
    tokens, shares = findings.rows("relevance", "tokens"), findings.rows("relevance", "shares")
    first = tokens["sentence"].iloc[0]
    tokens, shares = tokens[tokens["sentence"] == first], shares[shares["sentence"] == first]
    said = shares.drop_duplicates("position").sort_values("position")
    read = tokens.drop_duplicates(["side", "place"])
    read = read.assign(behind=read["side"] != "source").sort_values(["behind", "place"])
    by_place = tokens.set_index(["side", "place", "position"])["relevance"].astype(float)
    values = by_place.unstack("position")
    values = (values / values.abs().sum()).reindex(
        index=list(zip(read["side"], read["place"], strict=True)), columns=list(said["position"])
    )
    values = values.T  # [output, input]
    drawn = new_figure(1.6 + 0.32 * len(read), 1.4 + 0.24 * len(said))
    axes = drawn.subplots()
    shown = axes.imshow(
        values.abs().to_numpy(float),
        cmap="viridis",
        norm=PowerNorm(0.5, vmin=0, vmax=1),
        aspect="auto",
    )
    for down, row in enumerate(values.to_numpy(float)):
        for across, share in enumerate(row):
            if abs(share) >= PLAIN:
                ink = ink_over(shown, abs(share))
                text = fixed(100 * share, 0)
                axes.text(across, down, text, ha="center", va="center", size=6, color=ink)
    named, asked = ([visible(it)[:LONGEST] for it in own["piece"]] for own in (read, said))
    axes.set_xticks(range(len(read)), named, rotation=90, size=7)
    axes.set_yticks(range(len(said)), asked, size=7)
    axes.axvline(int((~read["behind"]).sum()) - 0.5, color="black", lw=1)
    axes.tick_params(length=0)
    axes.set(xlabel="Source, then the output so far", ylabel="Output")
    for spine in axes.spines.values():
        spine.set_visible(False)
    drawn.colorbar(shown, ax=axes, label="Share of a row’s relevance")
    return drawn
