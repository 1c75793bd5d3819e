"""How fast translations are found, side by side with CTranslate2, HuggingFace and a plain loop.

    OMP_NUM_THREADS=2 python benchmarks/decoding.py --sentences 256 --rounds 5

All systems translate the same sentences of 16 tokens with a network of the preset `small`
(width 256, feed-forward 1024, 3 + 3 layers, 8 heads, vocabulary 8,000; random weights from a
fixed seed) in batches of 64, in float32, with the same number of threads, and say exactly 16
tokens. CTranslate2 and the plain loop compute with our weights, and their translations are
compared with ours; HuggingFace's Marian has the same shape and weights of its own. Like
CTranslate2, ours leaves log-probabilities out of greedy search; the plain loop computes them.

Systems take turns in every round, so a busy machine slows all of them alike; after each turn
the script sleeps until the other library's threads have stopped spinning. Reported are
medians over rounds, and medians of the per-round ratios to CTranslate2.

CTranslate2 and transformers are optional: what is not installed is left out.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from headcount.models.batch import Tokens
from headcount.models.decoding import search
from headcount.models.network import Network, NetworkSettings
from headcount.models.translator import SearchSettings

PAD, UNK, BOS, EOS = range(4)
LENGTH = 16
BATCH = 64
VOCABULARY = 8000
Translate = Callable[[], list[list[int]]]
Sentences = Sequence[Sequence[int]]


def random_network(norm_place: str) -> Network:
    """Return a network that never says a special token: their rows in the table are zero."""
    settings = NetworkSettings(norm_place=norm_place)
    network = Network(settings, settings.full_layout(), VOCABULARY, VOCABULARY)
    network.initialise(torch.Generator().manual_seed(0))
    with torch.no_grad():
        network.output_table[: EOS + 1] = 0
    return network.eval().requires_grad_(False)


def random_sentences(count: int) -> list[list[int]]:
    """Return sentences of 16 tokens and EOS."""
    draw = torch.Generator().manual_seed(1)
    ids = torch.randint(4, VOCABULARY, (count, LENGTH), generator=draw)
    return [[*sentence, EOS] for sentence in ids.tolist()]


def ours(network: Network, sentences: Sentences, beam: int) -> Translate:
    """Prepare our search."""
    settings = SearchSettings(
        beam=beam,
        min_tokens=LENGTH,
        max_ratio=0,
        max_extra=LENGTH,
        batch_tokens=BATCH * (LENGTH + 1),
    )
    marks = {"bos": BOS, "eos": EOS, "pad": PAD}
    return lambda: [list(found.ids) for found in search(network, sentences, settings, **marks)]


def ctranslate2(network: Network, sentences: Sentences, beam: int, workers: int = 1) -> Translate:
    """Write our weights as a CTranslate2 model and prepare its translator.

    Its default is one worker whose operations share all threads; `workers` batches side by
    side, with the threads shared out, is its other mode.
    """
    import ctranslate2

    folder = tempfile.mkdtemp()
    ctranslate2_spec(network).save(folder)
    translator = ctranslate2.Translator(
        folder,
        device="cpu",
        compute_type="float32",
        inter_threads=workers,
        intra_threads=max(1, torch.get_num_threads() // workers),
    )
    # The end token is added by the caller, as its documentation asks.
    words = [[str(token) for token in sentence] for sentence in sentences]

    def translate() -> list[list[int]]:
        found = translator.translate_batch(
            words,
            beam_size=beam,
            max_batch_size=BATCH,
            min_decoding_length=LENGTH,
            max_decoding_length=LENGTH,
        )
        return [[int(word) for word in result.hypotheses[0]] for result in found]

    return translate


def ctranslate2_workers(network: Network, sentences: Sentences, beam: int) -> Translate:
    """Prepare CTranslate2 with a worker a thread."""
    return ctranslate2(network, sentences, beam, torch.get_num_threads())


def ctranslate2_spec(network: Network):
    """Return our network as a CTranslate2 model."""
    from ctranslate2.specs import TransformerSpec

    settings = network.settings
    spec = TransformerSpec.from_config(
        (settings.encoder_layers, settings.decoder_layers),
        settings.heads,
        pre_norm=settings.norm_place == "pre",
    )

    def linear(target, *maps) -> None:
        target.weight = torch.cat([one.weight for one in maps]).numpy()
        target.bias = torch.cat([one.bias for one in maps]).numpy()

    def norm(target, module) -> None:
        target.gamma, target.beta = module.weight.numpy(), module.bias.numpy()

    def feed_forward(target, layer) -> None:
        linear(target.linear_0, layer.feed_forward.inner)
        linear(target.linear_1, layer.feed_forward.outer)
        norm(target.layer_norm, layer.feed_forward_residual.norm)

    def own_attention(target, attention, residual) -> None:
        linear(target.linear[0], attention.query, attention.key, attention.value)
        linear(target.linear[1], attention.output)
        norm(target.layer_norm, residual.norm)

    for target, layer in zip(spec.encoder.layer, network.encoder, strict=True):
        own_attention(target.self_attention, layer.attention, layer.attention_residual)
        feed_forward(target.ffn, layer)
    for target, layer in zip(spec.decoder.layer, network.decoder, strict=True):
        own_attention(target.self_attention, layer.self_attention, layer.self_residual)
        cross = layer.cross_attention
        linear(target.attention.linear[0], cross.query)
        linear(target.attention.linear[1], cross.key, cross.value)
        linear(target.attention.linear[2], cross.output)
        norm(target.attention.layer_norm, layer.cross_residual.norm)
        feed_forward(target.ffn, layer)
    positions = network.target_positions(512).numpy()
    spec.encoder.embeddings[0].weight = network.source_embedding.table.numpy()
    spec.decoder.embeddings.weight = network.target_embedding.table.numpy()
    spec.decoder.projection.weight = network.output_table.numpy()
    for side, final in (
        (spec.encoder, network.encoder_norm),
        (spec.decoder, network.decoder_norm),
    ):
        side.position_encodings.encodings = positions
        if settings.norm_place == "pre":
            norm(side.layer_norm, final)
    names = [str(token) for token in range(VOCABULARY)]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.bos_token = spec.config.decoder_start_token = str(BOS)
    spec.config.eos_token, spec.config.unk_token = str(EOS), str(UNK)
    spec.validate()
    spec.optimize(quantization="float32")
    return spec


def huggingface(network: Network, sentences: Sentences, beam: int) -> Translate:
    """Prepare `generate` of a Marian network of the same shape."""
    from transformers import MarianConfig, MarianMTModel

    shape = network.settings
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=shape.width,
        encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers,
        encoder_attention_heads=shape.heads,
        decoder_attention_heads=shape.heads,
        encoder_ffn_dim=shape.feed_forward_width,
        decoder_ffn_dim=shape.feed_forward_width,
        activation_function="relu",
        pad_token_id=PAD,
        eos_token_id=EOS,
        forced_eos_token_id=None,
        decoder_start_token_id=PAD,
        scale_embedding=True,
        max_position_embeddings=512,
    )
    torch.manual_seed(0)
    model = MarianMTModel(config).eval()

    def translate() -> list[list[int]]:
        found: list[list[int]] = []
        for start in range(0, len(sentences), BATCH):
            ids = torch.tensor(sentences[start : start + BATCH])
            with torch.inference_mode():
                said = model.generate(
                    input_ids=ids,
                    attention_mask=torch.ones_like(ids),
                    num_beams=beam,
                    do_sample=False,
                    min_new_tokens=LENGTH,
                    max_new_tokens=LENGTH,
                )
            found += said[:, 1:].tolist()
        return found

    return translate


def plain_loop(network: Network, sentences: Sentences, beam: int) -> Translate:
    """Prepare the loop one writes first: a cache per layer, concatenated and reordered."""

    def by_head(attention, states: Tensor) -> Tensor:
        return attention.by_head(states)  # [row, head, token, head_width]

    def attend(attention, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        context = F.scaled_dot_product_attention(query, key, value)
        return attention.merged(context.transpose(1, 2), None)

    def step(tokens: Tensor, position: int, cache: list, memory: list) -> Tensor:
        states = network.embed_target(tokens[:, None], position)  # [row, token, width]
        for number, layer in enumerate(network.decoder):
            own, cross = layer.self_attention, layer.cross_attention

            def attend_prefix(x: Tensor, own=own, number=number) -> Tensor:
                query, key, value = own.projected(x, x)
                if cache[number] is not None:
                    key = torch.cat((cache[number][0], key), 2)
                    value = torch.cat((cache[number][1], value), 2)
                cache[number] = (key, value)
                return attend(own, query, key, value)

            def attend_source(x: Tensor, cross=cross, number=number) -> Tensor:
                return attend(cross, by_head(cross, cross.query(x)), *memory[number])

            states = layer.self_residual(states, attend_prefix)
            states = layer.cross_residual(states, attend_source)
            states = layer.feed_forward_residual(states, layer.feed_forward)
        return network.project(network.decoder_norm(states))[:, 0].log_softmax(-1)

    def batch(part: Sentences) -> list[list[int]]:
        source = Tokens.padded(part, PAD, {BOS, EOS})
        encoded = network.encode(source).repeat_interleave(beam, 0)  # [row, source, width]
        memory = [
            tuple(
                by_head(it.cross_attention, project(encoded))
                for project in (it.cross_attention.key, it.cross_attention.value)
            )
            for it in network.decoder
        ]
        rows = len(part) * beam
        cache: list = [None] * len(network.decoder)
        tokens = torch.full((rows,), BOS)
        scores = torch.full((len(part), beam), float("-inf"))
        scores[:, 0] = 0
        said = torch.empty(rows, 0, dtype=torch.long)
        for position in range(LENGTH):
            log_p = step(tokens, position, cache, memory)  # [row, vocabulary]
            totals = (scores.view(-1, 1) + log_p).view(len(part), -1)
            scores, chosen = totals.topk(beam, -1)  # [sentence, hypothesis]
            parents = chosen // VOCABULARY + beam * torch.arange(len(part))[:, None]
            parents, tokens = parents.flatten(), (chosen % VOCABULARY).flatten()
            if beam > 1:
                said = said[parents]
                cache = [(key[parents], value[parents]) for key, value in cache]
            said = torch.cat((said, tokens[:, None]), 1)
        return said.view(len(part), beam, LENGTH)[:, 0].tolist()

    def translate() -> list[list[int]]:
        with torch.inference_mode():
            parts = range(0, len(sentences), BATCH)
            return [ids for start in parts for ids in batch(sentences[start : start + BATCH])]

    return translate


SYSTEMS = {
    "headcount": ours,
    "CTranslate2": ctranslate2,
    "CTranslate2 workers": ctranslate2_workers,
    "HuggingFace": huggingface,
    "plain loop": plain_loop,
}


def prepared(network: Network, sentences: Sentences, beam: int) -> dict[str, Translate]:
    """Prepare every system that is installed, warm it up and compare translations."""
    systems: dict[str, Translate] = {}
    for name, make in SYSTEMS.items():
        try:
            systems[name] = make(network, sentences, beam)
        except ImportError as error:
            print(f"{name} is left out: {error}")
    found = {name: translate() for name, translate in systems.items()}
    assert all(len(ids) == LENGTH for them in found.values() for ids in them)
    for name in {"CTranslate2", "plain loop"} & set(found):
        pairs = zip(found["headcount"], found[name], strict=True)
        same = sum(left == right for left, right in pairs)
        print(f"beam {beam}: {same} of {len(sentences)} translations equal those of {name}")
    return systems


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--norm-place", choices=("post", "pre"), default="post")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    for name in set(SYSTEMS) - set(chosen.systems):
        del SYSTEMS[name]
    network = random_network(chosen.norm_place)
    sentences = random_sentences(chosen.sentences)
    print(f"{platform.processor() or platform.machine()}, {chosen.threads} threads, float32")
    for beam in chosen.beams:
        systems = prepared(network, sentences, beam)
        seconds: dict[str, list[float]] = {name: [] for name in systems}
        for _ in range(chosen.rounds):
            for name, translate in systems.items():
                time.sleep(0.4)
                started = time.perf_counter()
                translate()
                seconds[name].append(time.perf_counter() - started)
        report(beam, len(sentences), seconds)


def report(beam: int, sentences: int, seconds: dict[str, list[float]]) -> None:
    """Print sentences a second and ratios to CTranslate2."""
    print(f"\nbeam {beam}{'':14} sentences/s   x CTranslate2")
    for name, times in seconds.items():
        speed = sentences / statistics.median(times)
        peers = seconds.get("CTranslate2")
        ratio = float(np.median(np.divide(peers, times))) if peers else float("nan")
        print(f"{name:20} {speed:11.0f} {ratio:15.2f}")


if __name__ == "__main__":
    main()
