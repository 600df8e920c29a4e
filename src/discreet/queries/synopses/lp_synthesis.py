"""Synthetic data from noisy answers, by linear programming. Nothing is spent.

The distribution whose largest violation is least is found, then rounded to whole rows by largest
remainders, so that it stays a distribution and no answer moves by more than alpha.

It is the value of the query release game: one player chooses a distribution over cells, the other a
query of the workload or its complement, and wins what the query says of the distribution less what
it says of the data. The value is zero, since the data itself may be played, and whatever loses at
most alpha is synthetic data that is right on all queries up to alpha.

Source: 000a:G9, H5. Errata: rounding down loses mass, and moves answers by up to alpha, not
alpha/|X|; an infeasible program needs a fallback.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import probability
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.workload.answers import shared_answers
from discreet.queries.workload.linear_query import query_of
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

_SLACK = 1e-9
_FALLBACK = 0.01
_MOST_ENTRIES = 1 << 24


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


@dataclass(frozen=True, eq=False)
class Played:
    """A distribution and what the best query against it wins."""

    distribution: Floats
    value: float


def game_value(workload: Workload, means: ArrayLike) -> Played:
    """The best distribution, by linear programming; its value is zero for exact means."""
    from scipy.optimize import linprog  # loaded on first use: SciPy is slow to import

    cells = workload.universe.size
    if workload.queries * cells > _MOST_ENTRIES:
        raise InvalidParameter(
            code="universe_too_large",
            expectation=f"at most {_MOST_ENTRIES} queries times cells for linear programming",
            received=workload.queries * cells,
            remedy="Use MWEM, which never writes the matrix down.",
        )
    matrix, target = workload.dense(), np.asarray(means, dtype=np.float64)
    far = np.ones((len(matrix), 1))
    found = linprog(
        np.append(np.zeros(cells), 1.0),
        A_ub=np.block([[matrix, -far], [-matrix, -far]]),
        b_ub=np.concatenate([target, -target]),
        A_eq=np.append(np.ones(cells), 0.0)[None, :],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
    )
    if found.x is None:  # the programme has a solution always; its solver may give up
        return play(workload, target, error=_FALLBACK)
    solution = np.asarray(found.x)
    return Played(solution[:cells], float(solution[cells]))


def play(workload: Workload, means: ArrayLike, *, error: float) -> Played:
    """Multiplicative weights against best responses, until their average loses at most ``error``.

    Guarantee: for exact means it ends within 4 ln|X| / error**2 rounds; for others, it ends there.
    """
    wanted = float(probability("error", error))
    target = np.asarray(means, dtype=np.float64)
    weights = MultiplicativeWeights(workload.universe.size)
    total = np.zeros(workload.universe.size)
    rounds = MultiplicativeUpdater(workload.universe.size, wanted).most_updates + 1
    for turn in range(1, rounds + 1):
        total += weights.distribution
        lost = np.abs(shared_answers(workload, total / turn) - target).max()
        if lost <= wanted or turn == rounds:
            break
        gaps = shared_answers(workload, weights.weights) / weights.mass - target
        worst = int(np.argmax(np.abs(gaps)))
        step = -wanted / 2 if gaps[worst] > 0 else wanted / 2
        weights.update(query_of(workload, worst), step)
    return Played(total / turn, float(lost))
