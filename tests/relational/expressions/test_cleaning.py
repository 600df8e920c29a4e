"""A scan brings whatever a table holds into the universe of its kind, and within declarations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime

import duckdb
import pytest

from discreet.core.errors import InvalidParameter
from discreet.relational.types.column_domain import ColumnDomain, cleaned
from discreet.relational.types.data_type import LARGEST_REAL, LARGEST_WHOLE, DataType
from tests.relational.expressions.engine import DIALECT
from tests.relational.expressions.rows import DATES, MOMENTS, REALS, TEXTS, WHOLES

WIDE = 170141183460469231731687303715884105727


def scanned(stored: str, domain: ColumnDomain, constants: Sequence[str]) -> list[object]:
    """What the cleaned column holds for these constants, in order."""
    rows = ", ".join(f"({place}, CAST({text} AS {stored}))" for place, text in enumerate(constants))
    clean = DIALECT.clean("stored", stored, domain)
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT {clean}, typeof({clean}) FROM "
            f"(VALUES {rows}) AS t(place, stored) "
            "ORDER BY place"
        ).fetchall()
    assert {kind for _, kind in found} == {DIALECT.types[domain.kind]}
    return [value for value, _ in found]


def test_whole_columns_are_clamped_whatever_their_width() -> None:
    domain = ColumnDomain(DataType.INTEGER, -5, 100)
    for stored in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"):
        assert scanned(stored, domain, ["NULL", "-6", "7", "101"]) == [None, -5, 7, 100]
    for stored in ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"):
        assert scanned(stored, domain, ["NULL", "7", "101"]) == [None, 7, 100]


def test_undeclared_whole_columns_stay_in_a_symmetric_universe() -> None:
    extremes = ["-9223372036854775808", "9223372036854775807"]
    assert scanned("BIGINT", ColumnDomain(DataType.INTEGER), extremes) == [
        -LARGEST_WHOLE,
        LARGEST_WHOLE,
    ]
    wide = scanned("HUGEINT", ColumnDomain(DataType.INTEGER), [f"-{WIDE}", str(WIDE), "3"])
    assert wide == [-LARGEST_WHOLE, LARGEST_WHOLE, 3]
    assert scanned("UBIGINT", ColumnDomain(DataType.INTEGER), [str(2**64 - 1)]) == [LARGEST_WHOLE]


def test_undeclared_columns_are_cleaned_as_the_reference_says() -> None:
    def literal(value: object) -> str:
        return f"'{value!r}'" if isinstance(value, float) else DIALECT.literal(value)

    pools = {
        "BIGINT": (DataType.INTEGER, WHOLES),
        "DOUBLE": (DataType.DOUBLE, REALS),
        "VARCHAR": (DataType.TEXT, TEXTS),
        "DATE": (DataType.DATE, DATES),
        "TIMESTAMP": (DataType.TIMESTAMP, MOMENTS),
    }
    for stored, (kind, pool) in pools.items():
        domain = ColumnDomain(kind)
        expected = [cleaned(value, domain) for value in pool]
        assert scanned(stored, domain, [literal(value) for value in pool]) == expected


def test_real_columns_lose_nan_and_are_clamped_infinities_included() -> None:
    domain = ColumnDomain(DataType.DOUBLE, 0, 50_000)
    constants = ["NULL", "'nan'", "'inf'", "'-inf'", "12.5", "-1", "60000"]
    for stored in ("DOUBLE", "FLOAT"):
        assert scanned(stored, domain, constants) == [None, None, 50_000, 0, 12.5, 0, 50_000]
    decimals = scanned("DECIMAL(18,3)", domain, ["NULL", "12.5", "-1", "60000"])
    assert decimals == [None, 12.5, 0, 50_000]
    extremes = scanned("DOUBLE", ColumnDomain(DataType.DOUBLE), ["'inf'", "'-inf'"])
    assert extremes == [LARGEST_REAL, -LARGEST_REAL]


def test_values_outside_a_category_become_null() -> None:
    domain = ColumnDomain(DataType.TEXT, values=("A", "it's"))
    assert scanned("VARCHAR", domain, ["'A'", "'it''s'", "'a'", "NULL"]) == [
        "A",
        "it's",
        None,
        None,
    ]
    assert scanned("ENUM('A', 'Z')", domain, ["'A'", "'Z'"]) == ["A", None]
    assert scanned("INTEGER", ColumnDomain(DataType.INTEGER, values=(1, 5)), ["1", "2", "5"]) == [
        1,
        None,
        5,
    ]
    assert scanned(
        "HUGEINT", ColumnDomain(DataType.INTEGER, values=(3, 2)), ["1", "2", str(WIDE)]
    ) == [
        *(None, 2, None),
    ]
    assert scanned("BOOLEAN", ColumnDomain(DataType.BOOLEAN), ["TRUE", "NULL"]) == [True, None]
    with_null = DIALECT.clean_category("v", [None, "A"])
    assert with_null == DIALECT.clean_category("v", ["A"])


def test_collations_of_stored_columns_do_not_make_different_texts_equal() -> None:
    clean = DIALECT.clean("v", "VARCHAR", ColumnDomain(DataType.TEXT, values=("A",)))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (v VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('A'), ('a')")
        found = connection.execute(f"SELECT {clean} FROM t ORDER BY v COLLATE C").fetchall()
    assert found == [("A",), (None,)]


def test_days_and_moments_outside_their_bounds_become_null() -> None:
    domain = ColumnDomain(DataType.DATE, date(2020, 1, 1), date(2020, 12, 31))
    days = ["DATE '2019-12-31'", "DATE '2020-06-01'", "'infinity'", "'-infinity'", "NULL"]
    assert scanned("DATE", domain, days) == [None, date(2020, 6, 1), None, None, None]
    far = ["DATE '10000-01-01'", "DATE '0001-01-01 (BC)'", "DATE '9999-12-31'", "'infinity'"]
    assert scanned("DATE", ColumnDomain(DataType.DATE), far) == [
        None,
        None,
        date(9999, 12, 31),
        None,
    ]
    moments = ["'infinity'", "'290000-01-01 00:00:00'", "'2020-01-01 10:00:00'"]
    for stored in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"):
        found = scanned(stored, ColumnDomain(DataType.TIMESTAMP), moments)
        assert found == [None, None, datetime(2020, 1, 1, 10)]
    nanoseconds = scanned("TIMESTAMP_NS", ColumnDomain(DataType.TIMESTAMP), moments[2:])
    assert nanoseconds == [datetime(2020, 1, 1, 10)]


def test_zoned_moments_are_taken_in_utc_whatever_the_session_says() -> None:
    clean = DIALECT.clean("v", "TIMESTAMP WITH TIME ZONE", ColumnDomain(DataType.TIMESTAMP))
    with duckdb.connect() as connection:
        for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
            connection.execute(f"SET TimeZone = '{zone}'")
            found = connection.execute(
                f"SELECT {clean} FROM (SELECT TIMESTAMPTZ '2020-01-01 10:00:00+02' AS v)"
            ).fetchall()
            assert found == [(datetime(2020, 1, 1, 8),)]


def test_a_column_stored_in_another_kind_is_converted_in_full() -> None:
    number = ColumnDomain(DataType.DOUBLE, 0, 100)
    text = ["'12.5'", "'x'", "'1e400'", "'-3'", "'nan'", "NULL"]
    assert scanned("VARCHAR", number, text) == [12.5, None, 100, 0, None, None]
    whole = ColumnDomain(DataType.INTEGER, 0, 120)
    reals = ["'nan'", "'inf'", "'-inf'", "37.5", "1e30"]
    assert scanned("DOUBLE", whole, reals) == [None, 120, 0, 38, 120]
    assert scanned("DOUBLE", ColumnDomain(DataType.INTEGER), ["'inf'"])[0] == 2**63 - 1024
    assert scanned("INTEGER", number, ["7", "101"]) == [7.0, 100.0]
    days = scanned(
        "VARCHAR", ColumnDomain(DataType.DATE), ["'2020-02-29'", "'2021-02-29'", "'infinity'"]
    )
    assert days == [date(2020, 2, 29), None, None]
    moments = scanned("DATE", ColumnDomain(DataType.TIMESTAMP), ["DATE '2020-01-01'", "'infinity'"])
    assert moments == [datetime(2020, 1, 1), None]
    coded = ColumnDomain(DataType.INTEGER, values=(1, 2))
    assert scanned("VARCHAR", coded, ["'1'", "'3'", "'1.0'"]) == [1, None, None]


def test_reference_cleaning() -> None:
    assert cleaned(math.nan, ColumnDomain(DataType.DOUBLE)) is None
    assert cleaned(math.inf, ColumnDomain(DataType.DOUBLE, 0, 5)) == 5
    assert cleaned("z", ColumnDomain(DataType.TEXT, values=("a",))) is None


@pytest.mark.parametrize(
    ("stored", "kind"),
    [
        *(
            ("BIGINT", DataType.INTEGER),
            ("hugeint", DataType.INTEGER),
            ("DECIMAL(18,3)", DataType.DOUBLE),
        ),
        *(
            ("FLOAT", DataType.DOUBLE),
            ("VARCHAR", DataType.TEXT),
            ("ENUM('a', 'b')", DataType.TEXT),
        ),
        *(("UUID", DataType.TEXT), ("BOOLEAN", DataType.BOOLEAN), ("DATE", DataType.DATE)),
        *(("TIMESTAMP_NS", DataType.TIMESTAMP), ("TIMESTAMP WITH TIME ZONE", DataType.TIMESTAMP)),
        *(("INTEGER[]", None), ("STRUCT(a INTEGER)", None), ("MAP(INTEGER, INTEGER)", None)),
        *(("TIME", None), ("INTERVAL", None), ("BLOB", None), ("JSON", None), ("BIT", None)),
        *(("ENUM('a')[]", None), ("VARCHAR[3]", None), ("UNION(a INTEGER)", None)),
    ],
)
def test_stored_types_have_a_kind_or_none(stored: str, kind: DataType | None) -> None:
    assert DIALECT.kind_of(stored) is kind


def test_columns_without_a_kind_are_refused() -> None:
    with pytest.raises(InvalidParameter) as refusal:
        DIALECT.clean("v", "INTEGER[]", ColumnDomain(DataType.INTEGER))
    assert refusal.value.code == "unusable_type"
