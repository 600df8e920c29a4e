"""The query release game: a distribution against queries that try to find it wrong.

One player chooses a distribution over cells, the other a query of the workload or its complement;
the second wins what the query says of the distribution less what it says of the data. The value is
zero, since the data itself may be played, and whatever loses at most alpha is synthetic data that
is right on all queries up to alpha. Played on released answers it is post-processing.

Source: 000a:G9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import probability
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.online.updaters import MultiplicativeUpdater
from discreet.queries.workload.answers import shared_answers
from discreet.queries.workload.linear_query import query_of
from discreet.queries.workload.workload import Workload

Floats = NDArray[np.float64]

_FALLBACK = 0.01
_MOST_ENTRIES = 1 << 24


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
