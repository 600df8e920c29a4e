"""From text to the one SELECT that is translated: parsed, flattened, shorthand written out.

*A query around an answer*: columns, conditions and order of released values are moved inside.
``SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t WHERE n > 10`` asks what
the inner query asks, with HAVING and ORDER BY. Tools that write SQL nest so. What is moved works on
released values only, as it would have outside.

*APPROX_TOP_K(x, k)* gives the k most frequent values, as in DuckDB; *APPROX_TOP_COUNT(x, k)* their
counts as well, as in BigQuery. Both become GROUP BY, ORDER BY and LIMIT, which act on released
values or rank privately.

Source: contract, "Columns" (ORDER BY and LIMIT act on released values only).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlglot
from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.sql.aggregate_calls import mark_aggregate_calls
from discreet.relational.sql.contribution_bounds import apply_contribution_bounds, plainly_named
from discreet.relational.sql.dialect import statements
from discreet.relational.sql.named_arguments import move_named_arguments
from discreet.relational.sql.named_queries import require_written_out
from discreet.relational.sql.other_dialects import in_duckdbs_words
from discreet.relational.sql.plainer import plainer
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.syntax import not_sql
from discreet.relational.sql.tree import COPIED, has, nodes, take
from discreet.relational.sql.unnest_forms import numbered
from discreet.relational.sql.wording import as_written, require_no_hint

_LONGEST = 100_000
_OUTSIDE = {"expressions", "from_", "from", "where", "order", "limit", "offset", "with_", "with"}
_LAST = ("order", "limit", "offset")
_COUNTED = "approx_top_count"


def parse(text: str) -> exp.Expression:
    """One statement, or a refusal that quotes nothing but the analyst's own text."""
    long = isinstance(text, str) and len(text) > _LONGEST
    if not isinstance(text, str) or not text.strip() or long:
        raise InvalidParameter(
            code="sql_syntax",
            expectation=f"one SELECT statement of at most {_LONGEST} characters",
            received=_nothing(text),
            remedy="Ask for less at once, or join a public table in place of a long list."
            if long
            else 'Write for instance "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward".',
        )
    text = in_duckdbs_words(move_named_arguments(text))
    try:
        read = statements(text)
    except (sqlglot.errors.SqlglotError, RecursionError) as fault:
        raise not_sql(text, fault) from None
    if len(read) != 1:
        raise InvalidParameter(
            code="sql_syntax",
            expectation="one statement",
            received=f"{len(read)} statements",
            remedy="Ask one question at a time.",
        )
    tree = plainer(numbered(read[0], text))
    if has(tree, exp.Anonymous):  # all that these three change
        tree = apply_contribution_bounds(mark_aggregate_calls(plainly_named(tree)))
    require_no_hint(tree)
    tree = as_written(tree, text)
    while isinstance(tree, exp.Subquery) and set(_list_given_arguments(tree)) == {"this"}:
        tree = tree.this  # (SELECT ...), in brackets
    require_written_out(tree)
    return tree


def _nothing(text: object) -> str:
    if not isinstance(text, str):
        return type(text).__name__
    return f"{len(text)} characters" if text.strip() else "an empty text"


def flattened(select: exp.Expression) -> exp.Expression:
    """The inner query with what was around it, where that only rearranges its answer."""
    while isinstance(select, exp.Select):
        found = _answer(select)
        if found is None:
            break
        select = _merge_outer_query(select, *found)
    return select


def _answer(select: exp.Select) -> tuple[exp.Select, str] | None:
    """The inner query with aggregates that a query without any is about, and its name."""
    if _aggregates(select) or any(v for k, v in select.args.items() if v and k not in _OUTSIDE):
        return None
    clause = select.args.get("from_") or select.args.get("from")
    source = None if clause is None else clause.this
    inner: object = None
    if isinstance(source, exp.Subquery) and set(_list_given_arguments(source)) <= {"this", "alias"}:
        inner = source.this
    elif isinstance(source, exp.Table) and set(_list_given_arguments(source)) <= {"this", "alias"}:
        inner = _common(select).get(source.name.lower())
    inner = flattened(inner) if isinstance(inner, exp.Select) else None
    if not isinstance(inner, exp.Select) or not _aggregates(inner):
        return None
    assert source is not None
    return inner, source.alias_or_name


def _merge_outer_query(select: exp.Select, inner: exp.Select, name: str) -> exp.Select:
    take(inner, COPIED)
    take(select, COPIED)
    made = inner.copy()
    for clause in _LAST:
        if made.args.get(clause) and select.args.get(clause):
            raise unsupported(
                construct=f"{clause.upper()} inside and outside", remedy="Write it once."
            )
    if (made.args.get("limit") or made.args.get("offset")) and select.args.get("where"):
        raise unsupported(
            construct="WHERE on an answer with LIMIT", remedy="Write HAVING and LIMIT together."
        )
    _name_groups(made)
    _name_aggregates(made)
    columns = {item.alias_or_name.lower(): item for item in made.expressions}

    def replace_outer_columns(node: exp.Expression) -> exp.Expression:
        return node.copy().transform(lambda part: _replaced(part, columns, name))

    items: list[Any] = []
    for item in select.expressions:
        if item.is_star:
            items += [column.copy() for column in made.expressions]
        else:
            items.append(
                exp.alias_(replace_outer_columns(item.unalias()), item.alias_or_name, quoted=True)
            )
    made.set("expressions", items)
    where = select.args.get("where")
    if where is not None:
        made.having(replace_outer_columns(where.this), copy=False)
    for clause in _LAST:
        if select.args.get(clause):
            made.set(clause, replace_outer_columns(select.args[clause]))
    outer = select.args.get("with_") or select.args.get("with")
    if outer is not None:
        key = "with_" if "with_" in select.args else "with"
        own = made.args.get(key)
        every = [*outer.expressions, *(own.expressions if own is not None else ())]
        made.set(key, exp.With(expressions=[table.copy() for table in every]))
    return made


