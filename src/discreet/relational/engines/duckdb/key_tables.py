"""Public keys as temporary tables of DuckDB."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.key_tables import Entries, Kinds, at_least_one
from discreet.relational.types.data_type import DataType

_MANY_KEYS = 1000
_ARRAYS: dict[DataType, Any] = {
    DataType.TEXT: object,
    DataType.INTEGER: np.int64,
    DataType.DOUBLE: np.float64,
    DataType.BOOLEAN: np.bool_,
    DataType.DATE: "datetime64[us]",
    DataType.TIMESTAMP: "datetime64[us]",
}


@dataclass(frozen=True)
class TemporaryTables:
    """Makes and drops them on a connection, which ``alone`` guards."""

    connection: duckdb.DuckDBPyConnection
    dialect: Dialect
    alone: threading.RLock
    numbers: count[int] = field(default_factory=count)

    def make(self, entries: Entries, kinds: Kinds) -> str:
        """The name of a new table; no name is used twice."""
        table = f"keys_{next(self.numbers)}"
        names = [f"v{place}" for place in range(len(kinds))]
        typed = ", ".join(
            f"CAST({name} AS {self.dialect.types[kind]}) AS {name}"
            for name, kind in zip(names, kinds, strict=True)
        )
        made = f"CREATE TEMP TABLE {table} AS SELECT code::BIGINT AS code, {typed} FROM"
        columns = _columns(entries, kinds)
        with self.alone:
            if columns is not None:
                self.connection.register("entries", columns)
                self.connection.execute(f"{made} entries")
                self.connection.unregister("entries")
            else:
                some, none = at_least_one(entries, kinds)
                rows = ", ".join(
                    f"({code}, {', '.join(map(self.dialect.literal, entry))})"
                    for code, entry in enumerate(some)
                )
                values = f"(VALUES {rows}) AS entries(code, {', '.join(names)})"
                self.connection.execute(f"{made} {values}{none}")
        return table

    def drop(self, table: str) -> None:
        """Free its room."""
        with self.alone:
            self.connection.execute(f"DROP TABLE {table}")


def _columns(entries: Entries, kinds: Kinds) -> dict[str, NDArray[Any]] | None:
    """Keys as arrays: many of them, which are slow to read as text, and text that ends a statement.

    None where they are few, or of kinds with NULL in them that an array has no room for.
    """
    hidden = any(isinstance(value, str) and "\0" in value for entry in entries for value in entry)
    if len(entries) <= _MANY_KEYS and not hidden:
        return None
    columns: dict[str, NDArray[Any]] = {"code": np.arange(len(entries))}
    for place, kind in enumerate(kinds):
        values = [entry[place] for entry in entries]
        if kind is not DataType.TEXT and None in values:
            return None
        columns[f"v{place}"] = np.array(values, dtype=_ARRAYS[kind])
    return columns
