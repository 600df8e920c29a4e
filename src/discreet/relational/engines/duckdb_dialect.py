"""DuckDB's SQL.

Measured on DuckDB 2.0 and relied upon here, each with a test: doubles follow IEEE 754, NaN is
greater than infinity and equal to itself, doubles convert to BIGINT with halves to even, SUM of
BIGINT is an exact HUGEINT. ``nullif`` is a macro that doubles what it is given; week differences
and ``//`` of doubles are not what their names say; none of these is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from discreet.core.errors import InvalidParameter
from discreet.relational.dialect import Dialect, scientific
from discreet.relational.facts import Facts, limits
from discreet.relational.functions.casts import (
    DATE_FORM,
    MOMENT_FORM,
    REAL_FORM,
    WHOLE_FORM,
)
from discreet.relational.functions.standard import (
    STANDARD,
    Template,
    nonzero,
    truth_of_text,
)
from discreet.relational.kind import SAFE_WHOLE, Kind, kind_of_value

if TYPE_CHECKING:
    from discreet.relational.expression import Call

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), Kind.WHOLE),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), Kind.WHOLE),
    # Sums of whole columns are stored so; what does not fit in 63 bits is clamped.
    "HUGEINT": Kind.WHOLE,
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), Kind.REAL),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), Kind.TEXT),
    "BOOLEAN": Kind.TRUTH,
    "DATE": Kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.MOMENT),
    "TIMESTAMP WITH TIME ZONE": Kind.MOMENT,
}
_FORMS = {
    Kind.WHOLE: WHOLE_FORM,
    Kind.REAL: REAL_FORM,
    Kind.DATE: DATE_FORM,
    Kind.MOMENT: MOMENT_FORM,
}
_INFINITY = "CAST('Infinity' AS DOUBLE)"
_FARTHEST_GRID = 1000


def _remainder(_: Dialect, call: Call, first: str, second: str) -> str:
    if call.facts.kind is Kind.REAL:
        return f"({first} % {second})"
    return f"({first} % {nonzero(call.args[1].facts, second)})"


def _trim(dialect: Dialect, call: Call, text: str) -> str:
    side, letters = map(str, call.function.parameters)
    name = {"both": "trim", "leading": "ltrim", "trailing": "rtrim"}[side]
    return f"{name}({text}, {dialect.text(letters)})" if letters else text


def _substring(_: Dialect, call: Call, text: str) -> str:
    return f"substring({', '.join([text, *map(str, call.function.parameters)])})"


def _part(_: Dialect, call: Call, text: str) -> str:
    return f"CAST(extract({call.function.parameters[0]} FROM {text}) AS BIGINT)"


def _truncate(dialect: Dialect, call: Call, text: str) -> str:
    unit, kind = call.function.parameters[0], call.facts.kind
    # Dates come back as timestamps in some versions.
    return f"CAST(date_trunc('{unit}', {text}) AS {dialect.types[kind]})"


def _difference(_: Dialect, call: Call, first: str, second: str) -> str:
    unit = call.function.parameters[0]
    if unit != "week":
        return f"date_diff('{unit}', {first}, {second})"
    first, second = (f"date_trunc('week', {text})" for text in (first, second))
    return f"(date_diff('day', {first}, {second}) // 7)"


def _shift(dialect: Dialect, call: Call, text: str) -> str:
    amount, unit = call.function.parameters
    kind = call.facts.kind
    moved = f"CAST({text} + to_{unit}s({amount}) AS {dialect.types[kind]})"
    if call.function.result(call.args[0].facts).bounded:
        return moved
    low, high = (dialect.literal(end) for end in limits(Facts(kind)))
    return f"CASE WHEN {moved} BETWEEN {low} AND {high} THEN {moved} END"


def _make_date(_: Dialect, call: Call, year: str, month: str, day: str) -> str:
    # From the first of the month on; the day exists if that leads to no other month.
    years = f"CASE WHEN {year} BETWEEN 1 AND 9999 THEN {year} END"
    months = f"CASE WHEN {month} BETWEEN 1 AND 12 THEN {month} END"
    days = f"CAST(CASE WHEN {day} BETWEEN 1 AND 31 THEN {day} END - 1 AS INTEGER)"
    whole = f"(make_date({years}, {months}, 1) + {days})"
    return f"CASE WHEN extract(month FROM {whole}) = {month} THEN {whole} END"


_TEMPLATES: Mapping[str, Template] = {
    "remainder": _remainder,
    "length": "length({0})",
    "trim": _trim,
    "substring": _substring,
    "part": _part,
    "truncate": _truncate,
    "difference": _difference,
    "shift": _shift,
    "make_date": _make_date,
}


class DuckDBDialect(Dialect):
    """Text for DuckDB 1.2 to 2."""

    templates: ClassVar[Mapping[str, Template]] = {**STANDARD, **_TEMPLATES}
    types: ClassVar[Mapping[Kind, str]] = {**Dialect.types, Kind.REAL: "DOUBLE"}

    def kind_of(self, stored: str) -> Kind | None:
        """The kind of a stored type; nested types, TIME, INTERVAL, BLOB and JSON have none.

        >>> DuckDBDialect().kind_of("DECIMAL(18,3)")
        <Kind.REAL: 'real number'>
        """
        name = stored.upper()
        if name.endswith("]"):
            return None
        return _KINDS.get(name.partition("(")[0].strip())

    def real(self, value: float) -> str:
        """Scientific notation is a double here."""
        text = scientific(value)
        return f"({text})" if text.startswith("-") else text

    def finite(self, text: str) -> str:
        """The function is faster than two comparisons."""
        return f"CASE WHEN isfinite({text}) THEN {text} END"

    def whole_quotient(self, first: str, second: str) -> str:
        """``/`` is the division of doubles here."""
        return f"({first} // {second})"

    def clean(self, text: str, stored: str, facts: Facts) -> str:
        """The scan of one column."""
        kind = self.kind_of(stored)
        if kind is None:
            raise InvalidParameter(
                code="unusable_type",
                expectation="a column of numbers, text, truth values, dates or moments",
                received=stored,
                remedy="Convert the column when the table is written.",
            )
        if "TIME ZONE" in stored.upper():
            text = f"({text} AT TIME ZONE 'UTC')"
        elif kind in (Kind.MOMENT, Kind.TEXT) and stored.upper() != self.types[kind]:
            text = f"TRY_CAST({text} AS {self.types[kind]})"
        if kind is Kind.TEXT:
            # A column may carry a collation under which different texts are equal.
            text = f"({text} COLLATE C)"
        if kind is not facts.kind:
            if facts.kind is Kind.WHOLE and kind is Kind.REAL:
                # Clamping before rounding keeps infinities and numbers too large.
                low, high = map(_doubled, limits(facts))
                text = self.clean_number(text, Facts(Kind.REAL, low, high))
            elif kind is not Kind.TEXT:
                text = self.tidy(text, kind)
            text = self.cast(text, kind, facts.kind)
        if facts.values is not None and set(facts.values) != {False, True}:
            return self.clean_category(text, facts.values)
        if facts.kind.is_number:
            return self.clean_number(text, facts)
        return self._within(text, facts) if facts.kind.is_calendar else text

    def tidy(self, text: str, kind: Kind) -> str:
        """An undeclared value in the universe of its kind."""
        if kind.is_number:
            return self.clean_number(text, Facts(kind))
        if kind.is_calendar:
            return self._within(text, Facts(kind))
        return f"CAST({text} AS {self.types[kind]})"

    def clean_number(self, text: str, facts: Facts) -> str:
        """A number clamped by CASE; what is in bounds, the most common case, comes first."""
        low, high = (self.literal(end) for end in limits(facts))
        top = f"{text} > {high}" if facts.kind is Kind.WHOLE else f"{text} <= {_INFINITY}"
        clamped = (
            f"CASE WHEN {text} BETWEEN {low} AND {high} THEN {text} "
            f"WHEN {text} < {low} THEN {low} WHEN {top} THEN {high} END"
        )
        return f"CAST({clamped} AS {self.types[facts.kind]})"

    def clean_category(self, text: str, values: Sequence[object]) -> str:
        """A value of the list, or NULL; NULL itself need not be listed."""
        listed = [value for value in values if value is not None]
        kind = kind_of_value(listed[0]) if listed else None
        if kind is None:
            return "NULL"
        if not kind.is_number:
            # An ENUM has no value outside its own list to compare with.
            text = f"CAST({text} AS {self.types[kind]})"
        known = Facts(kind, values=tuple(listed))
        if kind is Kind.WHOLE and known.high - known.low == len(listed) - 1:
            # Without gaps, two comparisons do the work of a hash table.
            test = f"BETWEEN {self.literal(known.low)} AND {self.literal(known.high)}"
        else:
            test = f"IN ({', '.join(map(self.literal, listed))})"
        return f"CAST(CASE WHEN {text} {test} THEN {text} END AS {self.types[kind]})"

    def cast(self, text: str, source: Kind, kind: Kind) -> str:
        """Total conversions; text is held to our own forms before DuckDB reads it."""
        target = self.types[kind]
        match source, kind:
            case Kind.TEXT, Kind.TRUTH:
                return truth_of_text(self, text)
            case Kind.TEXT, Kind.WHOLE | Kind.REAL | Kind.DATE | Kind.MOMENT:
                form = self.text(_FORMS[kind])
                return (
                    f"TRY_CAST(CASE WHEN regexp_full_match({text}, {form}) THEN {text} END "
                    f"AS {target})"
                )
            case Kind.REAL, Kind.WHOLE:
                low, high = self.real(-(2.0**63)), self.real(2.0**63)
                return (
                    f"CAST(CASE WHEN {text} > {low} AND {text} < {high} THEN {text} END "
                    f"AS {target})"
                )
            case Kind.WHOLE, Kind.TRUTH:
                return f"({text} <> 0)"
        return f"CAST({text} AS {target})"

    def steps(self, text: str, facts: Facts, exponent: int) -> str:
        """A bounded number in whole steps of 2**exponent, halves to even.

        Numerics: multiplying a double by a power of two is exact unless the result is subnormal,
        where it is nowhere near half a step; so this is the nearest whole number of steps.
        """
        if facts.kind is Kind.WHOLE and exponent == 0:
            return self.clean_number(text, facts)
        low, high = limits(facts)
        most = max(abs(Fraction(end)) for end in (low, high)) / Fraction(2) ** exponent
        if not facts.bounded or abs(exponent) > _FARTHEST_GRID or most >= SAFE_WHOLE:
            raise InvalidParameter(
                code="grid_out_of_range",
                expectation="bounds of fewer than 2**62 steps of the grid",
                received=(facts.low, facts.high, exponent),
                remedy="Choose a coarser grid or narrower bounds.",
            )
        clamped = self.clean_number(text, Facts(Kind.REAL, facts.low, facts.high))
        factor = self.real(math.ldexp(1.0, -exponent))
        return f"CAST({clamped} * {factor} AS BIGINT)"

    def wide_sum(self, text: str) -> str:
        """128 bits hold 2**64 numbers of 2**62."""
        return f"COALESCE(SUM({text}), CAST(0 AS HUGEINT))"

    def identity(self, text: str, stored: str) -> str:
        """Text without its collation; other types as they are."""
        return f"({text} COLLATE C)" if stored.upper().startswith("VARCHAR") else text

    def halves(self, text: str) -> tuple[str, str]:
        """Shifts and masks of a HUGEINT; the low half is never negative."""
        half = f"CAST({1 << 62} AS HUGEINT)"
        low = f"((({text}) % {half} + {half}) % {half})"
        return f"CAST((({text}) - {low}) // {half} AS BIGINT)", f"CAST({low} AS BIGINT)"

    def hash(self, texts: Sequence[str], salt: int) -> str:
        """DuckDB's hash of the content, mixed with each 64-bit word of the salt and hashed again.

        Arguments of ``hash`` are combined linearly, and the hash of 0 is 0: a salt among them
        would change order only by masking bits.
        """
        mixed = f"hash({', '.join(texts)})"
        for place in range(max(1, -(-salt.bit_length() // 64))):
            word = salt >> 64 * place & (1 << 64) - 1
            mixed = f"hash(xor({mixed}, CAST({word} AS UBIGINT)))"
        return mixed

    def _within(self, text: str, facts: Facts) -> str:
        low, high = (self.literal(end) for end in limits(facts))
        return f"CASE WHEN {text} BETWEEN {low} AND {high} THEN {text} END"


def _doubled(end: int) -> float:
    """The double next to a whole bound, not beyond it."""
    near = float(end)
    return math.nextafter(near, 0.0) if abs(Fraction(near)) > abs(end) else near
