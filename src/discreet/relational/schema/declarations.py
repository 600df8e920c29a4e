"""What the data owner declares about a column: the public part of its contents.

Declared columns are cleaned once, at the scan, before any expression: NaN becomes NULL, numbers
are clamped, categories and dates outside the declaration become NULL. Nothing is read from data.

Source: contract, "Columns"; 004d:D16, D18.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number as RealNumber
from discreet.core.parameters import count, finite, positive
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import LARGEST_WHOLE, TEXT_LIMIT, DataType

_BITS = 400
_MAX_BOUND = 1 << _BITS

_KINDS: dict[type, DataType] = {
    bool: DataType.BOOLEAN,
    int: DataType.INTEGER,
    float: DataType.DOUBLE,
    str: DataType.TEXT,
    date: DataType.DATE,
    datetime: DataType.TIMESTAMP,
}


@dataclass(frozen=True)
class Category:
    """A public list of values; any other value counts as NULL. None in the list makes NULL a key.

    >>> Category(["A", "B"]).domain().values
    ('A', 'B')
    """

    values: tuple[object, ...]

    def __init__(self, values: Iterable[object]) -> None:
        """Any iterable but a text alone: a list, a range."""
        if isinstance(values, str):
            raise InvalidParameter(
                code="category_values",
                expectation="a list of values",
                received="one text",
                remedy=f"Write Category([{values!r}]).",
            )
        object.__setattr__(self, "values", tuple(values))
        kinds = {type(value) for value in self.values if value is not None}
        if len(kinds) != 1 or next(iter(kinds)) not in _KINDS:
            raise InvalidParameter(
                code="category_values",
                expectation="values of one kind: text, whole numbers, reals, truth values or dates",
                received=sorted(kind.__name__ for kind in kinds),
                remedy='List the public values, for instance Category(["A", "B"]).',
            )
        if len(set(self.values)) != len(self.values) or any(map(_unequal, self.values)):
            raise InvalidParameter(
                code="category_values",
                expectation="each value listed once",
                received=len(self.values),
                remedy="Remove the repeated values.",
            )

        if any(isinstance(value, str) and len(value) > TEXT_LIMIT for value in self.values):
            raise InvalidParameter(
                code="category_values",
                expectation=f"texts of at most {TEXT_LIMIT} letters",
                received=max(len(str(value)) for value in self.values),
                remedy="Store a short code instead.",
            )

    def domain(self) -> ColumnDomain:
        """Kind, least and greatest value, and the list itself."""
        values = tuple(value for value in self.values if value is not None)
        return ColumnDomain(_KINDS[type(values[0])], values=values, declared=True)


@dataclass(frozen=True)
class Number:
    """Numbers between public bounds; others are clamped to them, infinities included.

    ``step`` is the public spacing of the candidates from which quantiles are chosen; without it
    whole numbers are their own candidates where they are few, and a thousand steps otherwise.
    """

    low: RealNumber
    high: RealNumber
    step: RealNumber | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that are not finite or are crossed."""
        low, high = finite("low", self.low), finite("high", self.high)
        step = None if self.step is None else positive("step", self.step)
        near = -_MAX_BOUND <= low <= _MAX_BOUND and -_MAX_BOUND <= high <= _MAX_BOUND
        if not near or not 1 / _MAX_BOUND <= (step or 1) <= _MAX_BOUND:
            raise InvalidParameter(
                code="parameter_out_of_range",
                expectation=f"bounds within 2**{_BITS} of zero, and a step of at least 2**-{_BITS}",
                remedy="Rescale the column to usual units.",
            )
        for name, number in (("low", low), ("high", high), ("step", step)):
            object.__setattr__(self, name, None if number is None else _plain(number))
        if not self.low < self.high:
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="a lower bound below the upper one",
                received=(self.low, self.high),
                remedy="Write Number(low, high) with public bounds, not read from the data.",
            )

    def domain(self, kind: DataType) -> ColumnDomain:
        """As a column of the given numeric kind: whole columns have whole bounds."""
        low, high = self.low, self.high
        if kind is DataType.INTEGER:
            low, high = _ceiling(low), _floor(high)
            if low > high:
                raise InvalidParameter(
                    code="bounds_crossed",
                    expectation="bounds with a whole number between them, for a whole column",
                    received=(self.low, self.high),
                    remedy="Widen the bounds.",
                )
            return ColumnDomain(DataType.INTEGER, low, high, None, declared=True)
        return ColumnDomain(DataType.DOUBLE, float(low), float(high), None, declared=True)


