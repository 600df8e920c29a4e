"""DuckDB as the embedded engine: one locked-down connection that reads only what was attached.

External access is off, the configuration is locked and no extension can be loaded; files that
were attached stay readable. CSV fields are read as text, frames are not sampled and categories
are text, so that no type depends on private values; the values of an ENUM are no part of its type.

Source: contract, "What may be seen"; 004d:F21.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.hashing import NATIVE, Hashing
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.duckdb.crowds import LARGE, LEAST, crowds
from discreet.relational.engines.duckdb.csv_file import text_file
from discreet.relational.engines.duckdb.dialect import WHOLE_CELLS, DuckDBDialect
from discreet.relational.engines.duckdb.frames import typed
from discreet.relational.engines.duckdb.key_tables import TemporaryTables
from discreet.relational.engines.duckdb.spill import private_folder, removed_with
from discreet.relational.engines.duckdb.stored import parquet, parquet_columns, require_stored
from discreet.relational.engines.engine import EngineTable
from discreet.relational.engines.key_tables import KeyTables
from discreet.relational.schema.sources import (
    CSVFile,
    DatabaseTable,
    Files,
    InMemory,
    ParquetFile,
    TableSource,
    cannot_read,
)
from discreet.relational.types.data_type import DataType

_LINE = 64
"""Bytes of a line, about: lines are not counted."""
_BATCH = 1 << 18
"""Rows that are handed over at once."""
_ENUM = re.compile(r"ENUM\((?:[^']|'(?:[^']|'')*')*?\)")


class DuckDB:
    """An embedded engine. ``memory_limit`` such as "4GB"; ``temp_directory`` for what spills.

    What spills lies in a folder of its own there, which only this user can enter and which is
    removed when the curator is closed.
    """

    def __init__(
        self,
        *,
        memory_limit: str | None = None,
        temp_directory: str | Path | None = None,
        threads: int | None = None,
        hashing: Hashing = NATIVE,
    ) -> None:
        """Start an empty engine; ``hashing`` says how the rows to keep are chosen."""
        settings: dict[str, Any] = {
            "preserve_insertion_order": False,
            "ieee_floating_point_ops": True,
            "pandas_analyze_sample": 0,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if memory_limit is not None:
            settings["memory_limit"] = memory_limit
        if threads is not None:
            settings["threads"] = threads
        self._like_this = partial(
            type(self),
            memory_limit=memory_limit,
            temp_directory=temp_directory,
            threads=threads,
            hashing=hashing,
        )
        folder = private_folder(temp_directory)
        self._folder = folder
        settings["temp_directory"] = str(folder)
        try:
            self._connection = duckdb.connect(":memory:", config=settings)
        except duckdb.Error:
            folder.rmdir()
            raise
        self._end = removed_with(self, folder, self._connection.close)
        self._alone = threading.RLock()
        self._taken = False
        self._places: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._databases: dict[Path, str] = {}
        self._paths: list[str] = []
        self._dialect = DuckDBDialect()
        self._hashing = hashing
        tables = TemporaryTables(self._connection, self._dialect, self._alone)
        self._keys = KeyTables(tables.make, tables.drop)

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def hashing(self) -> Hashing:
        """How rows that bounding keeps are chosen."""
        return self._hashing

    def attach(self, name: str, source: TableSource) -> dict[str, str]:
        """Make rows available under ``name``; the stored type of each column."""
        if isinstance(source, EngineTable):
            raise cannot_read(
                engine="DuckDB",
                source=source,
                remedy='Pass a path or a frame; a table of a DuckDB file is table("file.duckdb").',
            )
        with self._alone:
            try:
                self._places[name] = self._attached(len(self._places), source)
                self._sizes.pop(name, None)
                if isinstance(source, CSVFile | Files):
                    self._sizes[name] = _bytes(source) // _LINE
                return self.columns(name)
            except duckdb.Error:
                raise InvalidParameter(
                    code="source_unreadable",
                    expectation=f"rows that DuckDB can read for the table {name}",
                    received=type(source).__name__,
                    remedy="Check that the file is whole and of the kind its name says.",
                ) from None

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

    def columns(self, name: str) -> dict[str, str]:
        """Names and types, as DuckDB describes them."""
        with self._alone:
            fingerprint_of = self._run(f"DESCRIBE SELECT * FROM {self._places[name]}").fetchall()
        return {str(row[0]): _ENUM.sub("ENUM", str(row[1])) for row in fingerprint_of}

    def contents(self, name: str) -> object:
        """Nothing: files are told apart by their directory entry."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Files are compared before and after, frames do not change; keys stay meanwhile."""
        return self._keys.hold_keys()

    def keys(self, entries: Sequence[tuple[object, ...]], kinds: Sequence[DataType]) -> str:
        """A table of public keys, kept for the next question."""
        return self._keys.table(entries, kinds)

    def crowd(self, tables: Sequence[str], rows: str, limit: int) -> str:
        """People in full buckets, where tables are large."""
        if limit < LEAST or sum(map(self._size, tables)) < LARGE:
            return rows
        return crowds(rows, limit)

    def numbers(self, text: str) -> list[NDArray[np.int64]]:
        """Run a SELECT whose columns are all 64-bit integers without NULL.

        The first rows come as Python's numbers, which are quicker for a few, and of any size.
        """
        with self._alone:
            result = self._run(text)
            first = [_whole(column) for column in zip(*result.fetchmany(WHOLE_CELLS), strict=True)]
            fetched = result.fetchnumpy() if first and len(first[0]) == WHOLE_CELLS else {}
            if not first:
                return [np.empty(0, dtype=np.int64) for _ in result.description]
        rest = [np.asarray(column, dtype=np.int64) for column in fetched.values()]
        return [np.concatenate(pair) for pair in zip(first, rest, strict=True)] if rest else first

    def batches(self, text: str) -> Iterator[list[NDArray[np.int64]]]:
        """Run a SELECT of integers without NULL; in one batch where there is no ``pyarrow``."""
        with self._alone:
            if find_spec("pyarrow") is None:
                yield list(self._run(text).fetchnumpy().values())
                return
            for batch in self._connection.sql(text).to_arrow_reader(_BATCH):
                yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]

    def keyed(self, text: str) -> list[NDArray[Any]]:
        """Run a SELECT of candidate keys and, last, their numbers of people."""
        with self._alone:
            fetched = self._run(text).fetchnumpy()
        return list(fetched.values())

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """Run a SELECT over public tables and fetch its rows."""
        with self._alone:
            try:
                fetched: list[tuple[object, ...]] = self._run(text).fetchall()
            except duckdb.Error:
                raise InvalidParameter(
                    code="source_unreadable",
                    expectation="public tables that DuckDB can read",
                    remedy="Check that their files are whole, and that nobody is writing them.",
                ) from None
        return fetched

    def vacant(self) -> DuckDB:
        """This engine if no curator has it; else a new one with the same settings."""
        with self._alone:
            if not self._taken:
                self._taken = True
                return self
        return self._like_this().vacant()

    def close(self) -> None:
        """Let go of the connection, of what spilled and of copies of text files."""
        with self._alone:
            self._end()

    def _size(self, name: str) -> int:
        """About how many rows a table has; looked up once, and not by reading a text file."""
        if name not in self._sizes:
            ((size,),) = self.rows(f"SELECT COUNT(*) FROM {self._places[name]}")
            assert isinstance(size, int)
            self._sizes[name] = size
        return self._sizes[name]

    def _run(self, text: str) -> duckdb.DuckDBPyConnection:
        return self._connection.execute(text)

    def _attached(self, number: int, source: TableSource) -> str:
        literal, identifier = self._dialect.literal, self._dialect.identifier
        view = f"source_{number}"
        match source:
            case InMemory(frame):
                self._connection.register(view, typed(frame))
                return view
            case DatabaseTable(path, table):
                if path not in self._databases:
                    self._databases[path] = f"database_{number}"
                    self._run(f"ATTACH {literal(str(path))} AS database_{number} (READ_ONLY)")
                schema, _, name = table.rpartition(".")
                require_stored(self._connection, self._dialect, self._databases[path], schema, name)
                within = f"{identifier(schema)}." if schema else ""
                return f"{self._databases[path]}.{within}{identifier(name)}"
            case ParquetFile() | CSVFile():
                self._view(view, source)
                return view
            case Files(parts=parts):
                self._views(view, parts)
                return view
        raise TypeError(type(source).__name__)

    def _view(self, view: str, source: ParquetFile | CSVFile) -> None:
        """The rows of one file under a name."""
        if isinstance(source, CSVFile):
            read = text_file(source, lambda: self._folder / f"{view}.csv")
            self._paths.append(str(read.path))
            self._run(f"CREATE VIEW {view} AS {read.select(self._dialect)}")
            return
        self._paths.append(str(source.path))
        place = parquet(source.path, self._dialect)
        described = self._run(f"DESCRIBE SELECT * FROM {place}").fetchall()
        types = {str(row[0]): str(row[1]) for row in described}
        items = parquet_columns(types, source.identifiers, self._dialect)
        self._run(f"CREATE VIEW {view} AS SELECT {items} FROM {place}")

    def _views(self, view: str, parts: Sequence[ParquetFile | CSVFile]) -> None:
        """The rows of several files under one name; all have the same columns, which are public."""
        names = [f"{view}_{number}" for number in range(len(parts))]
        first: list[tuple[object, ...]] = []
        for name, part in zip(names, parts, strict=True):
            self._view(name, part)
            described = self._run(f"DESCRIBE SELECT * FROM {name}").fetchall()
            columns = [row[:2] for row in described]
            first = first or columns
            if columns != first:
                raise InvalidParameter(
                    code="files_differ",
                    expectation=f"the columns of {parts[0].path.name} in every file, in order",
                    received=part.path.name,
                    remedy="Bring the files to the same columns, or narrow the pattern.",
                )
        every = " UNION ALL ".join(f"SELECT * FROM {name}" for name in names)
        self._run(f"CREATE VIEW {view} AS {every}")


def _whole(values: tuple[int, ...]) -> NDArray[Any]:
    """Whole numbers: of 64 bits, or of any size where they are larger."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def _bytes(source: CSVFile | Files) -> int:
    parts = source.parts if isinstance(source, Files) else (source,)
    return sum(part.path.stat().st_size for part in parts)
