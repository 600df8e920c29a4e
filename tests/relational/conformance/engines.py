"""The engines that must agree, and how rows come into each of them.

To add an engine: a ``Maker`` with a name, the reason why it cannot run here (if so), and a way to
make a home, which is an engine and a place for rows.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl
import pytest

from discreet.relational.bounding.hashing import Hashing
from discreet.relational.engines.postgres.engine import Postgres
from tests import postgres_server
from tests.relational.engine_with_rows import DuckDBWithRows, EngineWithRows


@dataclass(frozen=True)
class Maker:
    """An engine by name. ``missing`` says why it cannot run here, or None."""

    name: str
    missing: Callable[[], str | None]
    make: Callable[[Hashing], EngineWithRows]
    marks: Sequence[pytest.MarkDecorator] = ()

    def home(self, hashing: Hashing) -> EngineWithRows:
        """A new home, or the test is skipped with the reason."""
        reason = self.missing()
        if reason is not None:
            pytest.skip(reason)
        return self.make(hashing)


_TYPES: dict[Any, str] = {
    pl.Int16: "int2",
    pl.Int32: "int4",
    pl.Int64: "int8",
    pl.Float32: "float4",
    pl.Float64: "float8",
    pl.String: "text",
    pl.Boolean: "bool",
    pl.Date: "date",
}


@dataclass
class PostgresWithRows:
    """A schema in the test server, read by a role that may do nothing else."""

    hashing: Hashing
    schema: str = field(init=False)
    engine: Postgres = field(init=False)
    _count: int = 0

    def __post_init__(self) -> None:
        import psycopg

        server, database = postgres_server.shared(), _database()
        self.owner = psycopg.connect(server.conninfo(database), autocommit=True)
        self.schema = f"s{secrets.token_hex(6)}"
        self.owner.execute(
            "SET synchronous_commit = off; DO $$ BEGIN CREATE ROLE reader LOGIN PASSWORD 'r'; "
            "EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        self.owner.execute(f"CREATE SCHEMA {self.schema}")
        self.owner.execute(f"GRANT USAGE ON SCHEMA {self.schema} TO reader")
        self.engine = Postgres(
            server.conninfo(database, user="reader", password="r"), hashing=self.hashing
        )

    def source(self, frame: pl.DataFrame) -> object:
        self._count += 1
        name = f"{self.schema}.t{self._count}"
        columns = ", ".join(f'"{name}" {_type(kind)}' for name, kind in frame.schema.items())
        self.owner.execute(
            f"CREATE UNLOGGED TABLE {name} ({columns}); GRANT SELECT ON {name} TO reader"
        )
        with self.owner.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
        return self.engine.table(name)

    def close(self) -> None:
        self.engine.close()
        self.owner.execute(f"DROP SCHEMA {self.schema} CASCADE")
        self.owner.close()


@cache
def _database() -> str:
    """A database whose own collation orders text by language, not by bytes."""
    return postgres_server.shared().database(
        "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'"
    )


def _type(kind: Any) -> str:
    if isinstance(kind, pl.Datetime):
        return "timestamptz" if kind.time_zone else "timestamp"
    if isinstance(kind, pl.Decimal):
        return f"numeric({kind.precision}, {kind.scale})"
    return _TYPES[kind]


DUCKDB = Maker("duckdb", lambda: None, DuckDBWithRows)
POSTGRES = Maker("postgres", postgres_server.missing, PostgresWithRows)

OTHERS: Sequence[Maker] = (POSTGRES,)
"""The engines that are compared with DuckDB."""


def others() -> list[Any]:
    """For ``pytest.mark.parametrize``."""
    return [pytest.param(maker, id=maker.name, marks=maker.marks) for maker in OTHERS]
