"""Every mechanism of the suite ``queries``, at its defaults, and the errors of its releases.

All but the peers are asked under add/remove neighbours, the number of records bought where it is
needed. Those whose names end in ``delta`` spend (epsilon, 1e-6) in place of a pure epsilon.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.mechanisms import DiscreteLaplace
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.mwem.fitting import SmallSteps
from discreet.queries.mwem.mwem import MWEM, LastIterate, suggested_rounds
from discreet.queries.mwem.rounds import QueryRound
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.workload.workload import Workload

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
DELTA = 1e-6


class Synopsis(Protocol):
    """What a release leaves."""

    def answers(self, workload: Workload) -> Floats:
        """Estimated answers."""


class Mechanism(Protocol):
    """What is released from."""

    def release(self, counts: Counts) -> Synopsis:
        """One release."""


Build = Callable[[Workload, float, int], Mechanism]
"""From a workload, an epsilon and a public guess of the number of records."""


@dataclass(frozen=True)
class NoisyHistogram:
    """Noise on every cell of the universe: the identity strategy, unbiased."""

    epsilon: float

    def release(self, counts: Counts) -> Synopsis:
        """Every marginal is a sum of noisy cells."""
        noisy = DiscreteLaplace(epsilon=self.epsilon, sensitivity=1).release(counts.ravel())
        return _Cells(noisy)


@dataclass(frozen=True, eq=False)
class _Cells:
    counts: Counts

    def answers(self, workload: Workload) -> Floats:
        return workload.answers(self.counts)


def mwem(workload: Workload, spend: Guarantee, records: int) -> MWEM:
    """MWEM by default, with the suggested number of rounds."""
    many = len(workload.products)
    rounds = suggested_rounds(spend, records=records, most=many, cells=workload.queries / many)
    return MWEM(workload, spend, NoisyRecordCount(), rounds)


def printed(workload: Workload, epsilon: float, records: int) -> MWEM:
    """MWEM as printed: one query a round, small steps, replayed."""
    spend, each = dp.PureDP(epsilon=epsilon), QueryRound(stepping=SmallSteps())
    return MWEM(
        workload,
        spend,
        NoisyRecordCount(),
        30,
        each=each,
        passes=20,
        iterate=LastIterate(settling=0),
    )


def _pure(epsilon: float) -> Guarantee:
    return dp.PureDP(epsilon=epsilon)


def _delta(epsilon: float) -> Guarantee:
    return dp.ApproxDP(epsilon=epsilon, delta=DELTA)


MECHANISMS: dict[str, Build] = {
    "independent": lambda w, e, n: IndependentNoise(w, _pure(e)),
    "identity": lambda w, e, n: NoisyHistogram(e),
    "product": lambda w, e, n: MatrixMechanism(w, _pure(e)),
    "residual": lambda w, e, n: MarginalMechanism(w, _pure(e)),
    "projection": lambda w, e, n: ProjectionMechanism(w, _pure(e)),
    "mwem_printed": printed,
    "mwem": lambda w, e, n: mwem(w, _pure(e), n),
    "independent_delta": lambda w, e, n: IndependentNoise(w, _delta(e)),
    "residual_delta": lambda w, e, n: MarginalMechanism(w, _delta(e)),
    "mwem_delta": lambda w, e, n: mwem(w, _delta(e), n),
}


@dataclass(frozen=True)
class Released:
    """Errors of one release, in records, and the seconds of processor time it took."""

    rmse: float
    mae: float
    seconds: float


def release(mechanism: Mechanism, workload: Workload, counts: Counts) -> Released:
    """Release once. Finding a strategy is not timed: it happens once for a workload."""
    start = time.process_time()
    synopsis = mechanism.release(counts)
    took = time.process_time() - start
    off = synopsis.answers(workload) - workload.answers(counts)
    return Released(float(np.sqrt((off**2).mean())), float(np.abs(off).mean()), took)
