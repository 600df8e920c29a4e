"""What the curator needs of an engine: hold tables, run text that we wrote, hand back numbers.

Only aggregates and public rows leave an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.relational.dialect import Dialect
from discreet.relational.sources import Source


class Engine(Protocol):
    """Runs SELECT statements over attached tables."""

    @property
    def dialect(self) -> Dialect:
        """How its SQL is written."""

    def attach(self, name: str, source: Source) -> dict[str, str]:
        """Make the rows of ``source`` available; the stored type of each column."""

    def lock(self) -> None:
        """After the last ``attach``: no other file, no setting, no extension from here on."""

    def place(self, name: str) -> str:
        """How an attached table is written in a FROM clause."""

    def keys(self, entries: Sequence[tuple[object, ...]]) -> str:
        """A table of public keys: ``code`` (0, 1, ...) and the values ``v0``, ``v1``, ..."""

    def numbers(self, text: str) -> list[NDArray[np.int64]]:
        """Run a SELECT whose columns are all 64-bit integers without NULL."""

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """Run a SELECT over public tables and fetch its rows."""

    def close(self) -> None:
        """Let go of everything."""
