"""Types of text files: read off public rows, said by the owner, or taken from the question."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.noise import Noiseless
from discreet.relational.plan.nodes import Filtered, Output
from discreet.relational.plan.public_rows import PublicRows
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column

ONE = dp.ApproxDP(epsilon=1, delta=1e-6)
ROWS = pl.DataFrame(
    {
        "pid": [1, 1, 2, 3, 4, 5, 5],
        "ward": ["A", "B", "A", "B", "A", "A", "B"],
        "code": [9, 10, -3, 0, None, 2**53, 7],
        "size": [9.5, 10.0, -0.25, 1e3, None, 0.1, 2.0],
        "born": [date(1999, 12, 31), date(2000, 1, 1), None, date(1850, 5, 5)] + [date.max] * 3,
        "seen": [datetime(2024, 1, 1, 12), None] + [datetime(2024, 5, 6, 7, 8, 9)] * 5,
        "well": [True, False, None, True, True, False, False],
        "name": ["10", "9", "x", "", None, "2024-01-01", "true"],
    }
)
TYPES: dict[str, object] = {
    "code": int,
    "size": float,
    "born": date,
    "seen": "TIMESTAMP",
    "well": bool,
    "name": str,
}
ALIKE = (
    "SELECT COUNT(*) AS n FROM t WHERE code > 9",
    "SELECT COUNT(*) AS n FROM t WHERE code BETWEEN 0 AND 9.5 OR code IN (10, -3)",
    "SELECT COUNT(*) AS n FROM t WHERE size * 2 + code > 19 AND NOT well",
    "SELECT SUM(least(greatest(code, 0), 9)) AS n FROM t",
    "SELECT SUM(CASE WHEN size > 1 THEN code % 7 ELSE 0 END) AS n FROM t WHERE code < 100",
    "SELECT AVG(least(greatest(size, 0), 9)) AS n FROM t WHERE born >= DATE '1999-01-01'",
    "SELECT COUNT(*) AS n FROM t WHERE year(born) = 2000 OR month(seen) = 5",
    "SELECT COUNT(*) AS n FROM t WHERE well",
    "SELECT COUNT(*) FILTER (WHERE well) AS n FROM t WHERE code // 2 = 4 OR abs(code) < 1",
    "SELECT COUNT(*) AS n FROM t WHERE name = '9' OR starts_with(name, '1')",
    "SELECT COUNT(*) AS n FROM t JOIN p ON t.code = p.code",
    "SELECT p.label, COUNT(*) AS n FROM t JOIN p ON t.code = p.code AND size > 1 GROUP BY p.label",
    "SELECT COUNT(*) AS n FROM t JOIN p ON t.code = p.code AND well",
    "SELECT COUNT(*) AS n FROM t WHERE code IN (SELECT code FROM p)",
    "SELECT COUNT(code) AS n FROM t WHERE coalesce(code, 0) = 0",
    "SELECT COUNT(*) AS n FROM (SELECT pid, code FROM t UNION ALL SELECT pid, 3 FROM t) AS s "
    "WHERE code > 2",
    "SELECT COUNT(DISTINCT pid) AS n FROM t WHERE nullif(code, 0) > 5",
)
"""Of a text file, with types or without, and of a Parquet file."""


def curator(source: object, **more: Any) -> dp.Curator:
    public = pl.DataFrame({"code": [9, 10, 0], "label": ["a", "b", "b"]})
    return dp.Curator(
        t=dp.table(
            source,
            unit=dp.Person("pid", max_rows=2),
            columns={"ward": dp.Category(["A", "B"])},
            **more,
        ),
        p=dp.public(public),
        budget=dp.ApproxDP(epsilon=1000, delta=0.1),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


def outcome(source: dp.Curator, text: str) -> object:
    try:
        return source.sql(text, spend=ONE)["n"].values
    except DiscreetError as refusal:
        return refusal.code


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("types")
    ROWS.write_parquet(folder / "t.parquet")
    ROWS.write_csv(folder / "t.csv", datetime_format="%Y-%m-%d %H:%M:%S", quote_style="non_numeric")
    return folder


def test_a_text_file_answers_as_parquet_does(files: Path) -> None:
    whole = curator(files / "t.parquet")
    for source in (curator(files / "t.csv"), curator(files / "t.csv", types=TYPES)):
        found = {text: outcome(source, text) for text in ALIKE}
        assert found == {text: outcome(whole, text) for text in ALIKE}
    assert not any(isinstance(outcome(whole, text), str) for text in ALIKE)


def test_types_say_the_same_as_a_schema(files: Path) -> None:
    """Kinds of columns, and so of answers; bounds that were declared are of the same kind too."""
    declared: dict[str, Any] = {
        "code": dp.Number(0, 9),
        "size": dp.Number(0, 9),
        "ward": dp.Discovered(),
    }
    kinds = []
    for source, types in ((files / "t.parquet", None), (files / "t.csv", TYPES)):
        table = dp.table(source, unit=dp.Row(), columns=declared, types=types)
        made = dp.Curator(t=table, budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory())
        entry = made.context.database.find("t")
        assert entry is not None
        kinds.append({name: f.domain for name, f in entry.fields.items() if name != "pid"})
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    "asked",
    [
        "COUNT(*) AS n FROM t WHERE name > code",
        "COUNT(*) AS n FROM t WHERE greatest(code, size) > 5",
        "COUNT(*) AS n FROM t WHERE code BETWEEN size AND name",
    ],
)
def test_two_fields_of_a_text_file_are_not_put_in_order(files: Path, asked: str) -> None:
    """As text they would have another order than as numbers: 9 after 10."""
    with pytest.raises(DiscreetError) as refusal:
        curator(files / "t.csv").sql(f"SELECT {asked}", spend=ONE)
    assert refusal.value.code == "type_clash"
    assert "types=" in refusal.value.remedy
    typed = curator(files / "t.csv", types={"code": float, "size": float, "name": float})
    assert isinstance(outcome(typed, f"SELECT {asked}"), tuple)


def test_a_column_that_is_said_to_be_text_is_text(files: Path) -> None:
    for known in ({"types": {"name": str}}, {}):
        source = curator(files / "t.csv", **known)
        found = outcome(source, "SELECT COUNT(*) AS n FROM t WHERE name > 5")
        assert found == ("type_clash" if known else (2,))
    assert outcome(source, "SELECT COUNT(*) AS n FROM t WHERE CAST(name AS VARCHAR) > 5") == (
        "type_clash"
    )


def test_values_that_are_none_of_the_type_are_null(files: Path) -> None:
    source = curator(files / "t.csv", types={"name": int})
    assert outcome(source, "SELECT COUNT(name) AS n FROM t") == (2,)
    assert outcome(source, "SELECT COUNT(*) AS n FROM t WHERE name IS NULL") == (5,)


def test_types_are_for_columns_that_are_stored_as_text(files: Path) -> None:
    with pytest.raises(DiscreetError) as refusal:
        curator(files / "t.parquet", types={"code": str})
    assert refusal.value.code == "type_clash"
    curator(files / "t.parquet", types={"code": int, "name": float})
    for types, code in (({"cod": int}, "unknown_column"), ({"code": list}, "not_a_type")):
        with pytest.raises(DiscreetError) as refusal:
            curator(files / "t.csv", types=types)
        assert refusal.value.code == code


def test_a_simulation_takes_fields_of_text_files_as_they_are_taken(files: Path) -> None:
    source = curator(files / "t.csv")
    text = "SELECT COUNT(*) AS n FROM t WHERE code > 9"
    assert len(source.simulate(text, spend=ONE, rows=100)) == 1


def test_no_step_filters_by_what_is_no_condition() -> None:
    """Whatever a translation hands on: an engine would read rows as truth values, and fail."""
    nobody = PublicRows.of("rows", (Output("x", ColumnDomain(DataType.TEXT)),), (("a",),))
    with pytest.raises(DiscreetError) as refusal:
        Filtered(nobody, Column("x", ColumnDomain(DataType.TEXT, untyped=True)))
    assert refusal.value.code == "type_clash"


# Public text files -------------------------------------------------------------------------------


def public_kinds(text: str, folder: Path, **more: Any) -> list[str]:
    (folder / "p.csv").write_text(text, encoding="utf-8")
    made = dp.Curator(
        t=dp.table({"x": pl.Series([1]).to_numpy()}, unit=dp.Row(), columns={}),
        p=dp.public(folder / "p.csv", **more),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    entry = made.context.database.find("p")
    assert entry is not None
    return [field.domain.kind.name for field in entry.fields.values()]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-20", "0"], DataType.INTEGER),
        (["1", "2.5", "-0.5", "1e3"], DataType.DOUBLE),
        (["1", "02"], DataType.TEXT),
        (["1.5", "-02"], DataType.TEXT),
        (["+1", "2"], DataType.TEXT),
        (["1", "2 "], DataType.TEXT),
        (["1", "x"], DataType.TEXT),
        (["12345678901234567890", "1"], DataType.TEXT),
        (["123456789012345678", "1"], DataType.INTEGER),
        (["2024-01-31", "0001-01-01"], DataType.DATE),
        (["2024-01-31", "2024-02-30"], DataType.TEXT),
        (["2024-01-31 10:00:00", "2024-01-31"], DataType.TIMESTAMP),
        (["true", "False"], DataType.BOOLEAN),
        (["yes", "no"], DataType.TEXT),
        (["0", "1"], DataType.INTEGER),
        (["", ""], DataType.TEXT),
        (["", "7"], DataType.INTEGER),
    ],
)
def test_the_type_of_a_public_column_is_that_of_all_its_values(
    values: list[str], kind: DataType, tmp_path: Path
) -> None:
    text = "k,v\n" + "".join(f"a,{value}\n" for value in values)
    assert public_kinds(text, tmp_path) == ["TEXT", kind.name]


def test_public_numbers_and_days_are_computed_with(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "ward,pop,opened,big\nA,100,2001-05-06,1000\nB,250,2010-07-08,5\n", encoding="utf-8"
    )
    made = dp.Curator(
        t=dp.table(
            ROWS, unit=dp.Row(), columns={"ward": dp.Category(["A", "B"]), "size": dp.Number(0, 9)}
        ),
        p=dp.public(tmp_path / "p.csv"),
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    spend = dp.PureDP(epsilon=1)
    joined = "FROM t JOIN p ON t.ward = p.ward"
    shares = made.sql(
        f"SELECT p.ward, COUNT(*) / p.pop AS n {joined} GROUP BY p.ward, p.pop", spend=spend
    )
    assert shares["n"].values == pytest.approx((4 / 100, 3 / 250))
    assert shares["n"].upper is not None
    years = made.sql(f"SELECT year(p.opened) AS y, COUNT(*) AS n {joined} GROUP BY y", spend=spend)
    assert years.keys["y"] == (2001, 2010)
    total = made.sql(f"SELECT SUM(size * p.big) AS n {joined}", spend=spend)
    assert total["n"].values[0] == pytest.approx((9 + 0 + 0.1) * 1000 + (9 + 9 + 2) * 5)


def test_what_the_owner_says_of_a_public_column_holds_or_is_refused(tmp_path: Path) -> None:
    text = "k,v\n1,01\n2,7\n,\n"
    assert public_kinds(text, tmp_path) == ["INTEGER", "TEXT"]
    assert public_kinds(text, tmp_path, types={"k": str, "v": int}) == ["TEXT", "INTEGER"]
    with pytest.raises(DiscreetError) as refusal:
        public_kinds("k,v\n1,01\n2,many\n", tmp_path, types={"v": float})
    assert refusal.value.code == "public_values"
    assert "'many'" in str(refusal.value)
    with pytest.raises(DiscreetError) as refusal:
        public_kinds(text, tmp_path, types={"w": int})
    assert refusal.value.code == "unknown_column"
