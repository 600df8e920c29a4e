"""Dominating pairs of samples: a symmetric pair of which each unit, or a fixed number, takes part.

Sampling breaks the symmetry of a pair, so a mechanism on a sample has one pair for each direction
in which a unit can change: removed, added, or replaced.

Source: 000a:A5, 004a:D4, modern-learn:8. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pld.pair import ULP, DominatingPair
from discreet.core.arrays import Floats


@dataclass(frozen=True)
class Removed(DominatingPair):
    """Poisson sampling of a symmetric pair, unit removed: (1 - q) Q + q P against Q."""

    base: DominatingPair
    rate: float

    def _base_loss(self, losses: Floats) -> Floats:
        """The loss of the base where the mixture's loss is z: ln(1 + (e^z - 1)/q)."""
        low = np.expm1(np.minimum(losses, 1.0)) / self.rate
        high = np.maximum(losses, 1.0)
        with np.errstate(divide="ignore"):
            near = np.log1p(np.maximum(low, -1.0))
        far = high + np.log1p(-(1 - self.rate) * np.exp(-high)) - math.log(self.rate)
        return np.where(losses < 1, near, far)

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Mixtures of the base's tails."""
        p, q = self.base.above(self._base_loss(losses))
        return (1 - self.rate) * q + self.rate * p, q

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Mixtures of the base's tails."""
        p, q = self.base.below(self._base_loss(losses))
        return (1 - self.rate) * q + self.rate * p, q

    def rounding(self, losses: Floats) -> Floats:
        """That of the base where its tails are taken, and of the mixture."""
        return self.base.rounding(self._base_loss(losses)) + 4 * ULP

    def blur(self, losses: Floats) -> Floats:
        """The base loss is off by ulps of itself and of e^z - 1; seen from the outer loss."""
        steepness = np.abs(np.expm1(-np.clip(losses, math.log1p(-self.rate), 1.0)))
        inside = np.maximum(self._base_loss(losses), -700.0)
        slope = np.clip(1 - (1 - self.rate) * np.exp(np.minimum(-losses, 700.0)), 0.0, 1.0)
        own = 4 * ULP * (steepness + np.abs(losses) + (np.abs(inside) + 1) * slope)
        return own + slope * self.base.blur(inside)

    def unbounded(self) -> float:
        """The sampled share of the base's."""
        return self.rate * self.base.unbounded()

    def reach(self, tail: float) -> tuple[float, float]:
        """From ln(1 - q) to the image of the base's reach."""
        _, high = self.base.reach(tail)
        return math.log1p(-self.rate), float(self._grown(np.array([high]))[0])

    def _grown(self, inside: Floats) -> Floats:
        """ln(1 + q (e^y - 1)), the mixture's loss where the base's is y."""
        near = np.log1p(self.rate * np.expm1(np.minimum(inside, 700.0)))
        return np.where(inside < 700, near, inside + math.log(self.rate))

    def atoms(self) -> Floats:
        """Those of the base in the mixture, and what Q has where P has nothing."""
        z, p = self.base.atoms().T
        here = np.column_stack((self._grown(z), p * (self.rate + (1 - self.rate) * np.exp(-z))))
        alone = self.base.unbounded()
        if not alone:
            return here
        return np.vstack((here, [[math.log1p(-self.rate), (1 - self.rate) * alone]]))

    @property
    def purely_atomic(self) -> bool:
        return self.base.purely_atomic

    def distance(self) -> float:
        """The sampled share of the base's."""
        return self.rate * self.base.distance()

    def reversed(self) -> DominatingPair:
        """Adding the unit instead."""
        return Reversed(self)


