"""What work took by itself: the seconds since its order without those it waited for a processor.

Others' work on the same machine makes a worker wait for a processor, and with it everything that it
does. That is not its own time: it would use up the overruns of whoever asked. Linux counts for each
thread how long it could have run and did not; what the busiest thread waited is taken off. Waiting
for anything else (a disk, a lock, a database server) is the work's own, since it may depend on
rows; so is all of it where the system does not count.

Source: ``proofs/timing.md``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_THREADS = Path("/proc/self/task")


@dataclass(frozen=True)
class ThreadTimes:
    """Seconds that a thread ran, and that it waited for a processor while it could have run."""

    ran: float = 0.0
    waited: float = 0.0


class OwnTime:
    """The time of one order, from now on."""

    def __init__(self) -> None:
        """Begin."""
        self._began = (
            time.monotonic()
        )  # first here and last below: no waiting counts that is outside
        self._threads, self._ran = thread_times(), time.process_time()

    def seconds(self) -> float:
        """What the work took by itself until now."""
        ran, after = time.process_time() - self._ran, thread_times()
        elapsed = time.monotonic() - self._began
        return own_seconds(
            elapsed, ran=ran, before=self._threads, after=after, processors=_processors()
        )


def own_seconds(
    elapsed: float,
    *,
    ran: float,
    before: Mapping[str, ThreadTimes],
    after: Mapping[str, ThreadTimes],
    processors: int,
) -> float:
    """Of the seconds elapsed, those without what the busiest thread waited for a processor.

    Never less than all threads that ``ran`` need on all ``processors``: threads that keep one
    another waiting are the work's own.
    """
    new = ThreadTimes()
    spent = [
        ThreadTimes(now.ran - was.ran, now.waited - was.waited)
        for thread, now in after.items()
        for was in [before.get(thread, new)]
    ]
    busiest = max(spent, key=lambda each: each.ran, default=new)
    least = min(elapsed, ran / processors)
    return min(elapsed, max(least, elapsed - max(0.0, busiest.waited)))


def thread_times() -> dict[str, ThreadTimes]:
    """Those of each thread of this process; none where the system does not count."""
    found = {}
    with suppress(OSError):
        for thread in _THREADS.iterdir():
            with suppress(OSError, ValueError):
                ran, waited, _ = map(int, (thread / "schedstat").read_text().split())
                found[thread.name] = ThreadTimes(ran / 1e9, waited / 1e9)
    return found


def _processors() -> int:
    with suppress(AttributeError):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
