"""Sessions below a curator: a child with a budget of its own, and a part of a table."""

from __future__ import annotations

from discreet.curator.context import Context
from discreet.curator.session import Session


class Child(Session):
    """A session with a budget of its own, analysts of its own and a history of its own."""

    def __init__(self, context: Context, name: str) -> None:
        """Ask within what was granted under ``name``."""
        super().__init__(context)
        self.name = name

    def __repr__(self) -> str:
        """Its name and what remains."""
        return f"Child({self.name!r}; remaining={self.remaining})"


class Part(Session):
    """A session about one part of a table."""

    def __init__(self, context: Context, value: object) -> None:
        """Ask about the part of ``value``."""
        super().__init__(context)
        self.value = value

    def __repr__(self) -> str:
        """Which part, and what remains."""
        return f"Part({self.value!s}; remaining={self.remaining})"
