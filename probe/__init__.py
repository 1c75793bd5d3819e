"""What looks inside a model: the importance of heads, attention, states, layer probes.

Everything here puts one question to a `Translator`: what changes, or what can be read, when
its head gates are moved or its states are captured. Nothing here decides which heads to
remove and nothing draws; `analyses` asks the questions and `reports` shows the answers.

A metric joins the `metric` family of `importance.py` when its file is imported here.
"""

from . import (
    attention_norm,
    confidence,
    entropy,
    feature_ablation,
    fisher,
    gradient,
    integrated_gradients,
    kernel_shap,
    leave_one_out,
    lrp,
    random_order,
    shapley,
    weight_norm,
)

__all__ = [
    "attention_norm",
    "confidence",
    "entropy",
    "feature_ablation",
    "fisher",
    "gradient",
    "integrated_gradients",
    "kernel_shap",
    "leave_one_out",
    "lrp",
    "random_order",
    "shapley",
    "weight_norm",
]
