"""Spark: names of ours and names of the catalogue do not hide each other; curators do not meet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import discreet as dp
from discreet.relational.engines import key_tables
from discreet.relational.engines.spark.engine import Spark
from discreet.relational.types.data_type import DataType
from tests.relational.bounding.partners import CUT, exact
from tests.relational.conformance.spark_with_rows import (
    INTERPRETED,
    SparkWithRows,
    missing,
    session,
)
from tests.relational.engines.test_several_curators import meet_nowhere

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]
SPEND = dp.PureDP(epsilon=1e3)
"""So much that noise moves a count with a probability below 1e-40."""
ROWS = "SELECT * FROM VALUES (1L, 'A'), (2L, 'A'), (3L, 'B') AS t(pid, ward)"


@pytest.fixture
def spark() -> Iterator[Spark]:
    engine = Spark(session())
    yield engine
    engine.close()


@pytest.mark.parametrize("name", ["keys_0", "KEYS_0"])
def test_a_table_of_the_catalogue_is_hidden_by_no_name_of_ours(spark: Spark, name: str) -> None:
    session().sql(f"CREATE TABLE {name} USING parquet AS {ROWS}")
    try:
        wards = dp.Category(["A", "B"])
        table = dp.table(spark.table(name), unit=dp.Row(), columns={"ward": wards})
        ledger = dp.ledger.Memory()
        asked = dp.Curator(visits=table, budget=dp.PureDP(epsilon=1e9), ledger=ledger)
        text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
        for _ in range(2):
            assert asked.sql(text, spend=SPEND).to_dict()["n"] == [2, 1]
        spark._session.sql("SELECT 1 AS pid, 'C' AS ward").createOrReplaceTempView(name)
        assert spark.rows(f"SELECT COUNT(*) FROM {spark.place('visits')}") == [(3,)]
    finally:
        session().sql(f"DROP TABLE {name}")


def test_names_of_keys_are_not_to_be_guessed_and_few_are_kept(
    spark: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_tables, "MAX_TABLES", 2)
    names = {spark.keys([(n,)], (DataType.INTEGER,)) for n in range(4)}
    assert len(names) == 4
    assert all(len(name.rpartition("_")[2]) == 32 for name in names)
    there = [table.name for table in spark._session.catalog.listTables()]
    assert len(names.intersection(there)) == 2
    with spark.snapshot():
        name = spark.keys([(5,), (7,)], (DataType.INTEGER,))
        for n in range(4):
            spark.keys([(n,)], (DataType.INTEGER,))
        assert spark.rows(f"SELECT v0 FROM {name} ORDER BY code") == [(5,), (7,)]


def test_curators_with_one_engine_object_answer_about_their_own_tables() -> None:
    home = SparkWithRows(settings=INTERPRETED)
    try:
        meet_nowhere(home)
    finally:
        home.close()


@pytest.mark.parametrize("partners", [None, 1])
def test_rows_of_a_key_beyond_the_partners_paid_for_are_cut(partners: int | None) -> None:
    assert exact(SparkWithRows(settings=INTERPRETED), partners) == CUT[partners]
