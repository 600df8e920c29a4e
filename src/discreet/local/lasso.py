"""Sparse tables of many attributes from noisy tables of few: LoPub's regression.

Tables of small sets of attributes are sums over cells of the table that is wanted. Of all tables
that nearly have these sums the lasso prefers one with few cells that are not empty, which is what
records of many attributes look like; the penalty is what noise and sampling alone would hardly pass
in any cell. Cells that it leaves are then fitted again without penalty. It is post-processing of
reports, and free.

Source: 004a:C16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.local.marginals import SplitMarginals, summed
from discreet.local.tally import Tally
from discreet.noise import SYSTEM, Source, uniform_integers

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
_MOST_CELLS = 1 << 18
_STEPS = 400
_CHANCES = 1 << 40


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A table of attributes: shares of its cells, none negative, adding up to one."""

    attributes: tuple[int, ...]
    shares: Floats

    @property
    def cells(self) -> int:
        """How many cells are not empty."""
        return int(np.count_nonzero(self.shares))

    def rows(self, size: int, randomness: Source = SYSTEM) -> Numbers:
        """Invented records with the shares of the table, one column for each attribute."""
        ends = np.floor(np.cumsum(self.shares.ravel()) * _CHANCES)
        ends[-1] = _CHANCES
        drawn = uniform_integers(_CHANCES, count("size", size), randomness)
        cells = np.searchsorted(ends, drawn, side="right")
        return np.stack(np.unravel_index(cells, self.shares.shape), axis=1).astype(np.int64)


def sparse_table(question: SplitMarginals, tally: Tally, attributes: Sequence[int]) -> SparseTable:
    """The sparse table of ``attributes`` that fits the sums known from ``question``'s sets."""
    wanted = tuple(attributes)
    shape = tuple(question.sizes[each] for each in wanted)
    if prod(shape) > _MOST_CELLS:
        raise InvalidParameter(
            code="local_marginals_too_large",
            expectation=f"tables of at most {_MOST_CELLS} cells",
            received=prod(shape),
            remedy="Ask for fewer attributes, or group their values.",
        )
    targets = _targets(question, tally, wanted)
    if {each for common, _, _ in targets for each in common} != set(wanted):
        raise InvalidParameter(
            code="local_attributes",
            expectation="attributes that the sets of this question cover",
            received=wanted,
            remedy="Add a set with every attribute that is to be in the table.",
        )
    log_cells = np.log(max(prod(shape), 2))
    penalty = sqrt(2 * log_cells * sum(error**2 for _, _, error in targets))
    first = _descended(targets, wanted, shape, penalty, np.ones(shape, dtype=np.bool_))
    found = _descended(targets, wanted, shape, 0.0, first > 0)
    total = found.sum()
    even = np.full(shape, 1 / prod(shape))
    return SparseTable(wanted, found / total if total > 0 else even)


Target = tuple[tuple[int, ...], Floats, float]


def _targets(question: SplitMarginals, tally: Tally, wanted: tuple[int, ...]) -> list[Target]:
    """What each set knows of the wanted attributes, with the standard error of one of its cells."""
    tables = question.tables(tally)
    found = []
    for chosen, part, own in zip(
        question.sets, question.oracle.parts, question.oracle.tallies(tally), strict=True
    ):
        common = tuple(each for each in wanted if each in chosen)
        if common:
            table = summed(tables[chosen], chosen, common)
            cells = prod(question.sizes[each] for each in chosen) / table.size
            sampled = float((table * (1 - table)).max())  # who answers for a set is a sample
            error = sqrt((part.oracle.variance * cells + sampled) / max(own.people, 1))
            found.append((common, table, error))
    return found


def _descended(
    targets: list[Target],
    wanted: tuple[int, ...],
    shape: tuple[int, ...],
    penalty: float,
    allowed: NDArray[np.bool_],
) -> Floats:
    """Accelerated descent of half the squared misfit plus penalty times the total, not negative."""
    curvature = sum(prod(shape) / table.size for _, table, _ in targets)
    now = ahead = np.where(allowed, 1 / prod(shape), 0.0)
    pace = 1.0
    for _ in range(_STEPS):
        slope = np.full(shape, penalty)
        for common, table, _ in targets:
            gap = summed(ahead, wanted, common) - table
            slope = slope + gap.reshape(
                [n if each in common else 1 for n, each in zip(shape, wanted, strict=True)]
            )
        after = np.where(allowed, np.maximum(ahead - slope / curvature, 0.0), 0.0)
        faster = (1 + sqrt(1 + 4 * pace**2)) / 2
        ahead = after + (pace - 1) / faster * (after - now)
        now, pace = after, faster
    return np.asarray(now)
