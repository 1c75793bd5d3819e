"""`python -m headcount`, the same as the command `headcount`."""

from .cli import main

main()
