"""Bounds inside an aggregate, in BigQuery's and ZetaSQL's words, and what they clamp.

``contribution_bounds_per_row`` clamps each value: ``SUM(x)`` becomes the sum of ``x`` held between
the two numbers. ``contribution_bounds_per_group`` clamps what one person contributes to a group:
the person's own sum, number or mean in that group is taken first, then clamped, then aggregated
over people. Both numbers are the analyst's and public; they are applied inside the declared
bounds, and can only narrow them. ``ANON_SUM`` and its sisters are ZetaSQL's former names.

Source: contract, "Columns", "Bounding inside the engine"; GoogleSQL's documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.unit import Person, add_remove
from discreet.relational.plan.nodes import identifies
from discreet.relational.sql.aggregate_calls import title
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.features import Features, key_node, row_limit
from discreet.relational.sql.named_arguments import CLAMPED, PER_GROUP, PER_ROW
from discreet.relational.sql.parsed import number
from discreet.relational.sql.reading import copied
from discreet.relational.sql.relation import SQLRelation, Visible, unsupported
from discreet.relational.sql.tree import nodes
from discreet.relational.types.expression import Column, Expression

_TOTALS = (exp.Sum, exp.Avg, exp.Count, exp.CountIf)
"""Aggregates of which one person has a share that can be clamped."""


_FORMER = {
    "ANON_COUNT": "COUNT",
    "ANON_SUM": "SUM",
    "ANON_AVG": "AVG",
    "ANON_VAR_POP": "VAR_POP",
    "ANON_STDDEV_POP": "STDDEV_POP",
    "ANON_PERCENTILE": "QUANTILE",
    "ANON_PERCENTILE_CONT": "QUANTILE",
    "ANON_QUANTILES": "APPROX_QUANTILES",
}


def plainly_named(tree: exp.Expression) -> exp.Expression:
    """The tree with ZetaSQL's former names as those of today."""

    def rename_former_call(node: exp.Expression) -> Any:
        name = _FORMER.get(node.name.upper()) if isinstance(node, exp.Anonymous) else None
        return node if name is None else exp.func(name, *node.expressions, dialect="duckdb")

    made: exp.Expression = tree.transform(rename_former_call, copy=False)
    return made


def apply_contribution_bounds(tree: exp.Expression) -> exp.Expression:
    """The tree with rows clamped where they are to be, and bounds of groups as aggregates."""

    def rewrite_bounded_call(node: exp.Expression) -> Any:
        named = node.name.upper() if isinstance(node, exp.Anonymous) else ""
        if named not in (PER_ROW, PER_GROUP, CLAMPED) or len(node.expressions) != 3:
            return node
        call, low, high = node.expressions
        _require_order(low, high)
        if named == PER_ROW or (named == CLAMPED and not isinstance(call, _TOTALS)):
            made = _each_row(call, low, high)
            listed = isinstance(node.parent, exp.Select) and not isinstance(call, exp.Anonymous)
            return exp.alias_(made, _title(call), quoted=True) if listed else made
        if isinstance(call, _TOTALS) and not isinstance(call.this, exp.Distinct):
            return exp.AnonymousAggFunc(this=PER_GROUP, expressions=[call, low, high])
        raise unsupported(
            construct=f"{PER_GROUP.lower()} in {title(call)}",
            remedy="A person's share of a group is a sum, a count or a mean: SUM, COUNT, AVG. "
            "Others take contribution_bounds_per_row.",
        )

    made: exp.Expression = tree.transform(rewrite_bounded_call, copy=False)
    return made


def has_group_bounds(select: exp.Select) -> bool:
    """Whether a person's share of a group is clamped somewhere."""
    every = nodes(*select.expressions, select.args.get("having"), select.args.get("order"))
    return any(isinstance(node, exp.AnonymousAggFunc) and _is_per_group(node) for node in every)


