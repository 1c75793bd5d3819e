"""From training to the page, by hand: a tutorial in cells for any editor that knows `# %%`."""

# %% [markdown]
# # How many heads does your translator really need?
#
# A Transformer reads a sentence through many *attention heads*. In this tutorial you train a
# small one, close its heads one by one, find out which of them it would miss, cut the others out
# for good, and write the page that shows the price. It needs no GPU and no download.
#
# Run it as it is (`python docs/tutorial.py`, some minutes on two cores, most of them training), or
# cell by cell in any editor that knows `# %%`. All that the command `headcount` does is done here
# by hand.

# %%
from __future__ import annotations

import os
from pathlib import Path

import torch

from headcount.analyses.pipeline import Pipeline
from headcount.analyses.points import reference_losses
from headcount.analyses.presets import run_settings
from headcount.analyses.result import Result
from headcount.analyses.run_folder import RunFolder
from headcount.models.gates import Head
from headcount.reports.figures import draw_figures
from headcount.reports.page import build_page

# HEADCOUNT_TUTORIAL=smoke makes all of it so small that nobody learns German, but large enough to
# test that these cells run.
SMOKE = {
    "corpus": {"sentences": 120},
    "vocabulary": {"size": 300},
    "training": {"updates": 12, "warmup": 4, "validate_every": 6, "validation_sentences": 2},
    "evaluate": {"sentences": 6, "beams": [1], "resamples": 20},
    "score": {
        "metrics": ["confidence", "gradient", "leave_one_out", "random"],
        "sentences": 6,
        "proof_sentences": 2,
        "resamples": 20,
    },
    "prune": {
        "metrics": ["confidence", "gradient"],
        "sentences": 6,
        "draws": 1,
        "shares": [1, 0.5],
        "resamples": 20,
        "proofs": 1,
        "proof_sentences": 2,
    },
    "relevance": {"sentences": 1},
}
smoke = os.environ.get("HEADCOUNT_TUTORIAL") == "smoke"
folder = Path(os.environ.get("HEADCOUNT_TUTORIAL_FOLDER", "runs")) / "tutorial"

# %% [markdown]
# ## 1. A run folder, and some text
#
# Settings come first: a preset, and whatever you want to change. They are written into the run
# folder before any work begins, so that next year you will still know what you did. If you run
# this cell again with the same folder, finished work is kept.

# %%
FEWER = {"prune": {"metrics": ["confidence", "gradient", "leave_one_out"], "draws": 4}}
preset, changes = ("nano", SMOKE) if smoke else ("miniature", FEWER)
settings = run_settings(preset, changes, where="the tutorial")
run = RunFolder.resume(folder, settings.model_dump(mode="json"))
pipeline = Pipeline(run, torch.device("cpu"))

# %% [markdown]
# The corpus `miniature` is written by headcount itself: English sentences with correct German
# translations. Because a grammar made them, we know the whole truth about every sentence, and
# that will be useful when we ask whether a method finds it.

# %%
corpus = pipeline.corpus
print(f"{len(corpus.train):,} sentence pairs to learn from, such as:")
for source, target in list(zip(corpus.train.source, corpus.train.target, strict=True))[:3]:
    print(f"  {source}\n    {target}")

# %% [markdown]
# ## 2. Train
#
# One call. Afterwards `results/train` holds how it went, as tables that every later step reads.

# %%
pipeline.train()
curve = Result.load(run.result("train")).tables["curve"].rows
print(curve[["step", "train_loss", "valid_nll"]].dropna().tail(3).to_string(index=False))

# %%
translator = pipeline.translator
print(translator.describe())
for sentence in ("The dog sleeps.", "The woman who sees the cats reads a book."):
    print(f"{sentence}  ->  {translator.translate([sentence])[0].text}")

# %% [markdown]
# ## 3. Close one head
#
# Every head's output is multiplied by a *gate*. At 1 the head is as it was trained; at 0 it is
# silent. Gates are not a trick for later: all that follows is questions put to this one vector.
#
# How much worse do the reference translations become when a head is silent? The loss is the
# negative log-likelihood in nats a token: 0 would be a model that was sure of every word.

# %%
text = corpus.valid.head(20 if smoke else 60)


def loss_without(*heads: Head) -> float:
    """Return the loss of the model with some heads cut out, in nats a token."""
    losses, tokens = reference_losses(translator.without(heads), text)
    return sum(losses) / sum(tokens)


