"""The largest fractional packing of sets, with a certificate in integers.

maximise sum x_c subject to 0 <= x_c <= 1 and, at each node, the sum of x_c over the sets that
contain it at most ``load``. A solver proposes weights and prices in floating point. Rounded to
whole steps they give, exactly, a value the optimum reaches and one that it cannot exceed; if
these are close, the upper one is returned. If not, the program is solved in rational arithmetic.

Source: linear programming duality; 004b:A20. Proof: ``proofs/robust-lipschitz.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 1 << 30
"""Results are whole multiples of 1/STEPS."""


def packing_number(sets: list[tuple[int, ...]], nodes: int, load: int, *, tolerance: int) -> int:
    """An upper bound of the optimum, at most ``tolerance`` steps above it, in steps.

    Contract: all sets have the same size. Guarantee: exact in integers, whatever the solver did.
    """
    members = np.array(sets, dtype=np.int64)
    if not sets or np.bincount(members.ravel()).max() <= load:
        return len(sets) * STEPS
    weights, prices = _proposal(members, nodes, load)
    upper = _upper(members, prices, load)
    if upper - _lower(members, weights, nodes, load) <= tolerance:
        return upper
    return -int(-exact_packing(sets, nodes, load) * STEPS // 1)


def _proposal(
    members: NDArray[np.int64], nodes: int, load: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of sets and prices of nodes, good ones if the solver is well; never an error."""
    from scipy.optimize import linprog  # loaded on first use: SciPy is slow to import
    from scipy.sparse import csr_array

    size = len(members)
    columns = np.repeat(np.arange(size), members.shape[1])
    ones = np.ones(members.size)
    incidence: Any = csr_array((ones, (members.ravel(), columns)), shape=(nodes, size))
    try:
        solved = linprog(
            np.full(size, -1.0), A_ub=incidence, b_ub=np.full(nodes, float(load)), bounds=(0, 1)
        )
        weights = np.asarray(solved.x, dtype=np.float64).reshape(size)
        prices = -np.asarray(solved.ineqlin.marginals, dtype=np.float64).reshape(nodes)
    except Exception:  # the exact way needs no proposal
        return np.zeros(size), np.zeros(nodes)
    return weights, prices


def _whole(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers in [0, 1] in whole steps; what is no number becomes zero."""
    return np.rint(np.clip(np.nan_to_num(values), 0, 1) * STEPS).astype(np.int64)


def _upper(members: NDArray[np.int64], prices: NDArray[np.float64], load: int) -> int:
    """Any prices bound the optimum: load times their sum, plus what sets are worth above them."""
    steps = _whole(prices)
    surplus = np.maximum(STEPS - steps[members].sum(axis=1), 0)
    return int(load * sum(steps.tolist()) + sum(surplus.tolist()))


def _lower(members: NDArray[np.int64], weights: NDArray[np.float64], nodes: int, load: int) -> int:
    """Any weights, shrunk until no node bears too much, are reached by the optimum."""
    steps = _whole(weights)
    borne = np.zeros(nodes, dtype=np.int64)
    for place in range(members.shape[1]):
        np.add.at(borne, members[:, place], steps)
    heaviest = int(borne.max())
    total = int(sum(steps.tolist()))
    return total if heaviest <= load * STEPS else total * load * STEPS // heaviest


def exact_packing(sets: list[tuple[int, ...]], nodes: int, load: int) -> Fraction:
    """The optimum in rational arithmetic: the simplex method with Bland's rule, which ends.

    Slow; for the case that no certificate was found, and for tests.
    """
    size = len(sets)
    rows = [
        [Fraction(node in members) for members in sets] + [Fraction(load)] for node in range(nodes)
    ]
    rows += [[Fraction(i == j) for j in range(size)] + [Fraction(1)] for i in range(size)]
    # Columns hold the variables that are zero; `basis` names those that are not, by row.
    objective = [Fraction(1)] * size + [Fraction(0)]
    columns, basis = list(range(size)), list(range(size, size + len(rows)))
    while True:
        entering = [j for j in range(size) if objective[j] > 0]
        if not entering:
            return -objective[-1]
        column = min(entering, key=lambda j: columns[j])
        blocking = [i for i, row in enumerate(rows) if row[column] > 0]
        pivot = min(blocking, key=lambda i: (rows[i][-1] / rows[i][column], basis[i]))
        _exchange(rows, objective, pivot, column)
        columns[column], basis[pivot] = basis[pivot], columns[column]


def _exchange(
    rows: list[list[Fraction]], objective: list[Fraction], pivot: int, column: int
) -> None:
    """Solve the pivot row for the column's variable and put it into all others."""
    by = rows[pivot][column]
    solved = [value / by for value in rows[pivot]]
    solved[column] = 1 / by
    for i, row in enumerate([*rows, objective]):
        factor = row[column]
        if i == pivot or not factor:
            continue
        for j, value in enumerate(solved):
            row[j] -= factor * value
        row[column] = -factor / by
    rows[pivot] = solved
