"""Records by their positions: what is counted where a universe has too many cells to list.

Whatever the form of the data, a tree asks only how many records lie in an interval of codes.

Source: 004b:A9; ``discreet.core.source``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Ints
from discreet.core.errors import InvalidParameter
from discreet.queries.record_count import PublicCount, RecordCount, count_records
from discreet.queries.trees.space_filling import Interleaving
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.universe import Universe


@dataclass(frozen=True, eq=False)
class Points:
    """A row of positions for each record: which value of each attribute, counted from zero.

    Positions outside a universe count as its nearest value. No records may be an empty list: a
    refusal would tell that there are none.

    Assumptions: rows are private; their number of attributes and the universe they are counted in
    are public.

    Guarantee: none: it is data, and only mechanisms may look at it.

    Source: 004b:A9.
    """

    positions: Ints

    def __init__(self, positions: ArrayLike) -> None:
        """Refuse what is no table of whole numbers."""
        table = np.asarray(positions)
        if table.shape == (0,):
            table = np.empty((0, 0), dtype=np.int64)
        if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer):
            raise InvalidParameter(
                code="points_misshapen",
                expectation="a row of whole positions for each record",
                received=(table.ndim, str(table.dtype)),
                remedy="Pass np.column_stack of the attributes' positions.",
            )
        object.__setattr__(self, "positions", np.asarray(table, dtype=np.int64))


Located = Counted | Points
"""Counts over a universe, or the records' positions in it."""


@dataclass(frozen=True, eq=False)
class Along:
    """How many records lie before each code."""

    codes: Ints
    before: Ints

    def between(self, first: Ints, last: Ints) -> Ints:
        """How many records have codes in the half-open intervals."""
        low, high = np.searchsorted(self.codes, first), np.searchsorted(self.codes, last)
        return np.asarray(self.before[high] - self.before[low])


def along(data: Located, universe: Universe, order: Interleaving, size: RecordCount) -> Along:
    """Records in the order of their codes; the number of records is checked where it is public."""
    if isinstance(data, Points):
        positions = inside(data.positions, universe)
        weights = np.ones(len(positions), dtype=np.int64)
    else:
        table = cell_counts(data, universe)
        filled = np.flatnonzero(table)
        weights = table[filled]
        positions = np.column_stack(np.unravel_index(filled, universe.shape)).astype(np.int64)
    if isinstance(size, PublicCount):
        count_records(size, weights, None)
    codes = order.codes(positions)
    ranks = np.argsort(codes, kind="stable")
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weights[ranks])])
    return Along(codes[ranks], before)


def inside(positions: Ints, universe: Universe) -> Ints:
    """Positions of the universe: those outside are moved to the nearest value, record by record.

    A refusal would tell whether anybody lies outside.
    """
    if positions.shape == (0, 0):
        return np.empty((0, len(universe.shape)), dtype=np.int64)
    if positions.shape[1] != len(universe.shape):
        raise InvalidParameter(
            code="points_misshapen",
            expectation=f"a column of positions for each of {list(universe.names)}",
            received=positions.shape[1],
            remedy="Keep the universe's order of attributes.",
        )
    return np.clip(positions, 0, np.asarray(universe.shape, dtype=np.int64) - 1)
