"""Sums of exponentials whose exponents are exact whole numbers, over many ranges at once.

A weight is ``mantissa * exp(-rate * cost)`` with a whole cost, however large, and a mantissa of at
least one. All terms are positive and only added, so that every sum keeps a relative error of a few
units in the last place; nothing underflows that matters. Proof: ``proofs/joint_quantiles.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints

NONE = (1 << 62) - 1
"""The cost of what does not occur; its mantissa is zero. Other costs are within ±2**61."""


@dataclass(frozen=True)
class ScaledWeights:
    """Weights ``mantissas * exp(-rate * costs)``. Private."""

    mantissas: Floats
    costs: Ints
    rate: float

    @classmethod
    def none(cls, size: int, rate: float) -> ScaledWeights:
        """No weight at all."""
        return cls(np.zeros(size), np.full(size, NONE, dtype=np.int64), rate)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.mantissas)

    def __getitem__(self, places: slice | Ints) -> ScaledWeights:
        """Some of them."""
        return ScaledWeights(self.mantissas[places], self.costs[places], self.rate)

    def __add__(self, other: ScaledWeights) -> ScaledWeights:
        """Sums, place by place."""
        apart = other.costs - self.costs
        faded = np.exp(-np.abs(apart) * self.rate)
        mantissas = np.where(
            apart >= 0,
            self.mantissas + other.mantissas * faded,
            other.mantissas + self.mantissas * faded,
        )
        return ScaledWeights(mantissas, np.minimum(self.costs, other.costs), self.rate)

    def costing(self, more: Ints | int) -> ScaledWeights:
        """The same at a higher cost; what does not occur still does not."""
        occur = self.mantissas > 0
        return ScaledWeights(self.mantissas, np.where(occur, self.costs + more, NONE), self.rate)

    def times(self, factors: Floats | float) -> ScaledWeights:
        """Multiplied by factors of at least one."""
        return ScaledWeights(self.mantissas * factors, self.costs, self.rate)

    def relative(self) -> Floats:
        """As plain numbers, in units of ``exp(-rate * least cost)``."""
        behind = self.costs - self.costs.min()
        plain: Floats = self.mantissas * np.exp(-behind * self.rate)
        return plain

    def over(self, first: Ints, many: Ints) -> ScaledWeights:
        """Sums over ranges: the i-th begins at ``first[i]`` and has ``many[i]`` members.

        A range is put together from ranges whose lengths are powers of two.
        """
        sums, begin, blocks = ScaledWeights.none(len(first), self.rate), first.copy(), self
        longest, size = int(many.max(initial=0)), 1
        while size <= longest:
            taken = np.flatnonzero(many & size)
            part = sums[taken] + blocks[begin[taken]]
            sums.mantissas[taken], sums.costs[taken] = part.mantissas, part.costs
            begin[taken] += size
            blocks = blocks[:-size] + blocks[size:]
            size *= 2
        return sums