def _replaced(
    node: exp.Expression, columns: Mapping[str, exp.Expression], name: str
) -> exp.Expression:
    """A column of the answer as the inner query computes it."""
    if not isinstance(node, exp.Column):
        return node
    item = columns.get(node.name.lower())
    if item is None or (node.table and node.table.lower() != name.lower()):
        raise InvalidParameter(
            code="unknown_column",
            expectation=f"one of the columns {sorted(columns)} of the inner query",
            received=node.sql(),
            remedy="Name a column that the inner query selects.",
        )
    take(item, COPIED)
    inside: Any = item.unalias().copy()
    plain = isinstance(inside, exp.Column | exp.AggFunc | exp.Literal | exp.Paren)
    return exp.Paren(this=inside) if not plain else inside


def _name_groups(select: exp.Select) -> None:
    """GROUP BY by number, written out before the columns change places."""
    group = select.args.get("group")
    for key in () if group is None else group.expressions:
        if isinstance(key, exp.Literal) and key.is_int:
            place = int(key.name) - 1
            if 0 <= place < len(select.expressions):
                key.replace(select.expressions[place].unalias().copy())


def _name_aggregates(select: exp.Select) -> None:
    """HAVING and ORDER BY by the names of aggregates, written out before these may go."""
    named = {
        item.alias.lower(): item.this
        for item in select.expressions
        if isinstance(item, exp.Alias) and item.find(exp.AggFunc) is not None
    }

    def meant(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Column) or node.table or node.name.lower() not in named:
            return node
        return exp.Paren(this=named[node.name.lower()].copy())

    for clause in ("having", "order"):
        if select.args.get(clause) is not None:
            select.set(clause, select.args[clause].transform(meant))


def _common(select: exp.Select) -> dict[str, exp.Expression]:
    clause = select.args.get("with_") or select.args.get("with")
    if clause is None or clause.args.get("recursive"):
        return {}
    return {
        table.alias.lower(): table.this
        for table in clause.expressions
        if not table.args["alias"].columns
    }


def _aggregates(select: exp.Select) -> bool:
    grouped = bool(select.args.get("group") or select.args.get("having"))
    return grouped or any(item.find(exp.AggFunc) is not None for item in select.expressions)


def _list_given_arguments(node: exp.Expression) -> list[str]:
    return [name for name, value in node.args.items() if value]


def written_out(select: exp.Select) -> exp.Select:
    """The SELECT itself, or the one that its only column stands for."""
    tops = [node for node in nodes(*select.expressions) if _is_top(node)]
    if not tops:
        return select
    (item, *others), (top, *_) = select.expressions, tops
    inside = item.this if isinstance(item, exp.Alias) else item
    clauses = [name for name in ("group", "having", "order", "limit") if select.args.get(name)]
    if others or inside is not top or clauses:
        raise unsupported(
            construct=f"{_top_name(top).upper()} beside other columns or clauses",
            remedy="Ask for it alone, or write GROUP BY x ORDER BY COUNT(*) DESC LIMIT k.",
        )
    key, most = _top_arguments(top)
    count = exp.Count(this=exp.Star())
    made = select.copy()
    named = [_aliased(key.copy(), item.alias)]
    if _top_name(top) == _COUNTED:
        named.append(_aliased(count.copy(), "count"))
    made.set("expressions", named)
    made.set("group", exp.Group(expressions=[key.copy()]))
    made.set("order", exp.Order(expressions=[exp.Ordered(this=count.copy(), desc=True)]))
    made.set("limit", exp.Limit(expression=most.copy()))
    return made


def _aliased(node: exp.Expression, alias: str) -> exp.Expression:
    return exp.Alias(this=node, alias=exp.to_identifier(alias)) if alias else node


def _is_top(node: exp.Expression) -> bool:
    return isinstance(node, exp.ApproxTopK) or _top_name(node) == _COUNTED


def _top_name(node: exp.Expression) -> str:
    if isinstance(node, exp.ApproxTopK):
        return "approx_top_k"
    return node.name.lower() if isinstance(node, exp.Anonymous) else ""


def _top_arguments(top: exp.Expression) -> tuple[exp.Expression, exp.Expression]:
    given = top.expressions if isinstance(top, exp.Anonymous) else [top.this, top.expression]
    if len(given) != 2 or not (isinstance(given[1], exp.Literal) and given[1].is_int):
        raise unsupported(
            construct=f"{_top_name(top).upper()} without a whole number of values",
            remedy="Write APPROX_TOP_K(x, 5).",
        )
    return given[0], given[1]
