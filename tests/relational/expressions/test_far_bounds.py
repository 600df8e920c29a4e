"""Bounds and lists that follow from bounds far from zero, and from the ends of months."""

from __future__ import annotations

from datetime import date, datetime

from discreet.relational.engines.postgres.dialect import PostgresDialect
from discreet.relational.types.column_domain import ColumnDomain, cleaned
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, evaluate, possible_values
from tests.relational.expressions.engine import Stored, translated

_MOMENT = ColumnDomain(
    DataType.TIMESTAMP, datetime(2024, 1, 30, 12), datetime(2024, 2, 29), declared=True
)
COLUMNS = {
    "far": Stored("BIGINT", ColumnDomain(DataType.INTEGER, 2**61, 2**61 + 5_000, declared=True)),
    "high": Stored("DOUBLE", ColumnDomain(DataType.DOUBLE, 800.0, 900.0, declared=True)),
    "m": Stored("TIMESTAMP", _MOMENT),
}


def test_tens_of_large_whole_numbers_are_listed_exactly() -> None:
    rounded = translated("round(far, -1)", COLUMNS)
    found = [evaluate(rounded, {"far": value}) for value in (2**61, 2**61 + 57, 2**61 + 5_000)]
    assert set(found) <= set(possible_values(rounded) or ())
    assert all(rounded.domain.low <= value <= rounded.domain.high for value in found)


def test_what_cannot_be_rounded_has_no_list_and_no_bounds() -> None:
    for text in ("round(1e300, 15)", "round(exp(high), 5)"):
        domain = translated(text, COLUMNS).domain
        assert domain.values in (None, ())


def test_days_that_become_the_last_of_a_month_keep_their_clock() -> None:
    """The 28th at noon comes after the 29th at midnight once both are the 28th of a shorter one."""
    for text, late in (
        ("m + interval 1 year", datetime(2024, 2, 28, 23, 59, 59)),
        ("m + interval 13 month", datetime(2024, 1, 31)),
    ):
        moved = translated(text, COLUMNS)
        value = evaluate(moved, {"m": late})
        assert moved.domain.low <= value <= moved.domain.high


def test_a_number_that_is_not_listed_is_null_also_beyond_the_list() -> None:
    domain = Column("x", ColumnDomain(DataType.INTEGER, values=(0, 3), declared=True)).domain
    assert [cleaned(value, domain) for value in (-1, 0, 2, 3, 4)] == [None, 0, None, 3, None]


def test_what_is_always_null_needs_no_cast_that_an_engine_refuses() -> None:
    """PostgreSQL knows no cast from a date to a number, whatever it holds."""
    columns = {
        "d": Stored("DATE", ColumnDomain(DataType.DATE, date(9999, 1, 1), date.max, declared=True))
    }
    for text in ("(d + 3660000) + 1", "cast(d + 3660000 as double)", "sqrt(d + 3660000)"):
        assert "DATE" not in PostgresDialect().render(translated(text, columns))
