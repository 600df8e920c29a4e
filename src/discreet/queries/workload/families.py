"""Families of linear queries on one attribute: what each asks, and their Gram matrix.

A family is a matrix with one row per query and one column per value. The families here know
their products and Gram matrices in closed form, so that all ranges of a thousand values, half a
million queries, are never written down unless somebody asks for the matrix itself.

Source: 004b:A1; 000a:A12.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count

Floats = NDArray[np.float64]


class Family(ABC):
    """Queries on one attribute of ``size`` values."""

    size: int

    @property
    @abstractmethod
    def queries(self) -> int:
        """How many queries there are."""

    @abstractmethod
    def gram(self) -> Floats:
        """The product of the matrix's transpose with itself."""

    @abstractmethod
    def apply(self, table: Floats) -> Floats:
        """The answers on the first axis of ``table``, which has one entry per value."""

    def dense(self) -> Floats:
        """The matrix itself."""
        return self.apply(np.eye(self.size))


@dataclass(frozen=True)
class _Sized(Family):
    """A family that its size describes."""

    size: int

    def __post_init__(self) -> None:
        """Refuse no values."""
        object.__setattr__(self, "size", count("size", self.size))


@dataclass(frozen=True)
class Each(_Sized):
    """Every value by itself: a histogram."""

    @property
    def queries(self) -> int:
        return self.size

    def gram(self) -> Floats:
        return np.eye(self.size)

    def apply(self, table: Floats) -> Floats:
        return table


@dataclass(frozen=True)
class All(_Sized):
    """The sum over all values: an attribute that a marginal leaves out."""

    @property
    def queries(self) -> int:
        return 1

    def gram(self) -> Floats:
        return np.ones((self.size, self.size))

    def apply(self, table: Floats) -> Floats:
        return np.asarray(table.sum(axis=0, keepdims=True))


@dataclass(frozen=True)
class Prefixes(_Sized):
    """The first k values, for every k: a cumulative distribution."""

    @property
    def queries(self) -> int:
        return self.size

    def gram(self) -> Floats:
        """Prefixes that hold both values."""
        place = np.arange(self.size)
        return np.asarray(self.size - np.maximum.outer(place, place), dtype=np.float64)

    def apply(self, table: Floats) -> Floats:
        return np.asarray(np.cumsum(table, axis=0))


@dataclass(frozen=True)
class Ranges(_Sized):
    """All intervals of values, by first and then by last value."""

    @property
    def queries(self) -> int:
        """n (n + 1) / 2."""
        return self.size * (self.size + 1) // 2

    def gram(self) -> Floats:
        """Intervals that hold both values.

        >>> Ranges(4).gram().diagonal().tolist()
        [4.0, 6.0, 6.0, 4.0]
        """
        place = np.arange(self.size)
        low, high = np.minimum.outer(place, place), np.maximum.outer(place, place)
        return np.asarray((low + 1) * (self.size - high), dtype=np.float64)

    def apply(self, table: Floats) -> Floats:
        """Differences of running sums."""
        running = np.concatenate([np.zeros((1, *table.shape[1:])), np.cumsum(table, axis=0)])
        first, last = np.triu_indices(self.size)
        return np.asarray(running[last + 1] - running[first])


@dataclass(frozen=True, eq=False)
class Listed(Family):
    """Any queries, one row of weights each; 0/1 rows are predicates."""

    rows: Floats

    def __init__(self, rows: ArrayLike) -> None:
        """Keep a read-only copy; refuse what is no finite matrix."""
        try:
            matrix = np.array(rows, dtype=np.float64, ndmin=2)
        except (TypeError, ValueError):  # rows of unequal length, or no numbers
            raise _misshapen(type(rows).__name__) from None
        if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
            raise _misshapen(matrix.shape)
        matrix.setflags(write=False)
        object.__setattr__(self, "rows", matrix)

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of columns."""
        return int(self.rows.shape[1])

    @property
    def queries(self) -> int:
        """The number of rows."""
        return int(self.rows.shape[0])

    def __eq__(self, other: object) -> bool:
        """Equal rows are the same queries."""
        return isinstance(other, Listed) and np.array_equal(self.rows, other.rows)

    def __hash__(self) -> int:
        """Of the rows, computed once."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Adding zero makes no difference of the sign of zero, as equality does not.
        return hash((self.rows.shape, (self.rows + 0.0).tobytes()))

    @cached_property
    def _gram(self) -> Floats:
        return np.asarray(self.rows.T @ self.rows)

    def gram(self) -> Floats:
        """Computed once."""
        return self._gram

    def apply(self, table: Floats) -> Floats:
        return np.asarray(np.tensordot(self.rows, table, 1))

    def dense(self) -> Floats:
        return self.rows


def _misshapen(received: object) -> InvalidParameter:
    return InvalidParameter(
        code="queries_misshapen",
        expectation="a finite matrix with a row for each query and a column for each value",
        received=received,
        remedy="Pass a list of rows of equal length.",
    )
