"""DuckDB as the embedded engine: one locked-down connection that reads only what was attached.

External access is off, the configuration is locked and no extension can be loaded; files that
were attached stay readable. CSV fields are read as text and frames are not sampled, so that no
type depends on private values.

Source: contract, "What may be seen"; 004d:F21.
"""

from __future__ import annotations

import csv
import gzip
import threading
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.relational.dialect import Dialect
from discreet.relational.engines.duckdb_dialect import DuckDBDialect
from discreet.relational.sources import CSVFile, DatabaseTable, Frame, ParquetFile, Source


class DuckDB:
    """An embedded engine. ``memory_limit`` such as "4GB"; ``temp_directory`` for what spills."""

    def __init__(
        self,
        *,
        memory_limit: str | None = None,
        temp_directory: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        """Start an empty engine."""
        settings: dict[str, Any] = {
            "preserve_insertion_order": False,
            "ieee_floating_point_ops": True,
            "pandas_analyze_sample": 0,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if memory_limit is not None:
            settings["memory_limit"] = memory_limit
        if temp_directory is not None:
            settings["temp_directory"] = str(temp_directory)
        if threads is not None:
            settings["threads"] = threads
        self._connection = duckdb.connect(":memory:", config=settings)
        self._alone = threading.RLock()
        self._places: dict[str, str] = {}
        self._databases: dict[Path, str] = {}
        self._paths: list[str] = []
        self._keys: dict[tuple[tuple[object, ...], ...], str] = {}
        self._dialect = DuckDBDialect()

    @property
    def dialect(self) -> Dialect:
        """DuckDB's SQL."""
        return self._dialect

    def attach(self, name: str, source: Source) -> dict[str, str]:
        """Make rows available under ``name``; the stored type of each column."""
        with self._alone:
            try:
                self._places[name] = self._attached(len(self._places), source)
                described = self._run(f"DESCRIBE SELECT * FROM {self._places[name]}").fetchall()
            except duckdb.Error:
                raise InvalidParameter(
                    code="source_unreadable",
                    expectation=f"rows that DuckDB can read for the table {name}",
                    received=type(source).__name__,
                    remedy="Check that the file is whole and of the kind its name says.",
                ) from None
        return {str(row[0]): str(row[1]) for row in described}

    def lock(self) -> None:
        """Close every way out."""
        with self._alone:
            paths = ", ".join(self._dialect.literal(path) for path in self._paths)
            self._run(f"SET allowed_paths = [{paths}]")
            self._run("SET enable_external_access = false")
            self._run("SET lock_configuration = true")

    def place(self, name: str) -> str:
        """How an attached table is written in a FROM clause."""
        return self._places[name]

    def keys(self, entries: Sequence[tuple[object, ...]]) -> str:
        """A table of public keys, built once."""
        wanted = tuple(entries)
        with self._alone:
            known = self._keys.get(wanted)
            if known is None:
                known = f"keys_{len(self._keys)}"
                literal = self._dialect.literal
                rows = ", ".join(
                    f"({code}, {', '.join(map(literal, entry))})"
                    for code, entry in enumerate(wanted)
                )
                names = ", ".join(f"v{place}" for place in range(len(wanted[0])))
                self._run(
                    f"CREATE TEMP TABLE {known} AS SELECT code::BIGINT AS code, {names} "
                    f"FROM (VALUES {rows}) AS entries(code, {names})"
                )
                self._keys[wanted] = known
        return known

    def numbers(self, text: str) -> list[NDArray[np.int64]]:
        """Run a SELECT whose columns are all 64-bit integers without NULL."""
        with self._alone:
            fetched = self._run(text).fetchnumpy()
        return [np.asarray(column, dtype=np.int64) for column in fetched.values()]

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """Run a SELECT over public tables and fetch its rows."""
        with self._alone:
            fetched: list[tuple[object, ...]] = self._run(text).fetchall()
        return fetched

    def close(self) -> None:
        """Let go of the connection."""
        with self._alone:
            self._connection.close()

    def _run(self, text: str) -> duckdb.DuckDBPyConnection:
        return self._connection.execute(text)

    def _attached(self, number: int, source: Source) -> str:
        literal, identifier = self._dialect.literal, self._dialect.identifier
        view = f"source_{number}"
        match source:
            case Frame(frame):
                known = _arrays(frame) if isinstance(frame, dict) else frame
                self._connection.register(view, known)
                return view
            case DatabaseTable(path, table):
                if path not in self._databases:
                    self._databases[path] = f"database_{number}"
                    self._run(f"ATTACH {literal(str(path))} AS database_{number} (READ_ONLY)")
                schema, _, name = table.rpartition(".")
                within = f"{identifier(schema)}." if schema else ""
                return f"{self._databases[path]}.{within}{identifier(name)}"
            case ParquetFile(path):
                self._paths.append(str(path))
                self._run(f"CREATE VIEW {view} AS SELECT * FROM read_parquet({literal(str(path))})")
                return view
            case CSVFile(path):
                self._paths.append(str(path))
                separator, names = _header(path)
                types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
                self._run(
                    f"CREATE VIEW {view} AS SELECT * FROM read_csv({literal(str(path))}, "
                    f"auto_detect = false, header = true, delim = {literal(separator)}, "
                    f"quote = '\"', escape = '\"', columns = {{{types}}}, ignore_errors = true, "
                    f"null_padding = true, parallel = false, strict_mode = false)"
                )
                return view
        raise TypeError(type(source).__name__)


def _header(path: Path) -> tuple[str, list[str]]:
    """Separator by the file's name, and the names in its first line."""
    separator = "\t" if ".tsv" in path.suffixes else ","
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as file:
            names = next(csv.reader(file, delimiter=separator), [])
    except (OSError, UnicodeDecodeError):
        names = []
    if not names or len(set(names)) != len(names):
        raise InvalidParameter(
            code="csv_without_header",
            expectation="a first line that names each column once",
            received=path.name,
            remedy="Add a header line, or pass a frame.",
        )
    return separator, names


def _arrays(columns: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Columns given as lists or arrays, in types that DuckDB reads: days become moments."""
    made = {}
    for name, values in columns.items():
        array = np.asarray(values)
        given = (
            [value for value in array.tolist() if value is not None]
            if array.dtype == object
            else []
        )
        if given and all(isinstance(value, date) for value in given):
            array = np.array(values, dtype="datetime64[us]")
        elif given and all(isinstance(value, int | float) for value in given):
            array = np.array([np.nan if value is None else value for value in values], dtype=float)
        elif array.dtype.kind == "M":
            array = array.astype("datetime64[us]")
        made[str(name)] = array
    return made
