"""Tables of awkward rows, and the units under which they are asked about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl
from hypothesis import strategies as st

import discreet as dp
from discreet.core.unit import PrivacyUnit, Replace
from tests.relational.neighbours.worlds import Private, Setting

Rows = Sequence[Sequence[object]]

NAN, INF = math.nan, math.inf
FAR = 2**62
FIRST, LAST = date(2023, 12, 30), date(2024, 1, 2)

VISITS: Mapping[str, Any] = {
    "pid": pl.Int64,
    "w": pl.String,
    "c": pl.String,
    "f": pl.Boolean,
    "x": pl.Int64,
    "y": pl.Float64,
    "d": pl.Date,
    "note": pl.String,
    "z": pl.Float64,
}
VISIT_COLUMNS: Mapping[str, Any] = {
    "w": dp.Category(["A", "B", "é"]),
    "c": dp.Category(["p", "q", None]),
    "f": dp.Category([False, True]),
    "x": dp.Number(-3, 5),
    "y": dp.Number(-1.5, 2.25, step=0.25),
    "d": dp.Dates(FIRST, LAST),
}
STAYS: Mapping[str, Any] = {"pid": pl.Int64, "k": pl.String, "v": pl.Int64, "note": pl.String}
STAY_COLUMNS: Mapping[str, Any] = {"k": dp.Category(["A", "B", "é"]), "v": dp.Number(0, 4)}
ORDERS: Mapping[str, Any] = {"oid": pl.Int64, "pid": pl.Int64, "w": pl.String}
ITEMS: Mapping[str, Any] = {"oid": pl.Int64, "q": pl.Int64, "w": pl.String}

PUBLIC: Mapping[str, pl.DataFrame] = {
    "p": pl.DataFrame(
        {
            "w": ["A", "A", "B", "é", None, "Q"],
            "region": ["n", "s", "s", "n", "n", None],
            "weight": [1, 2, 3, -4, 5, 6],
            "rate": [0.5, -0.25, 1e3, 0.0, -0.0, 7.5],
        }
    ),
    "bands": pl.DataFrame({"x": [-3, 0, 0, 5, None], "band": ["low", "mid", "odd", "top", "none"]}),
}

PEOPLE: Sequence[int | None] = (1, 2, 3, -7, FAR, None)
WORDS: Sequence[str | None] = ("A", "A", "B", "é", "a", "", "A'; DROP TABLE t; --", "\u202eA", None)
TALLIES: Sequence[int | None] = (-3, 0, 1, 5, 5, FAR, -(2**63), 2**63 - 1, None)
REALS: Sequence[float | None] = (
    *(0.1, 0.1, -1.5, 2.25, 0.125, 0.0, -0.0, 5e-324, 1e308, -1e308, INF, -INF, NAN, None),
)
DAYS: Sequence[date | None] = (FIRST, date(2024, 1, 1), LAST, date(1, 1, 1), date.max, None)
NOTES: Sequence[str | None] = ("", "x", "1", "nan", "0x10", "2024-02-30", None)

visit = st.tuples(
    *(st.sampled_from(PEOPLE[:4]) | st.sampled_from(PEOPLE), st.sampled_from(WORDS)),
    *(st.sampled_from(("p", "q", "r", None)), st.sampled_from((True, False, None))),
    *(st.sampled_from(TALLIES), st.sampled_from(REALS), st.sampled_from(DAYS)),
    *(st.sampled_from(NOTES), st.sampled_from(REALS)),
)
stay = st.tuples(
    st.sampled_from(PEOPLE),
    st.sampled_from(WORDS),
    st.sampled_from(TALLIES),
    st.sampled_from(NOTES),
)


order = st.tuples(st.integers(1, 6), st.sampled_from(PEOPLE), st.sampled_from(WORDS))
item = st.tuples(st.none() | st.integers(1, 7), st.sampled_from(TALLIES), st.sampled_from(WORDS))


def frame(schema: Mapping[str, Any], rows: Rows) -> pl.DataFrame:
    """Rows under a fixed schema, whatever they hold."""
    columns = {name: [row[place] for row in rows] for place, name in enumerate(schema)}
    return pl.DataFrame(columns, schema=schema, nan_to_null=False)


def visits(rows: Rows, unit: PrivacyUnit) -> Setting:
    """The table ``t`` beside the public tables."""
    return Setting({"t": Private(frame(VISITS, rows), unit, VISIT_COLUMNS)}, PUBLIC)


def both(rows: Rows, others: Rows, unit: PrivacyUnit) -> Setting:
    """The tables ``t`` and ``u`` of the same people."""
    return Setting(
        {
            "t": Private(frame(VISITS, rows), unit, VISIT_COLUMNS),
            "u": Private(frame(STAYS, others), unit, STAY_COLUMNS),
        },
        PUBLIC,
    )


def limited(
    rows: Rows,
    others: Rows,
    units: tuple[PrivacyUnit, PrivacyUnit],
    fixed: Sequence[str] = (),
    cuts: Mapping[str, int] | None = None,
) -> Setting:
    """The same two tables, each with its own limits; ``fixed`` names columns of ``t``."""
    cuts = cuts or {}
    return Setting(
        {
            "t": Private(frame(VISITS, rows), units[0], VISIT_COLUMNS, cuts, fixed),
            "u": Private(frame(STAYS, others), units[1], STAY_COLUMNS, cuts),
        },
        PUBLIC,
    )


def keyed(rows: Rows, others: Rows, unit: PrivacyUnit, left: int, right: int) -> Setting:
    """The same two tables, which may be joined on other keys than the person."""
    cuts = {"w": left, "x": left, "note": left}
    return Setting(
        {
            "t": Private(frame(VISITS, rows), unit, VISIT_COLUMNS, cuts),
            "u": Private(frame(STAYS, others), unit, STAY_COLUMNS, {"k": right, "note": right}),
        },
        PUBLIC,
    )


def routed(
    orders: Rows, items: Rows, *, below: Mapping[str, int] | None = None, **bounds: Any
) -> Setting:
    """Orders of people, and items that reach the people through their orders.

    Items have the limits ``below``, or those of the orders.
    """
    words = {"w": dp.Category(["A", "B", "é"])}
    return Setting(
        {
            "orders": Private(frame(ORDERS, orders), dp.Person("pid", **bounds), words),
            "items": Private(
                frame(ITEMS, items),
                dp.Person("oid", via="orders.pid", **(bounds if below is None else below)),
                {**words, "q": dp.Number(0, 3)},
            ),
        },
        PUBLIC,
    )


persons = st.builds(
    dp.Person,
    st.just("pid"),
    max_rows=st.integers(1, 4),
    max_groups=st.none() | st.integers(1, 3),
    max_rows_per_group=st.none() | st.integers(1, 3),
    row=st.none() | st.just("note"),
)
people_units = persons | st.builds(Replace, persons)
unit_pairs = st.tuples(persons, persons) | st.tuples(persons, persons).map(
    lambda pair: (Replace(pair[0]), Replace(pair[1]))
)
"""Limits that differ between two tables of the same people."""
row_units = st.just(dp.Row()) | st.just(Replace(dp.Row()))
