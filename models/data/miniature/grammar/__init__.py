"""From a description to both sides: phrases, clauses, word order."""
