"""The layers of a tiny network, from the built-in corpus and from a treebank."""

from dataclasses import replace

import pytest
import torch

from headcount import cli
from headcount.analyses.layer_text import miniature_text, source_language, treebank_text, words_in
from headcount.analyses.layers import AffordableLayers, LayersSettings, layers
from headcount.analyses.pipeline import Pipeline
from headcount.analyses.presets import RunSettings
from headcount.analyses.result import Result
from headcount.analyses.run_folder import RunFolder
from headcount.models.data.corpora import CorpusSettings
from headcount.models.data.vocabulary import Vocabulary
from headcount.models.errors import DataError, UsageError
from headcount.models.network import Network, NetworkSettings
from headcount.models.transformer import TransformerTranslator
from headcount.probe.annotations import Treebank
from headcount.probe.layers.mlp import MlpSettings
from headcount.probe.layers.store import capture
from headcount.probe.layers.structural import StructuralSettings
from headcount.probe.layers.survey import Asking, Group, SurveySettings, groups_of, surveys
from headcount.probe.layers.tasks import Words, examples_of, task

CORPUS = CorpusSettings(sentences=60)
QUICK = SurveySettings(
    penalties=(10.0, 100.0), controls=1, tolerance=1e-2, processes=1, codes=False
)
SETTINGS = LayersSettings(
    tasks=("upos", "relation", "animacy", "main_tense", "bigram_shift", "sentence_length"),
    altered=30,
    heads=("upos",),
    nonlinear=("upos",),
    mlp=MlpSettings(hidden=8, epochs=2),
    decoder_tasks=("upos",),
    mixes=("upos",),
    mix_examples=150,
    structure=StructuralSettings(rank=3, epochs=1),
    structure_sentences=8,
    survey=QUICK,
    resamples=20,
)
PLAIN = {"heads": (), "nonlinear": (), "altered": 0}


@pytest.fixture(scope="module")
def text():
    return miniature_text(CORPUS, 60)


@pytest.fixture(scope="module")
def models(text):
    vocabulary = Vocabulary.train([*text.plain.source, *text.plain.target], "word", 1500)
    shape = NetworkSettings(
        width=6, feed_forward_width=6, encoder_layers=2, decoder_layers=1, heads=2
    )
    made = []
    for seed in range(2):
        network = Network(shape, shape.full_layout(), len(vocabulary), len(vocabulary))
        network.initialise(torch.Generator().manual_seed(seed)).requires_grad_(False).eval()
        made.append(TransformerTranslator(network, vocabulary, vocabulary))
    return made


