"""Apache Spark as an engine: SQL text goes in, grouped numbers come out.

Rows stay in Spark. There are no Python functions on rows and nothing but SQL text is sent, so
Spark Connect serves as well as a session in this process. Spark's own interface and event log
show the owner the text of each statement and how many rows each step read.

Source: contract, "What may be seen"; 004d:F21.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.hashing import NATIVE, Hashing
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.engine import EngineTable
from discreet.relational.engines.key_tables import KeyTables
from discreet.relational.engines.spark.dialect import SparkDialect
from discreet.relational.engines.spark.key_views import TemporaryViews, unmistakable
from discreet.relational.engines.spark.session import (
    Session,
    own_session,
    quiet,
    require_pinned,
    unreachable,
)
from discreet.relational.schema.sources import ParquetFile, TableSource, cannot_read
from discreet.relational.types.data_type import DataType

_Result = TypeVar("_Result")
_ARRAYS: dict[DataType, type] = {
    DataType.INTEGER: np.int64,
    DataType.DOUBLE: np.float64,
    DataType.BOOLEAN: np.bool_,
}
_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
_NAME = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
_SHAPELESS = ("map<", "variant", "geometry", "geography", "interval")
"""Types that can be neither compared nor grouped by; columns of them are left out."""


class Spark:
    """An engine over the user's SparkSession, which stays as it is.

    ``spark.table("catalog.schema.visits")`` names a table, a view, or a temporary view of that
    session. ``hashing`` decides which rows of a person bounding keeps.
    """

    def __init__(self, session: Session, *, hashing: Hashing = NATIVE) -> None:
        """Open a session of our own beside the user's; refused where Spark does not answer."""
        if not all(hasattr(session, part) for part in ("sql", "conf", "catalog", "newSession")):
            raise InvalidParameter(
                code="not_a_spark_session",
                expectation="a SparkSession of pyspark 4, classic or Connect",
                received=type(session).__name__,
                remedy="Write Spark(SparkSession.builder.getOrCreate()).",
            )
        self._users = session
        self._like_this = partial(type(self), session, hashing=hashing)
        self._taken = False
        self._session = own_session(session)
        self._dialect = SparkDialect()
        self._hashing = hashing
        self._alone = threading.RLock()
        self._places: dict[str, str] = {}
        self._views: list[str] = []
        views = TemporaryViews(self._session, self._dialect)
        self._keys = KeyTables(views.make, views.drop)

    def table(self, name: str) -> EngineTable:
        """A table or view by its name, with schema and catalog before it where needed."""
        return EngineTable(self, name)

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def hashing(self) -> Hashing:
        """How rows that bounding keeps are chosen."""
        return self._hashing

    def attach(self, name: str, source: TableSource) -> dict[str, str]:
        """Make rows available under ``name``; the stored type of each column."""
        match source:
            case EngineTable():
                self._places[name] = self._locate_table(source.name)
            case ParquetFile(path):
                self._places[name] = f"parquet.{self._dialect.identifier(path.as_uri())}"
            case _:
                raise cannot_read(
                    engine="Spark",
                    source=source,
                    remedy='Write spark.table("schema.visits") or give a path to Parquet; for '
                    "files and frames on this machine leave the engine out.",
                )
        try:
            found = self.columns(name)
        except InvalidParameter:
            found = {}
        if not found:
            raise InvalidParameter(
                code="source_unreadable",
                expectation=f"a table that Spark can read for {name}",
                received=source.name if isinstance(source, EngineTable) else type(source).__name__,
                remedy="Check the name, with its schema and catalog, and that the session may "
                "read it.",
            )
        _require_distinct(found, name)
        return found

    def lock(self) -> None:
        """Nothing to close: only our own text runs, in our own session."""

    def place(self, name: str) -> str:
        """How an attached table is written in a FROM clause."""
        return self._places[name]

    def columns(self, name: str) -> dict[str, str]:
        """Names and types of the columns that can be used, as Spark describes them."""
        types = self._public(lambda: self._session.sql(f"SELECT * FROM {self.place(name)}").dtypes)
        return {
            column: stored
            for column, stored in types
            if not any(shape in stored for shape in _SHAPELESS)
        }

    def contents(self, name: str) -> object:
        """A checksum of a public table: how many rows, and their hashes mixed in two ways."""
        columns = [self._dialect.identifier(column) for column in self.columns(name)]
        marked = ", ".join(f"{column}, {column} IS NULL" for column in columns)
        return self.rows(
            "SELECT COUNT(*), BIT_XOR(h), SUM(CAST(h AS DECIMAL(28,0))) FROM "
            f"(SELECT XXHASH64({marked}) AS h FROM {self.place(name)}) AS q"
        )[0]

    def snapshot(self) -> AbstractContextManager[None]:
        """Spark reads each statement's tables as it finds them; keys stay meanwhile."""
        return self._keys.hold_keys()

    def keys(self, entries: Sequence[tuple[object, ...]], kinds: Sequence[DataType]) -> str:
        """A temporary view of public keys in our session, kept for the next question."""
        return self._public(lambda: self._keys.table(entries, kinds))

    def crowd(self, tables: Sequence[str], rows: str, limit: int) -> str:
        """Everybody's rows."""
        return rows

    def numbers(self, text: str) -> list[NDArray[np.int64]]:
        """Run a SELECT whose columns are all 64-bit integers without NULL."""
        names, found = self._collected(text)
        return [
            np.fromiter((row[place] for row in found), dtype=np.int64, count=len(found))
            for place in range(len(names))
        ]

    def batches(self, text: str) -> Iterator[list[NDArray[np.int64]]]:
        """Run a SELECT of integers without NULL, as one job; in one piece without ``pyarrow``."""
        if find_spec("pyarrow") is None:
            yield self.numbers(text)
            return
        with quiet():
            require_pinned(self._session)
            found = self._session.sql(text).toArrow()
        for batch in found.to_batches():
            yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]

    def keyed(self, text: str) -> list[NDArray[Any]]:
        """Run a SELECT of candidate keys and, last, their numbers of people."""
        names, found = self._collected(text)
        columns: list[NDArray[Any]] = []
        for place, (_, stored) in enumerate(names):
            values = [row[place] for row in found]
            kind = self._dialect.kind_of(stored)
            plain = _ARRAYS.get(kind, object) if kind and None not in values else object
            columns.append(np.array(values, dtype=plain))
        return columns

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """Run a SELECT over public tables and fetch its rows."""
        return self._public(lambda: [tuple(row) for row in self._collected(text)[1]])

    def vacant(self) -> Spark:
        """This engine if no curator has it; else one with a session of its own."""
        with self._alone:
            if not self._taken:
                self._taken = True
                return self
        return self._like_this().vacant()

    def close(self) -> None:
        """Drop what was made; the user's session goes on."""
        with self._alone:
            for view in self._views:
                with suppress(Exception), quiet():  # a lost session took the view with it
                    self._session.catalog.dropGlobalTempView(view)
            self._views.clear()

    def _collected(self, text: str) -> tuple[list[tuple[str, str]], list[Any]]:
        with quiet():
            require_pinned(self._session)
            frame = self._session.sql(text)
            return list(frame.dtypes), list(frame.collect())

    def _public(self, ask: Callable[[], _Result]) -> _Result:
        """Run what touches public things only; Spark's own words about a failure stay here."""
        try:
            with quiet():
                return ask()
        except InvalidParameter:
            raise
        except Exception:
            lost = unreachable()
        # Raised out here, where Spark's own error is no longer attached to it.
        raise lost

    def _locate_table(self, name: str) -> str:
        """A table's name as text; a temporary view of the user's session is shared with ours."""
        parts = _parts(name)
        quoted = ".".join(map(self._dialect.identifier, parts))
        if len(parts) > 1:
            return quoted
        if not self._is_temporary(quoted):
            # In full: a name alone would be looked for among temporary views first.
            return self._public(lambda: ".".join((*self._schema(), quoted)))
        view = unmistakable("rows")
        self._public(lambda: self._users.table(quoted).createGlobalTempView(view))
        self._views.append(view)
        return f"{self._users.conf.get('spark.sql.globalTempDatabase', 'global_temp')}.{view}"

    def _schema(self) -> list[str]:
        """Catalog and schema that a name alone stands in; schemas may lie in one another."""
        catalog = self._session.catalog
        parts = [catalog.currentCatalog(), *_parts(catalog.currentDatabase())]
        return [self._dialect.identifier(part) for part in parts]

    def _is_temporary(self, quoted: str) -> bool:
        with quiet():
            try:
                return bool(self._users.catalog.getTable(quoted).isTemporary)
            except Exception:
                return False


def _parts(name: str) -> list[str]:
    """The parts of a dotted name; backticks around a part that has dots of its own."""
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            code="bad_name",
            expectation="a name such as visits, clinic.visits or lake.clinic.visits",
            received=name,
            remedy="Put backticks around a part that has a dot in it.",
        )
    return [quoted.replace("``", "`") or plain for quoted, plain in _PART.findall(name)]


def _require_distinct(found: dict[str, str], table: str) -> None:
    names = [column.lower() for column in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidParameter(
            code="columns_differ_by_case",
            expectation=f"columns of {table} that differ by more than the case of letters",
            received=twice,
            remedy="Read the table through a view that renames them.",
        )
