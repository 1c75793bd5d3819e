"""What is shown: figures, tables and the page of a run.

Reports read Results and nothing else. No score is computed here that a Result does not
hold, so that every number on the page stands in a CSV beside it as well.

`page.py` puts the page together, `sections/` holds one file for every section of it,
`drawing/` the charts, and `figures.py` the same figures for papers.
"""
