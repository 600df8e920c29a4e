"""Reading sqlglot's nodes: every part or none, constants, and refusals by their public names.

Nothing here is recursive: nodes may be deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.aggregates.registry import NAMES as AGGREGATES
from discreet.relational.functions.casts import REAL_FORM, cast
from discreet.relational.functions.comparison import FUNCTIONS as COMPARISONS
from discreet.relational.functions.function import Function
from discreet.relational.functions.registry import FUNCTIONS
from discreet.relational.functions.shifts import MULTIPLES
from discreet.relational.functions.spelling import HARMLESS, NAMED_REMEDIES, REMEDIES
from discreet.relational.sql.tree import children
from discreet.relational.sql.wording import construct, part_words
from discreet.relational.types.data_type import LARGEST_WHOLE, DataType
from discreet.relational.types.expression import (
    MAX_NESTED,
    MAX_NODES,
    Call,
    Expression,
    Literal,
)

_MAX_DIGITS_READ = 300
"""Digits; longer ones are read as reals, which are refused where they are not finite."""


def bare(node: exp.Expression) -> exp.Expression:
    """The node within parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def quantifier(node: exp.Expression) -> str:
    """``any`` or ``all`` where a comparison is with several values at once, else nothing."""
    node = bare(node)
    if isinstance(node, exp.Any | exp.All):
        return type(node).__name__.lower()
    named = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    return {"any": "any", "some": "any", "all": "all"}.get(named, "")


def quantified(node: exp.Expression) -> exp.Expression | None:
    """The values after ANY or ALL, where there is one list of them."""
    node = bare(node)
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
    return bare(given[0]) if len(given) == 1 else None


def chain(node: exp.Expression) -> Iterator[exp.Expression]:
    """The parts of a long AND or OR from left to right, without recursion."""
    kind, waiting = type(node), [node]
    while waiting:
        part = bare(waiting.pop())
        if type(part) is kind:
            only(part, "this", "expression")
            waiting += [part.expression, part.this]
        else:
            yield part


def check_size(node: exp.Expression) -> None:
    """Refuse what recursion could not follow, without recursion."""
    nodes, deepest = 0, 0
    waiting = [(node, 1)]
    while waiting and nodes <= 2 * MAX_NODES and deepest <= MAX_NESTED:
        part, depth = waiting.pop()
        nodes, deepest = nodes + 1, max(deepest, depth)
        for child in children(part):
            flat = isinstance(child, exp.Paren) or (
                isinstance(child, exp.And | exp.Or) and isinstance(part, type(child) | exp.Paren)
            )
            waiting.append((child, depth if flat else depth + 1))
    if waiting:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"at most {MAX_NODES} parts in an expression, {MAX_NESTED} deep",
            received=f"{nodes} parts, {deepest} deep",
            remedy="Split the question, or use IN (...) and BETWEEN instead of long chains.",
        )


def only(node: exp.Expression, *read: str, ignored: tuple[str, ...] = ()) -> None:
    """Refuse a node that has a part other than those that are read."""
    for key, value in node.args.items():
        if value not in (None, False, []) and key not in (*read, *ignored, *HARMLESS):
            raise refused(node, "Leave that part out.", part_words(node, key))


def parts(node: exp.Expression, key: str) -> list[exp.Expression]:
    """The nodes under a key, of which there may be none, one or several."""
    value = node.args.get(key)
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def suggestion(name: str) -> str:
    """What the analyst may have meant by a function that does not exist."""
    known = [*FUNCTIONS, *map(str.lower, AGGREGATES)]
    close = get_close_matches(name, known, n=1, cutoff=0.75)
    if name in NAMED_REMEDIES:
        return NAMED_REMEDIES[name]
    if close:
        return f"Did you mean {close[0]}?"
    return "Functions are listed in docs/sql-functions.md; no others are passed to an engine."


