"""Every kind of source gives the same answers; types never depend on private values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.errors import InvalidParameter, Mismatch
from discreet.noise import Noiseless
from tests.curator.tables import COLUMNS, visits

TEXT = (
    "SELECT ward, COUNT(*) AS n, SUM(age) AS s, AVG(cost) AS c FROM visits "
    "WHERE note <> 'n3' AND day < '2024-03-01' GROUP BY ward"
)


def curator(source: Any, **tables: Any) -> dp.Curator:
    table = dp.table(source, unit=dp.Row(), columns=COLUMNS)
    return dp.Curator(
        visits=table,
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
        **tables,
    )


def parquet(folder: Path) -> object:
    visits().write_parquet(folder / "visits.parquet")
    return folder / "visits.parquet"


def csv(folder: Path) -> object:
    visits().write_csv(folder / "visits.csv")
    return folder / "visits.csv"


def database(folder: Path) -> object:
    frame = visits()
    with duckdb.connect(str(folder / "visits.duckdb")) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE visits AS SELECT * FROM frame")
    return folder / "visits.duckdb"


def arrays(_: Path) -> object:
    frame = visits()
    moments = {"day": frame["day"].to_numpy().astype("datetime64[us]")}
    words = {name: np.array(frame[name], dtype="U") for name in ("ward", "note")}
    return {name: frame[name].to_numpy() for name in frame.columns} | moments | words


@pytest.mark.parametrize(
    "make",
    [
        parquet,
        csv,
        database,
        lambda _: visits(),
        lambda _: visits().to_pandas(),
        lambda _: visits().to_arrow(),
        arrays,
    ],
    ids=["parquet", "csv", "duckdb", "polars", "pandas", "arrow", "numpy"],
)
def test_every_kind_of_source_gives_the_same_answer(
    make: Callable[[Path], object], tmp_path: Path
) -> None:
    answer = curator(make(tmp_path)).sql(TEXT, spend=dp.PureDP(epsilon=1))
    frame = visits().filter((pl.col("note") != "n3") & (pl.col("day") < pl.date(2024, 3, 1)))
    for row in answer:
        mine = frame.filter(pl.col("ward") == row["ward"])
        assert row["n"] == len(mine)
        assert row["s"] == pytest.approx(mine["age"].sum())
        assert row["c"] == pytest.approx(mine["cost"].mean(), abs=1e-6)


def test_a_word_among_numbers_changes_no_type_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    visits().write_csv(path)
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace(",20,", ",unknown,")
    path.write_text("\n".join([*lines, 'ragged,"row', "x"]) + "\n")
    answer = curator(path).sql(
        "SELECT COUNT(*) AS n, COUNT(age) AS a FROM visits", spend=dp.PureDP(epsilon=1)
    )
    counted = answer["a"].values[0]
    assert counted is not None
    assert counted >= 178


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="file_not_found"):
        curator(tmp_path / "visits.parquet")


def test_a_truncated_file_is_refused_without_detail(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    visits().write_parquet(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InvalidParameter, match="source_unreadable"):
        curator(path)


def test_a_declaration_that_does_not_suit_the_column_is_refused() -> None:
    with pytest.raises(Mismatch, match="type_clash"):
        dp.Curator(
            visits=dp.table(visits(), unit=dp.Row(), columns={"day": dp.Number(0, 1)}),
            budget=dp.PureDP(epsilon=1),
            ledger=dp.ledger.Memory(),
        )


def test_a_declared_column_must_exist() -> None:
    with pytest.raises(InvalidParameter, match="unknown_column"):
        dp.Curator(
            visits=dp.table(visits(), unit=dp.Row(), columns={"wards": dp.Category(["A"])}),
            budget=dp.PureDP(epsilon=1),
            ledger=dp.ledger.Memory(),
        )


def test_public_tables_join_and_give_keys() -> None:
    names = dp.public(pl.DataFrame({"ward": ["A", "B", "C", "D"], "floor": [1, 1, 2, 3]}))
    answer = curator(visits(), names=names).sql(
        "SELECT floor, COUNT(*) AS n FROM visits JOIN names USING (ward) GROUP BY floor",
        spend=dp.PureDP(epsilon=1),
    )
    assert answer.keys["floor"] == (1, 2, 3)
    assert answer["n"].values == (120, 60, 0)


def test_a_public_table_with_several_partners_multiplies_the_sensitivity() -> None:
    names = dp.public(pl.DataFrame({"ward": ["A", "A", "A", "B"], "tag": ["x", "y", "z", "x"]}))
    plan = curator(visits(), names=names).explain(
        "SELECT tag, COUNT(*) AS n FROM visits JOIN names ON visits.ward = names.ward GROUP BY tag"
    )
    assert plan.measures[0].l1 == 3
