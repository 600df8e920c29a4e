"""A statistic of a stream: how events become increments, and estimates become answers.

Any counter counts any statistic: it is opened with the statistic's keys and contribution, fed with
its ``increments`` at each tick, and its estimates are read by ``answer``, which costs nothing.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.mechanisms.grid import LIMIT
from discreet.streams.contribution import EventContribution


class Statistic(Protocol):
    """What is counted for it, and what follows from the counts."""

    @property
    def keys(self) -> int:
        """How many numbers are counted side by side."""

    @property
    def contribution(self) -> EventContribution:
        """How far one event moves them."""

    def increments(self, values: Any) -> NDArray[np.int64]:
        """What the events of one tick add: one number for each key, zeros where nothing came."""

    def answer(self, estimates: NDArray[Any]) -> Any:
        """What follows from a counter's estimates at one tick."""


def real_values(values: Any) -> NDArray[np.float64]:
    """The values of one tick's events; NaN means an event without a value, and is left out."""
    found = np.asarray(values)
    if found.size and found.dtype.kind not in "iufb":
        raise InvalidData(
            code="not_numbers",
            expectation="numbers, one for each event of the tick",
            received=f"array of {found.dtype.type.__name__}",
            remedy="Convert the values to numbers; NaN where an event has none.",
        )
    flat = found.reshape(-1).astype(np.float64)
    return flat[~np.isnan(flat)]


def sums_within(steps: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """Sums over the first axis, clamped to 2**61, of numbers of at most ``bound`` each.

    In 64 bits a sum of many large numbers would come round to the other end, further than any event
    moves it; halves of 32 bits do not, for fewer than 2**31 of them.
    """
    if len(steps) * bound <= LIMIT:
        return np.asarray(steps.sum(axis=0, dtype=np.int64))
    low = (steps & 0xFFFFFFFF).sum(axis=0, dtype=np.int64)
    high = (steps >> 32).sum(axis=0, dtype=np.int64) + (low >> 32)
    inside = (high << 32) + (low & 0xFFFFFFFF)
    edge = LIMIT >> 32
    return np.where(high >= edge, LIMIT, np.where(high < -edge, -LIMIT, inside))
