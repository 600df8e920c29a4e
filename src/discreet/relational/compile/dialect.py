"""How expressions are written for an engine: in standard SQL, except where the engine differs.

Guarantee: the text of an expression gives the value of ``evaluate`` on every cleaned row and
cannot fail, whatever the row holds and in whatever order the engine evaluates it: arguments are
brought into the domain of an operation before it, not excused after it. No text that is held on
the way is longer than twice ``TEXT_LIMIT``, and none that is given longer than its facts say. Only
our own nodes are written, never anybody's text.

Numerics: a chain of operations on doubles may become infinite or NaN on its way and stays so to
the end; one guard there turns it into NULL. Where bounds prove that it cannot, there is none.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import (
    LARGEST_REAL,
    SAFE_WHOLE,
    TEXT_LIMIT,
    DataType,
    is_unicode,
    type_of_value,
)
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

MAX_TEXT = 500_000
MAX_IDENTIFIER = 4 * TEXT_LIMIT
"""Bytes of the longest identifier that is kept as text; rows with a longer one have no owner."""
_MAX_GRID = 1000
_HASH_GRID = -20
_HASHED = ColumnDomain(DataType.DOUBLE, -(2.0**40), 2.0**40)
"""Reals are hashed on a grid: engines write their digits differently, and ties are broken."""

Template: TypeAlias = str | Callable[..., str]
"""Either a format of the arguments' texts, or a function of dialect, call and texts."""


