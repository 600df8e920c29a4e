"""Joins: what they compare, and what that makes of the rows of a person.

A private table joins a public one on any columns, another private one on the person, and on
another key where its owner said how many rows a key may have. That bound is declared on the table
that the key's column comes from. It is enforced and not believed: rows beyond it are cut, so a
wrong one costs accuracy and never privacy.

Source: contract, "Units and neighbours"; 004b:A21, 004d:F5, F9, F11. Proof:
``proofs/relational.md``, ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.before_joins import before_people, before_public
from discreet.relational.bounding.key_truncation import JoinedByKey, Truncated
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.functions.casts import cast
from discreet.relational.functions.comparison import EQUAL
from discreet.relational.plan.nodes import (
    Distinct,
    Filtered,
    JoinedPeople,
    JoinKind,
    PlanNode,
    Scan,
    field_of,
    identifies,
)
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.limits import declared_rows, table_rows
from discreet.relational.sql.relation import SQLRelation, Steps, Visible, unsupported
from discreet.relational.types.expression import Call, Column, Expression, columns


@dataclass(frozen=True)
class Joins:
    """Translates the joins of one question."""

    catalog: Catalog
    steps: Steps

    def joined(
        self, left: SQLRelation, right: SQLRelation, join: exp.Join, kind: JoinKind
    ) -> SQLRelation:
        """Rows of both sides, with the stability of the way in which they are joined."""
        both = SQLRelation(left.rows, (*left.columns, *right.columns))
        pairs, rest, visible = self._conditions(left, right, both, join)
        left_private, right_private = left.rows.stability != 0, right.rows.stability != 0
        if left_private and right_private:
            if not _same_people(left, right, pairs):
                return self._by_key(left, right, join, kind)
            if kind is JoinKind.LEFT and not all(_people(left, right, pair) for pair in pairs):
                raise unsupported(
                    construct="LEFT JOIN on the person and more",
                    remedy="Write JOIN, or compute features of the right side per person first.",
                )
            more = tuple(pair for pair in pairs if not owners(*pair, left.rows, right.rows))
            one, two = (declared_rows(side.rows, self.catalog) for side in (left, right))
            sides = before_people(left.rows, right.rows, (one, two))
            rows: PlanNode = JoinedPeople(*sides, kind, more)
        elif right_private:
            if kind is JoinKind.LEFT:
                raise unsupported(
                    construct="LEFT JOIN from a public table to a private one",
                    remedy="Write JOIN: every key of the public table appears anyway.",
                )
            rows = self._public(right.rows, left, [(b, a) for a, b in pairs], kind)
        else:
            rows = self._public(left.rows, right, pairs, kind)
        return SQLRelation(_filtered(rows, rest, kind), visible)

    def _by_key(
        self, left: SQLRelation, right: SQLRelation, join: exp.Join, kind: JoinKind
    ) -> SQLRelation:
        """Private rows joined on another key: both sides bounded by person, then cut by key."""
        left, right = self.steps.disowned(left), self.steps.disowned(right)
        both = SQLRelation(left.rows, (*left.columns, *right.columns))
        pairs, _, _ = self._conditions(left, right, both, join)
        if not pairs:
            raise no_equality()
        left = self._truncated(left, tuple(a for a, _ in pairs), kind)
        right = self._truncated(right, tuple(b for _, b in pairs), JoinKind.INNER)
        assert isinstance(left.rows, Truncated)
        assert isinstance(right.rows, Truncated)
        both = SQLRelation(left.rows, (*left.columns, *right.columns))
        _, rest, visible = self._conditions(left, right, both, join)
        rows: PlanNode = JoinedByKey(left.rows, right.rows, kind)
        return SQLRelation(_filtered(rows, rest, kind), visible)

    def _truncated(
        self, made: SQLRelation, keys: tuple[Expression, ...], kind: JoinKind
    ) -> SQLRelation:
        limit = limit_of(keys, made, self.catalog)

        def truncated(prefix: str, rows: PlanNode, expressions: Any, outputs: Any) -> Truncated:
            return Truncated(prefix, rows, keys, limit, kind, expressions, outputs)

        return self.steps.computed(made, "truncated", truncated)

    def _public(
        self,
        rows: PlanNode,
        public: SQLRelation,
        pairs: list[tuple[Expression, Expression]],
        kind: JoinKind,
    ) -> PlanNode:
        scan = public.rows
        if not isinstance(scan, Scan):
            raise unsupported(
                construct="a public side that is not a plain table",
                remedy="Join the public table itself; prepare it beforehand.",
            )
        partners = self.catalog.partners(scan, tuple(b for _, b in pairs))
        declared = declared_rows(rows, self.catalog) if rows.privacy_id else None
        # Where only people are counted, no number of rows is declared.
        least = table_rows(rows, self.catalog) or 1
        rows = before_public(rows, partners, declared or 1, least)
        return JoinedPublic(rows, scan, tuple(pairs), partners, kind)

    def _conditions(
        self, left: SQLRelation, right: SQLRelation, both: SQLRelation, join: exp.Join
    ) -> tuple[list[tuple[Expression, Expression]], list[Expression], tuple[Visible, ...]]:
        """Equalities between the sides, other conditions, and the columns seen afterwards."""
        pairs: list[tuple[Expression, Expression]] = []
        rest: list[Expression] = []
        visible = both.columns
        for name in join.args.get("using") or ():
            column = exp.column(name.name)
            pairs.append(comparable(left.resolve(column), right.resolve(column)))
            hidden = right.resolve(column)
            visible = tuple(item for item in visible if item.expression != hidden)
        on = join.args.get("on")
        for condition in conjuncts(on) if on is not None else ():
            pair = self._pair(condition, left, right, both)
            if pair is not None:
                pairs.append(pair)
            else:
                rest.append(expression_from(condition, both.resolve))
        return pairs, rest, visible

    def _pair(
        self, condition: exp.Expression, left: SQLRelation, right: SQLRelation, both: SQLRelation
    ) -> tuple[Expression, Expression] | None:
        if not isinstance(condition, exp.EQ):
            return None
        first = expression_from(condition.this, both.resolve)
        second = expression_from(condition.expression, both.resolve)
        for a, b in ((first, second), (second, first)):
            if within(a, left) and within(b, right):
                return comparable(a, b)
        return None


def _same_people(
    left: SQLRelation, right: SQLRelation, pairs: list[tuple[Expression, Expression]]
) -> bool:
    """Whether a join compares the people of both sides, or the key that leads to them."""
    owned = bool(left.rows.privacy_id and right.rows.privacy_id)
    return owned and any(_people(left, right, pair) for pair in pairs)


def _people(left: SQLRelation, right: SQLRelation, pair: tuple[Expression, Expression]) -> bool:
    return owners(*pair, left.rows, right.rows) or routed(*pair, left.rows, right.rows)


def _filtered(rows: PlanNode, conditions: list[Expression], kind: JoinKind) -> PlanNode:
    """Rows of a join that satisfy what else ON says."""
    if conditions and kind is JoinKind.LEFT:
        raise unsupported(
            construct="LEFT JOIN on more than equalities",
            remedy="Filter the joined table in FROM (...) first.",
        )
    for condition in conditions:
        rows = Filtered(rows, condition)
    return rows


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


def within(expression: Expression, relation: SQLRelation) -> bool:
    """Whether an expression reads columns of one side, and no others."""
    used = columns(expression)
    seen = frozenset().union(*(columns(column.expression) for column in relation.columns))
    return bool(used) and used <= seen


def owners(left: Expression, right: Expression, a: PlanNode, b: PlanNode) -> bool:
    """Whether two expressions are the identifiers of the two sides."""
    return (
        isinstance(left, Column)
        and isinstance(right, Column)
        and identifies(left.name, a)
        and identifies(right.name, b)
    )


def routed(left: Expression, right: Expression, a: PlanNode, b: PlanNode) -> bool:
    """Whether two columns are the key by which one side reaches the person through the other."""
    for scan, other, own, met in ((a, b, left, right), (b, a, right, left)):
        if (
            isinstance(scan, Scan)
            and isinstance(other, Scan)
            and scan.route is not None
            and scan.route.table.lower() == other.table.lower()
            and own == Column(scan.column(scan.route.key), own.domain)
            and met == Column(other.column(scan.route.key), met.domain)
        ):
            return True
    return False


def limit_of(keys: Sequence[Expression], side: SQLRelation, catalog: Catalog) -> int:
    """The most rows of one side that may share their values of ``keys``.

    A combination of columns has at most as many rows as any of them, so the least bound that
    was declared for some of them is taken.
    """
    found = [origin(key, side.rows) for key in keys]
    by_table: dict[str, set[str]] = {}
    for place in found:
        if place is not None:
            by_table.setdefault(place[0].table, set()).add(place[1])
    limits = []
    for name, named in by_table.items():
        entry = catalog.find(name)
        if entry is not None and isinstance(entry.table, Table):
            declared = entry.table.max_rows_per.items()
            limits += [most for key, most in declared if named.issuperset(key)]
    if limits:
        return min(limits)
    raise _missing({table: sorted(named) for table, named in by_table.items()})


def origin(expression: Expression, rows: PlanNode) -> tuple[Scan, str] | None:
    """The private table and column that an expression only repeats or converts."""
    if isinstance(expression, Call) and expression.function == cast(expression.domain.kind):
        return origin(expression.args[0], rows)
    if not isinstance(expression, Column):
        return None
    found = field_of(expression.name, rows)
    if found is not None:
        return found[0], found[1].name
    if isinstance(rows, Bounded | Distinct | Truncated):
        for output, inside in zip(rows.outputs, rows.expressions, strict=True):
            if output.name == expression.name:
                return origin(inside, rows.rows)
    places = (origin(expression, below) for below in rows.inputs)
    return next((place for place in places if place is not None), None)


def _missing(keys: dict[str, list[str]]) -> InvalidParameter:
    table, named = next(iter(keys.items()), ("the table", ["the key"]))
    key = repr(named[0]) if len(named) == 1 else repr(tuple(named))
    return InvalidParameter(
        code="private_join",
        expectation=f"max_rows_per on {table} for {', '.join(named)}: how many of its rows a "
        "join of private tables on another key than the person lets through for one value",
        received="a join of private tables on something else than the person",
        remedy=f"Join on the identifier of both tables; or declare {table} as "
        f"dp.table(..., max_rows_per={{{key}: 3}}) and join on the columns themselves.",
    )


def no_equality() -> InvalidParameter:
    """The refusal of private tables joined on nothing that is equal."""
    return InvalidParameter(
        code="private_join",
        expectation="private tables joined on equal columns",
        received="a join of private tables on something else",
        remedy="Join on the person, or on columns with max_rows_per, and put the rest into WHERE.",
    )
