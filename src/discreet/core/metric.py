"""Distances between data sets and between values: adjacency as a type that cannot be mixed up.

Each metric can compute a distance and, for small domains, list neighbours at distance one, so
that declared stabilities can be checked by brute force. ``metric_of`` turns a privacy unit into
its metric; add/remove and change-one are different types and only an explicit conversion
(:mod:`discreet.calculus.convert`) leads from one to the other.

Source: 000a:A1, 004a:A1, 004d:F1, 004d:F7, 004d:F9, 004d:F10.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from discreet.core.content import content
from discreet.core.domain import (
    Domain,
    Graph,
    Graphs,
    Integers,
    Parts,
    Reals,
    Record,
    Rows,
    Tables,
    Vector,
)
from discreet.core.errors import InvalidParameter
from discreet.core.unit import Edge, Node, Person, PrivacyUnit, Replace, Row


class Metric(ABC):
    """A distance on the members of suitable domains."""

    @abstractmethod
    def fits(self, domain: Domain) -> bool:
        """Whether the metric makes sense on ``domain``."""

    @abstractmethod
    def distance(self, left: Any, right: Any) -> Any:
        """How far apart two members are; infinity if not comparable."""

    def neighbours(self, value: Any, domain: Domain) -> Iterator[Any]:
        """All members at distance one, for metrics and domains that can list them."""
        raise InvalidParameter(
            code="neighbours_not_listed",
            expectation="a metric that can list neighbours",
            received=type(self).__name__,
            remedy="Use a metric on tables or graphs over a finite record domain.",
        )


@dataclass(frozen=True)
class AddRemove(Metric):
    """Rows present in one table and not in the other, counted with multiplicity."""

    def fits(self, domain: Domain) -> bool:
        """Tables whose number of rows is private."""
        return isinstance(domain, Rows) and domain.size is None

    def distance(self, left: Sequence[Any], right: Sequence[Any]) -> int:
        """Size of the symmetric difference of multisets."""
        return symmetric_difference(left, right)

    def neighbours(self, value: Sequence[Any], domain: Domain) -> Iterator[tuple[Any, ...]]:
        """Every row left out, every record of the universe added."""
        rows = tuple(value)
        for i in range(len(rows)):
            yield rows[:i] + rows[i + 1 :]
        if isinstance(domain, Rows):
            for record in domain.record.elements():
                yield (*rows, record)


@dataclass(frozen=True)
class ChangeOne(Metric):
    """Rows that must be exchanged to turn one table into another of the same, public, size."""

    def fits(self, domain: Domain) -> bool:
        """Tables whose number of rows is public."""
        return isinstance(domain, Rows) and domain.size is not None

    def distance(self, left: Sequence[Any], right: Sequence[Any]) -> float:
        """Half the symmetric difference; infinite between different sizes."""
        if len(left) != len(right):
            return math.inf
        return symmetric_difference(left, right) // 2

    def neighbours(self, value: Sequence[Any], domain: Domain) -> Iterator[tuple[Any, ...]]:
        """Every row exchanged for every other record of the universe."""
        rows = tuple(value)
        if isinstance(domain, Rows):
            for i, old in enumerate(rows):
                for record in domain.record.elements():
                    if record != old:
                        yield (*rows[:i], record, *rows[i + 1 :])


@dataclass(frozen=True)
class AddRemovePeople(Metric):
    """People who must leave or join, with all their rows, to make two data sets equal.

    ``owner`` is the index or key of the identifier. A person whose rows are not the same on the
    two sides leaves and joins again, which is two steps. Rows without an owner count as one
    person's; bounding drops them.
    """

    owner: Any

    def fits(self, domain: Domain) -> bool:
        """Tables whose number of rows is private, alone or several over one identifier."""
        if isinstance(domain, Tables):
            return all(self.fits(table) for table in domain.tables)
        if not isinstance(domain, Rows) or domain.size is not None:
            return False
        record = domain.record
        return not isinstance(record, Record) or self.owner in dict(record.columns)

    def distance(self, left: Any, right: Any) -> int:
        """Departures and arrivals of people, over all tables together."""
        nested = isinstance(left, tuple) and isinstance(right, tuple) and _nested(left + right)
        mine, theirs = (self._owned(side if nested else (side,)) for side in (left, right))
        return sum(
            (person in mine) + (person in theirs)
            for person in mine.keys() | theirs.keys()
            if mine.get(person) != theirs.get(person)
        )

    def _owned(self, tables: Sequence[Sequence[Any]]) -> dict[Any, Counter[Any]]:
        people: dict[Any, Counter[Any]] = {}
        for place, rows in enumerate(tables):
            for row in rows:
                own = people.setdefault(_key(row[self.owner]), Counter())
                own[place, _key(row)] += 1
        return people

    def neighbours(self, value: Sequence[Any], domain: Domain) -> Iterator[tuple[Any, ...]]:
        """Each person taken out with all their rows, from every table."""
        tables = value if isinstance(domain, Tables) else (value,)
        for person in dict.fromkeys(_key(row[self.owner]) for rows in tables for row in rows):
            left = tuple(
                tuple(row for row in rows if _key(row[self.owner]) != person) for rows in tables
            )
            yield left if isinstance(domain, Tables) else left[0]


@dataclass(frozen=True)
class AddRemoveEdges(Metric):
    """Edges present in one graph and not in the other, over the same nodes."""

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Graphs)

    def distance(self, left: Graph, right: Graph) -> float:
        """Infinite between graphs on different nodes, which are public here."""
        return len(left.edges ^ right.edges) if left.nodes == right.nodes else math.inf

    def neighbours(self, value: Graph, domain: Domain) -> Iterator[Graph]:
        """Each possible edge toggled."""
        for pair in combinations(sorted(value.nodes, key=repr), 2):
            yield Graph(value.nodes, value.edges ^ {frozenset(pair)})


@dataclass(frozen=True)
class AddRemoveNodes(Metric):
    """Nodes, with all their edges, that must leave or join to make two graphs equal."""

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Graphs)

    def distance(self, left: Graph, right: Graph) -> int:
        """Fewest removals from either that leave equal graphs; exhaustive, for small graphs."""
        gone = left.nodes ^ right.nodes
        shared = sorted(left.nodes & right.nodes, key=repr)
        for extra in range(len(shared) + 1):
            for leavers in combinations(shared, extra):
                out = gone | set(leavers)
                if _induced(left, out) == _induced(right, out):
                    # A node on one side only moves once; one on both is removed and re-added.
                    return len(gone) + 2 * extra
        return len(gone) + 2 * len(shared)

    def neighbours(self, value: Graph, domain: Domain) -> Iterator[Graph]:
        """Each node removed, and one new node joined to every set of old ones."""
        for node in sorted(value.nodes, key=repr):
            yield value.without(node)
        new = max((n for n in value.nodes if isinstance(n, int)), default=-1) + 1
        old = sorted(value.nodes, key=repr)
        for size in range(len(old) + 1):
            for friends in combinations(old, size):
                joined = frozenset(frozenset((new, friend)) for friend in friends)
                yield Graph(value.nodes | {new}, value.edges | joined)


@dataclass(frozen=True)
class SumOverParts(Metric):
    """Add/remove distances of corresponding parts or tables, added up."""

    def fits(self, domain: Domain) -> bool:
        """Tables cut into parts, or several tables side by side."""
        return isinstance(domain, (Parts, Tables))

    def distance(self, left: Any, right: Any) -> int:
        """Sum of the symmetric differences."""
        keys = left.keys() if hasattr(left, "keys") else range(len(left))
        return sum(symmetric_difference(left[key], right[key]) for key in keys)


@dataclass(frozen=True)
class Hamming(Metric):
    """Positions in which two vectors of the same length differ."""

    def fits(self, domain: Domain) -> bool:
        """Vectors of any kind of element."""
        return isinstance(domain, Vector)

    def distance(self, left: Sequence[Any], right: Sequence[Any]) -> int:
        """Number of differing positions."""
        return sum(_key(a) != _key(b) for a, b in zip(left, right, strict=True))


class _Norm(Metric):
    def fits(self, domain: Domain) -> bool:
        """Numbers and vectors of numbers."""
        element = domain.element if isinstance(domain, Vector) else domain
        return isinstance(element, (Integers, Reals))


@dataclass(frozen=True)
class L1(_Norm):
    """Sum of absolute differences; on single numbers the absolute difference."""

    def distance(self, left: Any, right: Any) -> float:
        """Exact on integers."""
        total: float = sum(_differences(left, right))
        return total


@dataclass(frozen=True)
class L2(_Norm):
    """The Euclidean distance between vectors."""

    def distance(self, left: Any, right: Any) -> float:
        """Root of the sum of squares."""
        return math.hypot(*_differences(left, right))


@dataclass(frozen=True)
class LInf(_Norm):
    """Largest absolute difference."""

    def distance(self, left: Any, right: Any) -> float:
        """Exact on integers."""
        return max(_differences(left, right), default=0)


def metric_of(unit: PrivacyUnit) -> Metric:
    """The metric in which data sets that differ by one ``unit`` are at distance one."""
    match unit:
        case Row():
            return AddRemove()
        case Person():
            return AddRemovePeople(unit.id)
        case Edge():
            return AddRemoveEdges()
        case Node():
            return AddRemoveNodes()
        case Replace(unit=Row()):
            return ChangeOne()
    raise InvalidParameter(
        code="unit_without_metric",
        expectation="Row, Person, Edge, Node or Replace(Row())",
        received=unit,
        remedy="Bound each person's rows first, then use Replace(Row()).",
    )


def symmetric_difference(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Rows in one multiset and not in the other, with multiplicity, compared by content."""
    counts = Counter(map(_key, left))
    counts.subtract(Counter(map(_key, right)))
    return sum(map(abs, counts.values()))


def _key(row: Any) -> Any:
    written = content(row)
    return (type(row), row) if written is None else written


def _nested(value: tuple[Any, ...]) -> bool:
    """Whether a tuple holds tables, not rows: its members are sequences of records."""
    return bool(value) and all(
        isinstance(table, (list, tuple))
        and all(isinstance(row, (dict, list, tuple)) for row in table)
        for table in value
    )


def _induced(graph: Graph, out: frozenset[Any] | set[Any]) -> Graph:
    return Graph(graph.nodes - out, frozenset(edge for edge in graph.edges if not edge & out))


def _differences(left: Any, right: Any) -> list[Any]:
    if hasattr(left, "__len__"):
        return [abs(a - b) for a, b in zip(left, right, strict=True)]
    return [abs(left - right)]
