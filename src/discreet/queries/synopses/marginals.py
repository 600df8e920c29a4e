"""Marginals of one table, measured with independent noise, made to agree by least squares.

A marginal over axes S holds everything that marginals over subsets of S hold. Its part that is
new at A ⊆ S, the residual of A, is the marginal over A with every axis centred. Residuals of
different A are orthogonal, and noise of equal variance in all cells stays so within each of them:
so the best linear unbiased estimate of residual A is the mean of what each measured S ⊇ A says
about it, weighted by precision, and nothing larger than a marginal is ever inverted.

With n_i values on axis i, a marginal over S with variance v tells residual A with variance
v ∏_{i in S - A} n_i; a cell of the estimated marginal over T has variance

    Σ_{A ⊆ T} v_A ∏_{i in A} (1 - 1/n_i) / ∏_{i in T - A} n_i².

Source: 004d:D21; 004b:A11 (least squares after measuring). Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.core.arrays import Floats

Axes = frozenset[str]

MOST_AXES = 12
"""A marginal over d axes has 2**d residuals."""


@dataclass(frozen=True)
class Marginals:
    """Marginals over sets of axes, of ``sizes`` values each. Every record lies in one cell."""

    sizes: Mapping[str, int]
    sets: tuple[Axes, ...]

    @cached_property
    def residuals(self) -> tuple[Axes, ...]:
        """All subsets of all sets, smallest first."""
        found = {subset for axes in self.sets for subset in subsets(axes)}
        return tuple(sorted(found, key=lambda axes: (len(axes), sorted(axes))))

    def cells(self, axes: Axes) -> int:
        """How many cells a marginal has."""
        return math.prod(self.sizes[axis] for axis in axes)

    @cached_property
    def telling(self) -> Floats:
        """Precision about each residual (rows) that one unit of precision of each set gives."""
        found = np.zeros((len(self.residuals), len(self.sets)))
        for row, residual in enumerate(self.residuals):
            for column, axes in enumerate(self.sets):
                if residual <= axes:
                    found[row, column] = 1 / self.cells(axes - residual)
        return found

    @cached_property
    def carrying(self) -> Floats:
        """What a unit of variance of each residual (columns) adds to a cell of each set."""
        found = np.zeros((len(self.sets), len(self.residuals)))
        for row, axes in enumerate(self.sets):
            for column, residual in enumerate(self.residuals):
                if residual <= axes:
                    inside = math.prod(1 - 1 / self.sizes[axis] for axis in residual)
                    found[row, column] = inside / self.cells(axes - residual) ** 2
        return found

    def variances(self, measured: Sequence[float]) -> Floats:
        """Variance of a cell of each set after least squares, from those of the measured ones."""
        precision = self.telling @ (1 / np.asarray(measured, dtype=np.float64))
        return np.asarray(self.carrying @ (1 / precision))

    def estimate(self, tables: Sequence[Floats], measured: Sequence[float]) -> list[Floats]:
        """The estimates of all sets, which agree on what they share.

        ``tables`` have one dimension for each axis of their set, in the order of :func:`ordered`.
        """
        weights = self._weights(measured)
        known: dict[Axes, Floats] = {}
        for row, residual in enumerate(self.residuals):
            parts = [
                weights[row, column] * _centred(_summed(table, axes, residual))
                for column, (table, axes) in enumerate(zip(tables, self.sets, strict=True))
                if residual <= axes
            ]
            known[residual] = np.sum(parts, axis=0)
        return [self._assembled(axes, known) for axes in self.sets]

    def terms(self, wanted: int, measured: Sequence[float]) -> Iterator[tuple[int, int, float]]:
        """How a cell of one set depends on the measured cells: (set, how many cells, weight).

        The weight depends only on which of the axes shared by both sets agree, so all cells of a
        set have the same law.
        """
        weights, target = self._weights(measured), self.sets[wanted]
        rows = {residual: row for row, residual in enumerate(self.residuals)}
        for column, axes in enumerate(self.sets):
            shared = ordered(axes & target)
            for agree in subsets(axes & target):
                weight = 0.0
                for residual in subsets(frozenset(shared)):
                    factor = math.prod(
                        (1.0 if axis in agree else 0.0) - 1 / self.sizes[axis] for axis in residual
                    )
                    weight += (
                        weights[rows[residual], column] * factor / self.cells(target - residual)
                    )
                count = math.prod(self.sizes[axis] - 1 for axis in shared if axis not in agree)
                yield column, count * self.cells(axes - target), weight

    def _weights(self, measured: Sequence[float]) -> Floats:
        """The share of each set in the estimate of each residual."""
        precision = self.telling / np.asarray(measured, dtype=np.float64)
        return np.asarray(precision / precision.sum(axis=1, keepdims=True))

    def _assembled(self, axes: Axes, known: Mapping[Axes, Floats]) -> Floats:
        order = ordered(axes)
        shape = tuple(self.sizes[axis] for axis in order)
        total = np.zeros(shape)
        for residual in subsets(axes):
            part = np.asarray(known[residual])
            spread = part.reshape([self.sizes[a] if a in residual else 1 for a in order])
            total += spread / self.cells(axes - residual)
        return total


def ordered(axes: Axes) -> tuple[str, ...]:
    """The axes of a set in the order of the dimensions of its table."""
    return tuple(sorted(axes))


def subsets(axes: Axes) -> Iterator[Axes]:
    """All subsets, smallest first."""
    order = ordered(axes)
    for size in range(len(order) + 1):
        for chosen in combinations(order, size):
            yield frozenset(chosen)


def _summed(table: Floats, axes: Axes, kept: Axes) -> Floats:
    gone = tuple(place for place, axis in enumerate(ordered(axes)) if axis not in kept)
    return np.asarray(np.asarray(table, dtype=np.float64).sum(axis=gone))


def _centred(table: Floats) -> Floats:
    for place in range(table.ndim):
        table = table - table.mean(axis=place, keepdims=True)
    return table
