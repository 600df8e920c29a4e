"""Calls of aggregate functions, however the parser names them: which function, which arguments.

The parser has classes of its own for some functions and takes the others for calls by name. Those
that the registry knows are marked as aggregates right after parsing, so that every later step
finds aggregates by one class.

Source: contract, "What may be seen" (nothing is ignored, nothing is passed through).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.aggregates.function import AggregateFunction
from discreet.relational.aggregates.registry import FUNCTIONS, NAMES
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.wording import construct


@dataclass(frozen=True)
class AggregateCall:
    """A function with as many arguments as it takes; ``title`` names it in refusals."""

    function: AggregateFunction
    title: str
    arguments: tuple[exp.Expression, ...]
    descending: bool = False


def mark_aggregate_calls(tree: exp.Expression) -> exp.Expression:
    """The tree with calls by the name of an aggregate as aggregates."""
    named = [node for node in tree.find_all(exp.Anonymous) if node.name.upper() in NAMES]
    for node in named:
        made = exp.AnonymousAggFunc(this=node.name, expressions=node.expressions)
        if node is tree:
            return made
        node.replace(made)
    return tree


def called(name: str, *arguments: exp.Expression) -> exp.Expression:
    """The call of a function of the registry, as the parser would have read it."""
    assert name in NAMES
    made: Any = exp.func(name, *arguments, dialect="duckdb")
    return mark_aggregate_calls(made)


def call_of(node: exp.Expression) -> AggregateCall:
    """What a node calls; refused if it is no aggregate that the registry knows."""
    if isinstance(node, exp.WithinGroup):
        return _within_group(node)
    function = _function(node)
    if function is None:
        raise not_understood(node)
    arguments = _arguments(node)
    if function.several is not None and len(arguments) > len(function.arguments):
        construct, remedy = function.several
        raise unsupported(construct=construct, remedy=remedy)
    if len(arguments) != len(function.arguments):
        raise not_understood(node)
    return AggregateCall(function, title(node), arguments)


def _within_group(node: exp.WithinGroup) -> AggregateCall:
    """``NAME(level) WITHIN GROUP (ORDER BY x)``, as if it were ``NAME(x, level)``."""
    function, level = _function(node.this), _arguments(node.this)
    order = node.expression.expressions if isinstance(node.expression, exp.Order) else []
    if function is None or not function.ordered or len(level) != 1 or len(order) != 1:
        raise not_understood(node)
    (term,) = order
    return AggregateCall(
        function, title(node), (term.this, *level), descending=bool(term.args.get("desc"))
    )


def _function(node: exp.Expression) -> AggregateFunction | None:
    if isinstance(node, exp.AnonymousAggFunc):
        return NAMES.get(node.name.upper())
    names = type(node).sql_names() if isinstance(node, exp.AggFunc) else []
    return next((NAMES[name] for name in names if name in NAMES), None)


def _arguments(node: exp.Expression) -> tuple[exp.Expression, ...]:
    """What stands between the brackets, in its order; COUNT() means COUNT(*)."""
    if isinstance(node, exp.AnonymousAggFunc):
        return tuple(node.expressions)
    found: list[object] = []
    for key in type(node).arg_types:
        value = node.args.get(key)
        found += value if isinstance(value, list) else [value]
    given = tuple(part for part in found if isinstance(part, exp.Expression))
    return given or ((exp.Star(),) if isinstance(node, exp.Count) else ())


def title(node: exp.Expression) -> str:
    """The name of a function, in refusals."""
    return (node.name if isinstance(node, exp.AnonymousAggFunc) else node.key).upper()


def not_understood(node: exp.Expression) -> InvalidParameter:
    """The refusal of an aggregate that there is not, or not with these arguments."""
    *usual, last = [function.names[0] for function in FUNCTIONS if function.usual]
    return unsupported(
        construct=construct(node).split("(")[0].upper(),
        remedy=f"Use {', '.join(usual)} or {last}.",
    )
