"""Distances between heads, and what is made of them, against hand-computed numbers."""

import math

import numpy as np
import pytest
import torch
from made_translators import copies, nano, planted, vocabulary
from scipy import stats
from scipy.spatial.distance import jensenshannon

from headcount.models.gates import Attention, Head, HeadLayout
from headcount.models.planted import CARRIER
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.roles import joined, walk
from headcount.probe.roles.grouping import (
    at_least,
    groups,
    k_medoids,
    medoids,
    merges,
    one_or_two_by_chance,
    outliers,
    scaled,
    twins,
)
from headcount.probe.roles.redundancy import (
    LikenessObserver,
    divergences,
    expected_overlap,
    overlaps,
)

__all__ = ["nano", "planted", "vocabulary"]


def sides_of(translator, sentences: int, seed: int = 0):
    text = copies("made", seed=seed, sentences=sentences)
    made = [AnnotatedSentence(str(i), it, words_of(it)) for i, it in enumerate(text.source)]
    return joined(translator, [(it, it) for it in made])


def test_divergences_are_those_of_scipy():
    rows = torch.rand(7, 4, 5, generator=torch.Generator().manual_seed(0))
    rows[0, 1, 2:] = 0  # hidden keys
    rows = rows / rows.sum(2, keepdim=True)
    found = divergences(rows)
    for one in range(4):
        for other in range(4):
            each = [jensenshannon(rows[t, one], rows[t, other], base=2) ** 2 for t in range(7)]
            assert float(found[one, other]) == pytest.approx(sum(each), abs=1e-5)


def test_two_heads_on_different_keys_differ_by_one_bit():
    rows = torch.eye(3)[None, :2]  # head 0 rests on key 0, head 1 on key 1
    assert divergences(rows).tolist() == [[0.0, 1.0], [1.0, 0.0]]


class Seen:
    """A view of written weights, whose heads' outputs are the weights themselves."""

    def __init__(self, weights, tokens):
        self.attention = {Attention("decoder", 0): weights}
        self.context = {Attention("decoder", 0): weights.transpose(1, 2)}
        self.both = tokens

    def tokens(self, name):
        return self.both, self.both


def test_causal_heads_are_normalised_by_visible_keys():
    """Of three queries the first sees one key, the second two, the third three."""
    from headcount.models.batch import Tokens

    tokens = Tokens.padded([[2, 4, 5]], 0, {2})
    first = torch.tensor([[1.0, 0, 0], [1, 0, 0], [1, 0, 0]])
    last = torch.eye(3)
    observer = LikenessObserver(HeadLayout.full({"decoder": 1}, 2), "decoder")
    observer.observe(Seen(torch.stack([first, last])[None], tokens))
    # Divergence 0 + 1 + 1 bits; two heads on random keys: 0 + 1/2 + 2/3.
    assert float(observer.distances()[0, 1]) == pytest.approx(math.sqrt(2 / (1 / 2 + 2 / 3)))
    assert observer.distances().diagonal().tolist() == [0.0, 0.0]


def test_batches_and_padding_change_nothing(nano):
    sides = sides_of(nano, 24)
    for site in ("encoder", "decoder", "cross"):
        small, large = (LikenessObserver(nano.layout, site) for _ in range(2))
        walk(nano, sides, [small], tokens=12)
        walk(nano, sides, [large], tokens=4096)
        assert torch.allclose(small.distances(), large.distances(), atol=1e-5)
        assert torch.allclose(small.cka(), large.cka(), atol=1e-6)
        assert (small.distances() - small.distances().T).abs().max() == 0


def test_cka_by_its_definition(nano):
    """Outputs of all tokens at once, centred: |X'Y|^2 / (|X'X| |Y'Y|)."""
    sides = sides_of(nano, 6)
    observer = LikenessObserver(nano.layout, "cross")
    walk(nano, sides, [observer])
    texts = [[it.text for it in side.sentences] for side in sides]
    (batch,) = nano.batches(*texts, tokens=4096)
    seen = nano.capture(batch, context=True).context
    own = [at for at, ids in nano.layout.by_attention if at.site == "cross" and ids]
    outputs = torch.cat([seen[at] for at in own], dim=2)[batch.target.real].double()
    outputs = outputs - outputs.mean(0)
    x, y = outputs[:, 0], outputs[:, -1]
    x, y = x.detach(), y.detach()
    expected = (x.T @ y).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm())
    assert float(observer.cka()[0, -1]) == pytest.approx(float(expected), abs=1e-8)


def test_idle_heads_have_one_map_and_the_carrier_another(planted):
    sides = sides_of(planted, 40)
    observer = LikenessObserver(planted.layout, "cross")
    walk(planted, sides, [observer])
    found = observer.distances().numpy()
    carrier = observer.heads.index(CARRIER)
    idle = [place for place in range(len(found)) if place != carrier]
    assert found[np.ix_(idle, idle)].max() < 1e-3
    assert found[carrier, idle].min() > 0.5
    assert outliers(found, observer.heads) == [head == CARRIER for head in observer.heads]
    assert groups(found, 0.25) == [int(place == carrier) for place in range(len(found))]


