"""The family of annotation formats: what a reader is, and where all of them are found.

Three kinds of reader, all chosen by name from one registry:

| kind | it reads | gives |
| --- | --- | --- |
| `TreebankReader` | a file that stands alone | a `Treebank` |
| `LayerReader` | annotation of sentences that another file holds | the `Treebank` with a layer |
| `PairReader` | parallel text with word alignments | an `AlignedText` |

A reader is a settings class: its files are its fields, checked and written into the resolved
configuration like every other setting. What it cannot read it refuses with file, line and
reason (`DataError`); what it leaves out by rule it counts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ...models.registry import Registry
from ...models.settings import Settings
from .treebank import AlignedText, Treebank


class Reader(Settings):
    """A format together with the files to read."""


class TreebankReader(Reader):
    """A format that holds sentences and what is known of them."""

    @abstractmethod
    def read(self) -> Treebank:
        """Read the files.

        Raises:
            DataError: a damaged file; the message names file, line and reason.
        """


class LayerReader(Reader):
    """A format that adds to sentences of a treebank."""

    @abstractmethod
    def add_to(self, treebank: Treebank) -> Treebank:
        """Return the treebank with the layer; sentences that the files lack stay without it.

        Raises:
            DataError: a damaged file, or one that does not belong to the treebank.
        """


class PairReader(Reader):
    """A format that holds sentence pairs with word alignments."""

    @abstractmethod
    def read(self) -> AlignedText:
        """Read the files.

        Raises:
            DataError: a damaged file, or files of different length.
        """


reader: Registry[type[Reader]] = Registry("annotation format")


def read_annotations(treebank: TreebankReader, layers: Sequence[LayerReader] = ()) -> Treebank:
    """Read a treebank and put layers on it, one after another.

    Args:
        treebank: the file with the sentences.
        layers: further annotation of the same sentences.

    Raises:
        DataError: see the readers.
    """
    annotated = treebank.read()
    for layer in layers:
        annotated = layer.add_to(annotated)
    return annotated
