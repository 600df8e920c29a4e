"""The tables of the conformance suite: everything on which engines are known to disagree."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl

import discreet as dp
from discreet.core.unit import PrivacyUnit
from tests.relational.neighbours.worlds import Private, Setting

NAN, INF = math.nan, math.inf
SCHEMA: Mapping[str, Any] = {
    "pid": pl.Int64,
    "w": pl.String,
    "c": pl.String,
    "f": pl.Boolean,
    "x": pl.Int64,
    "i": pl.Int32,
    "big": pl.Int64,
    "y": pl.Float64,
    "z": pl.Float64,
    "r": pl.Float32,
    "price": pl.Decimal(10, 2),
    "d": pl.Date,
    "m": pl.Datetime("us"),
    "u": pl.Datetime("us", "UTC"),
    "note": pl.String,
    "told": pl.String,
}
WORDS = ("A", "B", "é", "e\u0301", "日本", "ß")
"""The third and the fourth look alike: one letter, and a letter with a combining accent."""
FIRST, LAST = date(2023, 12, 30), date(2024, 3, 2)
MOMENTS = (datetime(2024, 1, 1), datetime(2024, 1, 2, 12, 30))
COLUMNS: Mapping[str, Any] = {
    "w": dp.Category(WORDS),
    "c": dp.Category(["p", "q", None]),
    "f": dp.Category([False, True]),
    "x": dp.Number(-3, 5),
    "i": dp.Number(-1000, 1000),
    "big": dp.Number(-(2**61), 2**61),
    "y": dp.Number(-1.5, 2.25, step=0.25),
    "r": dp.Number(0, 10),
    "price": dp.Number(-5, 100.5),
    "d": dp.Dates(FIRST, LAST),
    "m": dp.Dates(*MOMENTS),
    "u": dp.Dates(*MOMENTS),
    "told": dp.Number(0, 10),
}
POOLS: Mapping[str, Sequence[object]] = {
    "pid": (1, 2, 3, 4, 5, -7, 2**62, -(2**63), 2**63 - 1, None),
    "w": (*WORDS, "A", "B", "a", "", "Z", "A ", None),
    "c": ("p", "q", "r", None),
    "f": (True, False, None),
    "x": (-3, -1, 0, 1, 2, 5, 6, 2**62, -(2**63), 2**63 - 1, None),
    "i": (-1000, -999, -7, 0, 7, 12, 499, 500, 1000, 2**31 - 1, -(2**31), None),
    "big": (-(2**63), -(2**61), -(2**61) + 1, -1, 0, 1, 2**53 + 1, 2**61, 2**63 - 1, None),
    "y": (0.1, -1.5, 2.25, 0.125, 0.375, 0.0, -0.0, 5e-324, 1e308, INF, -INF, NAN, None),
    "z": (0.0, -0.0, 1.0, -2.5, 0.3, 5e-324, -5e-324, 1e-200, 1e200, 1e308, INF, NAN, None),
    "r": (0.1, 0.2, 9.99, 10.0, 1e30, -1.0, INF, NAN, None),
    "price": (*map(Decimal, ("0.10", "99.99", "100.50", "-5.01", "12345678.90", "0.00")), None),
    "d": (FIRST, date(2024, 1, 1), date(2024, 2, 29), LAST, date.min, date.max, None),
    "m": (*MOMENTS, datetime(2024, 1, 1, 23, 59, 59, 999999), datetime.min, datetime.max, None),
    "u": (
        *(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 23, 30, tzinfo=UTC)),
        *(datetime(2024, 1, 2, 12, 30, tzinfo=UTC), datetime(1999, 12, 31, tzinfo=UTC), None),
    ),
    "note": (
        *("", "x", "12", "-7", "1e3", "nan", "2024-02-29", "2024-02-30", "ÀÉ", "àé", "a%b", "it's"),
        *("2024-01-01 10:30:05.5", "true", "NO", "e\u0301", "\\", "👨‍👩‍👧", "  pad ", None),
    ),
    "told": (
        *(
            "1e999",
            "-1e999",
            "9" * 4000,
            f"-{'9' * 4000}",
            "0" * 4000 + "7",
            f"0.{'0' * 4000}1e4001",
        ),
        *("1e999999999", "-1e-999999999", "1e-400", "1e1234567890", "4." + "9" * 4000, "1e309"),
        *("Infinity", "-inf", "nan", " 12 ", "+5", "0x10", "7.25", ".5", "5.", "-3", "", "x", None),
    ),
}
STAYS: Mapping[str, Any] = {"pid": pl.Int64, "k": pl.String, "v": pl.Int64, "at": pl.Date}
STAY_COLUMNS: Mapping[str, Any] = {"k": dp.Category(WORDS), "v": dp.Number(0, 4)}
ORDERS: Mapping[str, Any] = {"oid": pl.String, "pid": pl.Int64, "w": pl.String}
ITEMS: Mapping[str, Any] = {"oid": pl.String, "q": pl.Int64, "w": pl.String}
PUBLIC: Mapping[str, pl.DataFrame] = {
    "p": pl.DataFrame(
        {
            "w": ["A", "A", "B", "é", "e\u0301", None, "Q"],
            "region": ["n", "s", "s", "n", "南", "n", None],
            "weight": [1, 2, 3, -4, 5, 6, 7],
            "rate": [0.5, -0.25, 1e3, 0.0, -0.0, 7.5, None],
        }
    ),
    "bands": pl.DataFrame({"x": [-3, 0, 0, 5, None], "band": ["low", "mid", "odd", "top", "none"]}),
    "days": pl.DataFrame(
        {"d": [FIRST, date(2024, 1, 1), date(2024, 2, 29)], "kind": ["old", "new", "leap"]}
    ),
}


def drawn(pools: Mapping[str, Sequence[object]], count: int, seed: int) -> list[dict[str, object]]:
    """Rows of values picked from each column's pool, the same on every run."""
    draw = random.Random(seed)
    return [{name: draw.choice(pool) for name, pool in pools.items()} for _ in range(count)]


