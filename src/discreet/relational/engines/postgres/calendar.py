"""Days and moments for PostgreSQL: parts, units, differences, and days moved or put together.

What would leave the years 1 to 9999 is NULL; PostgreSQL itself goes on to other limits and fails
there, so arguments are held to where the result is inside.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.postgres.doubles import let
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.expression import Call

_FIRST = "DATE '0001-01-01'"
"""A Monday."""


def part(_: Dialect, call: Call, text: str) -> str:
    """A part, cut to a whole number."""
    return f"CAST(FLOOR(EXTRACT({call.function.parameters[0]} FROM {text})) AS BIGINT)"


def truncate(dialect: Dialect, call: Call, text: str) -> str:
    """By way of a moment without zone, since days would be taken in the session's."""
    unit = call.function.parameters[0]
    moment = f"CAST({text} AS TIMESTAMP)"
    return f"CAST(DATE_TRUNC('{unit}', {moment}) AS {dialect.types[call.domain.kind]})"


def difference(_: Dialect, call: Call, first: str, second: str) -> str:
    """The units numbered from the first day on, and subtracted."""
    unit = str(call.function.parameters[0])
    return f"({_index(unit, second)} - {_index(unit, first)})"


def _index(unit: str, text: str) -> str:
    year, month = (f"CAST(EXTRACT({name} FROM {{a}}) AS BIGINT)" for name in ("YEAR", "MONTH"))
    days = f"CAST(CAST({{a}} AS DATE) - {_FIRST} AS BIGINT)"
    seconds = f"({days} * 86400 + CAST(FLOOR(EXTRACT(EPOCH FROM CAST({{a}} AS TIME))) AS BIGINT))"
    body = {
        "year": year,
        "quarter": f"({year} * 4 + ({month} - 1) / 3)",
        "month": f"({year} * 12 + {month})",
        "week": f"({days} / 7)",
        "day": days,
        "hour": f"({seconds} / 3600)",
        "minute": f"({seconds} / 60)",
        "second": seconds,
    }[unit]
    return let(body, a=text)


def shift(dialect: Dialect, call: Call, text: str) -> str:
    """Moved by an interval, where that stays inside the calendar."""
    amount, unit = call.function.parameters
    assert isinstance(amount, int)
    kind, target = call.domain.kind, dialect.types[call.domain.kind]
    moved = f"CAST({{a}} + CAST('{amount} {unit}s' AS INTERVAL) AS {target})"
    if call.function.result(call.args[0].domain).bounded:
        return let(moved, a=text)
    low, high = limits(ColumnDomain(kind))
    inside = _inside(low, high, amount, str(unit))
    if inside is None:
        return f"CAST(NULL AS {target})"
    first, last = (dialect.literal(end) for end in inside)
    return let(f"CASE WHEN {{a}} BETWEEN {first} AND {last} THEN {moved} END", a=text)


def _inside(low: Any, high: Any, amount: int, unit: str) -> tuple[Any, Any] | None:
    """The values between low and high that are still between them after the move."""
    if unit == "month":
        first, last = max(12, 12 - amount), min(119_999, 119_999 - amount)
        if first > last:
            return None
        start = low.replace(year=first // 12, month=first % 12 + 1, day=1)
        end = date(last // 12, last % 12 + 1, 1) + timedelta(days=27)
        while end < date.max and (end + timedelta(days=1)).month == end.month:
            end += timedelta(days=1)
        return start, datetime.combine(end, high.time()) if isinstance(high, datetime) else end
    step = timedelta(**{f"{unit}s": abs(amount)})
    if step > high - low:
        return None
    return (low, high - step) if amount > 0 else (low + step, high)


def make_date(_: Dialect, __: Call, year: str, month: str, day: str) -> str:
    """From the first of the month on; the day exists if that leads to no other month."""
    first = "MAKE_DATE(CAST({y} AS INTEGER), CAST({m} AS INTEGER), 1)"
    whole = f"({first} + (CAST({{d}} AS INTEGER) - 1))"
    return let(
        "CASE WHEN {y} BETWEEN 1 AND 9999 AND {m} BETWEEN 1 AND 12 AND {d} BETWEEN 1 AND 31 THEN "
        f"CASE WHEN EXTRACT(MONTH FROM {whole}) = {{m}} THEN {whole} END END",
        y=year,
        m=month,
        d=day,
    )
