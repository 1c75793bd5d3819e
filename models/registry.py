"""Families of interchangeable parts, chosen by name.

A family (metrics, position encodings, norms, ...) is one `Registry`; a member joins it with
a decorator in a file of its own. Command-line choices, help and documentation are read
from the registry, so a new member needs no other line anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from .errors import UsageError, did_you_mean

Member = TypeVar("Member")


class Registry(Generic[Member]):
    """Members by name, in the order in which they joined."""

    def __init__(self, family: str) -> None:
        self.family = family
        self._members: dict[str, Member] = {}

    def __call__(self, name: str) -> Callable[[Member], Member]:
        """Decorate a member: `@metric("confidence")`."""

        def join(member: Member) -> Member:
            if name in self._members:
                raise ValueError(f"{self.family} '{name}' is registered twice")
            self._members[name] = member
            return member

        return join

    def __getitem__(self, name: str) -> Member:
        if name not in self._members:
            raise UsageError(f"unknown {self.family} '{name}'" + did_you_mean(name, self._members))
        return self._members[name]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def summary(self, name: str) -> str:
        """Return the first line of a member's docstring, for help texts."""
        return (self[name].__doc__ or "").strip().splitlines()[0]
