"""The catalogue of a service: an engine in memory that holds public facts, and nothing else.

It has no access to files, cannot be configured by what it is asked, and gives up after so much work
of its own: what others do meanwhile refuses nobody anything.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import duckdb

from discreet.core.errors import InvalidParameter
from discreet.server.wire import types
from discreet.server.wire.catalogue import rows as public
from discreet.server.wire.catalogue.columns import COLUMNS
from discreet.server.wire.catalogue.translate import (
    MACROS,
    SessionFacts,
    not_understood,
    translated,
)
from discreet.server.wire.rowset import RowSet, WireColumn
from discreet.server.wire.statements import WireStatement
from discreet.server.wire.types import WireType

_SECONDS = 0.5
"""Of processor time, after which a question about the catalogue is given up."""
_LOOK = 0.02
"""Seconds between two looks at what it took."""
_MOST_ROWS = 10_000
_TOO_DEEP, _MISSING = "too deep a statement", "something the catalogue does not have"
_ENGINE = {
    "BOOLEAN": types.BOOL,
    "SMALLINT": types.INT2,
    "INTEGER": types.INT4,
    "BIGINT": types.INT8,
    "HUGEINT": types.INT8,
    "UINTEGER": types.OID,
    "DOUBLE": types.FLOAT8,
    "VARCHAR": types.TEXT,
    "VARCHAR[]": types.TEXTS,
    "BIGINT[]": types.WHOLES,
    "INTEGER[]": types.WHOLES,
    "DATE": types.DATE,
    "TIMESTAMP": types.TIMESTAMP,
}
_WRITTEN = {
    types.BOOL: "BOOLEAN",
    types.INT8: "BIGINT",
    types.FLOAT8: "DOUBLE",
    types.TEXT: "VARCHAR",
    types.DATE: "DATE",
    types.TIMESTAMP: "TIMESTAMP",
}


class Catalogue:
    """Answers what programs ask a database about itself."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Fill it from the schema that everybody may know."""
        tables = public.declared(schema)
        self._declared = {each.name.lower(): f"public.{each.name}" for each in tables}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._engine = duckdb.connect(config={"temp_directory": ""})
        for statement in _locked(tables):
            self._engine.execute(statement)
        for space, name, row in public.rows(tables):
            columns = ", ".join(f'"{each}"' for each in row)
            places = ", ".join("?" for _ in row)
            insert = f'INSERT INTO "{space}.{name}" ({columns}) VALUES ({places})'
            self._engine.execute(insert, list(row.values()))
        for setting in ("enable_external_access = false", "lock_configuration = true"):
            self._engine.execute(f"SET {setting}")

    async def answered(self, person: str, statement: WireStatement, about: SessionFacts) -> RowSet:
        """The rows of a question about the catalogue, one at a time for each person; free."""
        async with self._turns[person]:
            return await asyncio.to_thread(self._answered, statement, about)

    def _answered(self, statement: WireStatement, about: SessionFacts) -> RowSet:
        try:
            text = translated(
                statement.text, self._declared, about, no_rows=statement.wants_no_rows
            )
        except RecursionError:
            raise not_understood(_TOO_DEEP) from None
        cursor = self._engine.cursor()
        try:
            with _interrupted_late(cursor, threading.get_ident()):
                cursor.execute(text)
                found = cursor.fetchmany(_MOST_ROWS)
                described = cursor.description or []
        except duckdb.InterruptException:
            raise _too_long() from None
        except (duckdb.Error, RuntimeError):
            raise not_understood(_MISSING) from None
        finally:
            cursor.close()
        columns = tuple(WireColumn(each[0], _form(str(each[1]))) for each in described)
        plain = [tuple(_plain(value) for value in row) for row in found]
        return RowSet(columns, plain)

    def close(self) -> None:
        """Let go of the engine."""
        self._engine.close()


def _locked(tables: list[public.DeclaredTable]) -> Iterator[str]:
    """Everything the engine has: tables of the catalogue, empty tables, macros."""
    yield "SET threads = 1"
    yield "SET memory_limit = '128MB'"
    yield "SET python_enable_replacements = false"
    for (space, name), columns in COLUMNS.items():
        written = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
        yield f'CREATE TABLE "{space}.{name}" ({written})'
    for table in tables:
        written = ", ".join(f"{_quoted(name)} {_WRITTEN[form]}" for name, form in table.columns)
        yield f"CREATE TABLE {_quoted(f'public.{table.name}')} ({written})"
    yield "CREATE TABLE wire_types (oid UINTEGER, shown VARCHAR)"
    for form in types.TYPES.values():
        yield f"INSERT INTO wire_types VALUES ({form.oid}, '{form.name}')"
    for name, body in MACROS.items():
        yield f"CREATE MACRO c_{name}{body}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _interrupted_late(cursor: duckdb.DuckDBPyConnection, thread: int) -> Iterator[None]:
    """Interrupt what takes too much of the one thread that works on it, however long that lasts."""
    began, over = _worked(thread), threading.Event()

    def look() -> None:
        while not over.wait(_LOOK):
            if _worked(thread) - began > _SECONDS:
                cursor.interrupt()

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _worked(thread: int) -> float:
    """Seconds of processor time that a thread of this process has had; where unknown, the clock."""
    try:
        return time.clock_gettime(time.pthread_getcpuclockid(thread))
    except (AttributeError, OSError):  # not on every system
        return time.monotonic()


def _form(kind: str) -> WireType:
    known = _ENGINE.get(kind.upper(), types.TEXT)
    return types.FLOAT8 if kind.upper().startswith("DECIMAL") else known


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return str(value) if isinstance(value, dict | bytes) else value


def _too_long() -> InvalidParameter:
    return InvalidParameter(
        code="catalogue_too_long",
        expectation=f"questions about the catalogue that take at most {_SECONDS:g} seconds of work",
        remedy="Ask for fewer tables at a time.",
    )
