"""The tables of relevance add up, by sentence, token, layer and head."""

import pytest
import torch
from made_translators import copies, copying, nano, pairs, planted, vocabulary

from headcount.analyses.relevance import ExampleSettings, relevance, relevance_of
from headcount.analyses.result import Result
from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError
from headcount.models.planted import WORDS
from headcount.probe.relevance import RelevanceSettings, head_relevance

__all__ = ["copying", "nano", "pairs", "planted", "vocabulary"]


@pytest.fixture(scope="module")
def found(nano, copying) -> Result:
    settings = ExampleSettings(sentences=5, text="reference", per_token=True)
    return relevance(nano, copying, settings, seed=0)


def rows(result: Result, table: str):
    return result.tables[table].rows


def test_examples_are_spread_over_validation_text(found, copying):
    sentences = rows(found, "sentences")
    assert sentences["sentence"].tolist() == [0, 4, 9, 14, 19]
    assert sentences["source"].tolist() == [copying.valid.source[at] for at in (0, 4, 9, 14, 19)]
    assert sentences["target"].tolist() == sentences["reference"].tolist()
    assert found.tables["sentences"].n == "5 sentences (valid)"


def test_the_balance_is_on_every_row(found):
    shares = rows(found, "shares")
    total = shares["source"] + shares["prefix"] + shares["absorbed"]
    assert (total - shares["logit"]).abs().max() < 1e-10
    assert (shares["source_share"] + shares["prefix_share"] - 1).abs().max() < 1e-12
    sentences = rows(found, "sentences").set_index("sentence")
    assert sentences["accounted_error"].max() < 1e-10
    received = (shares["source"] + shares["prefix"]).groupby(shares["sentence"]).sum()
    size = shares["logit"].abs().groupby(shares["sentence"]).sum()
    error = (received - sentences["logits"]).abs() / size
    assert (error - sentences["error"]).abs().max() < 1e-10
    assert sentences["error"].min() > 1e-4


def test_tokens_sum_to_the_shares(found):
    tokens, shares = rows(found, "tokens"), rows(found, "shares")
    sums = tokens.groupby(["sentence", "position", "side"])["relevance"].sum().unstack()
    by_position = shares.set_index(["sentence", "position"])
    for side in ("source", "prefix"):
        assert (sums[side] - by_position[side]).abs().max() < 1e-10
    prefix = tokens[tokens["side"] == "prefix"]
    assert (prefix["place"] <= prefix["position"]).all()
    assert set(prefix[prefix["place"] == 0]["piece"]) == {"<s>"}
    words = prefix[prefix["place"] == 1]["piece"].str.removeprefix("▁")
    assert set(words) <= set(WORDS)


def test_layers_absorb_what_positions_did_not_receive(found):
    conservation, shares = rows(found, "conservation"), rows(found, "shares")
    absorbed = conservation[["bias", "softmax", "epsilon"]].to_numpy().sum()
    assert absorbed == pytest.approx(shares["absorbed"].sum() / shares["logit"].abs().sum())
    places = list(zip(conservation["side"], conservation["layer"], strict=True))
    assert places == [("encoder", 0), ("decoder", 0), ("decoder", 1)]
    assert conservation["epsilon"].abs().max() == 0
    assert conservation["softmax"].abs().min() > 0


def test_heads_by_token_sum_to_the_metric(found, nano, copying):
    heads = rows(found, "heads")
    one = copying.valid.select([9])
    batch = next(iter(nano.batches(one.source, one.target)))
    whole = head_relevance(nano, batch, RelevanceSettings())
    mine = heads[heads["sentence"] == 9].groupby(["site", "layer", "head"])["relevance"].sum()
    for head, value in zip(nano.layout, whole[0].tolist(), strict=True):
        assert mine[tuple(head)] == pytest.approx(value, abs=1e-10)
    layers = heads.groupby(["sentence", "position", "site", "layer"])["share"]
    assert layers.apply(lambda it: it.abs().sum()).sub(1).abs().max() < 1e-9


def test_the_models_own_translation_is_explained(planted):
    data = copies("odd", seed=8, sentences=4)
    result = relevance_of(planted, data, ExampleSettings(rule="cp"), 0)
    sentences, shares = rows(result, "sentences"), rows(result, "shares")
    assert sentences["target"].tolist() == list(data.source)  # the planted network copies
    assert "heads" not in result.tables
    said = shares[shares["sentence"] == 3]["piece"].tolist()
    assert [piece.removeprefix("▁") for piece in said] == [*data.source[3].split(), "</s>"]
    tokens = rows(result, "tokens")
    own = tokens[(tokens["sentence"] == 3) & (tokens["side"] == "source")]
    largest = own.loc[own.groupby("position")["relevance"].idxmax()]
    words = largest[largest["piece"] != "</s>"]
    assert words["place"].tolist() == words["position"].tolist()


def test_a_contrast_names_its_rival(nano, pairs):
    settings = ExampleSettings(start="contrast", text="reference")
    shares = rows(relevance_of(nano, pairs.head(2), settings, 0), "shares")
    assert (shares["rival"] != "").all() and (shares["rival"] != shares["piece"]).all()
    assert (shares["logit"] >= 0).all()


def test_results_come_back_from_disk(found, tmp_path):
    found.save(tmp_path)
    again = Result.load(tmp_path)
    for name, table in found.tables.items():
        assert again.tables[name].rows.equals(table.rows), name
    assert again.settings == found.settings
    assert "does not conserve" in " ".join(again.remarks)


def test_no_text_is_an_error(nano):
    with pytest.raises(DataError, match="at least one"):
        relevance_of(nano, ParallelText("none", [], []), ExampleSettings(), 0)


def test_weights_and_grad_mode_stay_as_they_are(nano, pairs):
    with torch.no_grad():
        relevance_of(nano, pairs.head(1), ExampleSettings(text="reference"), 0)
        assert not torch.is_grad_enabled()
    assert all(it.grad is None for it in nano.network.parameters())
