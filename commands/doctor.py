"""`headcount doctor`."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Show versions, devices, data found, and what is missing."""
