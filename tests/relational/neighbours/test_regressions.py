"""Ways in which questions once moved farther than declared; none of them may come back."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.errors import Mismatch
from tests.relational.neighbours.worlds import Private, Setting, breaches, one

WARDS = dp.Category(["A", "B", "C"])


def test_people_alone_are_bounded_as_their_reach_says() -> None:
    rows = pl.DataFrame({"pid": [1, 1, 1, 2], "w": ["A", "B", "C", "A"]})
    setting = one(rows, dp.Person("pid", max_rows=1), {"w": WARDS})
    assert breaches(setting, "SELECT w, COUNT(DISTINCT pid) AS n FROM t GROUP BY w") == []


@pytest.mark.parametrize(
    "twice",
    [
        "SELECT DISTINCT * FROM (SELECT big AS v, small AS v FROM t) AS q",
        "SELECT DISTINCT big AS v, small AS v FROM t",
        "SELECT DISTINCT big AS v, small AS V FROM t",
        "SELECT big AS v, small AS v FROM t UNION ALL SELECT big, small FROM t",
        "SELECT DISTINCT a.big AS v, b.small AS v FROM t AS a JOIN t AS b ON a.pid = b.pid",
    ],
)
def test_columns_of_one_name_do_not_stand_for_each_other(twice: str) -> None:
    rows = pl.DataFrame({"pid": [1, 2], "big": [10**6, 5], "small": [1, 0]})
    columns = {"big": dp.Number(0, 10**6), "small": dp.Number(0, 1)}
    setting = one(rows, dp.Person("pid", max_rows=4), columns)
    query = (
        f"SELECT SUM(b) AS s FROM (SELECT small AS a, small AS b FROM t UNION ALL ({twice})) AS q"
    )
    assert breaches(setting, query, refusals=[]) == []


def test_using_counts_partners_as_the_join_finds_them() -> None:
    public = pl.DataFrame({"z": ["1", "01", "+1"], "r": ["a", "b", "c"]})
    setting = one(pl.DataFrame({"z": [1, 2]}), dp.Row(), {"z": dp.Number(0, 9)}, p=public)
    assert breaches(setting, "SELECT COUNT(*) AS n FROM t JOIN p USING (z)", refusals=[]) == []


def test_using_fails_on_no_value() -> None:
    public = pl.DataFrame({"z": [1, 2]})
    setting = one(pl.DataFrame({"z": ["1", "one"]}), dp.Row(), {}, p=public)
    assert breaches(setting, "SELECT COUNT(*) AS n FROM t JOIN p USING (z)", refusals=[]) == []


@pytest.mark.parametrize(
    ("stored", "values", "declared", "private"),
    [
        ("BIGINT", [str(2**53), str(2**53 + 1)], dp.Number(0, 1e17), [2.0**53, 1.0]),
        ("DECIMAL(38,20)", ["1.5", "1.50000000000000000001"], dp.Number(0, 9.5), [1.5, 1.0]),
    ],
    ids=["whole beside real", "decimal"],
)
def test_partners_are_counted_as_the_join_compares_them(
    tmp_path: Path, stored: str, values: list[str], declared: dp.Number, private: list[Any]
) -> None:
    path = tmp_path / "p.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE p (z {stored})")
        for value in values:
            connection.execute(f"INSERT INTO p VALUES (CAST({value} AS {stored}))")
    found = duckdb_join(path, pl.DataFrame({"x": private}), declared)
    assert found == []


def duckdb_join(path: Path, rows: pl.DataFrame, declared: Any) -> list[str]:
    """The checker over a public table that a frame cannot hold."""
    setting = one(rows, dp.Row(), {"x": declared})
    setting = Setting(setting.private, {"p": path})  # type: ignore[dict-item]
    return breaches(setting, "SELECT COUNT(*) AS n FROM t JOIN p ON t.x = p.z", refusals=[])


def test_partners_are_counted_at_the_precision_of_the_join() -> None:
    noon = datetime(2024, 1, 1, 12)
    moments = pl.Series([noon, noon], dtype=pl.Datetime("ns")) + pl.Series(
        [0, 1], dtype=pl.Duration("ns")
    )
    rows = pl.DataFrame({"m": [noon, noon]}, schema={"m": pl.Datetime("us")})
    days = dp.Dates(datetime(2024, 1, 1), datetime(2024, 1, 2))
    setting = one(rows, dp.Row(), {"m": days}, p=pl.DataFrame({"z": moments}))
    assert breaches(setting, "SELECT COUNT(*) AS n FROM t JOIN p ON t.m = p.z") == []


def test_truth_values_outside_the_list_are_null() -> None:
    rows = pl.DataFrame({"pid": [1, 1, 2], "f": [True, False, None]})
    setting = one(rows, dp.Person("pid", max_rows=2), {"f": dp.Category([True])})
    assert breaches(setting, "SELECT COUNT(DISTINCT f) AS n FROM t") == []


def test_one_space_of_identifiers_has_one_type() -> None:
    unit, columns = dp.Person("pid", max_rows=1), {"x": dp.Number(-5, 5)}
    near = 2**53
    whole = pl.DataFrame({"pid": [near, near + 1], "x": [5, -5]})
    real = pl.DataFrame({"pid": [float(near)], "x": [5]})
    with pytest.raises(Mismatch, match="identifier_types"):
        dp.Curator(
            a=dp.table(whole, unit=unit, columns=columns),
            b=dp.table(real, unit=unit, columns=columns),
            budget=dp.PureDP(epsilon=1),
            ledger=dp.ledger.Memory(),
        )


def test_no_name_of_a_column_reaches_the_stored_value_of_another() -> None:
    rows = pl.DataFrame({"x": [1000, 0], "x!raw": [1, 0]})
    setting = one(rows, dp.Row(), {"x": dp.Number(0, 1), "x!raw": dp.Number(0, 1)})
    assert breaches(setting, 'SELECT SUM("x!raw") AS s FROM t') == []


def test_no_name_of_a_column_stands_for_that_of_another_table() -> None:
    unit = dp.Person("pid", max_rows=1)
    rows = pl.DataFrame({"pid": [1, 2], "b#2.v": [1000, 0]})
    other = pl.DataFrame({"pid": [1, 2], "v": [1, 0]})
    setting = Setting(
        {"a": Private(rows, unit, {}), "b": Private(other, unit, {"v": dp.Number(0, 1)})}
    )
    assert breaches(setting, "SELECT SUM(b.v) AS s FROM a JOIN b ON a.pid = b.pid") == []


@pytest.mark.parametrize("zeros", [[0.0, -0.0], [-0.0, 0.0]], ids=str)
def test_equal_values_are_told_apart_by_nothing(zeros: list[float]) -> None:
    setting = one(pl.DataFrame({"x": zeros}), dp.Row(), {"x": dp.Number(-1, 1)})
    query = (
        "SELECT CAST(x AS VARCHAR) = '-0.0' AS k, COUNT(*) AS n "
        "FROM (SELECT DISTINCT x FROM t) AS q GROUP BY k"
    )
    assert breaches(setting, query) == []
