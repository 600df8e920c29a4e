"""How often a mechanism is useful: in how many runs most queries are answered within alpha.

A release is useful at (alpha, gamma) if a share of at least 1 - gamma of the queries is off by at
most alpha of all records, and a mechanism at (alpha, beta, gamma) if that holds with a chance of at
least 1 - beta. Runs on one data set estimate the chance; what they show is read from real data.

A score says nothing of privacy: the data themselves score one, and a random subset of their rows
scores well.

Source: 000b:B18 (Definition 9.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidData
from discreet.core.parameters import Number, nonnegative, probability
from discreet.queries.synopses.synopsis import Synopsis
from discreet.queries.workload.workload import Workload


@dataclass(frozen=True)
class UsefulRuns:
    """The share of queries within ``alpha`` of all records, in each run. Not private.

    Assumptions: runs are independent, on the same data.

    Guarantee: none of privacy: real answers were compared. For the data owner alone.

    Source: 000b:B18.
    """

    alpha: float
    shares: tuple[float, ...]

    def useful(self, *, gamma: Number) -> float:
        """The share of runs in which at least 1 - gamma of the queries are within alpha."""
        return self._useful_runs(gamma) / len(self.shares)

    def useful_at_least(self, *, gamma: Number, confidence: Number) -> float:
        """What 1 - beta is at least, with this confidence: Clopper and Pearson's lower bound."""
        found, runs = self._useful_runs(gamma), len(self.shares)
        missed = 1 - float(probability("confidence", confidence))
        return float(betaincinv(found, runs - found + 1, missed)) if found else 0.0

    def _useful_runs(self, gamma: Number) -> int:
        # A share is a quotient of whole numbers: so much more than rounding is no query.
        least = 1 - float(nonnegative("gamma", gamma)) - 1e-12
        return sum(share >= least for share in self.shares)

    def __str__(self) -> str:
        """The mean and the least share, marked as not private."""
        mean, least = float(np.mean(self.shares)), min(self.shares)
        return (
            f"not private: of all queries {mean:.1%} are within {self.alpha:g} of all records, "
            f"{least:.1%} in the worst of {len(self.shares)} runs"
        )


def useful_runs(
    workload: Workload,
    counts: NDArray[np.generic],
    released: Sequence[Synopsis],
    *,
    alpha: Number,
) -> UsefulRuns:
    """Compare what several runs released with the real counts. Not private; for the owner alone.

    >>> from discreet.queries import Each, MatrixMechanism, Universe
    >>> import discreet as dp
    >>> workload = Workload.of(Universe.of(ward=["A", "B"]), {"ward": Each(2)})
    >>> counts = np.array([600, 400])
    >>> mechanism = MatrixMechanism(workload, dp.PureDP(epsilon=10))
    >>> runs = [mechanism.release(counts) for _ in range(5)]
    >>> useful_runs(workload, counts, runs, alpha=0.1).useful(gamma=0)
    1.0
    """
    records = int(np.sum(counts))
    if not released or records < 1:
        raise InvalidData(
            code="records_differ",
            expectation="at least one run, on counts of at least one record",
            remedy="Pass the counts that the mechanism was run on, and what each run released.",
        )
    most = float(nonnegative("alpha", alpha)) * records
    exact: Floats = workload.answers(counts)
    shares = (float(np.mean(np.abs(run.answers(workload) - exact) <= most)) for run in released)
    return UsefulRuns(float(alpha), tuple(shares))
