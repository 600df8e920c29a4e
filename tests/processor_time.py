"""Processor time of a step, without the collection of garbage.

How long collecting takes depends on what all earlier tests of the process left behind: seconds, in
a whole run. Limits stand several times above what a step takes, since a processor that is shared
is slower too, and several times below what the mistake took that they are there for.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Collecting:
    """Processor time of the collecting thread, as it began and in all; one collects at a time."""

    began = total = 0.0

    def __call__(self, phase: str, _: object) -> None:
        if phase == "start":
            self.began = time.thread_time()
        else:
            self.total += time.thread_time() - self.began


_collecting = _Collecting()
gc.callbacks.append(_collecting)


def process_seconds() -> float:
    """Processor time of all threads so far."""
    return time.process_time() - _collecting.total


def thread_seconds() -> float:
    """Processor time of this thread so far; only differences within one thread mean anything."""
    return time.thread_time() - _collecting.total


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail if a block takes more processor time than that."""
    begun = process_seconds()
    yield
    taken = process_seconds() - begun
    assert taken < seconds, f"{taken:.2f} s of processor time, of {seconds:g}"