def refused(node: exp.Expression, remedy: str = "", name: str = "") -> InvalidParameter:
    """The refusal of a construct, by its public name, with what to write instead."""
    name = name or construct(node)
    return InvalidParameter(
        code="unsupported_sql",
        expectation="SQL that the curator understands",
        received=name,
        remedy=remedy or REMEDIES.get(type(node).__name__) or suggestion(name),
    )


def number(text: str) -> int | float:
    """The constant that the parser took for a number; what is none is refused."""
    if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS_READ:
        whole = int(text)
        return whole if whole <= LARGEST_WHOLE else float(whole)
    if re.fullmatch(REAL_FORM, text, re.ASCII):
        return float(text)
    raise InvalidParameter(
        code="bad_literal",
        expectation="a number such as 12, 1.5 or 1e3",
        received=text,
        remedy="Put spaces around the signs: 1e3 - 2.",
    )


def missing() -> InvalidParameter:
    """The refusal of a place that was left empty, which the parser may let through."""
    return InvalidParameter(
        code="unsupported_sql",
        expectation="SQL that the curator understands",
        received="a missing argument",
        remedy="Fill the place before or after the comma or the sign.",
    )


def call_of(function: Function, *args: Expression) -> Expression:
    """A call in which constants are read as the kind of value that they stand beside, as SQL does.

    Text beside dates is a date; text beside numbers that are compared is a number, and 1 and 0
    beside truth values are true and false.
    """
    beside = {arg.domain.kind for arg in args if not isinstance(arg, Literal)}
    calendar = any(arg.domain.kind.is_calendar for arg in args)
    if not calendar and function not in COMPARISONS:
        return Call(function, args)
    return Call(
        function,
        tuple(
            _beside(arg, beside, calendar=calendar) if isinstance(arg, Literal) else arg
            for arg in args
        ),
    )


def _beside(constant: Literal, kinds: set[DataType], *, calendar: bool) -> Expression:
    value = constant.value
    if isinstance(value, str):
        if calendar:
            return constant_of(_calendar_kind(value), constant)
        if kinds and all(kind.is_number for kind in kinds):
            return constant_of(_number_kind(value), constant)
    if kinds == {DataType.BOOLEAN} and type(value) is int and value in (0, 1):
        return Literal(bool(value))
    return constant


def _calendar_kind(text: str) -> DataType:
    return DataType.DATE if len(text) == len("2024-01-01") else DataType.TIMESTAMP


def _number_kind(text: str) -> DataType:
    return DataType.INTEGER if text.removeprefix("-").isdigit() else DataType.DOUBLE


def constant_of(kind: DataType, literal: Literal) -> Expression:
    """A constant in another kind; one that cannot be is a mistake, not a NULL."""
    call = Call(cast(kind), (literal,))
    value = call.function.apply([literal.value], kind)
    if value is None and literal.value is not None:
        raise InvalidParameter(
            code="bad_literal",
            expectation=f"a constant that is a {kind.value}",
            received=literal.value,
            remedy="Write 12, 1.5, '2024-12-31' or '2024-12-31 23:59:59'; TRY_CAST gives NULL.",
        )
    return Literal(value, kind)


def interval(node: exp.Interval) -> tuple[int, str]:
    """A whole number of a base unit: seconds, days or months."""
    only(node, "this", "unit")
    amount, unit = bare(node.this), node.args.get("unit")
    sign = 1
    if isinstance(amount, exp.Neg):
        sign, amount = -1, bare(amount.this)
    text = str(amount.this).strip() if isinstance(amount, exp.Literal) else ""
    base = MULTIPLES.get(unit.name.lower().removesuffix("s")) if isinstance(unit, exp.Var) else None
    digits = text.removeprefix("-")
    if base is None or not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        raise refused(node, "Write INTERVAL 30 DAY: a whole constant and one unit.", "INTERVAL")
    name, multiple = base
    return sign * int(text) * multiple, name
