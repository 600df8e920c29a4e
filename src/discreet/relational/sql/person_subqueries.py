"""Subqueries about the same person, inside conditions and expressions, as joins of features.

``EXISTS (SELECT 1 FROM orders o WHERE o.patient = v.patient AND o.cost > 5)`` asks whether a person
has such a row: a feature of the person's orders, one row for each person, which joins every row of
``v`` on the person. ``v.patient IN (SELECT patient FROM orders WHERE …)`` is the same, and so is a
scalar subquery with one aggregate. A LEFT JOIN with one row per person adds no rows and drops none.

Subqueries on other columns than the person, or on none, would let one person's rows decide about
others': they are refused where the join or the feature is. Public tables are looked at elsewhere.

Source: contract, "Units and neighbours". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from discreet.relational.sql.joins import conjuncts
from discreet.relational.sql.reading import copied
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.tree import children
from discreet.relational.sql.unnest_forms import HIDDEN_ELEMENTS

_HIDDEN = "!subquery"
_MOVED = "moved"
"""On a query that is part of a copy, and may be changed: copied at each level, it would be all
that is below it, again and again."""
_READ = {"expressions", "from_", "from", "joins", "where", "kind", "hint"}

IsPrivate = Callable[[exp.Expression], bool]
"""Whether a query reads a private table."""


def subqueries_joined(select: exp.Select, is_private: IsPrivate) -> exp.Select:
    """The query with a join for each subquery about the person; itself where there is none."""
    if not (select.args.get("from_") or select.args.get("from")) or not _find_outer_subqueries(
        select
    ):
        return select
    made: Any = select if select.meta.get(_MOVED) else copied(select)
    joins: list[exp.Expression] = []
    for node in _find_outer_subqueries(made):
        query = _query(node)
        if is_private(query):
            join, shown = _joined(node, query, f"{_HIDDEN} {len(joins)}")
            joins.append(join)
            node.replace(shown)
    if joins:
        made.set("joins", [*(made.args.get("joins") or []), *joins])
    return made  # type: ignore[no-any-return]


def is_hidden(qualifier: str) -> bool:
    """Whether columns so qualified come from a join that we wrote: ``*`` does not mean them."""
    return qualifier.startswith((_HIDDEN, HIDDEN_ELEMENTS))


def _find_outer_subqueries(select: exp.Select) -> list[Any]:
    """The outermost subqueries of what is selected, grouped by and asked for in WHERE."""
    found: list[Any] = []
    waiting: list[Any] = [*select.expressions, select.args.get("where"), select.args.get("group")]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        held = isinstance(node, exp.In) and isinstance(node.args.get("query"), exp.Subquery)
        if held or isinstance(node, exp.Exists | exp.Subquery):
            found.append(node)
        else:
            waiting += children(node)
    return found


def _query(node: exp.Expression) -> exp.Expression:
    inside: Any = node.args["query"] if isinstance(node, exp.In) else node.this
    while isinstance(inside, exp.Subquery):
        inside = inside.this
    return inside  # type: ignore[no-any-return]


def _joined(
    node: exp.Expression, query: exp.Expression, name: str
) -> tuple[exp.Expression, exp.Expression]:
    """The join with a subquery's features, and what stands for the subquery after it."""
    given = {key for key, value in query.args.items() if value}
    if not isinstance(query, exp.Select) or not given <= _READ:
        raise unsupported(
            construct="a subquery that is not one plain SELECT",
            remedy="Leave out GROUP BY, ORDER BY, LIMIT and UNION there; or join features of "
            "each person, in FROM (... GROUP BY the person).",
        )
    if len(query.expressions) != 1:
        raise unsupported(
            construct="a subquery of several columns", remedy="Select one, or 1 in EXISTS."
        )
    item = query.expressions[0].unalias()
    pairs, rest = _compared(query)
    _require_identifiers_only(query, [item, *rest], pairs)
    if isinstance(node, exp.In):
        if pairs or item.find(exp.AggFunc) is not None:
            raise unsupported(
                construct="IN (SELECT …) that depends on the row, or aggregates",
                remedy="Write EXISTS (SELECT 1 … WHERE o.person = v.person).",
            )
        pairs, feature = [(item, node.this)], _count()
    elif isinstance(node, exp.Exists):
        if item.find(exp.AggFunc) is not None:
            raise unsupported(
                construct="EXISTS (SELECT aggregate …)", remedy="It is always true; select 1."
            )
        feature = _count()
    else:
        if item.find(exp.AggFunc) is None:
            raise unsupported(
                construct="a subquery without an aggregate, used as a value",
                remedy="A person may have several rows: take MAX(x), or FIRST(x ORDER BY day).",
            )
        feature = item
    if not pairs:
        raise unsupported(
            construct="a subquery that is not about the person of the row",
            remedy=_about_everybody(feature)
            + "For a subquery about the person, compare the identifiers, with their tables: "
            "WHERE o.patient = v.patient.",
        )
    ((own, outer),) = pairs
    query.meta[_MOVED] = True
    query.set(
        "expressions",
        [exp.alias_(own.copy(), "person", quoted=True), exp.alias_(copied(feature), "value")],
    )
    query.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
    query.set("group", exp.Group(expressions=[own.copy()]))
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    on = exp.EQ(this=outer.copy(), expression=_column("person", name))
    join = exp.Join(this=exp.Subquery(this=query, alias=alias), side="LEFT", on=on)
    return join, _write_subquery_value(node, feature, _column("value", name))


