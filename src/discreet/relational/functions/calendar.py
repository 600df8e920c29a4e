"""Parts of dates and moments, truncation to a unit, and counting units between two of them.

Weeks are those of ISO 8601 and begin on Monday. ``dow`` counts from Sunday = 0, ``isodow`` from
Monday = 1. ``date_diff`` counts how many unit boundaries lie between its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import Accept, takes, takes_alike, takes_calendar
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import DataType

_PARTS: dict[str, tuple[int, int, Callable[[Any], int]]] = {
    "year": (1, 9999, lambda at: at.year),
    "quarter": (1, 4, lambda at: (at.month + 2) // 3),
    "month": (1, 12, lambda at: at.month),
    "week": (1, 53, lambda at: at.isocalendar().week),
    "day": (1, 31, lambda at: at.day),
    "doy": (1, 366, lambda at: at.timetuple().tm_yday),
    "dow": (0, 6, lambda at: at.isoweekday() % 7),
    "isodow": (1, 7, lambda at: at.isoweekday()),
    "hour": (0, 23, lambda at: at.hour),
    "minute": (0, 59, lambda at: at.minute),
    "second": (0, 59, lambda at: at.second),
}
PARTS = tuple(_PARTS)
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_CLOCK = {"hour": 3600, "minute": 60, "second": 1}


def part(name: str) -> Function:
    """One part of a date or moment; parts of the clock take moments.

    >>> part("isodow").apply([date(2024, 1, 7)], DataType.INTEGER)
    7
    """
    least, most, compute = _PARTS[_require_known_name("part", name, PARTS)]

    def result(domain: ColumnDomain) -> ColumnDomain:
        if name == "year":
            low, high = limits(domain)
            return ColumnDomain(DataType.INTEGER, low=low.year, high=high.year)
        return ColumnDomain(DataType.INTEGER, low=least, high=most)

    return Function(
        "part",
        accept=takes(name, DataType.TIMESTAMP) if name in _CLOCK else takes_calendar(name),
        result=result,
        compute=compute,
        parameters=(name,),
    )


def truncated(unit: str) -> Function:
    """The first day or moment of the unit; days stay days.

    >>> truncated("week").apply([date(2024, 1, 7)], DataType.DATE)
    datetime.date(2024, 1, 1)
    """
    _require_known_name("unit", unit, UNITS)

    def result(domain: ColumnDomain) -> ColumnDomain:
        low, high = (
            None if end is None else _floor(unit, end) for end in (domain.low, domain.high)
        )
        values = _starts(unit, domain.kind, low, high)
        return ColumnDomain(domain.kind, low=low, high=high, values=values)

    return Function(
        "truncate",
        accept=takes("date_trunc", DataType.TIMESTAMP)
        if unit in _CLOCK
        else takes_calendar("date_trunc"),
        result=result,
        compute=lambda at: _floor(unit, at),
        parameters=(unit,),
    )


def difference(unit: str) -> Function:
    """How many boundaries of the unit lie between the first and the second argument.

    >>> difference("month").apply([date(2024, 1, 31), date(2024, 2, 1)], DataType.INTEGER)
    1
    """
    _require_known_name("unit", unit, UNITS)

    def result(first: ColumnDomain, second: ColumnDomain) -> ColumnDomain:
        (first_low, first_high), (second_low, second_high) = limits(first), limits(second)
        # Always bounded: all days lie between the years 1 and 9999.
        low = _index(unit, second_low) - _index(unit, first_high)
        return ColumnDomain(
            DataType.INTEGER, low=low, high=_index(unit, second_high) - _index(unit, first_low)
        )

    return Function(
        "difference",
        accept=_accept_difference(unit),
        result=result,
        compute=lambda first, second: _index(unit, second) - _index(unit, first),
        parameters=(unit,),
    )


def _accept_difference(unit: str) -> Accept:
    moments = takes("date_diff", DataType.TIMESTAMP, DataType.TIMESTAMP)
    alike = takes_alike("date_diff", least=2, most=2)

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        kinds = moments(domain)
        if unit in _CLOCK:
            return kinds
        common = alike(domain)
        return common if common[0].is_calendar else (DataType.DATE, DataType.DATE)

    return accept


def _floor(unit: str, at: date) -> date:
    day = at.date() if isinstance(at, datetime) else at
    clock = time.min
    match unit:
        case "year":
            day = day.replace(month=1, day=1)
        case "quarter":
            day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            day = day.replace(day=1)
        case "week":
            day -= timedelta(days=day.weekday())
        case "hour" | "minute" | "second" if isinstance(at, datetime):
            kept = ("hour", "minute", "second")[: ("hour", "minute", "second").index(unit) + 1]
            clock = time(**{name: getattr(at, name) for name in kept})
    return datetime.combine(day, clock) if isinstance(at, datetime) else day


def _index(unit: str, at: date) -> int:
    """The number of the unit in which a day or moment lies."""
    match unit:
        case "year":
            return at.year
        case "quarter":
            return at.year * 4 + (at.month - 1) // 3
        case "month":
            return at.year * 12 + at.month
        case "week":
            # Day 1 of the year 1 was a Monday.
            return (at.toordinal() - 1) // 7
        case "day":
            return at.toordinal()
    seconds = at.hour * 3600 + at.minute * 60 + at.second if isinstance(at, datetime) else 0
    return (at.toordinal() * 86_400 + seconds) // _CLOCK[unit]


def _starts(unit: str, kind: DataType, low: Any, high: Any) -> tuple[object, ...] | None:
    """Every start of a unit between two of them, where they are few."""
    if low is None or high is None or _index(unit, high) - _index(unit, low) > _FEW:
        return None
    starts, at = [], low
    while at <= high:
        starts.append(at)
        at = next_start(unit, at)
        if at is None:
            break
    return tuple(starts)


_FEW = 20_000


def next_start(unit: str, at: Any) -> Any:
    """The start of the unit after the one that starts at ``at``; None beyond the calendar."""
    months = {"year": 12, "quarter": 3, "month": 1}.get(unit)
    try:
        if months is not None:
            place = at.year * 12 + at.month - 1 + months
            return at.replace(year=place // 12, month=place % 12 + 1)
        if unit in _CLOCK:
            return at + timedelta(seconds=_CLOCK[unit])
        return at + timedelta(days=7 if unit == "week" else 1)
    except (ValueError, OverflowError):
        return None


def _require_known_name(what: str, name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"a {what} among {', '.join(names)}",
            received=name,
            remedy="Use one of these, in lower case.",
        )
    return name
