"""``APPROX_TOP_K(x, k)`` and ``APPROX_TOP_COUNT(x, k)``, written out as what they mean.

The first gives the k most frequent values, as in DuckDB; the second their counts as well, as in
BigQuery. Both become GROUP BY, ORDER BY and LIMIT, which act on released values or rank privately.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.relational.sql.relation import unsupported

_COUNTED = "approx_top_count"


def written_out(select: exp.Select) -> exp.Select:
    """The SELECT itself, or the one that its only column stands for."""
    tops = [
        node for item in select.expressions for node in item.find_all(exp.Func) if _is_top(node)
    ]
    if not tops:
        return select
    (item, *others), (top, *_) = select.expressions, tops
    inside = item.this if isinstance(item, exp.Alias) else item
    clauses = [name for name in ("group", "having", "order", "limit") if select.args.get(name)]
    if others or inside is not top or clauses:
        raise unsupported(
            construct=f"{_name(top).upper()} beside other columns or clauses",
            remedy="Ask for it alone, or write GROUP BY x ORDER BY COUNT(*) DESC LIMIT k.",
        )
    key, most = _arguments(top)
    count = exp.Count(this=exp.Star())
    made = select.copy()
    named = [_named(key.copy(), item.alias)]
    if _name(top) == _COUNTED:
        named.append(_named(count.copy(), "count"))
    made.set("expressions", named)
    made.set("group", exp.Group(expressions=[key.copy()]))
    made.set("order", exp.Order(expressions=[exp.Ordered(this=count.copy(), desc=True)]))
    made.set("limit", exp.Limit(expression=most.copy()))
    return made


def _named(node: exp.Expression, alias: str) -> exp.Expression:
    return exp.Alias(this=node, alias=exp.to_identifier(alias)) if alias else node


def _is_top(node: exp.Expression) -> bool:
    return isinstance(node, exp.ApproxTopK) or _name(node) == _COUNTED


def _name(node: exp.Expression) -> str:
    if isinstance(node, exp.ApproxTopK):
        return "approx_top_k"
    return node.name.lower() if isinstance(node, exp.Anonymous) else ""


def _arguments(top: exp.Expression) -> tuple[exp.Expression, exp.Expression]:
    given = top.expressions if isinstance(top, exp.Anonymous) else [top.this, top.expression]
    if len(given) != 2 or not (isinstance(given[1], exp.Literal) and given[1].is_int):
        raise unsupported(
            construct=f"{_name(top).upper()} without a whole number of values",
            remedy="Write APPROX_TOP_K(x, 5).",
        )
    return given[0], given[1]
