"""Probing tasks: what each asks of a state."""
