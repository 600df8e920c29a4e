"""The six kinds of value an expression may have, and the universe of each.

Every kind has a closed, public universe on which all functions are total. A scan brings each
column into the universe of its kind, once, before any expression sees it; functions never leave
it. So no row can make an engine fail, whatever it holds.

=========  ==================================  ========================================
Kind       Universe                            What a scan does with the rest
=========  ==================================  ========================================
INTEGER    integers of at most 2**63 - 1 in    clamped (-2**63 has no opposite, and
           magnitude                           larger integers do not fit)
DOUBLE     finite doubles                      NaN becomes NULL, infinities are clamped
TEXT       Unicode text of at most 4 096       cut after that many letters
           letters
BOOLEAN    false, true                         nothing else occurs
DATE       days of the years 1 to 9999         NULL, infinities included
TIMESTAMP  microseconds of the same years, no  NULL; zoned moments are taken in UTC
           zone
=========  ==================================  ========================================

Identities of queries keep the names that four of them had before: WHOLE, REAL, TRUTH and MOMENT
(``_WRITTEN``).
"""

from __future__ import annotations

import sys
from datetime import date, datetime
from enum import Enum


class DataType(Enum):
    """What a value is, apart from how an engine stores it."""

    INTEGER = "whole number"
    DOUBLE = "real number"
    TEXT = "text"
    BOOLEAN = "truth value"
    DATE = "date"
    TIMESTAMP = "moment"

    @property
    def identity_name(self) -> str:
        """The name in identities, fixed for ever, whatever the kind is called here."""
        return _WRITTEN[self]

    @property
    def is_number(self) -> bool:
        """Whether arithmetic is defined."""
        return self in (DataType.INTEGER, DataType.DOUBLE)

    @property
    def is_calendar(self) -> bool:
        """Whether the value is a day or a moment."""
        return self in (DataType.DATE, DataType.TIMESTAMP)

    @property
    def has_bounds(self) -> bool:
        """Whether a lower and an upper bound make sense."""
        return self.is_number or self.is_calendar


_WRITTEN = {
    DataType.INTEGER: "WHOLE",
    DataType.DOUBLE: "REAL",
    DataType.TEXT: "TEXT",
    DataType.BOOLEAN: "TRUTH",
    DataType.DATE: "DATE",
    DataType.TIMESTAMP: "MOMENT",
}

LARGEST_WHOLE = 2**63 - 1
"""The universe of INTEGER is symmetric, so negation and absolute values cannot overflow."""

SAFE_WHOLE = 2**62
"""Results proved to be smaller in magnitude stay INTEGER; all others are computed as DOUBLE."""

TEXT_LIMIT = 4096
"""The most letters (code points) of any text, stored or computed.

At four bytes a letter it is 16 KiB: far below what an engine can hold in one value (1 GB on
PostgreSQL), short enough that comparing every place of two texts stays quick, and longer than the
longest ``VARCHAR(4000)``.
"""

LARGEST_REAL = sys.float_info.max
FIRST_DATE, LAST_DATE = date.min, date.max
FIRST_MOMENT, LAST_MOMENT = datetime.min, datetime.max


def type_of_value(value: object) -> DataType | None:
    """The kind of a Python value, or None if it belongs to no universe.

    >>> type_of_value(True), type_of_value(3), type_of_value(b"x")
    (<DataType.BOOLEAN: 'truth value'>, <DataType.INTEGER: 'whole number'>, None)
    """
    # A bool is an int and a datetime is a date, so the narrower class is asked for first.
    match value:
        case bool():
            kind, fits = DataType.BOOLEAN, True
        case int():
            kind, fits = DataType.INTEGER, abs(value) <= LARGEST_WHOLE
        case float():
            kind, fits = DataType.DOUBLE, abs(value) <= LARGEST_REAL
        case str():
            kind, fits = DataType.TEXT, len(value) <= TEXT_LIMIT and is_unicode(value)
        case datetime():
            kind, fits = DataType.TIMESTAMP, value.tzinfo is None
        case date():
            kind, fits = DataType.DATE, True
        case _:
            return None
    return kind if fits else None


def is_unicode(text: str) -> bool:
    """Whether every engine can hold a text."""
    # Lone surrogates have no UTF-8 form; engines end a statement at a NUL.
    if "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
