"""Days and moments moved by public amounts, and days put together from numbers.

A result outside the years 1 to 9999 is NULL. Months are added first by the calendar; a day that
the new month does not have becomes its last.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, time, timedelta
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import takes, takes_calendar
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import DataType

_MOST = {"month": 120_000, "day": 3_660_000, "second": 3_660_000 * 86_400}
MULTIPLES = {
    "year": ("month", 12),
    "quarter": ("month", 3),
    "month": ("month", 1),
    "week": ("day", 7),
    "day": ("day", 1),
    "hour": ("second", 3600),
    "minute": ("second", 60),
    "second": ("second", 1),
}
"""The units of an interval, in months, days or seconds."""


def shifted(amount: int, unit: str) -> Function:
    """A date or moment moved by so many months, days or seconds; seconds move moments.

    >>> shifted(1, "month").apply([date(2024, 1, 31)], DataType.DATE)
    datetime.date(2024, 2, 29)
    """
    if unit not in _MOST or abs(amount) > _MOST[unit]:
        raise InvalidParameter(
            code="bad_argument",
            expectation="an interval of months, days or seconds within ten thousand years",
            received=(amount, unit),
            remedy="Write d + INTERVAL 30 DAY.",
        )

    def result(domain: ColumnDomain) -> ColumnDomain:
        low, high = bound(domain.low, time.min), bound(domain.high, time.max)
        nearest, before = (low, domain.low) if amount > 0 else (high, domain.high)
        if before is not None and nearest is None:
            # Even the nearest one leaves the calendar.
            return ColumnDomain(domain.kind, values=())
        return ColumnDomain(domain.kind, low=low, high=high)

    def bound(end: Any, clock: time) -> Any:
        after = None if end is None else shift_one_value(end)
        return _last_days(end, after, clock) if unit == "month" else after

    def shift_one_value(at: Any) -> Any:
        return _shift_day_or_moment(at, amount, unit)

    second = unit == "second"
    return Function(
        "shift",
        accept=takes("interval of the clock", DataType.TIMESTAMP)
        if second
        else takes_calendar("interval"),
        result=result,
        compute=shift_one_value,
        parameters=(amount, unit),
    )


def _shift_day_or_moment(at: Any, amount: int, unit: str) -> Any:
    try:
        if unit == "month":
            place = at.year * 12 + at.month - 1 + amount
            year, month = place // 12, place % 12 + 1
            if not 1 <= year <= 9999:
                return None
            return at.replace(year=year, month=month, day=min(at.day, monthrange(year, month)[1]))
        return at + timedelta(**{f"{unit}s": amount})
    except OverflowError:
        return None


def _last_days(end: Any, after: Any, clock: time) -> Any:
    """A bound after months were added: several days may have become the last one of a month.

    Their order is then that of the clock alone, so such a bound is the first or last moment of it.
    """
    if isinstance(after, datetime) and after.day < end.day:
        return datetime.combine(after.date(), clock)
    return after


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def _day_result(year: ColumnDomain, month: ColumnDomain, day: ColumnDomain) -> ColumnDomain:
    low, high = limits(year)
    if low > 9999 or high < 1:
        return ColumnDomain(DataType.DATE, values=())
    return ColumnDomain(
        DataType.DATE, low=date(max(low, 1), 1, 1), high=date(min(high, 9999), 12, 31)
    )


MAKE_DATE = Function(
    "make_date",
    accept=takes("make_date", DataType.INTEGER, DataType.INTEGER, DataType.INTEGER),
    result=_day_result,
    compute=_day,
)
