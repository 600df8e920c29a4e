"""Reports in files: DuckDB, and the statement that other engines run, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import InvalidData, Mismatch
from discreet.core.source import ColumnSource
from discreet.local.hashing import LocalHashing
from discreet.local.report_files import aggregate_columns
from tests.local.examples import oracles

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("kind", sorted(oracles(1)))
def test_files_give_the_tally_of_their_reports(kind: str, tmp_path: Path) -> None:
    oracle = oracles(1, 12)[kind]
    batches = [oracle.privatize_many(np.arange(n) % 12) for n in (300, 1, 700)]
    for place, batch in enumerate(batches):
        local.write_parquet(batch, oracle, str(tmp_path / f"{place}.parquet"))
    found = local.aggregate_files(oracle, str(tmp_path / "*.parquet"))
    expected: Any = sum(oracle.aggregate(batch) for batch in batches)
    assert found.rejected == 0
    assert found.tally.people == 1001
    assert np.array_equal(found.tally.table, expected.table)


@pytest.mark.parametrize("kind", [local.VectorMean, local.PrivUnit])
def test_files_of_vectors_give_their_tally(
    kind: type[local.VectorMean | local.PrivUnit], tmp_path: Path
) -> None:
    question = kind(epsilon=2, dimensions=3)
    batch = question.privatize_many(np.tile([0.5, -0.1, 0.0], (500, 1)))
    path = str(tmp_path / "vectors.parquet")
    local.write_parquet(batch, question, path)
    found = local.aggregate_files(question, path)
    assert found.rejected == 0
    assert np.array_equal(found.tally.table, question.aggregate(batch).table)
    sent = local.ReportBatch.from_bytes(batch.to_bytes(question.fields), question.fields)
    assert np.array_equal(question.aggregate(sent).table, found.tally.table)
    halves = [question.aggregate(batch.where(np.arange(500) % 2 == part)) for part in (0, 1)]
    assert np.array_equal((halves[0] + halves[1]).table, found.tally.table)


def test_bad_rows_in_files_are_counted_and_left_out(tmp_path: Path) -> None:
    hashing = oracles(1)["optimal_hashing"]
    rows = {
        "a": [1, None, 5000, -1, 3],
        "b": [2, 2, 2, 2, 2],
        "cell": [0, 0, 0, 0, 9],
        "sent_at": [0] * 5,
    }
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    found = local.aggregate_files(hashing, str(tmp_path / "x.parquet"))
    assert (found.tally.people, found.rejected) == (1, 4)
    direct = oracles(1)["direct"]
    pq.write_table(pa.table({"value": [0, 4, 5, -1, None]}), tmp_path / "y.parquet")
    found = local.aggregate_files(direct, str(tmp_path / "y.parquet"))
    assert (found.tally.people, found.rejected) == (2, 3)


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"value": ["a"], "bits": [b"abc"]}), tmp_path / "x.parquet")
    with pytest.raises(Mismatch, match="local_columns_missing"):
        local.aggregate_files(oracles(1)["hadamard"], str(tmp_path / "x.parquet"))
    with pytest.raises(InvalidData, match="local_column_type"):
        local.aggregate_files(oracles(1)["optimized_unary"], str(tmp_path / "x.parquet"))
    rows = {"a": ["x"], "b": ["y"], "cell": ["z"]}
    pq.write_table(pa.table(rows), tmp_path / "y.parquet")
    with pytest.raises(InvalidData, match="local_column_type"):
        local.aggregate_files(oracles(1)["optimal_hashing"], str(tmp_path / "y.parquet"))


def test_relations_and_connections_are_taken(tmp_path: Path) -> None:
    oracle = oracles(1)["direct"]
    connection = duckdb.connect()
    relation = connection.sql("SELECT range % 5 AS value FROM range(100)")
    found = local.aggregate_files(oracle, relation, connection=connection)
    assert found.tally.table.tolist() == [20] * 5


class Arrays:
    """Columns in memory, handed out in two pieces."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = columns

    def pieces(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        for half in (slice(0, 150), slice(150, None)):
            yield {name: self.columns[name][half] for name in columns}


def test_any_source_of_columns_will_do() -> None:
    oracle = oracles(1)["hadamard_two"]
    batch = oracle.privatize_many(np.arange(400) % 5)
    spoilt = batch.columns["word"].astype(np.int64)
    spoilt[3] = 4
    source = Arrays({**batch.columns, "word": spoilt})
    assert isinstance(source, ColumnSource)
    found = aggregate_columns(oracle, source)
    assert (found.tally.people, found.rejected) == (399, 1)


def test_missing_bits_are_left_out(tmp_path: Path) -> None:
    rows = pa.array([b"\x01\x00", None, b"\xff\xff"], type=pa.binary(2))
    pq.write_table(pa.table({"bits": rows}), tmp_path / "x.parquet")
    for domain, good in ((12, 1), (16, 2)):
        oracle = local.OptimizedUnary(epsilon=1, domain=domain)
        found = local.aggregate_files(oracle, str(tmp_path / "x.parquet"))
        assert (found.tally.people, found.rejected) == (good, 3 - good)


def supports(kind: str) -> tuple[LocalHashing, local.ReportBatch, dict[str, Any]]:
    oracle = oracles(1.5, 50)[kind]
    assert isinstance(oracle, LocalHashing)
    batch = oracle.privatize_many(np.arange(500) % 50)
    columns = {name: column.astype(np.int64) for name, column in batch.columns.items()}
    columns["a"] = np.concatenate([columns["a"], [oracle.prime, -3]])
    columns["b"] = np.concatenate([columns["b"], [0, 0]])
    columns["cell"] = np.concatenate([columns["cell"], [0, 0]])
    return oracle, batch, columns


@pytest.mark.parametrize("kind", ["binary_hashing", "optimal_hashing"])
def test_hashes_evaluated_inside_the_engine_agree(kind: str) -> None:
    oracle, batch, columns = supports(kind)
    connection = duckdb.connect()
    connection.register("reports", pa.table(columns))
    connection.sql("CREATE TABLE wanted AS SELECT range AS value FROM range(50)")
    statement = local.support_sql(oracle, table="reports", candidates="wanted")
    tally = local.tally_of_supports(oracle, connection.sql(statement).fetchall())
    assert tally.people == 500
    assert np.array_equal(tally.table, oracle.aggregate_for(batch, np.arange(50)).table)
    assert np.allclose(
        oracle.estimate(tally).shares, oracle.estimate(oracle.aggregate(batch)).shares
    )
    with pytest.raises(InvalidData, match="local_supports_misfit"):
        local.tally_of_supports(oracle, [(0, 1, 5), (1, 1, 6)])


@pytest.mark.slow
def test_spark_runs_the_same_statement() -> None:
    sql = pytest.importorskip("pyspark.sql")
    try:
        session = sql.SparkSession.builder.master("local[1]").getOrCreate()
    except Exception as error:  # no Java
        pytest.skip(f"no Spark: {type(error).__name__}")
    oracle, batch, columns = supports("optimal_hashing")
    rows = list(zip(*(columns[name].tolist() for name in ("a", "b", "cell")), strict=True))
    session.createDataFrame(rows, ["a", "b", "cell"]).createOrReplaceTempView("reports")
    session.range(50).withColumnRenamed("id", "value").createOrReplaceTempView("wanted")
    statement = local.support_sql(oracle, table="reports", candidates="wanted")
    tally = local.tally_of_supports(
        oracle, [tuple(row) for row in session.sql(statement).collect()]
    )
    session.stop()
    assert np.array_equal(tally.table, oracle.aggregate_for(batch, np.arange(50)).table)
