"""Types of the wire: their numbers in PostgreSQL, and values as text and as bytes."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from discreet.core.errors import InvalidParameter

_EPOCH, _EPOCH_MOMENT = date(2000, 1, 1), datetime(2000, 1, 1)
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class WireType:
    """A type that columns may have.

    Attributes:
        oid: Its number.
        name: As PostgreSQL writes it.
        size: Bytes of a value; -1: any number.
        packed: A value as bytes; None where only text is offered.
    """

    oid: int
    name: str
    size: int
    packed: Callable[[Any], bytes] | None = None

    def encoded(self, value: Any, *, binary: bool) -> bytes | None:
        """A value as it travels; None stays none."""
        if value is None:
            return None
        if not binary:
            return format_value(value).encode()
        assert self.packed is not None
        return self.packed(value)


def format_value(value: Any) -> str:
    """A value as PostgreSQL would write it.

    >>> [format_value(value) for value in (True, math.inf, date(2024, 2, 29), ["a", None])]
    ['t', 'Infinity', '2024-02-29', '{"a",NULL}']
    """
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "{" + ",".join(map(_element, value)) + "}"
    return str(value).replace("\0", "")


def _real(value: float) -> str:
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return "NaN" if math.isnan(value) else repr(value)


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    text = format_value(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _whole(form: str) -> Callable[[Any], bytes]:
    return lambda value: struct.pack(form, int(value))


def _text(value: Any) -> bytes:
    return format_value(value).encode()


def _day(value: date) -> bytes:
    return struct.pack("!i", (value - _EPOCH).days)


def _moment(value: datetime) -> bytes:
    return struct.pack("!q", (value - _EPOCH_MOMENT) // timedelta(microseconds=1))


BOOL = WireType(16, "boolean", 1, lambda value: b"\1" if value else b"\0")
NAME = WireType(19, "name", 64, _text)
INT8 = WireType(20, "bigint", 8, _whole("!q"))
INT2 = WireType(21, "smallint", 2, _whole("!h"))
INT4 = WireType(23, "integer", 4, _whole("!i"))
TEXT = WireType(25, "text", -1, _text)
OID = WireType(26, "oid", 4, _whole("!I"))
FLOAT8 = WireType(701, "double precision", 8, lambda value: struct.pack("!d", float(value)))
TEXTS = WireType(1009, "text[]", -1)
WHOLES = WireType(1016, "bigint[]", -1)
DATE = WireType(1082, "date", 4, _day)
TIMESTAMP = WireType(1114, "timestamp without time zone", 8, _moment)

KINDS: dict[str, WireType] = {
    "whole number": INT8,
    "real number": FLOAT8,
    "text": TEXT,
    "truth value": BOOL,
    "date": DATE,
    "moment": TIMESTAMP,
}
"""The type of each kind of value that declarations know."""
TYPES: dict[int, WireType] = {
    each.oid: each
    for each in (BOOL, NAME, INT8, INT2, INT4, TEXT, OID, FLOAT8, TEXTS, WHOLES, DATE, TIMESTAMP)
}

CAST_TYPES: dict[str, int] = {
    **dict.fromkeys(("int2", "smallint"), INT2.oid),
    **dict.fromkeys(("int", "int4", "integer"), INT4.oid),
    **dict.fromkeys(("int8", "bigint"), INT8.oid),
    **dict.fromkeys(("float", "float8", "double", "real", "float4", "numeric"), FLOAT8.oid),
    **dict.fromkeys(("text", "varchar"), TEXT.oid),
    **dict.fromkeys(("bool", "boolean"), BOOL.oid),
    "date": DATE.oid,
    "timestamp": TIMESTAMP.oid,
}
"""The type of a parameter that is written with a cast, by its first word."""


def require_form(form: WireType, *, binary: bool) -> None:
    """Refuse bytes of a type that is only written as text."""
    if binary and form.packed is None:
        raise InvalidParameter(
            code="wire_format",
            expectation=f"text for columns of the type {form.name}",
            received="binary",
            remedy="Ask for the result as text.",
        )


# Parameters -------------------------------------------------------------------------------------

_FORMS: dict[int, str] = {21: "!h", 23: "!i", 20: "!q", 26: "!I", 700: "!f", 701: "!d"}
_NUMBERS = frozenset((*_FORMS, 1700))
_ARRAYS = {1005: 21, 1007: 23, 1016: 20, 1022: 701, 1009: 25, 1015: 25, 1003: 25, 1028: 26}
"""Types whose values are lists of values of another one."""
MOST_ELEMENTS = 10_000
"""Values of a list in a parameter."""
_ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^",{}\s\\]+)')
_TEXTS = frozenset((0, 18, 19, 25, 705, 1042, 1043))


def literal(value: bytes | None, oid: int, *, binary: bool) -> str:
    """A parameter as it is written in a statement: a number, a text in quotes, or NULL.

    >>> literal(b"12", 23, binary=False), literal(b"it's", 0, binary=False)
    ('12', "'it''s'")
    """
    if value is None:
        return "NULL"
    try:
        found = _unpacked(value, oid) if binary else value.decode()
        return _literal(found, oid)
    except InvalidParameter:
        raise
    except (UnicodeDecodeError, struct.error, ValueError, OverflowError):
        raise _misread(oid) from None


def _unpacked(value: bytes, oid: int) -> str:
    """The text of a parameter that came as bytes."""
    if oid in _FORMS:
        return repr(struct.unpack(_FORMS[oid], value)[0])
    if oid == BOOL.oid:
        return "true" if struct.unpack("!?", value)[0] else "false"
    if oid == DATE.oid:
        return (_EPOCH + timedelta(days=struct.unpack("!i", value)[0])).isoformat()
    if oid == TIMESTAMP.oid:
        micros = timedelta(microseconds=struct.unpack("!q", value)[0])
        return (_EPOCH_MOMENT + micros).isoformat(" ")
    if oid in _TEXTS:
        return value.decode()
    raise _misread(oid)


def _literal(text: str, oid: int) -> str:
    if oid in _NUMBERS:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError
        whole = text.lstrip("+-")
        exact = whole.isascii() and whole.isdigit() and int(whole) <= _LARGEST
        shown = str(int(text)) if exact else repr(number)
        return f"({shown})" if shown.startswith("-") else shown
    if oid == BOOL.oid:
        return _truth(text)
    if oid in _ARRAYS:
        return f"ARRAY[{', '.join(elements(text, _ARRAYS[oid]))}]"
    quoted = "'" + text.replace("'", "''") + "'"
    if "\0" in text:
        raise ValueError
    if oid == DATE.oid:
        return f"DATE {quoted}"
    return f"TIMESTAMP {quoted}" if oid == TIMESTAMP.oid else quoted


def elements(text: str, oid: int) -> Iterator[str]:
    """The values of a list in braces, of which none is a list."""
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError
    place, inside, count = 0, text[1:-1], 0
    while place < len(inside):
        if (count := count + 1) > MOST_ELEMENTS:
            raise _too_many_elements()
        found = _ELEMENT.match(inside, place)
        if found is None:
            raise ValueError
        plain = found[2]
        if plain is not None and plain.upper() == "NULL":
            yield "NULL"
        else:
            yield _literal(re.sub(r"\\(.)", r"\1", found[1]) if plain is None else plain, oid)
        place = found.end()
        if inside[place : place + 1] not in ("", ","):
            raise ValueError
        place += 1


def _too_many_elements() -> InvalidParameter:
    return InvalidParameter(
        code="wire_parameters",
        expectation=f"at most {MOST_ELEMENTS} values in a list",
        remedy="Ask for less at a time.",
    )


def _truth(text: str) -> str:
    word = text.strip().lower()
    if word in ("t", "true", "1", "on", "yes", "y"):
        return "TRUE"
    if word in ("f", "false", "0", "off", "no", "n"):
        return "FALSE"
    raise ValueError


def _misread(oid: int) -> InvalidParameter:
    return InvalidParameter(
        code="wire_parameter",
        expectation="parameters that are numbers, texts, truth values, dates or timestamps",
        received=f"a value of the type {oid}",
        remedy="Write the value into the statement.",
    )
