"""The noise of a complete tree whose levels were measured together, and made to agree.

Coefficients differ with the place of a query in the tree; their length is known for each. Weights
of levels are large whole numbers, so the grid is fine.

Source: 004b:A5, A17. Proof: ``proofs/quadtree.md``, ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.queries.answer_noise.answer_noise import AnswerNoise, law_from
from discreet.queries.trees.levels import Levels, query_lengths
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product
from discreet.release.intervals.combination import (
    UNKNOWN_SHARE,
    Combination,
    combination_widths,
)


@dataclass(frozen=True, eq=False)
class LevelNoise(AnswerNoise):
    """Whole weights of the levels, from the root, and the law of a measured number's noise.

    ``first`` is the first level that is not known exactly: the second, where the root is public.

    Contract: leaves are single cells of the universe.
    """

    noise: Distribution
    weights: Ints
    first: int
    universe: Universe

    @cached_property
    def _levels(self) -> Levels:
        widths = tuple((side - 1).bit_length() for side in self.universe.shape)
        return Levels(widths, len(self.weights) - 1)

    def lengths(self, product: Product) -> Floats:
        return query_lengths(self._levels, product, self.weights, first=self.first)

    def widths(self, product: Product, *, confidence: float) -> Floats:
        """By the lengths alone."""
        lengths = self.lengths(product)
        chosen = [level for level, weight in enumerate(self.weights) if weight]
        many = sum(self._levels.nodes(level) for level in chosen)
        combined = Combination(lengths, np.full_like(lengths, UNKNOWN_SHARE), many)
        return combination_widths(combined, self.noise, confidence=confidence)

    def to_dict(self) -> Mapping[str, object]:
        law, weights = self.noise.to_dict(), packed(self.weights)
        return {"form": "levels/1", "law": law, "weights": weights, "first": self.first}

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe) -> LevelNoise:
        """The noise that ``plain`` described."""
        weights, first = unpacked(plain.get("weights")), plain.get("first")
        if weights.ndim != 1 or not weights.size or (weights < 0).any() or not weights[-1]:
            raise not_plain()
        if not isinstance(first, int) or not 0 <= first < len(weights):
            raise not_plain()
        return cls(law_from(plain), weights.astype(np.int64), first, universe)
