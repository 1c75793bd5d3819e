"""Runs side by side: paired on common sentences, with numbers worked out by hand."""

import numpy as np
import pytest
import sacrebleu
from made_runs import REFERENCES, evaluated, made_origin, scored

from headcount.analyses.compare import compare
from headcount.analyses.result import Result
from headcount.models.errors import UsageError

RIGHT = list(REFERENCES)
WORSE = [text.replace("old house", "new garden") for text in REFERENCES]


def differences(result):
    return result.tables["differences"].rows.set_index("measure")


def test_differences_are_sacrebleus_and_paired():
    runs = {
        "good": {"evaluate": evaluated(RIGHT, [5.0] * 12)},
        "poor": {"evaluate": evaluated(WORSE, [10.0] * 12)},
    }
    result = compare(runs, resamples=200)
    rows = differences(result)
    assert set(rows["run"]) == {"poor"} and set(rows["baseline"]) == {"good"}
    poor = sacrebleu.corpus_bleu(WORSE, [RIGHT])
    assert rows.loc["bleu", "difference"] == pytest.approx(poor.score - 100)
    assert rows.loc["bleu", "high"] < 0 and rows.loc["bleu", "p"] == pytest.approx(1 / 201)
    chrf = sacrebleu.corpus_chrf(WORSE, [RIGHT]).score
    assert rows.loc["chrf", "difference"] == pytest.approx(chrf - 100)
    # Every sentence loses 5 nats on 5 tokens, so no resample can say anything else.
    nll = rows.loc["nll"]
    assert nll["unit"] == "nats a token" and nll["sentences"] == 12
    assert [nll["difference"], nll["low"], nll["high"]] == pytest.approx([1.0] * 3)
    assert result.provenance.signatures["bleu"].startswith("nrefs:1|")


def test_a_run_does_not_differ_from_itself():
    run = {"evaluate": evaluated(WORSE, list(np.linspace(3, 9, 12)))}
    rows = differences(compare({"a": run, "b": run}, resamples=100))
    assert (rows[["difference", "low", "high"]] == 0).all(axis=None)
    assert (rows["p"] == 1).all()


def test_other_tokens_make_the_loss_one_of_sentences():
    one, other = evaluated(RIGHT, [5.0] * 12), evaluated(RIGHT, [8.0] * 12, tokens=9)
    nll = differences(compare({"a": {"evaluate": one}, "b": {"evaluate": other}})).loc["nll"]
    assert nll["unit"] == "nats a sentence" and nll["difference"] == pytest.approx(3.0)


def test_only_common_sentences_count_and_the_page_says_so():
    some = [*REFERENCES[8:], *REFERENCES[:4]]  # in another order
    other = evaluated([WORSE[RIGHT.index(text)] for text in some], [7.0] * 8, some)
    runs = {"all": {"evaluate": evaluated(RIGHT, [5.0] * 12)}, "some": {"evaluate": other}}
    result = compare(runs, resamples=50)
    rows = differences(result)
    assert (rows["sentences"] == 8).all()
    right = [text for text in RIGHT if text in some]
    bleu = sacrebleu.corpus_bleu([WORSE[RIGHT.index(text)] for text in right], [right]).score
    assert rows.loc["bleu", "difference"] == pytest.approx(bleu - 100)
    assert "12 and 8 sentences) differ; compared are the 8" in " ".join(result.remarks)


def test_without_a_common_sentence_there_is_no_difference():
    strange = [f"another sentence {number}" for number in range(12)]
    runs = {
        "a": {"evaluate": evaluated(RIGHT, [5.0] * 12)},
        "b": {"evaluate": evaluated(strange, [5.0] * 12, strange)},
    }
    result = compare(runs)
    assert result.tables["differences"].rows.empty
    assert "no sentence in common" in " ".join(result.remarks)


