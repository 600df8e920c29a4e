"""Functions that lie about their results, and questions through which a lie could reach a sum.

Whatever a function says about its interval, the statement ends in clamps that read the same two
numbers as the sensitivity does: so a lie moves no answer farther than declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl

import discreet as dp
from discreet.core.unit import PrivacyUnit
from discreet.relational.functions.arithmetic import ABSOLUTE
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from tests.relational.neighbours.worlds import Setting, one

OVERFLOW = (
    "SELECT SUM(v) AS s FROM (SELECT CAST(least(greatest(power((x - x) * 1e110, 3) "
    "- 1e6 * (x + 1), -2e9), 1) AS BIGINT) AS v FROM t WHERE w = 'B' "
    "UNION ALL SELECT 0 AS v FROM t WHERE w = 'C') AS q"
)
"""A power that overflows below, and a whole column of a union: it read one person's number."""

_AGGREGATES = (
    "SUM(v) AS a, AVG(v) AS b, VARIANCE(v) AS c, CORR(v, x) AS d, COUNT(DISTINCT v) AS e, "
    "MEDIAN(v) AS f, MAX(v) AS g, SUM(v * 2) AS h, SUM(v + 0.5) AS i, "
    "GEOMEAN(greatest(v, 0.5)) AS j"
)
_REALS = "SELECT MEDIAN(abs(y)) AS a, MIN(abs(y) + 0.5) AS b, SUM(abs(y)) AS c FROM t"
_PLACES = (
    "(SELECT abs(x) AS v, x FROM t) AS q",
    "(SELECT abs(x) AS v, x FROM t UNION ALL SELECT 1 AS v, x FROM t WHERE x = 1) AS q",
    "(SELECT DISTINCT abs(x) AS v, x FROM t) AS q",
    "(SELECT DISTINCT v, x FROM (SELECT abs(x) AS v, x FROM t UNION ALL SELECT 1, x FROM t) AS u) "
    "AS q",
)
_FEATURES = (
    "(SELECT pid, SUM(abs(x)) AS v, MAX(x) AS x FROM t GROUP BY pid) AS q",
    "(SELECT pid, MAX(abs(x)) AS v, MIN(x) AS x FROM t GROUP BY pid) AS q",
    "(SELECT pid, AVG(abs(y)) AS v, MIN(x) AS x FROM t GROUP BY pid) AS q",
)


def questions(unit: PrivacyUnit) -> list[str]:
    """Every aggregate over every step that gives columns new names."""
    people = isinstance(unit, dp.Person)
    places: Sequence[str] = (*_PLACES, *_FEATURES) if people else _PLACES
    return [_REALS, *(f"SELECT {_AGGREGATES} FROM {place}" for place in places)]


def setting(unit: PrivacyUnit) -> Setting:
    """Numbers far outside what the lie says."""
    rows = pl.DataFrame(
        {
            "pid": [1, 1, 2, 3],
            "w": ["A", "B", "A", "C"],
            "x": [70, -900_000, 1, 0],
            "y": [0.5, -1e6, 3.0, None],
        }
    )
    columns: dict[str, Any] = {
        "w": dp.Category(["A", "B", "C"]),
        "x": dp.Number(-1_000_000, 1_000_000),
        "y": dp.Number(-1e6, 1e6),
    }
    return one(rows, unit, columns)


@contextmanager
def lying(kind: str) -> Iterator[None]:
    """``abs`` says that its values are few and small, or that its interval is upside down."""
    told = {
        "narrow": lambda domain: ColumnDomain(domain.kind, 0, 2),
        "listed": lambda domain: ColumnDomain(
            domain.kind, values=(0, 1) if domain.kind is DataType.INTEGER else (0.0, 1.0)
        ),
        "far away": lambda domain: ColumnDomain(domain.kind, 10**9, 10**9 + 1),
    }[kind]
    honest = ABSOLUTE.result
    object.__setattr__(ABSOLUTE, "result", told)
    try:
        yield
    finally:
        object.__setattr__(ABSOLUTE, "result", honest)
