"""The rows of a question in memory, for learners that look several times: clamped and bounded.

The engine clamps, rounds and bounds as it does for sums (``bounded_columns``); whole steps come
over in batches, and become doubles here. Nothing depends on how many there are but memory and time.

Source: contract, "Bounding inside the engine", "What may be seen". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.source import BoundedRows
from discreet.relational.aggregates.measures import Total
from discreet.relational.compile.compiler import Compiler
from discreet.relational.execute.bounded_columns import BoundedColumns
from discreet.relational.execute.exact_aggregation import _Run
from discreet.relational.execute.row_contributions import RowContributions
from discreet.relational.limits.resources import require_statement

MISSING = -(2**31 - 1)
"""Stands for NULL: contributions are at most 2**30 + 1 in size."""


@dataclass(frozen=True)
class RowSteps(_Run):
    """One statement: the cell of each row that counts, and its contributions in whole steps."""

    @classmethod
    def over(cls, columns: BoundedColumns, *, salt: int) -> RowSteps:
        """The statement under a salt."""
        compiler = Compiler.of(columns.engine, salt=salt)
        owned = columns.person is not None
        contributions = RowContributions(
            columns.query.rows,
            columns.query.keys,
            columns.totals,
            compiler,
            compiler.listed,
            owned=owned,
            told_apart=owned,
        )
        return cls(columns.query, columns.person, columns.engine, contributions, (), ())

    @cached_property
    def text(self) -> str:
        """A SELECT of the cell's number and of each column, 32 bits each, none of them NULL."""
        inside = self.contributions.placed(self.engine.dialect.code)
        if self.person is not None:
            inside = self._bounded()
        steps = [
            f"COALESCE(CAST(c{number} AS INTEGER), {MISSING}) AS s{number}"
            for number in range(len(self.measures))
        ]
        items = ", ".join(["CAST(cell AS INTEGER) AS cell", *steps])
        return f"SELECT {items} FROM ({inside}) AS q WHERE cell IS NOT NULL"

    def batches(self) -> Iterator[list[NDArray[np.int64]]]:
        """Cells and steps, some rows at a time."""
        return self.engine.batches(self.text)


@dataclass(frozen=True)
class TableRows:
    """The rows of a question as doubles within their bounds; a ``RowSource``.

    Contract: one object serves one release. ``targets`` columns, none or one, come before features;
    where rows have labels, the target is the number of the label's cell.
    """

    columns: BoundedColumns
    targets: int = 0

    @property
    def records(self) -> int:
        """The most rows of one unit that are handed over."""
        return self.columns.records

    def text(self) -> str:
        """What the engine would run, with a salt of zero."""
        return require_statement(RowSteps.over(self.columns, salt=0).text)

    def bounded_rows(self) -> BoundedRows:
        """The rows. Private: only what an event is paid for may follow.

        Numerics: the steps of a column times a power of two, and clamped: exact for numbers on the
        grid that lie within the bounds, else the nearest on it.
        """
        of = self.columns
        parts: list[list[NDArray[np.generic]]] = [[] for _ in range(1 + len(of.totals))]
        with of.engine.snapshot():
            for cell, *steps in RowSteps.over(of, salt=of.salt).batches():
                parts[0].append(cell.astype(np.int64))
                for found, total, part in zip(steps, of.totals, parts[1:], strict=True):
                    part.append(_values(found, total))
        rows = sum(map(len, parts[0]))
        features = np.empty((len(of.totals) - self.targets, rows))
        cells = np.concatenate([np.empty(0, dtype=np.int64), *parts[0]])
        target = np.concatenate([np.empty(0), *parts[1]]) if self.targets else None
        for place, line in enumerate(features, start=1 + self.targets):
            np.concatenate(parts[place] or [np.empty(0)], out=line)
            parts[place].clear()  # so that there is one copy, and one column of another
        return BoundedRows(features.T, cells if of.query.keys.blocks else target)


def _values(steps: NDArray[np.int64], total: Total) -> Floats:
    """Numbers from whole steps, within the bounds; NaN where there is none."""
    whole = steps.astype(np.int64) + total.centre_steps()
    found: Floats = np.clip(whole * 2.0**total.exponent, total.low, total.high)
    found[steps == MISSING] = np.nan
    return found
