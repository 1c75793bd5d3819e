"""Survival, agreement of seeds and the causal test, on tables and networks whose truth is known."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from headcount.analyses import role_causal
from headcount.analyses.result import Column, Result, Table
from headcount.analyses.role_causal import Contrast, _means, closed_sets, contrasts, margins
from headcount.analyses.role_drift import drift_tables, roles_of
from headcount.analyses.role_seeds import _agreement, _jaccard, _same, seeds_tables, t_interval
from headcount.analyses.role_seeing import Seen, not_asked
from headcount.analyses.role_survival import compared_times, survival_table
from headcount.models.gates import Head, HeadLayout
from headcount.models.planted import CARRIER, COPIER
from headcount.probe.roles import KINDS, Arc, ArcScores, OffsetProfile, RelativeMap, SinkMass

HEADS = tuple(Head(site, layer, head) for site in ("encoder", "cross") for layer in (0, 1)
              for head in range(4))  # fmt: skip


def order(name: str, heads, draw: int = 0) -> list[dict]:
    return [
        {"order": name, "draw": draw, "step": step, **head._asdict()}
        for step, head in enumerate(heads, 1)
    ]


def test_roles_that_go_last_are_told_from_sites_that_go_last():
    removals = pd.DataFrame(order("gradient", HEADS))  # encoder first, cross last
    having = {"alignment": {it for it in HEADS if it.site == "cross"}, "any": set(HEADS[::2])}
    table = survival_table(removals, HEADS, having, resamples=100, seed=0, n="made")
    aligned, some = table.rows.to_dict("records")
    assert aligned["time"] == pytest.approx(np.mean(np.arange(8, 16) / 16))
    assert aligned["time_lacking"] == pytest.approx(np.mean(np.arange(8) / 16))
    assert aligned["p"] < 0.01  # all of them go after all others ...
    assert aligned["p_within"] == 1.0  # ... but every cross head has the role
    assert (aligned["left_half"], aligned["left_quarter"]) == (1.0, 0.5)
    assert some["p"] == pytest.approx(
        stats.logrank(np.arange(0, 16, 2) / 16, np.arange(1, 16, 2) / 16).pvalue
    )


def test_a_role_that_goes_last_within_its_site_is_found():
    times = np.arange(16) / 16
    has = np.array([head.layer == 1 for head in HEADS])
    found = compared_times(times[None], has, HEADS, 100, 0)
    # Of 70 x 70 ways to deal four of eight twice, one is so late and one so early.
    assert found["p_within"] == pytest.approx(1 / 2001, abs=2 / 2001)


def test_what_is_left_of_random_orders_is_the_mean_of_the_draws():
    """A mean time is near a half for every head, as if none were left of the last quarter."""
    later = (*HEADS[8:], *HEADS[:8])
    removals = pd.DataFrame(order("random", HEADS) + order("random", later, draw=1))
    having = {"any": {HEADS[0], HEADS[-1]}}  # gone before them: 0 and 15 of 16, then 8 and 7
    table = survival_table(removals, HEADS, having, resamples=10, seed=0, n="made")
    [row] = table.rows.to_dict("records")
    assert row["time"] == pytest.approx((4 + 11) / 32)
    assert (row["left_half"], row["left_quarter"]) == (0.5, 0.25)


def test_heads_that_never_go_are_censored():
    times = np.where(np.arange(16) < 8, np.arange(16) / 16, 1.0)
    has = np.arange(16) % 2 == 0
    found = compared_times(times[None], has, HEADS, 0, 0)
    alone = [stats.CensoredData(it[it < 1], right=it[it >= 1]) for it in (times[has], times[~has])]
    assert found["p"] == pytest.approx(stats.logrank(*alone).pvalue)


@pytest.mark.parametrize(("found", "said"), [((3, 3), "3 sentences"), ((3, 2), "2 to 3 sentences")])
def test_as_many_sentences_are_told_as_were_found(monkeypatch, found, said):
    """Thirty were asked for, and the training text has nearly all that the grammar can say."""
    sizes = dict(zip(("agreement", "sense"), found, strict=True))
    one = Contrast("source", "right", ("wrong",))
    monkeypatch.setattr(role_causal, "contrasts", lambda name, *_: [one] * sizes.get(name, 0))
    monkeypatch.setattr(
        role_causal, "margins", lambda _, made, masks: {it: np.ones(len(made)) for it in masks}
    )
    held = {"role": True, "chosen": True, "effect": 0.2}
    arcs = pd.DataFrame(
        held | {"kind": kind, "direction": "", **HEADS[at]._asdict()}
        for at, kind in enumerate(("nsubj", "sense"))
    )
    model = SimpleNamespace(layout=HEADS)
    corpus = SimpleNamespace(train=SimpleNamespace(source=[]))
    options = {"sentences": 30, "draws": 2, "bleu": False, "resamples": 5, "seed": 0}
    table = role_causal.causal_table(model, corpus, arcs, **options)
    assert list(table.rows["phenomenon"]) == ["agreement", "sense"]
    assert table.n.startswith(f"{said} of each")


def test_agreement_beside_answers_of_other_questions():
    generator = np.random.default_rng(0)
    one = np.array([1.0, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    same = _agreement(np.stack([one, one], 1), None, np.zeros(10), _jaccard, generator)
    assert (same["value"], same["questions"]) == (1.0, 10)
    # Of C(10, 3) = 120 places for three roles, one is the same.
    assert same["p"] == pytest.approx(1 / 120, abs=0.01)
    shifted = _agreement(np.stack([one, one[::-1]], 1), None, np.zeros(10), _jaccard, generator)
    assert shifted["value"] == 0.0 and shifted["p"] == 1.0
    some = np.stack([one > 0, np.ones(10) > 0], 1)  # only three roles are in both
    layers = _agreement(np.stack([one, one], 1), some, np.zeros(10), _same, generator)
    assert layers["questions"] == 3
    assert layers["by_chance"] == 1.0  # all three are in one layer: chance agrees as well


def test_a_t_interval_is_that_of_scipy():
    values = [0.2, 0.5, 0.6]
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert t_interval(values) == (pytest.approx(low), pytest.approx(high))
    assert np.isnan(t_interval([0.5])).all()


def made(layer: int, outliers: int) -> Result:
    """One role of one head in a layer, and one layer with so many outliers."""
    arc = {"site": "encoder", "layer": layer, "head": 1, "family": "syntax", "kind": "nsubj"}
    arc |= {"direction": "dependent->head", "effect": 0.2 + layer / 10, "chosen": True}
    role = {**arc, "role": "nsubj, dependent->head"}
    far = {"network": "trained", "number": 0, "site": "encoder", "layer": 0}
    far |= {"outliers": outliers, "by_chance": 0.25}
    rows = {"arcs": arc, "roles": role, "layers": far}
    tables = {
        name: Table("made", tuple(Column(key, "text", "") for key in row), pd.DataFrame([row]))
        for name, row in rows.items()
    }
    return Result("roles", tables, {}, None)


def test_seeds_share_a_role_in_different_layers_and_outliers_have_an_interval():
    results = {f"seed{number}": made(number, count) for number, count in enumerate((1, 2, 3))}
    tables = seeds_tables(results, 0)
    (role,) = tables["shared"].rows.to_dict("records")
    assert (role["models"], role["having"]) == (3, 3)
    assert (role["heads"], role["layers"]) == ("0.1; 1.1; 2.1", "0; 1; 2")
    assert role["lead"] == pytest.approx(0.3)
    unlike = tables["unlike"].rows.iloc[-1]
    assert (unlike["site"], unlike["some"], unlike["layers"]) == ("all", 2, 3)
    assert unlike["share"] == pytest.approx(2 / 3)
    assert unlike["p"] == pytest.approx(stats.binom.sf(1, 3, 0.25))


ONE, TWO = Head("encoder", 0, 0), Head("encoder", 0, 1)
NSUBJ = ("syntax", "nsubj, dependent->head")


def seen(heads: list[int], right: list[list[int]], near: list[list[int]]) -> Seen:
    """What was seen of some heads of one layer.

    Args:
        heads: their ids.
        right: right answers of two questions each  # [sentence, head]
        near: of two queries each, those that look at the word itself  # [sentence, head]
    """
    layout = HeadLayout.from_dict({"encoder": [heads]})
    counts = torch.zeros(len(near), len(heads), 4, dtype=torch.int32)
    counts[:, :, 1] = torch.tensor(near)
    counts[:, :, 2] = 2 - counts[:, :, 1]
    scores = ArcScores(
        layout.heads,
        (Arc("nsubj", "dependent->head"),),
        right=torch.tensor(right)[:, None],
        places=(),
        by_place=torch.zeros(len(right), 1, 0),
        by_chance=torch.zeros(len(right), 1),
        asked=torch.full((len(right), 1), 2),
        unseen=0,
    )
    # Half of what each head looks at right it finds at the end, and in its block of one word.
    some, asked = torch.tensor(right) / 4, torch.ones(len(near), 3)
    mass = torch.zeros(len(near), len(heads), len(KINDS))
    mass[..., KINDS.index("end")] = some
    sinks = SinkMass(layout, mass, torch.full(mass.shape[:2], 2.0))
    none = torch.zeros(len(near), 3, 4)
    relative = RelativeMap(layout, none[:, :0], some, none, none, asked, asked)
    return Seen(OffsetProfile(layout, counts), sinks, relative, [("syntax", scores)])


def test_heads_that_stayed_keep_lose_and_gain_roles():
    itself = ("position", "0")
    before = (
        seen([0, 1, 2], [[2, 0, 2]] * 4, [[2, 0, 2]] * 4),
        {
            NSUBJ: {ONE, Head("encoder", 0, 2)},
            itself: {ONE},
        },
    )
    after = (
        seen([0, 1], [[2, 1], [0, 2], [2, 2], [0, 2]], [[2, 0]] * 4),
        {
            NSUBJ: {TWO},
            itself: {ONE},
        },
    )
    tables = drift_tables(before, {"cut": after}, range(4), 200, 0, "made")
    kept = {row["family"]: row for row in tables["kept"].rows.to_dict("records")}
    counts = ("heads", "removed", "stayed", "gained")
    assert [kept["syntax"][name] for name in counts] == [2, 1, 0, 1]
    assert [kept["position"][name] for name in counts] == [1, 0, 1, 0]
    place, lost, gained = tables["drift"].rows.to_dict("records")
    assert (place["before"], place["after"], place["change_low"]) == (1.0, 1.0, 0.0)
    assert (lost["had"], lost["has"], lost["before"], lost["after"]) == (True, False, 1.0, 0.5)
    assert lost["change_low"] < -0.5 < lost["change_high"]  # changes are 0, -1, 0, -1
    assert (gained["had"], gained["has"], gained["change"]) == (False, True, 7 / 8)


def test_resting_and_blocks_drift_as_well():
    before = seen([0, 1, 2], [[2, 0, 2]] * 4, [[2, 0, 2]] * 4)
    after = seen([0, 1], [[2, 1], [0, 2], [2, 2], [0, 2]], [[2, 0]] * 4)
    rest, block = ("rest", "end"), ("block", "block")
    roles = {rest: {ONE, Head("encoder", 0, 2)}, block: {ONE}}
    tables = drift_tables(
        (before, roles), {"cut": (after, {block: {TWO}})}, range(4), 50, 0, "made"
    )
    rows = {
        (row["family"], row["head"]): row for row in tables["drift"].rows.to_dict("records")
    }  # of attention: half of one word of two queries; of blocks, of the one word that asks
    assert set(rows) == {("block", 0), ("block", 1), ("rest", 0)}
    assert [rows["rest", 0][name] for name in ("before", "after")] == [0.25, 0.125]
    assert [rows["block", 0][name] for name in ("before", "after")] == [0.5, 0.25]
    assert [rows["block", 1][name] for name in ("before", "after")] == [0.0, 7 / 16]
    kept = tables["kept"].rows.set_index("family")
    assert kept.loc["rest", ["heads", "removed", "stayed", "gained"]].tolist() == [2, 1, 0, 0]


def test_roles_are_read_from_their_table():
    rows = [
        {"site": "encoder", "layer": 0, "head": head, "family": family, "role": "end"}
        for head, family in ((0, "rest"), (1, "rest"), (1, "block"))
    ]
    table = Table("made", tuple(Column(key, "text", "") for key in rows[0]), pd.DataFrame(rows))
    assert roles_of(table) == {("rest", "end"): {ONE, TWO}, ("block", "end"): {TWO}}


def test_margins_without_the_carrier_are_nothing(planted):
    """The planted network copies: the right target is its source, a wrong one has another word."""
    pairs = [Contrast("oak fir elm", "oak fir elm", ("oak ash elm", "oak fir pine"))] * 2
    found = margins(planted, pairs, [(), (CARRIER,), (COPIER,)])
    losses = {}
    for text in ("oak fir elm", "oak ash elm", "oak fir pine"):
        (batch,) = planted.batches(["oak fir elm"], [text])
        losses[text] = float(planted.token_losses(batch).sum())
    right = losses.pop("oak fir elm")
    assert found[()] == pytest.approx([min(losses.values()) - right] * 2, abs=1e-4)
    assert abs(found[(CARRIER,)]).max() < 0.3 < found[()].min()
    assert found[(COPIER,)] == pytest.approx(found[()], abs=0.5)


def test_heads_of_a_role_are_closed_together_else_the_best_one():
    rows = [
        {"site": "encoder", "layer": 1, "head": head, "kind": "nsubj", "effect": 0.1 * head}
        | {"direction": "dependent->head", "role": head > 1, "chosen": head == 3}
        for head in range(4)
    ]
    (held,) = closed_sets(pd.DataFrame(rows), ("nsubj", "agreement"))
    assert held.held and held.heads == (Head("encoder", 1, 2), Head("encoder", 1, 3))
    none = pd.DataFrame([{**row, "role": False} for row in rows])
    (best,) = closed_sets(none, ("nsubj",))
    assert not best.held and best.heads == (Head("encoder", 1, 3),)
    assert closed_sets(none, ("pronoun",)) == []


def test_wrong_translations_are_wrong_in_one_word_and_not_from_training_text():
    found = contrasts("agreement", 5, 0, set())
    assert len({it.source for it in found}) == 5
    for it in found:
        (wrong,) = it.wrong
        pairs = zip(it.right.split(), wrong.split(), strict=True)
        assert sum(one != other for one, other in pairs) == 1
    again = contrasts("agreement", 5, 0, {found[0].source})
    assert found[0].source not in {it.source for it in again}


def test_what_is_due_to_a_role_by_hand():
    """Two sentences; without the role's head one is wrong, without others none or one."""
    own, first, second = (CARRIER,), (ONE,), (TWO,)
    margin = {(): [1.0, 2.0], own: [0.5, -1.0], first: [1.0, 1.0], second: [0.0, 2.0]}
    found = {heads: np.array(values) for heads, values in margin.items()}
    values = _means(found, own, [first, second], 0, np.random.default_rng(0))
    names = ("accuracy", "accuracy_closed", "accuracy_others", "accuracy_excess")
    assert [values[name] for name in names] == [1.0, 0.5, 0.75, 0.25]  # a margin of 0 is not right
    names = ("margin", "margin_closed", "margin_others", "margin_excess")
    assert [values[name] for name in names] == [1.5, -0.25, 1.0, 1.25]
    assert values["p"] == 1 / 3  # neither draw takes as much
    assert _means(found, second, [first, own], 0, np.random.default_rng(0))["p"] == 1.0


def test_what_could_not_be_asked_is_said():
    lost = [("syntax", 2), ("syntax", 1), ("semantics", 0), ("alignment", 4), ("alignment", 4)]
    scores = [(family, SimpleNamespace(unseen=count)) for family, count in lost]
    (said,) = not_asked(Seen(None, None, None, scores))
    assert said.endswith("tell their words apart: 3 arcs, 4 gold links.")
    assert not_asked(Seen(None, None, None, scores[2:3])) == []
