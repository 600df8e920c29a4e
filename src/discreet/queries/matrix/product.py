"""Strategies on a whole universe: one on each attribute, every combination measured.

Sensitivities and errors multiply: for a product workload tr((AᵀA)⁻¹ WᵀW) is the product of the
attributes' own traces, so nothing of the universe's size is needed to plan. Where a workload is a
union of products, attributes are optimised in turn, each against the weighted sum of its Gram
matrices, with the others fixed.

Source: 004b:A7 (Kronecker products per attribute).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.queries.matrix.exchange_optimum import exchange_optimum
from discreet.queries.matrix.gaussian_optimum import gaussian_optimum
from discreet.queries.matrix.known_total import KnownTotal
from discreet.queries.matrix.measuring import exact_integers
from discreet.queries.matrix.p_identity import p_identity
from discreet.queries.matrix.strategy import Strategy, identity, total
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.families import All
from discreet.queries.workload.workload import Product, Workload, apply_each

Search = Callable[[Floats], Strategy]

BITS = 32
"""Places of all attributes together: measurements of 2**29 records fit 61 bits."""
_SWEEPS = 4


@dataclass(frozen=True)
class ProductStrategy:
    """One strategy on each attribute.

    Assumptions: strategies are public.

    Guarantee: sensitivities and errors of products are exact.

    Source: 004b:A7.
    """

    factors: tuple[Strategy, ...]

    @classmethod
    def of(cls, *factors: Strategy, bits: int = BITS) -> ProductStrategy:
        """Factors, rounded so that exact measurements fit 64-bit integers."""
        fine = [factor for factor in factors if factor.places]
        room = bits // max(len(fine), 1)
        return cls(
            tuple(
                factor if factor.places <= room else Strategy.of(factor.name, factor.rows, room)
                for factor in factors
            )
        )

    @cached_property
    def step(self) -> Fraction:
        """One step of the measurements in records."""
        return Fraction(1, 1 << sum(factor.places for factor in self.factors))

    @cached_property
    def l1(self) -> int:
        """What one record moves the measurements by, in steps."""
        return math.prod(factor.l1 for factor in self.factors)

    @cached_property
    def l2_squared(self) -> int:
        """The square of the same in the L2 norm, in squared steps."""
        return math.prod(factor.l2_squared for factor in self.factors)

    def moved_l1(self, size: RecordCount) -> int:
        """What a record that comes or goes moves the measurements by, or an exchange at most."""
        if not isinstance(size, PublicCount):
            return self.l1
        # Rows of one sign keep it in products, and their least entries multiply.
        common = math.prod(factor.common_l1 for factor in self.factors)
        return max(2 * (self.l1 - common), 1)

    def moved_l2_squared(self, size: RecordCount) -> int:
        """The same in the L2 norm, squared."""
        if not isinstance(size, PublicCount):
            return self.l2_squared
        if len(self.touched) == 1:
            return max(self.factors[self.touched[0]].apart_l2_squared, 1)
        # |a - b|² = |a|² + |b|² - 2 a·b, and a·b is a product of the factors' scalar products.
        least, largest = 1, 1
        for low, high in (factor.products for factor in self.factors):
            ends = (least * low, least * high, largest * low, largest * high)
            least, largest = min(ends), max(ends)
        return max(2 * (self.l2_squared - least), 1)

    @cached_property
    def touched(self) -> tuple[int, ...]:
        """The attributes of which more than the sum over all values is measured."""
        return tuple(i for i, factor in enumerate(self.factors) if not factor.is_total)

    @cached_property
    def on_touched(self) -> ProductStrategy:
        """The same measurements, of counts by the touched attributes alone."""
        return ProductStrategy(tuple(self.factors[place] for place in self.touched))

    def beside_total(self, size: RecordCount) -> ProductStrategy:
        """The same measurements with what is known besides: a public sum of one attribute's counts.

        Where several attributes are touched, the sum is not used: least squares would no longer be
        a product.
        """
        known = isinstance(size, PublicCount) and len(self.touched) == 1
        kind = KnownTotal if known else Strategy
        factors = tuple(
            each
            if each.is_total or type(each) is kind
            else kind(each.name, each.steps, each.places)
            for each in self.factors
        )
        return replace(self, factors=factors)

    @property
    def measurements(self) -> int:
        """How many numbers are measured."""
        return math.prod(len(factor.steps) for factor in self.factors)

    def trace(self, workload: Workload) -> float:
        """The weighted total squared error of a workload at noise of variance one."""
        return math.fsum(self.trace_of(product) for product in workload.products)

    def trace_of(self, product: Product) -> float:
        """The same of one product."""
        return product.weight**2 * math.prod(
            factor.trace(family.gram())
            for factor, family in zip(self.factors, product.families, strict=True)
        )

    def measure(self, counts: NDArray[np.int64], weight: int = 1) -> NDArray[np.int64]:
        """The exact measurements in steps, times a weight."""
        table = weight * exact_integers(counts, moved=weight * self.l1)
        for factor in self.factors:
            table = np.moveaxis(np.tensordot(factor.steps, table, 1), 0, -1)
        return table

    def reconstruct(self, measured: NDArray[np.generic]) -> Floats:
        """Counts by least squares from measurements in steps."""
        table = np.asarray(measured, dtype=np.float64) * float(self.step)
        solvers = [partial(np.tensordot, factor.pseudoinverse, axes=1) for factor in self.factors]
        return apply_each(solvers, table)


def laplace_strategy(workload: Workload, size: RecordCount | None = None) -> ProductStrategy:
    """A product of p-Identity strategies for Laplace noise."""
    plain = _searched(workload, p_identity, _l1)
    if not isinstance(size, PublicCount) or len(plain.touched) != 1:
        return plain
    return _beside_total(
        workload, size, plain, partial(p_identity, total_known=True), ProductStrategy.moved_l1
    )


def gaussian_strategy(workload: Workload, size: RecordCount | None = None) -> ProductStrategy:
    """A product of strategies that are best in turn for Gaussian noise."""
    plain = _searched(workload, lambda gram: gaussian_optimum(gram).strategy, _l2)
    if not isinstance(size, PublicCount) or len(plain.touched) != 1:
        return plain

    def moved(part: ProductStrategy, size: RecordCount) -> float:
        return math.sqrt(part.moved_l2_squared(size))

    return _beside_total(workload, size, plain, lambda gram: exchange_optimum(gram).strategy, moved)


def _beside_total(
    workload: Workload,
    size: RecordCount,
    plain: ProductStrategy,
    search: Search,
    moved: Callable[[ProductStrategy, RecordCount], float],
) -> ProductStrategy:
    """The best of strategies on the one touched attribute, with the sum of its counts public."""
    (place,) = plain.touched
    summed = sum(
        (product.weight**2 * product.families[place].gram() for product in workload.products),
        start=np.zeros((plain.factors[place].size,) * 2),
    )

    def error(part: ProductStrategy) -> float:
        moves = moved(part, size) * float(part.step)
        return moves**2 * part.beside_total(size).trace(workload)

    tried = [plain.factors[place], identity(len(summed)), search(summed)]
    parts = [
        ProductStrategy.of(*plain.factors[:place], factor, *plain.factors[place + 1 :])
        for factor in tried
    ]
    return min(parts, key=error)


def _l1(strategy: Strategy) -> float:
    return float(Fraction(strategy.l1, 1 << strategy.places)) ** 2


def _l2(strategy: Strategy) -> float:
    return float(Fraction(strategy.l2_squared, 1 << 2 * strategy.places))


def _searched(
    workload: Workload, search: Search, squared: Callable[[Strategy], float]
) -> ProductStrategy:
    """Attributes in turn, as long as the error falls; never worse than single cells."""
    free = [
        place
        for place in range(len(workload.universe.shape))
        if any(not isinstance(p.families[place], All) for p in workload.products)
    ]
    factors = [
        total(size) if place not in free else identity(size)
        for place, size in enumerate(workload.universe.shape)
    ]
    grams = [[family.gram() for family in product.families] for product in workload.products]
    traces = np.array([[f.trace(g) for f, g in zip(factors, row, strict=True)] for row in grams])
    weights = np.array([product.weight**2 for product in workload.products])
    sweeps = _SWEEPS if len(free) > 1 and len(grams) > 1 else 1
    for _ in range(sweeps):
        before = float(weights @ traces.prod(axis=1)) * math.prod(map(squared, factors))
        for place in free:
            others = weights * np.delete(traces, place, axis=1).prod(axis=1)
            summed = sum(
                (share * row[place] for share, row in zip(others, grams, strict=True)),
                start=np.zeros_like(grams[0][place]),
            )
            found = search(summed)
            known = factors[place]
            if squared(found) * found.trace(summed) < squared(known) * known.trace(summed):
                factors[place] = found
                traces[:, place] = [found.trace(row[place]) for row in grams]
        after = float(weights @ traces.prod(axis=1)) * math.prod(map(squared, factors))
        if after > before * (1 - 1e-4):
            break
    return ProductStrategy.of(*factors)
