"""Every function of the language, on every engine, against the interpreter: no row fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.compile.dialect import Dialect, Template
from discreet.relational.engines.postgres.dialect import PostgresDialect
from discreet.relational.engines.postgres.engine import Postgres
from discreet.relational.schema.sources import source_of
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression
from tests.relational.conformance.engines import POSTGRES, Maker, others
from tests.relational.expressions.cases import EXACT, NEARLY
from tests.relational.expressions.engine import COLUMNS, Row, reference, same, translated
from tests.relational.expressions.rows import any_rows, awkward_rows

_TYPES: dict[str, Any] = {
    "BIGINT": pl.Int64,
    "INTEGER": pl.Int32,
    "DOUBLE": pl.Float64,
    "VARCHAR": pl.String,
    "BOOLEAN": pl.Boolean,
    "DATE": pl.Date,
    "TIMESTAMP": pl.Datetime("us"),
}
_AT_ONCE = 60
_DIGITS = "cast(x as varchar)"
"""Which of the shortest digits a real is written with is each engine's own choice."""


@cache
def expressions() -> tuple[tuple[str, Expression], ...]:
    return tuple((text, translated(text)) for text in (*EXACT, *NEARLY) if text != _DIGITS)


@pytest.mark.parametrize("maker", others())
def test_an_engine_gives_the_value_of_the_interpreter(maker: Maker) -> None:
    assert list(differences(maker, awkward_rows(700))) == []


@pytest.mark.slow
@pytest.mark.parametrize("maker", others())
def test_an_engine_agrees_on_many_rows(maker: Maker) -> None:
    assert list(differences(maker, awkward_rows(6_000))) == []


@pytest.mark.slow
@pytest.mark.parametrize("maker", others())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(rows=any_rows())
def test_an_engine_agrees_on_any_rows(maker: Maker, rows: Sequence[Row]) -> None:
    assert list(differences(maker, rows)) == []


class Trusting(PostgresDialect):
    """Lets the server read text in any form it likes."""

    def cast(self, text: str, source: DataType, kind: DataType) -> str:
        return f"CAST({text} AS {self.types[kind]})"


class Untidy(PostgresDialect):
    """Does not clean undeclared columns."""

    def clean(self, text: str, stored: str, domain: ColumnDomain) -> str:
        return text


class Collated(PostgresDialect):
    """Leaves text to the collation of the database."""

    def text(self, value: str) -> str:
        return Dialect.text(self, value)

    def opened(self, text: str, stored: str) -> str:
        return text


def with_template(name: str, template: Template) -> PostgresDialect:
    class Changed(PostgresDialect):
        templates: ClassVar[Mapping[str, Template]] = {**PostgresDialect.templates, name: template}

    return Changed()


TWINS: list[tuple[PostgresDialect, str]] = [
    (Trusting(), "cast(s as bigint)"),
    (Trusting(), "cast(s as date)"),
    (Untidy(), "x > 0"),
    (Untidy(), "-w"),
    (Collated(), "s > t"),
    (with_template("add", "({0} + {1})"), "x + y"),
    (with_template("multiply", "({0} * {1})"), "x * y"),
    (with_template("square", "({0} * {0})"), "a * a"),
    (with_template("divide", "({0} / {1})"), "x / y"),
    (with_template("exp", "EXP({0})"), "exp(x)"),
    (with_template("ln", "LN({0})"), "ln(x)"),
    (with_template("power", "POWER({0}, {1})"), "power(x, y)"),
    (with_template("round", "ROUND({0})"), "round(x)"),
    (with_template("lower", "LOWER({0})"), "lower(s)"),
    (with_template("like", "({0} LIKE 'a!%b')"), "s like 'a!%b' escape '!'"),
    (
        with_template(
            "make_date", "MAKE_DATE(CAST({0} AS INT), CAST({1} AS INT), CAST({2} AS INT))"
        ),
        "make_date(i, j, 5)",
    ),
]


@pytest.mark.parametrize(("twin", "text"), TWINS, ids=[text for _, text in TWINS])
def test_a_plausible_mistake_is_caught(
    twin: PostgresDialect, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives another value, or fails on a row."""
    asked = [(text, translated(text))]
    assert list(differences(POSTGRES, awkward_rows(400), asked)) == []
    monkeypatch.setattr(Postgres, "dialect", property(lambda self: twin))
    try:
        found = list(differences(POSTGRES, awkward_rows(400), asked))
    except InvalidParameter:
        return
    assert found != []


def differences(
    maker: Maker,
    rows: Sequence[Row],
    every: Sequence[tuple[str, Expression]] | None = None,
) -> Iterator[str]:
    """The expressions whose values are not the interpreter's."""
    every = expressions() if every is None else every
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    schema = {name: _TYPES[stored.type] for name, stored in COLUMNS.items()}
    frame = pl.DataFrame(columns, schema=schema, nan_to_null=False).with_row_index("place")
    home = maker.home(NATIVE)
    try:
        engine, dialect = home.engine, home.engine.dialect
        types = engine.attach("stored", source_of(home.source(frame.cast({"place": pl.Int64}))))
        scan = ", ".join(
            f"{dialect.clean(f's.{name}', types[name], stored.domain)} "
            f"AS {dialect.identifier(name)}"
            for name, stored in COLUMNS.items()
        )
        table = f"(SELECT place, {scan} FROM {engine.place('stored')} AS s) AS q"
        for start in range(0, len(every), _AT_ONCE):
            asked = every[start : start + _AT_ONCE]
            texts = ", ".join(
                f"{dialect.render(expression)} AS r{place}"
                for place, (_, expression) in enumerate(asked)
            )
            found = engine.rows(f"SELECT {texts} FROM {table} ORDER BY place")
            wanted = reference([expression for _, expression in asked], rows)
            for place, (text, _) in enumerate(asked):
                ulps = 64 if text in NEARLY else 0
                for row, ours, theirs in zip(rows, wanted, found, strict=True):
                    if not same(ours[place], theirs[place], ulps=ulps):
                        yield f"{text} is {theirs[place]!r}, not {ours[place]!r}, on {row}"
                        break
    finally:
        home.engine.close()
        home.close()
