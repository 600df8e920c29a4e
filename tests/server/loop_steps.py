"""How long single steps of an event loop take: everybody waits for each of them.

``measured(loop)`` times every callback of a loop by the processor time of its thread, which other
work on the machine does not change, without the collection of garbage: how long that takes depends
on what all earlier tests of the process left behind.
"""

from __future__ import annotations

import asyncio
import gc
import time
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

LONGEST = 0.4
"""Seconds of processor time that a step may take: what is largest in a body of the largest size."""


@dataclass
class LongestStep:
    """The longest step of a loop so far."""

    seconds: float = 0.0
    what: str = ""
    steps: int = 0


_MEASURED: WeakKeyDictionary[asyncio.AbstractEventLoop, LongestStep] = WeakKeyDictionary()
_run = asyncio.Handle._run


class _Collecting:
    """Processor time of the collecting thread, as it began and in all; one collects at a time."""

    began = total = 0.0

    def __call__(self, phase: str, _: object) -> None:
        if phase == "start":
            self.began = time.thread_time()
        else:
            self.total += time.thread_time() - self.began


_collecting = _Collecting()


def measured(loop: asyncio.AbstractEventLoop) -> LongestStep:
    """Measure a loop from now on."""
    asyncio.Handle._run = _timed  # type: ignore[assignment, method-assign]
    if _collecting not in gc.callbacks:
        gc.callbacks.append(_collecting)
    return _MEASURED.setdefault(loop, LongestStep())


def _timed(handle: Any) -> None:
    longest = _MEASURED.get(handle._loop)
    if longest is None:
        _run(handle)
        return
    what = handle._callback  # it is let go of where the handle is cancelled
    began, collected = time.thread_time(), _collecting.total
    try:
        _run(handle)
    finally:
        seconds = time.thread_time() - began - (_collecting.total - collected)
        longest.steps += 1
        if seconds > longest.seconds:
            longest.seconds, longest.what = seconds, repr(getattr(what, "__self__", what))
