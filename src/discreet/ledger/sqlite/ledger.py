"""A ledger in a file: durable, shared by threads and processes, sealed under the owner's key."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from discreet.ledger.backup import new_file
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Head
from discreet.ledger.durable_files import exists, write_new
from discreet.ledger.entry import first
from discreet.ledger.errors import damaged, missing
from discreet.ledger.fence import Place
from discreet.ledger.keyring import Keyring, keyring
from discreet.ledger.ledger import Ledger
from discreet.ledger.live_copy import Living
from discreet.ledger.sqlite.store import File
from discreet.ledger.terms import Terms


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
        self._path = Path(path).resolve()
        self._keys = keyring(key, self._path)
        self._file = File(self._path)
        living = Living(self._keys.fence, self._here)
        super().__init__(Chain(self._file, self._keys.existing, living))

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    def _here(self) -> Place | None:
        return Place.of_file(self._path) if exists(self._path) else None

    def _begin(self, terms: Terms) -> None:
        if not exists(self._path):
            self._keys.begin()
            with suppress(FileExistsError):
                write_new(self._path, b"")
        with self._file.reading():
            blank = self._file.blank()
        if blank:
            with self._file.writing():
                self._write_first(terms)
        self._keys.finish(self.chain.owner().identity)

    def _write_first(self, terms: Terms) -> None:
        if not self._file.blank():
            return  # a concurrent opening was faster
        if not self._keys.begun():
            raise damaged(
                what="an empty file, which is a ledger that was emptied unless you made it yourself"
            )
        key = self._keys.existing()
        self._file.lay_out()
        self._file.append(first(text=terms.text(key.identity), limit=terms.limit).sealed(key))

    def backup(self, path: str | os.PathLike[str]) -> Head:
        """Write a consistent copy to a new file, flushed; return the head it ends with.

        The key is not part of it. Others may go on reading; writers wait for the copy.
        """
        target = Path(path).resolve()
        if not exists(self._path):
            raise missing(self._path.name)
        with self.chain.reading() as last, new_file(target):
            self._file.copy_to(target)
        return last.head

    def __repr__(self) -> str:
        return f"SQLite({str(self._path)!r})"