@dataclass(frozen=True)
class Reversed(DominatingPair):
    """The pair (Q, P) of a sampled pair (P, Q)."""

    base: Removed

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Q[Z < -z] and P[Z < -z]."""
        p, q = self.base.below(-losses)
        return q, p

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """The other side."""
        p, q = self.base.above(-losses)
        return q, p

    def rounding(self, losses: Floats) -> Floats:
        """That of lower tails, which are the upper ones of the symmetric base's mirror image."""
        inside = -self.base._base_loss(-losses)
        return self.base.base.rounding(inside) + 4 * ULP

    def blur(self, losses: Floats) -> Floats:
        return self.base.blur(-losses)

    def reach(self, tail: float) -> tuple[float, float]:
        """Mirrored: Q is below P at large losses, and nothing is below the least."""
        low, high = self.base.reach(tail)
        return -high, -low

    def atoms(self) -> Floats:
        """The base's, mirrored, with their Q-masses."""
        z, p = self.base.atoms().T
        return np.column_stack((-z, p * np.exp(-z)))

    @property
    def purely_atomic(self) -> bool:
        return self.base.purely_atomic

    def distance(self) -> float:
        return self.base.distance()

    def reversed(self) -> DominatingPair:
        """Back again."""
        return self.base


@dataclass(frozen=True)
class Replaced(DominatingPair):
    """A sample of fixed size, unit replaced: the worse of both mixtures at every loss.

    Above zero (1 - q) Q + q P against Q, below zero P against (1 - q) P + q Q, and an atom at
    zero where the two curves meet (modern-learn:8). The base is symmetric.
    """

    base: DominatingPair
    rate: float

    @property
    def _sides(self) -> tuple[Removed, Reversed]:
        removed = Removed(self.base, self.rate)
        return removed, Reversed(removed)

    def _middle(self) -> tuple[Floats, Floats]:
        """The (P, Q) masses above zero of the one, and below zero of the other."""
        removed, added = self._sides
        zero = np.zeros(1)
        return np.concatenate(removed.above(zero)), np.concatenate(added.below(zero))

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Above zero the one; below zero all of it and the other down from zero."""
        removed, added = self._sides
        (p_top, q_top), (p_low, q_low) = self._middle()
        p, q = removed.above(np.maximum(losses, 0.0))
        p_under, q_under = added.below(np.minimum(losses, 0.0))
        up = losses >= 0
        return np.where(up, p, p_top + p_low - p_under), np.where(up, q, q_top + q_low - q_under)

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Below zero the other; above zero all of it and the one up from zero."""
        removed, added = self._sides
        (p_top, q_top), (p_low, q_low) = self._middle()
        p, q = added.below(np.minimum(losses, 0.0))
        p_over, q_over = removed.above(np.maximum(losses, 0.0))
        down = losses < 0
        return np.where(down, p, p_low + p_top - p_over), np.where(down, q, q_low + q_top - q_over)

    def rounding(self, losses: Floats) -> Floats:
        """That of either side, and of sums in which Q's lower side may be much the larger."""
        removed, _ = self._sides
        _, (_, q_low) = self._middle()
        _, q = self.above(losses)
        worse = 4 * removed.rounding(np.abs(losses))
        middle = float(removed.rounding(np.zeros(1))[0])
        ratio = np.where((losses < 0) & (q > 0), q_low / np.where(q > 0, q, 1.0), 0.0)
        return np.minimum(worse + 2 * ratio * (worse + middle), 1.0)

    def blur(self, losses: Floats) -> Floats:
        """The larger of both."""
        removed, added = self._sides
        return np.maximum(removed.blur(losses), added.blur(losses))

    def reach(self, tail: float) -> tuple[float, float]:
        """Symmetric."""
        _, high = Removed(self.base, self.rate).reach(tail)
        return -high, high

    def unbounded(self) -> float:
        """The sampled share of the base's."""
        return self.rate * self.base.unbounded()

    def atoms(self) -> Floats:
        """Either mixture's on its side, and what they leave for zero."""
        removed, added = (side.atoms() for side in self._sides)
        still = (1 - self.rate) * self.base.distance() + self.base.still()
        return np.vstack((removed[removed[:, 0] > 0], added[added[:, 0] < 0], [[0.0, still]]))

    @property
    def purely_atomic(self) -> bool:
        return self.base.purely_atomic

    def distance(self) -> float:
        """The sampled share of the base's."""
        return self.rate * self.base.distance()
