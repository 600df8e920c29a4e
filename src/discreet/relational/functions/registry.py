"""The allow-list: which names analysts may call, and what they mean. Nothing else is a function.

Some arguments must be constants (a unit, a number of digits, a pattern): they make the function,
and the remaining arguments are what it is applied to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.relational.functions import (
    angles,
    arithmetic,
    choice,
    comparison,
    logic,
    powers,
    rounding,
    text_parts,
)
from discreet.relational.functions.bins import binned, bucket
from discreet.relational.functions.calendar import PARTS, difference, part, truncated
from discreet.relational.functions.function import Function
from discreet.relational.functions.regular_expressions import matches
from discreet.relational.functions.shifts import MAKE_DATE
from discreet.relational.functions.text import (
    CONCAT,
    CONTAINS,
    ENDS_WITH,
    LENGTH,
    LOWER,
    MAX_JOINED,
    REVERSE,
    STARTS_WITH,
    UPPER,
    replaced,
    substring,
    trimmed,
)


@dataclass(frozen=True)
class FunctionEntry:
    """A callable name: which arguments are constants, and the function they make."""

    make: Callable[..., Function]
    constants: frozenset[int] = frozenset()
    min_arguments: int = 1
    max_arguments: int = 1


def _plain(function: Function, low: int = 1, high: int | None = None) -> FunctionEntry:
    return FunctionEntry(lambda: function, frozenset(), low, low if high is None else high)


def _make_entry_with_constants(
    make: Callable[..., Function], constants: set[int], low: int, high: int
) -> FunctionEntry:
    return FunctionEntry(make, frozenset(constants), low, high)


def _round(digits: int = 0) -> Function:
    return rounding.rounded_to(digits) if digits != 0 else rounding.ROUND


def _normalise_unit_name(unit: object) -> str:
    """Units are written in any case, and in the plural."""
    name = str(unit).lower()
    return {
        "dayofweek": "dow",
        "weekday": "dow",
        "dayofyear": "doy",
        "dayofmonth": "day",
        "weekofyear": "week",
    }.get(name, name.removesuffix("s"))


_MATCHING = ("regexp_matches", "regexp_like", "regexp_contains")
"""Three names of one function; DuckDB's operator ~ is another one, and PostgreSQL's a third."""
_SIDES = {"trim": "both", "ltrim": "leading", "rtrim": "trailing"}

_ENTRIES: dict[str, FunctionEntry] = {
    "abs": _plain(arithmetic.ABSOLUTE),
    "sign": _plain(arithmetic.SIGN),
    "mod": _plain(arithmetic.REMAINDER, 2),
    "floor": _plain(rounding.FLOOR),
    "ceil": _plain(rounding.CEIL),
    "ceiling": _plain(rounding.CEIL),
    "trunc": _plain(rounding.TRUNC),
    "round": _make_entry_with_constants(_round, {1}, 1, 2),
    "sqrt": _plain(powers.SQRT),
    "ln": _plain(powers.LN),
    "log": _plain(powers.LOG10),
    "log10": _plain(powers.LOG10),
    "log2": _plain(powers.LOG2),
    "exp": _plain(powers.EXP),
    "power": _plain(powers.POWER, 2),
    "pow": _plain(powers.POWER, 2),
    **{function.name: _plain(function) for function in angles.FUNCTIONS},
    "least": _plain(choice.LEAST, 1, choice.MAX_EXTREMES),
    "greatest": _plain(choice.GREATEST, 1, choice.MAX_EXTREMES),
    "coalesce": _plain(choice.COALESCE, 1, choice.MAX_ALTERNATIVES),
    "ifnull": _plain(choice.COALESCE, 2),
    "nullif": _plain(choice.NULLIF, 2),
    "lower": _plain(LOWER),
    "upper": _plain(UPPER),
    "length": _plain(LENGTH),
    "reverse": _plain(REVERSE),
    **dict.fromkeys(_MATCHING, _make_entry_with_constants(matches, {1}, 2, 2)),
    "concat": _plain(CONCAT, 1, MAX_JOINED),
    "starts_with": _plain(STARTS_WITH, 2),
    "prefix": _plain(STARTS_WITH, 2),
    "ends_with": _plain(ENDS_WITH, 2),
    "suffix": _plain(ENDS_WITH, 2),
    "contains": _plain(CONTAINS, 2),
    "substring": _make_entry_with_constants(substring, {1, 2}, 2, 3),
    "right": _make_entry_with_constants(text_parts.right, {1}, 2, 2),
    "lpad": _make_entry_with_constants(
        lambda *given: text_parts.padded("leading", *given), {1, 2}, 2, 3
    ),
    "rpad": _make_entry_with_constants(
        lambda *given: text_parts.padded("trailing", *given), {1, 2}, 2, 3
    ),
    "split_part": _make_entry_with_constants(text_parts.split_part, {1, 2}, 3, 3),
    "position": _plain(text_parts.POSITION, 2),
    "strpos": _plain(text_parts.POSITION, 2),
    "instr": _plain(text_parts.POSITION, 2),
    "left": _make_entry_with_constants(lambda length: substring(1, length), {1}, 2, 2),
    "replace": _make_entry_with_constants(replaced, {1, 2}, 3, 3),
    **{
        name: _make_entry_with_constants(
            lambda letters=" ", side=side: trimmed(side, letters), {1}, 1, 2
        )
        for name, side in _SIDES.items()
    },
    **{name: _plain(part(name)) for name in PARTS},
    "dayofweek": _plain(part("dow")),
    "weekday": _plain(part("dow")),
    "dayofmonth": _plain(part("day")),
    "dayofyear": _plain(part("doy")),
    "weekofyear": _plain(part("week")),
    "date_part": _make_entry_with_constants(
        lambda name: part(_normalise_unit_name(name)), {0}, 2, 2
    ),
    "date_trunc": _make_entry_with_constants(
        lambda unit: truncated(_normalise_unit_name(unit)), {0}, 2, 2
    ),
    "date_diff": _make_entry_with_constants(
        lambda unit: difference(_normalise_unit_name(unit)), {0}, 3, 3
    ),
    "make_date": _plain(MAKE_DATE, 3),
    "bin": _make_entry_with_constants(binned, {1, 2, 3}, 4, 4),
    "width_bucket": _make_entry_with_constants(bucket, {1, 2, 3}, 4, 4),
}

FUNCTIONS: Mapping[str, FunctionEntry] = _ENTRIES
"""By lower-case SQL name."""

OPERATORS: Mapping[str, Function] = {
    "+": arithmetic.ADD,
    "-": arithmetic.SUBTRACT,
    "*": arithmetic.MULTIPLY,
    "/": arithmetic.DIVIDE,
    "//": arithmetic.CUT,
    "%": arithmetic.REMAINDER,
    "^": powers.POWER,
    **{function.name: function for function in comparison.FUNCTIONS[:6]},
    "is distinct from": comparison.DISTINCT,
    "is not distinct from": comparison.NOT_DISTINCT,
    "||": CONCAT,
    "and": logic.AND,
    "or": logic.OR,
    "not": logic.NOT,
}
"""By the sign or word between or before the arguments."""
