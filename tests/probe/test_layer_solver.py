"""The stacked solver against scikit-learn, and against hand calculations."""

import numpy as np
import pytest
import torch
from sklearn import datasets
from sklearn.linear_model import LogisticRegression

from headcount.models.errors import DataError
from headcount.probe.layers.features import Features, Standard
from headcount.probe.layers.logistic import Labels, bits_of, fit_chosen, fit_reference, predict
from headcount.probe.layers.stacked import Problem, solve

REAL = ("digits", "iris", "wine", "breast_cancer", "diabetes")
PENALTIES = (1.0, 30.0, 1000.0)


def real(name):
    """A matrix from nature, standardised; the progress of diabetes is cut into quarters."""
    data = getattr(datasets, f"load_{name}")()
    labels = data.target
    if name == "diabetes":
        labels = np.digitize(labels, np.quantile(labels, (0.25, 0.5, 0.75)))
    features = Features.of(data.data.astype(np.float32))
    return features.standardised(np.arange(len(labels))), labels.astype(np.int64)


@pytest.mark.parametrize("name", REAL)
def test_the_stacked_solver_equals_scikit_learn(name):
    features, labels = real(name)
    train = np.flatnonzero(np.arange(len(labels)) % 3 > 0)
    test = np.flatnonzero(np.arange(len(labels)) % 3 == 0)
    known, judged, classes = features.select(train), features.select(test), labels.max() + 1
    ours = solve(known, [Problem(labels[train], classes, it) for it in PENALTIES])
    for penalty, solution in zip(PENALTIES, ours, strict=True):
        theirs = fit_reference(known, labels[train], classes, penalty)
        assert solution.converged and solution.gradient <= 1e-5
        said = predict(judged, [solution, theirs], [labels[test]] * 2)
        accuracies = [(predicted == labels[test]).mean() for predicted, _ in said]
        losses = [bits.mean() for _, bits in said]
        assert accuracies[0] == pytest.approx(accuracies[1], abs=0.005)
        assert losses[0] == pytest.approx(losses[1], abs=0.001)


def test_the_reference_says_what_scikit_learn_itself_says():
    features, labels = real("iris")
    solution = fit_reference(features, labels, 3, 5.0)
    model = LogisticRegression(C=0.2, tol=1e-6, max_iter=2000).fit(features.whole(), labels)
    _, bits = predict(features, [solution], [labels])[0]
    theirs = -model.predict_log_proba(features.whole())[np.arange(len(labels)), labels]
    assert bits == pytest.approx(theirs / np.log(2), abs=1e-3)
    assert solution.gradient < 1e-4


def test_a_stack_of_unlike_problems_gives_each_what_it_gets_alone():
    features, labels = real("digits")
    some = np.where(np.arange(len(labels)) % 2, labels % 3, -1)  # half the rows, three classes
    problems = [
        Problem(labels, 10, 10.0),
        Problem(some, 3, 100.0),
        Problem(labels, 10, 300.0, bias_too=True),
    ]
    together = solve(features, problems, tolerance=1e-5)
    half = np.flatnonzero(some >= 0)
    alone = solve(features.select(half), [Problem(some[half], 3, 100.0)], tolerance=1e-5)
    assert together[1].weights.numpy() == pytest.approx(alone[0].weights.numpy(), abs=2e-3)
    assert [it.weights.shape[1] for it in together] == [10, 3, 10]


def test_without_information_the_probe_says_the_shares_of_the_labels():
    labels = np.array([0, 0, 0, 1])
    solution = solve(Features.of(np.zeros((4, 2), np.float32)), [Problem(labels, 2, 1.0)])[0]
    assert solution.weights[-1].softmax(0).numpy() == pytest.approx([0.75, 0.25], abs=1e-4)


def test_one_example_of_two_classes_by_hand():
    # With x = 1 for class 1 and x = -1 for class 0, W = (-w, w), b = 0, and in the optimum
    # penalty w = sigmoid(-2 w) for the sum over both examples of the loss and penalty w^2.
    features, labels = Features.of(np.array([[1.0], [-1.0]], np.float32)), np.array([1, 0])
    weights = solve(features, [Problem(labels, 2, 0.5)], tolerance=1e-7)[0].weights
    w = float(weights[0, 1])
    assert w == pytest.approx(2 / 0.5 / (1 + np.exp(2 * w)), abs=1e-5)
    assert weights[1].numpy() == pytest.approx([0, 0], abs=1e-5)


