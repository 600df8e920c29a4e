"""Frozen descriptions of data: what values may occur, known before any value is seen."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral, Real
from typing import Any

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.parameters import Number, count, finite


class Domain(ABC):
    """A set of values. Frozen, comparable, and able to tell whether a value belongs to it."""

    @abstractmethod
    def contains(self, value: Any) -> bool:
        """Whether ``value`` belongs to the domain."""

    def check_kind(self, value: Any) -> None:  # noqa: B027 -- most domains have nothing to check
        """Refuse containers of a kind that cannot be meant, without looking inside."""

    def elements(self) -> Iterator[Any]:
        """All values, where the domain is finite; refused otherwise."""
        raise InvalidParameter(
            code="domain_not_finite",
            expectation="a finite domain",
            received=type(self).__name__,
            remedy="Use Categories or bounded Integers to enumerate a universe.",
        )


@dataclass(frozen=True)
class Integers(Domain):
    """Whole numbers between public bounds; a bound of None is no bound."""

    lower: int | None = None
    upper: int | None = None

    def __post_init__(self) -> None:
        """Refuse crossed bounds and bounds that are not whole."""
        for name in ("lower", "upper"):
            bound = _bound(name, getattr(self, name))
            if bound is not None and not isinstance(bound, int):
                raise InvalidParameter(
                    code="bounds_not_whole",
                    expectation=f"{name} to be a whole number",
                    received=bound,
                    remedy="Use whole bounds for Integers, or Reals.",
                )
            object.__setattr__(self, name, bound)
        _check_order(self.lower, self.upper)

    def contains(self, value: Any) -> bool:
        """Integers, numpy's included; booleans are not numbers."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        return _within(value, self.lower, self.upper)

    def elements(self) -> Iterator[Any]:
        """Lower to upper, inclusive."""
        if self.lower is None or self.upper is None:
            return super().elements()
        return iter(range(self.lower, self.upper + 1))


@dataclass(frozen=True)
class Reals(Domain):
    """Finite real numbers between public bounds; NaN and infinities never belong."""

    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        """Refuse crossed or infinite bounds."""
        for name in ("lower", "upper"):
            object.__setattr__(self, name, _bound(name, getattr(self, name)))
        _check_order(self.lower, self.upper)

    def contains(self, value: Any) -> bool:
        """Finite reals within the bounds."""
        if isinstance(value, bool) or not isinstance(value, Real) or not _finite(value):
            return False
        return _within(value, self.lower, self.upper)


@dataclass(frozen=True)
class Categories(Domain):
    """One of finitely many public values."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        """Refuse an empty or repeating list."""
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values or len(set(self.values)) != len(self.values):
            raise InvalidParameter(
                code="categories_not_distinct",
                expectation="at least one category, each listed once",
                received=len(self.values),
                remedy="List every public category exactly once.",
            )

    def contains(self, value: Any) -> bool:
        try:
            return value in self.values
        except (TypeError, ValueError):
            return False

    def elements(self) -> Iterator[Any]:
        """The listed values, in order."""
        return iter(self.values)


@dataclass(frozen=True)
class Nullable(Domain):
    """The values of another domain, or None: what cleaning at the scan leaves behind."""

    inner: Domain

    def contains(self, value: Any) -> bool:
        """None or a member of the inner domain."""
        return value is None or self.inner.contains(value)

    def elements(self) -> Iterator[Any]:
        """None, then the inner values."""
        yield None
        yield from self.inner.elements()


@dataclass(frozen=True)
class Record(Domain):
    """Rows of named columns, as mappings. Build with ``Record.of({"age": Integers(0, 120)})``."""

    columns: tuple[tuple[str, Domain], ...]

    @classmethod
    def of(cls, columns: Mapping[str, Domain]) -> Record:
        """One domain for each column."""
        return cls(tuple((name, require_domain(domain)) for name, domain in columns.items()))

    def contains(self, value: Any) -> bool:
        """Mappings with exactly these columns, each value in its domain."""
        if not isinstance(value, Mapping) or set(value) != {name for name, _ in self.columns}:
            return False
        return all(domain.contains(value[name]) for name, domain in self.columns)

    def elements(self) -> Iterator[Any]:
        """Every combination of the columns' values."""
        names = [name for name, _ in self.columns]
        for values in product(*(domain.elements() for _, domain in self.columns)):
            yield dict(zip(names, values, strict=True))


