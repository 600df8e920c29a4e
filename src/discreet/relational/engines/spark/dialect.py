"""Spark's SQL.

Measured on Spark 4.3 and relied upon here, each with a test. With ANSI mode off, which the engine
pins, no operation fails on a row: quotients and remainders by zero are NULL, doubles too large
convert to the nearest BIGINT and NaN to 0, text of the wrong form converts to NULL. NaN is
greater than infinity and equal to itself; text is ordered by its bytes. SUM of BIGINT wraps
around and SUM of DECIMAL is slow, so sums are taken of the digits of whole numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from discreet.relational.compile.dialect import Dialect, Template, scientific
from discreet.relational.compile.standard import STANDARD, truth_of_text
from discreet.relational.engines.spark.functions import TEMPLATES
from discreet.relational.functions.casts import (
    DATE_FORM,
    MOMENT_FORM,
    REAL_FORM,
    WHOLE_FORM,
)
from discreet.relational.types.data_type import DataType, type_of_value

_KINDS: Mapping[str, DataType] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), DataType.INTEGER),
    **dict.fromkeys(("float", "double", "decimal"), DataType.DOUBLE),
    **dict.fromkeys(("string", "varchar", "char"), DataType.TEXT),
    "boolean": DataType.BOOLEAN,
    "date": DataType.DATE,
    **dict.fromkeys(("timestamp", "timestamp_ntz"), DataType.TIMESTAMP),
}
_FORMS = {
    DataType.INTEGER: WHOLE_FORM,
    DataType.DOUBLE: REAL_FORM,
    DataType.DATE: DATE_FORM,
    DataType.TIMESTAMP: MOMENT_FORM,
}
_PLAIN = frozenset({"string", "boolean", "tinyint", "smallint", "int", "bigint", "double", "date"})
_DIGIT = 21
"""Bits of a digit of a sum: 2**42 of them add up to less than 2**63."""


class SparkDialect(Dialect):
    """Text for Spark 4 with ANSI mode off and the time zone UTC."""

    templates: ClassVar[Mapping[str, Template]] = {**STANDARD, **TEMPLATES}
    types: ClassVar[Mapping[DataType, str]] = {
        **Dialect.types,
        DataType.DOUBLE: "DOUBLE",
        DataType.TEXT: "STRING",
        DataType.TIMESTAMP: "TIMESTAMP_NTZ",
    }

    def kind_of(self, stored: str) -> DataType | None:
        """The kind of a stored type; nested types, BINARY, VARIANT, TIME and void have none.

        >>> SparkDialect().kind_of("decimal(18,3)")
        <DataType.DOUBLE: 'real number'>
        """
        return _KINDS.get(stored.lower().partition("(")[0].partition(" collate ")[0].strip())

    def identifier(self, name: str) -> str:
        """A name in backticks."""
        super().identifier(name)
        return "`" + name.replace("`", "``") + "`"

    def literal(self, value: object) -> str:
        """A constant; whole numbers have 64 bits, moments no zone."""
        match type_of_value(value):
            case DataType.INTEGER:
                return f"({value}L)" if str(value).startswith("-") else f"{value}L"
            case DataType.TIMESTAMP:
                return super().literal(value).replace("TIMESTAMP", "TIMESTAMP_NTZ", 1)
        return super().literal(value)

    def real(self, value: float) -> str:
        """Scientific notation is a double here."""
        text = scientific(value)
        return f"({text})" if text.startswith("-") else text

    def text(self, value: str) -> str:
        """Text in which no backslash escapes and no ``${name}`` is replaced."""
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
        return f"'{escaped}'"

    def whole_quotient(self, first: str, second: str) -> str:
        """``/`` is the division of doubles here."""
        return f"({first} DIV {second})"

    def opened(self, text: str, stored: str) -> str:
        """In the type of its kind; zoned moments in UTC, text without its collation."""
        kind, name = self.kind_of(stored), stored.lower()
        if _is_collated(stored):
            # Under another collation different texts may be equal.
            return f"({text} COLLATE UTF8_BINARY)"
        if kind in (DataType.DOUBLE, DataType.TIMESTAMP) and name != self.types[kind].lower():
            return f"CAST({text} AS {self.types[kind]})"
        return text

    def compares(self, stored: str) -> bool:
        """The types whose comparison with a key needs no conversion."""
        return stored.lower() in _PLAIN

    def adds(self, stored: str) -> bool:
        """A decimal would be converted at each comparison."""
        return stored.lower() in ("float", "double")

    def is_text(self, stored: str) -> bool:
        """Strings of all lengths and collations."""
        return self.kind_of(stored) is DataType.TEXT

    def identity(self, text: str, stored: str) -> str:
        """Text without its collation; other types as they are."""
        return self.opened(text, stored) if _is_collated(stored) else text

    def spelled(self, text: str, stored: str) -> str:
        """Decimals in full: a zero before the point, none at the end; a cast may give 0E-10."""
        found = re.fullmatch(r"decimal\(([0-9]+),([0-9]+)\)", stored.lower())
        if found is None:
            return super().spelled(text, stored)
        precision, scale = map(int, found.groups())
        layout = "9" * (precision - scale - 1) + "0" + ("." + "0" * scale if scale else "")
        digits = f"TRIM(TO_CHAR(ABS({text}), '{layout}'))"
        if scale:
            led = f"REGEXP_REPLACE({digits}, '^[.]', '0.')"
            digits = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {led}))"
        return f"CONCAT(CASE WHEN {text} < 0 THEN '-' ELSE '' END, {digits})"

    def infinity(self) -> str:
        return "DOUBLE('Infinity')"

    def cast(self, text: str, source: DataType, kind: DataType) -> str:
        """Total conversions; text is held to our own forms before Spark reads it."""
        target = self.types[kind]
        match source, kind:
            case DataType.TEXT, DataType.BOOLEAN:
                return truth_of_text(self, text)
            case (
                DataType.TEXT,
                DataType.INTEGER | DataType.DOUBLE | DataType.DATE | DataType.TIMESTAMP,
            ):
                # A plain ^...$ would let a line end follow.
                form = self.text(rf"\A(?:{_FORMS[kind]})\z")
                return f"TRY_CAST(CASE WHEN {text} RLIKE {form} THEN {text} END AS {target})"
            case DataType.DOUBLE, DataType.INTEGER:
                low, high = self.real(-(2.0**63)), self.real(2.0**63)
                return f"BIGINT(CASE WHEN {text} > {low} AND {text} < {high} THEN RINT({text}) END)"
            case DataType.INTEGER, DataType.BOOLEAN:
                return f"({text} <> 0L)"
        return f"CAST({text} AS {target})"

    def scaled(self, text: str, exponent: int) -> str:
        """``rint`` rounds halves to even; a conversion alone would cut."""
        return f"BIGINT(RINT({text} * {self.real(math.ldexp(1.0, -exponent))}))"

    def wide_sum(self, text: str) -> str:
        """Sums of three digits of 21 bits each, put together as a DECIMAL of 38 places.

        Numerics: x is (x >> 42) * 2**42 + (x >> 21 & mask) * 2**21 + (x & mask) for negative x
        too. For |x| < 2**62 the digits are at most 2**21 in magnitude, so up to 2**42 rows of a
        group cannot overflow a BIGINT, and the whole is below 2**104.
        """
        whole, mask = f"BIGINT({text})", (1 << _DIGIT) - 1
        digits = (
            f"SHIFTRIGHT({whole}, {2 * _DIGIT})",
            f"(SHIFTRIGHT({whole}, {_DIGIT}) & {mask}L)",
            f"({whole} & {mask}L)",
        )
        sums = " + ".join(
            f"CAST(SUM({digit}) AS DECIMAL(20,0)) * CAST({1 << weight * _DIGIT} AS DECIMAL(14,0))"
            for digit, weight in zip(digits, (2, 1, 0), strict=True)
        )
        return f"CAST(COALESCE({sums}, 0) AS DECIMAL(38,0))"

    def shared_widely(self, text: str, weight: str, divisor: int) -> str:
        """By decimals: 19 and 18 digits make 37. DIV cuts towards zero and gives a BIGINT."""
        product = f"CAST({text} AS DECIMAL(19,0)) * CAST({weight} AS DECIMAL(18,0))"
        return f"({product} DIV CAST({divisor} AS DECIMAL(19,0)))"

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
        """A separator is a regular expression here, and places count from nought."""
        plain = "".join(
            letter if letter.isalnum() or not letter.isascii() else rf"\{letter}"
            for letter in separator
        )
        listed = f"SLICE(SPLIT({text}, {self.text(plain)}, -1), 1, {most})"
        part, place = names
        inside = f"({rows}) AS q LATERAL VIEW {'OUTER ' if kept else ''}POSEXPLODE({listed}) u"
        return f"(SELECT q.*, {part}, n + 1 AS {place} FROM {inside} AS n, {part}) AS q"

    def with_rows(self, name: str, text: str) -> None:
        """Spark has no word for it: what is named may be read again, after somebody wrote to it."""

    def halves(self, text: str) -> tuple[str, str]:
        """Floored quotient and remainder of a DECIMAL; the low half is never negative."""
        half = f"CAST({1 << 62} AS DECIMAL(38,0))"
        low = f"PMOD({text}, {half})"
        return f"BIGINT((({text}) - {low}) DIV {half})", f"BIGINT({low})"

    def hash(self, texts: Sequence[str], salt: int) -> str:
        """Each argument is hashed under the hash of those before it, the salt first."""
        words = [
            _signed(salt >> 64 * place & (1 << 64) - 1)
            for place in range(max(1, -(-salt.bit_length() // 64)))
        ]
        return f"XXHASH64({', '.join([*words, *texts])})"

    def hash_number(self, text: str) -> str:
        return f"(({text}) & {(1 << 60) - 1}L)"

    def digest(self, text: str) -> str:
        return f"SHA2({text}, 256)"

    def digest_number(self, text: str) -> str:
        return f"BIGINT(CONV(SUBSTRING({text}, 1, 15), 16, 10))"


def _is_collated(stored: str) -> bool:
    return " collate " in stored.lower()


def _signed(word: int) -> str:
    """64 bits as a BIGINT; the lowest has no literal of its own."""
    value = word - (1 << 64) if word >= 1 << 63 else word
    return f"({value + 1}L - 1L)" if value == -(1 << 63) else f"({value}L)"
