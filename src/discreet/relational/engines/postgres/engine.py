"""PostgreSQL as an engine: tables stay where they are, and aggregates leave the server.

Bounded rows leave it for learners that look several times, and for nothing else.

All statements of a question run in one read-only transaction that sees one state of the tables.
Nothing is written into the database, not even a temporary table; public keys travel as constants.

Source: contract, "What may be seen", "Numbers"; 004d:F21. Proof: ``proofs/engines.md``.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.postgres.address import driver
from discreet.relational.bounding.hashing import NATIVE, Hashing
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.engine import EngineTable
from discreet.relational.engines.postgres.dialect import PostgresDialect
from discreet.relational.engines.postgres.server import PostgresServer, begin
from discreet.relational.engines.postgres.views import require_steady
from discreet.relational.schema.sources import TableSource, cannot_read
from discreet.relational.types.data_type import DataType

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

_HEADER = 19
_TRAILER = 2
_BATCH = 1 << 22
_SIZES = {4: ">i4", 8: ">i8"}


class Postgres:
    """Tables of a PostgreSQL database: ``Postgres("postgresql://analyst@db/clinic")``.

    ``hashing`` says how the rows of a person that are kept are chosen. Passwords are better kept
    in ``~/.pgpass`` than in the connection string; they are never shown.
    """

    def __init__(self, conninfo: str, *, hashing: Hashing = NATIVE) -> None:
        """Remember where the server is; the first table opens a connection."""
        self._server = PostgresServer(conninfo)
        self._family = object()
        self._taken = False
        self._dialect = PostgresDialect()
        self._hashing = hashing
        self._connection: Connection[Any] | None = None
        self._process = os.getpid()
        self._alone = threading.RLock()
        self._reading = False
        self._places: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def hashing(self) -> Hashing:
        """How rows that bounding keeps are chosen."""
        return self._hashing

    def table(self, name: str) -> EngineTable:
        """A table or view of the database, by its name: ``"clinic.visits"``, or in ``public``."""
        return EngineTable(self, name)

    def attach(self, name: str, source: TableSource) -> dict[str, str]:
        """Look at a table's columns, at none of its rows."""
        if not isinstance(source, EngineTable):
            raise cannot_read(
                engine="PostgreSQL",
                source=source,
                remedy='Load it into the database and write postgres.table("schema.name").',
            )
        if not isinstance(source.engine, Postgres) or source.engine._family is not self._family:
            raise Mismatch(
                code="engines_differ",
                expectation="a table made by this engine",
                received=type(source.engine).__name__,
                remedy="Make every table with the same engine object.",
            )
        schema, _, table = source.name.rpartition(".")
        identifier = self._dialect.identifier
        place = f"{identifier(schema or 'public')}.{identifier(table)}"
        with self._alone:
            if self._places.setdefault(name, place) != place:
                raise InvalidParameter(
                    code="table_name_taken",
                    expectation=f"one table for the name {name} in one engine",
                    received=source.name,
                    remedy="Choose another name, or make another engine for this curator.",
                )
            try:
                known = self._remember_columns(name)
            except driver().errors.Error:
                known = None
            finally:
                if name not in self._columns:
                    self._places.pop(name)
        if known is None:
            raise InvalidParameter(
                code="source_unreadable",
                expectation=f"a table that this user may read for {name}",
                received=source.name,
                remedy='Check the name, "schema.table", and the rights of the user.',
            )
        return known

    def _remember_columns(self, name: str) -> dict[str, str]:
        """The columns of a table that suits us, which are remembered."""
        with self.snapshot():
            found = self.columns(name)
            with self._cursor() as cursor:
                require_steady(cursor, self._places[name], name)
        self._columns[name] = found
        return found

    def lock(self) -> None:
        """Nothing to do: every transaction reads only, with built-in functions alone."""

    def place(self, name: str) -> str:
        """Schema and name, quoted."""
        return self._places[name]

    def columns(self, name: str) -> dict[str, str]:
        """Names and types as the server describes them."""
        with self.snapshot(), self._cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self._places[name]} LIMIT 0")
            return self._described(cursor)

    def contents(self, name: str) -> object:
        """How many rows there are, and two sums of 64-bit hashes of them."""
        row = '"a row"'
        sums = ", ".join(
            f'CAST(SUM(CAST(HASHTEXTEXTENDED(CAST({row} AS TEXT) COLLATE "C", {seed}) AS NUMERIC))'
            " AS TEXT)"
            for seed in (1, 2)
        )
        return self.rows(f"SELECT COUNT(*), {sums} FROM {self._places[name]} AS {row}")[0]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One read-only transaction; tables that changed their columns are not read in it.

        A connection that is lost inside is ``engine_unreachable``, without the server's words.
        """
        lost = False
        with self._alone:
            if self._reading:
                yield
                return
            self._begin()
            self._reading = True
            try:
                self._require_columns()
                yield
            except driver().OperationalError:
                lost = self._connection is None or self._connection.closed
                if not lost:
                    raise
            finally:
                self._reading = False
                with suppress(driver().errors.Error):
                    self._run("ROLLBACK")
        if lost:
            raise self._server.unreachable() from None

    def keys(self, entries: Sequence[tuple[object, ...]], kinds: Sequence[DataType]) -> str:
        """Public keys as arrays of constants: nothing is written into the database."""
        types, arrays, names = self._dialect.types, list[str](), list[str]()
        for place, kind in enumerate(kinds):
            items = ",".join(_element(entry[place]) for entry in entries)
            quoted = ("{" + items + "}").replace("'", "''")
            arrays.append(f"CAST('{quoted}' AS {types[kind]}[])")
            names.append(f"v{place}")
        listed = ", ".join(
            f'{name} COLLATE "C" AS {name}' if kind is DataType.TEXT else name
            for name, kind in zip(names, kinds, strict=True)
        )
        return (
            f"(SELECT n - 1 AS code, {listed} FROM UNNEST({', '.join(arrays)}) WITH ORDINALITY "
            f"AS e({', '.join(names)}, n))"
        )

    def crowd(self, tables: Sequence[str], rows: str, limit: int) -> str:
        """Everybody's rows."""
        return rows

    def numbers(self, text: str) -> list[NDArray[np.int64]]:
        """Run a SELECT whose columns are all integers without NULL, and read them as bytes."""
        with self.snapshot(), self._cursor() as cursor:
            with cursor.copy(f"COPY ({text}) TO STDOUT (FORMAT BINARY)") as copy:
                data = b"".join(bytes(part) for part in copy)
            names = data[_HEADER:-_TRAILER]
            if names:
                return _integers(names)
            cursor.execute(f"SELECT * FROM ({text}) AS q LIMIT 0")
            return [np.zeros(0, dtype=np.int64) for _ in cursor.description or ()]

    def batches(self, text: str) -> Iterator[list[NDArray[np.int64]]]:
        """Run a SELECT of integers without NULL; rows come as bytes, all of one length."""
        whole = f"COPY ({text}) TO STDOUT (FORMAT BINARY)"
        with self.snapshot(), self._cursor() as cursor, cursor.copy(whole) as copy:
            yield from _whole_rows(bytes(part) for part in copy)

    def keyed(self, text: str) -> list[NDArray[Any]]:
        """Run a SELECT of candidate keys and, last, their numbers of people."""
        with self.snapshot(), self._cursor() as cursor:
            found = cursor.execute(text).fetchall()
            stored = list(self._described(cursor).values())
        columns: list[NDArray[Any]] = []
        for place, name in enumerate(stored):
            values = [row[place] for row in found]
            whole = self._dialect.kind_of(name) is DataType.INTEGER and None not in values
            columns.append(np.array(values, dtype=np.int64 if whole else object))
        return columns

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """Run a SELECT over public tables and fetch its rows."""
        with suppress(driver().errors.Error), self.snapshot(), self._cursor() as cursor:
            fetched: list[tuple[object, ...]] = cursor.execute(text).fetchall()
            return fetched
        raise InvalidParameter(
            code="source_unreadable",
            expectation="public tables that the server can read",
            received=self._server.where,
            remedy="The server's log says what happened.",
        )

    def vacant(self) -> Postgres:
        """This engine if no curator has it; else one with a connection of its own."""
        with self._alone:
            if not self._taken:
                self._taken = True
                return self
        other = copy(self)
        other._connection, other._alone, other._reading = None, threading.RLock(), False
        other._places, other._columns = {}, {}
        return other

    def close(self) -> None:
        """Let go of the connection; another use opens a new one."""
        with self._alone:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        """An engine that nobody holds any more keeps no connection."""
        connection = getattr(self, "_connection", None)
        if connection is not None and self._process == os.getpid():
            connection.close()

    def __repr__(self) -> str:
        """Where it is, without user and password."""
        return f"Postgres({self._server.where!r})"

    def _begin(self) -> None:
        """Begin a transaction; a connection that was lost meanwhile is replaced."""
        if self._process != os.getpid():
            # The parent's connection is not ours to use or to close.
            self._connection, self._process = None, os.getpid()
        for _ in range(2):
            if self._connection is None:
                self._connection = self._server.connect()
            with suppress(driver().errors.Error):
                self._run(begin(self._connection.info.server_version))
                return
            self.close()
        raise self._server.unreachable()

    def _require_columns(self) -> None:
        """Refuse tables whose columns are no longer those that were attached.

        Looking at them holds them as they are until the transaction ends.
        """
        if not self._columns:
            return
        texts = [f"SELECT * FROM {self._places[name]} LIMIT 0" for name in self._columns]
        found = list[dict[str, str]]()
        # A table that is gone, or may not be read any more, has no columns.
        with suppress(driver().ProgrammingError), self._cursor() as cursor:
            cursor.execute("; ".join(texts))
            for _ in texts:
                found.append(self._described(cursor))
                cursor.nextset()
        if found != list(self._columns.values()):
            raise InvalidParameter(
                code="data_changed",
                expectation="tables with the columns that they had when they were attached",
                remedy="Open a new curator on the same ledger.",
            )

    def _described(self, cursor: Cursor[Any]) -> dict[str, str]:
        return {
            column.name: self._type(column.type_display, column.type_code)
            for column in cursor.description or ()
        }

    def _type(self, shown: str, code: int) -> str:
        """The name of a type; sizes are kept for numerics alone."""
        if shown == str(code):
            with self._cursor() as cursor:
                found = cursor.execute(
                    f"SELECT typtype, typname FROM pg_type WHERE oid = {int(code)}"
                ).fetchone()
            return "enum" if found is not None and found[0] == "e" else f"type {code}"
        return shown if shown.startswith("numeric") or "[" in shown else shown.partition("(")[0]

    def _cursor(self) -> Cursor[Any]:
        assert self._connection is not None
        return self._connection.cursor()

    def _run(self, text: str) -> None:
        with self._cursor() as cursor:
            cursor.execute(text)


