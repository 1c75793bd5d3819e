"""The words on both sides: their tables, what goes with what, and their inflection."""
