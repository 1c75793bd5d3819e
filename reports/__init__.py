"""What is shown: figures, tables and the page of a run.

Reports read Results and nothing else. No number is computed here that a Result does not
hold, so that every number on the page stands in a CSV beside it as well.
"""
