"""A SELECT with aggregates as two steps: keys and aggregates, and what is computed from them.

The first step is a query of its own, paid for or over answers. In the second, keys stand as the
columns ``k0``, ..., aggregates as ``a0``, ..., GROUPING(key) as ``g0``, ...: windows, quotients,
conditions and order of released values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.limits.resources import require_aggregates
from discreet.relational.sql.reading import copied
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.tree import COPIED, children, take

_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup)
_MOST_SETS = 64
_MOST_KEYS = 64


@dataclass
class SelectParts:
    """Keys with the ways they are grouped in, aggregates, and the columns over them."""

    keys: list[exp.Expression]
    sets: list[tuple[int, ...]]
    outputs: list[tuple[str, exp.Expression]]
    aliases: dict[str, exp.Expression]
    aggregates: list[exp.Expression] = field(default_factory=list)

    @classmethod
    def of(cls, select: exp.Select) -> SelectParts:
        """Read GROUP BY and the columns."""
        outputs = named_outputs(select)
        aliases = {
            item.alias.lower(): item.this
            for item in select.expressions
            if isinstance(item, exp.Alias)
        }
        keys, sets = _grouping(select, aliases)
        return cls(keys, sets, outputs, aliases)

    @property
    def several(self) -> bool:
        """Whether rows are grouped in more than one way, or added up over some key."""
        return self.sets != [tuple(range(len(self.keys)))]

    def over(self, node: exp.Expression) -> exp.Expression:
        """A node over the columns of the first step; aggregates in it are noted."""
        node = copied(node)
        holder = exp.Paren(this=node)
        self._replace(node, frozenset())
        made = holder.this
        made.pop()
        return made  # type: ignore[no-any-return]

    def _replace(self, node: exp.Expression, seen: frozenset[str]) -> None:
        place = self._key(node)
        if place is not None:
            node.replace(exp.column(f"k{place}"))
        elif isinstance(node, exp.Grouping):
            places = [self._key(each) for each in node.expressions]
            if len(places) != 1 or places[0] is None:
                raise unsupported(construct="GROUPING of no key", remedy="Name one of the keys.")
            node.replace(exp.column(f"g{places[0]}"))
        elif isinstance(node, _AGGREGATES) and not _is_window_function(node):
            node.replace(exp.column(f"a{self._aggregate(node)}"))
        elif isinstance(node, exp.Column) and not node.table:
            self._replace_alias(node, seen)
        elif not isinstance(node, exp.Subquery | exp.Select):
            for part in list(node.iter_expressions()):
                self._replace(part, seen)

    def _replace_alias(self, node: exp.Column, seen: frozenset[str]) -> None:
        name = node.name.lower()
        target = self.aliases.get(name)
        if target is None or name in seen or isinstance(target, exp.Column):
            raise InvalidParameter(
                code="not_grouped",
                expectation="only keys and aggregates outside of aggregates",
                received=node.sql(),
                remedy="Add the column to GROUP BY, or aggregate it.",
            )
        take(target, COPIED)
        inside = exp.Paren(this=target.copy())
        node.replace(inside)
        self._replace(inside.this, seen | {name})

    def _key(self, node: exp.Expression) -> int | None:
        for place, key in enumerate(self.keys):
            if node == key or _same_column(node, key):
                return place
        return None

    def _aggregate(self, node: exp.Expression) -> int:
        if node not in self.aggregates:
            self.aggregates.append(node.copy())
            require_aggregates(len(self.aggregates))
        return self.aggregates.index(node)


def _same_column(node: exp.Expression, key: exp.Expression) -> bool:
    """Whether two columns are the same where one of them leaves its table out."""
    if not isinstance(node, exp.Column) or not isinstance(key, exp.Column):
        return False
    tables = (node.table.lower(), key.table.lower())
    return node.name.lower() == key.name.lower() and (tables[0] == tables[1] or "" in tables)


def _is_window_function(node: exp.Expression) -> bool:
    """Whether an aggregate is the function of a window, which comes after."""
    parent = node.parent
    if isinstance(parent, exp.Filter) and node.arg_key == "this":
        return _is_window_function(parent)
    return isinstance(parent, exp.Window) and node.arg_key == "this"


def has_aggregates(select: exp.Select) -> bool:
    """Whether a SELECT groups or aggregates; functions of windows do not."""
    if select.args.get("group") or select.args.get("having"):
        return True
    places: list[Any] = [*select.expressions]
    if select.args.get("order"):
        places += select.args["order"].expressions
    return any(
        isinstance(node, exp.AggFunc) and not _is_window_function(node)
        for place in places
        for node in _walk(place)
    )


def _walk(node: exp.Expression) -> Iterator[exp.Expression]:
    """A node and its parts, other queries in it left out."""
    if isinstance(node, exp.Query):
        return
    yield node
    for part in node.iter_expressions():
        yield from _walk(part)


def inside(node: exp.Expression, *kinds: type) -> list[Any]:
    """The outermost nodes of some kinds, other queries left out unless they are asked for."""
    if isinstance(node, kinds):
        return [node]
    if isinstance(node, exp.Query):
        return []
    return [found for part in children(node) for found in inside(part, *kinds)]


def named_outputs(select: exp.Select) -> list[tuple[str, exp.Expression]]:
    """The columns of a SELECT with their names."""
    found = []
    for place, item in enumerate(select.expressions):
        node = item.this if isinstance(item, exp.Alias) else item
        name = item.alias_or_name
        if not isinstance(item, exp.Alias) and not isinstance(node, exp.Column):
            text = item.sql(dialect="duckdb").lower()
            name = text if len(text) < 60 else f"column_{place + 1}"
        found.append((name, node))
    return found


def _grouping(
    select: exp.Select, aliases: dict[str, exp.Expression]
) -> tuple[list[exp.Expression], list[tuple[int, ...]]]:
    group = select.args.get("group")
    if group is None:
        return [], [()]
    if any(value for name, value in group.args.items() if name != "expressions"):
        raise unsupported(construct="GROUP BY with options", remedy="List the keys.")
    keys: list[exp.Expression] = []

    def place(node: exp.Expression) -> int:
        meant = _meant(node, select, aliases)
        if meant not in keys:
            keys.append(meant)
            if len(keys) > _MOST_KEYS:
                raise unsupported(construct=f"more than {_MOST_KEYS} keys", remedy="Use fewer.")
        return keys.index(meant)

    ways = [_sets(part, place) for part in group.expressions]
    _require_few(math.prod(map(len, ways)))
    sets = [
        tuple(sorted({number for part in choice for number in part})) for choice in product(*ways)
    ]
    return keys, sets


def _require_few(sets: int) -> None:
    """Refuse more grouping sets than are computed; counted before they are written out."""
    if sets > _MOST_SETS:
        raise unsupported(
            construct=f"more than {_MOST_SETS} grouping sets", remedy="Name those you need."
        )


def _sets(part: exp.Expression, place: Any) -> list[tuple[int, ...]]:
    """The alternatives that one term of GROUP BY gives."""
    match part:
        case exp.Rollup():
            _require_few(len(part.expressions) + 1)
            terms = [_together(each, place) for each in part.expressions]
            return [sum(terms[:most], ()) for most in range(len(terms), -1, -1)]
        case exp.Cube():
            _require_few(1 << min(len(part.expressions), 64))
            terms = [_together(each, place) for each in part.expressions]
            return [
                sum(chosen, ())
                for most in range(len(terms), -1, -1)
                for chosen in combinations(terms, most)
            ]
        case exp.GroupingSets():
            return [
                chosen
                for each in part.expressions
                for chosen in (
                    _sets(each, place)
                    if isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets)
                    else [_together(each, place)]
                )
            ]
    return [(place(part),)]


def _together(node: exp.Expression, place: Any) -> tuple[int, ...]:
    if isinstance(node, exp.Tuple):
        return tuple(place(each) for each in node.expressions)
    return (place(node.this if isinstance(node, exp.Paren) else node),)


def _meant(
    node: exp.Expression, select: exp.Select, aliases: dict[str, exp.Expression]
) -> exp.Expression:
    if isinstance(node, exp.Literal) and node.is_int:
        place = int(node.name) - 1
        if 0 <= place < len(select.expressions):
            return select.expressions[place].unalias()  # type: ignore[no-any-return]
    if isinstance(node, exp.Column) and not node.table:
        return aliases.get(node.name.lower(), node)
    return node
