"""A scale from numbers to places on paper, with round marks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class LinearScale:
    """Numbers from ``low`` to ``high`` on places from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a number; of one outside, the nearest end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def marks(self, count: int = 4) -> list[tuple[float, str]]:
        """About so many round numbers, each with its place and its text."""
        step = _round_step((self.high - self.low) / count)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(self(n * step), _text(n * step, step)) for n in range(first, last + 1)]


def scale_of(
    numbers: Iterable[float | None], start: float, end: float, *, zero: bool
) -> LinearScale:
    """A scale that has all finite numbers on it, and zero where that means something.

    >>> scale_of([3.0, 9.0], 0, 100, zero=True)(4.5)
    50.0
    """
    finite = [each for each in numbers if each is not None and math.isfinite(each)]
    if zero or not finite:
        finite.append(0.0)
    low, high = min(finite), max(finite)
    if low == high:
        low, high = (low, low + 1.0) if low >= 0 else (low, 0.0)
    return LinearScale(low, high, start, end)


def _round_step(rough: float) -> float:
    """The least of 1, 2, 2.5 and 5 times a power of ten that is not below."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * each for each in _STEPS if power * each >= rough * (1 - 1e-9))


def _text(value: float, step: float) -> str:
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    places += step < 10 and abs(step * 10**places - round(step * 10**places)) > 1e-6
    return f"{value:,.{places}f}"
