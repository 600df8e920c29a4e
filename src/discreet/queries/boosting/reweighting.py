"""The reweighting of boosting: queries that were answered badly weigh more, by a little.

The round's error d of a query counts as max(0, d - lambda), at most mu: the book's
a = 1 - 2 (that) / mu. Excesses are whole steps of 2**-20 records and are added up as integers, so
that the exponents of the draws are exact and one person moves them by no more than is paid for.

Source: boosting-and-analysts:B2; 000a:H2 (the figure missing from the text; "increase" and
"decrease" swapped there). Proof: ``proofs/boosting.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.parameters import Number, exact, nonnegative, positive
from discreet.mechanisms import Exponential
from discreet.noise import uniform_integers
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.boosting.bounds import step_size
from discreet.queries.log_weights import LogWeights
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.record_count import MOST
from discreet.queries.workload.linear_query import PLACES

Steps = NDArray[np.int64]

STEPS = 1 << PLACES
"""Steps of the grid in one record."""
_FARTHEST = MOST * STEPS


@dataclass(frozen=True)
class Reweighting:
    """Errors up to ``within`` are good, those above ``within + slack`` bad; both in records."""

    within: Number
    slack: Number
    advantage: Number
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what is out of range; round both thresholds up to the grid."""
        for name, check in (("within", nonnegative), ("slack", positive)):
            steps = math.ceil(exact(check(name, getattr(self, name))) * STEPS)
            object.__setattr__(self, name, Fraction(steps, STEPS))
        step_size(self.advantage)

    def excess(self, truth: Steps, answers: Floats) -> Steps:
        """How far beyond ``within`` each answer is, at most ``slack``, in steps."""
        # What is so far off is bad whatever the truth is.
        near = np.clip(np.nan_to_num(answers), -2 * MOST, 2 * MOST)
        public = np.rint(near * float(STEPS)).astype(np.int64)
        good = min(int(exact(self.within) * STEPS), _FARTHEST)
        width = min(int(exact(self.slack) * STEPS), _FARTHEST)
        return np.asarray(np.clip(np.abs(truth - public) - good, 0, width))

    def selector(self, before: int) -> Exponential:
        """One draw after ``before`` rounds: one person moves a sum of excesses by that many."""
        return Exponential(
            epsilon=self._epsilon(before),
            sensitivity=before * self.records * STEPS,
            randomness=self.randomness,
        )

    def _epsilon(self, before: int) -> Fraction:
        return 4 * exact(step_size(self.advantage)) * before * self.records / exact(self.slack)

    def draw(self, excesses: Steps, before: int, size: int) -> Steps:
        """Places of ``size`` independent queries, by weight; uniform before the first round."""
        if before == 0:
            return uniform_integers(len(excesses), size, self.randomness)
        return LogWeights(excesses, self.selector(before).rate()).draw(size, self.randomness)

    def weights(self, excesses: Steps) -> MultiplicativeWeights:
        """The distribution that is drawn from, in doubles: for tests, as it knows the data."""
        weights = MultiplicativeWeights(len(excesses))
        weights.tilt(LogWeights(excesses, self.selector(1).rate()).logs)
        return weights


def in_steps(answers: Floats) -> Steps:
    """Exact answers on the grid, between none and 2**32 records, as whole steps."""
    return np.rint(np.clip(answers, 0, MOST) * float(STEPS)).astype(np.int64)
