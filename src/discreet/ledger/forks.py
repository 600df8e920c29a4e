"""Forks and ledgers: a child opens the file anew, and is never born in mid-transaction.

SQLite forbids a connection to cross a fork. So a fork waits for every ledger of the process to be
idle; in the child the idle connections are put aside, neither used nor closed.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something with a lock that a fork must wait for, and a connection to be put aside."""

    lock: Any

    def put_aside(self) -> Any:
        """Give up the connection, and return it."""


_forking = threading.Lock()  # one fork at a time
_watched: WeakSet[Any] = WeakSet()
_held: list[Any] = []
_aside: list[Any] = []  # kept, since closing them here is for the parent to do


def watch(forked: Forked) -> None:
    """Let forks of this process wait for ``forked``."""
    _watched.add(forked)


def _before() -> None:
    _forking.acquire()
    _held.extend(sorted(_watched, key=id))
    for forked in _held:
        forked.lock.acquire()


def _release() -> None:
    while _held:
        _held.pop().lock.release()
    _forking.release()


def _in_child() -> None:
    _aside.extend(forked.put_aside() for forked in _held)
    _release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_in_child)
