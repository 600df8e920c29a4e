"""Aggregates and window functions over released values: which there are, with which arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.post_processing.outer_aggregates import NAMES, OuterAggregate
from discreet.relational.post_processing.tables import ColumnRole, TableNode
from discreet.relational.post_processing.windows import (
    NEIGHBOURS,
    RANKS,
    AnswerOrder,
    Window,
    WindowFrame,
)
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.parsed import only
from discreet.relational.sql.relation import unsupported
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression

Resolve = Callable[[exp.Column], Expression]
_REMEDY = f"Over released numbers there are {', '.join((*NAMES, *RANKS, *NEIGHBOURS))}."
_MOST_ARGUMENTS = {"LAG": 3, "LEAD": 3, "NTILE": 1, "FIRST_VALUE": 1, "LAST_VALUE": 1}


def _name(node: exp.Expression) -> str:
    if isinstance(node, exp.AnonymousAggFunc | exp.Anonymous):
        return str(node.this).upper()
    return node.sql_name().upper() if isinstance(node, exp.Func) else type(node).__name__.upper()


def _arguments(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, exp.AnonymousAggFunc | exp.Anonymous):
        return list(node.expressions)
    found: list[Any] = []
    for key in type(node).arg_types:
        value = node.args.get(key)
        found += value if isinstance(value, list) else [value]
    return [each for each in found if isinstance(each, exp.Expression)]


def outer_aggregate(node: exp.Expression, resolve: Resolve) -> tuple[OuterAggregate, DataType]:
    """An aggregate of released values, and the kind of its result."""
    condition = None
    if isinstance(node, exp.Filter):
        condition = expression_from(node.expression.this, resolve)
        node = node.this
    name, arguments = _name(node), _arguments(node)
    if name not in NAMES or len(arguments) > 1:
        raise unsupported(construct=f"{name} of released values", remedy=_REMEDY)
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        if len(arguments[0].expressions) != 1:
            raise unsupported(construct=f"{name}(DISTINCT a, b)", remedy="Name one column.")
        arguments = list(arguments[0].expressions)
    if name == "COUNT" and (not arguments or isinstance(arguments[0], exp.Star)):
        return OuterAggregate("COUNT", None, condition, distinct=False), DataType.INTEGER
    if not arguments:
        raise unsupported(construct=f"{name} of nothing", remedy="Name a column.")
    argument = expression_from(arguments[0], resolve)
    _require_number(name, argument)
    return OuterAggregate(name, argument, condition, distinct), _kind(name, argument)


def _require_number(name: str, argument: Expression) -> None:
    kind = argument.domain.kind
    ordered = name in ("MIN", "MAX", "COUNT", *NEIGHBOURS)
    if not ordered and not kind.is_number and not argument.domain.empty:
        raise InvalidParameter(
            code="type_clash",
            expectation=f"a number for {name}",
            received=kind.name,
            remedy="Convert it with CAST, or count it.",
        )


def _kind(name: str, argument: Expression) -> DataType:
    if name == "COUNT":
        return DataType.INTEGER
    return DataType.DOUBLE if name in ("AVG", "MEDIAN") else argument.domain.kind


def window_call(
    node: exp.Window, resolve: Resolve, source: TableNode
) -> tuple[Window, DataType, ColumnRole]:
    """A window function over released rows, the kind of its result, and its role."""
    only(node, "this", "partition_by", "order", "spec", ignored=("over",))
    if node.args.get("alias") or str(node.args.get("over") or "OVER").upper() != "OVER":
        raise unsupported(construct="a named window", remedy="Write OVER (...) out.")
    function, condition = node.this, None
    if isinstance(function, exp.Filter):
        condition = expression_from(function.expression.this, resolve)
        function = function.this
    if isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
        raise unsupported(construct="IGNORE NULLS", remedy="Leave it out.")
    name = _name(function)
    parts = [] if name == "COUNT" and _counts_rows(function) else _arguments(function)
    most = 0 if name in RANKS and name != "NTILE" else _MOST_ARGUMENTS.get(name, 1)
    known = name in NAMES or name in RANKS or name in NEIGHBOURS
    least = 0 if most == 0 or name == "COUNT" else 1
    if not known or not least <= len(parts) <= most or any(map(_is_distinct, parts)):
        raise unsupported(construct=f"{name} over a window of released values", remedy=_REMEDY)
    arguments = tuple(expression_from(part, resolve) for part in parts)
    for argument in arguments[:1]:
        _require_number(name, argument)
    order = node.args.get("order")
    window = Window(
        name=name,
        arguments=arguments,
        condition=condition,
        partition=tuple(
            expression_from(part, resolve) for part in node.args.get("partition_by") or []
        ),
        order=tuple(
            AnswerOrder(
                expression_from(term.this, resolve),
                -1 if term.args.get("desc") else 1,
                bool(term.args.get("nulls_first")),
            )
            for term in (order.expressions if order is not None else [])
        ),
        frame=_frame(node.args.get("spec"), ordered=order is not None),
    )
    if name in RANKS:
        real = name in ("PERCENT_RANK", "CUME_DIST")
        return window, DataType.DOUBLE if real else DataType.INTEGER, ColumnRole.PLACE
    if name in NEIGHBOURS:
        return window, arguments[0].domain.kind, _role(arguments[0], source)
    kind = DataType.INTEGER if not arguments else _kind(name, arguments[0])
    return window, kind, ColumnRole.NUMBER


def _counts_rows(node: exp.Expression) -> bool:
    return node.this is None or isinstance(node.this, exp.Star)


def _is_distinct(node: exp.Expression) -> bool:
    return isinstance(node, exp.Distinct)


def _role(argument: Expression, source: TableNode) -> ColumnRole:
    if isinstance(argument, Column):
        return source.columns[int(argument.name[1:])].role
    return ColumnRole.NUMBER


def _frame(spec: exp.Expression | None, *, ordered: bool) -> WindowFrame:
    """The rows around: up to the row and its equals where there is an order, else all."""
    if spec is None:
        return WindowFrame(None, 0 if ordered else None, peers=True)
    kind = str(spec.args.get("kind") or "").upper()
    start = _end(spec, "start", -1)
    last = _end(spec, "end", 1) if spec.args.get("end") is not None else 0
    if kind != "ROWS" and not ({start, last} <= {None, 0}):
        raise unsupported(construct=f"{kind} BETWEEN numbers", remedy="Write ROWS BETWEEN.")
    if spec.args.get("exclude"):
        raise unsupported(construct="EXCLUDE in a window", remedy="Leave it out.")
    return WindowFrame(start, last, peers=kind != "ROWS")


def _end(spec: exp.Expression, name: str, outward: int) -> int | None:
    """How far from the row: negative before it; None without an end on that side."""
    value, side = spec.args.get(name), str(spec.args.get(f"{name}_side") or "").upper()
    word = value if isinstance(value, str) else ""
    if word.upper() == "CURRENT ROW":
        return 0
    sign = -1 if side == "PRECEDING" else 1
    if word.upper() == "UNBOUNDED" and sign == outward:
        return None
    if isinstance(value, exp.Literal) and value.is_int:
        return sign * int(value.name)
    raise unsupported(
        construct="this frame of a window", remedy="Write ROWS BETWEEN 1 PRECEDING AND CURRENT ROW."
    )
