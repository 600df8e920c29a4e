"""Where the owner's key comes from, and how a ledger and its key are born together.

A key file that is in its place proves that a ledger was started: then a missing or emptied ledger
was lost, and is never started afresh in silence. So a new key first lies beside its place, with
``.new`` after the name; it is on disk before the first entry, and moves to its place once that
entry is durable. A crash in between leaves a ``.new`` file, and the next opening carries on.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from discreet.core.errors import InvalidParameter
from discreet.ledger.durable_files import exists, give_name, sync_folder, unwritable_at, write_new
from discreet.ledger.errors import key_missing, missing
from discreet.ledger.fence import FenceFile, secret_of
from discreet.ledger.key import OwnerKey, fresh_secret
from discreet.noise.randomness import random_id


class Keyring(Protocol):
    """Finds the key of one ledger."""

    @property
    def fence(self) -> FenceFile | None:
        """Where the fence is kept; None where there is no place for one."""

    def existing(self) -> OwnerKey:
        """The key of a ledger that has entries, or of a back-up of it."""

    def begin(self) -> None:
        """Prepare the key of a ledger that is to be started; refused where one was before."""

    def starting(self) -> bool:
        """Whether a beginning is under way, so that an empty file is no lost ledger."""

    def finish(self, identity: str) -> None:
        """Settle the key with this identity, now that the first entry is durable."""


class KeyFile:
    """A key in a file that is made for one ledger, and never for a second."""

    def __init__(self, path: Path, ledger: str, there: Callable[[], bool]) -> None:
        """Read nothing yet; ``there`` says whether the ledger of that name exists."""
        self._path = path
        self._new = path.with_name(path.name + ".new")
        self._ledger = ledger
        self._there = there
        self._fence = FenceFile(path)

    @property
    def fence(self) -> FenceFile | None:
        """In the key file, once that is in its place."""
        return self._fence

    def existing(self) -> OwnerKey:
        """From its place, or from the file that was to be moved there."""
        for place in (self._path, self._new, self._path):  # it may move while we look
            content = _read_key_file(place)
            if content is not None:
                return OwnerKey(secret_of(content))
        raise key_missing(self._path.name)

    def begin(self) -> None:
        """Make a key, unless an interrupted or concurrent beginning has made one."""
        if exists(self._path):
            if self._there():
                return
            raise missing(self._ledger)
        draft = self._path.with_name(f"{self._path.name}.{random_id()}")
        write_new(draft, fresh_secret())
        try:
            with suppress(FileExistsError):  # then somebody else's, complete, is there already
                give_name(draft, self._new)
        finally:
            draft.unlink()

    def starting(self) -> bool:
        """Whether the key waits beside its place."""
        return exists(self._new) and not exists(self._path)

    def finish(self, identity: str) -> None:
        """Move the key to its place; drop one that came too late for a concurrent beginning."""
        content = _read_key_file(self._new)
        if content is None:
            return
        if OwnerKey(secret_of(content)).identity == identity:
            with suppress(FileExistsError, FileNotFoundError):
                give_name(self._new, self._path)
        if exists(self._path):
            self._new.unlink(missing_ok=True)
            sync_folder(self._path.parent)


class KeyInMemory:
    """A key that the owner passes; whether a ledger was started before, only the owner knows."""

    fence = None

    def __init__(self, secret: bytes) -> None:
        """Hold the key."""
        self._key = OwnerKey(secret)

    def existing(self) -> OwnerKey:
        return self._key

    def begin(self) -> None:
        """Nothing to prepare."""

    def starting(self) -> bool:
        """As far as anybody can tell."""
        return True

    def finish(self, identity: str) -> None:
        """Nothing to settle."""


class KeyGiven(KeyInMemory):
    """A key that the owner passes for a file, which is empty while it is being started."""

    def __init__(self, secret: bytes, ledger: Path) -> None:
        """Hold the key."""
        super().__init__(secret)
        self._mark = ledger.with_name(ledger.name + ".new")

    def begin(self) -> None:
        """Leave an empty mark, which says that a beginning is under way."""
        with suppress(FileExistsError):
            write_new(self._mark, b"")

    def starting(self) -> bool:
        """Whether the mark is there."""
        return exists(self._mark)

    def finish(self, identity: str) -> None:
        """Remove the mark of a beginning with this key."""
        if identity == self._key.identity:
            self._mark.unlink(missing_ok=True)


class KeyLent(KeyInMemory):
    """A key that was found before, for whoever holds the fence alone."""

    def __init__(self, key: OwnerKey) -> None:
        """Hold the key."""
        self._key = key


def keyring(key: bytes | str | os.PathLike[str] | Keyring | None, ledger: Path) -> Keyring:
    """By default the file beside the ledger with ``.key`` after its name."""
    match key:
        case KeyFile() | KeyInMemory():
            return key
        case None:
            return keyring(ledger.with_name(ledger.name + ".key"), ledger)
        case bytes():
            return KeyGiven(key, ledger)
        case str() | os.PathLike():
            return KeyFile(Path(key).resolve(), ledger.name, lambda: exists(ledger))
    raise not_a_key(key)


def server_keyring(
    key: bytes | str | os.PathLike[str], ledger: str, there: Callable[[], bool]
) -> Keyring:
    """For a ledger on a server, which begins as a whole or not at all."""
    match key:
        case bytes():
            return KeyInMemory(key)
        case str() | os.PathLike():
            return KeyFile(Path(key).resolve(), ledger, there)
    raise not_a_key(key)


def not_a_key(key: object) -> InvalidParameter:
    """What was passed cannot be a key."""
    return InvalidParameter(
        code="not_a_key",
        expectation="an owner's key: 32 bytes or more, or the path of its file",
        received=type(key).__name__,
        remedy="Pass the path of a file; it is made with the ledger if it is not there.",
    )


def _read_key_file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unwritable_at(path, error) from error