class Dialect(ABC):
    """The SQL of one engine.

    Contract: columns were cleaned by this dialect. A subclass has a template for every function.
    """

    templates: ClassVar[Mapping[str, Template]]
    types: ClassVar[Mapping[DataType, str]] = {
        DataType.INTEGER: "BIGINT",
        DataType.DOUBLE: "DOUBLE PRECISION",
        DataType.TEXT: "VARCHAR",
        DataType.BOOLEAN: "BOOLEAN",
        DataType.DATE: "DATE",
        DataType.TIMESTAMP: "TIMESTAMP",
    }
    bytes: ClassVar[str] = "OCTET_LENGTH"
    """The function that gives the size of a text without looking at its letters."""

    @abstractmethod
    def kind_of(self, stored: str) -> DataType | None:
        """The kind of a column stored with this type; None if it cannot be used."""

    def stored(self, kind: DataType) -> str:
        """How the engine itself calls the type in which a derived value of a kind is stored."""
        return self.types[kind]

    @abstractmethod
    def opened(self, text: str, stored: str) -> str:
        """A stored value as a plain one of its kind: not yet within its universe, zones in UTC."""

    @abstractmethod
    def compares(self, stored: str) -> bool:
        """Whether values so stored compare with public keys as they are, and cannot fail."""

    @abstractmethod
    def adds(self, stored: str) -> bool:
        """Whether reals so stored can be clamped as they are, and cannot fail."""

    @abstractmethod
    def identity(self, text: str, stored: str) -> str:
        """An identifier, told apart by its content alone and not by a collation."""

    @abstractmethod
    def is_text(self, stored: str) -> bool:
        """Whether an identifier so stored is kept as text, of any length."""

    def identified(self, text: str, stored: str) -> str:
        """The condition that a row has an identifier: not NULL, nor a text beyond all measure."""
        if not self.is_text(stored):
            return f"{text} IS NOT NULL"
        return f"{self.bytes}({self.identity(text, stored)}) <= {MAX_IDENTIFIER}"

    def spelled(self, text: str, stored: str) -> str:
        """An identifier as text: equal on every engine for equal ones, whatever it holds."""
        kind = self.kind_of(stored)
        if kind is None:
            return self.cast(text, DataType.BOOLEAN, DataType.TEXT)
        text = self.opened(text, stored)
        if kind is DataType.DOUBLE:
            return self.on_grid(text)
        return text if kind is DataType.TEXT else self.cast(text, kind, DataType.TEXT)

    @abstractmethod
    def cast(self, text: str, source: DataType, kind: DataType) -> str:
        """A value of the universe of ``source`` in another kind, NULL where it cannot be.

        To TEXT, values of any type can be cast.
        """

    def convert_stored_value(self, text: str, source: DataType, kind: DataType) -> str:
        """A stored value in the kind that was declared: numbers too large are infinite."""
        return self.cast(text, source, kind)

    @abstractmethod
    def infinity(self) -> str:
        """The infinite double."""

    @abstractmethod
    def wide_sum(self, text: str) -> str:
        """The exact sum of whole numbers, wide enough for any table; 0 where there are none."""

    def sums_whole(self, cells: int) -> bool:
        """Whether wide sums of so many cells come back in one column each; else in halves."""
        return False

    @abstractmethod
    def halves(self, text: str) -> tuple[str, str]:
        """A wide sum as two 64-bit columns: the part above 62 bits, and the 62 bits below."""

    @abstractmethod
    def hash(self, texts: Sequence[str], salt: int) -> str:
        """A whole number that depends on the content of all texts and on the salt."""

    @abstractmethod
    def digest(self, text: str) -> str:
        """The SHA-256 of a text's UTF-8, in an order like that of its hexadecimal digits."""

    @abstractmethod
    def hash_number(self, text: str) -> str:
        """Sixty bits of what :meth:`hash` gives, as a BIGINT that is not negative."""

    @abstractmethod
    def digest_number(self, text: str) -> str:
        """The first sixty bits of what :meth:`digest` gives, as a BIGINT."""

    def on_grid(self, text: str) -> str:
        """A double as text, by its steps of a grid that is fine enough to hash; NULL for NaN."""
        return self.cast(self.steps(text, _HASHED, _HASH_GRID), DataType.INTEGER, DataType.TEXT)

    def cell(self, text: str, cells: int) -> str:
        """The number of a cell, of which there are so many, in the type that groups fastest."""
        return text

    def code(self, text: str, values: Sequence[object], kind: DataType) -> str | None:
        """The place of a value in a list, as a BIGINT, and NULL where it is not there.

        None where that is no faster than to meet a table of the values.
        """
        return None

    def same(self, left: str, right: str, kind: DataType) -> str:
        """Whether two values of a kind are equal or both NULL, as a join can use it."""
        return f"{left} IS NOT DISTINCT FROM {right}"

    def clean(self, text: str, stored: str, domain: ColumnDomain) -> str:
        """A stored column in the universe of its kind and within what was declared: the scan.

        Not for identifiers: two large numbers may be clamped to one.
        """
        kind = self.kind_of(stored)
        if kind is None:
            raise InvalidParameter(
                code="unusable_type",
                expectation="a column of numbers, text, truth values, dates or moments",
                received=stored,
                remedy="Convert the column when the table is written.",
            )
        text = self.opened(text, stored)
        if kind is not domain.kind:
            if domain.kind is DataType.INTEGER and kind is DataType.DOUBLE:
                # Clamping before rounding keeps infinities and numbers too large.
                low, high = map(_doubled, limits(domain))
                text = self.clean_number(text, ColumnDomain(DataType.DOUBLE, low, high))
            elif kind is DataType.TEXT:
                # No number, day or word is so long.
                text = f"CASE WHEN {self.bytes}({text}) <= {TEXT_LIMIT} THEN {text} END"
            else:
                text = self.tidy(text, kind)
            text = self.convert_stored_value(text, kind, domain.kind)
        if domain.empty:
            return f"CAST(NULL AS {self.types[domain.kind]})"
        if domain.values is not None and set(domain.values) != {False, True}:
            return self.clean_category(text, domain.values)
        if domain.kind.is_number:
            return self.clean_number(text, domain)
        if domain.kind is DataType.TEXT:
            return self.shortened(text, domain.letters)
        return self._within(text, domain) if domain.kind.is_calendar else text

    def shortened(self, text: str, letters: int) -> str:
        """The first letters of a stored text, of which most are short."""
        return self.first(text, letters)

    def first(self, text: str, letters: int) -> str:
        """The first letters (code points) of a text."""
        return f"LEFT({text}, {letters})"

    def tidy(self, text: str, kind: DataType) -> str:
        """An undeclared value in the universe of its kind."""
        if kind.is_number:
            return self.clean_number(text, ColumnDomain(kind))
        if kind.is_calendar:
            return self._within(text, ColumnDomain(kind))
        return f"CAST({text} AS {self.types[kind]})"

    def clean_number(self, text: str, domain: ColumnDomain) -> str:
        """A number clamped by CASE, infinities included; NaN becomes NULL.

        What is in bounds, the most common case, comes first.
        """
        low, high = (self.bound(end) for end in limits(domain))
        top = (
            f"{text} > {high}"
            if domain.kind is DataType.INTEGER
            else f"{text} <= {self.infinity()}"
        )
        clamped = (
            f"CASE WHEN {text} BETWEEN {low} AND {high} THEN {text} "
            f"WHEN {text} < {low} THEN {low} WHEN {top} THEN {high} END"
        )
        return f"CAST({clamped} AS {self.types[domain.kind]})"

    def restrict_to_domain(self, text: str, domain: ColumnDomain) -> str:
        """A computed number clamped to its interval, a day or moment outside of it NULL.

        Facts that are right make this nothing but a repetition.
        """
        if domain.empty or (domain.low is None and domain.high is None):
            return text
        return (
            self.clean_number(text, domain) if domain.kind.is_number else self._within(text, domain)
        )

    def clean_category(self, text: str, values: Sequence[object]) -> str:
        """A value of the list, or NULL; NULL itself need not be listed."""
        listed = [value for value in values if value is not None]
        kind = type_of_value(listed[0]) if listed else None
        if kind is None:
            return "NULL"
        text = self.comparable(text, kind)
        known = ColumnDomain(kind, values=tuple(listed))
        if kind is DataType.INTEGER and known.high - known.low == len(listed) - 1:
            # Without gaps, two comparisons do the work of a hash table.
            test = f"BETWEEN {self.bound(known.low)} AND {self.bound(known.high)}"
        else:
            test = f"IN ({', '.join(map(self.bound, listed))})"
        return f"CAST(CASE WHEN {text} {test} THEN {text} END AS {self.types[kind]})"

    def comparable(self, text: str, kind: DataType) -> str:
        """An opened value as it is compared with a list: an ENUM has no value outside its own."""
        return text if kind.is_number else f"CAST({text} AS {self.types[kind]})"

    def steps(self, text: str, domain: ColumnDomain, exponent: int) -> str:
        """A bounded number, clamped, in whole steps of 2**exponent, halves to even.

        Numerics: multiplying a double by a power of two is exact unless the result is subnormal,
        where it is nowhere near half a step; so this is the nearest whole number of steps.
        """
        if domain.kind is DataType.INTEGER and exponent == 0:
            return self.clean_number(text, domain)
        low, high = limits(domain)
        most = max(abs(Fraction(end)) for end in (low, high)) / Fraction(2) ** exponent
        if not domain.bounded or abs(exponent) > _MAX_GRID or most >= SAFE_WHOLE:
            raise InvalidParameter(
                code="grid_out_of_range",
                expectation=f"bounds of fewer than 2**{SAFE_WHOLE.bit_length() - 1} grid steps",
                received=(domain.low, domain.high, exponent),
                remedy="Choose a coarser grid or narrower bounds.",
            )
        clamped = self.clean_number(text, ColumnDomain(DataType.DOUBLE, domain.low, domain.high))
        return self.scaled(clamped, exponent)

    def scaled(self, text: str, exponent: int) -> str:
        """The nearest whole number of steps of 2**exponent, halves to even, of a small double."""
        factor = self.real(math.ldexp(1.0, -exponent))
        return f"CAST({text} * {factor} AS {self.types[DataType.INTEGER]})"

    def identifier(self, name: str) -> str:
        """A quoted name."""
        return _quoted(name)

    def literal(self, value: object) -> str:
        """A constant, typed so that no engine takes it for something narrower."""
        match value:
            case None | bool():
                return _WORDS[value]
            case int():
                return f"CAST({value} AS {self.types[DataType.INTEGER]})"
            case float():
                return self.real(value)
            case str():
                return self.text(value)
            case datetime():
                return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
            case date():
                return f"DATE '{value.isoformat()}'"
            case _:
                raise TypeError(type(value).__name__)

    def bound(self, value: object) -> str:
        """A constant beside a value of its kind, to be compared with or to take its place."""
        return self.literal(value)

    def real(self, value: float) -> str:
        """A finite double, to the last bit."""
        return f"CAST({scientific(value)} AS {self.types[DataType.DOUBLE]})"

    def text(self, value: str) -> str:
        """A text constant."""
        return "'" + value.replace("'", "''") + "'"

    def whole_if(self, kind: DataType, text: str) -> str:
        """A whole double, as an INTEGER if it was proved to fit; NULL where the proof was wrong."""
        return self.cast(text, DataType.DOUBLE, kind) if kind is DataType.INTEGER else text

    def whole_quotient(self, first: str, second: str) -> str:
        """The quotient of two whole numbers, cut towards zero; the second is not zero."""
        return f"({first} / {second})"

    def shared(self, text: str, weight: str, divisor: int, *, narrow: bool) -> str:
        """A whole number times a weight over a divisor, cut towards zero, as a BIGINT.

        The result fits; the product does too where it is ``narrow``.
        """
        if not narrow:
            return self.shared_widely(text, weight, divisor)
        product = f"(CAST({text} AS BIGINT) * {weight})"
        return product if divisor == 1 else self.whole_quotient(product, self.literal(divisor))

    @abstractmethod
    def shared_widely(self, text: str, weight: str, divisor: int) -> str:
        """The same where the product needs up to 124 bits."""

    def with_rows(self, name: str, text: str) -> str | None:
        """What to write before a SELECT that reads ``name`` several times: it is computed once.

        None where an engine may compute it again, and find other rows then.
        """
        return f"WITH {name} AS MATERIALIZED ({text}) "

    @abstractmethod
    def unnested(
        self,
        rows: str,
        text: str,
        separator: str,
        names: tuple[str, str],
        *,
        most: int,
        kept: bool,
    ) -> str:
        """What stands after FROM: ``rows`` beside the first ``most`` parts of a text of theirs.

        The parts between separators and their numbers from one on have the two ``names``. A row
        whose text is NULL has none, and stays once, with NULL, if it is ``kept``. An empty text has
        one part, which is empty.
        """

    def quotient(self, first: str, second: str) -> str:
        """The quotient of two doubles; the second is not zero."""
        return f"{first} / {second}"

    def whole_part(self, first: str, second: str) -> str:
        """The whole part of a quotient of doubles that are not negative; the second is not zero."""
        return f"FLOOR({first} / {second})"

    def finite(self, text: str) -> str:
        """A double, or NULL where it is NaN or infinite."""
        return (
            f"CASE WHEN {text} BETWEEN {self.real(-LARGEST_REAL)} AND {self.real(LARGEST_REAL)} "
            f"THEN {text} END"
        )

    def _within(self, text: str, domain: ColumnDomain) -> str:
        low, high = (self.literal(end) for end in limits(domain))
        return f"CASE WHEN {text} BETWEEN {low} AND {high} THEN {text} END"

    def render(self, expression: Expression) -> str:
        """The text of an expression; doubles are finite."""
        text, finite = self._plain(expression)
        return text if finite else _limited(self.finite(text))

    def _plain(self, expression: Expression) -> tuple[str, bool]:
        """Text that may give a double that is not finite, standing for NULL; and whether not."""
        match expression:
            case Column(name=name):
                return self.identifier(name), True
            case Literal(value=None, kind=kind):
                return f"CAST(NULL AS {self.types[kind or DataType.BOOLEAN]})", True
            case Literal(value=value):
                return self.literal(value), True
            case Case(branches=branches, otherwise=otherwise):
                whens = " ".join(
                    f"WHEN {self.render(test)} THEN {self.render(result)}"
                    for test, result in branches
                )
                return _limited(f"CASE {whens} ELSE {self.render(otherwise)} END"), True
            case Call():
                return self._call(expression)

    def _call(self, call: Call) -> tuple[str, bool]:
        function, real = call.function, call.domain.kind is DataType.DOUBLE
        texts, finite = [], not real or function.finite(*(arg.domain for arg in call.args))
        for place, arg in enumerate(call.args):
            if real and place in function.carries:
                text, sound = self._plain(arg)
                finite = finite and sound
            else:
                text = self.render(arg)
            texts.append(text)
        template = self.templates[function.name]
        if isinstance(template, str):
            written = template.format(*texts)
        else:
            written = template(self, call, *texts)
        if call.domain.kind is DataType.TEXT and not function.fits(
            *(arg.domain for arg in call.args)
        ):
            written = self.first(written, call.domain.letters)
        return _limited(written), finite


_WORDS = {None: "NULL", True: "TRUE", False: "FALSE"}


@lru_cache(maxsize=4_096)
def _quoted(name: str) -> str:
    if not name or not is_unicode(name):
        raise InvalidParameter(
            code="bad_name",
            expectation="a name that is not empty and has no NUL in it",
            received=repr(name),
            remedy="Rename the column.",
        )
    return '"' + name.replace('"', '""') + '"'


def ordered(texts: Sequence[str]) -> str:
    """An ORDER BY list with NULL after everything else."""
    return ", ".join(f"{text} NULLS LAST" for text in texts)


def scientific(value: float) -> str:
    """The shortest text that reads back as the same double."""
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa}E{exponent or 0}"


def _doubled(end: int) -> float:
    """The double next to a whole bound, not beyond it."""
    near = float(end)
    return math.nextafter(near, 0.0) if abs(Fraction(near)) > abs(end) else near


def _limited(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"an expression of at most {MAX_TEXT} characters when written out",
            received=len(text),
            remedy="Nest least, greatest, NULLIF and % less deeply, or declare more bounds.",
        )
    return text
