"""Entries on a PostgreSQL server, durable when a block of writing is left.

Nothing is ever updated or deleted but the note of the last entry, whose row is the writers' lock.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import COLUMNS, Entry, EntryKind, entry_of, row_of
from discreet.ledger.errors import damaged
from discreet.ledger.postgres import schema as tables
from discreet.ledger.postgres.transaction import BEGIN, READ, WRITE, Transactions
from discreet.postgres.address import Address

_ENTRIES, _HEADS = f"{tables.SCHEMA}.entries", f"{tables.SCHEMA}.heads"
_SELECT = f"SELECT {COLUMNS} FROM {_ENTRIES} WHERE ledger = %s"
_RELEASED = (
    f"SELECT released.number FROM {_ENTRIES} AS paid JOIN {_ENTRIES} AS released"
    " ON released.ledger = paid.ledger AND released.kind = 'committed'"
    " AND released.subject = paid.id WHERE paid.ledger = %s AND paid.kind = 'reserved'"
    " AND paid.subject = %s ORDER BY released.number DESC LIMIT 1"
)
_INSERT = (
    f"INSERT INTO {_ENTRIES} (ledger, {COLUMNS})"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING mac"
)
_NOTE = (
    f"INSERT INTO {_HEADS} (ledger, number, mac) VALUES (%s, %s, %s) ON CONFLICT (ledger)"
    " DO UPDATE SET number = EXCLUDED.number, mac = EXCLUDED.mac RETURNING mac"
)


class PostgresStore:
    """A :class:`~discreet.ledger.store.Store` in a database, for any number of writers."""

    def __init__(self, address: Address, name: str) -> None:
        """Touch nothing yet."""
        self.transactions = Transactions(address, name)
        self._name = name

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the ledger throughout; part of the surrounding block, if there is one."""
        with self.transactions.transaction(READ):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer; commit at the end, or take everything back."""
        with self.transactions.transaction(WRITE):
            yield

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Be the only one who begins a ledger in this database; the tables are there."""
        with self.transactions.transaction(BEGIN):
            if not self.transactions.laid_out:
                tables.create(self.transactions.connection)
                self.transactions.laid_out = True
            yield

    def blank(self) -> bool:
        """Whether nothing was ever written under this name, inside a block."""
        if self.checkpoint() is not None:
            return False
        if self.transactions.laid_out and self.after(0, 1):
            raise damaged(what="the last entry is not noted")
        return True

    def append(self, entry: Entry) -> None:
        """Insert the entry, and note it as the last."""
        connection = self.transactions.connection
        added = connection.execute(_INSERT, (self._name, *row_of(entry))).fetchone()
        noted = connection.execute(_NOTE, (self._name, entry.number, entry.mac)).fetchone()
        if added != (entry.mac,) or noted != (entry.mac,):
            raise damaged(what="the server's tables do not keep what is written")
        self.transactions.appended = entry

    def checkpoint(self) -> Checkpoint | None:
        """As noted beside the entries."""
        if not self.transactions.laid_out:
            return None
        query = f"SELECT number, mac FROM {_HEADS} WHERE ledger = %s"
        row = self.transactions.connection.execute(query, (self._name,)).fetchone()
        return None if row is None else Checkpoint(number=row[0], mac=row[1])

    def at(self, number: int) -> Entry | None:
        """By primary key."""
        return self._one(f"{_SELECT} AND number = %s", number)

    def find_entry_by_id(self, name: str) -> Entry | None:
        """By unique id."""
        return self._one(f"{_SELECT} AND id = %s", name)

    def latest(self, kind: EntryKind, subject: str) -> Entry | None:
        where = "AND kind = %s AND subject = %s ORDER BY number DESC LIMIT 1"
        return self._one(f"{_SELECT} {where}", kind.value, subject)

    def every(self, kind: EntryKind, subject: str) -> list[Entry]:
        where = "AND kind = %s AND subject = %s ORDER BY number"
        return self._all(f"{_SELECT} {where}", kind.value, subject)

    def released(self, subject: str) -> Entry | None:
        return self._one(f"{_SELECT} AND number = ({_RELEASED})", self._name, subject)

    def after(self, number: int, count: int) -> list[Entry]:
        """By primary key."""
        return self._all(f"{_SELECT} AND number > %s ORDER BY number LIMIT %s", number, count)

    def inspect(self) -> None:
        """Compare the tables with their form."""
        tables.require_form(self.transactions.connection)

    def close(self) -> None:
        """Close the connection for good."""
        self.transactions.close()

    def _one(self, query: str, *values: object) -> Entry | None:
        found = self._all(query, *values)
        return found[0] if found else None

    def _all(self, query: str, *values: object) -> list[Entry]:
        if not self.transactions.laid_out:
            return []
        rows = self.transactions.connection.execute(query, (self._name, *values))
        return [entry_of(row) for row in rows]
