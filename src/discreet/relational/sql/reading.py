"""Which parts of a parsed query were read; a part that nobody read is refused by name.

The parser knows many dialects and hands over whatever it was given. So every node is watched: its
parts remember whether they were asked for by name. After translation the tree that was read is
compared with the tree that was used, and a clause that was written and not read is a refusal, not
a silence. The mechanism knows no list of clauses: what a later parser adds is refused too.

Scalar expressions have their own rule, the strictest there is (``parsed.only``), so that here only
the nodes between them are looked at. What is copied to be rewritten is watched as the copy: use
``copied`` and not ``copy`` while translating. A common table that no FROM names means nothing in
SQL either.

Source: contract, "What may be seen".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeVar

from sqlglot import exp

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.relational.limits.public_work import TooMuchPublicWork
from discreet.relational.sql.tree import children, nodes
from discreet.relational.sql.wording import part_words

_MARK = "watched"
_QUERIES = (exp.Query, exp.CTE, exp.With, exp.Table, exp.TableAlias, exp.From, exp.Join, exp.Where)
_CLAUSES = (exp.Having, exp.Group, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Fetch)
_OTHERS = (exp.LimitOptions, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.Distinct)
WATCHED: tuple[type[exp.Expression], ...] = (*_QUERIES, *_CLAUSES, *_OTHERS, exp.Star)  # type: ignore[assignment]
"""Nodes between scalar expressions: whatever they hold has to be read."""


class _Parts(dict[str, Any]):
    """The parts of a node, which remember those that were asked for by name."""

    __slots__ = ("read",)

    def __init__(self, parts: dict[str, Any]) -> None:
        super().__init__(parts)
        self.read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class _Mark:
    """On a node: tells whether the node was copied, and its copy is to be read instead."""

    __slots__ = ("copied", "copies")

    def __init__(self, copies: list[exp.Expression]) -> None:
        self.copied = False
        self.copies = copies

    def __deepcopy__(self, memo: object) -> None:
        self.copied = True


def watched(tree: exp.Expression, copies: list[exp.Expression] | None = None) -> exp.Expression:
    """The same tree, in which every node between scalar expressions is watched from now on."""
    hash(tree)  # kept by the nodes: to compare two of them later reads nothing
    copies = [] if copies is None else copies
    for node in nodes(tree):
        if isinstance(node, WATCHED):
            node.args = _Parts(node.args)
            node.meta[_MARK] = _Mark(copies)
    return tree


def copied(node: exp.Expression) -> exp.Expression:
    """A copy to be changed and read in the place of a node; it is watched as the node was."""
    mark = _mark(node)
    made = node.copy()
    if mark is not None:
        mark.copies.append(watched(made, mark.copies))
    return made


def rewritten(made: exp.Expression, node: exp.Expression) -> exp.Expression:
    """What was made of copies of a node and stands in its place: watched as the node was."""
    mark = _mark(node)
    if mark is not None:
        mark.copies.append(watched(made, mark.copies))
    return made


def _mark(tree: exp.Expression) -> _Mark | None:
    """The first mark in a tree; all of one question know the same copies."""
    marks = (node.meta.get(_MARK) for node in nodes(tree) if isinstance(node, WATCHED))
    return next((mark for mark in marks if isinstance(mark, _Mark)), None)


Tried = TypeVar("Tried")


def tried(tree: exp.Expression, read: Callable[[], Tried]) -> Tried | None:
    """What a way to read a tree gives; None if it is refused, and then nothing counts as read."""
    marked = [node for node in nodes(tree) if isinstance(node.args, _Parts)]
    before = [(node, set(node.args.read), node.meta[_MARK].copied) for node in marked]
    mark = _mark(tree)
    size = 0 if mark is None else len(mark.copies)
    try:
        return read()
    except TooMuchPublicWork:
        raise
    except DiscreetError:
        for node, known, copied_before in before:
            node.args.read = known
            node.meta[_MARK].copied = copied_before
        if mark is not None:
            del mark.copies[size:]
        return None


def without_effect(clause: exp.Expression) -> None:
    """Count a clause as read that says nothing where it stands, such as an order of rows."""
    for node in nodes(clause):
        if isinstance(node.args, _Parts):
            node.args.read |= node.args.keys()


def require_all_read(tree: exp.Expression) -> None:
    """Refuse, by name, the first part of a watched tree that was given and not read."""
    mark = _mark(tree)
    _require_read(tree, *(() if mark is None else mark.copies))


def require_read(tree: exp.Expression) -> None:
    """The same for a tree that is about to leave the one that it is a part of."""
    _require_read(tree)


def _require_read(*trees: exp.Expression) -> None:
    for node, key in chain.from_iterable(map(_unread, trees)):
        raise InvalidParameter(
            code="unsupported_sql",
            expectation="SQL that the curator understands, in every part",
            received=part_words(node, key),
            remedy="Leave that part out; nothing that is written is ignored.",
        )


def _unread(tree: exp.Expression) -> Iterator[tuple[exp.Expression, str]]:
    """Parts that nobody asked for, from the outside in."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        parts = node.args
        if isinstance(parts, _Parts):
            if node.meta[_MARK].copied or (not parts.read and isinstance(node.parent, exp.CTE)):
                continue
            for key, value in parts.items():
                if is_value_present(value) and key not in parts.read:
                    yield node, key
        waiting += children(node)


def is_value_present(value: object) -> bool:
    """Whether the parser put something there: a node, a word, a mark that is set."""
    return value is not None and value is not False and value not in ([], "")
