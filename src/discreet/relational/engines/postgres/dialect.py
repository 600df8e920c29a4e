"""PostgreSQL's SQL.

Relied upon, each with a test: CASE evaluates a branch only where its condition holds, and a
constant branch only if its condition is not constantly false; doubles convert to BIGINT with
halves to even; SUM of BIGINT is an exact NUMERIC; NaN is greater than infinity and equal to
itself. Doubles that are not finite never arise: every operation gives NULL instead.

Proof: ``proofs/engines.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import ClassVar

from discreet.core.errors import InvalidParameter
from discreet.relational.compile.dialect import Dialect, Template
from discreet.relational.compile.standard import STANDARD, nonzero, truth_of_text
from discreet.relational.engines.postgres import calendar
from discreet.relational.engines.postgres import doubles as reals
from discreet.relational.engines.postgres.casts import (
    double_from_numeric,
    from_text,
    real_from_text,
    text_from_real,
)
from discreet.relational.functions.patterns import LikePattern
from discreet.relational.functions.regular_expressions import parse_pattern
from discreet.relational.functions.text import lowered, uppered
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import LARGEST_REAL, DataType
from discreet.relational.types.expression import Call

_KINDS: Mapping[str, DataType] = {
    **dict.fromkeys(("int2", "int4", "int8"), DataType.INTEGER),
    **dict.fromkeys(("float4", "float8", "numeric"), DataType.DOUBLE),
    **dict.fromkeys(("text", "varchar", "bpchar", "uuid", "enum"), DataType.TEXT),
    "bool": DataType.BOOLEAN,
    "date": DataType.DATE,
    **dict.fromkeys(("timestamp", "timestamptz"), DataType.TIMESTAMP),
}
_STORED: Mapping[DataType, str] = {
    DataType.INTEGER: "int8",
    DataType.DOUBLE: "float8",
    DataType.TEXT: "text",
    DataType.BOOLEAN: "bool",
    DataType.DATE: "date",
    DataType.TIMESTAMP: "timestamp",
}
_COMPARED = frozenset({"int2", "int4", "int8", "float8", "text", "varchar", "bool", "date"})
_TEXTS = ("text", "varchar", "bpchar", "enum")
_LAST_CASED = 0x1F000
_MAX_SCALE = 300


def _arithmetic(sign: str, guarded: Callable[[str, str], str]) -> Template:
    def template(_: Dialect, call: Call, first: str, second: str) -> str:
        domain = [arg.domain for arg in call.args]
        safe = call.domain.kind is DataType.INTEGER or call.function.finite(*domain)
        if safe and sign == "*" and call.domain.kind is DataType.DOUBLE:
            safe = reals.least(call.args[0]) * reals.least(call.args[1]) >= reals.SMALLEST
        if safe:
            return f"({first} {sign} {second})"
        return guarded(first, second)

    return template


def _square(dialect: Dialect, call: Call, text: str) -> str:
    if call.domain.kind is DataType.INTEGER:
        return reals.let("({a} * {a})", a=text)
    return reals.product(text, text)


def _divide(_: Dialect, call: Call, first: str, second: str) -> str:
    divisor = call.args[1].domain
    largest = max(abs(divisor.low), abs(divisor.high)) if divisor.bounded else LARGEST_REAL
    vanishes = reals.least(call.args[0]) < reals.SMALLEST * Fraction(largest)
    if vanishes or not call.function.finite(*(arg.domain for arg in call.args)):
        return reals.quotient(first, second)
    return f"({first} / {second})"


def _remainder(_: Dialect, call: Call, first: str, second: str) -> str:
    if call.domain.kind is DataType.DOUBLE:
        return reals.remainder(first, second)
    return f"MOD({first}, {nonzero(call.args[1].domain, second)})"


def _within(test: str, name: str) -> Template:
    return lambda _, call, text: reals.let(f"{name}(CASE WHEN {{a}} {test} THEN {{a}} END)", a=text)


def _round(dialect: Dialect, call: Call, text: str) -> str:
    if call.args[0].domain.kind is DataType.INTEGER:
        return text
    return dialect.whole_if(call.domain.kind, reals.rounded(text))


def _round_to(dialect: Dialect, call: Call, text: str) -> str:
    (digits,) = call.function.parameters
    assert isinstance(digits, int)
    if call.args[0].domain.kind is DataType.INTEGER:
        template = STANDARD["round_to"]
        assert not isinstance(template, str)
        return template(dialect, call, text)
    scale = reals.real(float(10 ** abs(digits)))
    if digits > 0:
        return f"({reals.rounded(reals.product(text, scale))} / {scale})"
    if digits == 0:
        return dialect.whole_if(call.domain.kind, reals.rounded(text))
    tens = f"({reals.rounded(reals.quotient(text, scale))} * {scale})"
    if call.function.finite(call.args[0].domain):
        return dialect.whole_if(call.domain.kind, tens)
    return reals.product(reals.rounded(reals.quotient(text, scale)), scale)


def _cased(ascii_only: str, change: Callable[[str], str]) -> Template:
    def template(dialect: Dialect, _: Call, text: str) -> str:
        old, new = (dialect.text(letters) for letters in _changes(change))
        return reals.let(
            f"CASE WHEN OCTET_LENGTH({{a}}) = CHAR_LENGTH({{a}}) THEN {ascii_only}({{a}}) "
            f"ELSE TRANSLATE({{a}}, {old}, {new}) END",
            a=text,
        )

    return template


@cache
def _changes(change: Callable[[str], str]) -> tuple[str, str]:
    """Letters whose case changes, and what they become."""
    letters = (chr(number) for number in range(1, _LAST_CASED) if not 0xD800 <= number < 0xE000)
    pairs = [(letter, change(letter)) for letter in letters if change(letter) != letter]
    return "".join(old for old, _ in pairs), "".join(new for _, new in pairs)


def _like(dialect: Dialect, call: Call, text: str) -> str:
    pattern = LikePattern(str(call.function.parameters[0]))
    # Without ESCAPE a backslash would be one.
    return f"({text} LIKE {dialect.text(pattern.text)} ESCAPE '{'!' if pattern.escaped else ''}')"


def _matches(dialect: Dialect, call: Call, text: str) -> str:
    pattern = parse_pattern(str(call.function.parameters[0])).text(r"\A", r"\Z")
    return f"({text} ~ {dialect.text(pattern)})"


_TEMPLATES: Mapping[str, Template] = {
    "add": _arithmetic("+", lambda a, b: reals.total("+", a, b)),
    "subtract": _arithmetic("-", lambda a, b: reals.total("-", a, b)),
    "multiply": _arithmetic("*", reals.product),
    "square": _square,
    "divide": _divide,
    "remainder": _remainder,
    "ln": _within("> 0", "LN"),
    "log10": _within("> 0", "LOG10"),
    "log2": lambda _, call, text: (
        f"({reals.let('LN(CASE WHEN {a} > 0 THEN {a} END)', a=text)} / LN({reals.real(2.0)}))"
    ),
    "sqrt": _within(">= 0", "SQRT"),
    "exp": lambda _, call, text: reals.exponential(text),
    "power": lambda _, call, base, exponent: reals.power(base, exponent),
    "round": _round,
    "round_to": _round_to,
    "lower": _cased("LOWER", lowered),
    "upper": _cased("UPPER", uppered),
    "length": "CAST(CHAR_LENGTH({0}) AS BIGINT)",
    "ends_with": lambda _, call, text, end: reals.let(
        "(RIGHT({a}, CHAR_LENGTH({b})) = {b})", a=text, b=end
    ),
    "contains": "(STRPOS({0}, {1}) > 0)",
    "position": "CAST(STRPOS({0}, {1}) AS BIGINT)",
    "like": _like,
    "regexp_matches": _matches,
    "part": calendar.part,
    "truncate": calendar.truncate,
    "difference": calendar.difference,
    "shift": calendar.shift,
    "make_date": calendar.make_date,
}


class PostgresDialect(Dialect):
    """Text for PostgreSQL 14 and later, in a session that the engine set up."""

    templates: ClassVar[Mapping[str, Template]] = {**STANDARD, **_TEMPLATES}
    types: ClassVar[Mapping[DataType, str]] = {**Dialect.types, DataType.TEXT: "TEXT"}

    def kind_of(self, stored: str) -> DataType | None:
        """The kind of a stored type; arrays, JSON, citext and all others have none.

        >>> PostgresDialect().kind_of("numeric(10, 2)")
        <DataType.DOUBLE: 'real number'>
        """
        return _KINDS.get(stored.partition("(")[0])

    def stored(self, kind: DataType) -> str:
        """By the names of its catalogue."""
        return _STORED[kind]

    def real(self, value: float) -> str:
        """Read from its digits."""
        return reals.real(value)

    def text(self, value: str) -> str:
        """Compared by bytes, whatever the database's collation."""
        return f'(CAST({super().text(value)} AS TEXT) COLLATE "C")'

    def literal(self, value: object) -> str:
        """Words are typed: a bare one cannot be grouped by."""
        if isinstance(value, bool):
            return f"CAST({super().literal(value)} AS BOOLEAN)"
        return super().literal(value)

    def infinity(self) -> str:
        return "CAST('Infinity' AS DOUBLE PRECISION)"

    def finite(self, text: str) -> str:
        """As it is: operations give NULL themselves."""
        return text

    def opened(self, text: str, stored: str) -> str:
        """Zones in UTC, text by bytes, numbers of other types as doubles."""
        name = stored.partition("(")[0]
        if name == "timestamptz":
            return f"({text} AT TIME ZONE 'UTC')"
        if self.kind_of(stored) is DataType.TEXT:
            return f'(CAST({text} AS TEXT) COLLATE "C")'
        if name == "numeric" and not _fits(stored):
            sign = f"CASE WHEN {text} > 0 THEN {self.infinity()} ELSE -{self.infinity()} END"
            return double_from_numeric(text, sign)
        if name in ("numeric", "float4"):
            return f"CAST({text} AS DOUBLE PRECISION)"
        return text

    def clean_number(self, text: str, domain: ColumnDomain) -> str:
        """Whole bounds are written bare: comparing within narrow integers is faster."""
        if domain.kind is not DataType.INTEGER:
            return super().clean_number(text, domain)
        low, high = limits(domain)
        return (
            f"CAST(CASE WHEN {text} BETWEEN {low} AND {high} THEN {text} "
            f"WHEN {text} < {low} THEN {low} WHEN {text} > {high} THEN {high} END AS BIGINT)"
        )

    def compares(self, stored: str) -> bool:
        """The types whose comparison with a key needs no conversion."""
        return stored in _COMPARED

    def adds(self, stored: str) -> bool:
        """Floating-point numbers, and numerics of a declared size that doubles hold."""
        return stored in ("float4", "float8") or (stored.startswith("numeric") and _fits(stored))

    def is_text(self, stored: str) -> bool:
        """All but UUIDs, which are compared as they are."""
        return stored in _TEXTS

    def shortened(self, text: str, letters: int) -> str:
        """Its size says of most texts that they need not be copied, or even read."""
        cut = self.first(text, letters)
        return f"CASE WHEN OCTET_LENGTH({text}) <= {letters} THEN {text} ELSE {cut} END"

    def identity(self, text: str, stored: str) -> str:
        """Text by its bytes; other usable types as they are."""
        if self.kind_of(stored) is None:
            raise InvalidParameter(
                code="unusable_type",
                expectation="an identifier that is a number, text, a UUID, a date or a moment",
                received=stored,
                remedy="Convert the column, or make a view that does.",
            )
        return f'(CAST({text} AS TEXT) COLLATE "C")' if stored in _TEXTS else text

    def spelled(self, text: str, stored: str) -> str:
        """Numerics in full, without zeros at the end: equal ones may be stored with several."""
        if stored.startswith("numeric"):
            text = f"TRIM_SCALE({text})"
            return self.cast(text, DataType.INTEGER, DataType.TEXT)
        return super().spelled(text, stored)

    def same(self, left: str, right: str, kind: DataType) -> str:
        """Two equalities, on which tables can be hashed."""
        value = self.literal(_ANY[kind])
        return (
            f"({left} IS NULL) = ({right} IS NULL) "
            f"AND COALESCE({left}, {value}) = COALESCE({right}, {value})"
        )

    def quotient(self, first: str, second: str) -> str:
        """It may vanish."""
        return reals.quotient(first, second)

    def whole_part(self, first: str, second: str) -> str:
        """Less than the divisor is nothing, and need not be divided."""
        zero = reals.real(0.0)
        return reals.let(
            "CASE WHEN {a} < {b} THEN " + zero + " ELSE FLOOR({a} / {b}) END", a=first, b=second
        )

    def cast(self, text: str, source: DataType, kind: DataType) -> str:  # noqa: PLR0911 -- one for each
        """Total conversions."""
        target = self.types[kind]
        match source, kind:
            case DataType.TEXT, DataType.BOOLEAN:
                return reals.let(truth_of_text(self, "{a}"), a=text)
            case (
                DataType.TEXT,
                DataType.INTEGER | DataType.DOUBLE | DataType.DATE | DataType.TIMESTAMP,
            ):
                return from_text(text, kind, target)
            case DataType.DOUBLE, DataType.INTEGER:
                low, high = self.real(-(2.0**63)), self.real(2.0**63)
                return reals.let(
                    f"CASE WHEN {{a}} > {low} AND {{a}} < {high} THEN CAST({{a}} AS BIGINT) END",
                    a=text,
                )
            case DataType.INTEGER, DataType.BOOLEAN:
                return f"({text} <> 0)"
            case DataType.BOOLEAN, DataType.INTEGER:
                return f"CAST(CAST({text} AS INTEGER) AS BIGINT)"
            case DataType.DOUBLE, DataType.TEXT:
                return f'(({text_from_real(text)}) COLLATE "C")'
            case _, DataType.TEXT:
                return f'(CAST({text} AS TEXT) COLLATE "C")'
        return f"CAST({text} AS {target})"

    def convert_stored_value(self, text: str, source: DataType, kind: DataType) -> str:
        """Text of a number too large for a double is infinite, as on other engines."""
        if (source, kind) == (DataType.TEXT, DataType.DOUBLE):
            return real_from_text(text, self.infinity())
        return self.cast(text, source, kind)

    def scaled(self, text: str, exponent: int) -> str:
        """Steps that do not vanish with an error."""
        return reals.steps(text, exponent)

    def wide_sum(self, text: str) -> str:
        """A NUMERIC has room for any sum."""
        return f"COALESCE(SUM(CAST({text} AS BIGINT)), CAST(0 AS NUMERIC))"

    def shared_widely(self, text: str, weight: str, divisor: int) -> str:
        """By numerics; DIV cuts towards zero."""
        product = f"CAST({text} AS NUMERIC) * CAST({weight} AS NUMERIC)"
        return f"CAST(DIV({product}, CAST({divisor} AS NUMERIC)) AS BIGINT)"

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
        """An empty text would have no part here."""
        listed = reals.let(
            f"CASE WHEN {{a}} = '' THEN ARRAY[{{a}}] "
            f"ELSE (STRING_TO_ARRAY({{a}}, {self.text(separator)}))[1:{most}] END",
            a=text,
        )
        join = "LEFT JOIN" if kept else "JOIN"
        return (
            f"({rows}) AS q {join} LATERAL UNNEST({listed}) WITH ORDINALITY "
            f"AS u({', '.join(names)}) ON TRUE"
        )

    def halves(self, text: str) -> tuple[str, str]:
        """Whole divisions of numerics are exact; the low half is never negative."""
        half = f"CAST({1 << 62} AS NUMERIC)"
        low = f"MOD(MOD({text}, {half}) + {half}, {half})"
        return f"CAST(DIV({text} - {low}, {half}) AS BIGINT)", f"CAST({low} AS BIGINT)"

    def hash(self, texts: Sequence[str], salt: int) -> str:
        """PostgreSQL's hash of a row, mixed with each word of the salt and hashed again.

        The parts of a row are combined linearly, which would order everybody's rows alike.
        """
        mixed = f"HASH_RECORD_EXTENDED(ROW({', '.join(texts)}), 0)"
        for place in range(max(1, -(-salt.bit_length() // 62))):
            word = salt >> 62 * place & (1 << 62) - 1
            mixed = f"HASHINT8EXTENDED({mixed}, {word})"
        return mixed

    def hash_number(self, text: str) -> str:
        return f"(({text}) & {(1 << 60) - 1})"

    def digest(self, text: str) -> str:
        return f"SHA256(CONVERT_TO({text}, 'UTF8'))"

    def digest_number(self, text: str) -> str:
        digits = f"SUBSTRING(ENCODE({text}, 'hex') FROM 1 FOR 15)"
        return f"CAST(CAST('x0' || {digits} AS BIT(64)) AS BIGINT)"


_ANY: Mapping[DataType, object] = {
    DataType.INTEGER: 0,
    DataType.DOUBLE: 0.0,
    DataType.TEXT: "",
    DataType.BOOLEAN: False,
    DataType.DATE: date(2000, 1, 1),
    DataType.TIMESTAMP: datetime(2000, 1, 1),
}


def _fits(stored: str) -> bool:
    """Whether all numerics of a declared precision and scale are doubles in range."""
    found = re.fullmatch(r"numeric\(([0-9]+), ?(-?[0-9]+)\)", stored)
    if found is None:
        return False
    precision, scale = int(found[1]), int(found[2])
    return precision - scale <= _MAX_SCALE and scale <= _MAX_SCALE