def per_group(
    select: exp.Select,
    below: SQLRelation,
    aliases: Mapping[str, exp.Expression],
    catalog: Catalog,
    prefix: Callable[[str], str],
) -> tuple[exp.Select, SQLRelation]:
    """The query over the shares of people: one row for each person and group."""
    group = select.args.get("group")
    if not isinstance(add_remove(catalog.unit), Person):
        rewritten = _rebuilt(select, _of_rows)
        rewritten.set("group", None if group is None else copied(group))
        return rewritten, below
    if below.rows.privacy_id is None:
        raise unsupported(
            construct=f"{PER_GROUP.lower()} where rows have no person",
            remedy="After DISTINCT or a join on another key, use contribution_bounds_per_row.",
        )
    nodes = [
        key_node(node, select, below, aliases)
        for node in (() if group is None else group.expressions)
    ]
    keys = tuple(dict.fromkeys(expression_from(node, below.resolve) for node in nodes))
    people = (column.expression for column in below.columns)
    named = next(
        (e for e in people if isinstance(e, Column) and identifies(e.name, below.rows)), None
    )
    made = Features(
        below,
        named,
        keys,
        aliases,
        row_limit(catalog, below),
        prefix("bounded"),
        prefix("person"),
    )
    shares = _Shares(made, keys)
    rewritten = _rebuilt(select, shares.replaced)
    if group is not None:
        listed = [shares.key(expression_from(node, below.resolve)) for node in nodes]
        rewritten.set("group", exp.Group(expressions=listed))
    return rewritten, SQLRelation(made.rows(), tuple(shares.visible()))


class _Shares:
    """What each person has of each aggregate in each group, as columns."""

    def __init__(self, made: Features, keys: Sequence[Expression]) -> None:
        self._made, self._keys = made, keys
        self._parts: list[Expression] = []

    def visible(self) -> list[Visible]:
        """The columns of the shares, of the keys and of the person."""
        columns = [Visible("", f"share {n}", part) for n, part in enumerate(self._parts)]
        columns += [Visible("", f"key {n}", self._made.key(n)) for n in range(len(self._keys))]
        person = self._made.person()
        return columns if person is None else [*columns, Visible("", "person", person)]

    def key(self, expression: Expression) -> exp.Expression:
        """The column of a key."""
        return _make_quoted_column(f"key {list(self._keys).index(expression)}")

    def replaced(self, node: exp.Expression) -> exp.Expression | None:
        """What stands for a node over the shares; None where its parts are looked at."""
        inside: Any = node.this if isinstance(node, exp.Filter) else node
        if isinstance(inside, exp.AggFunc):
            return self._aggregate(node, inside)
        try:
            meant = expression_from(node, self._made.below.resolve)
        except DiscreetError:
            return None
        return self.key(meant) if meant in self._keys else None

    def _aggregate(self, node: exp.Expression, inside: Any) -> exp.Expression:
        if _is_per_group(inside):
            call, low, high = inside.expressions
            share = self._share(_with_filter(node, call))
            outer = exp.Avg if isinstance(call, exp.Avg) else exp.Sum
            return outer(this=clamp_between_constants(share, low, high))
        distinct = isinstance(inside.this, exp.Distinct)
        if isinstance(inside, exp.Sum | exp.Count | exp.CountIf) and not distinct:
            return exp.Sum(this=self._share(node))
        if isinstance(inside, exp.Count) and node is inside and self._is_person(inside):
            return exp.Count(this=exp.Distinct(expressions=[_make_quoted_column("person")]))
        raise unsupported(
            construct=f"{title(inside)} beside {PER_GROUP.lower()}",
            remedy="It is computed from rows, the other from people's shares of a group: ask for "
            "it by itself, or give it contribution_bounds_per_group as well.",
        )

    def _share(self, node: exp.Expression) -> exp.Expression:
        part = self._made.feature(node)
        if part not in self._parts:
            self._parts.append(part)
        return _make_quoted_column(f"share {self._parts.index(part)}")

    def _is_person(self, node: exp.Expression) -> bool:
        counted = node.this.expressions
        if len(counted) != 1 or self._made.person() is None:
            return False
        column = expression_from(counted[0], self._made.below.resolve)
        return isinstance(column, Column) and identifies(column.name, self._made.below.rows)


def clamp_between_constants(
    node: exp.Expression, low: exp.Expression, high: exp.Expression
) -> exp.Expression:
    """A value held between two constants; NULL stays NULL, whatever engines say of LEAST."""
    lifted: Any = exp.func("greatest", node.copy(), low.copy(), dialect="duckdb")
    clamped: Any = exp.func("least", lifted, high.copy(), dialect="duckdb")
    present = exp.Not(this=exp.Is(this=node.copy(), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=present, true=clamped)])


