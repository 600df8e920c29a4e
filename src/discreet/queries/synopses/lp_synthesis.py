"""Synthetic data from noisy answers, by linear programming. Nothing is spent.

The distribution whose largest violation is least is found, then rounded to whole rows by largest
remainders, so that it stays a distribution and no answer moves by more than alpha.

Source: 000a:H5. Errata: rounding down loses mass, and moves answers by up to alpha, not alpha/|X|;
an infeasible program needs a fallback.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import probability
from discreet.queries.release_game import game_value
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

Floats = NDArray[np.float64]

_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Whole rows of synthetic data, and how far its distribution was from the answers."""

    universe: Universe
    rows: NDArray[np.int64]
    violation: float
    wanted: float

    @property
    def feasible(self) -> bool:
        """Whether some distribution is within the wanted error of all answers."""
        return self.violation <= self.wanted + _SLACK

    @property
    def distribution(self) -> Floats:
        """The share of each cell."""
        return np.asarray(self.rows / self.rows.sum())

    def answers(self, workload: Workload) -> Floats:
        """Means over the rows."""
        return workload.answers(self.distribution)

    def __str__(self) -> str:
        """What was found; says so where nothing fits the answers."""
        if self.feasible:
            return f"{self.rows.sum()} rows within {self.wanted:g} of all answers"
        return (
            f"{self.rows.sum()} rows; no data is within {self.wanted:g} of all answers, "
            f"these are within {self.violation:g}, the least possible"
        )


def synthesise(workload: Workload, means: ArrayLike, *, error: float) -> Synthetic:
    """Rows whose means are near noisy ones that are accurate to ``error``.

    Guarantee: each mean is within ``violation`` + ``error`` of the one given.
    """
    wanted = float(probability("error", error))
    given = np.asarray(means, dtype=np.float64)
    cells = workload.universe.size
    if given.shape != (workload.queries,) or not np.isfinite(given).all():
        raise InvalidParameter(
            code="answers_misfit",
            expectation=f"{workload.queries} finite means, one for each query",
            received=given.shape,
            remedy="Divide noisy counts by the number of records.",
        )
    best = game_value(workload, given)
    shares = np.maximum(best.distribution, 0)
    rows = whole_rows(shares / shares.sum(), math.ceil(cells / wanted))
    return Synthetic(workload.universe, rows, best.value, wanted)


def whole_rows(shares: Floats, total: int) -> NDArray[np.int64]:
    """Whole numbers in proportion that add up to ``total``: largest remainders get one more.

    >>> whole_rows(np.array([0.5, 0.25, 0.25]), 5).tolist()
    [3, 1, 1]
    """
    exact = shares * total
    rows = np.floor(exact).astype(np.int64)
    order = np.argsort(rows - exact, kind="stable")
    rows[order[: total - int(rows.sum())]] += 1
    return rows
