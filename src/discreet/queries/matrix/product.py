"""Strategies on a whole universe: one on each attribute, every combination measured.

Sensitivities and errors multiply: for a product workload tr((AᵀA)⁻¹ WᵀW) is the product of the
attributes' own traces, so nothing of the universe's size is needed to plan. Where a workload is a
union of products, attributes are optimised in turn, each against the weighted sum of its Gram
matrices, with the others fixed.

Where the number of records is public and the sum of all counts follows from the measurements, least
squares that keeps it has the covariance, with C = ⊗ C_i that without it,

    C - C 1 1ᵀ C / (1ᵀ C 1),    C 1 = ⊗ C_i 1,

a difference of two products: nothing of the universe's size is needed for it either.

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

    ``total_known`` says that the sum of all counts is known besides, by several attributes or by
    none; where there is one, ``KnownTotal`` on it says so. ``beside_total`` decides, from the size.

    Assumptions: strategies are public.

    Guarantee: sensitivities and errors of products are exact.

    Source: 004b:A7.
    """

    factors: tuple[Strategy, ...]
    total_known: bool = False

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
        """The same measurements with what is known besides: a public sum of all counts.

        By several attributes it is of use only if it follows from the measurements: if it does
        not, no combination of them is known better for it.
        """
        public = isinstance(size, PublicCount)
        kind = KnownTotal if public and len(self.touched) == 1 else Strategy
        factors = tuple(
            each
            if each.is_total or type(each) is kind
            else kind(each.name, each.steps, each.places)
            for each in self.factors
        )
        plain = replace(self, factors=factors, total_known=False)
        return replace(plain, total_known=public and plain.can_know_total)

    @property
    def can_know_total(self) -> bool:
        """Whether ``total_known`` can be: the sum follows from several attributes, or none."""
        alone = len(self.touched) == 1 or any(isinstance(f, KnownTotal) for f in self.factors)
        return not alone and all(factor.determines_sum for factor in self.factors)

    @property
    def measurements(self) -> int:
        """How many numbers are measured."""
        return math.prod(len(factor.steps) for factor in self.factors)

    def trace(self, workload: Workload) -> float:
        """The weighted total squared error of a workload at noise of variance one."""
        return math.fsum(self.trace_of(product) for product in workload.products)

    def trace_of(self, product: Product) -> float:
        """The same of one product."""
        pairs = list(zip(self.factors, product.families, strict=True))
        found = math.prod(factor.trace(family.gram()) for factor, family in pairs)
        if self.total_known:
            along = (float(f.along_sum @ family.gram() @ f.along_sum) for f, family in pairs)
            found = max(found - math.prod(along) / self._sum_variance, 0.0)
        return product.weight**2 * found

    def variances(self, product: Product) -> Floats:
        """The variance of each query, unweighted, at noise of variance one.

        Contract: the queries follow from the measurements.
        """
        found: Floats = np.ones(1)
        for factor, family in zip(self.factors, product.families, strict=True):
            found = np.outer(found, family.variances(factor.inverse_gram)).ravel()
        return np.asarray(np.maximum(found - self.along_sum(product) ** 2, 0))

    def along_sum(self, product: Product) -> Floats:
        """Each query's covariance with the sum of all, by the sum's deviation; 0 if not known."""
        if not self.total_known:
            return np.zeros(1)
        found = np.full(1, self._sum_variance**-0.5)
        for factor, family in zip(self.factors, product.families, strict=True):
            found = np.outer(found, family.apply(factor.along_sum)).ravel()
        return found

    @cached_property
    def _sum_variance(self) -> float:
        """The variance of the sum of all counts by the measurements alone."""
        return math.prod(float(factor.along_sum.sum()) for factor in self.factors)

    def kept_total(self, counts: Floats, records: int) -> Floats:
        """Counts by least squares, moved so that their sum is the number of records."""
        moves: Floats = np.ones(())
        for factor in self.factors:
            moves = np.multiply.outer(moves, factor.along_sum)
        return np.asarray(counts + (records - counts.sum()) / self._sum_variance * moves)

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
    if not isinstance(size, PublicCount):
        return plain
    search = partial(p_identity, total_known=True)
    return _beside_total(workload, size, plain, search, ProductStrategy.moved_l1)


def gaussian_strategy(workload: Workload, size: RecordCount | None = None) -> ProductStrategy:
    """A product of strategies that are best in turn for Gaussian noise."""
    plain = _searched(workload, lambda gram: gaussian_optimum(gram).strategy, _l2)
    if not isinstance(size, PublicCount):
        return plain

    def compute_l2_sensitivity(part: ProductStrategy, size: RecordCount) -> float:
        return math.sqrt(part.moved_l2_squared(size))

    def search(gram: Floats) -> Strategy:
        # The optimum beside the sum does not measure it, from which products of several follow.
        alone = len(plain.touched) == 1
        return exchange_optimum(gram).strategy if alone else identity(len(gram))

    return _beside_total(workload, size, plain, search, compute_l2_sensitivity)


def _beside_total(
    workload: Workload,
    size: RecordCount,
    plain: ProductStrategy,
    search: Search,
    moved: Callable[[ProductStrategy, RecordCount], float],
) -> ProductStrategy:
    """The better of strategies on each touched attribute in turn, with the sum of counts public."""

    def error(part: ProductStrategy) -> float:
        moves = moved(part, size) * float(part.step)
        return moves**2 * part.beside_total(size).trace(workload)

    single = (f if f.is_total else identity(f.size) for f in plain.factors)
    best = min([plain, ProductStrategy.of(*single)], key=error)
    for place in plain.touched:
        summed = _against(workload, best, place)
        factors = best.factors
        tried = [
            ProductStrategy.of(*factors[:place], factor, *factors[place + 1 :])
            for factor in (identity(len(summed)), search(summed))
        ]
        best = min([best, *tried], key=error)
    return best


def _against(workload: Workload, part: ProductStrategy, place: int) -> Floats:
    """What is asked of one attribute: its Gram matrices, weighted by the traces of the others."""
    found = np.zeros((part.factors[place].size,) * 2)
    for product in workload.products:
        pairs = enumerate(zip(part.factors, product.families, strict=True))
        others = math.prod(f.trace(family.gram()) for i, (f, family) in pairs if i != place)
        found += product.weight**2 * others * product.families[place].gram()
    return found


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
