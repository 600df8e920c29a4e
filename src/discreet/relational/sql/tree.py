"""The nodes of a parsed text, in one plain loop.

The parser's own walk calls five functions for each node, and a question is looked through a dozen
times before it is understood.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from discreet.relational.sql.reading_work import take_nodes

_LEAVES = frozenset({type(None), bool, str, int})
"""What most parts of most nodes are."""


def nodes(*trees: exp.Expression | None) -> list[Any]:
    """The nodes of trees, from the outside in: every node before those below it."""
    found: list[Any] = [tree for tree in trees if tree is not None]
    for node in found:  # it grows meanwhile
        for value in node.args.values():
            if value.__class__ in _LEAVES:
                continue
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, exp.Expression)]
            elif isinstance(value, exp.Expression):
                found.append(value)
    take_nodes(len(found))
    return found


def children(node: exp.Expression) -> list[Any]:
    """The nodes just below a node. To list them is not to read them (``reading.py``)."""
    found: list[Any] = []
    for value in node.args.values():
        if value.__class__ in _LEAVES:
            continue
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, exp.Expression)]
        elif isinstance(value, exp.Expression):
            found.append(value)
    take_nodes(len(found))
    return found


def take(tree: exp.Expression, times: int = 1) -> None:
    """Take the nodes of a tree that is about to be gone through otherwise, or so many times."""
    take_nodes((times - 1) * len(nodes(tree)))


COPIED = 32
"""How many nodes are gone through in the time in which one is copied."""


def has(tree: exp.Expression, *kinds: Any) -> bool:
    """Whether a node of one of these kinds is anywhere in a tree."""
    return bool([node for node in nodes(tree) if isinstance(node, kinds)])
