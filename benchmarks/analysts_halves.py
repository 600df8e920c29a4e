"""Conjunctions of bits whose rows over the cells are never written down.

A conjunction is a condition on the first half of the attributes and one on the other half, so that
its row is a product of two short ones: 256 numbers each for sixteen bits instead of 65 536. Equal
conjunctions are summed first. Whole numbers stay exact below 2**53, so games see what they would
see of a dense ``QuerySet``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.queries.analysts.query_set import QuerySet

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HalvedConjunctions(QuerySet):
    """A set of queries whose ``rows`` hold the places of each conjunction, then its values."""

    def __post_init__(self) -> None:
        """Rows have another form here."""
        assert len(self.rows) == self.shape.queries

    @cached_property
    def _kinds(self) -> tuple[NDArray[np.unsignedinteger], Ints]:
        kinds, where = np.unique(self.rows, axis=0, return_inverse=True)
        return kinds, where.ravel()

    @cached_property
    def _halves(self) -> tuple[Floats, Floats]:
        bits = len(self.shape.universe.shape)
        return self._half(0, bits // 2), self._half(bits // 2, bits)

    def _half(self, start: int, stop: int) -> Floats:
        """For each distinct conjunction, whether cells of these attributes fulfil its part."""
        kinds, _ = self._kinds
        cells = np.indices((2,) * (stop - start)).reshape(stop - start, -1)
        held = np.ones((len(kinds), cells.shape[1]))
        places, values = np.hsplit(kinds.astype(np.int64), 2)
        for place, value in zip(places.T, values.T, strict=True):
            inside = (place >= start) & (place < stop)
            held[inside] *= cells[place[inside] - start] == value[inside, None]
        return held

    def _totals(self, table: NDArray[np.floating] | NDArray[np.integer]) -> Floats:
        first, other = self._halves
        cube = np.asarray(table, dtype=np.float64).reshape(first.shape[1], other.shape[1])
        totals = np.einsum("kx,kx->k", first @ cube, other)
        return np.asarray(self.shape.levels * totals[self._kinds[1]])

    def sums(self, counts: NDArray[np.integer]) -> Ints:
        """Each query's sum of levels over all records."""
        return np.rint(self._totals(counts)).astype(np.int64)

    def means(self, table: NDArray[np.floating] | NDArray[np.integer]) -> Floats:
        """Each query's mean over a table of any positive weights."""
        return np.asarray(self._totals(table) / (self.shape.levels * np.sum(table)))

    def at(self, cells: Ints) -> Ints:
        """Each query's sum of levels over some cells, repeated as often as they are named."""
        first, other = self._halves
        high, low = np.divmod(cells, other.shape[1])
        found = np.einsum("kc,kc->k", first[:, high], other[:, low])
        return np.asarray(np.rint(self.shape.levels * found[self._kinds[1]]), dtype=np.int64)

    def along(self, weights: NDArray[np.floating]) -> Floats:
        """For each cell, the sum over queries of a weight times the level."""
        first, other = self._halves
        each = np.bincount(self._kinds[1], weights=weights, minlength=len(first))
        return np.asarray(self.shape.levels * ((first.T * each) @ other)).ravel()
