"""The catalogue: public declarations, and no way out of it."""

import asyncio
import threading
import time
from typing import cast

import duckdb
import pytest

from discreet.core.errors import DiscreetError
from discreet.server.wire.catalogue.catalogue import Catalogue, _interrupted_late
from discreet.server.wire.catalogue.translate import SessionFacts
from discreet.server.wire.rowset import RowSet
from discreet.server.wire.statements import statements

SCHEMA = {
    "tables": [
        {
            "name": "visits",
            "private": True,
            "protects": "each patient",
            "columns": [
                {"name": "patient", "type": "whole number", "declared": False},
                {"name": 'odd "name"', "type": "text", "declared": True, "values": ["a", "b"]},
                {"name": "day", "type": "date", "declared": True, "low": "2024-01-01", "high": "x"},
                {"name": "at", "type": "moment", "declared": False},
                {"name": "well", "type": "truth value", "declared": True},
            ],
        }
    ]
}
FACTS = SessionFacts(
    {
        "current_user": "ann",
        "session_user": "ann",
        "current_schema": "public",
        "current_database": "discreet",
        "version": "PostgreSQL 15.0 (discreet)",
        "pg_backend_pid": 7,
    },
    {"search_path": "public"},
)
CATALOGUE = Catalogue(SCHEMA)


def asked(text: str) -> RowSet:
    (statement,) = statements(text)
    return asyncio.run(CATALOGUE.answered("ann", statement, FACTS))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT relname, relkind FROM pg_class", [("visits", "r")]),
        ("SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class", [("visits",)]),
        ("SELECT 'visits'::regclass::oid = c.oid FROM pg_class c", [(True,)]),
        ("SELECT c.oid::regclass FROM pg_class c", [("visits",)]),
        ("SELECT table_name FROM information_schema.tables", [("visits",)]),
        ("SELECT current_user, current_setting('search_path')", [("ann", "public")]),
        ("SELECT relname FROM pg_class WHERE relname ~ '^(vis.*)$'", [("visits",)]),
        ("SELECT relname FROM pg_class WHERE relname = ANY('{a,\"visits\"}')", [("visits",)]),
        ("SELECT format_type(20, NULL), pg_get_userbyid(10)", [("bigint", "discreet")]),
        ("WITH t AS (SELECT oid FROM pg_class) SELECT count(*) FROM t", [(1,)]),
        ("WITH t(x) AS (SELECT 1) SELECT a.x, t.x FROM t a, T", [(1, 1)]),
        ("SELECT reltuples FROM pg_class", [(-1.0,)]),
        ('SELECT "odd ""name""", day, well FROM visits LIMIT 0', []),
    ],
)
def test_what_programs_ask(text: str, rows: list[tuple[object, ...]]) -> None:
    assert list(asked(text).rows) == rows


def test_columns_have_the_names_and_types_that_postgresql_gives() -> None:
    found = asked("SELECT 1, relhasindex, count(*), version(), oid FROM pg_class GROUP BY 2, 5")
    assert found.columns is not None
    assert [(each.name, each.form.name) for each in found.columns] == [
        ("?column?", "integer"),
        ("relhasindex", "boolean"),
        ("count", "bigint"),
        ("version", "text"),
        ("oid", "oid"),
    ]


HOSTILE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('*')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_catalog.pg_read_file('/etc/passwd')",
    "SELECT pg_table_is_visible(getenv('HOME'))",
    "SELECT (SELECT read_text('/etc/passwd'))",
    "SELECT CAST(getenv('HOME') AS regclass)",
    "SELECT coalesce(getenv('HOME'), '')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_tables",
    "SELECT * FROM wire_types",
    'SELECT * FROM "pg_catalog.pg_class"',
    "SELECT * FROM main.wire_types",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM SCHEMA",
    "SELECT * FROM visits",
    "SELECT count(*) FROM visits",
    "SELECT 1 FROM pg_class, visits",
    "SELECT * FROM (SELECT * FROM visits LIMIT 0) q",
    "WITH a AS (SELECT * FROM visits) SELECT * FROM a",
    "SELECT current_setting('secret_directory')::regclass::text, c_to_regclass(getenv('x'))",
    "SELECT * FROM (WITH duckdb_settings AS (SELECT 1) SELECT 1) q, duckdb_settings",
    'SELECT * FROM (WITH "/etc/passwd" AS (SELECT 1) SELECT 1) q, "/etc/passwd"',
    "SELECT * INTO copied FROM pg_class",
    "SELECT pg_sleep(100)",
    "SELECT query('SELECT 1')",
    "SELECT * FROM query_table('wire_types')",
    "SELECT * FROM pg_class FOR UPDATE",
    "TABLE visits",
    "VALUES (getenv('HOME'))",
    "SELECT count(*) FROM generate_series(1, 100000000000) a, generate_series(1, 100000000000) b",
    "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "SELECT " + " + ".join(["1"] * 9000),
    "SELECT repeat('x', 1000000000)",
    "SELECT (",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_there_is_no_way_out(text: str) -> None:
    with pytest.raises(DiscreetError) as caught:
        asked(text)
    assert caught.value.code in (
        "catalogue_unread",
        "catalogue_too_long",
        "unknown_table",
        "price_missing",
    )
    assert list(asked("SELECT 1").rows) == [(1,)]


class Interrupted:
    """Stands for a cursor, and counts how often it was told to stop."""

    count = 0

    def interrupt(self) -> None:
        self.count += 1


def test_what_waits_because_of_others_is_not_given_up_and_what_works_too_long_is() -> None:
    """The limit is of the thread's own work: a clock on the wall would tell of others' load."""
    waiting, working = Interrupted(), Interrupted()
    with _interrupted_late(cast("duckdb.DuckDBPyConnection", waiting), threading.get_ident()):
        time.sleep(0.7)
    assert waiting.count == 0
    with _interrupted_late(cast("duckdb.DuckDBPyConnection", working), threading.get_ident()):
        began, ends = time.thread_time(), time.monotonic() + 60
        while not working.count and time.monotonic() < ends:
            pass
        worked = time.thread_time() - began
    assert working.count > 0
    assert worked > 0.4
