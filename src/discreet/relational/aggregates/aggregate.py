"""What an aggregate is: measures with noise, and a formula applied to them afterwards.

Each aggregate names its measures and how much its error depends on each of them, relative to
that measure's own bound; the split of the spend follows from these weights, which are public.
Its column and the interval of it are functions of noisy values; its expected error follows from
the plan. Nothing here reads data.

Source: modern-data:C1, C2, Q2; 004d:F25; contract, "Columns" (AVG), "Numbers", "Spending".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from discreet.core.arrays import Floats
from discreet.mechanisms import quantiles
from discreet.mechanisms.distributions.distribution import Distribution
from discreet.relational.aggregates.measures import Linear, Measure
from discreet.release import ReleasedColumn
from discreet.release.formula import NoisyMeasure
from discreet.release.preview import Expected

RankSelection: TypeAlias = (
    quantiles.Quantile | quantiles.Minimum | quantiles.Maximum | quantiles.Several
)
"""The mechanisms that choose a value by its rank."""

PRESENCE = 0.375
"""Weight of a count that only divides: as if the mean lay well off the midpoint.

At this weight a mean at its very bound is at most 4 % worse than with equal shares, and one in
the middle a seventh better."""


SIZES = (10, 100, 1_000, 10_000, 100_000)
"""Group sizes at which errors that depend on them are shown."""


class MeasureNoise(Protocol):
    """The noise of one measure: the mechanism, and its law in the caller's units."""

    @property
    def mechanism(self) -> Any:
        """What adds it."""

    @property
    def distribution(self) -> Distribution:
        """Its law in one cell."""

    @property
    def whole(self) -> bool:
        """Whether noisy values are whole numbers."""


class PlannedNoise(Protocol):
    """Which noise a planned query gives to what it measures: public, known before any spending."""

    def noise(self, measure: Linear) -> MeasureNoise:
        """The noise of a measure."""

    def selection_of(self, aggregate: Aggregate) -> RankSelection:
        """The mechanism that chooses an aggregate by its rank."""


class NoisyValues(Protocol):
    """What was released of a query, in the cells that a column shows."""

    def measure(self, measure: Linear) -> NoisyMeasure:
        """The noisy values of a measure, with their law."""

    def chosen(self, aggregate: Aggregate) -> Sequence[float]:
        """The values that were chosen by rank."""

    def selection_of(self, aggregate: Aggregate) -> RankSelection:
        """The mechanism that chose them."""


FirstOrder: TypeAlias = tuple[tuple[NoisyMeasure, Floats], ...]
"""Derivatives of a column by its measures, cell by cell; NaN where first order is not close."""


class Estimates(Protocol):
    """The same for one query of a batch, of which some measures were estimated from all."""

    def has(self, measure: Linear) -> bool:
        """Whether there is an estimate of this measure."""

    def values(self, measure: Linear, confidence: float) -> tuple[Floats, float]:
        """Values and half-width of a measure, estimated or as it was released."""


class Aggregate(ABC):
    """One aggregate of a query; frozen, equal where the same thing is asked.

    Contract: ``answer`` and ``estimated`` are functions of released values and public quantities.
    The others are functions of the plan.
    """

    @property
    @abstractmethod
    def measures(self) -> tuple[Measure, ...]:
        """What is measured, in the order of ``weights``."""

    @property
    @abstractmethod
    def weights(self) -> tuple[float, ...]:
        """How much the error of the column depends on each measure, relative to its bound."""

    @property
    def whole(self) -> bool:
        """Whether the column holds whole numbers."""
        return False

    @property
    def additive(self) -> Linear | None:
        """The measure whose noisy values are the column itself; None where a formula is between."""
        return None

    @property
    def is_size(self) -> bool:
        """Whether the column says how many rows or people a group has."""
        return False

    @abstractmethod
    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The released column, with intervals that hold for noise at ``confidence``."""

    def estimated(
        self, name: str, estimates: Estimates, confidence: float
    ) -> ReleasedColumn | None:
        """The column from estimates that agree within a batch; None: it stays as released."""
        return None

    def first_order(self, noisy: NoisyValues) -> FirstOrder | None:
        """How the column moves with its measures; None where its formula says it, or nothing."""
        return None

    def expected(self, name: str, planned: PlannedNoise, confidence: float) -> Expected:
        """How wrong the column will be."""
        return Expected(name, None, (), "depends on the data; the answer states its interval")

    def is_foreseeable(self, rows_at_least: int | None) -> bool:
        """Whether :meth:`half_width` is known before data are read: what accuracy may buy."""
        return False

    def half_width(
        self, planned: PlannedNoise, confidence: float, rows_at_least: int | None
    ) -> float:
        """The half-width of every cell, or of groups with at least so many values."""
        raise LookupError(type(self).__name__)

    def least_size(self, rows_at_least: int) -> float:
        """How far from zero the true value is in every group with at least so many values.

        From public bounds alone; zero where they do not keep it away from zero.
        """
        return 0.0


def estimate_note(confidence: float) -> str:
    """What is said of columns that agree with related ones of a batch."""
    return (
        "least-squares estimate from all related questions of the batch, without bias from that; "
        f"{confidence:.0%} intervals cover noise"
    )
