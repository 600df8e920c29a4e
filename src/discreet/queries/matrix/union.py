"""Strategies that are unions of products: each group of queries has a product strategy of its own.

The parts are measured together with noise of one scale, each times a weight. With t_k the error of
group k at a part of sensitivity one, Σ t_k / w_k² is least under Laplace noise, where Σ w_k = 1, at
w_k ∝ t_k^{1/3}, and under Gaussian noise, where Σ w_k² = 1, at w_k ∝ t_k^{1/4}.

A product of queries is answered from one part, the one with the fewest cells that holds all its
attributes; parts are not averaged. The stated error is that of these answers.

Source: 004b:A7 (unions of products).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.matrix.product import (
    ProductStrategy,
    gaussian_strategy,
    laplace_strategy,
)
from discreet.queries.record_count import NoisyRecordCount, RecordCount
from discreet.queries.workload.workload import Product, Workload

BOUGHT = NoisyRecordCount()
_PART_BITS = 24
_BITS = 32
"""Places of parts, and of parts with their weights."""


@dataclass(frozen=True)
class UnionStrategy:
    """Product strategies with whole weights.

    Assumptions: strategies and weights are public.

    Guarantee: the sensitivity of all parts together is exact.

    Source: 004b:A7.
    """

    parts: tuple[ProductStrategy, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse weights that would take away from the sensitivity."""
        if len(self.parts) != len(self.weights):
            raise InvalidParameter(
                code="strategy_weights",
                expectation="a weight for each part",
                received=(len(self.parts), len(self.weights)),
                remedy="Build unions with laplace_union or gaussian_union.",
            )
        for weight in self.weights:
            count("weight", weight)

    def moved_l1(self, size: RecordCount) -> int:
        """What one record moves all measurements by, in the parts' own steps."""
        pairs = zip(self.weights, self.parts, strict=True)
        return sum(weight * part.moved_l1(size) for weight, part in pairs)

    def moved_l2_squared(self, size: RecordCount) -> int:
        """The same in the L2 norm, squared."""
        pairs = zip(self.weights, self.parts, strict=True)
        return sum(weight**2 * part.moved_l2_squared(size) for weight, part in pairs)

    @property
    def measurements(self) -> int:
        """How many numbers are measured."""
        return sum(part.measurements for part in self.parts)

    def trace(self, workload: Workload) -> float:
        """The weighted total squared error of a workload at noise of variance one in steps."""
        return math.fsum(
            self.parts[place].trace_of(product) * self.step(place) ** 2
            for product in workload.products
            for place in [self.answering(product)]
        )

    def step(self, place: int) -> float:
        """One step of a part's measurements in records."""
        return float(self.parts[place].step / self.weights[place])

    def answering(self, product: Product) -> int:
        """The part that a product is answered from."""
        fit = [
            (self.cells[place], place)
            for place, part in enumerate(self.parts)
            if set(product.kept_places) <= set(part.touched)
        ]
        if not fit:
            raise InvalidParameter(
                code="strategy_rank",
                expectation="a strategy from which every query of the workload follows",
                received=product.kept_places,
                remedy="Add a part that measures these attributes together.",
            )
        return min(fit)[1]

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """The cells that each part counts."""
        return tuple(math.prod(f.size for f in part.on_touched.factors) for part in self.parts)


def beside_total(union: UnionStrategy, size: RecordCount) -> UnionStrategy:
    """The same measurements, with a public number of records known besides."""
    return replace(union, parts=tuple(part.beside_total(size) for part in union.parts))


def whole(part: ProductStrategy) -> UnionStrategy:
    """A union of one part."""
    return UnionStrategy((part,), (1,))


def laplace_union(workload: Workload, size: RecordCount = BOUGHT) -> UnionStrategy:
    """A part for each set of attributes that products keep, for Laplace noise."""
    return _weighted(workload, laplace_strategy, lambda part: float(part.moved_l1(size)), size, 1)


def gaussian_union(workload: Workload, size: RecordCount = BOUGHT) -> UnionStrategy:
    """A part for each set of attributes that products keep, for Gaussian noise."""

    def compute_l2_sensitivity(part: ProductStrategy) -> float:
        return math.sqrt(part.moved_l2_squared(size))

    return _weighted(workload, gaussian_strategy, compute_l2_sensitivity, size, 2)


def _weighted(
    workload: Workload,
    search: Callable[[Workload, RecordCount], ProductStrategy],
    sensitivity: Callable[[ProductStrategy], float],
    size: RecordCount,
    norm: int,
) -> UnionStrategy:
    """Weights whose norm of that order is one, each t^(1 / (order + 2))."""
    groups: dict[tuple[int, ...], list[Product]] = {}
    for product in workload.products:
        groups.setdefault(product.kept_places, []).append(product)
    parts, shares = [], []
    for products in groups.values():
        group = Workload(workload.universe, tuple(products))
        _require_queries(group)
        part = ProductStrategy.of(*search(group, size).factors, bits=_PART_BITS)
        parts.append(part)
        shares.append(
            (part.beside_total(size).trace(group) * (sensitivity(part) * float(part.step)) ** 2)
            ** (1 / (norm + 2))
        )
    if not any(shares):
        # Nothing but the public number of records is asked: any weights do.
        shares = [1.0] * len(parts)
    length = float(np.linalg.norm(shares, ord=norm))
    weights = [
        max(1, round(Fraction(share / length) * 2**_BITS / Fraction(sensitivity(part))))
        for share, part in zip(shares, parts, strict=True)
    ]
    return UnionStrategy(tuple(parts), tuple(weights))


def _require_queries(group: Workload) -> None:
    """Refuse queries whose weights are all zero, or beyond what doubles can square."""
    asked = sum(
        product.weight**2 * math.prod(float(np.trace(f.gram())) for f in product.families)
        for product in group.products
    )
    if not 0 < asked < math.inf:
        raise InvalidParameter(
            code="queries_misshapen",
            expectation="queries that ask for something, with weights of usual size",
            remedy="Leave out queries whose weights are all zero; scale the others.",
        )
