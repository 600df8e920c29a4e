"""Workloads: many linear queries over a universe, as products of families that stay implicit.

A product asks one family on each attribute, every combination of their queries: the Kronecker
product of their matrices. A workload is a list of products with weights. Universes of a billion
cells cost nothing as long as nobody asks for a vector over them.

Source: 004b:A1; 000a:A12; 004d:F23.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, positive
from discreet.queries.workload.families import All, Each, Listed, QueryFamily
from discreet.queries.workload.universe import Universe

Places = tuple[int, ...]
"""Positions of some attributes of a universe, in order."""


@dataclass(frozen=True)
class Product:
    """One family per attribute; each query's squared error counts ``weight`` squared times."""

    families: tuple[QueryFamily, ...]
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a weight that is not positive."""
        object.__setattr__(self, "weight", float(positive("weight", self.weight)))

    @cached_property
    def queries(self) -> int:
        """How many queries there are."""
        return math.prod(family.queries for family in self.families)

    @cached_property
    def kept_places(self) -> Places:
        """The attributes that are not summed over."""
        return tuple(i for i, family in enumerate(self.families) if not isinstance(family, All))

    def answers(self, table: Floats) -> Floats:
        """The exact or estimated answers, from counts over the universe."""
        return np.ravel(apply_each([family.apply for family in self.families], table))

    def dense(self) -> Floats:
        """The product as an explicit matrix, one row per query."""
        matrix: Floats = np.ones((1, 1))
        for family in self.families:
            matrix = np.asarray(np.kron(matrix, family.dense()))
        return matrix


@dataclass(frozen=True)
class Workload:
    """Products over one universe.

    >>> u = Universe.of(a=range(2), b=range(3), c=range(4))
    >>> Workload.marginals(u, 2).queries
    26

    Assumptions: queries are public, and weigh each record within [0, 1] unless they are listed
    otherwise.

    Guarantee: sensitivities and errors that mechanisms state follow from it exactly.

    Source: 004b:A1.
    """

    universe: Universe
    products: tuple[Product, ...]

    def __post_init__(self) -> None:
        """Refuse products that do not fit the universe."""
        for product in self.products:
            if tuple(family.size for family in product.families) != self.universe.shape:
                raise InvalidParameter(
                    code="workload_misfit",
                    expectation=f"one family for each attribute, of sizes {self.universe.shape}",
                    received=tuple(family.size for family in product.families),
                    remedy="Build workloads with the constructors of Workload.",
                )
        if not self.products:
            raise InvalidParameter(
                code="workload_empty",
                expectation="at least one query",
                remedy="Add a marginal or another family of queries.",
            )

    @classmethod
    def of(
        cls, universe: Universe, *asked: Mapping[str, QueryFamily], weight: float = 1.0
    ) -> Workload:
        """Families by attribute, for each product; attributes left out are summed over."""
        _require_universe(universe)
        products = []
        for each in asked:
            if not isinstance(each, Mapping):
                raise _misfit(expectation="families by attribute", received=type(each).__name__)
            for name, family in each.items():
                size = universe.attributes[universe.place(name)].size
                if not isinstance(family, QueryFamily):
                    raise _misfit(
                        expectation=f"a family of queries on {name!r}",
                        received=_describe_family_type(family),
                        size=size,
                    )
                if family.size != size:
                    raise _misfit(
                        expectation=f"a family on the {size} values of {name!r}",
                        received=family.size,
                        size=size,
                    )
            products.append(
                Product(
                    tuple(each.get(a.name, All(a.size)) for a in universe.attributes),
                    weight,
                )
            )
        return cls(universe, tuple(products))

    @classmethod
    def marginal(cls, universe: Universe, names: Iterable[str]) -> Workload:
        """The counts of all combinations of some attributes."""
        _require_universe(universe)
        if isinstance(names, str):
            raise InvalidParameter(
                code="attribute_names",
                expectation="a list of attributes",
                received=names,
                remedy=f"Write [{names!r}].",
            )
        sizes = dict(zip(universe.names, universe.shape, strict=True))
        wanted = tuple(names)
        for name in wanted:
            universe.place(name)
        return cls.of(universe, {name: Each(sizes[name]) for name in wanted})

    @classmethod
    def marginals(cls, universe: Universe, ways: int) -> Workload:
        """All marginals of exactly ``ways`` attributes, or of all where there are fewer."""
        _require_universe(universe)
        size = count("ways", ways)
        chosen = list(combinations(universe.names, min(size, len(universe.names))))
        return cls.union(*(cls.marginal(universe, names) for names in chosen))

    @classmethod
    def conjunctions(cls, universe: Universe, ways: int) -> Workload:
        """How many records have all of ``ways`` attributes, for every choice of them.

        Contract: attributes of two values; having one is its second value. Queries that ask for
        absent ones too are :meth:`marginals`.

        >>> wards = {f"a{i}": (False, True) for i in range(5)}
        >>> Workload.conjunctions(Universe.of(**wards), 2).queries
        10
        """
        _require_universe(universe)
        if any(size != 2 for size in universe.shape):
            raise InvalidParameter(
                code="attributes_not_binary",
                expectation="attributes of two values each, of which the second is counted",
                received=universe.shape[:10],
                remedy="Use Workload.marginals, or comparisons as attributes.",
            )
        size = count("ways", ways)
        chosen = combinations(universe.names, min(size, len(universe.names)))
        having = Listed([[0.0, 1.0]])
        return cls.union(*(cls.of(universe, dict.fromkeys(names, having)) for names in chosen))

    @classmethod
    def union(cls, *workloads: Workload) -> Workload:
        """All queries of several workloads over the same universe."""
        known = all(isinstance(workload, Workload) for workload in workloads)
        if (
            not workloads
            or not known
            or any(w.universe != workloads[0].universe for w in workloads)
        ):
            raise InvalidParameter(
                code="workloads_differ",
                expectation="workloads over one universe",
                received=[type(workload).__name__ for workload in workloads],
                remedy="Build them from the same Universe, and pass each by itself.",
            )
        return cls(workloads[0].universe, tuple(p for w in workloads for p in w.products))

    @cached_property
    def queries(self) -> int:
        """How many queries there are."""
        return sum(product.queries for product in self.products)

    def answers(self, counts: NDArray[np.generic]) -> Floats:
        """All answers, in the order of the products."""
        self.universe.require_explicit(method="answers from one vector of counts")
        table = np.asarray(counts, dtype=np.float64)
        if table.size != self.universe.size:
            raise InvalidParameter(
                code="counts_misfit",
                expectation=f"{self.universe.size} counts, one for each cell",
                received=table.shape,
                remedy="Count records by the attributes of the universe, in its order.",
            )
        table = table.reshape(self.universe.shape)
        return np.concatenate([product.answers(table) for product in self.products])

    @cached_property
    def weights(self) -> Floats:
        """The weight of each query."""
        return np.concatenate([np.full(p.queries, p.weight) for p in self.products])

    def gram(self) -> Floats:
        """The weighted Gram matrix over the whole universe; for small ones."""
        total = np.zeros((self.universe.size, self.universe.size))
        for product in self.products:
            matrix: Floats = np.ones((1, 1))
            for family in product.families:
                matrix = np.asarray(np.kron(matrix, family.gram()))
            total += product.weight**2 * matrix
        return total

    def dense(self) -> Floats:
        """The matrix, unweighted; for small ones."""
        return np.vstack([product.dense() for product in self.products])


def subsets(places: Places) -> Iterator[Places]:
    """All subsets, smallest first, each in order."""
    for size in range(len(places) + 1):
        yield from combinations(places, size)


def apply_each(operators: Sequence[Callable[[Floats], Floats]], table: Floats) -> Floats:
    """Operators along the axes of a table, one each, each acting on a first axis."""
    for operator in operators:
        table = np.moveaxis(operator(table), 0, -1)
    return table


def _require_universe(universe: object) -> None:
    if not isinstance(universe, Universe):
        raise InvalidParameter(
            code="workload_misfit",
            expectation="a universe, which says what the attributes are",
            received=type(universe).__name__,
            remedy='Write Universe.of(ward=["A", "B"]), or curator.universe("visits", "ward").',
        )


def _misfit(*, expectation: str, received: object, size: int = 12) -> InvalidParameter:
    return InvalidParameter(
        code="workload_misfit",
        expectation=expectation,
        received=received,
        remedy=f'Write Workload.of(universe, {{"month": Ranges({size})}}), with Each, Ranges, '
        "Prefixes, All or Listed.",
    )


def _describe_family_type(family: object) -> str:
    return f"the class {family.__name__}" if isinstance(family, type) else type(family).__name__
