"""Strategies for marginals: tables of several weights, measured together.

Every record moves a table by the same amount, so the sensitivity of a strategy is a sum over its
tables, exactly, and a record's cell of the universe is never looked for.

A table of weight w by the axes S tells the residual A, contrasted ⊆ A ⊆ S, with precision
w² ∏_{contrasted} κ_i / ∏_{S - A} n_i per unit of noise variance. Residuals are orthogonal, so the
best linear unbiased estimate of each is the mean of what tables say, weighted by precision.

Source: 004b:A4, A7; 004d:F23. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.queries.matrix.measured_table import MeasuredTable
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.synopses.marginal_synopsis import Places

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

_MOST_PATTERNS = 1 << 10
"""Ways in which two records can agree, up to which the worst of them is looked for."""


@dataclass(frozen=True)
class MarginalStrategy:
    """Tables that are measured together, with noise of one scale.

    Contract: every record is counted in at most one cell of each table.
    """

    tables: tuple[MeasuredTable, ...]

    def moved_l1(self, size: RecordCount) -> int:
        """What one record moves all numbers by; one exchanged for another, at most."""
        if isinstance(size, PublicCount):
            return 2 * sum(table.l1 for table in self.tables if table.places)
        return sum(table.l1 for table in self.tables)

    def moved_l2_squared(self, size: RecordCount) -> int:
        """The same in the L2 norm, squared; over few attributes exact for exchanges too."""
        if not isinstance(size, PublicCount):
            return sum(table.l2_squared for table in self.tables)
        axes = dict(pair for t in self.tables for pair in zip(t.places, t.sizes, strict=True))
        # Records always agree on an axis of one value.
        free = [place for place, values in axes.items() if values > 1]
        if 1 << len(free) > _MOST_PATTERNS:
            return sum(table.exchanged_at_most() for table in self.tables)
        fixed = set(axes) - set(free)
        return max(
            sum(table.exchanged(frozenset(fixed | _chosen(free, bits))) for table in self.tables)
            for bits in product((False, True), repeat=len(free))
        )

    @cached_property
    def precisions(self) -> dict[Places, float]:
        """Precision of every residual at noise of variance one."""
        found: dict[Places, float] = {}
        for table in self.tables:
            for residual, precision in table.told():
                found[residual] = found.get(residual, 0.0) + precision
        return dict(sorted(found.items(), key=lambda pair: (len(pair[0]), pair[0])))

    @property
    def measurements(self) -> int:
        """How many numbers are measured."""
        return sum(math.prod(table.shape) for table in self.tables)

    @cached_property
    def counted(self) -> tuple[Places, ...]:
        """The largest sets of attributes: all tables are sums of counts by these."""
        largest: list[Places] = []
        for places in sorted({t.places for t in self.tables}, key=len, reverse=True):
            if not any(set(places) <= set(known) for known in largest):
                largest.append(places)
        return tuple(largest)

    def measure(self, counts: Mapping[Places, Wholes]) -> Wholes:
        """The exact numbers of all tables, flat, from counts by the largest sets."""
        parts = []
        for table in self.tables:
            source = next(known for known in self.counted if set(table.places) <= set(known))
            gone = tuple(axis for axis, place in enumerate(source) if place not in table.places)
            parts.append(table.measure(np.asarray(counts[source].sum(axis=gone))).ravel())
        return np.concatenate(parts)

    def reconstruct(self, measured: NDArray[np.generic]) -> dict[Places, Floats]:
        """All residuals by weighted least squares."""
        values = np.asarray(measured, dtype=np.float64)
        found: dict[Places, Floats] = {}
        start = 0
        for table in self.tables:
            end = start + math.prod(table.shape)
            part = values[start:end].reshape(table.shape)
            for residual, precision in table.told():
                share = precision / self.precisions[residual]
                said = share * table.residual(part, residual)
                found[residual] = found[residual] + said if residual in found else said
            start = end
        return {places: found[places] for places in self.precisions}


def _chosen(places: list[int], bits: tuple[bool, ...]) -> set[int]:
    return {place for place, bit in zip(places, bits, strict=True) if bit}
