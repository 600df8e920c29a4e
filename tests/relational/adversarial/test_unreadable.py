"""Values that cannot be read, in frames and Parquet: each is its own affair, and no failure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.noise import Noiseless
from discreet.relational.engines.duckdb import stored
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.schema.sources import source_of
from tests.relational.adversarial.curators import ask, curator

COUNTS = "SELECT COUNT(*) AS n, COUNT(w) AS m FROM t"
COLUMNS = {"w": dp.Category(["A", "B"])}


class Silent:
    """An object that does not say what it is."""

    def __str__(self) -> str:
        message = "Zaphod-7731"
        raise ValueError(message)


def bytes_as(kind: Any, values: Sequence[bytes]) -> Any:
    """An Arrow array of text with these bytes, checked by nobody."""
    binary = pa.large_binary() if kind == pa.large_string() else pa.binary()
    return pa.Array.from_buffers(kind, len(values), pa.array(values, type=binary).buffers())


WRONG = (b"A", b"\xff\xfe", b"B")
BEYOND = np.array(["A", "x", "B"])
BEYOND.view(np.uint32)[1] = 0x110000
PLAIN = bytes_as(pa.string(), WRONG)
DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), PLAIN)
FRAMES: dict[str, Any] = {
    "numpy surrogate": {"w": np.array(["A", "\ud800", "B"])},
    "numpy beyond": {"w": BEYOND},
    "numpy big-endian": {"w": np.array(["A", "\udfff", "B"]).astype(">U2")},
    "numpy masked": {"w": np.ma.array(["A", "\ud800", "B"], mask=[False, False, False])},
    "pandas objects": pd.DataFrame({"w": pd.Series(["A", "\ud800", "B"], dtype=object)}),
    "pandas silent": pd.DataFrame({"w": pd.Series(["A", Silent(), "B"], dtype=object)}),
    "pandas missing": pd.DataFrame({"w": pd.Series(["A", pd.NA, "B"], dtype=object)}),
    "pandas string": pd.DataFrame(
        {"w": pd.Series(["A", "\ud800", "B"], dtype=pd.StringDtype("python"))}
    ),
    "pandas arrow": pd.DataFrame({"w": pd.array(pd.arrays.ArrowExtensionArray(PLAIN))}),
    "arrow string": pa.table({"w": PLAIN}),
    "arrow large": pa.table({"w": bytes_as(pa.large_string(), WRONG)}),
    "arrow dictionary": pa.table({"w": DICTIONARY}),
    "arrow batch": pa.record_batch({"w": PLAIN}),
    "arrow slice": pa.table({"w": bytes_as(pa.string(), (b"\xff", *WRONG))}).slice(1),
    "arrow chunks": pa.table({"w": pa.chunked_array([PLAIN[:1], PLAIN[1:]])}),
    "polars": pl.from_arrow(pa.table({"w": PLAIN})),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_text_that_is_not_text_is_null(frame: Any) -> None:
    with curator(frame, unit=dp.Row(), columns=COLUMNS, randomness=Noiseless()) as made:
        assert [answer.values for answer in ask(made, COUNTS).answers] == [(3,), (2,)]
        assert ask(made, "SELECT COUNT(*) AS n FROM t WHERE w IS NULL").answers[0].values == (1,)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_a_person_without_a_readable_name_is_nobody(frame: Any) -> None:
    unit = dp.Person("w", max_rows=1)
    with curator(frame, unit=unit, columns={}, randomness=Noiseless()) as made:
        assert ask(made, "SELECT COUNT(*) AS n FROM t").answers[0].values == (2,)


def test_a_frame_that_can_be_read_is_not_copied() -> None:
    from discreet.relational.engines.duckdb.frames import typed

    frame = pd.DataFrame({"w": pd.Series(["A", "B"], dtype=object), "s": ["a", "b"], "x": [1, 2]})
    for whole in (frame, pa.table({"w": ["A"]}), pl.DataFrame({"w": ["A"]})):
        assert typed(whole) is whole


def test_moments_out_of_reach_are_missing() -> None:
    moments = np.array([-(2**62), 5, 2**62], dtype="datetime64[s]")
    engine = DuckDB()
    engine.attach("t", source_of({"m": moments, "d": moments.view("datetime64[D]")}))
    assert engine.rows("SELECT COUNT(m), COUNT(d) FROM source_0") == [(1, 1)]
    engine.close()


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_zoned_moments_out_of_reach_are_missing(unit: str) -> None:
    moments = pa.array([-(2**62), 5, 2**62, None]).cast(pa.timestamp(unit, "Europe/Paris"))
    near = pd.Series(np.array([-(2**53), 5, 2**53, 5], dtype=f"datetime64[{unit}]"))
    frames = {
        "arrow": pa.table({"m": moments}),
        "listed": pa.table({"m": moments.dictionary_encode()}),
        "pandas": pd.DataFrame({"m": near.dt.tz_localize("UTC")}),
        "pandas of arrow": pd.DataFrame({"m": pd.arrays.ArrowExtensionArray(moments)}),
        "polars": pl.DataFrame({"m": pl.from_arrow(moments)}) if unit == "ms" else None,
    }
    seen = {}
    for name, frame in frames.items():
        if frame is not None:
            engine = DuckDB()
            (kind,) = engine.attach("t", source_of(frame)).values()
            found = engine.rows(
                "SELECT CAST(MIN(epoch_us(m)) AS BIGINT) FROM source_0 WHERE "
                "year(m AT TIME ZONE 'UTC') = 1970"
            )
            seen[name] = (kind, found[0][0])
            assert engine.rows("SELECT COUNT(*) FROM source_0") == [(len(frame),)]
            engine.close()
    ticks = 5_000_000 if unit == "s" else 5_000
    assert set(seen.values()) == {("TIMESTAMP WITH TIME ZONE", ticks)}


@pytest.mark.parametrize(
    "source",
    [
        pl.LazyFrame({"w": ["A"]}),
        pa.RecordBatchReader.from_batches(pa.schema({"w": pa.string()}), []),
        pd.Series(["A"]),
    ],
    ids=["lazy", "reader", "series"],
)
def test_rows_that_are_not_in_memory_are_refused(source: object) -> None:
    with pytest.raises(DiscreetError, match="not_a_source_of_rows"):
        dp.table(source, unit=dp.Row(), columns={})


# Parquet -----------------------------------------------------------------------------------------


def parquet(path: Path, values: Sequence[bytes], **more: Any) -> Path:
    pq.write_table(pa.table({"w": bytes_as(pa.string(), values), **more}), path)
    return path


def counted(path: Path, sql: str, unit: Any = None, columns: Any = None) -> tuple[Any, ...]:
    declared = COLUMNS if columns is None else columns
    with curator(path, unit=unit or dp.Row(), columns=declared, randomness=Noiseless()) as made:
        return tuple(ask(made, sql).answers[0].values)


def test_parquet_text_that_is_not_text_makes_no_question_fail(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet", WRONG)
    assert counted(path, "SELECT w, COUNT(*) AS n FROM t GROUP BY w") == (1, 1)
    assert counted(path, "SELECT COUNT(*) AS n FROM t") == (3,)


def test_a_row_of_parquet_does_not_bring_others_into_sight(tmp_path: Path) -> None:
    """Statistics of the bytes as they are would hide a text until somebody widens them."""
    sql = "SELECT COUNT(*) AS n FROM t WHERE w BETWEEN 'M?' AND 'MB'"
    without = parquet(tmp_path / "without.parquet", [b"Ma", *[b"M\xff"] * 9, b"Z"])
    beside = parquet(tmp_path / "beside.parquet", [b"Ma", *[b"M\xff"] * 9, b"Z", b"MA"])
    (one,), (other,) = counted(without, sql, columns={}), counted(beside, sql, columns={})
    assert abs(other - one) <= 1


@pytest.mark.parametrize("identifiers", [(), ("w",)])
def test_text_of_parquet_is_read_as_it_is_without_statistics(
    tmp_path: Path, identifiers: tuple[str, ...]
) -> None:
    texts = ["", " ", "  a ", "a\0b\0", "\0", "\n\t ", "é", "e\u0301", "x" * 9_000, "Z\U0001f600"]
    path = parquet(tmp_path / "t.parquet", [text.encode() for text in texts])
    dialect = DuckDBDialect()
    item = stored.parquet_columns({"w": "VARCHAR"}, identifiers, dialect)
    rows = f"(SELECT {item} FROM {stored.parquet(path, dialect)}) AS t"
    read = duckdb.execute(f"SELECT w FROM {rows}").fetchall()
    assert sorted(read) == sorted((text,) for text in texts)
    (statistics,) = duckdb.execute(f"SELECT stats(w) FROM {rows} LIMIT 1").fetchall()[0]
    assert not {"min", "max"} & set(statistics)
    assert statistics["has_null"]


def test_people_with_unreadable_names_are_not_taken_for_one(tmp_path: Path) -> None:
    unit = dp.Person("w", max_rows=1)
    path = parquet(tmp_path / "t.parquet", [b"a\xff", b"a\xfe", b"b"])
    assert counted(path, "SELECT COUNT(*) AS n FROM t", unit=unit, columns={}) == (1,)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_one_nan_in_parquet_is_null_whatever_its_statistics_say(
    tmp_path: Path, kind: type[np.floating[Any]]
) -> None:
    """Writers leave NaN out of the statistics, from which the engine concludes."""
    values = np.array([1, 2, np.nan, 3], dtype=kind)
    path = tmp_path / "t.parquet"
    columns = {"x": dp.Number(0.0, 10.0)}
    for write in (pl.DataFrame({"x": values}).write_parquet, None):
        if write is None:
            pq.write_table(pa.table({"x": values}), path)
        else:
            write(path)
        assert counted(path, "SELECT SUM(x) AS s FROM t", columns=columns) == (6,)
        assert counted(path, "SELECT COUNT(x) AS n FROM t", columns=columns) == (3,)
        for where, wanted in (("x IS NULL", 1), ("x > 5", 0), ("NOT x <= 5", 0)):
            sql = f"SELECT COUNT(*) AS n FROM t WHERE {where}"
            assert counted(path, sql, columns=columns) == (wanted,)
            assert counted(path, sql, columns={}) == (wanted,)
