"""How long single steps of an event loop take: everybody waits for each of them.

``measured(loop)`` times every callback of a loop by the processor time of its thread, which other
work on the machine does not change.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from tests.processor_time import thread_seconds

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


def measured(loop: asyncio.AbstractEventLoop) -> LongestStep:
    """Measure a loop from now on."""
    asyncio.Handle._run = _timed  # type: ignore[assignment, method-assign]
    return _MEASURED.setdefault(loop, LongestStep())


def _timed(handle: Any) -> None:
    longest = _MEASURED.get(handle._loop)
    if longest is None:
        _run(handle)
        return
    what = handle._callback  # it is let go of where the handle is cancelled
    began = thread_seconds()
    try:
        _run(handle)
    finally:
        seconds = thread_seconds() - began
        longest.steps += 1
        if seconds > longest.seconds:
            longest.seconds, longest.what = seconds, repr(getattr(what, "__self__", what))
