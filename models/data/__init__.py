"""Text on its way in: corpora, vocabularies, token files and batches.

Parallel text comes from a registry of corpora, is checked and refused with file, line and
remedy where it is wrong, becomes vocabulary entries with exact character offsets, lies on
disk as memory-mapped token files, and leaves as batches counted in tokens.
"""
