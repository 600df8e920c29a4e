"""Multiplicative weights as updaters: by a fixed step, or by one that is set by the gap.

The fixed step error/2 of 000a:F4 takes error**2 / 4 from the relative entropy each time.

By the gap far fewer updates are needed. With hypothesis H, data x, a query f of mean p under H and
m under x, and a value v near m, add eta f to the logarithms, eta = 4 (v - p). By Hoeffding's lemma
ln E_H exp(eta f) is at most eta p + eta**2 / 8, so the relative entropy of x falls by at least

    eta (m - p) - eta**2 / 8  =  2 ((m - p)**2 - (m - v)**2).

Where H is wrong by more than ``error`` and v by at most a third of it, that is above
16/9 error**2: seven times as much.

Source: 000a:F4, with the step that is best in its own bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.parameters import count, probability
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.online.updaters import Hypothesis, Updater
from discreet.queries.workload.answers import shared_answers
from discreet.queries.workload.linear_query import LinearQuery
from discreet.queries.workload.workload import Workload


@dataclass(frozen=True)
class MultiplicativeUpdater(Updater):
    """Multiplicative weights with step alpha/2: at most 4 ln|X| / alpha**2 updates.

    >>> MultiplicativeUpdater(1024, 0.1).most_updates
    2772

    Assumptions: updates are by released values.

    Guarantee: no more than ``most_updates`` where values are within ``error`` of the truth; privacy
    rests on none of it.

    Source: 000a:F4.
    """

    cells: int
    error: float
    start: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Refuse errors outside (0, 1)."""
        object.__setattr__(self, "cells", count("cells", self.cells))
        probability("error", self.error)

    @property
    def universe_size(self) -> int:
        """The number of cells."""
        return self.cells

    def begin(self) -> MultiplicativeHypothesis:
        """The uniform distribution, or the public guess."""
        weights = MultiplicativeWeights(self.cells, self.start)
        return MultiplicativeHypothesis(weights, self.error / 2)

    @property
    def most_updates(self) -> int:
        """The relative entropy at the start over what each update takes from it."""
        return max(1, math.floor(4 * self.entropy / self.error**2))

    @property
    def entropy(self) -> float:
        """The most relative entropy that data can have at the start.

        That is ln|X| from the uniform distribution, and minus the logarithm of the least
        probability from a guess.
        """
        if self.start is None:
            return math.log(self.cells)
        guess = np.asarray(self.start, dtype=np.float64)
        return -math.log(float(guess.min() / guess.sum()))


@dataclass(frozen=True, eq=False)
class MultiplicativeHypothesis(Hypothesis):
    """A distribution, and the step of its updates."""

    weights: MultiplicativeWeights
    step: float

    def answer(self, query: LinearQuery) -> float:
        """The mean."""
        return self.weights.answer(query)

    def answers(self, workload: Workload) -> Floats:
        """The means."""
        return shared_answers(workload, self.weights.weights) / self.weights.mass

    @property
    def databases(self) -> Floats:
        """The one distribution."""
        return self.weights.distribution[None, :]

    def update(self, query: LinearQuery, value: float) -> None:
        """Down along f if the hypothesis is too high; otherwise down along 1 - f, that is up."""
        down = value < self.answer(query)
        self.weights.update(query, -self.step if down else self.step)


@dataclass(frozen=True)
class GapUpdater(MultiplicativeUpdater):
    """Steps of four times the gap: at most 9 ln|X| / (16 error**2) updates.

    The bound holds where values are within a third of ``error``.

    >>> GapUpdater(1024, 0.1).most_updates, MultiplicativeUpdater(1024, 0.1).most_updates
    (389, 2772)

    Assumptions: updates are by released values.

    Guarantee: no more than ``most_updates`` where values are as near as said; privacy rests on none
    of it.

    Source: 000a:F4.
    """

    exactness: ClassVar[int] = 3
    """How many times smaller than ``error`` that of the values must be."""

    def begin(self) -> GapHypothesis:
        """The uniform distribution, or the public guess."""
        return GapHypothesis(MultiplicativeWeights(self.cells, self.start), 4.0)

    @property
    def most_updates(self) -> int:
        """The relative entropy at the start over what each update takes from it."""
        return max(1, math.floor(9 * self.entropy / (16 * self.error**2)))


@dataclass(frozen=True, eq=False)
class GapHypothesis(MultiplicativeHypothesis):
    """A distribution; ``step`` times the gap is the step of an update."""

    def update(self, query: LinearQuery, value: float) -> None:
        """Along f, as far as the value is away."""
        self.weights.update(query, self.step * (value - self.answer(query)))
