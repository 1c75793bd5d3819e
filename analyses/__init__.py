"""What is asked. One file per analysis; each is a pure function that gives a `Result`.

An analysis sees a translator only through the protocol in `models/translator.py`, asks one
question and answers it with tidy tables that state their units, how many sentences they
rest on, and where they came from. It draws nothing: `reports` shows what is found here.
Beside the analyses live the Result itself and the run folder that keeps Results, models and
the record of how they were made.
"""
