"""A ledger on a PostgreSQL server: durable, shared by programs on many machines."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.ledger.backup import copied
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Head
from discreet.ledger.entry import first
from discreet.ledger.fence import Place
from discreet.ledger.keyring import server_keyring
from discreet.ledger.ledger import Ledger, Result
from discreet.ledger.live_copy import Living
from discreet.ledger.postgres.connection import Dial
from discreet.ledger.postgres.store import Server
from discreet.ledger.terms import Terms

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


class Postgres(Ledger):
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
        dial = Dial(conninfo)
        self._name, self._where = name, dial.where
        self.server = Server(dial, name)
        self.keys = server_keyring(key, name, self.exists)
        self.place = Place(f"{name} on a server")  # which has many addresses, and may fail over
        living = Living(self.keys.fence, lambda: self.place)
        super().__init__(Chain(self.server, self.keys.existing, living))

    @property
    def name(self) -> str:
        """Of this ledger among those in the database."""
        return self._name

    def exists(self) -> bool:
        """Whether it was begun."""
        with self.server.reading():
            return not self.server.blank()

    def backup(self, path: str | os.PathLike[str]) -> Head:
        """Write a consistent copy to a new file of SQLite, flushed; return the head it ends with.

        The key is not part of it. Others may go on reading and writing. The copy is a ledger
        itself: ``restore`` brings it back to a server or to a file.
        """
        with self.chain.reading() as last:
            copied(self.server, last, Path(path).resolve())
        return last.head

    def _begin(self, terms: Terms) -> None:
        if not self.exists():
            self.keys.begin()
            with self.server.beginning():
                if self.server.blank():  # else a concurrent opening was faster
                    key = self.keys.existing()
                    text = terms.text(key.identity)
                    self.server.append(first(text=text, limit=terms.limit).sealed(key))
        self.keys.finish(self.chain.owner().identity)

    def repeated(self, act: Callable[[], Result]) -> Result:
        """Again where the server was lost and nothing was written."""
        return self.server.session.patiently(act)

    def __repr__(self) -> str:
        return f"Postgres({self._name!r} at {self._where!r})"
