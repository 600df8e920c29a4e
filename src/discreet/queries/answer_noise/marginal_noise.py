"""The noise of marginals put together from measured tables.

The residual A of a query with weights w_i on the attributes i in T is told by every measured table
S ⊇ A whose contrasted axes are in A, in proportion to its precision. So the coefficients on the
numbers of table S are a sum over A ⊆ S ∩ T of Kronecker products: on an axis of A the contrasts of
w_i, or w_i less its mean; ones on the other axes of S; and for each axis of T outside A the mean of
w_i. Tables treat the values of an attribute alike, so queries whose weights are the same in another
order have the same law: all cells of a marginal have one.

Source: 004b:A4, A7; 004d:F23. Proof: ``proofs/intervals.md``, ``proofs/marginals.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.queries.answer_noise.answer_noise import AnswerNoise, law_from
from discreet.queries.answer_noise.signatures import COARSE, Kinds, exact_widths, kinds_of
from discreet.queries.matrix.marginal_strategy import (
    AxisContrast,
    MarginalStrategy,
    MeasuredTable,
)
from discreet.queries.matrix.stored_strategy import tables_from_dict, tables_to_dict
from discreet.queries.synopses.marginal_synopsis import deviations
from discreet.queries.workload.families import QueryFamily
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Places, Product, Workload, subsets
from discreet.release.intervals.combination import (
    UNKNOWN_SHARE,
    Combination,
    combination_widths,
)

_MOST_WORK = 1 << 22
"""Coefficients of all kinds of queries of a product, up to which they are written out."""


@dataclass(frozen=True)
class MarginalNoise(AnswerNoise):
    """Measured tables, the law of one number's noise in whole steps, and what is known exactly.

    ``known`` are residuals without noise: the total, where it is public, and those of attributes
    with a single value.
    """

    noise: Distribution
    strategy: MarginalStrategy
    universe: Universe
    known: frozenset[Places]

    @cached_property
    def _unit(self) -> dict[Places, float]:
        """The variance of each residual at noise of variance one."""
        found = {places: 1 / p for places, p in self.strategy.precisions.items()}
        return found | dict.fromkeys(self.known, 0.0)

    def lengths(self, product: Product) -> Floats:
        """From the variances of the residuals; infinite by attributes not measured together."""
        if any(part not in self._unit for part in subsets(product.kept_places)):
            return np.full(product.queries, np.inf)
        return deviations(Workload(self.universe, (product,)), self._unit)

    def widths(self, product: Product, *, confidence: float) -> Floats:
        """Bounds by the coefficients of each kind of query."""
        lengths = self.lengths(product)
        if not np.isfinite(lengths).all():
            return lengths
        many = self.strategy.measurements
        kinds = [_alike(product.families[place]) for place in product.kept_places]
        groups = math.prod(len(rows) for rows, _ in kinds)
        if groups * many > _MOST_WORK:
            combined = Combination(lengths, np.full_like(lengths, UNKNOWN_SHARE), many)
            return combination_widths(combined, self.noise, confidence=confidence)
        chosen = itertools.product(*(rows for rows, _ in kinds))
        rows = np.array([self._coefficients(product.kept_places, each) for each in chosen])
        shape = [len(rows) for rows, _ in kinds]
        numbers = np.arange(groups).reshape(shape)
        places = np.ravel(numbers[np.ix_(*(own for _, own in kinds))] if kinds else numbers)
        squares = rows**2
        total = squares.sum(axis=1)
        peaks = np.divide(squares.max(axis=1), total, out=np.ones(groups), where=total > 0)
        combined = Combination(lengths, peaks[places], many)
        found = combination_widths(combined, self.noise, confidence=confidence)
        if self.noise.spread >= COARSE * self.noise.step:
            return found
        alike = kinds_of(rows)
        each = Kinds(alike.signatures, alike.places[places])
        return np.minimum(found, exact_widths(each, self.noise, step=1, confidence=confidence))

    def _coefficients(self, kept: Places, weights: Sequence[Floats]) -> Floats:
        """Those of one query on all measured numbers, in records for a step."""
        own = dict(zip(kept, weights, strict=True))
        parts = [self._on(table, own).ravel() for table in self.strategy.tables]
        return np.concatenate(parts)

    def _on(self, table: MeasuredTable, own: Mapping[int, Floats]) -> Floats:
        found = np.zeros(table.shape)
        for residual, precision in table.residual_precisions.items():
            if not set(residual) <= set(own) or residual in self.known:
                continue
            means = math.prod(float(w.mean()) for place, w in own.items() if place not in residual)
            share = precision / self.strategy.precisions[residual] * means / table.weight
            sides = [
                _side(size, own.get(place), place in residual, place in table.contrasted)
                for place, size in zip(table.places, table.sizes, strict=True)
            ]
            found += share * reduce(np.multiply.outer, sides, np.ones(()))
        return found

    def to_dict(self) -> Mapping[str, object]:
        return {
            "form": "marginals/1",
            "law": self.noise.to_dict(),
            "tables": tables_to_dict(self.strategy),
            "known": sorted(map(list, self.known)),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe) -> MarginalNoise:
        """The noise that ``plain`` described."""
        known = plain.get("known")
        if not isinstance(known, list) or not all(isinstance(each, list) for each in known):
            raise not_plain()
        strategy = tables_from_dict(plain.get("tables"), universe.shape)
        return cls(law_from(plain), strategy, universe, frozenset(map(tuple, known)))


def _side(size: int, weights: Floats | None, inside: object, contrasted: object) -> Floats:
    """The factor of one axis: of a residual that holds it, or of one that sums over it."""
    if not inside:
        return np.ones(size)
    assert weights is not None
    if contrasted:
        part = AxisContrast(size)
        return np.asarray(part.matrix @ weights / part.kappa)
    return np.asarray(weights - weights.mean())


def _alike(family: QueryFamily) -> tuple[list[Floats], Ints]:
    """Weights of one query for each kind, and the kind of every query; order does not matter."""
    if family.whole:
        ones = family.apply(np.ones(family.size)).astype(np.int64)
        sizes, places = np.unique(ones, return_inverse=True)
        rows = [(np.arange(family.size) < size).astype(np.float64) for size in sizes]
        return rows, np.ravel(places)
    found, places = np.unique(np.sort(family.dense(), axis=1), axis=0, return_inverse=True)
    return list(found), np.ravel(places)
