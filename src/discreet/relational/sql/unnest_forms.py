"""The places in which systems write UNNEST of a row's own text, as one: a join with UNNEST.

- ``SELECT unnest(string_split(tags, ';')) AS tag FROM v``, of DuckDB and PostgreSQL;
- ``FROM v, LATERAL unnest(...)`` and ``LATERAL (SELECT unnest(...) AS tag)``, of PostgreSQL;
- ``FROM v LATERAL VIEW explode(split(tags, ';')) t AS tag``, of Spark;
- ``FROM v, string_to_table(tags, ';') AS t(tag)`` and ``regexp_split_to_table``, of PostgreSQL.

What is split by a regular expression is read where the expression is plain letters. Everything
made here is read like anything that was written.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import TokenType, exp

from discreet.relational.sql.dialect import QueryDialect
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.tree import nodes

HIDDEN_ELEMENTS = "!unnest"
"""How a table of elements is called that nobody named."""
ORDINALITY = "ordinality"
"""The part of an UNNEST that says that places count from one: the parser forgets the word."""
_ELEMENT = "element"
_TABLES = ("string_to_table", "regexp_split_to_table")
_BY_PATTERN = ("regexp_split_to_table", "regexp_split_to_array", "regexp_split")
_PLAIN = re.compile(r"[^\\.^$*+?()\[\]{}|]+")


def numbered(tree: exp.Expression, text: str) -> exp.Expression:
    """The tree in which elements know where their numbers begin: WITH OFFSET counts from nought."""
    counted = [node for node in nodes(tree) if isinstance(node, exp.Unnest | exp.Lateral)]
    if not any(node.args.get("offset") or node.args.get(ORDINALITY) for node in counted):
        return tree
    words = [token.token_type for token in sqlglot.tokenize(text, read=QueryDialect)]
    pairs = set(pairwise(words))
    ways = [word for word in (TokenType.ORDINALITY, TokenType.OFFSET) if (_WITH, word) in pairs]
    if len(ways) > 1:
        raise unsupported(
            construct="WITH ORDINALITY and WITH OFFSET in one question", remedy="Write one of them."
        )
    for node in counted:
        node.set(ORDINALITY, ways[0].name if ways == [TokenType.ORDINALITY] else None)
    return tree


_WITH = TokenType.WITH


def unnest_joined(select: exp.Select) -> None:
    """Change a SELECT in place: whatever unnests in it is a join."""
    joins: list[Any] = select.args.get("joins") or []
    for join in joins:
        found = _unnest(join.this)
        if found is not None:
            join.set("this", found)
    views = select.args.get("laterals") or []
    if views and all(_is_view(view) for view in views):
        joins += [_viewed(view) for view in views]
        select.set("laterals", None)
    listed = _selected(select)
    if len({node.sql() for node in listed}) == 1:
        joins = [*joins, exp.Join(this=_hidden(listed[0]), kind="CROSS")]
        for node in listed:
            _replace_unnest_call(node, select)
        if not (select.args.get("from_") or select.args.get("from")):
            select.set("from_", exp.From(this=joins.pop().this))
    if joins or select.args.get("joins"):
        select.set("joins", joins or None)


def _unnest(node: exp.Expression) -> exp.Unnest | None:
    """What an item of FROM unnests; None where it is something else, or UNNEST already."""
    if isinstance(node, exp.Lateral) and not node.args.get("view"):
        inside, alias = node.this, node.args.get("alias")
        query = inside.this if isinstance(inside, exp.Subquery) else None
        if isinstance(inside, exp.Unnest) and not inside.args.get("alias"):
            made = inside.copy()
            _name(made, alias)
            return made
        if isinstance(query, exp.Select) and _only_unnests(query):
            item = query.expressions[0]
            named = exp.TableAlias(
                this=None if alias is None else alias.this,
                columns=(None if alias is None else alias.columns)
                or [exp.to_identifier(item.alias or "unnest")],
            )
            return exp.Unnest(expressions=[item.unalias().this.copy()], alias=named)
    called = node.this if isinstance(node, exp.Table) else None
    if isinstance(called, exp.Anonymous) and called.name.lower() in _TABLES:
        split = _split(called)
        if split is not None and not _more(node):
            return exp.Unnest(expressions=[split], alias=node.args.get("alias"))
    if isinstance(node, exp.Unnest):
        for part in list(node.expressions):
            _with_splits(part)
    return None


def _name(made: exp.Unnest, alias: Any) -> None:
    """Give an UNNEST its alias; with numbers, the last name is theirs."""
    if alias is None:
        return
    columns = list(alias.columns)
    if made.args.get("offset") is True and len(columns) > 1:
        made.set("offset", columns.pop())
    made.set("alias", exp.TableAlias(this=alias.this, columns=columns or None))


def _more(node: exp.Expression) -> bool:
    return any(value and key not in ("this", "alias") for key, value in node.args.items())


def _only_unnests(query: exp.Select) -> bool:
    given = {key for key, value in query.args.items() if value}
    one = len(query.expressions) == 1 and isinstance(query.expressions[0].unalias(), exp.Explode)
    return one and given == {"expressions"}


def _is_view(view: exp.Expression) -> bool:
    alias = view.args.get("alias")
    named = alias is not None and len(alias.columns) == 1
    return type(view.this) is exp.Explode and bool(view.args.get("view")) and named


def _viewed(view: exp.Expression) -> exp.Join:
    """LATERAL VIEW [OUTER] explode(...) t AS tag."""
    _with_splits(view.this)
    unnest = exp.Unnest(expressions=[view.this.this], alias=view.args["alias"])
    if view.args.get("outer"):
        return exp.Join(this=unnest, side="LEFT", on=exp.true())
    return exp.Join(this=unnest, kind="CROSS")


def _selected(select: exp.Select) -> list[Any]:
    """The calls of unnest in what is selected and grouped by, but for those of inner queries."""
    waiting: list[Any] = [*select.expressions, select.args.get("group")]
    found: list[Any] = []
    while waiting:
        node = waiting.pop()
        if type(node) is exp.Explode:
            found.append(node)
        elif isinstance(node, exp.Expression) and not isinstance(node, exp.Query):
            waiting += list(node.iter_expressions())
    for node in found:
        _with_splits(node)
    return found


def _hidden(node: exp.Explode) -> exp.Unnest:
    return exp.Unnest(
        expressions=[node.this.copy()],
        alias=exp.TableAlias(
            this=exp.to_identifier(HIDDEN_ELEMENTS, quoted=True),
            columns=[exp.to_identifier(_ELEMENT)],
        ),
    )


def _replace_unnest_call(node: exp.Explode, select: exp.Select) -> None:
    """The column that stands where unnest was called; without a name it is called so."""
    alone = node.parent is select
    column: Any = exp.column(_ELEMENT, table=exp.to_identifier(HIDDEN_ELEMENTS, quoted=True))
    node.replace(exp.alias_(column, "unnest") if alone else column)


def _with_splits(tree: exp.Expression) -> None:
    """Splits by a regular expression of plain letters, as plain splits."""
    for node in nodes(tree):
        if isinstance(node, exp.Anonymous | exp.RegexpSplit):
            split = _split(node)
            if split is not None:
                node.replace(split)


def _split(node: exp.Expression) -> exp.Expression | None:
    """A call as a plain split; None where it is none."""
    if isinstance(node, exp.RegexpSplit):
        name, parts = "regexp_split", [node.this, node.expression]
    else:
        name, parts = node.name.lower(), node.expressions
    if name not in (*_TABLES, *_BY_PATTERN) or len(parts) != 2:
        return None
    pattern = parts[1]
    by_letters = isinstance(pattern, exp.Literal) and pattern.is_string
    if name in _BY_PATTERN and not (by_letters and _PLAIN.fullmatch(pattern.name)):
        return None
    return exp.Split(this=parts[0].copy(), expression=pattern.copy())