@dataclass(frozen=True)
class Rows(Domain):
    """Tables as sequences of records. ``size`` is given only where it is public."""

    record: Domain
    size: int | None = None

    def __post_init__(self) -> None:
        """Refuse a public size that is not a count, and records that are not described."""
        require_domain(self.record)
        if self.size is not None:
            object.__setattr__(self, "size", count("size", self.size, least=0))

    def check_kind(self, value: Any) -> None:
        """Refuse text, mappings, frames of columns and arrays that are not one-dimensional."""
        text_or_mapping = isinstance(value, (str, bytes, Mapping))
        many_columns = hasattr(value, "columns") or getattr(value, "ndim", 1) != 1
        if text_or_mapping or many_columns or not hasattr(value, "__len__"):
            raise InvalidData(
                code="not_a_table",
                expectation="a table as a sequence of rows",
                received=type(value).__name__,
                remedy="Pass a list of rows, or one column as a list or one-dimensional array.",
            )

    def contains(self, value: Any) -> bool:
        """Sequences or one-dimensional arrays of records, of the public size if there is one."""
        listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
        if not listed and getattr(value, "ndim", None) != 1:
            return False
        right_size = self.size is None or len(value) == self.size
        return right_size and all(self.record.contains(row) for row in value)


@dataclass(frozen=True)
class Vector(Domain):
    """Sequences of numbers of a public length."""

    element: Domain
    size: int

    def __post_init__(self) -> None:
        """Refuse a length that is not a count."""
        object.__setattr__(self, "size", count("size", self.size))

    def contains(self, value: Any) -> bool:
        """Sequences or one-dimensional arrays of the right length."""
        if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
            return False
        return len(value) == self.size and all(self.element.contains(item) for item in value)


@dataclass(frozen=True)
class Parts(Domain):
    """A table cut into parts with public keys."""

    keys: tuple[Any, ...]
    rows: Rows

    def __post_init__(self) -> None:
        """Refuse repeated keys."""
        object.__setattr__(self, "keys", Categories(tuple(self.keys)).values)

    def contains(self, value: Any) -> bool:
        """A mapping with exactly the public keys, each to a table."""
        if not isinstance(value, Mapping) or set(value) != set(self.keys):
            return False
        return all(self.rows.contains(rows) for rows in value.values())


@dataclass(frozen=True)
class Tables(Domain):
    """Several tables side by side, as one tuple."""

    tables: tuple[Rows, ...]

    def contains(self, value: Any) -> bool:
        """A tuple with one table of each description."""
        if not isinstance(value, tuple) or len(value) != len(self.tables):
            return False
        return all(table.contains(rows) for table, rows in zip(self.tables, value, strict=True))


@dataclass(frozen=True)
class Graphs(Domain):
    """Simple undirected graphs, as :class:`Graph` values."""

    def contains(self, value: Any) -> bool:
        return isinstance(value, Graph)


@dataclass(frozen=True)
class Graph:
    """A simple undirected graph: nodes and unordered pairs of distinct nodes."""

    nodes: frozenset[Any]
    edges: frozenset[frozenset[Any]]

    @classmethod
    def of(cls, nodes: Sequence[Any], edges: Sequence[tuple[Any, Any]]) -> Graph:
        """Build from lists; self-loops and edges at unknown nodes are refused."""
        graph = cls(frozenset(nodes), frozenset(frozenset(edge) for edge in edges))
        if any(len(edge) != 2 or not edge <= graph.nodes for edge in graph.edges):
            raise InvalidParameter(
                code="not_a_simple_graph",
                expectation="edges between two distinct declared nodes",
                remedy="Drop self-loops and declare every node.",
            )
        return graph

    def without(self, node: Any) -> Graph:
        """The graph after a node left: its incident edges leave with it."""
        return Graph(
            self.nodes - {node}, frozenset(edge for edge in self.edges if node not in edge)
        )


def require_domain(value: object) -> Domain:
    """Return ``value`` if it is a domain."""
    if not isinstance(value, Domain):
        raise InvalidParameter(
            code="not_a_domain",
            expectation="a domain, such as Integers() or Categories([...])",
            received=getattr(value, "__name__", type(value).__name__),
            remedy="Describe the values that may occur: Integers(0, 120), Reals(), Record.of(...).",
        )
    return value


def _bound(name: str, value: object) -> Number | None:
    return None if value is None else finite(name, value)


def _check_order(lower: Number | None, upper: Number | None) -> None:
    if lower is not None and upper is not None and lower > upper:
        raise InvalidParameter(
            code="bounds_crossed",
            expectation="lower <= upper",
            received=(lower, upper),
            remedy="Swap the bounds.",
        )


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the range of floats
        return True


def _within(value: Any, lower: float | None, upper: float | None) -> bool:
    return (lower is None or lower <= value) and (upper is None or value <= upper)
