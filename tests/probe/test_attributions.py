"""Shares of the log-probability among the heads, against sums, enumeration and captum."""

from itertools import combinations, permutations
from math import factorial

import pytest
import torch
from made_translators import CARRIER

from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError, UsageError
from headcount.probe.feature_ablation import FeatureAblation
from headcount.probe.gate_game import gains, log_probabilities
from headcount.probe.importance import metric
from headcount.probe.integrated_gradients import IntegratedGradients
from headcount.probe.kernel_shap import KernelShap, copies_of
from headcount.probe.leave_one_out import LeaveOneOut
from headcount.probe.shapley import Shapley, draw_orders, mean_gains, shapley_by_captum

MEMBERS = (
    LeaveOneOut(),
    FeatureAblation(),
    IntegratedGradients(),
    KernelShap(samples=64),
    Shapley(permutations=4),
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def ids(members):
    return [type(member).__name__ for member in members]


def one_batch(translator, pairs, sentences: int = 3):
    text = pairs.head(sentences)
    return next(iter(translator.batches(text.source, text.target)))


@pytest.fixture(scope="module")
def few_heads(nano):
    """A translator of four heads, at all three sites."""
    kept = {("encoder", 0, 1), ("decoder", 0, 0), ("cross", 0, 2), ("cross", 1, 1)}
    return nano.without([head for head in nano.layout if tuple(head) not in kept])


@torch.no_grad()
def exact_shapley(translator, batch):
    """The definition: a weighted sum over all sets without the head, one forward a set."""
    heads = range(len(translator.layout))

    def f(members):
        gates = torch.tensor([[float(head in members) for head in heads]])
        return log_probabilities(translator, batch, gates)

    values = torch.zeros(len(batch), len(heads), dtype=torch.float64)
    for head in heads:
        others = [it for it in heads if it != head]
        for size in range(len(heads)):
            weight = factorial(size) * factorial(len(heads) - size - 1) / factorial(len(heads))
            for members in combinations(others, size):
                values[:, head] += weight * (f({*members, head}) - f(set(members)))
    return values


@pytest.mark.parametrize("member", MEMBERS, ids=ids(MEMBERS))
def test_the_carrier_comes_first(member, planted, pairs):
    found = member.scores(planted, pairs.select(range(12, 20)), generator())
    assert found.removal_order()[-1] == CARRIER
    assert found.mean[found.layout.column_of(CARRIER)] > 0.5
    assert found.unit == "nats a token"


@pytest.mark.parametrize("member", MEMBERS, ids=ids(MEMBERS))
def test_every_proof_holds_on_random_weights(member, nano, pairs):
    proofs = member.prove(nano, pairs.select([3, 5]), generator())
    assert proofs
    assert all(proof.holds for proof in proofs), proofs


@pytest.mark.parametrize("member", MEMBERS, ids=ids(MEMBERS))
def test_one_sentence_is_enough_and_none_is_an_error(member, few_heads, pairs):
    found = member.scores(few_heads, pairs.select([4]), generator())
    assert found.values.shape == (1, 4)
    assert bool(found.mean.isfinite().all())
    with pytest.raises(DataError, match="no sentences"):
        member.scores(few_heads, ParallelText("empty", [], []), generator())


def test_feature_ablation_equals_leave_one_out(nano, pairs):
    ours = LeaveOneOut().scores(nano, pairs.head(6), generator())
    captums = FeatureAblation().scores(nano, pairs.head(6), generator())
    torch.testing.assert_close(captums.values, ours.values, rtol=0, atol=1e-6)
    assert torch.equal(captums.weights, ours.weights)


def test_integrated_gradients_sum_to_the_whole_and_do_so_better_with_more_steps(nano, pairs):
    batch = one_batch(nano, pairs)
    whole = gains(nano, batch)  # [batch]

    def error(steps):
        shares = IntegratedGradients(steps=steps).shares(nano, batch, generator())
        return float((shares.sum(1) - whole).abs().max() / whole.abs().max())

    assert error(64) < 1e-2
    assert error(64) < error(2) / 2


def test_integrated_gradients_are_by_sentence(nano, pairs):
    member, batch = IntegratedGradients(steps=4), one_batch(nano, pairs, 4)
    alone = one_batch(nano, pairs.select([2]))
    row = batch.indices.tolist().index(2)
    together = member.shares(nano, batch, generator())[row]
    torch.testing.assert_close(together, member.shares(nano, alone, generator())[0])


def test_shapley_over_all_orders_is_the_exact_value(few_heads, pairs):
    batch = one_batch(few_heads, pairs)
    orders = torch.tensor(list(permutations(range(4))))
    found = mean_gains(few_heads, batch, orders)
    torch.testing.assert_close(found, exact_shapley(few_heads, batch))


def test_sampled_orders_estimate_the_exact_value(few_heads, pairs):
    batch = one_batch(few_heads, pairs)
    exact = exact_shapley(few_heads, batch)
    for tied in (False, True):
        member = Shapley(permutations=400, tied=tied)
        found = member.shares(few_heads, batch, generator())
        assert (found - exact).abs().max() < 0.05 * exact.abs().max()


def test_shapley_equals_captums_sampler_on_the_same_orders(nano, pairs):
    batch = one_batch(nano, pairs)
    orders = draw_orders(len(nano.layout), 5, generator(), tied=True)
    captums = shapley_by_captum(nano, batch, orders)
    # captum adds up in single precision
    torch.testing.assert_close(mean_gains(nano, batch, orders), captums, rtol=0, atol=1e-5)


def test_shapley_values_sum_to_the_whole_whatever_the_orders(nano, pairs):
    batch = one_batch(nano, pairs)
    found = Shapley(permutations=1).shares(nano, batch, generator())
    torch.testing.assert_close(found.sum(1), gains(nano, batch))


@pytest.mark.parametrize("tied", [False, True])
def test_every_drawn_order_is_uniform_by_itself(tied):
    orders = draw_orders(3, 8 * 900, generator(), tied=tied)
    for place in range(8):
        _, counts = orders[place::8].unique(dim=0, return_counts=True)
        assert len(counts) == 6
        # Each of the 6 orders: 150 +- 11.2 (one standard deviation).
        assert (counts - 150).abs().max() < 4 * 11.2


def test_tied_orders_put_every_head_into_each_quarter_and_come_with_their_reverse():
    orders = draw_orders(12, 8, generator(), tied=True)
    quarters = orders.argsort(1) // 3  # [order, head]
    assert all(sorted(column) == [0, 0, 1, 1, 2, 2, 3, 3] for column in quarters.T.tolist())
    assert torch.equal(orders[::2].flip(1), orders[1::2])


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 25])
def test_as_many_orders_are_drawn_as_were_asked_for(count):
    orders = draw_orders(5, count, generator(), tied=True)
    assert orders.shape == (count, 5)
    assert all(sorted(order) == list(range(5)) for order in orders.tolist())


