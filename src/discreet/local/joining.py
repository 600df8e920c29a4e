"""Two noisy answers of each person, joined: the law of pairs by expectation and maximisation.

Source: 004a:C13. Post-processing; each person sent two reports, so epsilon is split between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count

Floats = NDArray[np.float64]


def channel(keep: float, size: int) -> Floats:
    """Chances of reports (rows) given values (columns) under direct encoding."""
    matrix = np.full((size, size), (1 - keep) / (size - 1))
    np.fill_diagonal(matrix, keep)
    return matrix


def joint_shares(
    counts: NDArray[np.int64], first: Floats, second: Floats, *, rounds: int = 500
) -> tuple[Floats, list[float]]:
    """Shares of pairs from counts of pairs of reports, and the likelihood after each round.

    Each round weighs every pair of values by how well it explains the reports. The likelihood never
    falls; rare pairs may be invented where reports are few.
    """
    count("rounds", rounds)
    people = int(counts.sum())
    if counts.shape != (first.shape[0], second.shape[0]) or people == 0:
        raise InvalidParameter(
            code="local_pairs_misfit",
            expectation="counts of pairs of reports, as many rows and columns as reports can be",
            received=counts.shape,
            remedy="Count both reports of each person in one table.",
        )
    shares = np.full((first.shape[1], second.shape[1]), 1 / (first.shape[1] * second.shape[1]))
    likelihoods: list[float] = []
    for _ in range(rounds):
        expected = first @ shares @ second.T
        likelihoods.append(float((counts * np.log(expected)).sum()))
        shares = shares * (first.T @ (counts / expected) @ second) / people
        if len(likelihoods) > 1 and likelihoods[-1] - likelihoods[-2] < 1e-9 * people:
            break
    return shares, likelihoods
