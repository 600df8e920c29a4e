"""Dialects with a plausible mistake: the comparison with the interpreter must catch each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import duckdb
import pytest

from discreet.relational.compile.dialect import Template
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from tests.relational.expressions.engine import computed, reference, same, translated
from tests.relational.expressions.rows import awkward_rows


class Unguarded(DuckDBDialect):
    """Lets infinities and NaN through."""

    def finite(self, text: str) -> str:
        return text


class Trusting(DuckDBDialect):
    """Lets the engine read text in any form it likes."""

    def cast(self, text: str, source: DataType, kind: DataType) -> str:
        return f"TRY_CAST({text} AS {self.types[kind]})"


class Untidy(DuckDBDialect):
    """Does not clean undeclared columns."""

    def clean(self, text: str, stored: str, domain: ColumnDomain) -> str:
        return text


class Narrow(DuckDBDialect):
    """Writes constants without their type."""

    def literal(self, value: object) -> str:
        return str(value) if type(value) is int else super().literal(value)


def with_template(name: str, template: Template) -> DuckDBDialect:
    class Changed(DuckDBDialect):
        templates: ClassVar[Mapping[str, Template]] = {**DuckDBDialect.templates, name: template}

    return Changed()


TWINS: list[tuple[DuckDBDialect, str]] = [
    (Unguarded(), "x * y"),
    (Unguarded(), "x / y > 5"),
    (Unguarded(), "sqrt(x)"),
    (Trusting(), "cast(s as bigint)"),
    (Trusting(), "cast(s as date)"),
    (Trusting(), "cast(x as bigint)"),
    (Untidy(), "x > 0"),
    (Untidy(), "-w"),
    (Narrow(), "2000000000 + 2000000000"),
    (with_template("remainder", "({0} % {1})"), "w % v"),
    (with_template("cut", "({0} // {1})"), "w // v"),
    (with_template("least", "least({0}, {1})"), "least(w, v)"),
    (with_template("round", "round_even({0}, 0)"), "round(x)"),
    (with_template("trim", "trim({0})"), "trim(s)"),
    (with_template("make_date", "make_date({0}, {1}, {2})"), "make_date(i, j, 5)"),
    (with_template("difference", "date_diff('week', {0}, {1})"), "date_diff('week', d, e)"),
    (with_template("shift", "CAST({0} + to_days(1) AS DATE)"), "d + interval 1 day"),
    (with_template("nullif", "coalesce({0}, {1})"), "nullif(x, y)"),
    (with_template("is distinct from", "({0} <> {1})"), "x is distinct from y"),
]


@pytest.mark.parametrize(("twin", "text"), TWINS, ids=[text for _, text in TWINS])
def test_a_plausible_mistake_is_caught(twin: DuckDBDialect, text: str) -> None:
    expression, rows = translated(text), awkward_rows(600)
    right = reference([expression], rows)
    assert all(same(a[0], b[0]) for a, b in zip(right, computed([expression], rows), strict=True))
    try:
        wrong = computed([expression], rows, twin)
    except duckdb.Error:
        return
    assert not all(same(a[0], b[0]) for a, b in zip(right, wrong, strict=True))
