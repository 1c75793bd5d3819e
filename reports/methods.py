"""A paragraph for the methods section of a paper, made of the settings that a run really had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .findings import Findings
from .wording import duration, short_commit, title_of, whole

_KINDS = {"bpe": "BPE", "unigram": "unigram", "wordpiece": "WordPiece"}
_SITES = "encoder self-attention, decoder self-attention and cross-attention"


def methods_paragraph(findings: Findings) -> str:
    """Return the paragraph; what the run did not do is not in it."""
    parts = (
        _training(findings),
        _evaluation(findings),
        _importance(findings),
        _removal(findings),
        _trust(findings),
        _relevance(findings),
        _roles(findings),
        _layers(findings),
        _origin(findings),
    )
    return " ".join(part for part in parts if part)


def listed(names: Sequence[str]) -> str:
    """Write names as a list in a sentence: `a, b and c`."""
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def _properties(findings: Findings, table: str) -> dict[str, str]:
    return {row["property"]: row["value"] for row in findings.records("evaluate", table)}


def _training(findings: Findings) -> str:
    """Tell the network, the text and the recipe."""
    if "train" not in findings:
        return ""
    settings = findings.results["train"].settings
    if not {"network", "training", "vocabulary"} <= set(settings):
        return ""
    network, training, pieces = settings["network"], settings["training"], settings["vocabulary"]
    corpus, model = _properties(findings, "corpus"), _properties(findings, "model")
    size = (
        f" ({whole(model['parameters'].replace(',', ''))} parameters)"
        if "parameters" in model
        else ""
    )
    text = (
        f" to translate {corpus['languages']} on {corpus['corpus']} (sentence pairs: "
        f"{corpus['sentence pairs']})"
        if {"languages", "corpus", "sentence pairs"} <= set(corpus)
        else ""
    )
    joint = "joint" if pieces["joint"] else "separate"
    kind = _KINDS.get(pieces["kind"], pieces["kind"])
    first = (
        f"We trained a Transformer with {network['encoder_layers']} encoder and "
        f"{network['decoder_layers']} decoder layers, {network['heads']} heads in every attention, "
        f"width {network['width']}, feed-forward width {network['feed_forward_width']}, "
        f"{network['norm_place']}-norm and dropout {network['dropout']:g}{size}{text}, with a "
        f"{joint} {kind} vocabulary of at most {whole(pieces['size'])} entries."
    )
    return f"{first} {_recipe(findings, training)}"


def _recipe(findings: Findings, training: Mapping[str, Any]) -> str:
    """Tell how it was trained."""
    outcome = next(iter(findings.records("train", "outcome")), {})
    updates = outcome.get("updates", training["updates"])
    averaged = outcome.get("averaged", 1)
    batch = training["batch_tokens"] * training["micro_batches"]
    extras = []
    if training["cooldown"]:
        share = f"{100 * training['cooldown']:g} %"
        extras.append(f"falls to zero over the last {share} of the updates")
    cooled = f", which {extras[0]}" if extras else ""
    mean = f" The weights of the last {averaged} checkpoints were averaged." if averaged > 1 else ""
    clipped = f", gradient norm at most {training['clip']:g}" if training["clip"] else ""
    dropped = training.get("merge_dropout")
    merges = (
        f" Merges were left out with probability {dropped:g} (BPE-dropout)"
        f"{_from_epoch(training.get('merge_dropout_after'))}."
        if dropped
        else ""
    )
    agreeing = training.get("consistency")
    twice = (
        " Every batch was read twice under different dropout, and disagreement cost "
        f"{agreeing:g} times its symmetric divergence (R-Drop)"
        f"{_from_epoch(training.get('consistency_after'))}."
        if agreeing
        else ""
    )
    return (
        f"It was trained for {whole(updates)} updates of at most {whole(batch)} padded tokens with "
        f"AdamW (learning rate {training['learning_rate']:g} after {whole(training['warmup'])} "
        f"warm-up updates, {training['schedule'].replace('_', ' ')} schedule{cooled}; betas "
        f"{training['betas'][0]:g} and {training['betas'][1]:g}, weight decay "
        f"{training['weight_decay']:g}{clipped}) and label "
        f"smoothing {training['smoothing']:g}.{merges}{twice}{mean}"
    )


def _from_epoch(before: int | None) -> str:
    """Say that something was not done in the first epochs, where that is so."""
    return f", from epoch {before + 1} on" if before else ""


def _evaluation(findings: Findings) -> str:
    """Tell how quality was measured."""
    table = findings.table("evaluate", "quality")
    if table is None:
        return ""
    searches = [name for name in table.rows["search"].unique() if name != "teacher forcing"]
    names = [
        f"beam search of size {name.removeprefix('beam ')}" if "beam" in name else f"{name} search"
        for name in searches
    ]
    measures = [title_of(name) for name in table.rows["measure"].unique() if name != "nll"]
    signed = [
        f"{title_of(name)} {signature}"
        for name, signature in sorted(findings.results["evaluate"].provenance.signatures.items())
    ]
    interval = f", with intervals ({table.interval})" if table.interval else ""
    return (
        f"The model was evaluated on {table.n} by {listed(names)} and scored by "
        f"{listed(measures)} on raw text (sacrebleu; {'; '.join(signed)}){interval}."
    )


def _importance(findings: Findings) -> str:
    """Tell which metrics were measured, and on what."""
    table = findings.table("score", "heads")
    if table is None:
        return ""
    names = [title_of(name) for name in table.rows["metric"].unique() if name != "random"]
    split = findings.results["score"].settings.get("split")
    on = f" of the {split} split" if split and f"{split}" not in table.n else ""
    return (
        f"The importance of each attention head ({_SITES}) was measured by "
        f"{listed([lower(name) for name in names])} on {table.n}{on}."
    )


def lower(name: str) -> str:
    """Write a name inside a sentence; abbreviations stay as they are."""
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


def _removal(findings: Findings) -> str:
    """Tell how heads were removed."""
    table = findings.table("prune", "curve")
    if table is None:
        return ""
    rows = table.rows
    counts = rows["heads_left"].nunique()
    draws = rows[rows["order"] == "random"]["draw"].nunique()
    orders = [lower(title_of(name)) for name in rows["order"].unique() if name != "random"]
    control = f", and in {draws} random orders as a control" if draws else ""
    by = f" by {listed(orders)}" if orders else ""
    signature = findings.signature("prune")
    named = f" (sacrebleu, {signature})" if signature else ""
    bounds = f" with intervals ({table.interval})" if table.interval else ""
    return (
        f"Heads were removed from the weights in ascending order of importance{by}{control}, "
        "without further training, and the resulting models were evaluated at "
        f"{counts} head counts on {table.n}. We report BLEU{named}{bounds}."
    )


def _trust(findings: Findings) -> str:
    """Tell how the metrics themselves were judged."""
    if "reliability" not in findings:
        return ""
    settings = findings.results["reliability"].settings
    read = settings.get("sentences")
    on = f" on {whole(read)} sentences" if read else ""
    return (
        f"Metrics were compared with each other and with leave-one-out by rank correlation{on}, "
        "their stability was measured between random halves of the sentences, and their orders "
        "of removal were compared with random ones on other sentences."
    )


def _relevance(findings: Findings) -> str:
    if "relevance" not in findings:
        return ""
    settings = findings.results["relevance"].settings
    rules = {"attnlrp": "AttnLRP rules", "cp": "attention weights held constant"}
    rule = rules.get(settings.get("rule", ""), "LRP rules")
    return (
        f"Token contributions in {settings.get('sentences', 'some')} example sentences were "
        f"computed by layer-wise relevance propagation ({rule})."
    )


def _roles(findings: Findings) -> str:
    """Tell how roles of heads were looked for."""
    table = findings.table("roles", "roles")
    if table is None:
        return ""
    networks = findings.results["roles"].settings.get("random_networks")
    beside = f" and beside {networks} networks with random weights" if networks else ""
    n = f" on {table.n}" if table.n else ""
    return f"Roles of heads were tested against positional and chance baselines{beside}{n}."


def _layers(findings: Findings) -> str:
    if "layers" not in findings:
        return ""
    rows = findings.rows("layers", "probes")
    coded = "online" in rows and rows["online"].notna().any()
    code = ", and with the online code of the labels" if coded else ""
    return (
        "What layers hold of syntax and semantics was asked by linear probes beside control tasks "
        f"and random weights{code}."
    )


def _origin(findings: Findings) -> str:
    """Tell the software, the seed, the machine and the time."""
    origins = [result.provenance for result in findings.results.values()]
    first = min(origins, key=lambda it: it.started)
    commits = [short_commit(it) for it in dict.fromkeys(it.commit for it in origins) if it]
    commit = f", commit{'s' * (len(commits) > 1)} {listed(commits)}" if commits else ""
    torch = first.libraries.get("torch")
    with_torch = f" and PyTorch {torch}" if torch else ""
    total = duration(sum(it.seconds for it in origins))
    machine = f" on {first.hardware}" if first.hardware else ""
    return (
        f"All numbers were computed with headcount {first.version}{commit}{with_torch} (seed "
        f"{first.seed}){machine}; all analyses together took {total}."
    )
