"""What a reader of the curve asks next: one site alone, what it costs, what it says."""

import pytest
import torch
from made_translators import CARRIER, copying, nano, pairs, planted, vocabulary
from torch.utils.flop_counter import FlopCounterMode

from headcount.analyses.analysis import spread
from headcount.analyses.prune import PruneSettings, prune
from headcount.analyses.score import ScoreSettings, score
from headcount.models.gates import Head
from headcount.models.translator import SearchSettings

__all__ = ["copying", "nano", "pairs", "planted", "vocabulary"]
SETTINGS = PruneSettings(
    metrics=("gradient", "leave_one_out"),
    draws=2,
    shares=(1, 0.5, 0),
    sentences=8,
    resamples=50,
    proofs=0,
    jobs=1,
    samples=2,
)


@pytest.fixture(scope="module")
def tables(planted, copying):
    asked = ScoreSettings(metrics=SETTINGS.metrics, sentences=8, resamples=10)
    scores = score(planted, copying, asked, seed=0)
    found = prune(planted, copying, SETTINGS, 0, scores=scores).tables
    return {name: table.rows for name, table in found.items()}


def removed(tables, order, draw, count):
    rows = tables["removals"]
    own = rows[(rows["order"] == order) & (rows["draw"] == draw)].sort_values("step")
    heads = [Head(*row) for row in own[["site", "layer", "head"]].to_numpy()]
    return heads[: len(heads) - count]


def test_only_the_carriers_site_breaks_and_only_without_it(tables, planted):
    sites = tables["sites"]
    assert set(sites["order"]) == {"leave_one_out"}
    broken = sites[sites["bleu"] < 50]
    assert [(row.site, row.site_left) for row in broken.itertuples()] == [(CARRIER[0], 0)]
    for site, rows in sites.groupby("site"):
        of_site = sum(head.site == site for head in planted.layout)
        assert list(rows["site_left"]) == [of_site, round(of_site / 2), 0]
        assert list(rows["heads_left"]) == [18 - of_site + left for left in rows["site_left"]]
        assert rows["bleu_difference"].iloc[0] == 0


def test_sites_and_the_whole_curve_agree_where_they_are_one_model(tables):
    whole = tables["curve"].set_index(["order", "heads_left"]).loc[("gradient", 18)]
    for row in tables["sites"].query("heads_left == 18").itertuples():
        assert (row.bleu, row.bleu_low, row.nll) == (whole.bleu, whole.bleu_low, whole.nll)


def test_costs_are_what_torch_counts_and_what_the_weights_weigh(tables, planted, copying):
    text = copying.test.head(8)
    for row in tables["costs"].query("draw == 0 and order == 'gradient'").itertuples():
        smaller = planted.without(removed(tables, row.order, row.draw, row.heads_left))
        counted = tokens = 0
        for batch in smaller.batches(text.source, text.target):
            with torch.no_grad(), FlopCounterMode(display=False) as counter:
                smaller.capture(batch, attention=True)
            counted += counter.get_total_flops() // 2
            tokens += int(batch.labels.real.sum())
        assert row.multiplications == pytest.approx(counted / tokens)
        weights = list(smaller.network.parameters())
        assert row.weights == sum(it.numel() * it.element_size() for it in weights)
    assert (tables["costs"].query("heads_left == 18")["share"] == 1).all()


def test_samples_are_what_each_smaller_model_says(tables, planted, copying):
    samples = tables["samples"]
    assert len(samples) == 3 * 3 * 2
    for row in samples.itertuples():
        assert row.sentence in spread(8, 2)
        assert row.source == copying.test.source[row.sentence]
        smaller = planted.without(removed(tables, row.order, 0, row.heads_left))
        (said,) = smaller.translate([row.source], SearchSettings(beam=1))
        assert row.translation == said.text
