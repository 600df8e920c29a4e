"""What an engine must provide: hold tables, run text that we wrote, hand back numbers.

Aggregates and public rows leave an engine; bounded rows do for a learner that looks several times,
as far as the curator's own process. To add one, say ``Velox``:

1. A folder ``engines/velox/`` with ``dialect.py``, a :class:`Dialect`: the types in which columns
   are stored, how values are cleaned and compared, the engine's own hash and a SHA-256 of text, and
   a template for each function (``compile/standard`` has those of standard SQL). Guarantee: no text
   of it fails on any row, and equal values give equal results on every engine.
2. ``engine.py`` there, a class with the members of :class:`Engine`, and ``table(name)`` if the
   engine holds tables of its own: it gives an :class:`EngineTable`. ``engines/key_tables`` keeps
   tables of public keys for those that can hold any. Every setting on which an answer depends is
   pinned in the engine's own session, and what the engine says about a failure stays inside, since
   it may show a row.
3. The extra in ``pyproject.toml``, the name in ``discreet/__init__``, and a ``Maker`` in
   ``tests/relational/conformance/engines.py``: the suite there compares every question with DuckDB,
   cell by cell, and runs the neighbours. ``choose.py`` needs a line only for an engine that is to
   be taken when none is named; a project file can name it once ``curator/project/locations`` reads
   how to connect.

Nothing else asks which engine it is: plans, bounding and statements see this protocol alone.

Source: contract, "What may be seen", "Numbers"; 004d:F21. Proof: ``proofs/engines.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.relational.bounding.hashing import Hashing
from discreet.relational.compile.dialect import Dialect
from discreet.relational.schema.sources import Fingerprint, TableSource
from discreet.relational.types.data_type import DataType


class Engine(Protocol):
    """Runs SELECT statements over attached tables."""

    @property
    def dialect(self) -> Dialect:
        """How its SQL is written."""

    @property
    def hashing(self) -> Hashing:
        """By which hash bounding chooses the rows that are kept, not how many."""

    def attach(self, name: str, source: TableSource) -> dict[str, str]:
        """Make the rows of ``source`` available; the stored type of each column.

        A source that the engine cannot read is refused here (``engine_cannot_read``).
        """

    def lock(self) -> None:
        """After the last ``attach``: no other file, no setting, no extension from here on."""

    def place(self, name: str) -> str:
        """How an attached table is written in a FROM clause."""

    def columns(self, name: str) -> dict[str, str]:
        """The stored type of each column of an attached table as it is now."""

    def contents(self, name: str) -> object:
        """What tells contents of a public table that lies in the engine apart, as they are now."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Statements run inside see one state of the tables, where the engine can do that.

        Keys named inside stay until the end. Inside another one it is part of that.
        """

    def keys(self, entries: Sequence[tuple[object, ...]], kinds: Sequence[DataType]) -> str:
        """A table of public keys: ``code`` (0, 1, ...) and the values ``v0``, ``v1``, ..."""

    def crowd(self, tables: Sequence[str], rows: str, limit: int) -> str:
        """Of the rows named ``rows``, all of everybody ``o`` who has more than ``limit``.

        Rows of others may be among them: giving ``rows`` back is always right. How many rows the
        private ``tables`` hold may decide how it is written, and so the time, and nothing else:
        it is asked after the charge, and never shown.
        """

    def numbers(self, text: str) -> list[NDArray[np.int64]]:
        """Run a SELECT whose columns are all 64-bit integers without NULL."""

    def batches(self, text: str) -> Iterator[list[NDArray[np.int64]]]:
        """Run a SELECT whose columns are integers of 32 or 64 bits without NULL, many rows at once.

        For the curator's own process alone: these are people's rows, clamped and bounded, for a
        learner that is paid for. It is run once, and read to its end inside a ``snapshot``.
        """

    def keyed(self, text: str) -> list[NDArray[Any]]:
        """Run a SELECT of key values and, last, a 64-bit count; one array for each column.

        For the curator's own process alone: keys are private until a rule names them. Text comes
        as objects, whole numbers as int64, days and moments as datetime64; masked where NULL.
        """

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """Run a SELECT over public tables and fetch its rows."""

    def vacant(self) -> Engine:
        """This engine if no curator has it yet, else one like it with tables of its own.

        So one engine object may be given to several curators, whose tables, keys and questions
        do not meet.
        """

    def close(self) -> None:
        """Let go of everything."""


@dataclass(frozen=True)
class EngineTable(TableSource):
    """A table or view that lies in an engine already: ``postgres.table("clinic.visits")``."""

    engine: Engine
    name: str
    live: ClassVar[bool] = True

    def fingerprint(self) -> Fingerprint | None:
        """None: an engine is asked for ``columns`` and ``contents`` instead."""
        return None
