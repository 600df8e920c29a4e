"""Reading sqlglot's nodes: every part or none, and without recursion where they may be deep."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.registry import FUNCTIONS
from discreet.relational.functions.spelling import HARMLESS, NAMED_REMEDIES, REMEDIES
from discreet.relational.types.expression import MOST_NESTED, MOST_NODES


def bare(node: exp.Expression) -> exp.Expression:
    """The node within parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


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
    while waiting and nodes <= 2 * MOST_NODES and deepest <= MOST_NESTED:
        part, depth = waiting.pop()
        nodes, deepest = nodes + 1, max(deepest, depth)
        for child in part.iter_expressions():
            flat = isinstance(child, exp.Paren) or (
                isinstance(child, exp.And | exp.Or) and isinstance(part, type(child) | exp.Paren)
            )
            waiting.append((child, depth if flat else depth + 1))
    if waiting:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"at most {MOST_NODES} parts in an expression, {MOST_NESTED} deep",
            received=(nodes, deepest),
            remedy="Split the question, or use IN (...) and BETWEEN instead of long chains.",
        )


def only(node: exp.Expression, *read: str, ignored: tuple[str, ...] = ()) -> None:
    """Refuse a node that has a part other than those that are read."""
    for key, value in node.args.items():
        if value not in (None, False, []) and key not in (*read, *ignored, *HARMLESS):
            raise refused(node, "Leave that part out.", f"{_name(node)} with {key}")


def parts(node: exp.Expression, key: str) -> list[exp.Expression]:
    """The nodes under a key, of which there may be none, one or several."""
    value = node.args.get(key)
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _name(node: exp.Expression) -> str:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.this).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else type(node).__name__.lower()


def suggestion(name: str) -> str:
    """What the analyst may have meant by a function that does not exist."""
    close = get_close_matches(name, FUNCTIONS, n=1, cutoff=0.75)
    if name in NAMED_REMEDIES:
        return NAMED_REMEDIES[name]
    if close:
        return f"Did you mean {close[0]}?"
    return "Functions are listed in docs/sql-functions.md; no others are passed to an engine."


def refused(node: exp.Expression, remedy: str = "", name: str = "") -> InvalidParameter:
    """The refusal of a construct, by its public name, with what to write instead."""
    name = name or _name(node)
    return InvalidParameter(
        code="unsupported_sql",
        expectation="SQL that the curator understands",
        received=name,
        remedy=remedy or REMEDIES.get(type(node).__name__) or suggestion(name),
    )
