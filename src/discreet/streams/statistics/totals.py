"""Sums and averages of bounded numbers, on a public grid.

Values are clamped to declared bounds and rounded to a power of two before anything is added, so
sums are exact. An average is the quotient of two estimates: the sum of distances from the middle,
and the number of events, which is counted in steps of half the range so that both get equal noise.

Source: contract, "Numbers", "Columns" (AVG sums distances from the middle).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, exact, finite
from discreet.mechanisms.grid import LIMIT
from discreet.streams.contribution import EventContribution
from discreet.streams.statistics.statistic import real_values, sums_within

_WIDEST = 1 << 40


@dataclass(frozen=True, kw_only=True)
class BoundedNumber:
    """Numbers between public bounds, in steps of a public power of two.

    >>> cost = BoundedNumber(low=0, high=50, step=0.5)
    >>> cost.in_steps([10.2, 70.0]).tolist()
    [20, 100]
    """

    low: Number
    high: Number
    step: float

    def __post_init__(self) -> None:
        """Refuse bounds in the wrong order, and steps that are no powers of two."""
        for name in ("low", "high"):
            object.__setattr__(self, name, finite(name, getattr(self, name)))
        size = float(finite("step", self.step))
        if self.low >= self.high or size <= 0 or math.frexp(size)[0] != 0.5:
            raise InvalidParameter(
                code="bounds_do_not_fit",
                expectation="low < high, and a step that is a power of two",
                remedy="Write BoundedNumber(low=0, high=50, step=2**-4).",
            )
        if max(abs(self.first), abs(self.last)) > _WIDEST:
            raise InvalidParameter(
                code="step_too_fine",
                expectation="bounds of at most 2**40 steps",
                remedy="Choose a coarser step.",
            )

    @property
    def first(self) -> int:
        """The lowest value, in steps, rounded down."""
        return math.floor(exact(self.low) / exact(self.step))

    @property
    def last(self) -> int:
        """The highest value, in steps, rounded up."""
        return math.ceil(exact(self.high) / exact(self.step))

    def in_steps(self, values: Any) -> NDArray[np.int64]:
        """Values clamped and rounded, as whole steps."""
        near = np.clip(real_values(values), float(self.low), float(self.high))
        return np.clip(np.rint(near / float(self.step)), self.first, self.last).astype(np.int64)


@dataclass(frozen=True)
class RunningTotal:
    """The sum of a bounded number over all events so far."""

    number: BoundedNumber

    @property
    def keys(self) -> int:
        """The one sum."""
        return 1

    @property
    def contribution(self) -> EventContribution:
        """The larger bound."""
        return EventContribution.of(bound=max(abs(self.number.first), abs(self.number.last), 1))

    def increments(self, values: Any) -> NDArray[np.int64]:
        """The exact sum of one tick's values, in steps, clamped to 2**61."""
        steps = self.number.in_steps(values)
        return sums_within(steps.reshape((-1, 1)), _WIDEST)

    def answer(self, estimates: NDArray[Any]) -> float:
        """The sum, in the units of the number."""
        return float(estimates[0]) * float(self.number.step)


@dataclass(frozen=True)
class RunningAverage:
    """The average of a bounded number over all events so far."""

    number: BoundedNumber

    @property
    def keys(self) -> int:
        """The sum of distances from the middle, and the number of events."""
        return 2

    @property
    def _middle(self) -> int:
        return (self.number.first + self.number.last) // 2

    @property
    def _half(self) -> int:
        return max(self.number.last - self._middle, self._middle - self.number.first, 1)

    @property
    def contribution(self) -> EventContribution:
        """Half the range for both numbers."""
        return EventContribution.of(bound=self._half, keys=2)

    def increments(self, values: Any) -> NDArray[np.int64]:
        """Exact sums of one tick, clamped to 2**61."""
        steps = self.number.in_steps(values)
        apart = sums_within(steps - self._middle, _WIDEST << 1)
        return np.array([apart, min(len(steps) * self._half, LIMIT)], dtype=np.int64)

    def answer(self, estimates: NDArray[Any]) -> float:
        """The average, within the bounds; their middle while no event can be told from noise."""
        apart, many = float(estimates[0]), float(estimates[1])
        share = apart / many if many > 0 else 0.0
        steps = self._middle + min(1.0, max(-1.0, share)) * self._half
        return steps * float(self.number.step)
