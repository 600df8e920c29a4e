"""Where the state lies: an SQLite file for one front process, PostgreSQL for several.

Two ways to write. A plain write is on disk when the call returns: people, tokens, grants. A
*relaxed* one may be lost with the machine's power, and by nothing else: jobs, leases and counters,
conveniences beside the ledger, or over within minutes. Either way it is all or nothing.

Source: sqlite.org, "Write-Ahead Logging", "PRAGMA synchronous"; PostgreSQL documentation,
"Asynchronous Commit".
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, create_engine, event, text

from discreet.core.errors import InvalidParameter
from discreet.curator.project.locations import from_environment
from discreet.postgres.address import Address
from discreet.server.settings import PostgresState, SQLiteState

_CONNECTIONS = 16
_PATIENCE = 15.0
_AGAIN = 0.01
_SCHEMA = "discreet_service"
_LOCK = 0x6469736372656574
"""The number under which migrations exclude each other: the name of this software in ASCII."""


class StateDatabase(Protocol):
    """An engine, and how it begins reads and writes."""

    engine: Engine

    def begin_read(self, connection: Connection) -> None:
        """One state of everything, for looking."""

    def begin_copy(self, connection: Connection) -> None:
        """One state of everything, over several statements."""

    def begin_relaxed_write(self, connection: Connection) -> None:
        """Write what may be lost with the machine's power."""

    def begin_write(self, connection: Connection) -> None:
        """Write what is on disk when the transaction has ended."""

    def begin_migration(self, connection: Connection) -> None:
        """Write while nobody else does: for migrations."""


class SQLiteDatabase(StateDatabase):
    """A file with a write-ahead log: readers do not wait for the writer."""

    def __init__(self, place: SQLiteState) -> None:
        """Open it, readable by its owner alone; nothing is created in it yet."""
        try:
            os.close(os.open(place.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise InvalidParameter(
                code="state_unwritable",
                expectation="a place for the service's state that can be written to",
                received=place.path.name,
                remedy=f"Set `state =` in [service] of the project file: {error.strerror}.",
            ) from None
        self.engine = create_engine(
            f"sqlite:///{place.path}",
            pool_size=_CONNECTIONS,
            max_overflow=0,
            connect_args={
                "timeout": _PATIENCE,
                "isolation_level": None,
                "check_same_thread": False,
            },
        )
        event.listen(self.engine, "connect", _set_up_sqlite)
        event.listen(self.engine, "begin", _begin_nothing)

    def begin_read(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    def begin_copy(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    def begin_relaxed_write(self, connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA synchronous = NORMAL")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def begin_write(self, connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA synchronous = FULL")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def begin_migration(self, connection: Connection) -> None:
        self.begin_write(connection)


class PostgresDatabase(StateDatabase):
    """A schema on a server, shared by all replicas."""

    def __init__(self, place: PostgresState) -> None:
        """Name the server; nothing is asked of it yet."""
        address = Address(from_environment(place.variable))

        def dialled() -> Any:
            connection = address.dial()
            connection.execute(f"SET search_path = {_SCHEMA}")
            connection.autocommit = False
            return connection

        self.engine = create_engine(
            "postgresql+psycopg://",
            creator=dialled,
            pool_size=_CONNECTIONS,
            max_overflow=0,
            pool_timeout=_PATIENCE,
            pool_pre_ping=True,
        )

    def begin_read(self, connection: Connection) -> None:
        """Each statement sees what was committed before it."""

    def begin_copy(self, connection: Connection) -> None:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))

    def begin_relaxed_write(self, connection: Connection) -> None:
        connection.execute(text("SET LOCAL synchronous_commit = off"))

    def begin_write(self, connection: Connection) -> None:
        """As the server is set up."""

    def begin_migration(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}"))


def database_for(settings: SQLiteState | PostgresState) -> StateDatabase:
    """Where the settings say."""
    if isinstance(settings, SQLiteState):
        return SQLiteDatabase(settings)
    return PostgresDatabase(settings)


def _set_up_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    _log_ahead(cursor)
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA trusted_schema = OFF")
    cursor.close()


def _log_ahead(cursor: Any) -> None:
    """Several processes may begin a file at once: SQLite itself does not wait here."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(_AGAIN)
        else:
            return


def _begin_nothing(_: Connection) -> None:
    """A transaction is begun by whoever knows what it is for."""