def test_a_planted_direction_is_found_and_shuffled_labels_give_chance():
    generator = np.random.default_rng(0)
    states = generator.normal(size=(1200, 12)).astype(np.float32)
    planted = (states @ generator.normal(size=(12, 3))).argmax(1)
    shuffled = generator.permutation(planted)
    features = Features.of(states)
    parts = [np.arange(0, 600), np.arange(600, 900), np.arange(900, 1200)]
    train, valid, test = (features.select(part) for part in parts)
    tasks = [Labels(it[parts[0]], it[parts[1]], 3) for it in (planted, shuffled)]
    found = [it.solution for it in fit_chosen(train, valid, tasks, (1.0, 1000.0))]
    said = predict(test, found, [planted[parts[2]], shuffled[parts[2]]])
    right = [
        (said[0][0] == planted[parts[2]]).mean(),
        (said[1][0] == shuffled[parts[2]]).mean(),
    ]
    majority = np.bincount(shuffled[parts[2]]).max() / 300
    assert right[0] > 0.95
    assert right[1] < majority + 0.06
    assert said[1][1].mean() > 1.45  # log2 of 3 classes is 1.58


def test_validation_chooses_the_penalty():
    generator = np.random.default_rng(1)
    states = generator.normal(size=(90, 40)).astype(np.float32)
    labels = (states[:, 0] + generator.normal(size=90) > 0).astype(np.int64)
    features = Features.of(states)
    task = Labels(labels[:45], labels[45:], 2)
    train, valid = features.select(np.arange(45)), features.select(np.arange(45, 90))
    chosen = fit_chosen(train, valid, [task], (1e-3, 30.0, 1e6))[0]
    assert chosen.penalty == 30.0 and not chosen.at_edge
    assert min(chosen.validation.values()) == chosen.validation[30.0]


def test_the_search_ends_where_validation_gets_worse():
    generator = np.random.default_rng(4)
    states = generator.normal(size=(200, 30)).astype(np.float32)
    easy = (states[:, 0] > 0).astype(np.int64)
    hard = (states[:, 1] + 3 * generator.normal(size=200) > 0).astype(np.int64)
    features = Features.of(states)
    train, valid = features.select(np.arange(100)), features.select(np.arange(100, 200))
    tasks = [Labels(it[:100], it[100:], 2) for it in (easy, hard)]
    offered = (1e-3, 1e-1, 10.0, 1e3, 1e5)
    one, other = fit_chosen(train, valid, tasks, offered)
    assert {next(iter(it.validation)) for it in (one, other)} == {1e5}  # the strongest first
    assert other.penalty > one.penalty and len(other.validation) < len(offered)
    # Validation judged the fit that is returned, and no rougher one.
    for task, chosen in zip(tasks, (one, other), strict=True):
        bits = bits_of(predict(valid, [chosen.solution], [task.valid])[0])
        assert bits == chosen.validation[chosen.penalty] == min(chosen.validation.values())
    # What the whole search would have chosen, and the same probe.
    for task, chosen in zip(tasks, (one, other), strict=True):
        fits = solve(train, [Problem(task.train, 2, it) for it in offered])
        losses = [bits_of(it) for it in predict(valid, fits, [task.valid] * len(offered))]
        assert offered[int(np.argmin(losses))] == chosen.penalty
        fresh = fits[offered.index(chosen.penalty)]
        assert chosen.solution.weights.numpy() == pytest.approx(fresh.weights.numpy(), abs=2e-3)


def test_a_fit_goes_on_from_where_another_ended():
    features, labels = real("wine")
    problems = [Problem(labels, 3, 1.0), Problem(labels % 2, 2, 5.0)]
    rough = solve(features, problems, tolerance=1e-3)
    on = solve(features, problems, tolerance=1e-5, starts=[it.weights for it in rough])
    again = solve(features, problems, tolerance=1e-5, starts=[it.weights for it in on])
    fresh = solve(features, problems, tolerance=1e-5)
    assert [it.iterations for it in again] == [1, 1]
    for one, other in zip(on, fresh, strict=True):
        assert one.weights.numpy() == pytest.approx(other.weights.numpy(), abs=3e-3)