def _require_identifiers_only(
    query: exp.Select,
    parts: list[exp.Expression],
    pairs: list[tuple[exp.Expression, exp.Expression]],
) -> None:
    """Refuse what reads more of the row outside than whose it is: that is a pair of rows."""
    named = query.find_all(exp.Table, exp.Subquery, exp.CTE)
    inside = {table.alias_or_name.lower() for table in named}
    found = [
        column.sql()
        for part in parts
        for column in part.find_all(exp.Column)
        if column.table and column.table.lower() not in inside
    ]
    found += [far.sql() for _, far in pairs[1:]]
    if found:
        raise unsupported(
            construct=f"{found[0]} in a subquery that does not read that table",
            remedy="A subquery about the person may compare only the identifiers with the outer "
            "row. To compare two rows of one person, join the table with itself on the person, "
            "which counts pairs: FROM visits v1 JOIN visits v2 ON v1.patient = v2.patient "
            "WHERE v2.day > v1.day.",
        )


_WORDS: dict[type, str] = {
    exp.Avg: "mean",
    exp.Median: "median",
    exp.Min: "minimum",
    exp.Max: "maximum",
    exp.Sum: "sum",
    exp.Count: "count",
}


def _about_everybody(feature: exp.Expression) -> str:
    """What to do where a row is compared with a number about all rows."""
    word = _WORDS.get(type(feature), "number")
    return f"A {word} of all rows is a question of its own: ask for it first and write its number. "


def _write_subquery_value(
    node: exp.Expression, feature: exp.Expression, value: exp.Expression
) -> exp.Expression:
    """What a subquery is, where the person has no such rows too."""
    if isinstance(node, exp.Exists | exp.In):
        return exp.Paren(this=exp.Not(this=exp.Is(this=value, expression=exp.Null())))
    call = feature.this if isinstance(feature, exp.Filter) else feature
    if isinstance(call, exp.Count | exp.CountIf):
        none: Any = exp.func("coalesce", value, exp.Literal.number(0), dialect="duckdb")
        return none  # type: ignore[no-any-return]
    if feature.find(exp.Count, exp.CountIf) is not None:
        raise unsupported(
            construct="arithmetic with COUNT in a subquery",
            remedy="Without rows a count is 0 and all else NULL: take one subquery for each.",
        )
    return value


def _compared(
    query: exp.Select,
) -> tuple[list[tuple[exp.Expression, exp.Expression]], list[exp.Expression]]:
    """Equalities of a column inside with one outside, and the other conditions."""
    clause = query.args.get("from_") or query.args.get("from")
    tables = [*([] if clause is None else [clause.this]), *(query.args.get("joins") or [])]
    own = {
        (table.this if isinstance(table, exp.Join) else table).alias_or_name.lower()
        for table in tables
    }

    def outside(node: exp.Expression) -> bool:
        return isinstance(node, exp.Column) and bool(node.table) and node.table.lower() not in own

    where = query.args.get("where")
    pairs, rest = [], []
    for condition in () if where is None else conjuncts(where.this):
        sides = (condition.this, condition.expression) if isinstance(condition, exp.EQ) else ()
        columns = len(sides) == 2 and all(isinstance(side, exp.Column) for side in sides)
        far = [side for side in sides if outside(side)] if columns else []
        if len(far) == 1:
            near = next(side for side in sides if side is not far[0])
            pairs.append((near, far[0]))
        else:
            rest.append(condition)
    return pairs, rest


def _count() -> exp.Expression:
    return exp.Count(this=exp.Star())


def _column(name: str, table: str) -> exp.Expression:
    made: Any = exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True)
    )
    return made  # type: ignore[no-any-return]