@dataclass(frozen=True)
class Integer:
    """Whole numbers between public bounds, however they are stored: as wholes, reals or text.

    Reals are rounded to the nearest whole number, halves to even, and clamped to the bounds. Text
    that is no whole number, such as ``12.5``, counts as NULL: declare a Number and round it.

    >>> Integer(0, 3).domain().enumerated()
    (0, 1, 2, 3)
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        """Refuse bounds that are no whole numbers of 63 bits, or are crossed."""
        for name in ("low", "high"):
            value = finite(name, getattr(self, name))
            if value != int(value) or not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
                raise InvalidParameter(
                    code="not_whole",
                    expectation=f"{name} to be a whole number of at most 63 bits",
                    received=value,
                    remedy="Write Integer(0, 120); Number(0, 1.5) is for reals.",
                )
            object.__setattr__(self, name, int(value))
        if self.low > self.high:
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="a lower bound not above the upper one",
                received=(self.low, self.high),
                remedy="Write Integer(low, high) with public bounds, not read from the data.",
            )

    def domain(self) -> ColumnDomain:
        """As a column of whole numbers."""
        return ColumnDomain(DataType.INTEGER, self.low, self.high, declared=True)


@dataclass(frozen=True)
class Boolean:
    """Truth values, however they are stored: as such, as 0 and 1, or as text.

    Text is read as CAST reads it, ``true`` or ``false`` in any case and some shorter words; what is
    none of them counts as NULL.

    >>> Boolean().domain().values
    (False, True)
    """

    def domain(self) -> ColumnDomain:
        """Two values, false first."""
        return ColumnDomain(DataType.BOOLEAN, declared=True)


@dataclass(frozen=True)
class Dates:
    """Days (or moments) from ``first`` to ``last``; others count as NULL."""

    first: date
    last: date

    def __post_init__(self) -> None:
        """Refuse values that are not dates, or are crossed."""
        if type(self.first) is not type(self.last) or not isinstance(self.first, date):
            raise InvalidParameter(
                code="not_dates",
                expectation="two dates, or two moments",
                received=(type(self.first).__name__, type(self.last).__name__),
                remedy="Write Dates(date(2024, 1, 1), date(2024, 12, 31)).",
            )
        if not self.first <= self.last:
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="a first day not after the last",
                received=(self.first.isoformat(), self.last.isoformat()),
                remedy="Exchange the two dates.",
            )

    def domain(self, kind: DataType) -> ColumnDomain:
        """As a column of days or of moments."""
        first: date = self.first
        last: date = self.last
        if kind is DataType.TIMESTAMP and not isinstance(first, datetime):
            first = datetime(first.year, first.month, first.day)
            last = datetime(last.year, last.month, last.day, 23, 59, 59, 999999)
        if kind is DataType.DATE and isinstance(first, datetime) and isinstance(last, datetime):
            first, last = first.date(), last.date()
        return ColumnDomain(kind, first, last, None, declared=True)


@dataclass(frozen=True)
class Discovered:
    """Values that nobody listed: text, whole numbers or days, named where enough people have them.

    A key is found privately, by how many people have it, which needs delta > 0. ``min_people``
    is a public number of people below which no key is ever named; it costs nothing. NULL is no key.

    >>> Discovered(min_people=20).domain(DataType.TEXT).declared
    True
    """

    min_people: int = 1

    def __post_init__(self) -> None:
        """Refuse a minimum that is not a whole number of at least one."""
        object.__setattr__(self, "min_people", count("min_people", self.min_people))

    def domain(self, kind: DataType) -> ColumnDomain:
        """Of any value of its kind; no list and no bounds."""
        return ColumnDomain(kind, declared=True)


@dataclass(frozen=True)
class Text:
    """Text of any content: for conditions, and to be split into elements that are.

    ``max_elements`` is the public number of elements of one row that ``UNNEST(string_split(x,
    ';'))`` counts; those after them are left out, so that it bounds what a row becomes.
    ``elements`` declares what each of them is, so that they can be grouped by or added up.

    >>> Text(max_elements=5, elements=Category(["flu", "cough"])).max_elements
    5
    """

    max_elements: int | None = None
    elements: Category | Number | Integer | Boolean | Dates | Discovered | None = None

    def __post_init__(self) -> None:
        """Refuse a number that is no count, and elements of elements."""
        if self.max_elements is not None:
            object.__setattr__(self, "max_elements", elements_at_most(self.max_elements))
        known = Category | Number | Integer | Boolean | Dates | Discovered | None
        if not isinstance(self.elements, known):
            raise InvalidParameter(
                code="not_a_declaration",
                expectation="Category, Number, Integer, Boolean, Dates or Discovered for elements",
                received=type(self.elements).__name__,
                remedy='Write dp.Text(max_elements=5, elements=dp.Category(["flu", "cough"])).',
            )

    def domain(self) -> ColumnDomain:
        """Text of which nothing more is known: it is no key."""
        return ColumnDomain(DataType.TEXT)


Declaration: TypeAlias = Category | Number | Integer | Boolean | Dates | Discovered | Text


def elements_at_most(value: object) -> int:
    """A public number of elements, which a text has no more of than letters."""
    most = count("max_elements", value)
    if most > TEXT_LIMIT:
        raise InvalidParameter(
            code="parameter_out_of_range",
            expectation=f"at most {TEXT_LIMIT} elements of a text",
            received=most,
            remedy="Noise grows with it: choose as many as most rows have.",
        )
    return most


def _unequal(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _plain(value: RealNumber) -> RealNumber:
    """Whole values as ints, so that bounds of whole columns stay whole."""
    return int(value) if value == int(value) else float(value)


def _floor(value: RealNumber) -> int:
    return int(value // 1)


def _ceiling(value: RealNumber) -> int:
    return int(-(-value // 1))
