"""The noise of least squares after a product strategy, or a union of them.

With A the strategy's matrix on the attributes of a part, a query q is answered as q A⁺ times the
measured numbers: its coefficients are q A⁺, a Kronecker product of those on each attribute, and
lengths, largest shares and signatures multiply. A query that the measurements do not determine is
answered with a bias that nobody knows: nothing is said of it.

Source: 004b:A4, A7. Proof: ``proofs/intervals.md``, ``proofs/matrix.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import DiscreetError
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.queries.answer_noise.answer_noise import AnswerNoise, law_from
from discreet.queries.answer_noise.signatures import (
    COARSE,
    Kinds,
    combined_kinds,
    counted_ones,
    exact_widths,
    kinds_of,
)
from discreet.queries.matrix.known_total import KnownTotal
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.stored_strategy import union_from_dict, union_to_dict
from discreet.queries.matrix.strategy import Strategy
from discreet.queries.matrix.union import UnionStrategy
from discreet.queries.workload.families import QueryFamily
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product
from discreet.release.intervals.combination import (
    UNKNOWN_SHARE,
    Combination,
    combination_widths,
)

_MOST_WORK = 1 << 27
"""Multiplications for the coefficients of one attribute, up to which they are written out."""
_TOLD = 1e-24
"""Of the squared length of a query, what floating point may leave though nothing is."""
_MISSED = 1e-10
"""Of the squared length of a query, what floating point may miss though nothing is."""


@dataclass(frozen=True)
class ProductNoise(AnswerNoise):
    """A strategy, and the law of one measured number's noise, in whole steps."""

    noise: Distribution
    strategy: UnionStrategy

    def lengths(self, product: Product) -> Floats:
        """The root of q (AᵀA)⁻¹ qᵀ, in records for a step."""
        place, part = self._part(product)
        if part is None:
            return np.full(product.queries, np.inf)
        squares = _lengths_squared(part, product) - part.along_sum(product) ** 2
        return np.asarray(np.sqrt(np.maximum(squares, 0)) * self.strategy.step(place))

    def widths(self, product: Product, *, confidence: float) -> Floats:
        """Bounds; exact where the noise is as small as a few steps, and coefficients are few."""
        place, part = self._part(product)
        lengths = self.lengths(product)
        if part is None:
            return lengths
        peaks, kinds = (_beside_total if part.total_known else _coefficients)(part, product)
        combined = Combination(lengths, peaks, part.measurements)
        found = combination_widths(combined, self.noise, confidence=confidence)
        if self.noise.spread >= COARSE * self.noise.step or kinds is None:
            return found
        step = self.strategy.step(place)
        exact = exact_widths(kinds, self.noise, step=step, confidence=confidence)
        return np.where(np.isfinite(lengths), np.minimum(found, exact), np.inf)

    def _part(self, product: Product) -> tuple[int, ProductStrategy | None]:
        """The part that a product is answered from; none that holds all its attributes."""
        try:
            place = self.strategy.answering(product)
        except DiscreetError:
            return 0, None
        return place, self.strategy.parts[place]

    def to_dict(self) -> Mapping[str, object]:
        law = self.noise.to_dict()
        return {"form": "products/1", "law": law, "strategy": union_to_dict(self.strategy)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe) -> ProductNoise:
        """The noise that ``plain`` described."""
        return cls(law_from(plain), union_from_dict(plain.get("strategy"), universe.shape))


@dataclass(frozen=True)
class _Axis:
    """The coefficients on one attribute: the largest share of each row, and what occurs in them."""

    peaks: Floats
    kinds: Kinds | None


def _lengths_squared(part: ProductStrategy, product: Product) -> Floats:
    """The squared length of each query's coefficients, without a total that is known besides."""
    found: Floats = np.ones(1)
    for factor, family in zip(part.factors, product.families, strict=True):
        found = np.outer(found, _squares(factor, family)).ravel()
    return found


