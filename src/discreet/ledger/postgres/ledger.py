"""A ledger on a PostgreSQL server: durable, shared by programs on many machines."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import first
from discreet.ledger.fence import LedgerPlace, LiveCopy
from discreet.ledger.keyring import server_keyring
from discreet.ledger.ledger import Ledger
from discreet.ledger.postgres.store import PostgresStore
from discreet.ledger.sqlite.store import write_backup
from discreet.ledger.terms import LedgerTerms
from discreet.ledger.waiting import Result
from discreet.postgres.address import Address

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


class PostgreSQL(Ledger):
    """A ledger in a database of a PostgreSQL server, beside others of other names.

    Args:
        conninfo: A connection string or URL as libpq reads it. It is never shown again.
        name: Of this ledger among those in the database.
        key: The owner's key: 32 bytes or more, or the path of its file, which is made with the
            ledger if it is not there. It never goes to the server.

    Contract: the server flushes what it acknowledges, which it is asked about in every
    transaction; its disks keep what was flushed.
    Guarantee: what an operation wrote is durable when it returns. Where the connection breaks,
    the operation finds out whether its entry was written, and is repeated if it was not; if that
    cannot be found out, the error ``ledger_outcome_unknown`` says so.
    """

    durable = True

    def __init__(self, conninfo: str, *, name: str, key: bytes | str | os.PathLike[str]) -> None:
        """Connect to nothing yet."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidParameter(
                code="ledger_name",
                expectation="a name of letters, digits, `_`, `.` and `-`, at most 63 of them",
                received=name,
                remedy='Write name="visits".',
            )
        address = Address(conninfo, tcp_user_timeout=30_000, application_name="discreet ledger")
        self._name, self._where = name, address.where
        self.store = PostgresStore(address, name)
        self.keys = server_keyring(key, name, self.exists)
        # by its name alone: a server has many addresses, and may fail over
        self.place = LedgerPlace(f"{name} on a server")
        live_copy = LiveCopy(self.keys.fence, lambda: self.place)
        super().__init__(Chain(self.store, self.keys.existing, live_copy))

    @property
    def name(self) -> str:
        """Of this ledger among those in the database."""
        return self._name

    def exists(self) -> bool:
        """Whether it was started."""
        with self.store.reading():
            return not self.store.blank()

    def backup(self, path: str | os.PathLike[str]) -> Checkpoint:
        """Write a consistent copy to a new file of SQLite, flushed; return its checkpoint.

        The key is not part of it. Others may go on reading and writing. The copy is a ledger
        itself: ``restore`` brings it back to a server or to a file.
        """
        with self.chain.reading() as last:
            write_backup(self.store, last, Path(path).resolve())
        return last.checkpoint

    def _begin(self, terms: LedgerTerms) -> None:
        if not self.exists():
            self.keys.begin()
            with self.store.beginning():
                if self.store.blank():  # else a concurrent opening was faster
                    key = self.keys.existing()
                    text = terms.text(key.identity)
                    self.store.append(first(text=text, limit=terms.limit).sealed(key))
        self.keys.finish(self.chain.owner().identity)

    def repeated(self, act: Callable[[], Result]) -> Result:
        """Again where the server was lost and nothing was written."""
        return self.store.transactions.patiently(act)

    def __repr__(self) -> str:
        return f"Postgres({self._name!r} at {self._where!r})"
