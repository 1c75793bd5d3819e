"""What each layer knows: probes for syntax and semantics.

    states of all layers, on disk           store.py
    tasks from annotated sentences          tasks/, examples.py
    probes                                  stacked.py, logistic.py, mlp.py, ridge.py
    what a score is worth                   control.py, measures.py
    other ways to ask                       mdl.py, scalar_mix.py, structural.py, cka.py
    numbers in place of classes             quantities.py
    the answer                              gains.py, verdict.py

Probing shows what can be READ from a layer, not what the model uses; and a layer that is
good for everything is no evidence for an order of syntax and semantics.
"""