def _each_row(call: exp.Expression, low: exp.Expression, high: exp.Expression) -> exp.Expression:
    """An aggregate of which each value is clamped."""
    if not isinstance(call, exp.AggFunc | exp.AnonymousAggFunc | exp.Anonymous) or isinstance(
        call, exp.Count | exp.CountIf
    ):
        raise unsupported(
            construct=f"{PER_ROW.lower()} in {title(call)}",
            remedy="Bounds clamp numbers that are added up or ranked; counts take "
            "contribution_bounds_per_group.",
        )
    made = call.copy()
    first: Any = (
        made.expressions[0]
        if not made.args.get("this") or isinstance(made, exp.AnonymousAggFunc | exp.Anonymous)
        else made.this
    )
    value = first.expressions[0] if isinstance(first, exp.Distinct) else first
    value.replace(clamp_between_constants(value, low, high))
    return made


def _of_rows(node: exp.Expression) -> exp.Expression | None:
    """Where a row is a person, its share of a group is its own value."""
    inside = node.this if isinstance(node, exp.Filter) else node
    if not _is_per_group(inside):
        return None
    call, low, high = inside.expressions
    value = call.this
    if isinstance(call, exp.Count | exp.CountIf):
        shown = (
            exp.true()
            if isinstance(value, exp.Star)
            else value.copy()
            if isinstance(call, exp.CountIf)
            else exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
        )
        value = exp.Case(
            ifs=[exp.If(this=shown, true=exp.Literal.number(1))], default=exp.Literal.number(0)
        )
    outer = exp.Avg if isinstance(call, exp.Avg) else exp.Sum
    return _with_filter(node, outer(this=clamp_between_constants(value, low, high)))


def _with_filter(node: exp.Expression, call: exp.Expression) -> exp.Expression:
    """A call with the FILTER that a node has, if it has one."""
    if not isinstance(node, exp.Filter):
        return copied(call)
    return exp.Filter(this=copied(call), expression=copied(node.expression))


def _rebuilt(
    select: exp.Select, replaced: Callable[[exp.Expression], exp.Expression | None]
) -> exp.Select:
    """The query with nodes replaced in what it selects, in HAVING and in ORDER BY."""

    def within(node: exp.Expression) -> exp.Expression:
        found = replaced(node)
        if found is not None:
            return found
        made = copied(node)
        for child in list(made.iter_expressions()):
            child.replace(within(child))
        return made

    made = exp.Select()
    for clause in ("limit", "offset"):
        if select.args.get(clause) is not None:
            made.set(clause, copied(select.args[clause]))
    items = []
    for item in select.expressions:
        inside = item.this if isinstance(item, exp.Alias) else item
        plain = isinstance(item, exp.Alias | exp.Column)
        name = item.alias_or_name if plain else _title(inside)
        items.append(exp.alias_(within(inside), name, quoted=True))
    made.set("expressions", items)
    for clause in ("having", "order"):
        if select.args.get(clause) is not None:
            made.set(clause, within(select.args[clause]))
    return made


def _title(node: exp.Expression) -> str:
    """The name of a column that has none: the call without its bounds."""
    shown = node.transform(lambda part: part.expressions[0].copy() if _is_per_group(part) else part)
    return str(shown.sql(dialect="duckdb")).lower()[:60]


def _make_quoted_column(name: str) -> exp.Expression:
    return exp.column(exp.to_identifier(name, quoted=True))


def _is_per_group(node: exp.Expression) -> bool:
    return isinstance(node, exp.AnonymousAggFunc) and node.name.upper() == PER_GROUP


def _require_order(low: exp.Expression, high: exp.Expression) -> None:
    ends = [_constant(end) for end in (low, high)]
    if ends[0] > ends[1]:
        raise InvalidParameter(
            code="bounds_crossed",
            expectation="two bounds, the lower one not above the upper one",
            received=tuple(ends),
            remedy="Swap the bounds.",
        )


def _constant(node: exp.Expression) -> int | float:
    sign, inside = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
    if not isinstance(inside, exp.Literal) or inside.is_string:
        raise unsupported(
            construct="bounds that are not two constants",
            remedy="Write contribution_bounds_per_row => (0, 100).",
        )
    return sign * number(inside.name)