def test_a_weak_penalty_is_not_chosen_for_a_fit_that_has_not_moved():
    # Far more features than information: penalty 1 learns noise by heart, 300 does not. A fit
    # that stopped at a gradient of 1e-3 would look alike for both.
    generator = np.random.default_rng(6)
    states = generator.normal(size=(1200, 60)).astype(np.float32)
    labels = (states[:, 0] + 2 * generator.normal(size=1200) > 0).astype(np.int64)
    features = Features.of(states)
    train, valid = features.select(np.arange(300)), features.select(np.arange(300, 1200))
    chosen = fit_chosen(train, valid, [Labels(labels[:300], labels[300:], 2)], (1.0, 300.0))[0]
    fits = [fit_reference(train, labels[:300], 2, it) for it in (1.0, 300.0)]
    bits = [bits_of(it) for it in predict(valid, fits, [labels[300:]] * 2)]
    assert chosen.penalty == (1.0, 300.0)[int(np.argmin(bits))]
    assert chosen.validation[chosen.penalty] == pytest.approx(min(bits), abs=1e-3)


@pytest.mark.slow
def test_the_stacked_solver_equals_scikit_learn_on_a_large_matrix():
    rows, gold = datasets.make_classification(
        6_000, 120, n_informative=40, n_classes=12, n_clusters_per_class=1, random_state=0
    )
    features, gold = Features.of(rows.astype(np.float32)), gold.astype(np.int64)
    known, asked = (features.select(np.arange(*it)) for it in ((0, 4500), (4500, 6000)))
    ours = solve(known, [Problem(gold[:4500], 12, 30.0)])[0]
    theirs = fit_reference(known, gold[:4500], 12, 30.0)
    said = predict(asked, [ours, theirs], [gold[4500:]] * 2)
    assert (said[0][0] == gold[4500:]).mean() == pytest.approx(
        (said[1][0] == gold[4500:]).mean(), abs=0.005
    )
    assert said[0][1].mean() == pytest.approx(said[1][1].mean(), abs=0.001)


def test_what_cannot_be_probed_is_refused():
    features = Features.of(np.zeros((3, 2), np.float32))
    with pytest.raises(DataError, match="one class"):
        solve(features, [Problem(np.zeros(3, np.int64), 1, 1.0)])
    with pytest.raises(DataError, match="no examples"):
        solve(features, [Problem(np.full(3, -1), 2, 1.0)])


def test_an_unfinished_fit_says_so():
    features, labels = real("digits")
    solution = solve(features, [Problem(labels, 10, 1.0)], iterations=3)[0]
    assert not solution.converged and solution.gradient > 1e-5


def test_streamed_moments_equal_the_whole_ones():
    generator = np.random.default_rng(2)
    rows = generator.normal(100, 3, size=(50, 4))
    rows[:, 2] = 7.0  # never varies
    standard = Standard.of(iter([rows[:1], rows[1:20], rows[20:]]), 4)
    assert standard.mean == pytest.approx(rows.mean(0))
    assert standard.scale == pytest.approx([*rows[:, :2].std(0), 1.0, rows[:, 3].std()])
    with pytest.raises(DataError, match="not finite"):
        Standard.of(iter([np.array([[np.nan]])]), 1)
    with pytest.raises(DataError, match="no examples"):
        Standard.of(iter([]), 1)


def test_pairs_stand_side_by_side_and_blocks_make_no_difference():
    states = np.arange(12, dtype=np.float16).reshape(4, 3)
    rows, partners = np.array([0, 3]), np.array([1, 0])
    features = Features(states, rows, partners, block_bytes=1)
    assert features.whole().tolist() == [[0, 1, 2, 3, 4, 5], [9, 10, 11, 0, 1, 2]]
    held = Features(states, rows, partners).held(1 << 20)
    assert torch.equal(torch.cat(list(held.blocks())), torch.from_numpy(features.whole()))
    assert held.select(np.array([1])).whole().tolist() == [[9, 10, 11, 0, 1, 2]]
