"""Answers to another question than the one asked, and grids coarser than promised."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.database import Database
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.worlds import Private, Setting, Stand, one


def _two_tables() -> Setting:
    unit = dp.Person("pid", max_rows=9)
    return Setting(
        {
            "a": Private(pl.DataFrame({"pid": [1, 2, 3]}), unit, {}),
            "b": Private(pl.DataFrame({"pid": [1, 2, 2]}), unit, {}),
        }
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(DISTINCT b.pid) AS n FROM a LEFT JOIN b ON a.pid = b.pid",
        "SELECT COUNT(*) AS n FROM a LEFT JOIN b ON a.pid = b.pid JOIN a AS c ON b.pid = c.pid",
    ],
)
def test_the_right_side_of_a_left_join_is_nobody_in_particular(query: str) -> None:
    """Its identifier may be NULL, so it does not stand for the person whose row it is."""
    stand = Stand(_two_tables())
    with pytest.raises(DiscreetError):
        stand.planned(query)
    stand.close()


def _between(low: float) -> Stand:
    return Stand(one(pl.DataFrame({"x": [low]}), dp.Row(), {"x": dp.Number(low, low + 1)}))


@pytest.mark.parametrize("low", [0.0, 1e3, 1e9])
def test_the_grid_is_fine_beside_the_noise(low: float) -> None:
    """Contract, "Numbers": at most 2**-30 of the noise scale."""
    stand = _between(low)
    noised = stand.planned("SELECT AVG(x) AS a FROM t").allocation.noised
    assert all(item.step <= item.distribution.std * 2**-30 for item in noised if item.step < 1)
    stand.close()


@pytest.mark.parametrize("low", [1e12, 1e15])
def test_bounds_too_far_from_zero_for_such_a_grid_are_refused(low: float) -> None:
    stand = _between(low)
    with pytest.raises(DiscreetError, match="bounds_too_far"):
        stand.planned("SELECT AVG(x) AS a FROM t")
    stand.close()


@pytest.mark.parametrize("size", [61, 95, 123])
def test_every_total_that_is_let_through_arrives(size: int) -> None:
    dialect = DuckDBDialect()
    high, low = dialect.halves(f"CAST({2**size} AS HUGEINT)")
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {high}, {low}").fetchall()
    assert [a * 2**62 + b for a, b in found] == [2**size]


def test_values_that_are_always_null_can_be_counted() -> None:
    rows = pl.DataFrame({"pid": [1], "x": [1]})
    stand = Stand(one(rows, dp.Person("pid", max_rows=2), {"x": dp.Number(0, 1)}))
    query = "SELECT COUNT(DISTINCT CASE WHEN x > 0 THEN NULL END) AS n FROM t"
    assert stand.exact(stand.planned(query)).linear[0].tolist() == [0]


def test_a_total_after_a_join_of_people_fits_what_it_is_released_in() -> None:
    """One person with a hundred rows in each of two tables; a total beyond 64 bits."""
    rows = pl.DataFrame({"pid": [1] * 100, "x": [2**50] * 100})
    unit, columns = dp.Person("pid", max_rows=10**4), {"x": dp.Number(0, 2**50)}
    tables = {
        name: dp.table(rows, unit=unit, columns=columns, rows_at_most=100) for name in ("a", "b")
    }
    database = Database(dp.DuckDB(), tables)
    query = query_from("SELECT SUM(a.x) AS s FROM a JOIN b ON a.pid = b.pid", database)
    released = PlannedQuery(query, dp.PureDP(epsilon=2e7), 200).release(database)
    assert len(released.linear[0]) == 1
    database.close()


@pytest.mark.parametrize("through", ["another column", "a public table"])
def test_via_names_the_identifier_of_a_private_table(through: str) -> None:
    orders = pl.DataFrame({"oid": [1, 2], "pid": [1, 2], "w": [5, 5]})
    items = pl.DataFrame({"oid": [1, 2]})
    named = "orders.w" if through == "another column" else "orders.pid"
    owned = dp.table(orders, unit=dp.Person("pid", max_rows=2), columns={})
    public = through == "a public table"
    tables: dict[str, Table | PublicTable] = {
        "orders": dp.public(orders) if public else owned,
        "items": dp.table(items, unit=dp.Person("oid", max_rows=2, via=named), columns={}),
    }
    with pytest.raises(DiscreetError):
        Database(dp.DuckDB(), tables)