def _coefficients(part: ProductStrategy, product: Product) -> tuple[Floats, Kinds | None]:
    """The largest share of each query's coefficients, and what occurs in them if that is little."""
    axes = [
        _axis(factor, family) for factor, family in zip(part.factors, product.families, strict=True)
    ]
    peaks: Floats = np.ones(1)
    for axis in axes:
        peaks = np.outer(peaks, axis.peaks).ravel()
    known = [axis.kinds for axis in axes if axis.kinds is not None]
    return peaks, combined_kinds(known) if len(known) == len(axes) else None


def _beside_total(part: ProductStrategy, product: Product) -> tuple[Floats, Kinds | None]:
    """The same with the sum of all counts known besides: written out if few, else a bound.

    Coefficients are those without it, less the query's share of the sum times the sum's own.
    """
    along = part.along_sum(product)
    sums = [factor.rows @ factor.along_sum for factor in part.factors]
    length = math.prod(float(factor.along_sum.sum()) for factor in part.factors) ** -0.5
    plain = _lengths_squared(part, product)
    if _can_write_out(part, product):
        rows: Floats = np.ones((1, 1))
        of_sum: Floats = np.full(1, length)
        for factor, family, of_rows in zip(part.factors, product.families, sums, strict=True):
            rows = np.asarray(np.kron(rows, family.dense() @ factor.pseudoinverse), dtype=float)
            of_sum = np.outer(of_sum, of_rows).ravel()
        rows = rows - np.outer(along, of_sum)
        # What is left of queries that the sum tells exactly is rounding.
        rows[(rows**2).sum(axis=1) <= _TOLD * plain] = 0
        squares = rows**2
        total = squares.sum(axis=1)
        peaks = np.divide(squares.max(axis=1), total, out=np.ones(len(rows)), where=total > 0)
        return peaks, kinds_of(rows)
    lengths = plain - along**2
    largest = length * math.prod(float(np.abs(of_rows).max()) for of_rows in sums)
    bound = (np.sqrt(_coefficients(part, product)[0] * plain) + np.abs(along) * largest) ** 2
    shares = np.divide(bound, lengths, out=np.ones(len(bound)), where=bound < lengths)
    return np.minimum(shares, UNKNOWN_SHARE), None


def _can_write_out(part: ProductStrategy, product: Product) -> bool:
    """Whether the coefficients of all queries, and of each attribute, are few enough."""
    pairs = zip(part.factors, product.families, strict=True)
    return product.queries * part.measurements <= _MOST_WORK >> 5 and all(
        family.queries * len(factor.steps) * factor.size <= _MOST_WORK for factor, family in pairs
    )


def _squares(factor: Strategy, family: QueryFamily) -> Floats:
    """The squared length of each query's coefficients; infinite where it is not determined."""
    found = family.variances(factor.inverse_gram)
    if factor.determines_all:
        return found
    if family.queries > max(factor.size, _MOST_WORK // factor.size**2):
        return np.full(family.queries, np.inf)
    rows = family.dense()
    missed = factor.missed(rows)
    lost = np.einsum("ij,ij->i", missed, missed) > _MISSED * np.einsum("ij,ij->i", rows, rows)
    return np.where(lost, np.inf, found)


def _axis(factor: Strategy, family: QueryFamily) -> _Axis:
    alone = not isinstance(factor, KnownTotal)
    single = alone and len(factor.steps) == factor.size and factor.places == 0
    if single and family.whole and np.array_equal(factor.steps, np.eye(factor.size)):
        ones = family.apply(np.ones(family.size))
        return _Axis(1 / np.maximum(ones, 1), counted_ones(ones))
    many = len(factor.steps)
    if family.queries * many * factor.size > _MOST_WORK:
        return _Axis(np.full(family.queries, UNKNOWN_SHARE), None)
    rows = family.dense() @ factor.pseudoinverse
    squares = rows**2
    total = squares.sum(axis=1)
    peaks = np.divide(squares.max(axis=1), total, out=np.ones(len(rows)), where=total > 0)
    few = math.prod(rows.shape) <= _MOST_WORK >> 5
    return _Axis(peaks, kinds_of(rows) if few else None)
