"""Variances, deviations, covariances and correlations from noisy centred totals.

Source: modern-data:C2, extended; proofs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.relational.aggregates.aggregate import Correlation, Covariance, Deviation, Spread
from discreet.relational.aggregates.measures import Total
from discreet.release import ReleasedColumn
from discreet.release.column import Ends
from discreet.release.formula import NoisyMeasure
from discreet.release.intervals.correlation import correlation_intervals
from discreet.release.intervals.covariance import covariance_intervals
from discreet.release.intervals.dispersion import stddev_intervals, variance_intervals

Floats = NDArray[np.float64]


def spread_answer(
    name: str,
    aggregate: Spread | Covariance | Correlation,
    measures: Sequence[NoisyMeasure],
    confidence: float,
) -> ReleasedColumn:
    """The column, with intervals that hold for noise at ``confidence`` in every cell."""
    totals = [np.asarray(measure.values, dtype=np.float64) for measure in measures]
    laws = [measure.law for measure in measures]
    match aggregate:
        case Spread(squares=squares, freedom=freedom):
            values = _variance(totals, freedom, float(squares.high))
            make = variance_intervals
            if isinstance(aggregate, Deviation):
                values, make = np.sqrt(values), stddev_intervals
            n, first, second = totals
            lower, upper = make(
                n,
                first,
                second,
                laws,
                confidence=confidence,
                high=float(squares.high),
                ddof=freedom,
            )
        case Covariance(first=x, second=y, freedom=freedom):
            values = _covariance(totals, freedom, float(x.bound() * y.bound()))
            n, first, second, products = totals
            lower, upper = covariance_intervals(
                n,
                first,
                second,
                products,
                laws,
                confidence=confidence,
                high=_squares(x, y),
                ddof=freedom,
            )
        case Correlation(first=x, second=y):
            values = _correlation(totals)
            n, first, second, products, left, right = totals
            lower, upper = correlation_intervals(
                n,
                first,
                second,
                left,
                right,
                products,
                [laws[place] for place in (0, 1, 2, 4, 5, 3)],
                confidence=confidence,
                high=_squares(x, y),
            )
    return ReleasedColumn.given(
        name,
        [None if np.isnan(value) else float(value) for value in values],
        interval=Ends(tuple(lower.tolist()), tuple(upper.tolist())),
        note=f"from noisy totals; {confidence:.0%} intervals cover noise only",
    )


def _variance(totals: Sequence[Floats], freedom: int, high: float) -> Floats:
    n, first, second = totals
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (second - first**2 / n) / (n - freedom)
    limit = high * (1 + freedom)
    return np.where(n > freedom, np.clip(spread, 0.0, limit), np.nan)


def _covariance(totals: Sequence[Floats], freedom: int, high: float) -> Floats:
    n, first, second, products = totals
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (products - first * second / n) / (n - freedom)
    limit = high * (1 + freedom)
    return np.where(n > freedom, np.clip(found, -limit, limit), np.nan)


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
