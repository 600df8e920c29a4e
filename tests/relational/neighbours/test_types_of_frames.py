"""The type of a private column never depends on a value: neighbours are stored in equal types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.relational.database import Database
from discreet.relational.engines.duckdb import engine as module
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.identity.identity import identity
from discreet.relational.schema.sources import source_of
from discreet.relational.sql.translate import query_from

Make = Callable[[Sequence[Any]], Any]
WORDS = (["flu", "flu"], ["flu", "HIV"], ["flu", None], [None, None], ["flu", "x" * 300])
NUMBERS = ([30, 40], [30, None], [30, 60.5], [30, "n/a"])


def stored(source: object) -> dict[str, str]:
    """The types that DuckDB reports for a table."""
    engine = DuckDB(threads=1)
    try:
        return engine.attach("t", source_of(source))
    finally:
        engine.close()


def category(values: Sequence[Any]) -> object:
    return pd.DataFrame({"v": pd.Series(values, dtype=object).astype("category")})


def objects(values: Sequence[Any]) -> object:
    return pd.DataFrame({"v": pd.Series(values, dtype=object)})


def letters(values: Sequence[Any]) -> object:
    hidden = [value is None for value in values]
    words = np.array(["" if value is None else value for value in values], dtype="U")
    return {"v": np.ma.array(words, mask=hidden)}


def dictionary(values: Sequence[Any]) -> object:
    return pa.table({"v": pa.array(values, type=pa.string()).dictionary_encode()})


def categorical(values: Sequence[Any]) -> object:
    return pl.DataFrame({"v": pl.Series(values, dtype=pl.Categorical)})


def listed(values: Sequence[Any]) -> object:
    words = sorted({value for value in values if value is not None})
    return pl.DataFrame({"v": pl.Series(values, dtype=pl.Enum(words))})


@pytest.mark.parametrize("make", [category, objects, letters, dictionary, categorical, listed])
def test_words_are_text_whichever_they_are(make: Make) -> None:
    assert [stored(make(values)) for values in WORDS] == [{"v": "VARCHAR"}] * len(WORDS)


@pytest.mark.parametrize("make", [category, objects])
def test_columns_of_anything_are_text_whatever_they_hold(make: Make) -> None:
    every = (*NUMBERS, [True, False], [True, None], [None, None])
    assert [stored(make(values)) for values in every] == [{"v": "VARCHAR"}] * len(every)


def test_arrays_have_the_type_they_say() -> None:
    arrays = {
        "i": np.array([1, 2], dtype=np.int32),
        "f": np.array([1.0, np.nan]),
        "b": np.array([True, False]),
        "d": np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
        "u": np.array(["a", "bc"], dtype="<U7"),
    }
    types = ["INTEGER", "DOUBLE", "BOOLEAN", "TIMESTAMP", "VARCHAR"]
    assert stored(arrays) == dict(zip(arrays, types, strict=True))


def test_masked_values_are_missing() -> None:
    engine = DuckDB(threads=1)
    engine.attach("t", source_of(letters(["a", None])))
    assert engine.rows("SELECT v FROM source_0 ORDER BY v NULLS LAST") == [("a",), (None,)]
    engine.close()


def test_private_lists_are_refused_and_neighbours_alike() -> None:
    def refusal(ages: Any) -> str:
        ids = np.arange(len(ages))
        with pytest.raises(InvalidParameter, match="columns_without_type") as refused:
            dp.table({"pid": ids, "age": ages}, unit=dp.Row(), columns={})
        return str(refused.value)

    assert len({refusal(ages) for ages in NUMBERS}) == 1
    assert len({refusal(tuple(ages)) for ages in NUMBERS}) == 1
    assert len({refusal(np.array(ages, dtype=object)) for ages in NUMBERS}) == 1
    assert len({refusal(pl.Series(ages, strict=False)) for ages in NUMBERS}) == 1


def test_a_source_made_by_hand_is_refused_too() -> None:
    with pytest.raises(InvalidParameter, match="columns_without_type"):
        dp.table(source_of({"age": [1, 2]}), unit=dp.Row(), columns={})


def test_public_lists_are_read() -> None:
    assert stored({"a": [1, 2], "b": ["x", None]}) == {"a": "BIGINT", "b": "VARCHAR"}
    dp.public({"a": [1, 2]})


def enums(path: Path, first: str, second: str) -> Path:
    """A DuckDB file whose columns are stored as ENUMs with these lists."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT CAST('a' AS ENUM({first})) AS pid, "
            f"CAST('b' AS ENUM({second})) AS v, [CAST('a' AS ENUM({first}))] AS many"
        )
    return path


def test_the_values_of_an_enum_are_no_part_of_its_type(tmp_path: Path) -> None:
    path = enums(tmp_path / "t.duckdb", "'a', 'HIV)''', '(ENUM'", "'b', ''')', 'c'")
    assert stored(path) == {"pid": "ENUM", "v": "ENUM", "many": "ENUM[]"}


def asked(source: object) -> str:
    """What a ledger holds of a question about a table."""
    table = dp.table(source, unit=dp.Person("pid", max_rows=1), columns={})
    database = Database(DuckDB(threads=1), {"t": table})
    try:
        return identity("sql", {"question": query_from("SELECT COUNT(*) AS n FROM t", database)})
    finally:
        database.close()


def test_what_a_ledger_holds_of_a_question_is_the_same_for_neighbours(tmp_path: Path) -> None:
    one = enums(tmp_path / "one.duckdb", "'a'", "'b'").rename(tmp_path / "t.duckdb")
    first = asked(one)
    one.unlink()
    other = enums(tmp_path / "two.duckdb", "'a', 'z'", "'b', 'HIV'").rename(tmp_path / "t.duckdb")
    assert asked(other) == first
    frames = [
        pd.DataFrame({"pid": ["a", "b"], "v": values}).astype({"v": "category", "pid": "category"})
        for values in (["flu", "flu"], ["flu", "HIV"])
    ]
    assert asked(frames[0]) == asked(frames[1])


def test_people_of_enums_with_other_lists_are_one_space(tmp_path: Path) -> None:
    """Whether somebody is missing from one table decides nothing."""
    unit = dp.Person("pid", max_rows=1)
    tables: dict[str, Any] = {
        name: dp.table(
            enums(tmp_path / f"{name}.duckdb", listed, "'b'"), table="t", unit=unit, columns={}
        )
        for name, listed in (("x", "'a'"), ("y", "'a', 'eve'"))
    }
    curator = dp.Curator(**tables, budget=dp.PureDP(epsilon=1e4), ledger=dp.ledger.Memory())
    answer = curator.sql(
        "SELECT COUNT(*) AS n FROM x JOIN y ON x.pid = y.pid", spend=dp.PureDP(epsilon=1e3)
    )
    assert answer["n"].values == (1,)


def test_the_broken_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that lets DuckDB look at categories stores neighbours in different types."""
    monkeypatch.setattr(module, "typed", lambda frame: frame)
    assert len({str(stored(category(values))) for values in NUMBERS}) > 1
    assert "ENUM" in stored(category(["flu"]))["v"]
