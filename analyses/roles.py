"""What does each head attend to? The `roles` analysis.

One walk over annotated sentences asks every head of all sites: at which offset it looks, on
what it rests, whether it finds the other end of each dependency relation, words of the same
meaning, rare and repeated tokens, and the source words that a target word is a translation
of. Each accuracy stands beside that of the best fixed place, of chance and of the same network
with random weights, all chosen on one half of the sentences and compared on the other, and
Holm's correction counts every head, direction and relation that was asked.

| table | one row |
| --- | --- |
| `roles` | a role that a head was found to have |
| `arcs` | a head and a kind of question, with all baselines, effect, interval and p |
| `offsets` | a head and an offset: where its largest weight is, and its mean map |
| `sinks`, `blocks` | a head and a kind of key; a head: does it stay in its stretch of text |
| `shapes` | a head: its group among the shapes of maps (`role_shapes.py`) |
| `alignment` | an aligner: a head, a mean, the union; from weights, norm, relevance |
| `importance` | a metric and a site: do important heads have roles (`role_importance.py`) |
| `survival` | an order of removal and a family: which roles go first (`role_survival.py`) |
| `causal` | heads of a role closed: does what it serves break (`role_causal.py`) |
| `shared`, `agreement`, `unlike` | roles of models of several seeds (`role_seeds.py`) |
| `drift`, `kept` | a head and a role, before and after pruning (`role_drift.py`) |
| `likeness`, `map`, `merges`, `outliers`, `layers` | which heads are alike; see `likeness.py` |

Pitfall: attention says where a head looks, not what it does with what it sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from pydantic import Field

from ..models.data.parallel_text import Corpus
from ..models.errors import UsageError
from ..models.gates import Head
from ..models.reinitialised import with_random_weights
from ..models.settings import Settings
from ..models.translator import Translator
from ..probe.roles import Side, joined, source_counts
from ..probe.roles.tokens import FREQUENT
from .analysis import Progress, analysis, silent, spread
from .likeness import likeness, likeness_tables
from .provenance import Stopwatch, provenance
from .result import Result, Table
from .role_causal import causal_table
from .role_found import Found, answers_of, tables_of
from .role_importance import importance_table
from .role_seeing import Seen, asking_of, not_asked, see
from .role_survival import ANY, survival_table
from .role_text import RoleText

FOREIGN = 0.2
"""Share of source pieces new to training text from which a text is said to be foreign."""


class RolesSettings(Settings):
    """How much text to look at, and how carefully; the defaults are what a run can afford.

    Args:
        sentences: at most so many, spread evenly over the text.
        random_networks: networks with random weights that are looked at as well.
        fewest: questions that a kind must have to be asked; of a relation, arcs.
        likeness_sentences: of these, so many tell which heads are alike.
        training_sentences: on which it is counted which source tokens are rare.
        frequent_types: so many of the most frequent types are not.
        resamples: bootstrap resamples of the sentences for the intervals.
        causal_sentences: of each phenomenon of the built-in corpus, on which heads of a role are
            closed; 0 leaves it out.
        causal_draws: sets of other heads that are closed for comparison, at most.
        causal_bleu: whether these sentences are translated as well.
    """

    sentences: int = Field(default=1000, ge=1)
    random_networks: int = Field(default=2, ge=0)
    fewest: int = Field(default=50, ge=1)
    likeness_sentences: int = Field(default=150, ge=1)
    training_sentences: int = Field(default=5000, ge=1)
    frequent_types: int = Field(default=FREQUENT, ge=0)
    resamples: int = Field(default=1000, ge=1)
    causal_sentences: int = Field(default=30, ge=0)
    causal_draws: int = Field(default=23, ge=0)
    causal_bleu: bool = False


@analysis("roles")
def roles(
    translator: Translator,
    corpus: Corpus,
    settings: RolesSettings,
    seed: int,
    progress: Progress = silent,
    *,
    text: RoleText,
    scores: Result | None = None,
    removals: Result | None = None,
    pruned: Mapping[str, Translator] | None = None,
) -> Result:
    """Say what each head attends to.

    Args:
        translator: the model.
        corpus: whose training text says which words are rare.
        text: annotated sentences to look at.
        scores: of the analysis `score`, to set roles beside importance.
        removals: of the analysis `prune`, to tell which roles go first.
        pruned: what is left of the model, by name: `cut`, `smaller`.

    Raises:
        DataError: no sentences.
    """
    stopwatch = Stopwatch()
    pruned = pruned or {}
    text = text.head(settings.sentences)
    counted = corpus.train.select(spread(len(corpus.train), settings.training_sentences))
    counts = source_counts(translator, counted)
    networks, remarks = _networks(translator, settings, seed)
    own, floors, others, sides = _look(networks, pruned, text, counts, settings, seed, progress)
    n = f"{len(text.pairs)} sentences ({text.name})"
    remarks = [*text.remarks, *_foreign(translator, text, counts), *remarks, *own.seen.remarks]
    for name, side in zip(("source", "target"), sides, strict=True):
        remarks.append(f"Of the {name} side, {side.coverage.remark()}")
    remarks += not_asked(own.seen)
    tables = tables_of(own, floors, others, settings.resamples, seed, n)
    having = _having(tables["roles"])
    if scores is not None:
        ranks = scores.tables["heads"].rows
        arguments = (ranks, translator.layout.heads, having[ANY], n)
        tables["importance"] = importance_table(*arguments)
    if removals is not None:
        tables["survival"] = survival_table(
            removals.tables["removals"].rows,
            translator.layout.heads,
            having,
            resamples=settings.resamples,
            seed=seed,
            n=n,
        )
    if text.contrasted and settings.causal_sentences:
        tables |= _causal(translator, corpus, tables["arcs"], settings, seed, progress)
    few = text.head(settings.likeness_sentences)
    some = joined(translator, [(pair.source, pair.target) for pair in few.pairs])
    alike = [likeness(network, some) for network in networks]
    tables |= likeness_tables(alike[0], alike[1:], f"{len(few.pairs)} of {n}", seed)
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"roles": text.plain.fingerprint},
        device=translator.device,
    )
    return Result("roles", tables, settings.model_dump(mode="json"), origin, tuple(remarks))


def _foreign(translator: Translator, text: RoleText, counts: Mapping[int, int]) -> list[str]:
    """Warn of source text whose pieces training text does not have, such as another language's."""
    found = source_counts(translator, text.plain)
    new = sum(count for piece, count in found.items() if piece not in counts)
    share = new / max(1, found.total())
    if not counts or share < FOREIGN:
        return []
    return [
        f"{share:.0%} of the source pieces are in none of the training sentences that were "
        "counted: is the text in the language that the model reads?"
    ]


