"""Rows of everything a column may hold: NULL, NaN, infinities, extremes, odd text, odd days."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from datetime import date, datetime

from hypothesis import strategies as st

from tests.relational.expressions.engine import COLUMNS, Row

WHOLES: Sequence[int] = (
    *(0, 1, -1, 2, 5, 7, -7, 10, 499, 500, -500, 123456789, 2**31 - 1, -(2**31)),
    *(2**53 + 1, 2**62 - 1, 2**62, -(2**62), 2**63 - 1, -(2**63) + 1, -(2**63)),
)
REALS: Sequence[float] = (
    *(math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, -7.5, 0.1),
    *(0.49999999999999994, 0.3, 99.99, 100.0, 1e15 + 0.5, 2.0**53, 2.0**63, -(2.0**63), 1e19),
    *(5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308),
    *(1e-200, 1e200, 709.78, -745.2, 20.0, 1e150, 1.005),
)
TEXTS: Sequence[str] = (
    *(
        "",
        " ",
        "a",
        "A",
        "aa",
        "é",
        "É",
        "ß",
        "İ",
        "ŉ",
        "ᾳ",
        "Σ",
        "  a ",
        "\ta\n",
        "\u00a0a",
        "b",
        "c",
    ),
    *("12", "+5", "-0", "007", "1e3", "1.5", "1.", ".5", "-.5e-3", "1e400", "1e-400", "12x", " 12"),
    *("999999999999999999", "9223372036854775807", "1_000", "0x10", "nan", "inf", "Infinity"),
    *(
        "true",
        "T",
        "FALSE",
        "no",
        "yes",
        "on",
        "2020-02-29",
        "2021-02-29",
        "0000-01-01",
        "20200101",
    ),
    *("0001-01-01", "9999-12-31", "2020-1-1", "2020-01-01T00:00:00", "2020-01-01 24:00:00"),
    *("2020-01-01 10:30:05.123456", "2020-01-01 10:30:05.1234567", "2020-01-01 10:30", "epoch"),
    *("2020-01-01 10:30:05+02", "héllo wörld", "%", "_", "a%b", "a!b", "a_b", "\\", "a\nb", "it's"),
    *("👨‍👩‍👧", "e\u0301", "\u202e", "日本語", "\x01", "x" * 300, "hello", "HELLO", "' OR 1=1 --"),
)
DATES: Sequence[date] = (
    *(date(1, 1, 1), date(1, 1, 31), date(9999, 12, 31), date(9999, 12, 1), date(1969, 12, 31)),
    *(
        date(1970, 1, 1),
        date(2019, 12, 30),
        date(2020, 2, 29),
        date(2020, 12, 31),
        date(2021, 1, 1),
    ),
    *(date(2021, 1, 31), date(2024, 1, 7), date(2024, 1, 8), date(1900, 3, 1), date(1582, 10, 10)),
)
MOMENTS: Sequence[datetime] = (
    *(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1)),
    *(datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2020, 2, 29, 10, 30, 5, 500000)),
    *(datetime(2024, 1, 7, 23, 59, 59, 1), datetime(2021, 1, 1, 0, 0, 1), datetime(1, 1, 1, 4)),
)

_POOLS: dict[str, Sequence[object]] = {
    "BIGINT": WHOLES,
    "INTEGER": [value for value in WHOLES if -(2**31) <= value < 2**31],
    "DOUBLE": REALS,
    "VARCHAR": TEXTS,
    "BOOLEAN": (True, False),
    "DATE": DATES,
    "TIMESTAMP": MOMENTS,
}
_LETTERS = st.characters(min_codepoint=1, max_codepoint=0x1FFF)
_DRAWN: dict[str, st.SearchStrategy[object]] = {
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "INTEGER": st.integers(-(2**31), 2**31 - 1),
    "DOUBLE": st.floats(),
    "VARCHAR": st.text(_LETTERS, max_size=20),
    "BOOLEAN": st.booleans(),
    "DATE": st.dates(),
    "TIMESTAMP": st.datetimes(),
}


def pool(name: str) -> Sequence[object]:
    """The awkward values of one column."""
    extra = {"c": ("A", "b", "É"), "j": tuple(range(8)), "i": (999, -1000, 31, 12)}
    return (None, *_POOLS[COLUMNS[name].type], *extra.get(name, ()))


def awkward_rows(count: int) -> list[Row]:
    """Rows that combine awkward values, the same on every run."""
    draw = random.Random(20)
    return [{name: draw.choice(pool(name)) for name in COLUMNS} for _ in range(count)]


def any_rows() -> st.SearchStrategy[list[Row]]:
    """Rows that hypothesis draws."""
    cells = {
        name: st.one_of(st.none(), st.sampled_from(pool(name)), _DRAWN[stored.type])
        for name, stored in COLUMNS.items()
    }
    return st.lists(st.fixed_dictionaries(cells), min_size=5, max_size=40)
