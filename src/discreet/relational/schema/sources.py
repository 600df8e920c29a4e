"""Where a table lies: in a file, in a table of a DuckDB file, in a frame, or in an engine."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import InvalidParameter


@dataclass(frozen=True)
class Fingerprint:
    """What identifies a version of a file without reading it."""

    device: int
    inode: int
    size: int
    modified: int


class TableSource(ABC):
    """The rows of a table, as an engine is asked to read them.

    Files, tables of DuckDB files and frames are here; what an engine holds already is its own
    (``engines.engine.EngineTable``).
    """

    live: ClassVar[bool] = False
    """Whether rows and columns may change where they lie, with nothing to tell it but a look."""

    @abstractmethod
    def fingerprint(self) -> Fingerprint | None:
        """The version of the rows without reading them; None where nothing tells it."""

    @property
    def typed(self) -> bool:
        """Whether columns of text are known to be text: in a text file everything is."""
        return True

    @property
    def names_given(self) -> tuple[str, ...]:
        """The owner's names for columns that have none of their own, by their places."""
        return ()

    @property
    def part_of_file(self) -> str:
        """Which rows of a file are meant, where it holds several tables."""
        return ""

    def identified_by(self, columns: frozenset[str]) -> TableSource:
        """The same rows, where people are told apart by ``columns``, if they are there."""
        return self


class FileSource(TableSource):
    """Rows in a file."""

    path: Path

    def fingerprint(self) -> Fingerprint | None:
        """As the directory entry tells it."""
        try:
            status = self.path.stat()
        except OSError:
            raise _missing(self.path) from None
        return Fingerprint(*_entry(status))


@dataclass(frozen=True)
class ParquetFile(FileSource):
    """A Parquet file; its schema is public, its rows are not.

    ``identifiers`` are the columns, if they are there, by which people are told apart.
    """

    path: Path
    identifiers: frozenset[str] = frozenset()

    def identified_by(self, columns: frozenset[str]) -> TableSource:
        """The same file: text that is not UTF-8 is nobody's in these columns."""
        return replace(self, identifiers=columns)


@dataclass(frozen=True)
class CSVFile(FileSource):
    """A CSV file. Every field is read as text, so that no type depends on data.

    ``names`` are those of its columns where it has no header, which no line is asked about.
    """

    path: Path
    names: tuple[str, ...] = ()

    @property
    def typed(self) -> bool:
        """No: a number is text there, too."""
        return False

    @property
    def names_given(self) -> tuple[str, ...]:
        return self.names


@dataclass(frozen=True)
class Files(TableSource):
    """Several files of one kind, one after the other, as one table: all that a pattern means.

    Which files there are is public, and part of the version of the table.
    """

    pattern: Path
    parts: tuple[ParquetFile | CSVFile, ...]

    def fingerprint(self) -> Fingerprint | None:
        """Of all of them together, by name; a file that came or went is another version."""
        try:
            found = [(path.name, path.stat()) for path in _matching(self.pattern)]
        except OSError:  # one went after it was listed
            raise _missing(self.pattern) from None
        told = [(name, *_entry(status)) for name, status in found]
        digest = hashlib.sha256(repr(told).encode()).digest()
        return Fingerprint(*(int.from_bytes(digest[at : at + 8], "big") for at in (0, 8, 16, 24)))

    @property
    def typed(self) -> bool:
        """As each of them."""
        return all(part.typed for part in self.parts)

    @property
    def names_given(self) -> tuple[str, ...]:
        return self.parts[0].names_given

    def identified_by(self, columns: frozenset[str]) -> TableSource:
        """The same files, each told so."""
        parts: Any = tuple(part.identified_by(columns) for part in self.parts)
        return replace(self, parts=parts)


@dataclass(frozen=True)
class DatabaseTable(FileSource):
    """A table of a DuckDB file, opened for reading.

    ``stands_for`` is the source that it has invented rows for, if any.
    """

    path: Path
    table: str
    stands_for: TableSource | None = None

    @property
    def typed(self) -> bool:
        """As the source that it stands for."""
        return self.stands_for is None or self.stands_for.typed

    @property
    def part_of_file(self) -> str:
        """The table; empty where it is the one that its file is named after."""
        return "" if self.table == self.path.stem else self.table


@dataclass(frozen=True)
class InMemory(TableSource):
    """A Polars, pandas or Arrow table, or a mapping of names to NumPy arrays, in memory.

    Lists are for public tables alone: what they hold is found by looking at it.
    """

    frame: Any = field(repr=False, hash=False, compare=False)

    def fingerprint(self) -> Fingerprint | None:
        """None: nothing tells two frames apart but their rows."""
        return None


_FRAMES = {"polars", "pandas", "pyarrow"}
_IN_MEMORY = {"DataFrame", "Table", "RecordBatch"}


