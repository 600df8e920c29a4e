"""Strategies for marginals: tables of several weights, measured together.

A table counts by some attributes, some of its axes contrasted, in whole numbers. An axis of two
values is contrasted by the one row (1, -1), one of n > 2 values by n I - 11ᵀ. Such a C has
CᵀC = κ P with P the centring, κ = 2 or n², and all its columns have equal norms: L1 1 or 2 (n - 1),
squared L2 1 or n (n - 1). So every record moves a table by the same amount, the sensitivity of a
strategy is a sum over its tables, exactly, and a record's cell of the universe is never looked for.

A table of weight w by the axes S tells the residual A, contrasted ⊆ A ⊆ S, with precision
w² ∏_{contrasted} κ_i / ∏_{S - A} n_i per unit of noise variance. Residuals are orthogonal, so the
best linear unbiased estimate of each is the mean of what tables say, weighted by precision.

Source: 004b:A4, A7; 004d:F23. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.matrix.measuring import exact_integers
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.workload import Places, subsets

_MOST_PATTERNS = 1 << 10
"""Ways in which two records can agree, up to which the worst of them is looked for."""


@dataclass(frozen=True)
class AxisContrast:
    """The integer contrasts of an axis with ``size`` values."""

    size: int

    @cached_property
    def matrix(self) -> Ints:
        """One row for two values, else one for each value."""
        if self.size == 2:
            return np.array([[1, -1]], dtype=np.int64)
        return self.size * np.eye(self.size, dtype=np.int64) - 1

    @property
    def kappa(self) -> int:
        """What the Gram matrix is the centring times of."""
        return 2 if self.size == 2 else self.size**2

    @property
    def l1(self) -> int:
        """The L1 norm of every column."""
        return 1 if self.size == 2 else 2 * (self.size - 1)

    @property
    def l2_squared(self) -> int:
        """The squared L2 norm of every column."""
        return 1 if self.size == 2 else self.size * (self.size - 1)

    @property
    def between(self) -> int:
        """The scalar product of two different columns."""
        return -1 if self.size == 2 else -self.size


@dataclass(frozen=True)
class MeasuredTable:
    """Counts by the axes ``places`` of these ``sizes``, some contrasted, times ``weight``."""

    places: Places
    sizes: tuple[int, ...]
    contrasted: frozenset[int]
    weight: int

    def __post_init__(self) -> None:
        """Refuse weights that would take away from the sensitivity, and odd places."""
        object.__setattr__(self, "weight", count("weight", self.weight))
        for size in self.sizes:
            count("size", size)
        if len(set(self.places)) != len(self.sizes) or not self.contrasted <= set(self.places):
            raise InvalidParameter(
                code="strategy_misshapen",
                expectation="a size for each of the places, and contrasts among them",
                received=(self.places, self.sizes),
                remedy="Leave the strategy out, and one is found.",
            )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The measured numbers along each axis."""
        return tuple(
            len(AxisContrast(size).matrix) if place in self.contrasted else size
            for place, size in self._axes()
        )

    def _axes(self) -> Iterator[tuple[int, int]]:
        return zip(self.places, self.sizes, strict=True)

    def _contrasts(self) -> Iterator[tuple[int, AxisContrast]]:
        for axis, (place, size) in enumerate(self._axes()):
            if place in self.contrasted:
                yield axis, AxisContrast(size)

    @cached_property
    def l1(self) -> int:
        """What a record that comes or goes moves the table by."""
        return self.weight * math.prod(each.l1 for _, each in self._contrasts())

    @cached_property
    def l2_squared(self) -> int:
        """The same in the L2 norm, squared."""
        return self.weight**2 * math.prod(each.l2_squared for _, each in self._contrasts())

    def exchanged(self, agree: frozenset[int]) -> int:
        """The squared L2 distance between records that agree on these axes and no others."""
        within = self.weight**2
        for place, size in self._axes():
            if place in self.contrasted:
                part = AxisContrast(size)
                within *= part.l2_squared if place in agree else part.between
            elif place not in agree:
                within = 0
        return 2 * (self.l2_squared - within)

    def exchanged_at_most(self) -> int:
        """A bound on the same for any two records, reached for some.

        The scalar product is least if they differ on one contrasted axis, that of fewest values.
        """
        if not self.places:
            return 0
        fewest = min((each.size for _, each in self._contrasts()), default=None)
        if fewest is None:
            return 2 * self.l2_squared
        part = AxisContrast(fewest)
        return 2 * (self.l2_squared - self.l2_squared // part.l2_squared * part.between)

    @cached_property
    def residual_precisions(self) -> dict[Places, float]:
        """Each residual that the table tells, and its precision at noise of variance one."""
        kappa = math.prod(each.kappa for _, each in self._contrasts())
        found = {}
        for residual in subsets(self.places):
            if self.contrasted <= set(residual):
                spread = math.prod(size for place, size in self._axes() if place not in residual)
                found[residual] = self.weight**2 * kappa / spread
        return found

    def measure(self, counts: Ints) -> Ints:
        """The exact numbers, from counts by these axes."""
        table = self.weight * exact_integers(counts, moved=self.l1)
        for axis, part in self._contrasts():
            table = np.moveaxis(np.tensordot(part.matrix, table, (1, axis)), 0, axis)
        return table

    def residual(self, measured: Floats, places: Places) -> Floats:
        """What the measured numbers say about a residual that the table tells."""
        table = measured / self.weight
        for axis, part in self._contrasts():
            back = part.matrix.T / part.kappa
            table = np.moveaxis(np.tensordot(back, table, (1, axis)), 0, axis)
        gone = tuple(axis for axis, place in enumerate(self.places) if place not in places)
        table = np.asarray(table.sum(axis=gone))
        for axis, place in enumerate(places):
            if place not in self.contrasted:
                table = table - table.mean(axis=axis, keepdims=True)
        return table


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
            for residual, precision in table.residual_precisions.items():
                found[residual] = found.get(residual, 0.0) + precision
        return dict(sorted(found.items(), key=lambda pair: (len(pair[0]), pair[0])))

    @property
    def measurements(self) -> int:
        """How many numbers are measured."""
        return sum(math.prod(table.shape) for table in self.tables)

    @cached_property
    def largest_attribute_sets(self) -> tuple[Places, ...]:
        """The largest sets of attributes: all tables are sums of counts by these."""
        largest: list[Places] = []
        for places in sorted({t.places for t in self.tables}, key=len, reverse=True):
            if not any(set(places) <= set(known) for known in largest):
                largest.append(places)
        return tuple(largest)

    def measure(self, counts: Mapping[Places, Ints]) -> Ints:
        """The exact numbers of all tables, flat, from counts by the largest sets."""
        parts = []
        for table in self.tables:
            source = next(
                known for known in self.largest_attribute_sets if set(table.places) <= set(known)
            )
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
            for residual, precision in table.residual_precisions.items():
                share = precision / self.precisions[residual]
                said = share * table.residual(part, residual)
                found[residual] = found[residual] + said if residual in found else said
            start = end
        return {places: found[places] for places in self.precisions}


def _chosen(places: list[int], bits: tuple[bool, ...]) -> set[int]:
    return {place for place, bit in zip(places, bits, strict=True) if bit}
