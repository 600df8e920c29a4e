"""Rows of a DuckDB file are stored rows: views and computed columns are refused by their kind."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import discreet as dp
from discreet.core.errors import InvalidParameter

MADE = """
CREATE TABLE rows (x INTEGER);
INSERT INTO rows VALUES (0), (1), (2);
CREATE SCHEMA "Ward";
CREATE VIEW "Ward".Odd AS SELECT random() AS x FROM rows;
CREATE VIEW few AS SELECT * FROM rows LIMIT 1;
CREATE VIEW failing AS SELECT error('no') AS x FROM rows;
CREATE TABLE computed (a INTEGER, x DOUBLE AS (random()));
CREATE TABLE "Ward".rows AS SELECT 1 AS x;
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("stored") / "rows.duckdb"
    with duckdb.connect(made) as connection:
        connection.execute(MADE)
    return made


@pytest.mark.parametrize("name", ["Ward.Odd", "ward.odd", "few", "FEW", "failing", "computed"])
def test_views_and_generated_columns_are_refused(path: Path, name: str) -> None:
    for table in (
        dp.table(path, table=name, unit=dp.Row(), columns={}),
        dp.public(path, table=name),
    ):
        with pytest.raises(InvalidParameter) as refused:
            dp.DuckDB().attach("t", table.source)
        assert refused.value.code == "rows_not_stored"


@pytest.mark.parametrize("name", ["rows", "ROWS", "main.rows", "Ward.rows", "ward.Rows"])
def test_stored_tables_are_read(path: Path, name: str) -> None:
    table = dp.table(path, table=name, unit=dp.Row(), columns={})
    assert set(dp.DuckDB().attach("t", table.source)) == {"x"}


def test_a_table_that_is_not_there_is_another_refusal(path: Path) -> None:
    with pytest.raises(InvalidParameter) as refused:
        dp.DuckDB().attach("t", dp.table(path, table="none", unit=dp.Row(), columns={}).source)
    assert refused.value.code == "source_unreadable"
