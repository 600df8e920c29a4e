"""A ledger in a file: durable, shared by threads and processes, sealed under the owner's key."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.durable_files import backup_file, exists, file_path, write_new
from discreet.ledger.entry import first
from discreet.ledger.errors import damaged, missing
from discreet.ledger.fence import LedgerPlace, LiveCopy
from discreet.ledger.keyring import Keyring, keyring
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite.store import SQLiteStore
from discreet.ledger.terms import LedgerTerms


class SQLite(Ledger):
    """A ledger in one file of the standard library's SQLite.

    Args:
        path: The file; :meth:`open` makes it.
        key: The owner's key: 32 bytes or more, or the path of its file, which is made with the
            ledger if it is not there. By default the file beside the ledger, ``<path>.key``.

    Contract: the file lies on a local disk that keeps what ``fsync`` has flushed; nobody moves
    or replaces it while it is open.
    Guarantee: what an operation wrote is durable when it returns.
    """

    durable = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        key: bytes | str | os.PathLike[str] | Keyring | None = None,
    ) -> None:
        """Touch nothing yet."""
        self._path = file_path(path)
        self._keys = keyring(key, self._path)
        self._store = SQLiteStore(self._path)
        live_copy = LiveCopy(self._keys.fence, self._here)
        super().__init__(Chain(self._store, self._keys.existing, live_copy))

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    def _here(self) -> LedgerPlace | None:
        return LedgerPlace.of_file(self._path) if exists(self._path) else None

    def _begin(self, terms: LedgerTerms) -> None:
        if not exists(self._path):
            self._keys.begin()
            with suppress(FileExistsError):
                write_new(self._path, b"")
        with self._store.reading():
            blank = self._store.blank()
        if blank:
            with self._store.writing():
                self._write_first(terms)
        self._keys.finish(self.chain.owner().identity)

    def _write_first(self, terms: LedgerTerms) -> None:
        if not self._store.blank():
            return  # a concurrent opening was faster
        if not self._keys.starting():
            raise damaged(
                what="an empty file, which is a ledger that was emptied unless you made it yourself"
            )
        key = self._keys.existing()
        self._store.lay_out()
        self._store.append(first(text=terms.text(key.identity), limit=terms.limit).sealed(key))

    def backup(self, path: str | os.PathLike[str]) -> Checkpoint:
        """Write a consistent copy to a new file, flushed; return the checkpoint it ends with.

        The key is not part of it. Others may go on reading; writers wait for the copy.
        """
        target = Path(path).resolve()
        if not exists(self._path):
            raise missing(self._path.name)
        with self.chain.reading() as last, backup_file(target):
            self._store.copy_to(target)
        return last.checkpoint

    def __repr__(self) -> str:
        return f"SQLite({str(self._path)!r})"


def ledger_at(value: Ledger | str | os.PathLike[str]) -> Ledger:
    """A ledger as it is, or the file at a path.

    >>> ledger_at("visits.ledger").durable
    True
    """
    if isinstance(value, Ledger):
        return value
    if isinstance(value, (str, os.PathLike)) and str(value):
        return SQLite(value)
    raise InvalidParameter(
        code="ledger_expected",
        expectation="a path for the ledger, or a ledger",
        received=type(value).__name__,
        remedy='Write ledger="visits.ledger"; `ledger.Memory()` forgets with the process.',
    )