def _element(value: object) -> str:
    """An element of an array constant."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case datetime():
            return f'"{value.isoformat(sep=" ")}"'
        case date():
            return value.isoformat()
        case int() | float():
            return repr(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _integers(data: bytes) -> list[NDArray[np.int64]]:
    """The columns of rows in the binary form of COPY, which all have the same layout."""
    layout = _layout(data)
    rows = np.frombuffer(data, dtype=layout)
    values = [name for name in layout.names or () if name.startswith("value")]
    return [rows[name].astype(np.int64) for name in values]


def _layout(data: bytes | bytearray) -> np.dtype[Any]:
    """How a row lies in the binary form of COPY, from the first one."""
    count = struct.unpack_from(">h", data)[0]
    fields, at = [("fields", ">i2")], 2
    for place in range(count):
        (size,) = struct.unpack_from(">i", data, at)
        fields += [(f"size{place}", ">i4"), (f"value{place}", _SIZES[size])]
        at += 4 + size
    return np.dtype(fields)


def _whole_rows(parts: Iterator[bytes]) -> Iterator[list[NDArray[np.int64]]]:
    """The columns of rows in the binary form of COPY, about ``_BATCH`` bytes of it at a time."""
    held, skipped = bytearray(), _HEADER
    for part in parts:
        held += part
        if len(held) >= _BATCH:
            del held[:skipped]
            skipped = 0
            whole = len(held) - len(held) % _layout(held).itemsize
            yield _integers(bytes(held[:whole]))
            del held[:whole]
    last = bytes(held[skipped:-_TRAILER])
    if last:
        yield _integers(last)