def source_of(
    value: object, table: str | None = None, names: Sequence[str] | None = None
) -> TableSource:
    """The source a user means by a path or an object in memory."""
    if isinstance(value, str | Path):
        return _set_column_names(_file(Path(value), table), names)
    if names is not None:
        raise _names(type(value).__name__)
    if isinstance(value, TableSource):
        return value
    if isinstance(value, dict) or _is_frame(value):
        return InMemory(value)
    raise InvalidParameter(
        code="not_a_source_of_rows",
        expectation="a path to Parquet, CSV or DuckDB, or a Polars, pandas or Arrow table",
        received=type(value).__name__,
        remedy='Write table("visits.parquet", ...) or table(frame, ...); collect a lazy frame.',
    )


def _is_frame(value: object) -> bool:
    """Whether the rows are in memory: a lazy frame or a data set could change under a curator."""
    return any(
        kind.__module__.split(".")[0] in _FRAMES and kind.__name__ in _IN_MEMORY
        for kind in type(value).__mro__
    )


def _entry(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _set_column_names(source: TableSource, names: Sequence[str] | None) -> TableSource:
    """The source with the names of its columns, for text files that have no header."""
    if names is None:
        return source
    given = tuple(names)
    known = all(isinstance(name, str) and name and name == name.strip() for name in given)
    if isinstance(names, str) or not given or not known or len(set(given)) != len(given):
        raise _names(given)
    match source:
        case CSVFile():
            return replace(source, names=given)
        case Files(parts=parts) if isinstance(parts[0], CSVFile):
            made: Any = tuple(_set_column_names(part, given) for part in parts)
            return replace(source, parts=made)
    raise _names(type(source).__name__)


def _names(received: object) -> InvalidParameter:
    return InvalidParameter(
        code="csv_names",
        expectation="different names for the columns of a text file without a header",
        received=received,
        remedy='Write names=["patient", "ward"]; other files and frames name their own columns.',
    )


def _matching(pattern: Path) -> list[Path]:
    """The files that a pattern means, in the order of their names."""
    return sorted(path for path in pattern.parent.glob(pattern.name) if path.is_file())


def _files(pattern: Path) -> TableSource:
    """All files of a pattern, which stands in the name of the file and not of its folder."""
    parts: Any = tuple(_file(path, None) for path in _matching(pattern))
    if not parts:
        raise _missing(pattern)
    if len({type(part) for part in parts}) > 1 or not isinstance(parts[0], ParquetFile | CSVFile):
        raise InvalidParameter(
            code="unknown_file_kind",
            expectation="files of one kind, Parquet or CSV, for a pattern",
            received=pattern.name,
            remedy='Write a pattern that ends alike, such as "visits-*.csv".',
        )
    return Files(pattern, parts)


def _file(path: Path, table: str | None) -> TableSource:
    absolute = path.absolute()
    if set(path.name) & set("*?") and not absolute.is_file():
        return _files(absolute)
    if not absolute.is_file():
        raise _missing(path)
    if set(str(absolute)) & set("*?[]{}"):
        raise InvalidParameter(
            code="unknown_file_kind",
            expectation="a path without the signs of a pattern: * ? [ ] { }",
            received=path.name,
            remedy='Rename the file or its folder; "visits-*.csv" names several files of a folder.',
        )
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if ".parquet" in suffixes:
        return ParquetFile(absolute)
    if ".csv" in suffixes or ".tsv" in suffixes:
        return CSVFile(absolute)
    if suffixes and suffixes[-1] in (".duckdb", ".db", ".ddb"):
        return DatabaseTable(absolute, table or path.stem)
    raise InvalidParameter(
        code="unknown_file_kind",
        expectation="a file name that ends in .parquet, .csv or .duckdb",
        received=path.name,
        remedy="Rename the file, or load it into a frame and pass that.",
    )


def require_types(source: TableSource) -> None:
    """Refuse private columns whose type only their values could tell: lists, arrays of objects.

    The refusal follows from the kinds of containers, never from what is in them.
    """
    if not isinstance(source, InMemory) or not isinstance(source.frame, dict):
        return
    for name, values in source.frame.items():
        if not isinstance(values, np.ndarray) or values.dtype.hasobject:
            raise InvalidParameter(
                code="columns_without_type",
                expectation=f"a NumPy array with a type of its own for the private column {name}",
                received="an array of objects"
                if isinstance(values, np.ndarray)
                else type(values).__name__,
                remedy="Pass a Polars, pandas or Arrow table, or arrays: "
                'np.array(ages, dtype=float), np.array(wards, dtype="U").',
            )


def cannot_read(*, engine: str, source: TableSource, remedy: str) -> InvalidParameter:
    """The refusal of a source by an engine that has no way to it."""
    return InvalidParameter(
        code="engine_cannot_read",
        expectation=f"tables that {engine} can read",
        received=type(source).__name__,
        remedy=remedy,
    )


def _missing(path: Path) -> InvalidParameter:
    return InvalidParameter(
        code="file_not_found",
        expectation="a file that exists",
        received=path.name,
        remedy="Check the path; it is taken relative to the working directory.",
    )
