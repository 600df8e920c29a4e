"""Contributions to sums: clamped, then rounded to a power-of-two grid, exactly and totally."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from tests.relational.expressions.engine import DIALECT
from tests.relational.expressions.rows import REALS

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


def in_steps(
    values: Sequence[float | None], domain: ColumnDomain, exponent: int
) -> list[int | None]:
    text = DIALECT.steps("v", domain, exponent)
    with duckdb.connect() as connection:
        source = "(SELECT unnest(?::INTEGER[]) AS place, unnest(?::DOUBLE[]) AS v)"
        rows = connection.execute(
            f"SELECT {text}, typeof({text}) FROM {source} ORDER BY place",
            [list(range(len(values))), list(values)],
        ).fetchall()
    assert {kind for _, kind in rows} == {"BIGINT"}
    return [value for value, _ in rows]


def exactly(value: float | None, domain: ColumnDomain, exponent: int) -> int | None:
    """The specification, in rational numbers."""
    if value is None or math.isnan(value):
        return None
    clamped = min(max(value, domain.low), domain.high)
    return round(Fraction(clamped) / Fraction(2) ** exponent)


@given(
    values=st.lists(st.one_of(st.none(), st.floats(), st.sampled_from(REALS)), min_size=20),
    ends=st.tuples(finite, finite),
    exponent=st.integers(-20, 40),
)
@settings(max_examples=40)
def test_steps_are_the_nearest_multiples_of_the_clamped_value(
    values: list[float | None], ends: tuple[float, float], exponent: int
) -> None:
    domain = ColumnDomain(DataType.DOUBLE, min(ends), max(ends))
    near = [end + half * 2.0**exponent for end in ends for half in (-0.5, 0, 0.5, 1.5)]
    drawn = [*values, *ends, *near]
    assert in_steps(drawn, domain, exponent) == [exactly(v, domain, exponent) for v in drawn]


def test_steps_are_monotone_and_keep_what_lies_on_the_grid() -> None:
    domain = ColumnDomain(DataType.DOUBLE, -1000, 1000)
    values = [-math.inf, *sorted(n / 7 for n in range(-8000, 8000)), math.inf]
    steps = [step for step in in_steps(values, domain, -3) if step is not None]
    assert steps == sorted(steps)
    assert in_steps([step * 2.0**-3 for step in steps], domain, -3) == steps


def test_the_extremes_of_the_grid_are_safe() -> None:
    tiny = ColumnDomain(DataType.DOUBLE, -1e-300, 1e-300)
    assert in_steps([1e-300, math.inf, 5e-324], tiny, -1000) == [
        round(Fraction(1e-300) * 2**1000),
        round(Fraction(1e-300) * 2**1000),
        0,
    ]
    huge = ColumnDomain(DataType.DOUBLE, -1e300, 1e300)
    assert in_steps([1e300, -math.inf, 1.0, 5e-324], huge, 940) == [
        round(Fraction(1e300) / 2**940),
        -round(Fraction(1e300) / 2**940),
        0,
        0,
    ]


def test_whole_numbers_are_their_own_steps() -> None:
    text = DIALECT.steps("v", ColumnDomain(DataType.INTEGER, 0, 10), 0)
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT {text} FROM (VALUES (-5), (7), (11)) t(v)").fetchall()
    assert rows == [(0,), (7,), (10,)]


@pytest.mark.parametrize(
    ("domain", "exponent"),
    [
        (ColumnDomain(DataType.DOUBLE, 0, 1e6), -50),
        (ColumnDomain(DataType.DOUBLE, 0, 1), -1001),
        (ColumnDomain(DataType.DOUBLE, 0, 1), 1001),
        (ColumnDomain(DataType.DOUBLE, 0), 0),
    ],
)
def test_grids_that_do_not_fit_are_refused(domain: ColumnDomain, exponent: int) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        DIALECT.steps("v", domain, exponent)
    assert refusal.value.code == "grid_out_of_range"


def test_sums_are_exact_beyond_64_bits_and_split_into_halves() -> None:
    whole = DIALECT.wide_sum("v")
    numbers = [2**62, 2**62, 2**62, 2**62, -1, -(2**61)]
    for sign in (1, -1):
        rows = ", ".join(f"({sign * number}::BIGINT)" for number in numbers)
        high, low = DIALECT.halves("m")
        with duckdb.connect() as connection:
            inside = f"SELECT {whole} AS m FROM (VALUES {rows}) t(v)"
            found = connection.execute(f"SELECT m, {high}, {low} FROM ({inside})").fetchall()
        total, upper, lower = found[0]
        assert total == sign * sum(numbers)
        assert upper * 2**62 + lower == total


def test_the_sum_of_nothing_is_zero() -> None:
    text = DIALECT.wide_sum("v")
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT {text} FROM (SELECT 1::BIGINT AS v WHERE FALSE)"
        ).fetchall()
    assert found == [(0,)]


def test_hashes_depend_on_every_text_and_on_all_of_the_salt() -> None:
    texts = ["1", "'a'", "CAST(NULL AS DOUBLE)"]
    salts = (0, 1, 2**64, 2**64 + 1, 2**127)
    variants = [DIALECT.hash(texts, salt) for salt in salts]
    variants += [DIALECT.hash(["2", *texts[1:]], 0), DIALECT.hash(texts[:2], 0)]
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {', '.join(variants)}").fetchall()[0]
    assert len(set(found)) == len(variants)


def test_salts_shuffle_evenly() -> None:
    """Each of five rows comes first about as often as the others."""
    wins = dict.fromkeys(range(5), 0)
    with duckdb.connect() as connection:
        for salt in range(2_000):
            text = DIALECT.hash(["CAST(7 AS BIGINT)", "v"], salt << 40 | salt)
            rows = connection.execute(
                f"SELECT v FROM (SELECT unnest(range(5)) AS v) ORDER BY {text} LIMIT 1"
            ).fetchall()
            wins[rows[0][0]] += 1
    # Six standard deviations of a fair draw.
    assert all(abs(count - 400) < 6 * math.sqrt(2_000 * 0.2 * 0.8) for count in wins.values())