def test_overlap_of_the_same_of_orthogonal_and_of_random_spaces(nano):
    heads = tuple(head for head in nano.layout if head.site == "encoder")
    found = overlaps(nano, heads)
    assert torch.allclose(found.diagonal(), torch.ones(len(heads), dtype=torch.float64))
    output = nano.head_weights(Attention("encoder", 0)).output.detach().double()
    one, other = (torch.linalg.qr(each.T).Q for each in output[:2])
    cosines = torch.linalg.svdvals(one.T @ other)  # of the principal angles
    assert float(found[0, 1].detach()) == pytest.approx(
        float(cosines.detach().square().mean()), abs=1e-10
    )
    width = output.shape[2]
    assert expected_overlap(nano, heads[0]) == output.shape[1] / width
    draw = torch.Generator().manual_seed(0)
    bases = [torch.linalg.qr(torch.randn(64, 8, generator=draw)).Q for _ in range(200)]
    pairs = [float((a.T @ b).norm() ** 2 / 8) for a, b in zip(bases[::2], bases[1::2], strict=True)]
    assert np.mean(pairs) == pytest.approx(8 / 64, abs=0.01)


LINE = np.abs(np.subtract.outer([0.0, 1, 5, 6.5], [0.0, 1, 5, 6.5]))


def test_average_linkage_by_hand():
    assert [(it.left, it.right, it.size) for it in merges(LINE)] == [
        (0, 1, 2),
        (2, 3, 2),
        (4, 5, 4),
    ]
    assert [it.height for it in merges(LINE)] == [1.0, 1.5, pytest.approx((5 + 6.5 + 4 + 5.5) / 4)]
    assert groups(LINE, 1.2) == [0, 0, 1, 2]
    assert groups(LINE, 2.0) == [0, 0, 1, 1]
    assert merges(LINE[:1, :1]) == [] and groups(LINE[:1, :1], 1.0) == [0]


def test_points_on_a_line_need_one_dimension():
    places, share = scaled(LINE)
    assert share == pytest.approx(1.0)
    assert np.abs(np.subtract.outer(places[:, 0], places[:, 0])) == pytest.approx(LINE)
    assert np.abs(places[:, 1]).max() < 1e-6
    even = np.ones((4, 4)) - np.eye(4)  # all equally far: three dimensions, two of which show
    assert scaled(even)[1] == pytest.approx(2 / 3)


def test_outliers_are_counted_layer_by_layer():
    heads = [Head("encoder", layer, head) for layer in (0, 1) for head in range(4)]
    far = np.ones((8, 8)) - np.eye(8)
    far[3, :4] = far[:4, 3] = 2.0
    far[3, 3] = 0
    # Mean distances of layer 0: 4/3, 4/3, 4/3, 2; median 4/3, deviations 0, so 2 is beyond.
    assert outliers(far, heads) == [False] * 3 + [True] + [False] * 4
    assert outliers(far[:2, :2], heads[:2]) == [False, False]


def test_twins_are_each_others_nearest_and_near():
    assert twins(LINE) == [(0, 1), (2, 3)]  # median 4.5 of 1 1.5 4 5 5.5 6.5 is 4.5
    even = np.ones((4, 4)) - np.eye(4)
    assert twins(even) == []


def on_a_line(*places: float):
    at = np.array(places)
    return np.abs(at[:, None] - at)


def test_medoids_of_two_clusters_on_a_line_are_their_middles():
    found = medoids(on_a_line(0.0, 1.0, 2.0, 10.0, 11.0, 12.5))
    assert found.medoids == (1, 4)
    assert found.group == (0, 0, 0, 1, 1, 1)
    # Of the first: 1.5 from its own group on average, 11.1667 from the other.
    assert found.width[0] == pytest.approx(1 - 1.5 / (33.5 / 3))


def test_swaps_leave_a_greedy_start_that_is_not_best():
    distances = on_a_line(0.0, 4.0, 5.0, 6.0, 10.0)
    best = min(
        distances[[one, other]].min(0).sum() for one in range(5) for other in range(one + 1, 5)
    )
    assert distances[list(k_medoids(distances, 2))].min(0).sum() == best


def test_heads_that_are_all_the_same_are_not_grouped():
    assert medoids(np.zeros((5, 5))) is None
    assert medoids(on_a_line(0.0, 1.0, 2.0)) is None
    unknown = on_a_line(0.0, 1.0, 2.0, np.nan)
    assert medoids(unknown) is None
    assert len(k_medoids(unknown, 2)) == 2  # and it ends


def test_outliers_by_chance_are_none_where_all_distances_are_equal():
    generator = np.random.default_rng(0)
    equal = 1.0 - np.eye(8)
    assert one_or_two_by_chance(equal, generator) == 0.0
    # A single far head is what it is because all of its distances are large.
    alone = equal.copy()
    alone[0, 1:] = alone[1:, 0] = 2.0
    assert outliers(alone, [Head("encoder", 0, i) for i in range(8)])[0]
    assert one_or_two_by_chance(alone, generator) < 0.6


def test_independent_chances_add_up_to_the_binomial_law():
    assert at_least(2, [0.3] * 5) == pytest.approx(stats.binom.sf(1, 5, 0.3))
    assert at_least(1, [0.5, 0.2]) == pytest.approx(1 - 0.5 * 0.8)
    assert at_least(0, [0.1]) == 1.0
