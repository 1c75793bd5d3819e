"""What can be said at the front door: one file per subcommand of `headcount`.

A command turns words into settings, calls one analysis or one pipeline, and says what came
of it. It computes nothing itself. `cli.py` holds the table of commands and imports a file
of this folder only when its command is called, so that `headcount --help` answers at once.
"""
