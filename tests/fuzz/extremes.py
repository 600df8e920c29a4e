"""Columns declared at the extremes of what may be declared, and rows at and beyond these bounds."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from discreet.relational.types.column_domain import ColumnDomain, cleaned
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression, evaluate
from tests.fuzz.grammar import DAY, MOMENT, NUMBER, TEXT, TRUTH, WHOLE
from tests.relational.expressions.engine import Row, Stored
from tests.relational.expressions.rows import DATES, MOMENTS, REALS, TEXTS, WHOLES

_TINY = 5e-324


def _whole(low: int | None, high: int | None) -> Stored:
    return Stored("BIGINT", ColumnDomain(DataType.INTEGER, low, high, declared=low is not None))


def _real(low: float | None, high: float | None) -> Stored:
    return Stored("DOUBLE", ColumnDomain(DataType.DOUBLE, low, high, declared=low is not None))


COLUMNS: Mapping[str, Stored] = {
    "w": _whole(None, None),
    "wfar": _whole(-(2**53), 2**53),
    "wtop": _whole(2**62 - 1, 2**63 - 1),
    "wnear": _whole(2**61, 2**61 + 5_000),
    "wfew": _whole(0, 7),
    "wmid": _whole(-1000, 1000),
    "wnegative": _whole(-12, -1),
    "wlist": Stored(
        "BIGINT", ColumnDomain(DataType.INTEGER, values=(-(2**53), 0, 3, 2**53), declared=True)
    ),
    "x": _real(None, None),
    "xfar": _real(-1e120, 1e120),
    "xpos": _real(0.0, 1e120),
    "xneg": _real(-1e120, -1e-120),
    "xtiny": _real(-_TINY, _TINY),
    "xsmall": _real(1e-320, 1e-300),
    "xone": _real(1 - 2**-53, 1 + 2**-52),
    "xunit": _real(-1.0, 1.0),
    "xmid": _real(-100.0, 100.0),
    "xwhole": _real(-(2.0**53), 2.0**53),
    "xnear": _real(2.0**60, 2.0**60 + 2**20),
    "xlist": Stored(
        "DOUBLE", ColumnDomain(DataType.DOUBLE, values=(-0.5, 0.0, 2.5, 1e120), declared=True)
    ),
    "s": Stored("VARCHAR", ColumnDomain(DataType.TEXT)),
    "c": Stored("VARCHAR", ColumnDomain(DataType.TEXT, values=("A", "b", "É", ""), declared=True)),
    "p": Stored("BOOLEAN", ColumnDomain(DataType.BOOLEAN)),
    "q": Stored("BOOLEAN", ColumnDomain(DataType.BOOLEAN, declared=True)),
    "d": Stored("DATE", ColumnDomain(DataType.DATE)),
    "dlast": Stored(
        "DATE", ColumnDomain(DataType.DATE, date(9999, 12, 1), date.max, declared=True)
    ),
    "dfirst": Stored("DATE", ColumnDomain(DataType.DATE, date.min, date(1, 2, 28), declared=True)),
    "dmid": Stored(
        "DATE", ColumnDomain(DataType.DATE, date(2019, 12, 30), date(2024, 3, 1), declared=True)
    ),
    "m": Stored("TIMESTAMP", ColumnDomain(DataType.TIMESTAMP)),
    "mlast": Stored(
        "TIMESTAMP",
        ColumnDomain(DataType.TIMESTAMP, datetime(9999, 12, 31, 22), datetime.max, declared=True),
    ),
    "mmid": Stored(
        "TIMESTAMP",
        ColumnDomain(
            DataType.TIMESTAMP, datetime(1969, 12, 31, 23, 59), datetime(2024, 2, 29), declared=True
        ),
    ),
}
_KINDS = {
    DataType.INTEGER: WHOLE,
    DataType.DOUBLE: NUMBER,
    DataType.TEXT: TEXT,
    DataType.BOOLEAN: TRUTH,
    DataType.DATE: DAY,
    DataType.TIMESTAMP: MOMENT,
}
LEAVES: Mapping[str, Sequence[str]] = {
    slot: tuple(name for name, stored in COLUMNS.items() if _KINDS[stored.domain.kind] == slot)
    for slot in _KINDS.values()
}
_ANY: Mapping[DataType, Sequence[object]] = {
    DataType.INTEGER: WHOLES,
    DataType.DOUBLE: REALS,
    DataType.TEXT: TEXTS,
    DataType.BOOLEAN: (True, False),
    DataType.DATE: DATES,
    DataType.TIMESTAMP: MOMENTS,
}


def _pool(stored: Stored) -> list[object]:
    """The bounds, their neighbours inside and outside, the usual suspects, and NULL."""
    domain = stored.domain
    near: list[object] = []
    for end in () if domain.low is None else (domain.low, domain.high):
        match domain.kind:
            case DataType.INTEGER:
                near += [v for v in (end - 1, end, end + 1) if abs(v) < 2**63]
            case DataType.DOUBLE:
                near += [math.nextafter(end, side) for side in (-math.inf, math.inf)] + [end] * 3
            case DataType.DATE:
                near += [end] * 2
            case DataType.TIMESTAMP:
                near += [end, end - timedelta(microseconds=1) if end.year > 1 else end]
    listed = list(domain.values or ())
    return [None, *(near + listed) * 4, *_ANY[domain.kind]]


_POOLS = {name: _pool(stored) for name, stored in COLUMNS.items()}


def rows_at_the_extremes(count: int, seed: int) -> list[Row]:
    """Rows of values at, just inside and just outside the bounds; the same for the same seed."""
    draw = random.Random(seed)
    return [{name: draw.choice(pool) for name, pool in _POOLS.items()} for _ in range(count)]


def interpreted(expressions: Sequence[Expression], rows: Sequence[Row]) -> list[list[object]]:
    """What the interpreter gives, row by row."""
    found = []
    for row in rows:
        clean = {name: cleaned(row[name], stored.domain) for name, stored in COLUMNS.items()}
        found.append([evaluate(expression, clean) for expression in expressions])
    return found
