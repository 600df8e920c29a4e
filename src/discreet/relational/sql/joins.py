"""What a join compares: kinds, sides, identifiers of people, keys of routes.

Source: contract, "Units and neighbours". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.relational.functions.comparison import EQUAL
from discreet.relational.plan.nodes import JoinKind, Rows, Scan, identifies
from discreet.relational.sql.relation import Relation, unsupported
from discreet.relational.types.expression import Call, Column, Expression, columns


def comparable(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both sides of an equality in the one kind in which they are compared."""
    first, second = Call(EQUAL, (left, right)).args
    return first, second


def join_kind(join: exp.Join) -> JoinKind:
    """Inner or left; every other join is refused by name."""
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if join.args.get("method") or join.args.get("match_condition"):
        raise unsupported(construct=f"{join.method} JOIN", remedy="Use JOIN ... ON or USING.")
    if side == "LEFT" and kind in ("", "OUTER"):
        return JoinKind.LEFT
    if side == "" and kind in ("", "INNER"):
        if join.args.get("on") is None and not join.args.get("using"):
            raise unsupported(
                construct="a join without ON", remedy="Say ON which columns the tables are joined."
            )
        return JoinKind.INNER
    raise unsupported(construct=f"{side} {kind} JOIN".strip(), remedy="Use JOIN or LEFT JOIN.")


def conjuncts(node: exp.Expression) -> list[exp.Expression]:
    """The conditions that AND joins."""
    if isinstance(node, exp.Paren):
        return conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*conjuncts(node.this), *conjuncts(node.expression)]
    return [node]


def within(expression: Expression, relation: Relation) -> bool:
    """Whether an expression reads columns of one side, and no others."""
    used = columns(expression)
    seen = frozenset().union(*(columns(column.expression) for column in relation.columns))
    return bool(used) and used <= seen


def owners(left: Expression, right: Expression, a: Rows, b: Rows) -> bool:
    """Whether two expressions are the identifiers of the two sides."""
    return (
        isinstance(left, Column)
        and isinstance(right, Column)
        and identifies(left.name, a)
        and identifies(right.name, b)
    )


def routed(left: Expression, right: Expression, a: Rows, b: Rows) -> bool:
    """Whether two columns are the key by which one side reaches the person through the other."""
    for scan, other, own, met in ((a, b, left, right), (b, a, right, left)):
        if (
            isinstance(scan, Scan)
            and isinstance(other, Scan)
            and scan.route is not None
            and scan.route.table.lower() == other.table.lower()
            and own == Column(scan.column(scan.route.key), own.facts)
            and met == Column(other.column(scan.route.key), met.facts)
        ):
            return True
    return False