def test_a_run_that_kept_no_translations_is_named():
    old = evaluated(RIGHT, [5.0] * 12)
    old.tables.pop("translations")
    result = compare({"new": {"evaluate": evaluated(RIGHT, [5.0] * 12)}, "old": {"evaluate": old}})
    assert result.tables["differences"].rows.empty
    assert result.remarks[0].startswith("old keeps no translations: measure it again")
    assert len(result.tables["quality"].rows) == 2


def test_heads_agree_by_number_and_beyond_chance():
    values = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    within = [8, 9, 7, 6, 5, 4, 3, 2, 0, 1]  # two pairs exchanged, each in its own layer
    runs = {"a": {"score": scored(values)}, "b": {"score": scored(within, model="cd")}}
    rows = compare(runs).tables["agreement"].rows.set_index("site")
    over_all = rows.loc["all"]
    # Spearman: 1 - 6 * (sum of squared rank differences) / (n (n^2 - 1)), here 1 - 24 / 990.
    assert over_all["spearman"] == pytest.approx(1 - 24 / 990)
    assert over_all["kendall"] == pytest.approx((43 - 2) / 45)
    # Five heads a layer: between the layers all is right, within them chance gives nothing.
    assert 0.5 < over_all["chance"] < 0.9
    assert (over_all["top"], over_all["shared"], over_all["expected"]) == (2, 2, 0.4)
    assert over_all["names"] == "encoder.0.0, encoder.0.1"
    assert not over_all["same_model"]


def test_a_metric_for_which_small_is_important_is_turned_round():
    runs = {
        "a": {"score": scored([1, 2, 3, 4])},
        "b": {"score": scored([1, 2, 3, 4], higher=False)},
    }
    assert compare(runs).tables["agreement"].rows["spearman"].iloc[0] == pytest.approx(-1)


def test_other_shapes_are_not_compared_head_by_head():
    runs = {"a": {"score": scored([1, 2, 3, 4])}, "b": {"score": scored([1, 2])}}
    result = compare(runs)
    assert result.tables["agreement"].rows.empty
    assert "different heads (4 and 2 heads)" in result.remarks[-1]


def test_only_settings_that_differ_are_listed():
    settings = {"beams": [1], "search": {"beam": 1, "length_penalty": 1.0}}
    changed = {"beams": [1, 5], "search": {"beam": 1, "length_penalty": 0.6}, "extra": True}
    runs = {
        name: {"evaluate": evaluated(RIGHT, [5.0] * 12, settings=own)}
        for name, own in (("a", settings), ("b", changed))
    }
    rows = compare(runs).tables["settings"].rows
    found = [tuple(row) for row in rows.to_numpy().tolist()]
    assert found == [
        ("evaluate.beams", "a", "1"),
        ("evaluate.beams", "b", "1, 5"),
        ("evaluate.search.length_penalty", "a", "1.0"),
        ("evaluate.search.length_penalty", "b", "0.6"),
        ("evaluate.extra", "a", "not set"),
        ("evaluate.extra", "b", "True"),
    ]


def test_costs_are_what_the_runs_say():
    runs = {name: {"evaluate": evaluated(RIGHT, [5.0] * 12)} for name in "ab"}
    rows = compare(runs).tables["costs"].rows
    own = rows[rows["run"] == "a"].set_index("what")["value"]
    assert own["time of evaluate"] == 2.0 and own["parameters"] == 1200
    assert own["decoding speed, test, greedy"] == pytest.approx(12 / 4)


def test_one_run_is_not_compared():
    with pytest.raises(UsageError, match="two or more"):
        compare({"a": {}})


def test_the_seed_of_a_run_is_that_of_its_first_analysis():
    table = {"curve": evaluated(RIGHT, [5.0] * 12).tables["model"]}
    runs = {
        name: {
            "evaluate": evaluated(RIGHT, [5.0] * 12),
            "roles": Result("roles", table, {}, made_origin(seed=seed, started="2026-11-29")),
        }
        for name, seed in (("a", 3), ("b", 4))
    }
    rows = compare(runs, resamples=10).tables["settings"].rows
    assert rows[rows["setting"] == "seed"]["value"].tolist() == ["3", "4"]
