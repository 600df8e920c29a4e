"""Alternating measurements, and the figures made of them.

Machines are noisy, so nothing is timed by itself: in each round every contender runs once, in an
order that turns around from round to round, and a ratio is the median of the rounds' own ratios.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TypeVar

T = TypeVar("T")
Timer = Callable[[], float]
"""Does the work once and returns the seconds it took."""


def clock(work: Callable[[], object], *, calls: int = 1) -> Timer:
    """Time ``work``; for work too short for the clock, the mean of ``calls`` calls."""

    def timer() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            result = work()
        took = time.perf_counter() - start
        del result  # freed only after the clock has stopped
        return took / calls

    return timer


def processor_clock(work: Callable[[], object]) -> Timer:
    """The processor's seconds for ``work``, over all threads: other programs do not count."""

    def timer() -> float:
        start = time.process_time()
        result = work()
        took = time.process_time() - start
        del result
        return took

    return timer


def clock_on(fresh: Callable[[], T], work: Callable[[T], object]) -> Timer:
    """Time ``work`` on an input made anew, off the clock, each time."""

    def timer() -> float:
        made = fresh()
        return clock(lambda: work(made))()

    return timer


def alternate(
    stage: str, timers: Mapping[str, Timer], *, rounds: int, warm: int = 1
) -> dict[str, list[float]]:
    """Seconds of each timer in each round; ``warm`` rounds before are not counted."""
    print(f"{stage} ", end="", file=sys.stderr, flush=True)
    seconds: dict[str, list[float]] = {name: [] for name in timers}
    for turn in range(-warm, rounds):
        for name in list(timers)[:: -1 if turn % 2 else 1]:
            took = timers[name]()
            if turn >= 0:
                seconds[name].append(took)
        print("." if turn >= 0 else "w", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr, flush=True)
    return seconds


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number of a report: the median of its values, what is aimed at, and a remark."""

    name: str
    values: Sequence[float]
    unit: str
    at_most: float = math.inf
    at_least: float = -math.inf
    remark: str = ""

    @property
    def value(self) -> float:
        """The median, or NaN where nothing could be measured."""
        return median(self.values) if self.values else math.nan

    @property
    def spread(self) -> str:
        """The quartiles, where there are enough values to have any."""
        if len(self.values) < 4:
            return ""
        low, _, high = quantiles(self.values, n=4, method="inclusive")
        return f"{low:.3g} – {high:.3g}"

    @property
    def target(self) -> str:
        """What is aimed at, and whether it was reached."""
        if math.isinf(self.at_most) and math.isinf(self.at_least):
            return ""
        aim = f"≥ {self.at_least:g}" if math.isinf(self.at_most) else f"≤ {self.at_most:g}"
        if not self.values:
            return f"{aim}  ?"
        return f"{aim}  {'yes' if self.at_least <= self.value <= self.at_most else 'NO'}"

    @property
    def line(self) -> str:
        """The line that programs read."""
        return f"BENCH {self.name} {self.value:.4g} {self.unit}"


def ratios(above: Sequence[float], below: Sequence[float], *, factor: float = 1) -> list[float]:
    """Round by round, ``factor * above / below``."""
    return [factor * a / b for a, b in zip(above, below, strict=True)]


def scaled(seconds: Sequence[float], factor: float) -> list[float]:
    """Seconds in a smaller unit, or for more work than was done."""
    return [factor * each for each in seconds]
