"""Entries in one SQLite file, durable when a block of writing is left.

The file keeps a rollback journal, deleted at every commit, with ``synchronous=EXTRA``: journal,
file and folder are flushed before ``COMMIT`` returns, so the file by itself always holds all that
was acknowledged. (With a write-ahead log the newest entries live in a second file: whoever copies
or moves only the first would lose spending without a trace.)

Proof: ``proofs/ledger.md``. Source: sqlite.org, "Atomic Commit", "PRAGMA synchronous",
"How To Corrupt".
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.durable_files import backup_file, exists, size, sync_file, sync_folder
from discreet.ledger.entry import COLUMNS, Entry, EntryKind, entry_of, row_of
from discreet.ledger.errors import closed, damaged, missing, replaced, unwritable
from discreet.ledger.forks import watch
from discreet.ledger.sqlite import schema
from discreet.ledger.sqlite.errors import patiently, translated
from discreet.ledger.store import Store, up_to

_SETTINGS = (
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_SELECT = f"SELECT {COLUMNS} FROM entries"
_RELEASED = (
    "SELECT released.number FROM entries AS paid JOIN entries AS released"
    " ON released.kind = 'committed' AND released.subject = paid.id"
    " WHERE paid.kind = 'reserved' AND paid.subject = ? ORDER BY released.number DESC LIMIT 1"
)


class SQLiteStore:
    """A :class:`~discreet.ledger.store.Store` in a file, for threads and processes."""

    def __init__(self, path: Path) -> None:
        """Touch nothing yet."""
        self.path = path
        self.lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] = (0, 0)
        self._checked = False
        self._closed = False
        watch(self)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the file throughout; part of the surrounding block, if there is one."""
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer; commit at the end, or take everything back."""
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self.lock, translated(self.path):
            connection = self._connected()
            if connection.in_transaction:
                yield
                return
            try:
                patiently(lambda: connection.execute(begin))
                # A first read: takes the lock, and rolls back what a crash left half done.
                patiently(lambda: schema.count(connection))
                self._require_same_file()
                self._require_form(connection)
                yield
                patiently(lambda: connection.execute("COMMIT"))
            except BaseException:
                self._take_back(connection)
                raise

    def blank(self) -> bool:
        """Whether the file holds nothing at all, inside a block."""
        return size(self.path) == 0

    def lay_out(self) -> None:
        """Turn a blank file into an empty ledger, inside a block of writing."""
        schema.create(self._connected())

    def append(self, entry: Entry) -> None:
        """Insert the entry, and note it as the last."""
        row = row_of(entry)
        connection = self._connected()
        marks = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO entries ({COLUMNS}) VALUES ({marks})", row)
        note = "INSERT OR REPLACE INTO head (one, number, mac) VALUES (1, ?, ?)"
        connection.execute(note, (entry.number, entry.mac))

    def checkpoint(self) -> Checkpoint | None:
        """As noted beside the entries."""
        if self.blank():
            return None
        row = self._connected().execute("SELECT number, mac FROM head").fetchone()
        if row is None:
            raise damaged(what="the last entry is not noted")
        return Checkpoint(number=row[0], mac=row[1])

    def at(self, number: int) -> Entry | None:
        """By primary key."""
        return self._one(f"{_SELECT} WHERE number = ?", number)

    def find_entry_by_id(self, name: str) -> Entry | None:
        """By unique id."""
        return self._one(f"{_SELECT} WHERE id = ?", name)

    def latest(self, kind: EntryKind, subject: str) -> Entry | None:
        where = "WHERE kind = ? AND subject = ? ORDER BY number DESC LIMIT 1"
        return self._one(f"{_SELECT} {where}", kind.value, subject)

    def every(self, kind: EntryKind, subject: str) -> list[Entry]:
        where = "WHERE kind = ? AND subject = ? ORDER BY number"
        return self._all(f"{_SELECT} {where}", kind.value, subject)

    def released(self, subject: str) -> Entry | None:
        return self._one(f"{_SELECT} WHERE number = ({_RELEASED})", subject)

    def after(self, number: int, count: int) -> list[Entry]:
        """By primary key."""
        return self._all(f"{_SELECT} WHERE number > ? ORDER BY number LIMIT ?", number, count)

    def inspect(self) -> None:
        """Let SQLite check its pages and indices."""
        (verdict,) = self._connected().execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(what="the pages or indices of the file")

    def copy_to(self, path: Path) -> None:
        """Write the state of the surrounding block into an empty file, and flush it."""
        with closing(sqlite3.connect(path)) as copy:
            self._connected().backup(copy)
        sync_file(path)
        sync_folder(path.parent)

    def close(self) -> None:
        """Close the connection for good."""
        with self.lock:
            self._closed = True
            self._disconnect()

    def put_aside(self) -> sqlite3.Connection | None:
        """Give up the connection without closing it: it is the parent's."""
        connection, self._connection = self._connection, None
        return connection

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise closed()
        if self._connection is None:
            if not exists(self.path):
                raise missing(self.path.name)
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",
            uri=True,
            timeout=0,  # waiting is done here, in shorter naps
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            journal = patiently(lambda: _set_up(connection))
            if journal != "delete":
                raise unwritable(reason=f"journal mode {journal}")
            self._identity = self._identify()
            self._checked = False
        except BaseException:
            connection.close()
            raise
        return connection

    def _identify(self) -> tuple[int, int]:
        if not exists(self.path):
            raise missing(self.path.name)
        found = self.path.stat()
        return found.st_dev, found.st_ino

    def _require_same_file(self) -> None:
        if self._identify() != self._identity:
            raise replaced(self.path.name)

    def _require_form(self, connection: sqlite3.Connection) -> None:
        if not self._checked and not self.blank():
            schema.require_form(connection, self.path)
            self._checked = True

    def _take_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._disconnect()  # the journal takes it back at the next opening

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _one(self, query: str, *values: object) -> Entry | None:
        row = self._connected().execute(query, values).fetchone()
        return None if row is None else entry_of(row)

    def _all(self, query: str, *values: object) -> list[Entry]:
        return [entry_of(row) for row in self._connected().execute(query, values)]

    def __del__(self) -> None:
        with suppress(AttributeError):
            self._disconnect()


def _set_up(connection: sqlite3.Connection) -> str:
    """Make commits durable; return the kind of journal that was agreed on."""
    for setting in _SETTINGS:
        connection.execute(setting)
    (journal,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    return str(journal)


def write_backup(store: Store, last: Entry, target: Path) -> None:
    """Write the entries up to ``last`` into a new file, inside a block of reading."""
    with backup_file(target):
        copy = SQLiteStore(target)
        try:
            with copy.writing():
                copy.lay_out()
                for entry in up_to(store, last.number):
                    copy.append(entry)
        finally:
            copy.close()
        sync_file(target)
        sync_folder(target.parent)