def _networks(
    translator: Translator, settings: RolesSettings, seed: int
) -> tuple[list[Translator], list[str]]:
    """Return the model and networks with random weights, and what there is to say of them."""
    networks = [translator]
    try:
        for number in range(settings.random_networks):
            generator = torch.Generator().manual_seed(seed + number)
            networks.append(with_random_weights(translator, generator))
    except UsageError:
        return networks, ["No random network: this kind of model cannot be drawn anew."]
    return networks, []


def _look(
    networks: Sequence[Translator],
    pruned: Mapping[str, Translator],
    text: RoleText,
    counts: Mapping[int, int],
    settings: RolesSettings,
    seed: int,
    progress: Progress,
) -> tuple[Found, list[Seen], dict[str, Found], tuple[Side, Side]]:
    """Look at the model, at random networks, and at what is left of the model.

    Returns:
        each of the three, and the sentences joined to pieces.
    """
    sides = joined(networks[0], [(pair.source, pair.target) for pair in text.pairs])
    rare = {"fewest": settings.fewest, "types": settings.frequent_types}
    asking = asking_of(networks[0], text, sides, counts, **rare)
    total = len(networks) + len(pruned)
    seen = []
    for number, network in enumerate(networks):
        progress("roles", number, total)
        # Gold links are compared with those of trained networks alone.
        seen.append(see(network, sides, asking, None if number else text))
    floors = seen[1:]
    others = {}
    for number, (name, model) in enumerate(pruned.items(), len(networks)):
        progress(f"roles: {name}", number, total)
        left = asking_of(model, text, sides, counts, **rare)
        found = see(model, sides, left, text)
        others[name] = Found(found, answers_of(found, floors, settings.resamples, seed))
    progress("roles", total, total)
    own = Found(seen[0], answers_of(seen[0], floors, settings.resamples, seed))
    return own, floors, others, sides


def _causal(
    translator: Translator,
    corpus: Corpus,
    arcs: Table,
    settings: RolesSettings,
    seed: int,
    progress: Progress,
) -> dict[str, Table]:
    table = causal_table(
        translator,
        corpus,
        arcs.rows,
        sentences=settings.causal_sentences,
        draws=settings.causal_draws,
        bleu=settings.causal_bleu,
        resamples=settings.resamples,
        seed=seed,
        progress=progress,
    )
    return {"causal": table} if table else {}


def _having(found: Table) -> dict[str, set[Head]]:
    """Return the heads with a role of each family, and of any: to rest on something is none."""
    having: dict[str, set[Head]] = {ANY: set()}
    for row in found.rows.to_dict("records"):
        head = Head(str(row["site"]), int(row["layer"]), int(row["head"]))
        having.setdefault(str(row["family"]), set()).add(head)
        if row["family"] != "rest":
            having[ANY].add(head)
    return having
