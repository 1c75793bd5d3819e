"""Presets, and what is laid over them."""

import pytest

from headcount.analyses.presets import PRESETS, RunSettings, merged, run_settings
from headcount.models.errors import UsageError


@pytest.mark.parametrize(
    ("preset", "heads"), [("nano", 12), ("miniature", 72), ("small", 72), ("base", 144)]
)
def test_presets_have_their_heads(preset, heads):
    settings = run_settings(preset, where="test")
    assert len(settings.network.full_layout()) == heads


def test_the_command_line_offers_all_presets():
    from headcount.commands.run_options import PRESETS as OFFERED

    assert tuple(PRESETS) == OFFERED


def test_later_changes_lie_on_top_and_the_rest_stays():
    first = {"training": {"updates": 7}, "seed": 1}
    settings = run_settings("nano", first, {"training": {"warmup": 3}, "seed": 2}, where="test")
    assert (settings.training.updates, settings.training.warmup, settings.seed) == (7, 3, 2)
    assert settings.network.width == 32


def test_another_corpus_takes_nothing_from_the_presets_corpus():
    settings = run_settings("nano", {"corpus": {"name": "multi30k"}}, where="test")
    assert settings.corpus.sentences == RunSettings().corpus.sentences != 1500
    own = {"corpus": {"train": ("a.en", "a.de")}}
    assert run_settings("nano", own, where="test").corpus.name == "files"
    more = run_settings("nano", {"corpus": {"sentences": 99}}, where="test")
    assert (more.corpus.name, more.corpus.sentences) == ("miniature", 99)


def test_merging_leaves_both_sides_as_they_were():
    values, changes = {"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}
    assert merged(values, changes) == {"a": {"b": 3, "c": 2}}
    assert (values, changes) == ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trainig": {}}, "did you mean 'training'"),
        ({"training": {"update": 5}}, "did you mean 'updates'"),
        ({"prune": {"search": {"beem": 2}}}, "did you mean 'beam'"),
        ({"training": {"updates": "many"}}, "training.updates"),
    ],
)
def test_what_is_misspelt_is_named(changes, message):
    with pytest.raises(UsageError, match=message):
        run_settings("nano", changes, where="own.toml")


def test_an_unknown_preset_is_named():
    with pytest.raises(UsageError, match="did you mean 'small'"):
        run_settings("smal", where="options")


def test_settings_survive_json():
    settings = run_settings("small", where="test")
    assert RunSettings.from_dict(settings.model_dump(mode="json")) == settings
