"""Sums of products of columns in the engine, in exact integers, for learners.

Engines multiply and add up the whole numbers that bounded columns are made of, over the rows of
each person that count; a missing value adds nothing, as the middle would.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.source import Moments, Products
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.execute.bounded_columns import BoundedColumns
from discreet.relational.execute.product_sums import ProductSums
from discreet.relational.limits.resources import require_numbers, require_statement

UNIT = 72
"""Sums of products come in steps of 2**-72 of what one row may add."""


@dataclass(frozen=True)
class TableMoments:
    """Sums of products of (1, columns) over the rows of a question; a ``MomentSource`` in units.

    Contract: one object serves one release.
    """

    columns: BoundedColumns
    products: Products

    @classmethod
    def of(cls, columns: BoundedColumns, products: Products) -> TableMoments:
        """The sums that a learner reads of some columns; refused where they are too many."""
        made = cls(columns, products)
        require_numbers(columns.keys, [CountRows(None) for _ in made._pairs])
        return made

    @property
    def records(self) -> int:
        """The most rows of one unit that count."""
        return self.columns.records

    def text(self) -> str:
        """What the engine would run, with a salt of zero."""
        return require_statement(self._sums(0).text)

    def moments(self) -> Moments:
        """The sums, in steps of 2**-72. Private: only noise may follow."""
        columns = self.columns
        with columns.engine.snapshot():
            rows, there, sums = self._sums(columns.salt).exact()
        width = 1 + len(columns.totals)
        total = np.zeros((len(rows), width, width), dtype=object)
        total[:, 0, 0] = [int(each) << UNIT for each in rows]
        for (i, j), found in zip(self._pairs, sums, strict=True):
            total[:, i, j] = total[:, j, i] = self._in_units(found, i, j)
        return Moments(total, np.stack(there, axis=1))

    def _in_units(self, found: NDArray[Any], i: int, j: int) -> list[int]:
        """Whole steps as steps of 2**-72 of the most that a row adds, cut downward."""
        most = [1, *(total.steps() for total in self.columns.totals)]
        return [(int(each) << UNIT) // (most[i] * most[j]) for each in found]

    @cached_property
    def _pairs(self) -> tuple[tuple[int, int], ...]:
        return self.products.pairs(len(self.columns.totals))

    def _sums(self, salt: int) -> ProductSums:
        of = self.columns
        return ProductSums.over(of.query, of.totals, self._pairs, of.person, of.engine, salt=salt)
