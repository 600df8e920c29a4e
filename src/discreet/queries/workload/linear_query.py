"""One linear query over an explicit universe, stored in the form that answers fastest.

A query gives each cell a weight in [0, 1]; its answer on a table is the weighted sum. ``Weights``
stores all of them. ``Region`` is a box of cells with weight one: a cell of a marginal, a
conjunction, a range. It touches no other cell.

Source: 000a:A12; 004b:A1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.queries.workload.families import All, Each, Listed, Prefixes, QueryFamily, Ranges
from discreet.queries.workload.workload import Product, Workload

PLACES = 20
"""Binary places of weights that are not whole numbers."""


class LinearQuery(ABC):
    """Weights in [0, 1], one for each cell."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many cells the universe has."""

    @abstractmethod
    def answer(self, table: Floats) -> float:
        """The weighted sum of a flat table."""

    @abstractmethod
    def dense(self) -> Floats:
        """The weight of each cell."""


@dataclass(frozen=True, eq=False)
class Weights(LinearQuery):
    """Any weights, rounded to 2**-20.

    Guarantee: the answer on whole counts below 2**32 in all is exact, in any order of summation.

    Assumptions: weights are public and lie in [0, 1].

    Source: 000a:A12.
    """

    values: Floats

    def __init__(self, values: ArrayLike) -> None:
        """Refuse what is no vector of numbers in [0, 1]."""
        array = np.asarray(values, dtype=np.float64)
        # NaN fails both comparisons.
        if array.ndim != 1 or not array.size or not (array.min() >= 0 and array.max() <= 1):
            raise InvalidParameter(
                code="query_weights",
                expectation="one weight between 0 and 1 for each cell",
                received=array.shape,
                remedy="Scale the query; the answer scales back.",
            )
        held = rounded(array)
        held.setflags(write=False)
        object.__setattr__(self, "values", held)

    @property
    def cells(self) -> int:
        """How many weights there are."""
        return int(self.values.size)

    def answer(self, table: Floats) -> float:
        return float(self.values @ table)

    def dense(self) -> Floats:
        return self.values


@dataclass(frozen=True)
class Region(LinearQuery):
    """All cells of a box, one slice for each attribute.

    Assumptions: the box is public and lies in the shape.

    Guarantee: the answer on whole counts is exact.

    Source: 000a:A12.
    """

    shape: tuple[int, ...]
    box: tuple[slice, ...]

    def __post_init__(self) -> None:
        """Refuse anything but slices: lists of places could count a cell twice."""
        if len(self.box) != len(self.shape) or not all(type(part) is slice for part in self.box):
            raise InvalidParameter(
                code="region_misfit",
                expectation="one slice for each attribute",
                received=len(self.box),
                remedy="Write Region((4, 3), (slice(0, 2), slice(0, 3))), or use Weights.",
            )

    @cached_property
    def cells(self) -> int:
        """How many cells the universe has."""
        return math.prod(self.shape)

    def answer(self, table: Floats) -> float:
        """A sum over the box."""
        return float(table.reshape(self.shape)[self.box].sum())

    def dense(self) -> Floats:
        """Zeros and ones."""
        weights = np.zeros(self.shape)
        weights[self.box] = 1
        return weights.ravel()


def query_of(workload: Workload, index: int) -> LinearQuery:
    """The query at a place of a workload.

    Contract: weights that are not whole are rounded to 2**-20.
    """
    for product in workload.products:
        if index < product.queries:
            return _of_product(product, workload.universe.shape, index)
        index -= product.queries
    raise InvalidParameter(
        code="query_unknown",
        expectation=f"a place below {workload.queries}",
        received=index,
        remedy="Queries are numbered from zero, in the order of the products.",
    )


def _of_product(product: Product, shape: tuple[int, ...], index: int) -> LinearQuery:
    places = np.unravel_index(index, [family.queries for family in product.families])
    rows = [family.row(int(place)) for family, place in zip(product.families, places, strict=True)]
    box = tuple(row for row in rows if isinstance(row, slice))
    if len(box) == len(rows):
        return Region(shape, box)
    weights: Floats = np.ones(1)
    for row, size in zip(rows, shape, strict=True):
        if isinstance(row, slice):
            factor = np.zeros(size)
            factor[row] = 1
        else:
            factor = row
        weights = np.multiply.outer(weights, factor).ravel()
    return Weights(weights)


def rounded(values: Floats) -> Floats:
    """Numbers on the grid 2**-20, as a new array."""
    return np.asarray(np.rint(values * 2.0**PLACES) * 2.0**-PLACES)


def on_grid(workload: Workload) -> Workload:
    """The workload with every weight in [0, 1] and on the grid, or a refusal.

    Guarantee: answers on whole counts below 2**32 in all are exact in doubles, in any order.
    """
    products = []
    for product in workload.products:
        families = tuple(_bounded(family) for family in product.families)
        if sum(not family.whole for family in families) > 1:
            raise InvalidParameter(
                code="queries_fractional",
                expectation="at most one attribute with weights other than 0 and 1 in a product",
                remedy="List the products' rows over one joint attribute.",
            )
        products.append(Product(families, product.weight))
    return Workload(workload.universe, tuple(products))


def _bounded(family: QueryFamily) -> QueryFamily:
    if isinstance(family, Each | All | Prefixes | Ranges):
        return family
    rows = family.dense()
    if rows.min() < 0 or rows.max() > 1:
        raise InvalidParameter(
            code="query_weights",
            expectation="weights between 0 and 1",
            received=(float(rows.min()), float(rows.max())),
            remedy="Scale the queries; their answers scale back.",
        )
    return Listed(rounded(rows))
