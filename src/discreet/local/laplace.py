"""The baseline of local privacy: every person adds Laplace noise to a number, for all of its range.

The sum of N answers from 0 to 1 then has variance 2N / epsilon**2, where one party that is trusted
adds noise of variance 2 / epsilon**2. One noisy bit of :class:`~discreet.local.MeanResponse` does
better at small epsilons and is one bit long; this is what both are measured against.

Source: 004a:C2. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, expm1, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.events.event import Event
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number
from discreet.core.unit import AddRemoveUnit, Replace
from discreet.local.chances import local_epsilon
from discreet.local.domain import Choices
from discreet.local.numeric import MeanEstimate
from discreet.local.randomiser import require_people
from discreet.mechanisms import DiscreteLaplace
from discreet.noise import SYSTEM, Source


@dataclass(frozen=True, kw_only=True)
class LaplaceMean:
    """The mean of values 0 to ``domain - 1``, each told with noise; simulated, without a client.

    Assumptions: each person tells one number. Guarantee: ``event`` for each person, any value
    against any other.

    >>> round(LaplaceMean(epsilon=1, domain=2).deviation / 1000, 6)  # of a share, a million people
    0.001357

    Source: 004a:C2. Numerics: whole numbers with discrete Laplace noise; means in doubles.
    """

    epsilon: Number
    domain: int
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse an epsilon out of range, and domains of one value or of too many."""
        local_epsilon(self.epsilon)
        Choices.of(self.domain)

    @cached_property
    def mechanism(self) -> DiscreteLaplace:
        """The noise of one answer, which may be any value of the domain."""
        return DiscreteLaplace(
            epsilon=self.epsilon, sensitivity=self.domain - 1, randomness=self.randomness
        )

    @property
    def event(self) -> Event:
        """What each person pays."""
        return self.mechanism.event

    def guarantee(self, *, unit: AddRemoveUnit | Replace) -> PureDP:
        """What each person, or device, is promised: any value against any other."""
        return PureDP(epsilon=self.epsilon, unit=require_people(unit))

    @property
    def deviation(self) -> float:
        """The standard deviation of one answer."""
        falls = float(self.epsilon) / (self.domain - 1)
        return sqrt(2 * exp(-falls)) / -expm1(-falls)

    def privatize_many(self, values: Any) -> NDArray[np.int64]:
        """One noisy number for each person; values beyond the domain are clamped, NaN is 0."""
        given = np.nan_to_num(np.asarray(values, dtype=np.float64))
        if given.ndim != 1:
            raise InvalidData(
                code="local_numbers",
                expectation="one number for each person",
                remedy="Pass a list of numbers.",
            )
        numbers = np.rint(np.clip(given, 0, self.domain - 1)).astype(np.int64)
        return np.asarray(self.mechanism.release(numbers), dtype=np.int64)

    def mean(self, reports: NDArray[np.int64]) -> MeanEstimate:
        """The mean of the values, unbiased, with the standard error of the noise."""
        people = len(reports)
        if people == 0:
            raise InvalidData(
                code="local_nobody_reported",
                expectation="at least one report",
                remedy="Pass the numbers that people told.",
            )
        return MeanEstimate(float(np.mean(reports)), self.deviation / people**0.5)
