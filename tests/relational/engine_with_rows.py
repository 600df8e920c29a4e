"""Where the rows of a test lie: an engine, and a way to bring a frame into it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

import discreet as dp
from discreet.relational.bounding.hashing import NATIVE, Hashing
from discreet.relational.engines.engine import Engine


class EngineWithRows(Protocol):
    """An engine with tables of its own."""

    @property
    def engine(self) -> Engine:
        """The engine."""

    def source(self, frame: pl.DataFrame) -> object:
        """What ``dp.table`` takes for the rows of a frame, once they lie here."""

    def close(self) -> None:
        """Remove what was brought in; the engine itself is closed by whoever uses it."""


@dataclass
class DuckDBWithRows:
    """Frames are read where they are."""

    hashing: Hashing = NATIVE
    threads: int = 1
    engine: Engine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = dp.DuckDB(threads=self.threads, hashing=self.hashing)

    def source(self, frame: pl.DataFrame) -> object:
        return frame

    def close(self) -> None:
        """Nothing was brought in."""
