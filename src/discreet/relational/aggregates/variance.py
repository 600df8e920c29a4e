"""VARIANCE and STDDEV: from the number of values, their centred total and squares.

Source: modern-data:C2, extended; proofs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.core.arrays import Floats
from discreet.relational.aggregates.aggregate import PRESENCE, Aggregate, FirstOrder, NoisyValues
from discreet.relational.aggregates.arguments import centred, product
from discreet.relational.aggregates.dispersion import by_measure, from_totals, noisy_totals
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.measures import (
    CountRows,
    CountValues,
    Linear,
    Measure,
    Total,
    ValuesTotal,
)
from discreet.relational.aggregates.moment_slopes import deviation_slopes, variance_slopes
from discreet.relational.types.expression import Expression
from discreet.release import ReleasedColumn
from discreet.release.intervals.dispersion import stddev_intervals, variance_intervals


@dataclass(frozen=True)
class Variance(Aggregate):
    """VARIANCE: ``ddof`` is 1 for the sample version and 0 for that of the population."""

    present: CountRows | CountValues
    total: Total | ValuesTotal
    squares: Total | ValuesTotal
    ddof: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of values, centred total, centred squares."""
        return self._totals

    @property
    def weights(self) -> tuple[float, ...]:
        """Squares matter most."""
        return (PRESENCE, 0.5, 1.0)

    @property
    def _totals(self) -> tuple[Linear, ...]:
        return (self.present, self.total, self.squares)

    def first_order(self, noisy: NoisyValues) -> FirstOrder | None:
        """By its measures, where there are enough values."""
        slopes = variance_slopes(*noisy_totals(noisy, self._totals), self.ddof)
        return by_measure(noisy, self._totals, slopes)

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The variance, within what the bounds allow."""
        (n, first, second), laws = noisy_totals(noisy, self._totals)
        high = float(self.squares.high)
        ends = variance_intervals(
            n, first, second, laws, confidence=confidence, high=high, ddof=self.ddof
        )
        values = _variance(n, first, second, self.ddof, high)
        return from_totals(name, values, ends, confidence)


@dataclass(frozen=True)
class StandardDeviation(Variance):
    """STDDEV: the root of the variance."""

    def first_order(self, noisy: NoisyValues) -> FirstOrder | None:
        """By its measures, where there are enough values and their variance is not near zero."""
        slopes = deviation_slopes(*noisy_totals(noisy, self._totals), self.ddof)
        return by_measure(noisy, self._totals, slopes)

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The root of the variance, with an interval of its own."""
        (n, first, second), laws = noisy_totals(noisy, self._totals)
        high = float(self.squares.high)
        ends = stddev_intervals(
            n, first, second, laws, confidence=confidence, high=high, ddof=self.ddof
        )
        values = np.sqrt(_variance(n, first, second, self.ddof, high))
        return from_totals(name, values, ends, confidence)


def _variance(n: Floats, first: Floats, second: Floats, ddof: int, high: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (second - first**2 / n) / (n - ddof)
    limit = high * (1 + ddof)
    return np.where(n > ddof, np.clip(spread, 0.0, limit), np.nan)


def _make(kind: type[Variance], ddof: int) -> Callable[[Expression], Variance]:
    return partial(_of, kind, ddof)


def _of(kind: type[Variance], ddof: int, value: Expression) -> Variance:
    return kind(CountRows(value), centred(value), product(value, value), ddof)


_NUMBER = (Argument.NUMBER,)
FUNCTIONS = (
    AggregateFunction(
        ("VARIANCE", "VAR_SAMP", "VARIANCE_SAMP", "VAR"), _NUMBER, _make(Variance, 1)
    ),
    AggregateFunction(("VAR_POP", "VARIANCE_POP"), _NUMBER, _make(Variance, 0), usual=False),
    AggregateFunction(
        ("STDDEV", "STDDEV_SAMP", "STDEV", "STD"), _NUMBER, _make(StandardDeviation, 1)
    ),
    AggregateFunction(("STDDEV_POP",), _NUMBER, _make(StandardDeviation, 0), usual=False),
)
