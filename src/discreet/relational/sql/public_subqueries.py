"""IN and EXISTS on public tables: what the inner query gives is a public list, made beforehand.

``ward IN (SELECT ward FROM wards WHERE beds > 9)`` asks the same as the list written out. So it may
stand wherever a condition may, it narrows keys as a list does, and the statement that reads private
rows never sees the inner query. Lists that are too long to be written out, and several columns at
once, are joined instead, each combination once: no row is multiplied.

NULL follows SQL: ``x IN (list)`` is unknown where x is missing from a list that holds NULL, and so
is NOT IN; EXISTS is true or false.

Source: contract, "Columns" (conditions that read public tables), "What may be seen".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial, reduce

from sqlglot import exp

from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.functions.logic import IS_NOT_NULL, IS_NULL
from discreet.relational.plan.nodes import Distinct, Filtered, JoinKind, Output, PlanNode
from discreet.relational.plan.public_rows import PublicRows
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.joins import comparable, conjuncts, has_column
from discreet.relational.sql.parsed import bare
from discreet.relational.sql.reading import require_read
from discreet.relational.sql.relation import SQLRelation, Steps, unsupported
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Column, Expression

MAX_WRITTEN_OUT = 2_000
"""Values that are written out as a list; longer lists are joined."""

Rows = Callable[[exp.Expression], SQLRelation]
Tables = Callable[[exp.Select], SQLRelation]


@dataclass(frozen=True)
class Membership:
    """Values that are looked for among public rows: x IN, or EXISTS with what it compares."""

    values: tuple[exp.Expression, ...]
    public: SQLRelation
    among: tuple[Expression, ...]
    exists: bool

    def rows(self, steps: Steps) -> PlanNode:
        """The public rows, each combination once."""
        prefix = steps.prefix("among")
        outputs = tuple(
            Output(f"{prefix}.{place}", part.domain) for place, part in enumerate(self.among)
        )
        return Distinct(prefix, self.public.rows, self.among, outputs)


@dataclass(frozen=True)
class PublicSubqueries:
    """Replaces conditions on public inner queries within one WHERE.

    ``inner`` gives the rows of an inner query, ``tables`` those of its FROM alone.
    """

    catalog: Catalog
    steps: Steps
    inner: Rows
    tables: Tables

    def replace_public_subqueries(
        self, made: SQLRelation, condition: exp.Expression
    ) -> tuple[SQLRelation, exp.Expression]:
        """Rows joined with long lists, and the condition with the others written out."""
        parts: list[exp.Expression] = []
        for part in conjuncts(condition):
            negated, inside = _negated(part)
            membership = self._membership(inside)
            if membership is None or not membership.values:
                parts.append(part.transform(partial(self._written_out, made), copy=False))
                continue
            listed = self.catalog.list_public_rows(membership.rows(self.steps))
            if len(membership.values) == 1 and len(listed) <= MAX_WRITTEN_OUT:
                text = _list(membership, listed, made)
                parts.append(exp.Not(this=exp.paren(text)) if negated else text)
            else:
                made = self._joined(made, membership, listed, negated=negated)
        return made, reduce(_both, parts) if parts else exp.true()

    def _written_out(self, made: SQLRelation, node: exp.Expression) -> exp.Expression:
        """A condition somewhere inside another one."""
        membership = self._membership(node)
        if membership is None:
            return node
        listed = self.catalog.list_public_rows(membership.rows(self.steps))
        if not membership.values:
            return exp.true() if listed else exp.false()
        if len(membership.values) > 1 or len(listed) > MAX_WRITTEN_OUT:
            raise unsupported(
                construct="a long list, or several columns, of a public table inside a condition",
                remedy="Let it stand alone or after AND; or join the public table.",
            )
        return exp.paren(_list(membership, listed, made))

    def _membership(self, node: exp.Expression) -> Membership | None:
        found = None
        if isinstance(node, exp.In) and isinstance(node.args.get("query"), exp.Subquery):
            found = self._in(node)
        elif isinstance(node, exp.Exists):
            found = self._exists(node)
        if found is not None:
            require_read(node)
        return found

    def _in(self, node: exp.In) -> Membership | None:
        public = self.inner(node.args["query"])
        if public.rows.stability != 0:
            return None
        values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        seen = [column for column in public.columns if not column.merged]
        if len(values) != len(seen):
            raise unsupported(
                construct=f"IN with {len(values)} values and {len(seen)} columns",
                remedy="Select as many columns inside as stand before IN.",
            )
        among = tuple(column.expression for column in seen)
        return Membership(tuple(values), public, among, exists=False)

    def _exists(self, node: exp.Exists) -> Membership | None:
        """EXISTS over public tables, where it compares them by equality with what is around it."""
        select = node.this.this if isinstance(node.this, exp.Subquery) else node.this
        plain = {"expressions", "from_", "from", "joins", "where"}
        if not isinstance(select, exp.Select) or not select.expressions:
            return None
        if not (select.args.get("from_") or select.args.get("from")):
            return None
        if any(value and name not in plain for name, value in select.args.items()):
            return None
        public = self.tables(select)
        if public.rows.stability != 0:
            return None
        values, among = [], []
        where = select.args.get("where")
        for said in [] if where is None else conjuncts(where.this):
            condition = said.transform(partial(self._written_out, public), copy=False)
            if _inside(condition, public):
                chosen = expression_from(condition, public.resolve)
                public = replace(public, rows=Filtered(public.rows, chosen))
                continue
            outer, own = _linked(condition, public)
            values.append(outer)
            among.append(expression_from(own, public.resolve))
        if not values:
            seen = tuple(column.expression for column in public.columns[:1])
            return Membership((), public, seen, exists=True)
        return Membership(tuple(values), public, tuple(among), exists=True)

    def _joined(
        self,
        made: SQLRelation,
        membership: Membership,
        listed: Sequence[tuple[object, ...]],
        *,
        negated: bool,
    ) -> SQLRelation:
        """Rows whose values are, or are not, among public ones."""
        values = [expression_from(value, made.resolve) for value in membership.values]
        if negated and not membership.exists:
            if len(values) > 1:
                raise unsupported(
                    construct="NOT IN with several columns", remedy="Write NOT EXISTS."
                )
            if any(entry[0] is None for entry in listed):
                return replace(made, rows=Filtered(made.rows, _nothing()))
            made = replace(made, rows=Filtered(made.rows, Call(IS_NOT_NULL, (values[0],))))
        entries = tuple((*entry, 1) for entry in listed if None not in entry)
        prefix = self.steps.prefix("among")
        outputs = [
            Output(f"{prefix}.{place}", part.domain) for place, part in enumerate(membership.among)
        ]
        mark = Output(f"{prefix}.mark", ColumnDomain(DataType.INTEGER, values=(1,), declared=True))
        public = PublicRows.of(prefix, (*outputs, mark), entries)
        pairs = tuple(
            comparable(value, Column(output.name, output.domain))
            for value, output in zip(values, outputs, strict=True)
        )
        kind = JoinKind.LEFT if negated else JoinKind.INNER
        rows: PlanNode = JoinedPublic(made.rows, public, pairs, 1, kind)
        if negated:
            rows = Filtered(rows, Call(IS_NULL, (Column(mark.name, mark.domain),)))
        return replace(made, rows=rows)


def _nothing() -> Expression:
    return expression_from(exp.false(), lambda _: Column("", ColumnDomain(DataType.BOOLEAN)))


def _negated(node: exp.Expression) -> tuple[bool, exp.Expression]:
    inside = bare(node)
    return (True, bare(inside.this)) if isinstance(inside, exp.Not) else (False, inside)


def _both(left: exp.Expression, right: exp.Expression) -> exp.Expression:
    return exp.And(this=left, expression=right)


def _inside(condition: exp.Expression, public: SQLRelation) -> bool:
    return all(has_column(public, column) for column in condition.find_all(exp.Column))


def _linked(
    condition: exp.Expression, public: SQLRelation
) -> tuple[exp.Expression, exp.Expression]:
    """The two sides of an equality: the one around EXISTS, and the one inside."""
    if isinstance(condition, exp.EQ):
        for own, outer in (
            (condition.this, condition.expression),
            (condition.expression, condition.this),
        ):
            named = list(own.find_all(exp.Column))
            if named and _inside(own, public):
                around = list(outer.find_all(exp.Column))
                if not any(has_column(public, column) for column in around):
                    return outer, own
    raise unsupported(
        construct=f"EXISTS that compares by {condition.key.upper()}",
        remedy="Compare columns of the public table with others by =, joined by AND.",
    )


def _list(
    membership: Membership, listed: Sequence[tuple[object, ...]], made: SQLRelation
) -> exp.Expression:
    """Membership in a list that is written out, with NULL as SQL has it."""
    values = [entry[0] for entry in listed if entry[0] is not None]
    (value,) = membership.values
    possible = expression_from(value, made.resolve).domain.values
    # What the column cannot be is no slip of the analyst's: the list is left without it.
    met = values if possible is None else [each for each in values if each in possible]
    found: exp.Expression = exp.false()
    if met:
        found = exp.In(this=value.copy(), expressions=[_literal(each) for each in met])
    elif values:
        found = exp.NEQ(this=value.copy(), expression=value.copy())
    if membership.exists:
        return exp.Coalesce(this=found, expressions=[exp.false()]) if values else found
    if len(values) < len(listed):
        return exp.Or(this=found, expression=exp.null()) if values else exp.null()
    return found


def _literal(value: object) -> exp.Expression:
    match value:
        case bool():
            return exp.true() if value else exp.false()
        case int() | float():
            number = exp.Literal.number(repr(abs(value)))
            return exp.Neg(this=number) if value < 0 else number
        case datetime():
            return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "TIMESTAMP")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    return exp.Literal.string(str(value))
