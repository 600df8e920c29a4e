"""COVAR_SAMP, COVAR_POP and CORR, over rows in which both values are present.

Source: modern-data:C2, extended; proofs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.relational.aggregates.aggregate import PRESENCE, Aggregate, FirstOrder, NoisyValues
from discreet.relational.aggregates.arguments import centred, pair, product
from discreet.relational.aggregates.dispersion import by_measure, from_totals, noisy_totals
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.measures import CountRows, Linear, Measure, Total
from discreet.relational.aggregates.moment_slopes import correlation_slopes, covariance_slopes
from discreet.relational.types.expression import Expression
from discreet.release import ReleasedColumn
from discreet.release.intervals.correlation import correlation_intervals
from discreet.release.intervals.covariance import covariance_intervals


@dataclass(frozen=True)
class Covariance(Aggregate):
    """COVAR_SAMP and COVAR_POP: ``ddof`` is 1 for the sample version."""

    present: CountRows
    first: Total
    second: Total
    products: Total
    ddof: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of pairs, centred totals, products of the centred values."""
        return self._totals

    @property
    def weights(self) -> tuple[float, ...]:
        """Products matter most."""
        return (PRESENCE, 0.25, 0.25, 1.0)

    @property
    def _totals(self) -> tuple[Linear, ...]:
        return (self.present, self.first, self.second, self.products)

    def first_order(self, noisy: NoisyValues) -> FirstOrder | None:
        """By its measures, where there are enough values."""
        slopes = covariance_slopes(*noisy_totals(noisy, self._totals), self.ddof)
        return by_measure(noisy, self._totals, slopes)

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The covariance, within what the bounds allow."""
        totals, laws = noisy_totals(noisy, self._totals)
        n, first, second, products = totals
        high = float(self.first.bound() * self.second.bound())
        ends = covariance_intervals(
            n,
            first,
            second,
            products,
            laws,
            confidence=confidence,
            high=_squares(self.first, self.second),
            ddof=self.ddof,
        )
        return from_totals(name, _covariance(totals, self.ddof, high), ends, confidence)


@dataclass(frozen=True)
class Correlation(Aggregate):
    """CORR: the covariance over the root of both variances."""

    present: CountRows
    first: Total
    second: Total
    products: Total
    first_squares: Total
    second_squares: Total

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of pairs, centred totals, products, squares."""
        return self._totals

    @property
    def weights(self) -> tuple[float, ...]:
        """Products matter most."""
        return (PRESENCE, 0.25, 0.25, 1.0, 0.25, 0.25)

    @property
    def _totals(self) -> tuple[Linear, ...]:
        return (
            *(self.present, self.first, self.second, self.products),
            *(self.first_squares, self.second_squares),
        )

    def first_order(self, noisy: NoisyValues) -> FirstOrder | None:
        """By its measures, where there are enough values and their variances are not near zero."""
        slopes = correlation_slopes(*noisy_totals(noisy, self._totals))
        return by_measure(noisy, self._totals, slopes)

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The correlation, between -1 and 1."""
        totals, laws = noisy_totals(noisy, self._totals)
        n, first, second, products, left, right = totals
        ends = correlation_intervals(
            n,
            first,
            second,
            left,
            right,
            products,
            [laws[place] for place in (0, 1, 2, 4, 5, 3)],
            confidence=confidence,
            high=_squares(self.first, self.second),
        )
        return from_totals(name, _correlation(totals), ends, confidence)


def _covariance(totals: Sequence[Floats], ddof: int, high: float) -> Floats:
    n, first, second, products = totals
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (products - first * second / n) / (n - ddof)
    limit = high * (1 + ddof)
    return np.where(n > ddof, np.clip(found, -limit, limit), np.nan)


def _correlation(totals: Sequence[Floats]) -> Floats:
    n, first, second, products, squares, others = totals
    with np.errstate(divide="ignore", invalid="ignore"):
        above = products - first * second / n
        below = (squares - first**2 / n) * (others - second**2 / n)
        found = above / np.sqrt(below)
    return np.where((n > 0) & (below > 0), np.clip(found, -1.0, 1.0), np.nan)


def _squares(x: Total, y: Total) -> tuple[float, float]:
    """The largest squares of the centred values."""
    return float(x.bound() ** 2), float(y.bound() ** 2)


def _covar(ddof: int) -> Callable[[Expression, Expression], Covariance]:
    def make(x: Expression, y: Expression) -> Covariance:
        first, second = pair(x, y)
        return Covariance(
            *(CountRows(first), centred(first), centred(second), product(first, second)), ddof
        )

    return make


def _corr(x: Expression, y: Expression) -> Correlation:
    first, second = pair(x, y)
    return Correlation(
        *(CountRows(first), centred(first), centred(second), product(first, second)),
        *(product(first, first), product(second, second)),
    )


_PAIR = (Argument.NUMBER, Argument.NUMBER)
FUNCTIONS = (
    AggregateFunction(("COVAR_SAMP",), _PAIR, _covar(1), usual=False),
    AggregateFunction(("COVAR_POP",), _PAIR, _covar(0), usual=False),
    AggregateFunction(("CORR",), _PAIR, _corr),
)
