"""How multiplicative weights learn from a noisy measurement: one update, and replays of many.

All of it is post-processing. ``SmallSteps`` is the update that the theorem is about.
``Scaling`` goes the whole way at once, as iterative proportional fitting does, except that it
trusts no count beyond the spread of its noise: a few passes fit what small steps need hundreds for.
Noisy measurements contradict each other, and full steps end at the last one; steps that shrink from
pass to pass end between them, close to the least squares fit.

Source: 004b:A15 (replay the history, many passes).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.workload.answers import marginal
from discreet.queries.workload.linear_query import LinearQuery


class Stepping(ABC):
    """How far one update goes, for counts out of ``total`` with noise of standard ``spread``."""

    @abstractmethod
    def one(self, measured: float, estimate: float, total: float, spread: float) -> float:
        """The step along one query."""

    @abstractmethod
    def all(self, measured: Floats, estimate: Floats, total: float, spread: float) -> Floats:
        """The steps along the cells of a marginal."""


@dataclass(frozen=True)
class SmallSteps(Stepping):
    """The error over twice the number of records.

    >>> round(100 / (1 + math.exp(-SmallSteps().one(80, 50, 100, 0))), 2)
    53.74

    Assumptions: measurements were released.

    Guarantee: post-processing: no event of its own.

    Source: 004b:A15.
    """

    def one(self, measured: float, estimate: float, total: float, spread: float) -> float:
        """(m - q(A)) / 2n."""
        return (measured - estimate) / (2 * total)

    def all(self, measured: Floats, estimate: Floats, total: float, spread: float) -> Floats:
        """The same, for each cell."""
        return np.asarray((measured - estimate) / (2 * total))


@dataclass(frozen=True)
class Scaling(Stepping):
    """To the measured odds, with the spread of the noise added to both sides.

    Assumptions: measurements were released, with noise of the stated spread.

    Guarantee: post-processing: no event of its own.

    Source: 004b:A15.
    """

    def one(self, measured: float, estimate: float, total: float, spread: float) -> float:
        """The difference of log-odds; a count outside [0, n] is taken to be at the end."""
        held = min(max(measured, 0.0), total)
        rest = max(total - estimate, 0.0)
        inside = math.log((held + spread) / (estimate + spread))
        return inside - math.log((total - held + spread) / (rest + spread))

    def all(self, measured: Floats, estimate: Floats, total: float, spread: float) -> Floats:
        """The difference of logarithms."""
        return np.asarray(np.log((np.maximum(measured, 0) + spread) / (estimate + spread)))


@dataclass(frozen=True)
class MeasuredQuery:
    """A query and its noisy answer.

    Assumptions: the query is public, and its answer was released.

    Guarantee: post-processing: no event of its own.

    Source: 004b:A15.
    """

    query: LinearQuery
    answer: float
    spread: float

    def teach(
        self, weights: MultiplicativeWeights, stepping: Stepping, total: float, part: float = 1.0
    ) -> None:
        """One update, or a part of it."""
        estimate = total * weights.answer(self.query)
        step = stepping.one(self.answer, estimate, total, self.spread)
        weights.update(self.query, part * step)


@dataclass(frozen=True, eq=False)
class MeasuredMarginal:
    """A marginal over the attributes kept, and its noisy cells; all axes are there."""

    shape: tuple[int, ...]
    kept: tuple[int, ...]
    cells: Floats
    spread: float

    def teach(
        self, weights: MultiplicativeWeights, stepping: Stepping, total: float, part: float = 1.0
    ) -> None:
        """One update of every cell, or a part of it."""
        sums = marginal(weights.weights, self.shape, self.kept)
        estimate = sums * (total / sums.sum())
        steps = stepping.all(self.cells, estimate, total, self.spread)
        weights.tilt_along(part * steps, self.shape)


NoisyMeasurement = MeasuredQuery | MeasuredMarginal


def replay(
    weights: MultiplicativeWeights,
    history: Sequence[NoisyMeasurement],
    stepping: Stepping,
    *,
    total: float,
    passes: int,
) -> None:
    """All measurements in order, ``passes`` times."""
    for _ in range(passes):
        for measured in history:
            measured.teach(weights, stepping, total)


def settle(
    weights: MultiplicativeWeights,
    history: Sequence[NoisyMeasurement],
    stepping: Stepping,
    *,
    total: float,
    passes: int,
) -> None:
    """``passes`` more, with steps that shrink: 1, 1/1.3, 1/1.6, … of the full one."""
    for turn in range(passes):
        for measured in history:
            measured.teach(weights, stepping, total, 1 / (1 + 0.3 * turn))
