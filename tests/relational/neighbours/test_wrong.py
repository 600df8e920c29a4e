"""Answers to another question than the one asked, and grids coarser than promised."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.engines.duckdb_dialect import DuckDBDialect
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
    "question",
    [
        "SELECT COUNT(DISTINCT b.pid) AS n FROM a LEFT JOIN b ON a.pid = b.pid",
        "SELECT COUNT(*) AS n FROM a LEFT JOIN b ON a.pid = b.pid JOIN a AS c ON b.pid = c.pid",
    ],
)
def test_the_right_side_of_a_left_join_is_nobody_in_particular(question: str) -> None:
    """Its identifier may be NULL, so it does not stand for the person whose row it is."""
    stand = Stand(_two_tables())
    with pytest.raises(DiscreetError):
        stand.inquiry(question)
    stand.close()


def _between(low: float) -> Stand:
    return Stand(one(pl.DataFrame({"x": [low]}), dp.Row(), {"x": dp.Number(low, low + 1)}))


@pytest.mark.parametrize("low", [0.0, 1e3, 1e9])
def test_the_grid_is_fine_beside_the_noise(low: float) -> None:
    """Contract, "Numbers": at most 2**-30 of the noise scale."""
    stand = _between(low)
    noised = stand.inquiry("SELECT AVG(x) AS a FROM t").allocation.noised
    assert all(item.step <= item.law.std * 2**-30 for item in noised if item.step < 1)
    stand.close()


@pytest.mark.parametrize("low", [1e12, 1e15])
def test_bounds_too_far_from_zero_for_such_a_grid_are_refused(low: float) -> None:
    stand = _between(low)
    with pytest.raises(DiscreetError, match="bounds_too_far"):
        stand.inquiry("SELECT AVG(x) AS a FROM t")
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
    question = "SELECT COUNT(DISTINCT CASE WHEN x > 0 THEN NULL END) AS n FROM t"
    assert stand.exact(stand.inquiry(question)).linear[0].tolist() == [0]
