"""The fence: which one copy of a ledger lives, written after the secret in its key file.

A copy lives if it contains the entry that the fence names and lies where the fence says. A ledger
brought back elsewhere gets an entry of its own, which the fence names from then on: whatever was
copied before lacks it, and is never added to again. The fence carries a tag under the key, so that
nothing else at the end of a secret is taken for one.

Whoever adds to a ledger holds the key file shared until the entry is durable; whoever moves the
fence holds it alone. So no entry is added under a fence that has moved. The file is replaced as a
whole, with its secret, or not at all.

A key file without a fence gets one from the first ledger that is opened or written with it. A
ledger that was renamed, or put back in its own place, stays the living one, and the fence follows.
Reading is free: a back-up can be verified whatever the fence says.

Proof: ``proofs/ledger.md``. Source: contract, "Spending" (restoring an old copy).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from discreet.core.errors import LedgerError
from discreet.ledger import waiting
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.durable_files import put_in_place, unwritable_at
from discreet.ledger.entry import Entry
from discreet.ledger.errors import busy, damaged, key_wrong, superseded
from discreet.ledger.key import OwnerKey
from discreet.ledger.plain_json import compact
from discreet.noise.randomness import random_id

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows; there an owner does one thing at a time
    fcntl = None

_MARK = b"\ndiscreet fence "
_NAP = 0.002
_open: set[int] = set()  # handles that a child of a fork must close


@dataclass(frozen=True)
class LedgerPlace:
    """Where a ledger lies.

    Attributes:
        text: The path of its file, or its name on a server.
        file: Device and number of the file, which stay the same when it is renamed.
    """

    text: str
    file: tuple[int, int] | None = None

    @classmethod
    def of_file(cls, path: Path) -> LedgerPlace:
        """Where a file lies."""
        found = path.stat()
        return cls(str(path), (found.st_dev, found.st_ino))

    def is_also(self, other: LedgerPlace) -> bool:
        """Whether it is the same by path or by file: renamed, or written anew in its place."""
        return self.text == other.text or (self.file is not None and self.file == other.file)


@dataclass(frozen=True)
class Fence:
    """The entry that the living copy contains, and where that copy lies."""

    checkpoint: Checkpoint
    place: LedgerPlace

    def text(self) -> str:
        """All of it, in one form."""
        file = None if self.place.file is None else list(self.place.file)
        return compact({"head": str(self.checkpoint), "place": self.place.text, "file": file})


def fenced(secret: bytes, fence: Fence) -> bytes:
    """The content of a key file."""
    text = fence.text()
    tagged = compact({"fence": text, "tag": OwnerKey(secret).tag("fence", text)})
    return secret + _MARK + tagged.encode("ascii") + b"\n"


def secret_of(content: bytes) -> bytes:
    """The secret in a key file, with a fence or without."""
    return content.rpartition(_MARK)[0] if _MARK in content else content


def fence_of(content: bytes) -> Fence | None:
    """The fence in a key file; None for one that was written without."""
    secret, mark, tagged = content.rpartition(_MARK)
    if not mark:
        return None
    try:
        whole = json.loads(tagged)
        text = str(whole["fence"])
        if whole["tag"] == OwnerKey(secret).tag("fence", text):
            plain = json.loads(text)
            file = None if plain["file"] is None else (int(plain["file"][0]), int(plain["file"][1]))
            return Fence(Checkpoint.parse(plain["head"]), LedgerPlace(plain["place"], file))
    except (ValueError, LookupError, TypeError):
        pass
    raise damaged(what="the fence in the key file")


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

    def write_fence(self, content: bytes, fence: Fence) -> bool:
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
        handle = waiting.patiently(
            lambda: self._lock_key_file(alone=alone), passes=_is_busy, nap=_NAP
        )
        if handle is None:
            yield None
            return
        try:
            with os.fdopen(os.dup(handle), "rb") as file:
                content = file.read()
            yield content
        finally:
            _close(handle)

    def _lock_key_file(self, *, alone: bool) -> int | None:
        """A handle of the file, locked; None without a file, busy where others hold it."""
        handle = self._opened()
        if handle is None:
            return None
        held = False
        try:
            held = _lock(handle, alone=alone) and self._is(handle)
        finally:
            if not held:
                _close(handle)
        if not held:
            raise busy(waiting.PATIENCE)
        return handle

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


def _close(handle: int) -> None:
    """Close it, which gives the lock back, unless a fork has done so."""
    if handle in _open:
        _open.discard(handle)
        os.close(handle)


def _is_busy(error: Exception) -> bool:
    return isinstance(error, LedgerError) and error.code == "ledger_busy"


def _close_in_child() -> None:
    """A lock belongs to the parent, and ends with it."""
    while _open:
        with suppress(OSError):
            os.close(_open.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


class Copy(Protocol):
    """A copy of a ledger, which can say what its last entry is and what it contains."""

    def reading(self) -> AbstractContextManager[Entry]:
        """See one state of it throughout; yields its last entry."""

    def owner(self) -> OwnerKey:
        """The key that it was started with."""

    def require_checkpoint(self, checkpoint: Checkpoint, what: str) -> None:
        """Refuse a copy that does not contain ``checkpoint``."""


class LiveCopy:
    """Only the living copy of a ledger is added to: asks the fence of its key file."""

    def __init__(self, file: FenceFile | None, here: Callable[[], LedgerPlace | None]) -> None:
        """Look at nothing yet; ``here`` says where the ledger lies, None if it is not there."""
        self._file = file
        self._here = here

    @contextmanager
    def hold_fence(self, copy: Copy) -> Iterator[Fence | None]:
        """Keep the fence where it is throughout; None where there is none.

        Refused where the fence says that another copy lives. Whether the copy contains the
        fence's entry is for the caller to ask, once it reads.
        """
        while self._file is not None:
            with self._file.shared() as content:
                fence, here = None if content is None else fence_of(content), self._here()
                if content is None or here is None or (fence and fence.place == here):
                    yield fence  # a ledger that is not there is for the store to miss
                    return
            if not self._put_fence_here(self._file, copy):
                break
        yield None

    def _put_fence_here(self, file: FenceFile, copy: Copy) -> bool:
        """Put the fence around this copy, if it may be; False where no fence can be kept."""
        with file.alone() as content:
            here = self._here()
            if content is None or here is None:
                return True
            fence = fence_of(content)
            if fence is None:
                with copy.reading() as last:
                    if OwnerKey(secret_of(content)).identity != copy.owner().identity:
                        raise key_wrong()
                    return file.write_fence(content, Fence(last.checkpoint, here))
            if not fence.place.is_also(here):
                raise superseded(fence.place.text)
            with copy.reading():
                copy.require_checkpoint(fence.checkpoint, "the entry that the owner's key names")
            return file.write_fence(content, replace(fence, place=here))


UNFENCED = LiveCopy(None, lambda: None)
"""For ledgers whose key is no file: there is no place for a fence, and one copy is the owner's to
see to."""
