"""How long a text is with its named queries written out: counted before any of them is.

A named query is written once and may be read many times, by queries that are read many times
themselves: a short text then stands for an endless one. With every named query in the place of
its name a text may have ``WRITTEN_OUT`` nodes, or ``REPEATED`` times its own. Each named
query is counted once, from the sizes of those before it.

Source: contract, "What may be seen" (the resources of planning are public).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.sql.tree import children, nodes

MAX_NAMED = 200
"""Named queries of one text."""
WRITTEN_OUT, REPEATED = 10_000, 2
"""Nodes of a text with its named queries written out, or so many times its own."""


def require_written_out(tree: exp.Expression) -> None:
    """Refuse a text that its named queries make too long, before any is written out."""
    own = nodes(tree)
    named = [node for node in own if isinstance(node, exp.CTE)]
    if not named:
        return
    if len(named) > MAX_NAMED:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"at most {MAX_NAMED} named queries in one question",
            received=len(named),
            remedy="Ask for less at once.",
        )
    most = max(WRITTEN_OUT, REPEATED * len(own))
    size = _size(tree, {})
    if size > most:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"at most {most} parts with every named query in the place of its name",
            received=min(size, 10**18),
            remedy="Name a common table fewer times: common tables count wherever they are named.",
        )


def _size(tree: exp.Expression, scope: Mapping[str, int]) -> int:
    """The nodes of a tree with the named queries of ``scope``, of these sizes, written out."""
    clause = tree.args.get("with_") or tree.args.get("with")
    if isinstance(clause, exp.With):
        inner = dict(scope)
        for query in clause.expressions:
            inner[query.alias.lower()] = _size(query.this, inner)
        scope = inner
    total, waiting = 1, [part for part in children(tree) if part is not clause]
    while waiting:
        node = waiting.pop()
        if node.args.get("with_") or node.args.get("with"):
            total += _size(node, scope)
            continue
        total += 1
        if isinstance(node, exp.Table) and not node.args.get("db"):
            total += scope.get(node.name.lower(), 0)
        waiting += children(node)
    return total
