"""Numbers and keys move by no more than declared, however the column is stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet as dp
from discreet.relational.database import Database
from discreet.relational.execute.exact_aggregation import aggregate_exactly
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.worlds import Exact, apart


def worlds(path: Path, kind: str, values: Sequence[str]) -> list[str]:
    """A DuckDB file with the table of all values, and one without each of them."""
    versions = [list(values)]
    versions += [[*values[:place], *values[place + 1 :]] for place in range(len(values))]
    with duckdb.connect(path) as connection:
        for number, kept in enumerate(versions):
            connection.execute(f"CREATE TABLE t{number} (x {kind})")
            for text in kept:
                plain = kind.partition(" COLLATE")[0]
                connection.execute(f"INSERT INTO t{number} VALUES (CAST({text} AS {plain}))")
    return [f"t{number}" for number in range(len(versions))]


def breaches(path: Path, kind: str, values: Sequence[str], declared: Any, sql: str) -> list[str]:
    """As for frames, over tables of a stored type that frames do not have."""
    names = worlds(path, kind, [*values, "NULL", values[0]])
    tables = {
        name: dp.table(path, table=name, unit=dp.Row(), columns={"x": declared}) for name in names
    }
    database = Database(dp.DuckDB(threads=1), tables)
    found = []
    for name in names:
        planned = PlannedQuery(query_from(sql.format(name), database), dp.ZCDP(rho=1), MOST_ROWS)
        exact = aggregate_exactly(
            planned.query,
            [item.exact for item in planned.allocation.noised],
            [group[0].ranks for group in planned.choosing],
            planned.person,
            database.engine,
            salt=1,
        )
        found.append((planned, Exact(exact.linear, exact.ranks)))
    database.close()
    (planned, base), *others = found
    return [fault for _, less in others for fault in apart(planned, base, less)]


@pytest.mark.parametrize(
    ("kind", "values", "declared"),
    [
        ("UBIGINT", ["18446744073709551615", "1", "0"], dp.Number(-10, 10)),
        ("HUGEINT", [str(2**127 - 1), str(-(2**127) + 1), "3"], dp.Number(-10, 10)),
        ("DECIMAL(38,10)", ["9999999999999999999999999999.9", "5.5", "-1e-10"], dp.Number(-9.5, 9)),
        ("DECIMAL(4,1)", ["999.9", "5.5", "-999.9"], dp.Number(0, 1e60)),
        ("FLOAT", ["'nan'", "'inf'", "'-inf'", "3.3", "-0.0"], dp.Number(-10.1, 10.1)),
        ("DOUBLE", ["'nan'", "'inf'", "'-inf'", "1e308", "5e-324"], dp.Number(-10.1, 10.1)),
        ("TINYINT", ["-128", "127"], dp.Number(-5, 1000)),
        ("VARCHAR", ["'nan'", "'1e400'", "'-3'", "''", "' 1'", "'0x1'"], dp.Number(-10, 10)),
    ],
)
def test_numbers(tmp_path: Path, kind: str, values: list[str], declared: dp.Number) -> None:
    sql = (
        "SELECT COUNT(*) AS n, COUNT(x) AS p, SUM(x) AS s, AVG(x) AS a, VARIANCE(x) AS v, "
        "COUNT(DISTINCT x) AS d, MEDIAN(x) AS m FROM {} WHERE x > -1e9 OR x IS NULL"
    )
    assert breaches(tmp_path / "t.duckdb", kind, values, declared, sql) == []


@pytest.mark.parametrize("null", [[], [None]], ids=["listed", "or NULL"])
@pytest.mark.parametrize(
    ("kind", "values", "keys"),
    [
        ("UBIGINT", ["18446744073709551615", "1", "0"], [-1, 0, 1]),
        ("UTINYINT", ["255", "1"], [-7, 1, 1000]),
        ("HUGEINT", [str(2**127 - 1), "1"], [0, 1]),
        ("DECIMAL(10,2)", ["1.5", "2.25", "1.51"], [1.5, 2.25, 1e300]),
        ("FLOAT", ["0.1", "'nan'", "'inf'", "-0.0", "0.0"], [0.1, 0.0, 0.5]),
        ("DOUBLE", ["0.1", "'nan'", "'inf'", "-0.0", "0.0"], [0.1, 0.0, 0.5]),
        ("DOUBLE", ["0.4", "'nan'", "'inf'", "-0.0", "1.5", "2.5"], [0, 1, 2]),
        ("VARCHAR", ["'A'", "'a'", "'A '", "'Á'", "''", "'A\u0301'"], ["A", "Á", ""]),
        ("ENUM('A', 'B', 'Z')", ["'A'", "'Z'"], ["A", "Q"]),
        ("BOOLEAN", ["true", "false"], [False, True]),
        ("TIMESTAMP", ["'2024-01-01 12:00:00'", "'infinity'"], [datetime(2024, 1, 1, 12)]),
        ("DATE", ["'2024-01-01'", "'-infinity'"], [datetime(2024, 1, 1), datetime(2023, 1, 1)]),
    ],
)
def test_keys(
    tmp_path: Path, kind: str, values: list[str], keys: list[object], null: list[None]
) -> None:
    declared = dp.Category([*keys, *null])
    sql = "SELECT x, COUNT(*) AS n, COUNT(x) AS p, COUNT(DISTINCT x) AS d FROM {} GROUP BY x"
    assert breaches(tmp_path / "t.duckdb", kind, values, declared, sql) == []


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT"])
def test_a_collation_does_not_put_a_row_under_two_keys(tmp_path: Path, collation: str) -> None:
    declared = dp.Category(["A", "a", "á"])
    sql = "SELECT x, COUNT(*) AS n FROM {} GROUP BY x"
    values = ["'A'", "'a'", "'á'"]
    path = tmp_path / "t.duckdb"
    assert breaches(path, f"VARCHAR COLLATE {collation}", values, declared, sql) == []
