"""Families of linear queries on one attribute: what each asks, and their Gram matrix.

A family is a matrix with one row per query and one column per value. The families here know
their products, Gram matrices and variances in closed form, so that all ranges of a thousand values,
half a million queries, are never written down unless somebody asks for the matrix itself. A family
of one's own needs ``queries``, ``gram`` and ``apply``; the rest follows from its matrix.

Source: 004b:A1, A6; 000a:A12.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count


class QueryFamily(ABC):
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

    @property
    def whole(self) -> bool:
        """Whether all weights are known to be 0 or 1."""
        return False

    def row(self, place: int) -> slice | Floats:
        """The weights of one query, or the values that it sums."""
        return np.asarray(self.dense()[place])

    def transposed(self, table: Floats) -> Floats:
        """From one weight for each query, on the first axis, to one for each value."""
        return np.asarray(np.tensordot(self.dense().T, table, 1))

    def variances(self, covariance: Floats) -> Floats:
        """The variance of each query, from the covariance of estimated counts."""
        rows = self.dense()
        return np.asarray(np.maximum(np.einsum("ij,ij->i", rows @ covariance, rows), 0))


@dataclass(frozen=True)
class _Sized(QueryFamily):
    """A family that its size describes: sums over intervals of values."""

    size: int

    @property
    def whole(self) -> bool:
        """Sums have no other weights."""
        return True

    @abstractmethod
    def row(self, place: int) -> slice:
        """The interval that a query sums."""

    def __post_init__(self) -> None:
        """Refuse no values."""
        object.__setattr__(self, "size", count("size", self.size))


@dataclass(frozen=True)
class Each(_Sized):
    """Every value by itself: a histogram.

    Assumptions: the number of values is public.

    Guarantee: a record changes one answer by one.

    Source: 004b:A1.
    """

    @property
    def queries(self) -> int:
        return self.size

    def gram(self) -> Floats:
        return np.eye(self.size)

    def apply(self, table: Floats) -> Floats:
        return table

    def row(self, place: int) -> slice:
        """One value."""
        return slice(place, place + 1)

    def transposed(self, table: Floats) -> Floats:
        """The table itself."""
        return table

    def variances(self, covariance: Floats) -> Floats:
        """The diagonal."""
        return np.asarray(np.maximum(np.diagonal(covariance), 0))


@dataclass(frozen=True)
class All(_Sized):
    """The sum over all values: an attribute that a marginal leaves out.

    Assumptions: the number of values is public.

    Guarantee: a record changes the one answer by one.

    Source: 004b:A1.
    """

    @property
    def queries(self) -> int:
        return 1

    def gram(self) -> Floats:
        return np.ones((self.size, self.size))

    def apply(self, table: Floats) -> Floats:
        return np.asarray(table.sum(axis=0, keepdims=True))

    def row(self, place: int) -> slice:
        """All values."""
        return slice(0, self.size)

    def transposed(self, table: Floats) -> Floats:
        """The same weight for every value."""
        return np.repeat(table, self.size, axis=0)

    def variances(self, covariance: Floats) -> Floats:
        """The sum of all entries."""
        return np.asarray(np.maximum(covariance.sum(keepdims=True).ravel(), 0))


@dataclass(frozen=True)
class Prefixes(_Sized):
    """The first k values, for every k: a cumulative distribution.

    Assumptions: values have a public order.

    Guarantee: products and Gram matrices are exact; a record changes at most ``size`` answers, by
    one each.

    Source: 004b:A6.
    """

    @property
    def queries(self) -> int:
        return self.size

    def gram(self) -> Floats:
        """Prefixes that hold both values."""
        place = np.arange(self.size)
        return np.asarray(self.size - np.maximum.outer(place, place), dtype=np.float64)

    def apply(self, table: Floats) -> Floats:
        return np.asarray(np.cumsum(table, axis=0))

    def row(self, place: int) -> slice:
        """The first values."""
        return slice(0, place + 1)

    def transposed(self, table: Floats) -> Floats:
        """Running sums from the end."""
        return np.asarray(np.cumsum(table[::-1], axis=0)[::-1])

    def variances(self, covariance: Floats) -> Floats:
        """The diagonal of running sums both ways."""
        return np.asarray(np.maximum(np.diagonal(covariance.cumsum(axis=0).cumsum(axis=1)), 0))


@dataclass(frozen=True)
class Ranges(_Sized):
    """All intervals of values, by first and then by last value.

    Assumptions: values have a public order.

    Guarantee: products and Gram matrices are exact, and never written out unless asked for.

    Source: 004b:A6.
    """

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

    def row(self, place: int) -> slice:
        """One interval."""
        # First values 0 … f-1 have n + (n-1) + … ranges before those that start at f.
        first, before = 0, 0
        while before + self.size - first <= place:
            before += self.size - first
            first += 1
        return slice(first, first + place - before + 1)

    def transposed(self, table: Floats) -> Floats:
        """Running sums of what begins at a value less what ended before it."""
        first, last = np.triu_indices(self.size)
        edges = np.zeros((self.size + 1, *table.shape[1:]))
        np.add.at(edges, first, table)
        np.subtract.at(edges, last + 1, table)
        return np.asarray(np.cumsum(edges[:-1], axis=0))

    def variances(self, covariance: Floats) -> Floats:
        """Those of differences of running sums, without the matrix of all ranges.

        >>> Ranges(3).variances(np.eye(3)).tolist()
        [1.0, 2.0, 3.0, 1.0, 2.0, 1.0]
        """
        sums = np.zeros((self.size + 1, self.size + 1))
        sums[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
        first, last = np.triu_indices(self.size)
        ends = np.diagonal(sums)
        return np.maximum(ends[last + 1] + ends[first] - 2 * sums[first, last + 1], 0)


@dataclass(frozen=True, eq=False)
class Listed(QueryFamily):
    """Any queries, one row of weights each; 0/1 rows are predicates.

    Assumptions: the weights are public and finite.

    Guarantee: they are taken as they are; sensitivities follow from them.

    Source: 000a:A12.
    """

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

    @cached_property
    def whole(self) -> bool:
        """Looked at once."""
        return bool(np.isin(self.rows, (0.0, 1.0)).all())


def _misshapen(received: object) -> InvalidParameter:
    return InvalidParameter(
        code="queries_misshapen",
        expectation="a finite matrix with a row for each query and a column for each value",
        received=received,
        remedy="Pass a list of rows of equal length.",
    )