def frame(schema: Mapping[str, Any], rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Rows under a fixed schema, whatever they hold."""
    columns = {name: [row[name] for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, nan_to_null=False)


def visits(unit: PrivacyUnit, count: int = 160) -> Setting:
    """One private table beside the public ones; each row occurs twice, so that there are ties."""
    rows = drawn(POOLS, count, 7)
    return Setting({"t": Private(frame(SCHEMA, rows + rows), unit, COLUMNS)}, PUBLIC)


def people(unit: PrivacyUnit) -> Setting:
    """Two private tables of the same people."""
    pools = {
        "pid": POOLS["pid"],
        "k": POOLS["w"],
        "v": (0, 1, 2, 4, 9, None),
        "at": POOLS["d"],
    }
    stays = frame(STAYS, drawn(pools, 25, 8))
    rows = frame(SCHEMA, drawn(POOLS, 60, 9))
    return Setting(
        {"t": Private(rows, unit, COLUMNS), "s": Private(stays, unit, STAY_COLUMNS)}, PUBLIC
    )


def routed(**bounds: Any) -> Setting:
    """Items that reach their people through orders, whose keys are text."""
    keys = ("o1", "o2", "o3", "ö4", "o\u03085", "O1")
    orders = [
        {"oid": key, "pid": pid, "w": word}
        for key, pid, word in zip(keys, (1, 1, 2, None, 3, 2), (*WORDS,), strict=True)
    ]
    items = drawn({"oid": (*keys, "o9", None), "q": (0, 1, 3, 9, None), "w": POOLS["w"]}, 60, 10)
    words = {"w": dp.Category(WORDS)}
    return Setting(
        {
            "orders": Private(frame(ORDERS, orders), dp.Person("pid", **bounds), words),
            "items": Private(
                frame(ITEMS, items),
                dp.Person("oid", via="orders.pid", **bounds),
                {**words, "q": dp.Number(0, 3)},
            ),
        },
        PUBLIC,
    )