@pytest.fixture(scope="module")
def result(models, text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("states")
    smaller = models[0].without(models[0].layout.heads[:3])  # all of encoder layer 0 and one more
    return layers(models[0], text, SETTINGS, 0, folder=folder, others=models[1:], smaller=smaller)


def test_every_task_is_asked_of_every_layer_of_every_network(result):
    rows = result.tables["probes"].rows
    encoder = rows[rows["side"] == "encoder"]
    plain = encoder[encoder["network"] != "smaller"]
    assert len(plain) == 7 * 3 * 3  # tasks, layers, two trained and a random network
    translated = encoder[encoder["task"] == "aligned target word"]
    assert set(translated["family"]) == {"translation"} and len(translated) == 4 * 3
    decoder = set(rows[rows["side"] == "decoder"]["task"])
    assert {"upos", "upos of the next word", "upos of the aligned source word"} <= decoder
    assert rows["converged"].all()
    assert rows["accuracy"].between(rows["accuracy_low"], rows["accuracy_high"]).all()
    sentences = {"main_tense", "bigram_shift", "sentence_length"}
    words = rows[~rows["task"].isin(sentences)]
    other = (words["network"] == "trained") & (words["model"] == 1)
    assert (words["control"].isna() == other).all()  # not of other seeds
    words = words[~other]
    assert (words["selectivity"] - (words["accuracy"] - words["control"])).abs().max() < 1e-12
    assert rows[rows["task"] == "main_tense"]["control"].isna().all()


def test_the_baselines_are_those_of_the_labels(result, text):
    rows = result.tables["baselines"].rows.set_index(["side", "task"])
    upos = rows.loc[("encoder", "upos")]
    assert 0.1 < upos["majority"] < upos["by_type"] <= 1
    test = [s for s, part in zip(text.source, text.split.part, strict=True) if part == 2]
    assert upos["test_examples"] <= sum(map(len, test))


def test_what_is_left_out_is_said(result):
    once = [it for it in result.remarks if "only once" in it]
    assert any("relation" in it for it in once)
    assert any("aligned source word" not in it and "without enough" in it for it in result.remarks)


def test_few_tasks_give_no_verdict_and_the_result_survives_its_folder(result, tmp_path):
    verdict = result.tables["verdict"].rows
    assert set(verdict["answer"]) == {"undecided"}
    result.save(tmp_path)
    again = Result.load(tmp_path)
    assert again.tables["probes"].rows.equals(result.tables["probes"].rows)


def test_mixes_trees_and_likeness_are_shown_for_every_layer(result):
    tables = {name: table.rows for name, table in result.tables.items()}
    assert tables["mixes"]["task"].tolist() == ["upos", "upos"]
    shares = tables["shares"][tables["shares"]["side"] == "encoder"]
    assert shares["share"].sum() == pytest.approx(1) and len(shares) == 3
    mix = tables["mixes"].iloc[0]
    assert mix["centre"] == pytest.approx((shares["layer"] * shares["share"]).sum())
    refused = mix["gain_low"] <= 0 <= mix["gain_high"]
    assert (mix["expected"] is None or mix["expected"] != mix["expected"]) == refused
    trees = tables["structure"]
    assert len(trees) == 2 * (3 + 2)
    assert trees["accuracy"].between(0, 1).all()
    same = tables["likeness"][tables["likeness"]["layer"] == tables["likeness"]["other"]]
    assert same["cka"].tolist() == pytest.approx([1] * 5)


def test_models_of_several_seeds_stand_together(result):
    rows = result.tables["seeds"].rows
    probes = result.tables["probes"].rows
    probes = probes[probes["network"] == "trained"]
    assert len(rows) * 2 == len(probes) and set(rows["models"]) == {2}
    means = probes.groupby(["side", "task", "layer"])["accuracy"].agg(["mean", "min", "max"])
    for row in rows.to_dict("records"):
        own = means.loc[(row["side"], row["task"], row["layer"])]
        assert row["accuracy"] == pytest.approx(own["mean"])
        assert row["spread"] == pytest.approx(own["max"] - own["min"])
        assert row["low"] <= row["accuracy"] <= row["high"]


def test_what_went_with_the_heads_is_the_difference_of_two_probes(result):
    rows = result.tables["lost"].rows
    apart = rows["smaller"] - rows["whole"] - rows["difference"]
    assert apart.abs().max() < 1e-12
    assert (rows["low"] <= rows["difference"]).all() and (rows["difference"] <= rows["high"]).all()
    # What enters the first layer does not pass any head.
    first = rows[(rows["layer"] == 0) & (rows["side"] == "encoder")]
    assert (first["difference"] == 0).all() and len(first) == 7
    assert (rows["difference"] != 0).any()


def test_single_heads_are_probed_beside_the_layer_that_they_read(result):
    heads, probes = result.tables["heads"].rows, result.tables["probes"].rows
    assert set(heads["site"]) == {"encoder", "decoder", "cross"} and len(heads) == 4 + 2 + 2
    own = probes[(probes["network"] == "trained") & (probes["model"] == 0)]
    own = own[(own["side"] == "encoder") & (own["task"] == "upos")].set_index("layer")["accuracy"]
    for row in heads[heads["site"] == "encoder"].to_dict("records"):
        assert row["layer_accuracy"] == own[row["layer"]]
        assert row["low"] <= row["accuracy"] <= row["high"] and 0 <= row["random"] <= 1


def test_numbers_and_hidden_layers_stand_beside_linear_probes(result):
    numbers, other = result.tables["numbers"].rows, result.tables["nonlinear"].rows
    assert {"depth", "head distance"} == set(numbers["quantity"])
    assert (numbers["r2"] <= 1).all() and numbers["random"].notna().all()
    assert len(other) == 3 + 2 and other["linear_control"].notna().all()
    linear = result.tables["probes"].rows
    linear = linear[(linear["network"] == "trained") & (linear["model"] == 0)]
    linear = linear[linear["task"] == "upos"]["accuracy"].tolist()
    assert other["linear"].tolist() == linear


def test_words_out_of_order_are_no_examples_of_other_tasks(result, text):
    rows = result.tables["baselines"].rows.set_index(["side", "task"])
    lengths = rows.loc[("encoder", "sentence_length")]
    assert lengths["train_examples"] + lengths["test_examples"] < len(text.source)
    shift = rows.loc[("encoder", "bigram_shift")]
    assert shift["classes"] == 2 and 0 < shift["train_examples"] <= 30


def test_tasks_can_be_asked_of_the_same_words(models, text, tmp_path):
    changes = {"tasks": ("upos", "animacy"), "sides": ("encoder",), "same_words": "animacy"}
    settings = SETTINGS.with_changes(**changes, **PLAIN)
    rows = layers(models[0], text, settings, 0, folder=tmp_path).tables["baselines"].rows
    counts = rows.set_index("task")["train_examples"]
    assert counts["upos"] == counts["animacy"]


def test_the_same_seed_gives_the_same_table(models, text, tmp_path, result):
    coded = QUICK.with_changes(codes=True)
    settings = SETTINGS.with_changes(sides=("encoder",), tasks=("upos",), survey=coded, **PLAIN)
    one, two = (
        layers(models[0], text, settings, 3, folder=tmp_path / name).tables["probes"].rows
        for name in "ab"
    )
    assert one.equals(two)
    assert one["compression"].between(1, 50).all() and (one["online"] < one["uniform"]).all()


def test_a_treebank_is_split_and_probed_on_the_encoder_alone(models, text, tmp_path):
    whole = treebank_text(Treebank("made", tuple(text.source)), seed=0)
    settings = SETTINGS.with_changes(tasks=("upos",), **PLAIN)
    found = layers(models[0], whole, settings, 0, folder=tmp_path)
    assert set(found.tables["probes"].rows["side"]) == {"encoder"}
    assert "another language" not in found.remarks[0]
    with pytest.raises(DataError, match="three parts"):
        treebank_text(Treebank("made", tuple(text.source[:2])), seed=0)
    with pytest.raises(DataError, match="annotation that it needs"):
        missing = SETTINGS.with_changes(tasks=("xpos",), **PLAIN)
        layers(models[0], whole, missing, 0, folder=tmp_path)


def test_a_treebank_of_another_language_is_said_to_be_one(models, text, tmp_path):
    foreign = [
        replace(it, text=it.text.translate({ord(vowel): "ø" for vowel in "aeiou"}))
        for it in text.source
    ]
    whole = treebank_text(Treebank("made", tuple(foreign)), seed=0)
    settings = SETTINGS.with_changes(tasks=("upos",), **PLAIN)
    found = layers(models[0], whole, settings, 0, folder=tmp_path)
    assert "another language" in found.remarks[0]


def test_a_corpus_without_gold_and_an_unknown_task_are_refused():
    with pytest.raises(UsageError, match="name it with --task too"):
        LayersSettings(tasks=("upos",), heads=("relation",)).members()
    with pytest.raises(UsageError, match="--treebank"):
        miniature_text(CorpusSettings(name="multi30k"), 80)
    with pytest.raises(UsageError, match="did you mean 'upos'"):
        LayersSettings(tasks=("upo",)).members()


def test_tasks_fitted_together_find_what_each_finds_alone(models, text, tmp_path):
    plain, spans = text.plain, [it.spans for it in text.source]
    store = capture(models[0], plain.source, plain.target, spans, "encoder", tmp_path)
    words = Words.of(store, text.source)
    names = ("upos", "depth", "animacy", "entity")
    asked = [examples_of(task[name], text.source, words).learnable(text.split) for name in names]
    groups = groups_of(asked)
    assert sum(len(group.tasks) for group in groups) == 4 and len(groups) > 1
    exact = QUICK.with_changes(tolerance=1e-5)
    together = surveys([Asking(store, asked[:2], text.split)], exact, 0)[0]
    alone = surveys([Asking(store, asked[1:2], text.split)], exact, 0)[0]
    for one, other in zip([it for it in together if it.task == "depth"], alone, strict=True):
        assert one.test.log_loss == pytest.approx(other.test.log_loss, abs=1e-3)
        assert one.control == pytest.approx(other.control, abs=0.02)
    group = Group.of(asked[:2])
    assert (group.spread(1, asked[1].labels)[group.places[1]] == asked[1].labels).all()


def test_the_command_shows_and_keeps_what_it_found(models, tmp_path, capsys):
    run = RunFolder.create(tmp_path / "run", RunSettings(corpus=CORPUS).model_dump(mode="json"))
    models[0].save(run.model)
    options = ["--task", "upos", "--sentences", "60", "--controls", "1", "--processes", "1"]
    assert cli.run(["layers", str(run.path), *options, "--no-structure"]) == 0
    shown = capsys.readouterr().out
    assert "encoder syntax" in shown and "encoder: undecided" in shown
    kept = Result.load(run.result("layers")).tables
    assert {"probes", "baselines", "gains", "centres", "verdict"} <= set(kept)
    assert [name for name, table in kept.items() if not len(table.rows)] == ["structure"]


def test_the_stage_of_a_run_asks_only_what_a_run_can_pay_for(models, tmp_path):
    run = RunFolder.create(tmp_path / "run", RunSettings(corpus=CORPUS).model_dump(mode="json"))
    models[0].save(run.model)
    pipeline = Pipeline(run, torch.device("cpu"))
    with run.working():
        found = pipeline.layers()
        again = pipeline.layers()
    probes = found.tables["probes"].rows
    assert set(probes["task"]) <= set(AffordableLayers().tasks) and len(set(probes["task"])) > 3
    assert set(probes["side"]) == {"encoder"} and not len(found.tables["mixes"].rows)
    assert again.provenance == found.provenance  # it was not done a second time
    plain = RunFolder.create(tmp_path / "plain", {"corpus": {"name": "multi30k"}})
    models[0].save(plain.model)
    assert Pipeline(plain, torch.device("cpu")).layers() is None


def test_training_words_are_bounded_by_leaving_out_whole_sentences(text):
    whole = Treebank("made", tuple(text.source))
    free, bound = treebank_text(whole, seed=0), treebank_text(whole, seed=0, words=150)
    kept = {it.id for it in bound.source}
    for part in (1, 2):
        chosen = [s.id for s, own in zip(free.source, free.split.part, strict=True) if own == part]
        assert kept >= set(chosen)
    trained = [s for s, part in zip(bound.source, bound.split.part, strict=True) if part == 0]
    assert 100 < sum(map(len, trained)) <= 150
    assert "training sentences beyond 150 words are left out" in bound.remarks[0]
    assert bound.source == treebank_text(whole, seed=0, words=150).source


def test_only_sentences_with_all_layers_are_taken_unless_all_are_wanted(text):
    bare = [replace(it, supersenses=None) for it in text.source[:20]]
    mixed = Treebank("made", (*bare, *text.source[20:]))
    assert len(treebank_text(mixed, seed=0).source) == len(mixed) - 20
    assert len(treebank_text(mixed, seed=0, same_sentences=False).source) == len(mixed)
    apart = [replace(it, **{("entities", "roles")[n % 2]: None}) for n, it in enumerate(mixed)]
    with pytest.raises(DataError, match=r"no sentence has entities and .*--all-sentences"):
        treebank_text(Treebank("made", tuple(apart)), seed=0)


def test_a_target_treebank_gives_pairs_by_id(text):
    sides = [Treebank("made", tuple(getattr(it, side) for it in text.pairs[:30]))
             for side in ("source", "target")]  # fmt: skip
    named = [
        replace(side, sentences=tuple(replace(it, id=f"{n}") for n, it in enumerate(side)))
        for side in sides
    ]
    found = treebank_text(named[0], seed=0, target=named[1])
    assert len(found.pairs) == 30 and found.pairs[3].target.id == found.pairs[3].source.id
    other = replace(named[1], sentences=tuple(replace(it, id=f"x{it.id}") for it in named[1]))
    with pytest.raises(DataError, match="no sentence id in common"):
        treebank_text(named[0], seed=0, target=other)


def test_models_of_another_shape_are_no_other_seeds(models, text, tmp_path):
    own = models[0].network.settings.with_changes(encoder_layers=1)
    sizes = [len(it) for it in models[0].vocabularies.values()]
    network = Network(own, own.full_layout(), *sizes)
    network.initialise(torch.Generator().manual_seed(5)).requires_grad_(False).eval()
    shallow = TransformerTranslator(network, *models[0].vocabularies.values())
    settings = SETTINGS.with_changes(tasks=("animacy",), sides=("encoder",), **PLAIN)
    with pytest.raises(DataError, match="models of the same shape"):
        layers(models[0], text, settings, 0, folder=tmp_path, others=[shallow])
    with pytest.raises(UsageError, match="the same model is given twice"):
        layers(models[0], text, settings, 0, folder=tmp_path, others=models)


def test_a_treebank_named_by_another_language_is_warned_of(text):
    named = [Treebank(name, tuple(text.source)) for name in ("de_gsd-ud-dev", "en_ewt", "made")]
    corpora = [CORPUS, CORPUS.with_changes(source_language="de"), CorpusSettings(name="files")]
    assert [source_language(it) for it in corpora] == ["en", "de", None]
    for language, warned in (("en", [True, False, False]), ("de", [False, True, False]),
                             (None, [False] * 3)):  # fmt: skip
        found = [treebank_text(it, seed=0, language=language).remarks for it in named]
        assert [bool(it) and "WARNING" in it[0] for it in found] == warned


def test_the_share_of_words_that_training_had_is_said_and_warned_of(text):
    half = words_in(it.text for it in text.source[::2])
    none = words_in(["Zwölf Boxkämpfer", "jagen Viktor."])
    assert "boxkämpfer" in none and "." not in none
    known, foreign = (
        treebank_text(Treebank("made", tuple(text.source)), seed=0, familiar=it).remarks[0]
        for it in (half, none)
    )
    assert not known.startswith("WARNING") and "% of the words of made are in the model" in known
    assert foreign.startswith("WARNING: the source is perhaps of another language")
    assert "only 0.0% of the words" in foreign
