"""Conversions between kinds. What cannot be converted is NULL, never an error.

Text is read in one strict form on every engine, whatever else an engine would accept:
``[+-]digits`` for whole numbers of at most 18 digits, decimal or scientific notation for reals,
``YYYY-MM-DD`` for dates, the same with ``HH:MM:SS[.ffffff]`` after a space or T for moments, and
true/false, t/f, yes/no, 1/0 in any case for truth values; no spaces around. Reals round to the
nearest whole number, halves to even.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any, TypeVar

from discreet.relational.functions.function import Function, always
from discreet.relational.functions.intervals import domain_within, interval
from discreet.relational.functions.signature import Accept, clash
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import LARGEST_WHOLE, DataType

WHOLE_FORM = "[+-]?[0-9]{1,18}"
REAL_FORM = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?"
DATE_FORM = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"
MOMENT_FORM = DATE_FORM + r"([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?"
TRUE_WORDS = ("true", "t", "yes", "1")
FALSE_WORDS = ("false", "f", "no", "0")
LONGEST: dict[DataType, int] = {
    DataType.INTEGER: len("-9223372036854775807"),
    DataType.DOUBLE: len("-2.2250738585072014e-308"),
    DataType.BOOLEAN: len("false"),
    DataType.DATE: len("2024-12-31"),
    DataType.TIMESTAMP: len("2024-12-31 23:59:59.999999"),
}
"""The most letters of a value written as text."""


def cast(kind: DataType) -> Function:
    """The conversion to ``kind``.

    >>> cast(DataType.INTEGER).apply(["12x"], DataType.INTEGER) is None
    True
    """
    return _CASTS[kind]


def _whole_from(value: Any) -> int | None:
    match value:
        case bool() | int():
            return int(value)
        case float():
            rounded = round(value)
            return rounded if abs(rounded) <= LARGEST_WHOLE else None
        case _:
            return int(value) if re.fullmatch(WHOLE_FORM, value, re.ASCII) else None


def _real_from(value: Any) -> float | None:
    if isinstance(value, str):
        return float(value) if re.fullmatch(REAL_FORM, value, re.ASCII) else None
    return float(value)


def _text_from(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case datetime():
            whole = value.strftime("%H:%M:%S")
            fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
            return f"{value.date().isoformat()} {whole}{fraction}"
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _truth_from(value: Any) -> bool | None:
    if isinstance(value, str):
        word = value.lower()
        return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
    return bool(value)


def _date_from(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    return _parsed(DATE_FORM, value, date.fromisoformat)


def _moment_from(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time.min)
    return _parsed(MOMENT_FORM, value, _moment)


def _moment(text: str) -> datetime:
    day, clock, fraction = text[:10], text[11:19] or "00:00:00", text[20:]
    whole = datetime.fromisoformat(f"{day} {clock}")
    return whole.replace(microsecond=int(fraction.ljust(6, "0") or "0"))


_Read = TypeVar("_Read", bound=date)


def _parsed(form: str, text: str, read: Callable[[str], _Read]) -> _Read | None:
    if not re.fullmatch(form, text, re.ASCII):
        return None
    try:
        return read(text)
    except ValueError:
        return None


_SOURCES: dict[DataType, tuple[DataType, ...]] = {
    DataType.INTEGER: (DataType.INTEGER, DataType.DOUBLE, DataType.TEXT, DataType.BOOLEAN),
    DataType.DOUBLE: (DataType.INTEGER, DataType.DOUBLE, DataType.TEXT),
    DataType.TEXT: tuple(DataType),
    DataType.BOOLEAN: (DataType.INTEGER, DataType.TEXT, DataType.BOOLEAN),
    DataType.DATE: (DataType.TEXT, DataType.DATE, DataType.TIMESTAMP),
    DataType.TIMESTAMP: (DataType.TEXT, DataType.DATE, DataType.TIMESTAMP),
}


def _accept(kind: DataType) -> Accept:
    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        if len(domain) != 1 or not (domain[0].empty or domain[0].kind in _SOURCES[kind]):
            sources = " or ".join(source.value for source in _SOURCES[kind])
            raise clash(
                name=f"CAST to {kind.value}",
                expected=sources,
                domain=domain,
                remedy="Use CASE or a comparison.",
            )
        return (domain[0].kind if domain[0].kind in _SOURCES[kind] else kind,)

    return accept


def _result(kind: DataType) -> Callable[[ColumnDomain], ColumnDomain]:
    def result(domain: ColumnDomain) -> ColumnDomain:
        if domain.kind is kind or domain.empty:
            return domain.as_kind(kind)
        if (domain.kind, kind) in (
            (DataType.INTEGER, DataType.DOUBLE),
            (DataType.DATE, DataType.TIMESTAMP),
        ):
            return domain.as_kind(kind)
        if (domain.kind, kind) == (DataType.TIMESTAMP, DataType.DATE):
            return ColumnDomain(kind, low=domain.low, high=domain.high)
        if (domain.kind, kind) == (DataType.DOUBLE, DataType.INTEGER):
            low, high = (end if math.isinf(end) else round(end) for end in interval(domain))
            return (
                _nothing(kind)
                if low > LARGEST_WHOLE or high < -LARGEST_WHOLE
                else (domain_within(kind, (low, high)))
            )
        if (domain.kind, kind) == (DataType.BOOLEAN, DataType.INTEGER):
            return ColumnDomain(kind, low=0, high=1)
        return (
            ColumnDomain(kind, length=LONGEST[domain.kind])
            if kind is DataType.TEXT
            else ColumnDomain(kind)
        )

    return result


def _nothing(kind: DataType) -> ColumnDomain:
    return ColumnDomain(kind, values=())


_COMPUTE: dict[DataType, Callable[[Any], object]] = {
    DataType.INTEGER: _whole_from,
    DataType.DOUBLE: _real_from,
    DataType.TEXT: _text_from,
    DataType.BOOLEAN: _truth_from,
    DataType.DATE: _date_from,
    DataType.TIMESTAMP: _moment_from,
}
_CASTS = {
    kind: Function(
        "cast",
        accept=_accept(kind),
        result=_result(kind),
        compute=_COMPUTE[kind],
        parameters=(kind,),
        # Engines write reals as text in different ways.
        exact=lambda domain, kind=kind: (
            not (kind is DataType.TEXT and domain.kind is DataType.DOUBLE)
        ),
        # Text may spell a number beyond the doubles.
        finite=lambda domain: domain.kind is not DataType.TEXT,
        fits=always,
    )
    for kind in DataType
}

FUNCTIONS = tuple(_CASTS.values())
