"""Shares of the event loop: what one person's messages and requests take of it.

One thread serves everybody. Work that grows with what somebody sends is done in short steps, each
of which is timed; who has used up their share waits, and nobody else does. What a person may take
is the same for all, whatever others do: a burst at once, and then a share of every second.
"""

from __future__ import annotations

import asyncio
import time
import types
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

Result = TypeVar("Result")

SHARE, BURST = 0.1, 0.1
"""Of every second; and seconds that may be taken at once."""
_MOST = 10_000
"""Subjects that are remembered; the others have all their burst."""


class LoopShares:
    """What is left of each subject's share, in seconds of the event loop."""

    def __init__(
        self,
        *,
        share: float = SHARE,
        burst: float = BURST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Give everybody the same."""
        self._share, self._burst, self._clock = share, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, subject: str, seconds: float) -> None:
        """Note what somebody took."""
        self._left[subject] = (self._now(subject) - seconds, self._clock())
        self._left.move_to_end(subject)
        if len(self._left) > _MOST:
            self._left.popitem(last=False)

    def missing(self, subject: str) -> float:
        """Seconds until somebody may go on; 0: now."""
        return max(0.0, -self._now(subject) / self._share)

    async def turn(self, subject: str) -> None:
        """Let others go on, and wait until it is this one's turn."""
        await asyncio.sleep(0)
        while (seconds := self.missing(subject)) > 0:
            await asyncio.sleep(seconds)

    async def accounted(self, subject: str, work: Awaitable[Result]) -> Result:
        """Await ``work``, noting what its steps take of the loop."""
        return await _timed(work, lambda seconds: self.spend(subject, seconds))

    def _now(self, subject: str) -> float:
        left, at = self._left.get(subject, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - at) * self._share)


async def in_turns(
    steps: Generator[None, None, Result], pause: Callable[[], Awaitable[None]]
) -> Result:
    """Do what a generator does, pausing wherever it yields; what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as over:
            found: Result = over.value
            return found
        await pause()


@types.coroutine
def _timed(work: Awaitable[Result], spend: Callable[[float], None]) -> Generator[Any, Any, Result]:
    """Await, and tell how long each step from one suspension to the next takes."""
    steps: Any = work.__await__()
    act, given = steps.send, None
    while True:
        began = time.thread_time()  # others may have the processor meanwhile
        try:
            waited_for = act(given)
        except StopIteration as over:
            found: Result = over.value
            return found
        finally:
            spend(time.thread_time() - began)
        try:
            act, given = steps.send, (yield waited_for)
        except BaseException as error:  # whatever is thrown in is thrown on
            act, given = steps.throw, error
