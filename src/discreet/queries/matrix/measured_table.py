"""A weighted table by some attributes, some of its axes contrasted, in whole numbers.

An axis of two values is contrasted by the one row (1, -1), one of n > 2 values by n I - 11ᵀ. Such a
C has CᵀC = κ P with P the centring, κ = 2 or n², and all its columns have equal norms: L1 1 or
2 (n - 1), squared L2 1 or n (n - 1). So every record moves a table by the same amount.

Source: 004b:A4, A7. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.matrix.exact import roomy
from discreet.queries.synopses.marginal_synopsis import Places, subsets

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Contrast:
    """The integer contrasts of an axis with ``size`` values."""

    size: int

    @cached_property
    def matrix(self) -> Wholes:
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
            len(Contrast(size).matrix) if place in self.contrasted else size
            for place, size in self._axes()
        )

    def _axes(self) -> Iterator[tuple[int, int]]:
        return zip(self.places, self.sizes, strict=True)

    def _contrasts(self) -> Iterator[tuple[int, Contrast]]:
        for axis, (place, size) in enumerate(self._axes()):
            if place in self.contrasted:
                yield axis, Contrast(size)

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
                part = Contrast(size)
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
        part = Contrast(fewest)
        return 2 * (self.l2_squared - self.l2_squared // part.l2_squared * part.between)

    def told(self) -> Iterator[tuple[Places, float]]:
        """Each residual that the table tells, and its precision at noise of variance one."""
        kappa = math.prod(each.kappa for _, each in self._contrasts())
        for residual in subsets(self.places):
            if self.contrasted <= set(residual):
                spread = math.prod(size for place, size in self._axes() if place not in residual)
                yield residual, self.weight**2 * kappa / spread

    def measure(self, counts: Wholes) -> Wholes:
        """The exact numbers, from counts by these axes."""
        table = self.weight * roomy(counts, moved=self.l1)
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
