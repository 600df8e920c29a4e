"""Constructs that are written with others: the tree with plainer words for what it says.

- ``SAFE_DIVIDE(a, b)`` is ``a / b``, which is NULL where b is zero here;
- ``REGR_SLOPE(y, x)`` and its sisters are covariances, variances, means and counts over the rows
  that have both numbers;
- a semi join is ``WHERE EXISTS``, an anti join ``WHERE NOT EXISTS``;
- UNNEST in all the places in which systems have it is a join with UNNEST (``unnest_forms.py``);
- names of columns after a common table, ``WITH t (a, b) AS``, are names inside of it;
- two columns that were computed alike and have no name are told apart by a number.

Everything made here is read like anything that was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from discreet.relational.sql.tree import nodes
from discreet.relational.sql.unnest_forms import unnest_joined

Rewrite = Callable[[Any], exp.Expression]


def plainer(tree: exp.Expression) -> exp.Expression:
    """The same statement in plainer words; the tree is changed in place."""
    for node in nodes(tree):
        rewrite = _REWRITES.get(type(node))
        if rewrite is not None:
            made = rewrite(node)
            if node is tree:
                tree = made
            elif made is not node:
                node.replace(made)
    return tree


def _divided(node: exp.Expression) -> exp.Expression:
    """A quotient; the operands keep their brackets."""
    return exp.Paren(
        this=exp.Div(this=exp.Paren(this=node.this), expression=exp.Paren(this=node.expression))
    )


def _present(value: exp.Expression, other: exp.Expression) -> exp.Expression:
    """A value in the rows in which the other one is there, too."""
    there = exp.Not(this=exp.Is(this=exp.Paren(this=other.copy()), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=there, true=value.copy())])


def _slope(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    covariance = exp.CovarPop(this=y.copy(), expression=x.copy())
    return exp.Paren(this=exp.Div(this=covariance, expression=exp.VariancePop(this=_present(x, y))))


def _intercept(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    along = exp.Mul(this=_slope(y, x), expression=exp.Avg(this=_present(x, y)))
    return exp.Paren(this=exp.Sub(this=exp.Avg(this=_present(y, x)), expression=along))


def _share(y: exp.Expression, x: exp.Expression) -> exp.Expression:
    correlation = exp.Corr(this=y.copy(), expression=x.copy())
    return exp.Paren(this=exp.Mul(this=correlation, expression=correlation.copy()))


def _of_pairs(
    build: Callable[[exp.Expression, exp.Expression], exp.Expression],
) -> Rewrite:
    return lambda node: build(node.this, node.expression)


def _named_inside(table: exp.CTE) -> exp.Expression:
    """A common table whose columns have the names that stood after its own."""
    alias = table.args["alias"]
    names = alias.columns
    first = table.this
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not names or not isinstance(first, exp.Select):
        return table
    items = first.expressions
    if len(items) != len(names) or any(item.is_star for item in items):
        return table
    first.set(
        "expressions",
        [exp.Alias(this=i.unalias(), alias=n.copy()) for i, n in zip(items, names, strict=True)],
    )
    alias.set("columns", None)
    return table


def _selected(select: exp.Select) -> exp.Expression:
    """A SELECT with its semi joins as conditions, unnested, and a name for each column."""
    unnest_joined(select)
    joins = select.args.get("joins") or []
    tests = [join for join in joins if join.args.get("kind") in _TESTS]
    clause = select.args.get("from_") or select.args.get("from")
    kept = all((join.side or "").upper() in ("", "LEFT") for join in joins)
    left = "" if clause is None else clause.this.alias_or_name
    for join in tests if left and kept else ():
        test = _exists(join, left)
        if test is not None:
            joins.remove(join)
            select.where(test, copy=False)
    select.set("joins", joins or None)
    if select.parent is None:
        _numbered(select)
    return select


_TESTS = ("SEMI", "ANTI")


def _exists(join: exp.Join, left: str) -> exp.Expression | None:
    """The condition that a semi or anti join puts; None where it says something else."""
    right, using, on = join.this, join.args.get("using") or [], join.args.get("on")
    extra = [key for key, value in join.args.items() if value and key not in _READ]
    if extra or join.args.get("side") not in (None, "", "LEFT") or not right.alias_or_name:
        return None
    equal = [
        exp.EQ(
            this=exp.column(name.copy(), table=left),
            expression=exp.column(name.copy(), table=right.alias_or_name),
        )
        for name in using
    ]
    if on is not None and not all(column.table for column in on.find_all(exp.Column)):
        return None  # inside EXISTS a name without its table could mean another column
    if not equal and on is None:
        return None
    condition = exp.and_(*equal, *([] if on is None else [on]))
    inner = exp.select(exp.Literal.number(1)).from_(right).where(condition)
    test = exp.Exists(this=inner)
    return test if join.args.get("kind") == "SEMI" else exp.Not(this=test)


_READ = ("this", "side", "kind", "using", "on")


def _numbered(select: exp.Select) -> None:
    """Columns without a name of their own that look alike: the second has ``_1`` after it."""
    seen: Counter[str] = Counter()
    for item in list(select.expressions):
        if isinstance(item, exp.Alias | exp.Column) or item.is_star:
            continue
        name = item.sql(dialect="duckdb").lower()
        if seen[name]:
            item.replace(exp.alias_(item.copy(), f"{name}_{seen[name]}", quoted=True))
        seen[name] += 1


def _of_names(names: Mapping[str, Rewrite]) -> dict[type, Rewrite]:
    return {getattr(exp, name): rewrite for name, rewrite in names.items() if hasattr(exp, name)}


_REWRITES: dict[type, Rewrite] = _of_names(
    {
        "SafeDivide": _divided,
        "RegrSlope": _of_pairs(_slope),
        "RegrIntercept": _of_pairs(_intercept),
        "RegrR2": _of_pairs(_share),
        "RegrCount": _of_pairs(lambda y, x: exp.Count(this=_present(x, y))),
        "RegrAvgx": _of_pairs(lambda y, x: exp.Avg(this=_present(x, y))),
        "RegrAvgy": _of_pairs(lambda y, x: exp.Avg(this=_present(y, x))),
        "CTE": _named_inside,
        "Select": _selected,
    }
)