whole = loss_without()
alone = {head: loss_without(head) - whole for head in translator.layout}
for head, rise in sorted(alone.items(), key=lambda pair: -pair[1])[:3]:
    print(f"without {head} the loss rises from {whole:.3f} by {rise:.3f}")

# %% [markdown]
# This is *leave-one-out*. It is exact and slow: as many passes as there are heads. Look at the
# other end of the list too, and you will often find heads without which the model is better.
#
# ## 4. Cheaper questions
#
# Other metrics guess the same from a single pass: the slope of the loss at the gate (*gradient*),
# how sure a head is of where it looks (*confidence*), and more. `score` measures them on
# validation text, with an interval for every head, and checks its own arithmetic: a metric whose
# proof fails is not shown to you as a number.

# %%
scores = pipeline.score()
heads = scores.tables["heads"].rows
heads["name"] = heads["site"] + "." + heads["layer"].astype(str) + "." + heads["head"].astype(str)
ranks = heads.pivot_table(index="name", columns="metric", values="rank").astype(int)
print("The ten most important heads by leave-one-out, and their ranks by all metrics:")
print(ranks.sort_values("leave_one_out").head(10).to_string())

# %% [markdown]
# They do not agree. Which one should you believe? That is not a matter of taste: a metric is good
# if the heads that it calls useless can go. So let them go.
#
# ## 5. Cut heads out, and pay
#
# `prune` removes heads in the order of each metric, the least important first, and translates the
# test text at every count. Removed means removed: the weights are gone and the model is smaller.
# Beside the metrics go *random* orders. A metric that is no better than chance has told you
# nothing, however elegant its formula.

# %%
pipeline.evaluate()
removed = pipeline.prune()
bleu = removed.tables["curve"].rows.pivot_table(index="heads_left", columns="order", values="bleu")
print(bleu.sort_index(ascending=False).round(1).to_string())

# %% [markdown]
# BLEU of so few sentences is rough, which is why every number in the table `curve` has an
# interval beside it. Two scores whose difference has an interval around zero are not different.
#
# A smaller model is an ordinary model. Take the half of the heads that matter least, cut them out
# and save what is left; `headcount translate` reads the folder like any other.

# %%
order = removed.tables["removals"].rows
order = order[(order["order"] == "gradient") & (order["step"] <= len(translator.layout) // 2)]
gone = [
    Head(str(site), int(layer), int(head))
    for _, site, layer, head in order[["step", "site", "layer", "head"]].to_numpy()
]
smaller = translator.without(gone)
smaller.save(folder / "smaller")
print(smaller.layout.describe())
print(f"{translator.describe()['parameters']:,} -> {smaller.describe()['parameters']:,} parameters")

# %% [markdown]
# Is the cut model really the model with closed gates? It had better be. The losses of both must
# be equal but for rounding:

# %%
(batch,) = translator.batches(text.source[:8], text.target[:8], tokens=100_000)
(again,) = smaller.batches(text.source[:8], text.target[:8], tokens=100_000)
with torch.no_grad():
    masked = translator.token_losses(batch, gates=translator.layout.closing(gone))
    cut = smaller.token_losses(again)
print(f"largest difference of a token's loss: {(masked - cut).abs().max():.1e} nats")
assert torch.allclose(masked, cut, atol=1e-4)

# %% [markdown]
# ## 6. What did a word rely on?
#
# *Layer-wise relevance propagation* takes the logit of a word apart and hands it back, layer by
# layer, to the words that were read. What arrives at the source and what arrives at the German
# words before it tells whether the model translated or merely went on talking.

# %%
relied = pipeline.relevance().tables["shares"].rows
print(relied[["piece", "source_share"]].head(8).round(2).to_string(index=False))

# %% [markdown]
# ## 7. The page
#
# Everything that was found lies in `results/` as tables. The page reads them and computes
# nothing, so the same results give the same page, byte for byte. It is one file, works offline,
# and can be sent to a friend.

# %%
draw_figures(run.path)
page = build_page(run.path)
print(f"Open {page}")

# %% [markdown]
# ## Where to go from here
#
# - Train the same with `seed = 1` and ask whether the same heads matter: `headcount compare`
#   sets two runs side by side. (Do not expect head 3 to be head 3 again.)
# - `pipeline.roles()` says what each head looks at, `pipeline.reliability()` which metric can be
#   believed, and both add a section to the page.
# - Bring your own text: `headcount run --train a.en a.de --valid b.en b.de --test c.en c.de`.
