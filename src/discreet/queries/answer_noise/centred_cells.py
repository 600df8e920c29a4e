"""Equal noise on every cell of a universe, less the mean of all of it.

Where the number of records is public, the mean of the noise is known and taken out: a query with
weights q is off by (q - q̄) · Z.

Source: analysts-verified:H4 (baselines). Proof: ``proofs/analysts-baselines.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.queries.answer_noise.answer_noise import AnswerNoise, law_from
from discreet.queries.answer_noise.signatures import COARSE, Kinds, exact_widths
from discreet.queries.workload.families import QueryFamily
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product
from discreet.release.intervals.combination import (
    UNKNOWN_SHARE,
    Combination,
    combination_widths,
)

_MOST_KINDS = 1 << 8


@dataclass(frozen=True)
class CentredCells(AnswerNoise):
    """The law of one cell's noise, in records, and how many cells there are."""

    noise: Distribution
    cells: int

    def lengths(self, product: Product) -> Floats:
        """|q - q̄|."""
        squares, sums = _moments(product)
        return np.sqrt(np.maximum(squares - sums**2 / self.cells, 0))

    def widths(self, product: Product, *, confidence: float) -> Floats:
        """Bounds; exact where noise is small and queries are sums of cells."""
        lengths = self.lengths(product)
        _, sums = _moments(product)
        mean = sums / self.cells
        whole = all(family.whole for family in product.families)
        far = np.maximum(1 - mean, mean) if whole else _largest(product) + np.abs(mean)
        shares = np.divide(far, lengths, out=np.ones_like(far), where=lengths > 0) ** 2
        # Never one alone, and what is not whole only has a bound on its largest share.
        combined = Combination(lengths, np.minimum(shares, UNKNOWN_SHARE), self.cells)
        found = combination_widths(combined, self.noise, confidence=confidence)
        sizes, places = np.unique(sums, return_inverse=True)
        if self.noise.spread >= COARSE * self.noise.step or not whole or len(sizes) > _MOST_KINDS:
            return found
        # In whole numbers of 1/cells, so that they have a common measure.
        signatures = tuple(
            ((self.cells - size, int(size)), (size, self.cells - int(size)))
            for size in map(float, sizes)
        )
        kinds = Kinds(signatures, np.ravel(places))
        exact = exact_widths(kinds, self.noise, step=1 / self.cells, confidence=confidence)
        return np.minimum(found, exact)

    def to_dict(self) -> Mapping[str, object]:
        return {"form": "centred/1", "law": self.noise.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe) -> CentredCells:
        """The noise that ``plain`` described."""
        return cls(law_from(plain), universe.size)


def _moments(product: Product) -> tuple[Floats, Floats]:
    """The sum of squares and the sum of each query's weights over all cells."""
    squares: Floats = np.ones(1)
    sums: Floats = np.ones(1)
    for family in product.families:
        own = family.apply(np.ones(family.size))
        squares = np.outer(squares, own if family.whole else _squared(family)).ravel()
        sums = np.outer(sums, own).ravel()
    return squares, sums


def _squared(family: QueryFamily) -> Floats:
    return np.asarray((family.dense() ** 2).sum(axis=1))


def _largest(product: Product) -> Floats:
    """The largest weight of each query."""
    found: Floats = np.ones(1)
    for family in product.families:
        own = np.abs(family.dense()).max(axis=1)
        found = np.outer(found, own).ravel()
    return found
