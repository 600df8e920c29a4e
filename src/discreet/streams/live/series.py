"""What a tick tells of one key: a count, or what follows from the estimates of a statistic.

Counts and sums have an error that is known beforehand. An average, and a quantile, is as exact as
there were events: none is stated. Everything here is made of estimates that were paid for.

Source: contract, "Spending" (error that depends on data is not promised), "Numbers".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact, probability
from discreet.streams.contribution import EventContribution
from discreet.streams.live.events import EVERY
from discreet.streams.statistics.histogram import Quantiles
from discreet.streams.statistics.totals import BoundedNumber, RunningAverage, RunningTotal


@dataclass(frozen=True)
class QuantileSeries:
    """Some quantiles of a number among public cut points, such as the median and quartiles."""

    quantiles: Quantiles
    levels: tuple[float, ...]

    def __init__(self, cuts: Quantiles, levels: tuple[float, ...]) -> None:
        """Levels lie strictly between zero and one."""
        if not isinstance(cuts, Quantiles) or not len(levels):
            raise _not_a_statistic(cuts)
        found = tuple(float(probability("levels", each)) for each in levels)
        object.__setattr__(self, "quantiles", cuts)
        object.__setattr__(self, "levels", found)

    @property
    def keys(self) -> int:
        """Those of the tree over the cuts."""
        return self.quantiles.keys

    @property
    def contribution(self) -> EventContribution:
        """A node of each level, and the number of events."""
        return self.quantiles.contribution

    def increments(self, values: Any) -> NDArray[np.int64]:
        """Exact counts of one tick."""
        return self.quantiles.increments(values)

    def answer(self, estimates: NDArray[Any]) -> tuple[float, ...]:
        """The quantiles, one for each level."""
        return tuple(self.quantiles.quantile(estimates, level) for level in self.levels)


LiveStatistic: TypeAlias = RunningTotal | RunningAverage | QuantileSeries
"""What a live stream can tell beside counts."""


def require_statistic(statistic: object) -> LiveStatistic | None:
    """``statistic`` if it is one for live streams."""
    if statistic is None or isinstance(statistic, RunningTotal | RunningAverage | QuantileSeries):
        return statistic
    raise _not_a_statistic(statistic)


def name_answers_of_key(
    statistic: LiveStatistic | None, key: str, estimates: NDArray[Any]
) -> dict[str, float]:
    """What is told of one key, each series under a name of its own.

    >>> halves = QuantileSeries(Quantiles([1, 2, 3, 4]), (0.5,))
    >>> name_answers_of_key(halves, "A", np.array([4, 1, 2, 1]))
    {'A 50%': 2.0}
    """
    if statistic is None:
        return {key: estimates[0].item()}
    if not isinstance(statistic, QuantileSeries):
        return {key: statistic.answer(estimates)}
    before = "" if key == EVERY else f"{key} "
    names = [f"{before}{100 * level:g}%" for level in statistic.levels]
    return dict(zip(names, statistic.answer(estimates), strict=True))


def told_within(statistic: LiveStatistic | None, error: float) -> float | None:
    """How far it may be off, where that is known: ``error`` is the counter's, in steps."""
    if statistic is None:
        return error
    return error * float(statistic.number.step) if isinstance(statistic, RunningTotal) else None


def statistic_to_dict(statistic: LiveStatistic | None) -> dict[str, Any] | None:
    """For the ledger, under names that never change; numbers exactly, as text."""
    match statistic:
        case None:
            return None
        case RunningTotal(number=number):
            return {"tag": "total/1", **_bounds(number)}
        case RunningAverage(number=number):
            return {"tag": "average/1", **_bounds(number)}
    cuts = [str(exact(cut)) for cut in statistic.quantiles.cuts]
    levels = [str(exact(level)) for level in statistic.levels]
    return {"tag": "quantiles/1", "cuts": cuts, "levels": levels}


def statistic_from_dict(kept: Mapping[str, Any] | None) -> LiveStatistic | None:
    """As the ledger has it."""
    match kept:
        case None:
            return None
        case {"tag": "total/1"}:
            return RunningTotal(_number(kept))
        case {"tag": "average/1"}:
            return RunningAverage(_number(kept))
        case {"tag": "quantiles/1", "cuts": cuts, "levels": levels}:
            places = Quantiles([float(Fraction(cut)) for cut in cuts])
            return QuantileSeries(places, tuple(float(Fraction(level)) for level in levels))
    raise _not_a_statistic(kept)


def _bounds(number: BoundedNumber) -> dict[str, str]:
    return {
        "low": str(exact(number.low)),
        "high": str(exact(number.high)),
        "step": str(exact(number.step)),
    }


def _number(kept: Mapping[str, Any]) -> BoundedNumber:
    return BoundedNumber(
        low=Fraction(kept["low"]), high=Fraction(kept["high"]), step=float(Fraction(kept["step"]))
    )


def _not_a_statistic(given: object) -> InvalidParameter:
    return InvalidParameter(
        code="not_a_live_statistic",
        expectation="RunningTotal(...), RunningAverage(...) or QuantileSeries(...)",
        received=type(given).__name__,
        remedy="Write statistic=RunningTotal(BoundedNumber(low=0, high=500, step=1)), or leave it "
        "out to count events.",
    )
