"""What a smaller model gains: who takes turns with whom, what is counted, what is compared."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headcount.analyses.bench import turns
from headcount.analyses.bench.flops import stage_costs
from headcount.analyses.bench.memory import can_measure, peak_of_search
from headcount.analyses.bench.parts import (
    ATTENTION,
    DECODER,
    ENCODER,
    FEED_FORWARD,
    NAMES,
    SITES,
    VOCABULARY,
    WHOLE,
    MeteredSearch,
    multiplications,
)
from headcount.analyses.bench.size import cache_bytes
from headcount.analyses.bench.subject import Subject
from headcount.analyses.bench.turns import Case, source_ids
from headcount.analyses.gain import GainSettings, gain
from headcount.analyses.result import Result
from headcount.models.data.vocabulary import EOS, Vocabulary
from headcount.models.errors import UsageError
from headcount.models.gates import Attention, Head
from headcount.models.network import NetworkSettings
from headcount.models.transformer import TransformerTranslator
from headcount.models.translator import SearchSettings

GONE = [Head("encoder", 0, head) for head in range(3)] + [Head("cross", 1, 0)]
"""All heads of the first encoder layer, and one of six cross heads."""
SOURCE = [[4, 5, 6, EOS], [7, 8, 9, EOS]]  # two sentences, nothing padded


def said(tokens: int) -> SearchSettings:
    return Case(1, 2).search(tokens)


def by_hand(translator, tokens: int) -> dict[str, float]:
    """Multiplications of a greedy search of `SOURCE`, from the shapes alone."""
    settings, layout = translator.network.settings, translator.layout
    width, inner, head = settings.width, settings.feed_forward_width, settings.width_of_head()
    sentences, source = 2, 4
    count = dict.fromkeys(NAMES, 0.0)
    for name, ids in layout.by_attention:
        features = len(ids) * head
        if name.site == "encoder":
            products = source * 4 * width * features + 2 * source * source * features
        elif name.site == "decoder":
            # Slots are read in sixteens.
            slots = sum(-(-step // 16) * 16 for step in range(1, tokens + 1))
            products = tokens * 4 * width * features + 2 * slots * features
        else:
            products = source * 2 * width * features
            products += tokens * (2 * width * features + 2 * source * features)
        count[SITES[name.site]] += sentences * products
    count[ATTENTION] = sum(count[site] for site in SITES.values())
    encoder, decoder = (
        sentences * length * layers * 2 * width * inner
        for length, layers in ((source, settings.encoder_layers), (tokens, settings.decoder_layers))
    )
    count[FEED_FORWARD] = encoder + decoder
    count[VOCABULARY] = sentences * tokens * width * len(translator.vocabularies["target"])
    count[ENCODER] = encoder + count[SITES["encoder"]]
    count[WHOLE] = count[ATTENTION] + count[FEED_FORWARD] + count[VOCABULARY]
    count[DECODER] = count[WHOLE] - count[ENCODER]
    return count


@pytest.mark.parametrize("gone", [[], GONE], ids=["whole", "cut"])
def test_the_multiplications_of_every_part_by_hand(nano, gone):
    translator = nano.without(gone)
    assert multiplications(translator.network, [SOURCE], said(17)) == by_hand(translator, 17)


def test_a_layer_without_heads_multiplies_nothing(nano):
    cut = nano.without(head for head in nano.layout if head.site == "cross")
    counted = multiplications(cut.network, [SOURCE], said(5))
    assert counted[SITES["cross"]] == 0
    assert counted[SITES["encoder"]] > 0


def test_meters_leave_the_network_and_its_translations_alone(nano):
    before = nano.translate(["a b c", "b"])
    with FlopCounterMode(display=False) as counter:
        search = MeteredSearch(nano.network, counter.get_total_flops)
        search(SOURCE, said(3))
        first = search.taken()
        search(SOURCE, said(3))
        assert search.taken() == first  # each call begins at zero
    assert nano.translate(["a b c", "b"]) == before
    assert not any(it._forward_pre_hooks for it in nano.network.modules())
    assert "encode" not in vars(nano.network)


@pytest.mark.parametrize("beam", [1, 3])
def test_caches_shrink_with_the_heads_by_hand(nano, beam):
    """Keys and values of 4 source tokens a sentence and of every slot of a prefix, float64."""
    tokens, head, byte = 6, 4, 8
    slots = 1 + beam * (tokens - 1)  # the first step has one hypothesis
    whole = 2 * 2 * 3 * head * byte * 2 * (4 + slots)  # k and v, sentences, heads, ..., layers
    assert cache_bytes(nano, SOURCE, beam, tokens) == whole
    gone = [Head("cross", 0, 0), *(Head("decoder", 1, it) for it in range(3))]
    less = 2 * 2 * head * byte * (4 + 3 * slots)
    assert cache_bytes(nano.without(gone), SOURCE, beam, tokens) == whole - less


@pytest.fixture(scope="module")
def result(planted, copying) -> Result:
    settings = GainSettings(batches=(2,), beams=(1,), rounds=6, a_round=1, memory=False)
    return gain(planted, {"cut": planted.without(GONE)}, copying.test, settings, 4)


def test_every_search_is_timed_by_turns(result):
    rows = result.tables["speed"].rows
    assert list(rows["lengths"]) == ["equal"] * 2 + ["own"] * 2
    assert list(rows["model"]) == ["whole", "cut"] * 2
    assert rows[rows["model"] == "whole"]["speedup"].isna().all()
    cut = rows[rows["model"] == "cut"]
    for name in ("speedup", "processor_speedup"):
        assert (cut[f"{name}_low"] <= cut[name]).all()
        assert (cut[name] <= cut[f"{name}_high"]).all()
    assert (rows["tokens_per_second"] > 0).all()
    assert result.tables["speed"].n.startswith("6 rounds by turns, ")
    assert result.tables["speed"].interval


def test_parts_know_what_is_spared(result):
    rows = result.tables["parts"].rows.set_index("part")
    assert list(rows.index) == list(NAMES)
    # Half of the encoder's layers, and one of six cross heads.
    assert rows.loc["encoder self-attention", "products_spared"] == pytest.approx(1 / 2)
    assert rows.loc["cross-attention", "products_spared"] == pytest.approx(1 / 6)
    assert rows.loc["feed-forward", "products_spared"] == 0
    assert rows["realised"].isna().sum() == 3  # of which nothing is gone
    realised = rows["time_spared"] / rows["products_spared"]
    assert rows.loc["attention", "realised"] == pytest.approx(realised["attention"])


def test_sizes_are_those_of_the_models(result, planted, tmp_path):
    rows = result.tables["size"].rows.set_index("model")
    assert rows.loc["whole", "parameters"] == planted.describe()["parameters"]
    assert list(rows["heads"]) == [18, 14]
    planted.save(tmp_path)
    disk = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert rows.loc["whole", "disk"] == disk > rows.loc["cut", "disk"]
    assert rows.loc["whole", "cache"] > rows.loc["cut", "cache"]
    assert rows["peak"].isna().all()


def test_the_result_comes_back_from_disk(result, tmp_path):
    result.save(tmp_path)
    again = Result.load(tmp_path)
    assert again.tables["parts"].rows.equals(result.tables["parts"].rows)
    assert again.remarks == result.remarks
    assert "model cut" in again.provenance.data


def test_ratios_are_of_the_same_round_and_every_round_begins_with_another(
    nano, copying, monkeypatch
):
    """The machine is slower in every round; the cut model always takes half of the time."""
    order: list[str] = []
    now = {"wall": 0.0}

    class Model:
        def __init__(self, name: str, seconds: float) -> None:
            self.name, self.seconds, self.device = name, seconds, torch.device("cpu")

        def translate(self, sentences, search):
            order.append(self.name)
            now["wall"] += self.seconds * len(order)
            return nano.translate(sentences[:1], SearchSettings(max_extra=1, max_ratio=0))

    monkeypatch.setattr(turns.time, "perf_counter", lambda: now["wall"])
    monkeypatch.setattr(turns.time, "process_time", lambda: now["wall"])
    models = {"whole": Model("whole", 2.0), "cut": Model("cut", 1.0)}
    case = Case(1, 4, rounds=6, a_round=4)
    whole, cut = turns.speed_records(models, copying.test, case, SearchSettings(), "own")
    assert order == ["whole", "cut", *["whole", "cut", "cut", "whole"] * 3]
    # Rounds of 2n/(n+1) and 2(n+1)/n with n = 3, 5, ...: their median is that of the sequence.
    ratios = [2 * 3 / 4, 2 * 6 / 5, 2 * 7 / 8, 2 * 10 / 9, 2 * 11 / 12, 2 * 14 / 13]
    assert cut["speedup"] == pytest.approx(sorted(ratios)[2] / 2 + sorted(ratios)[3] / 2)
    assert whole["tokens_per_second"] == pytest.approx(
        sorted([1 / (2 * at) for at in (3, 6, 7, 10, 11, 14)])[2] / 2
        + sorted([1 / (2 * at) for at in (3, 6, 7, 10, 11, 14)])[3] / 2
    )


def test_what_makes_no_sense_is_refused(nano, copying):
    with pytest.raises(UsageError, match="no smaller model"):
        gain(nano, {}, copying.test, GainSettings(), 0)
    with pytest.raises(UsageError, match="choose another"):
        gain(nano, {"whole": nano}, copying.test, GainSettings(), 0)
    words = Vocabulary.train(["d e f"], kind="word", size=10)
    foreign = TransformerTranslator(nano.network, words, words)
    with pytest.raises(UsageError, match="has another vocabulary"):
        gain(nano, {"foreign": foreign}, copying.test, GainSettings(), 0)
    for wrong in ({"rounds": 5}, {"batches": (0,)}, {"beams": ()}, {"lengths": ("long",)}):
        with pytest.raises(UsageError):
            GainSettings.from_dict(wrong)


def test_teacher_forcing_costs_the_projections_of_a_search(nano):
    """What `flops.py` counts for a forward and what a search does share their projections."""
    [batch] = nano.batches(["a b c"], ["a b c d e"])
    stages = {it.name: it for it in stage_costs(nano.network.settings, nano.layout, batch)}
    ids = source_ids(nano, ["a b c"])
    counted = multiplications(nano.network, [ids], Case(1, 1).search(6))
    cross = sum(stages[Attention("cross", layer)].memory for layer in (0, 1))
    cross += sum(stages[Attention("cross", layer)].mixing for layer in (0, 1))
    cross += sum(stages[Attention("cross", layer)].output for layer in (0, 1))
    assert counted[SITES["cross"]] == cross


@pytest.mark.slow
@pytest.mark.skipif(not can_measure(), reason="this system does not reset peaks of memory")
def test_the_peak_of_a_search_is_that_of_its_logits(tmp_path):
    shape = NetworkSettings(
        width=16, feed_forward_width=32, encoder_layers=1, decoder_layers=1, heads=2, dropout=0.0
    )
    subject = Subject(network=shape, vocabulary=8000, sentences=64)
    subject.translator.save(tmp_path)
    peak = peak_of_search(tmp_path, subject.text.source, Case(4, 64).search(6))
    logits = 64 * 4 * 8000 * 4  # bytes; the log-probabilities take as many
    assert 1.5 * logits < peak < 4 * logits
