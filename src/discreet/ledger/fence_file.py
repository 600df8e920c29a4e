"""The key file as a place for the fence: read by whoever writes, changed by one at a time.

Whoever adds to a ledger holds the key file shared until the entry is durable; whoever moves the
fence holds it alone. So no entry is added under a fence that has moved. The file is replaced as a
whole, with its secret, or not at all.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.ledger.durable_files import put_in_place, unwritable_at
from discreet.ledger.entry import random_id
from discreet.ledger.errors import busy
from discreet.ledger.fence import Fence, fenced, secret_of
from discreet.ledger.sqlite import errors as trouble

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows; there an owner does one thing at a time
    fcntl = None

_NAP = 0.002
_open: set[int] = set()  # handles that a child of a fork must close


class FenceFile:
    """The fence in one key file."""

    def __init__(self, path: Path) -> None:
        """Look at nothing yet."""
        self._path = path

    @contextmanager
    def shared(self) -> Iterator[bytes | None]:
        """The content of the key file, which stays as it is throughout; None without a file."""
        with self._locked(alone=False) as content:
            yield content

    @contextmanager
    def alone(self) -> Iterator[bytes | None]:
        """The same, while nobody else holds it."""
        with self._locked(alone=True) as content:
            yield content

    def put(self, content: bytes, fence: Fence) -> bool:
        """Put the fence into the file with this content, durably, inside :meth:`alone`.

        False where the folder takes no new files: a key that is only lent has no fence.
        """
        if not os.access(self._path.parent, os.W_OK):
            return False
        draft = self._path.with_name(f"{self._path.name}.{random_id()}")
        put_in_place(draft, self._path, fenced(secret_of(content), fence))
        return True

    @contextmanager
    def _locked(self, *, alone: bool) -> Iterator[bytes | None]:
        end = time.monotonic() + trouble.PATIENCE
        while True:
            handle = self._opened()
            if handle is None:
                yield None
                return
            try:
                if _lock(handle, alone=alone) and self._is(handle):
                    with os.fdopen(os.dup(handle), "rb") as file:
                        content = file.read()
                    yield content
                    return
            finally:
                if handle in _open:  # else a fork has closed it
                    _open.discard(handle)
                    os.close(handle)
            if time.monotonic() > end:
                raise busy(trouble.PATIENCE)
            time.sleep(_NAP)

    def _opened(self) -> int | None:
        try:
            handle = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unwritable_at(self._path, error) from error
        _open.add(handle)
        return handle

    def _is(self, handle: int) -> bool:
        """Whether the file that was locked is still the one with this name."""
        try:
            named = self._path.stat()
        except FileNotFoundError:
            return False
        return os.path.samestat(os.fstat(handle), named)


def _lock(handle: int, *, alone: bool) -> bool:
    """Whether it could be had; where a file system has no locks, the owner sees to it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _close_in_child() -> None:
    """A lock belongs to the parent, and ends with it."""
    while _open:
        with suppress(OSError):
            os.close(_open.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
