"""What a round of MWEM selects and measures: one query, or one whole marginal.

A record lies in one cell of a marginal, so all cells of it cost what one of them does. Selecting
marginals by their total error in place of single queries learns many numbers for the price of one.

Source: 004b:A15.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.mechanisms.grid import sqrt_above
from discreet.queries.mwem.fitting import (
    MeasuredMarginal,
    MeasuredQuery,
    NoisyMeasurement,
    Scaling,
    Stepping,
)
from discreet.queries.record_count import MOST, RecordCount
from discreet.queries.workload.answers import product_answers
from discreet.queries.workload.families import All, Each
from discreet.queries.workload.linear_query import PLACES, query_of, rounded
from discreet.queries.workload.workload import Workload


class Noise(Protocol):
    """Adds noise to whole numbers."""

    def release(self, value: NDArray[np.int64]) -> NDArray[np.int64]:
        """Noisy whole numbers."""


class SelectedRound(ABC):
    """What is selected and measured. Scores and measurements are exact functions of counts."""

    share: Fraction
    """The part of a round's spend that measures; the rest selects."""
    stepping: Stepping

    @abstractmethod
    def check(self, workload: Workload) -> None:
        """Refuse workloads that this cannot select from."""

    @abstractmethod
    def candidates(self, workload: Workload) -> int:
        """How many there are to select from."""

    @abstractmethod
    def score_sensitivity(self, size: RecordCount) -> int:
        """How far one record moves a score."""

    @abstractmethod
    def l1(self, workload: Workload, size: RecordCount) -> int:
        """How far one record moves a measurement, in steps."""

    @abstractmethod
    def l2(self, workload: Workload, size: RecordCount) -> Fraction:
        """The same in the L2 norm."""

    @abstractmethod
    def step(self, workload: Workload) -> float:
        """One step of a measurement in records."""

    @abstractmethod
    def scores(self, estimate: list[Floats], truth: list[Floats], spread: float) -> Floats:
        """How wrong the estimate is, for each candidate, on the grid 2**-20."""

    @abstractmethod
    def measure(
        self, workload: Workload, place: int, truth: list[Floats], noise: Noise, spread: float
    ) -> NoisyMeasurement:
        """Measure a candidate."""


@dataclass(frozen=True)
class QueryRound(SelectedRound):
    """The query with the largest error: the mechanism as it is printed.

    Assumptions: counts are exact, and the estimate was released.

    Guarantee: a record moves a score by at most one, and a measurement too.

    Source: 004b:A15. Proof: ``proofs/mwem.md``.
    """

    share: Fraction = Fraction(1, 2)
    stepping: Stepping = field(default_factory=Scaling)

    def check(self, workload: Workload) -> None:
        """Any workload will do."""

    def candidates(self, workload: Workload) -> int:
        return workload.queries

    def score_sensitivity(self, size: RecordCount) -> int:
        """One: weights lie in [0, 1], so exchanging a record moves a sum by no more."""
        return 1

    def l1(self, workload: Workload, size: RecordCount) -> int:
        return round(1 / self.step(workload))

    def l2(self, workload: Workload, size: RecordCount) -> Fraction:
        return Fraction(self.l1(workload, size))

    def step(self, workload: Workload) -> float:
        """Whole records where all weights are 0 or 1."""
        whole = all(family.whole for each in workload.products for family in each.families)
        return 1.0 if whole else 2.0**-PLACES

    def scores(self, estimate: list[Floats], truth: list[Floats], spread: float) -> Floats:
        """Absolute errors."""
        # Clamped, since a hypothesis that is no distribution may say anything.
        guesses = np.clip(np.concatenate(estimate), -MOST, MOST)
        return np.abs(rounded(guesses) - np.concatenate(truth))

    def measure(
        self, workload: Workload, place: int, truth: list[Floats], noise: Noise, spread: float
    ) -> NoisyMeasurement:
        step = self.step(workload)
        steps = np.rint(np.concatenate(truth)[place : place + 1] / step).astype(np.int64)
        noisy = float(noise.release(steps)[0]) * step
        return MeasuredQuery(query_of(workload, place), noisy, spread)


@dataclass(frozen=True)
class MarginalRound(SelectedRound):
    """The marginal with the largest total error beyond what its noise would leave.

    Assumptions: counts are exact, and the estimate was released.

    Guarantee: a record that comes or goes moves a score by at most one, and one measured cell by
    one; one that is exchanged moves both twice as far.

    Source: 004b:A15. Proof: ``proofs/mwem.md``.
    """

    share: Fraction = Fraction(4, 5)
    stepping: Stepping = field(default_factory=Scaling)

    def check(self, workload: Workload) -> None:
        if not all(isinstance(f, Each | All) for p in workload.products for f in p.families):
            raise InvalidParameter(
                code="marginals_only",
                expectation="a workload of marginals",
                remedy="Use each=QueryRound() for other queries, or add the marginals they need.",
            )

    def candidates(self, workload: Workload) -> int:
        return len(workload.products)

    def score_sensitivity(self, size: RecordCount) -> int:
        """The cells that change."""
        return size.changed_cells

    def l1(self, workload: Workload, size: RecordCount) -> int:
        """The cells that change."""
        return size.changed_cells

    def l2(self, workload: Workload, size: RecordCount) -> Fraction:
        """The root of the cells that change."""
        return Fraction(1) if size.changed_cells == 1 else sqrt_above(Fraction(size.changed_cells))

    def step(self, workload: Workload) -> float:
        """Whole records."""
        return 1.0

    def scores(self, estimate: list[Floats], truth: list[Floats], spread: float) -> Floats:
        """Total absolute error less the noise that a measurement would have."""
        found = [
            np.abs(rounded(guess) - exact).sum()
            for guess, exact in zip(estimate, truth, strict=True)
        ]
        noise = [len(exact) * spread / math.sqrt(2) for exact in truth]
        return np.asarray(np.array(found) - rounded(np.minimum(noise, MOST)))

    def measure(
        self, workload: Workload, place: int, truth: list[Floats], noise: Noise, spread: float
    ) -> NoisyMeasurement:
        noisy = noise.release(truth[place].astype(np.int64)).astype(np.float64)
        kept, shape = workload.products[place].kept_places, workload.universe.shape
        axes = [size if axis in kept else 1 for axis, size in enumerate(shape)]
        return MeasuredMarginal(shape, kept, noisy.reshape(axes), spread)


def exact_answers(workload: Workload, counts: NDArray[np.int64]) -> list[Floats]:
    """The true answers of each product, exact on the grid and clamped at 2**32."""
    return [np.minimum(part, MOST) for part in product_answers(workload, counts.astype(np.float64))]
