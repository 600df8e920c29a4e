"""Columns that the owner derives: made at the scan and held to their declaration everywhere."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.noise import Noiseless
from discreet.relational.bounding.hashing import PORTABLE
from tests.relational.conformance.engines import DUCKDB, Maker, others

ONE = dp.PureDP(epsilon=1)
ROWS = pl.DataFrame(
    {
        "id": [1, 1, 2, 3, 4],
        "region": [" north", "South ", "NORTH", "west", None],
        "d": ["2024-01-02", "nothing", "2024-02-03", None, "1999-01-01"],
        "x": [-5.0, 3.0, 99.0, None, float("nan")],
        "k": ["1", "2.6", "x", "900", None],
        "flag": ["true", "FALSE", "1", "maybe", None],
        "note": ["ok", "no", "ok", None, "OK"],
    }
)
COLUMNS: dict[str, Any] = {
    "region": dp.Category(["NORTH", "SOUTH"]),
    "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
    "k": dp.Integer(0, 9),
    "flag": dp.Boolean(),
}
DERIVED = {
    "region": "upper(trim(region))",
    "day": "TRY_CAST(d AS DATE)",
    "score": "least(greatest(x, 0), 9)",
    "fine": "note = 'ok'",
    "twice": "2 * x",
}


def curator(source: object = ROWS, **more: Any) -> dp.Curator:
    given: dict[str, Any] = {"unit": dp.Person("id", max_rows=5), "columns": COLUMNS}
    table = dp.table(source, **(given | {"derived": DERIVED} | more.pop("table", {})))
    return dp.Curator(
        v=table,
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
        **more,
    )


QUESTIONS: dict[str, tuple[Any, ...]] = {
    "SELECT region, COUNT(*) AS n FROM v GROUP BY region": (2, 1),
    "SELECT COUNT(*) AS n FROM v WHERE region = 'NORTH'": (2,),
    "SELECT COUNT(day) AS n FROM v": (2,),
    "SELECT month(day) AS m, COUNT(*) AS n FROM v WHERE month(day) < 4 GROUP BY month(day)": (
        *(1, 1, 0),
    ),
    "SELECT SUM(score) AS n FROM v": (12,),
    "SELECT fine, COUNT(*) AS n FROM v GROUP BY fine": (2, 2),
    "SELECT SUM(k) AS n FROM v": (10,),
    "SELECT flag, COUNT(*) AS n FROM v GROUP BY flag": (1, 2),
    "SELECT SUM(least(greatest(twice, 0), 50)) AS n FROM v": (56,),
    "SELECT SUM(CASE WHEN note = 'ok' THEN 1 ELSE 0 END) AS n FROM v": (2,),
    "SELECT COUNT(*) AS n FROM v AS a JOIN v AS b ON a.id = b.id WHERE a.region = b.region": (3,),
}


@pytest.mark.parametrize("maker", [DUCKDB, *others()])
def test_derived_columns_mean_the_same_on_every_engine(maker: Maker) -> None:
    maker = getattr(maker, "values", [maker])[0]
    home = maker.home(PORTABLE)
    try:
        source = curator(home.source(ROWS), engine=home.engine)
        found = {text: tuple(source.sql(text, spend=ONE)["n"].values) for text in QUESTIONS}
        source.close()
    finally:
        home.close()
    assert found == QUESTIONS


def test_text_files_and_parquet_are_cleaned_alike(tmp_path: Path) -> None:
    ROWS.write_csv(tmp_path / "v.csv")
    ROWS.write_parquet(tmp_path / "v.parquet")
    for name in ("v.csv", "v.parquet"):
        columns = {**COLUMNS, "x": dp.Number(-1000, 1000)}
        source = curator(tmp_path / name, table={"columns": columns})
        for text, expected in QUESTIONS.items():
            if "twice" not in text:
                assert tuple(source.sql(text, spend=ONE)["n"].values) == expected, (name, text)


def test_the_declaration_holds_for_what_was_derived() -> None:
    """Even for an expression that leaves its bounds: the statement clamps, nobody believes it."""
    wide = {"table": {"columns": {"w": dp.Number(0, 1)}, "derived": {"w": "1e6 * x"}}}
    assert curator(**wide).sql("SELECT SUM(w) AS n FROM v", spend=ONE)["n"].values == (2,)
    listed = {"table": {"columns": {"w": dp.Category(["a"])}, "derived": {"w": "lower(note)"}}}
    text = "SELECT w, COUNT(*) AS n FROM v GROUP BY w"
    assert curator(**listed).sql(text, spend=ONE)["n"].values == (0,)


def test_what_the_expression_bounds_needs_no_declaration() -> None:
    declared = curator(table={"columns": {**COLUMNS, "score": dp.Number(0, 9)}})
    text = "SELECT SUM(score) AS s FROM v"
    found = [str(each.preview(text, spend=ONE)) for each in (curator(), declared)]
    assert found[0] == found[1]
    with pytest.raises(DiscreetError) as refusal:
        curator().sql("SELECT SUM(twice) AS s FROM v", spend=ONE)
    assert refusal.value.code == "column_not_declared"


def test_every_verb_takes_derived_columns() -> None:
    source, rows = curator(), curator(table={"unit": dp.Row()})
    assert source.bounds("v", "twice", spend=ONE) is not None
    assert source.universe("v", "region", "fine").size == 4
    assert source.simulate(
        "SELECT region, SUM(score) AS s FROM v GROUP BY region", spend=ONE, rows=9
    )
    part = rows.partition("v", by="region", budget=ONE)["NORTH"]
    assert part.sql("SELECT COUNT(*) AS n FROM v", spend=ONE)["n"].values == (2,)
    assert source.frame("v").group_by("fine").agg(n=dp.count()).release(spend=ONE)


@pytest.mark.parametrize(
    ("derived", "code"),
    [
        ({"id": "id + 1"}, "derived_identifier"),
        ({"a": "nothing + 1"}, "unknown_column"),
        ({"a": "SUM(x)"}, "unsupported_sql"),
        ({"a": "x FROM v"}, "unsupported_sql"),
        ({"a": "x, x"}, "not_an_expression"),
        ({"a": ""}, "not_an_expression"),
        ({"a": 3}, "not_an_expression"),
        ({"a": "random()"}, "unsupported_sql"),
        ({"a": "(SELECT 1)"}, "unsupported_sql"),
        ({"a": "x >"}, "sql_syntax"),
        ({"a": "x; DROP TABLE v"}, "sql_syntax"),
        ({"day": "x"}, "type_clash"),
    ],
)
def test_what_is_no_expression_is_refused_at_opening(derived: Any, code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        curator(table={"derived": {**DERIVED, **derived}})
    assert refusal.value.code == code


def test_another_derivation_is_another_question() -> None:
    """What was paid under one cleaning is not an answer under another."""
    ledger = dp.ledger.Memory()

    def asked(text: str) -> object:
        table = dp.table(
            ROWS, unit=dp.Row(), columns=COLUMNS, derived={**DERIVED, "region": text}, snapshot="1"
        )
        source = dp.Curator(v=table, budget=dp.PureDP(epsilon=9), ledger=ledger)
        source.sql("SELECT region, COUNT(*) AS n FROM v GROUP BY region", spend=ONE)
        return source.spent

    asked("upper(trim(region))")
    assert asked("upper(trim(region))") == dp.PureDP(epsilon=1, unit=dp.Row())
    assert asked("upper(region)") == dp.PureDP(epsilon=2, unit=dp.Row())
