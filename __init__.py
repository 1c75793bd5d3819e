"""headcount: how many heads does your translator really need?

Train a translation Transformer (or bring one), find out what every attention head does and
how much it matters, remove the heads that are not needed, and see the price in BLEU, speed
and memory on one page.

The house has four rooms, and text flows through them from the bottom to the top:
`models` (trained, decoded, cut), `probe` (looking inside), `analyses` (asking) and
`reports` (showing). `commands` is the front door. Imports go downwards only.
"""

__version__ = "0.1.0"
