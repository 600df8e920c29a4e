"""What tells a stream the time, and what is done when it jumps.

Ticks follow each other by number: none is skipped and none comes twice, whatever a clock says. A
clock that goes back makes the stream wait; one that goes ahead of itself by more than what is
tolerated stops it before anything is released, since it would use up ticks that are not over. After
a pause, such as a crash, the ticks that were missed follow at once, each with its own output.

Source: contract, "Spending" (streams output at public clock ticks).
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Protocol

from discreet.core.errors import Mismatch
from discreet.streams.live.ticks import MICROSECOND

_NAP = 0.05


class Clock(Protocol):
    """Tells the time in microseconds since 1970; it never goes back."""

    @property
    def moves(self) -> bool:
        """Whether time passes by itself, and not only as it is waited for."""

    def now(self) -> int:
        """What time it is."""

    def wait(self, until: int, *, most: float) -> bool:
        """Wait until then, or for ``most`` seconds; whether it is then."""


class SystemClock:
    """The machine's clock, held against its own count of seconds.

    ``tolerance`` is how far the two may drift apart while a stream runs, as when a time server
    corrects the machine. Beyond it the stream stops with ``clock_jumped``; nothing is lost, and
    it can be resumed once the clock is right.
    """

    moves = True

    def __init__(self, *, tolerance: timedelta = timedelta(minutes=5)) -> None:
        """Note where both stand."""
        self._tolerance = tolerance / timedelta(seconds=1)
        self._wall, self._steady = time.time(), time.monotonic()
        self._latest = 0

    def now(self) -> int:
        wall = time.time()
        expected = self._wall + time.monotonic() - self._steady
        if abs(wall - expected) > self._tolerance:
            raise Mismatch(
                code="clock_jumped",
                expectation=f"a clock that stays within {self._tolerance:g} seconds of itself",
                received=f"a jump of {wall - expected:+.0f} seconds",
                remedy="Nothing was released or spent. Set the clock right, and resume the stream.",
            )
        self._latest = max(self._latest, int(wall * 1e6))
        return self._latest

    def wait(self, until: int, *, most: float) -> bool:
        end = time.monotonic() + most
        while (now := self.now()) < until:
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(_NAP, left, (until - now) / 1e6))
        return True


class ReplayClock:
    """For events that all lie in the past: a tick is over as soon as it is waited for.

    All declared ticks are released, those without events too; so it tells no more than a live one.
    """

    moves = False

    def __init__(self) -> None:
        """Begin before everything."""
        self._now = -(1 << 62)

    def now(self) -> int:
        return self._now

    def wait(self, until: int, *, most: float) -> bool:
        self._now = max(self._now, until)
        return True


class ManualClock:
    """A clock that is set by hand, for tests and for schedules of one's own."""

    moves = True

    def __init__(self, start: int) -> None:
        """Begin at a time."""
        self._now = start

    def set(self, now: int) -> None:
        """Let it be then; going back changes nothing."""
        self._now = max(self._now, now)

    def advance(self, by: timedelta) -> None:
        """Let so much time pass."""
        self.set(self._now + by // MICROSECOND)

    def now(self) -> int:
        return self._now

    def wait(self, until: int, *, most: float) -> bool:
        if self._now < until:
            time.sleep(min(_NAP, most))
        return self._now >= until
