"""From noisy measurements to estimated counts: post-processing, at no charge.

Source: 004b:A4, A6, A17.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, positive
from discreet.queries.matrix.known_total import KnownTotal
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.workload import apply_each

MOST_CELLS = 1 << 20
"""Cells up to which counts are fitted iteratively."""


class Reconstruction(Protocol):
    """Estimates counts from the measurements of a product strategy, in records."""

    def require(self, cells: int) -> None:
        """Refuse more cells than there is time for, before anything is spent."""

    def counts(self, strategy: ProductStrategy, measured: Floats, size: RecordCount) -> Floats:
        """The counts, with one axis for each factor of the strategy."""


@dataclass(frozen=True)
class LeastSquares:
    """The counts whose measurements are nearest; a public total is kept.

    Unbiased: the expected error that mechanisms state is that of this reconstruction. Estimates
    may be negative.

    Assumptions: measurements were released, with noise of one law that is centred at zero.

    Guarantee: post-processing: no event of its own.

    Source: 004b:A4.
    """

    def require(self, cells: int) -> None:
        """Any number: the solution is a product of small ones."""

    def counts(self, strategy: ProductStrategy, measured: Floats, size: RecordCount) -> Floats:
        """In closed form, an attribute at a time."""
        if isinstance(size, PublicCount) and len(strategy.factors) == 1:
            (factor,) = strategy.factors
            return KnownTotal.beside(factor).estimated(measured, size.records)
        solvers = [partial(np.tensordot, f.pseudoinverse, axes=1) for f in strategy.factors]
        found = apply_each(solvers, measured)
        beside = strategy.beside_total(size)
        if isinstance(size, PublicCount) and beside.total_known:
            return beside.kept_total(found, size.records)
        return found


@dataclass(frozen=True)
class NonNegative:
    """The counts of no cell below zero whose measurements are nearest; a public total is kept.

    Biased: an empty cell whose estimate has standard deviation s comes out s/√(2π) too large under
    Gaussian noise (b/2 under Laplace noise of scale b, measured by itself), and sums over many
    small cells collect these biases; a public total moves them to the large cells, downwards. The
    squared distance between true and fitted measurements is never larger than without the
    constraint, so the error of the whole falls; that of a single query may rise. Stated errors
    remain those of least squares.

    Solved by accelerated projected gradients until an iteration moves the counts by less than
    ``tolerance`` of their length, or ``iterations`` are done.

    Assumptions: measurements were released; counts are never negative.

    Guarantee: post-processing: no event of its own.

    Source: 004b:A17.
    """

    iterations: int = 500
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        """Refuse no iterations, and a tolerance that is not positive."""
        object.__setattr__(self, "iterations", count("iterations", self.iterations))
        positive("tolerance", self.tolerance)

    def require(self, cells: int) -> None:
        """At most 2**20 cells."""
        if cells > MOST_CELLS:
            raise InvalidParameter(
                code="universe_too_large",
                expectation=f"at most {MOST_CELLS} cells for NonNegative",
                received=cells,
                remedy="Use reconstruction=LeastSquares(), fewer attributes, or coarser bins.",
            )

    def counts(self, strategy: ProductStrategy, measured: Floats, size: RecordCount) -> Floats:
        """Iterate from the least-squares solution."""
        total = float(size.records) if isinstance(size, PublicCount) else None
        grams = [factor.rows.T @ factor.rows for factor in strategy.factors]
        slope = math.prod(float(np.linalg.eigvalsh(gram)[-1]) for gram in grams)
        forward = [partial(np.tensordot, gram, axes=1) for gram in grams]
        back = [partial(np.tensordot, factor.rows.T, axes=1) for factor in strategy.factors]
        target = apply_each(back, measured)
        found = projected(LeastSquares().counts(strategy, measured, size), total)
        ahead, momentum = found, 1.0
        for _ in range(self.iterations):
            gradient = (apply_each(forward, ahead) - target) / slope
            fresh = projected(ahead - gradient, total)
            moved = fresh - found
            # Momentum that points uphill is dropped.
            if float(((ahead - fresh) * moved).sum()) > 0:
                momentum = 1.0
            larger = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            ahead = fresh + (momentum - 1) / larger * moved
            found, momentum = fresh, larger
            if np.linalg.norm(moved) <= self.tolerance * max(float(np.linalg.norm(found)), 1.0):
                break
        return found


def projected(table: Floats, total: float | None) -> Floats:
    """The nearest table without negative entries, of the given total if there is one."""
    if total is None:
        return np.maximum(table, 0)
    ranked = np.sort(table.ravel())[::-1]
    excess = (np.cumsum(ranked) - total) / np.arange(1, ranked.size + 1)
    level = excess[np.flatnonzero(ranked > excess)[-1]]
    return np.asarray(np.maximum(table - level, 0))
