"""How Spark writes the functions that it writes differently.

With ANSI mode off no operation here fails on a row; what would wrap around is brought into range
before. ``floor`` and ``ceil`` of a double are a BIGINT in Spark, and ``upper`` and ``lower``
change the number of letters and look at neighbours: letters are translated one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from discreet.relational.compile.dialect import Dialect, Template
from discreet.relational.functions.intervals import interval, is_safe_whole
from discreet.relational.functions.patterns import LikePattern
from discreet.relational.functions.regular_expressions import parse_pattern
from discreet.relational.functions.text import lowered, uppered
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call

_CLOCK = {"hour": 3600, "minute": 60, "second": 1}
_EPOCH = 62_135_596_800
"""Seconds from the first moment of the year 1 to 1970."""
_LETTERS = 0x20000
"""No letter from here on has another case."""


@cache
def _cases(change: Callable[[str], str]) -> tuple[str, str]:
    """Every letter that ``change`` changes, and what it becomes."""
    letters = [chr(code) for code in range(_LETTERS) if not 0xD800 <= code <= 0xDFFF]
    changed = [letter for letter in letters if change(letter) != letter]
    return "".join(changed), "".join(map(change, changed))


def _case(name: str, change: Callable[[str], str]) -> Template:
    def template(dialect: Dialect, call: Call, text: str) -> str:
        before, after = map(dialect.text, _cases(change))
        # Where every letter is one byte, Spark's own function is right and faster.
        return (
            f"CASE WHEN OCTET_LENGTH({text}) = CHAR_LENGTH({text}) THEN {name}({text}) "
            f"ELSE TRANSLATE({text}, {before}, {after}) END"
        )

    return template


def _rounding(whole: str) -> Template:
    """A function to BIGINT; doubles of 2**52 and more, or not finite, are whole already."""

    def template(dialect: Dialect, call: Call, text: str) -> str:
        if call.args[0].domain.kind is DataType.INTEGER:
            return text
        rounded = whole.format(text)
        if call.domain.kind is DataType.INTEGER:
            return rounded
        limit = dialect.real(2.0**52)
        return f"CASE WHEN ABS({text}) < {limit} THEN DOUBLE({rounded}) ELSE {text} END"

    return template


_HALF_AWAY = "(BIGINT({0}) + BIGINT(({0} - BIGINT({0})) * 2E0))"
"""What is cut off is exact, and so is its double, whose whole part is -1, 0 or 1."""


def _round_to(dialect: Dialect, call: Call, text: str) -> str:
    (digits,) = call.function.parameters
    assert isinstance(digits, int)
    scale = 10 ** abs(digits)
    if call.args[0].domain.kind is DataType.INTEGER:
        if digits >= 0:
            return text
        half, whole = dialect.literal(scale // 2), dialect.literal(scale)
        nudged = f"({text} + CASE WHEN {text} < 0L THEN -{half} ELSE {half} END)"
        return f"({dialect.whole_quotient(nudged, whole)} * {whole})"
    real = dialect.real(float(scale))
    shifted = f"({text} * {real})" if digits > 0 else f"({text} / {real})"
    limit = dialect.real(2.0**52)
    rounded = (
        f"CASE WHEN ABS({shifted}) < {limit} THEN DOUBLE({_HALF_AWAY.format(shifted)}) "
        f"ELSE {shifted} END"
    )
    if digits > 0:
        return f"({rounded} / {real})"
    return dialect.whole_if(call.domain.kind, f"({rounded} * {real})")


def _cast(dialect: Dialect, call: Call, text: str) -> str:
    (kind,) = call.function.parameters
    assert isinstance(kind, DataType)
    domain = call.args[0].domain
    if (domain.kind, kind) == (DataType.DOUBLE, DataType.INTEGER) and is_safe_whole(
        interval(domain)
    ):
        return f"BIGINT(RINT({text}))"
    return dialect.cast(text, domain.kind, kind)


def _like(dialect: Dialect, call: Call, text: str) -> str:
    pattern = LikePattern(str(call.function.parameters[0]))
    inside = pattern.plain and pattern.pieces[::2] == ("", "")
    if pattern.searches and not inside:
        # Spark looks for the text of %text% by itself; else Java would try all places of all.
        whole = dialect.text(rf"\A{pattern.committed()}\z")
        return f"({text} RLIKE {whole})"
    # Without ESCAPE a backslash would escape.
    return f"({text} LIKE {dialect.text(pattern.text)} ESCAPE '!')"


def _matches(dialect: Dialect, call: Call, text: str) -> str:
    """Java comes back to what it tried, but for what is marked."""
    pattern = parse_pattern(str(call.function.parameters[0])).text(r"\A", r"\z", "+")
    return f"({text} RLIKE {dialect.text(pattern)})"


def _part(_: Dialect, call: Call, text: str) -> str:
    name = str(call.function.parameters[0])
    match name:
        case "dow":
            return f"BIGINT(DAYOFWEEK({text}) - 1)"
        case "isodow":
            return f"BIGINT(WEEKDAY({text}) + 1)"
        case "week" | "doy":
            return f"BIGINT({'WEEKOFYEAR' if name == 'week' else 'DAYOFYEAR'}({text}))"
    return f"BIGINT({name.upper()}({text}))"


def _truncate(dialect: Dialect, call: Call, text: str) -> str:
    unit = call.function.parameters[0]
    if call.domain.kind is DataType.DATE:
        return text if unit == "day" else f"TRUNC({text}, '{unit}')"
    return f"CAST(DATE_TRUNC('{unit}', {text}) AS {dialect.types[DataType.TIMESTAMP]})"


def _index(unit: str, text: str) -> str:
    """The number of the unit in which a day or moment lies."""
    match unit:
        case "year":
            return f"BIGINT(YEAR({text}))"
        case "quarter":
            return f"BIGINT(YEAR({text}) * 4 + QUARTER({text}))"
        case "month":
            return f"BIGINT(YEAR({text}) * 12 + MONTH({text}))"
        case "week" | "day":
            # Day 1 of the year 1 was a Monday.
            days = f"DATEDIFF({text}, DATE '0001-01-01')"
            return f"({days} DIV 7)" if unit == "week" else f"BIGINT({days})"
    micros = _CLOCK[unit] * 1_000_000
    return f"((UNIX_MICROS(TIMESTAMP({text})) + {_EPOCH * 1_000_000}L) DIV {micros}L)"


def _difference(_: Dialect, call: Call, first: str, second: str) -> str:
    unit = str(call.function.parameters[0])
    return f"({_index(unit, second)} - {_index(unit, first)})"


def _shift(dialect: Dialect, call: Call, text: str) -> str:
    amount, unit = call.function.parameters
    kind = call.domain.kind
    assert isinstance(amount, int)
    match unit, kind:
        case "month", DataType.DATE:
            moved = f"ADD_MONTHS({text}, {amount})"
        case "day", DataType.DATE:
            moved = f"DATE_ADD({text}, {amount})"
        case "second", _:
            days, seconds = divmod(amount, 86_400)
            moved = f"({text} + INTERVAL '{days}' DAY + INTERVAL '{seconds}' SECOND)"
        case _:
            moved = f"({text} + INTERVAL '{amount}' {str(unit).upper()})"
    if call.function.result(call.args[0].domain).bounded:
        return moved
    low, high = (dialect.literal(end) for end in limits(ColumnDomain(kind)))
    return f"CASE WHEN {moved} BETWEEN {low} AND {high} THEN {moved} END"


def _make_date(_: Dialect, call: Call, year: str, month: str, day: str) -> str:
    # Numbers beyond 32 bits would wrap around; a day that does not exist gives NULL.
    parts = [
        f"INT(CASE WHEN {text} BETWEEN 1 AND {most} THEN {text} END)"
        for text, most in ((year, 9999), (month, 12), (day, 31))
    ]
    return f"MAKE_DATE({', '.join(parts)})"


TEMPLATES: Mapping[str, Template] = {
    "remainder": "({0} % {1})",
    "floor": _rounding("FLOOR({0})"),
    "ceil": _rounding("CEIL({0})"),
    "trunc": _rounding("BIGINT({0})"),
    "round": _rounding(_HALF_AWAY),
    "round_to": _round_to,
    "cast": _cast,
    "lower": _case("LOWER", lowered),
    "upper": _case("UPPER", uppered),
    "length": "BIGINT(CHAR_LENGTH({0}))",
    "starts_with": "STARTSWITH({0}, {1})",
    "ends_with": "ENDSWITH({0}, {1})",
    "position": "BIGINT(INSTR({0}, {1}))",
    "like": _like,
    "regexp_matches": _matches,
    "part": _part,
    "truncate": _truncate,
    "difference": _difference,
    "shift": _shift,
    "make_date": _make_date,
}
