"""The built-in corpus: a synchronous English-German grammar with a complete annotation.

Sentences are drawn from a seed, so that there is nothing to download, and every sentence
carries the truth about itself on both sides: words, syntax, senses, roles and alignment.
Findings of an analysis on this corpus can therefore be checked, not only admired.
"""