def test_a_pair_of_reversed_orders_is_exact_where_heads_meet_in_pairs_only():
    weights = torch.randn(6, 6, generator=generator()).double()

    def f(masks):
        return (masks @ weights * masks).sum(1)

    order = torch.randperm(6, generator=generator())
    values = torch.zeros(6, dtype=torch.float64)
    for walk in (order.tolist(), order.flip(0).tolist()):
        mask = torch.zeros(1, 6, dtype=torch.float64)
        for head in walk:
            before = f(mask)
            mask[0, head] = 1
            values[head] += (f(mask) - before)[0] / 2
    # Of a pair's joint worth each of the two gets half.
    together = weights + weights.T
    expected = weights.diag() + (together.sum(1) - together.diag()) / 2
    torch.testing.assert_close(values, expected)


def test_kernel_shap_nears_the_exact_value_and_depends_on_the_generator_alone(few_heads, pairs):
    batch = one_batch(few_heads, pairs)
    exact = exact_shapley(few_heads, batch)
    member = KernelShap(samples=200)
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    found = member.shares(few_heads, batch, generator())
    assert torch.equal(torch.random.get_rng_state(), before)
    assert (found - exact).abs().max() < 0.1 * exact.abs().max()
    torch.manual_seed(2)
    assert torch.equal(found, member.shares(few_heads, batch, generator()))


def test_kernel_shap_needs_more_samples_than_heads(nano, pairs):
    with pytest.raises(UsageError, match="15 heads to 15 samples"):
        KernelShap(samples=15).scores(nano, pairs, generator())


def test_copies_of_a_sentence_have_its_losses(nano, pairs):
    batch = one_batch(nano, pairs, 5)
    losses = nano.token_losses(batch).sum(1)  # [batch]
    for row in range(5):
        copied = nano.token_losses(copies_of(batch, row, 3)).sum(1)
        torch.testing.assert_close(copied, losses[row].expand(3))


def test_only_the_first_sentences_count_where_a_limit_is_set(few_heads, pairs):
    found = Shapley(permutations=2, sentences=3).scores(few_heads, pairs.head(5), generator())
    assert found.weights[:, 0].tolist() == [2.0, 3.0, 4.0, 0.0, 0.0]
    assert "first 3 sentences" in " ".join(Shapley(sentences=3).remarks())


def test_gates_of_a_wrong_length_are_refused(nano, pairs):
    batch = one_batch(nano, pairs)
    with pytest.raises(UsageError, match=r"expected \[1 or 3, 15\]"):
        log_probabilities(nano, batch, torch.ones(1, 14))
    with pytest.raises(UsageError, match=r"expected \[mask, 15\]"):
        next(nano.token_losses_of_masks(batch, torch.ones(2, 14)))


def test_all_of_them_are_in_the_family():
    names = {"leave_one_out", "feature_ablation", "integrated_gradients", "kernel_shap", "shapley"}
    assert names <= set(metric)
