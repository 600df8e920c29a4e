"""DuckDB's SQL.

Measured on DuckDB 2.0 and relied upon here, each with a test: doubles follow IEEE 754, NaN is
greater than infinity and equal to itself, doubles convert to BIGINT with halves to even, SUM of
BIGINT is an exact HUGEINT. ``nullif`` is a macro that doubles what it is given; week differences
and ``//`` of doubles are not what their names say; none of these is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from discreet.relational.compile.dialect import Dialect, Template, scientific
from discreet.relational.compile.standard import STANDARD, like, nonzero, truth_of_text
from discreet.relational.functions.bins import edges
from discreet.relational.functions.casts import (
    DATE_FORM,
    MOMENT_FORM,
    REAL_FORM,
    WHOLE_FORM,
)
from discreet.relational.functions.patterns import LikePattern
from discreet.relational.functions.regular_expressions import parse_pattern
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call

_KINDS: Mapping[str, DataType] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), DataType.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), DataType.INTEGER),
    # Sums of whole columns are stored so; what does not fit in 63 bits is clamped.
    "HUGEINT": DataType.INTEGER,
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), DataType.DOUBLE),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), DataType.TEXT),
    "BOOLEAN": DataType.BOOLEAN,
    "DATE": DataType.DATE,
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), DataType.TIMESTAMP
    ),
    "TIMESTAMP WITH TIME ZONE": DataType.TIMESTAMP,
}
_FORMS = {
    DataType.INTEGER: WHOLE_FORM,
    DataType.DOUBLE: REAL_FORM,
    DataType.DATE: DATE_FORM,
    DataType.TIMESTAMP: MOMENT_FORM,
}
_NARROW = 1 << 31
_FEW_KEYS = 64
WHOLE_CELLS = 64
"""Below so many cells sums of 128 bits come whole, not in halves: statements are shorter."""
_BYTE = 255
_PLAIN = frozenset(
    {"VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DOUBLE", "DATE"}
)


def _remainder(_: Dialect, call: Call, first: str, second: str) -> str:
    if call.domain.kind is DataType.DOUBLE:
        return f"({first} % {second})"
    return f"({first} % {nonzero(call.args[1].domain, second)})"


def _trim(dialect: Dialect, call: Call, text: str) -> str:
    side, letters = map(str, call.function.parameters)
    name = {"both": "trim", "leading": "ltrim", "trailing": "rtrim"}[side]
    return f"{name}({text}, {dialect.text(letters)})" if letters else text


def _substring(_: Dialect, call: Call, text: str) -> str:
    return f"substring({', '.join([text, *map(str, call.function.parameters)])})"


def _like(dialect: Dialect, call: Call, text: str) -> str:
    pattern = LikePattern(str(call.function.parameters[0]))
    if pattern.searches and not pattern.plain:
        # LIKE of plain pieces finds one after the other; older versions try all places of others.
        return f"regexp_full_match({text}, {dialect.text(pattern.automaton())})"
    return like(dialect, call, text)


def _matches(dialect: Dialect, call: Call, text: str) -> str:
    pattern = parse_pattern(str(call.function.parameters[0])).text(r"\A", r"\z")
    return f"regexp_matches({text}, {dialect.text(pattern)})"


def _part(_: Dialect, call: Call, text: str) -> str:
    return f"CAST(extract({call.function.parameters[0]} FROM {text}) AS BIGINT)"


def _truncate(dialect: Dialect, call: Call, text: str) -> str:
    unit, kind = call.function.parameters[0], call.domain.kind
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
    kind = call.domain.kind
    assert isinstance(amount, int)
    # Not both as sums: DuckDB holds a month and thirty days for one constant, and then computes
    # one of the two in place of the other (its optimiser `common_subexpressions`).
    move = f"+ to_months({amount})" if unit == "month" else f"- to_{unit}s({-amount})"
    moved = f"CAST({text} {move} AS {dialect.types[kind]})"
    if call.function.result(call.args[0].domain).bounded:
        return moved
    low, high = (dialect.literal(end) for end in limits(ColumnDomain(kind)))
    return f"CASE WHEN {moved} BETWEEN {low} AND {high} THEN {moved} END"


def _make_date(_: Dialect, call: Call, year: str, month: str, day: str) -> str:
    # From the first of the month on; the day exists if that leads to no other month.
    years = f"CASE WHEN {year} BETWEEN 1 AND 9999 THEN {year} END"
    months = f"CASE WHEN {month} BETWEEN 1 AND 12 THEN {month} END"
    days = f"CAST(CASE WHEN {day} BETWEEN 1 AND 31 THEN {day} END - 1 AS INTEGER)"
    whole = f"(make_date({years}, {months}, 1) + {days})"
    return f"CASE WHEN extract(month FROM {whole}) = {month} THEN {whole} END"


def _bin(dialect: Dialect, call: Call, text: str) -> str:
    # Written with the value twice: inside its bounds a quotient is no NULL, which LEAST leaves out.
    low, high, count = call.function.parameters
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    assert isinstance(count, int)
    start, end, bins = (dialect.real(float(part)) for part in (low, high, count))
    span, last = (dialect.real(part) for part in (float(high) - float(low), float(count - 1)))
    place = f"least(floor(({text} - {start}) * {bins} / {span}), {last})"
    edge = edges(low, high, count)
    if call.domain.kind is DataType.INTEGER:
        width = dialect.literal(edge(1) - edge(0))
        value = f"{dialect.literal(low)} + CAST({place} AS BIGINT) * {width}"
    else:
        value = f"{start} + {place} * {span} / {bins}"
    return f"CASE WHEN {text} BETWEEN {start} AND {end} THEN {value} END"


_TEMPLATES: Mapping[str, Template] = {
    "bin": _bin,
    "remainder": _remainder,
    "length": "length({0})",
    "trim": _trim,
    "substring": _substring,
    "like": _like,
    "regexp_matches": _matches,
    # Its own reverse keeps letters together that combine with others.
    "reverse": "array_to_string(list_reverse(string_split({0}, '')), '')",
    "part": _part,
    "truncate": _truncate,
    "difference": _difference,
    "shift": _shift,
    "make_date": _make_date,
}


class DuckDBDialect(Dialect):
    """Text for DuckDB 2."""

    templates: ClassVar[Mapping[str, Template]] = {**STANDARD, **_TEMPLATES}
    types: ClassVar[Mapping[DataType, str]] = {**Dialect.types, DataType.DOUBLE: "DOUBLE"}
    bytes: ClassVar[str] = "strlen"

    def kind_of(self, stored: str) -> DataType | None:
        """The kind of a stored type; nested types, TIME, INTERVAL, BLOB and JSON have none.

        >>> DuckDBDialect().kind_of("DECIMAL(18,3)")
        <DataType.DOUBLE: 'real number'>
        """
        name = stored.upper()
        if name.endswith("]"):
            return None
        return _KINDS.get(name.partition("(")[0].strip())

    def literal(self, value: object) -> str:
        """Parsing takes time: whole numbers beyond 32 bits have 64 by themselves."""
        if type(value) is not int:
            return super().literal(value)
        if _NARROW < abs(value) < 1 << 63:
            return self.bound(value)
        return f"{self.bound(value)}::BIGINT"

    def bound(self, value: object) -> str:
        """A plain whole number takes the type of what stands beside it, or a wider one."""
        if type(value) is not int:
            return self.literal(value)
        return str(value) if value >= 0 else f"({value})"

    def real(self, value: float) -> str:
        """Scientific notation is a double here."""
        text = scientific(value)
        return f"({text})" if text.startswith("-") else text

    def finite(self, text: str) -> str:
        """The function is faster than two comparisons."""
        return f"CASE WHEN isfinite({text}) THEN {text} END"

    def whole_if(self, kind: DataType, text: str) -> str:
        """NULL where the proof was wrong: no value makes a conversion fail."""
        return f"TRY_CAST({text} AS {self.types[kind]})" if kind is DataType.INTEGER else text

    def whole_quotient(self, first: str, second: str) -> str:
        """``/`` is the division of doubles here."""
        return f"({first} // {second})"

    def opened(self, text: str, stored: str) -> str:
        """Zones taken in UTC, and text without its collation."""
        kind = self.kind_of(stored)
        if "TIME ZONE" in stored.upper():
            text = f"({text} AT TIME ZONE 'UTC')"
        elif kind in (DataType.TIMESTAMP, DataType.TEXT) and stored.upper() != self.types[kind]:
            text = f"TRY_CAST({text} AS {self.types[kind]})"
        # A column may carry a collation under which different texts are equal.
        return f"({text} COLLATE C)" if kind is DataType.TEXT else text

    def comparable(self, text: str, kind: DataType) -> str:
        """Opened text is VARCHAR."""
        return text if kind is DataType.TEXT else super().comparable(text, kind)

    def cell(self, text: str, cells: int) -> str:
        """Of one byte where that is enough: such groups have places, and no table is hashed."""
        return f"({text})::UTINYINT" if cells <= _BYTE else text

    def code(self, text: str, values: Sequence[object], kind: DataType) -> str | None:
        """An ENUM of a few texts: planning a join takes longer than looking them up."""
        if kind is not DataType.TEXT or not 0 < len(values) <= _FEW_KEYS:
            return None
        texts = list(map(str, values))
        if any("\0" in value for value in texts):
            return None
        listed = ", ".join(map(self.text, texts))
        return f"enum_code(TRY_CAST({text} AS ENUM({listed})))::BIGINT"

    def compares(self, stored: str) -> bool:
        """The types whose comparison with a key needs no conversion."""
        return stored.upper() in _PLAIN

    def adds(self, stored: str) -> bool:
        """Every real type: comparisons convert it to a double."""
        return self.kind_of(stored) is DataType.DOUBLE

    def infinity(self) -> str:
        return "CAST('Infinity' AS DOUBLE)"

    def cast(self, text: str, source: DataType, kind: DataType) -> str:
        """Total conversions; text is held to our own forms before DuckDB reads it."""
        target = self.types[kind]
        match source, kind:
            case DataType.TEXT, DataType.BOOLEAN:
                return truth_of_text(self, text)
            case (
                DataType.TEXT,
                DataType.INTEGER | DataType.DOUBLE | DataType.DATE | DataType.TIMESTAMP,
            ):
                form = self.text(_FORMS[kind])
                return (
                    f"TRY_CAST(CASE WHEN regexp_full_match({text}, {form}) THEN {text} END "
                    f"AS {target})"
                )
            case DataType.DOUBLE, DataType.INTEGER:
                low, high = self.real(-(2.0**63)), self.real(2.0**63)
                return (
                    f"CAST(CASE WHEN {text} > {low} AND {text} < {high} THEN {text} END "
                    f"AS {target})"
                )
            case DataType.INTEGER, DataType.BOOLEAN:
                return f"({text} <> 0)"
        return f"CAST({text} AS {target})"

    def wide_sum(self, text: str) -> str:
        """128 bits hold 2**64 numbers of 2**62."""
        return f"COALESCE(SUM({text}), 0)"

    def shared_widely(self, text: str, weight: str, divisor: int) -> str:
        """In 128 bits."""
        product = f"(CAST({text} AS HUGEINT) * CAST({weight} AS HUGEINT))"
        return f"CAST({product} // CAST({divisor} AS HUGEINT) AS BIGINT)"

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
        """Beside each other two lists are unnested together."""
        listed = f"string_split({text}, {self.text(separator)})[1:{most}]"
        if kept:
            listed = f"COALESCE({listed}, [CAST(NULL AS VARCHAR)])"
        part, place = names
        return (
            f"(SELECT q.*, unnest({listed}) AS {part}, "
            f"unnest(generate_series(1, len({listed}))) AS {place} FROM ({rows}) AS q) AS q"
        )

    def first(self, text: str, letters: int) -> str:
        """Unlike ``left``, this is computed once for each value of a dictionary."""
        return f"substring({text}, 1, {letters})"

    def is_text(self, stored: str) -> bool:
        """VARCHAR; the values of an ENUM are its own."""
        return stored.upper().startswith("VARCHAR")

    def identity(self, text: str, stored: str) -> str:
        """Text without its collation, and without the list of an ENUM; other types as they are."""
        if stored.upper().startswith("ENUM") and self.kind_of(stored) is DataType.TEXT:
            text = f"CAST({text} AS VARCHAR)"
        elif not stored.upper().startswith("VARCHAR"):
            return text
        return f"({text} COLLATE C)"

    def spelled(self, text: str, stored: str) -> str:
        """Decimals in full: a zero before the point, none at the end."""
        found = re.fullmatch(r"DECIMAL\(([0-9]+),([0-9]+)\)", stored.upper())
        if found is None:
            return super().spelled(text, stored)
        precision, scale = map(int, found.groups())
        digits = f"CAST({text} AS VARCHAR)"
        if precision == scale:
            digits = rf"regexp_replace({digits}, '^(-?)[.]', '\10.')"
        return f"rtrim(rtrim({digits}, '0'), '.')" if scale else digits

    def sums_whole(self, cells: int) -> bool:
        """Few rows come as numbers of any size."""
        return cells < WHOLE_CELLS

    def halves(self, text: str) -> tuple[str, str]:
        """Shifts and masks of a HUGEINT; the low half is never negative."""
        return f"({text} >> 62)::BIGINT", f"({text} & {(1 << 62) - 1})::BIGINT"

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

    def hash_number(self, text: str) -> str:
        return f"CAST(({text}) >> 4 AS BIGINT)"

    def digest(self, text: str) -> str:
        return f"sha256({text})"

    def digest_number(self, text: str) -> str:
        return f"CAST('0x' || substring({text}, 1, 15) AS BIGINT)"
