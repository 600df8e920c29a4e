"""Dominating pairs: two laws at least as far apart as any neighbours can push a mechanism.

A pair (P, Q) is given by the law of its privacy loss Z = ln(dP/dQ): losses that happen with
positive probability, the mass at infinity, and the tails of what is spread out between. Tails
are evaluated from the side on which they are small, so that they are accurate relative to
themselves. The basic pairs are symmetric: exchanging P and Q gives the same law of losses. Only
sampling breaks that, so a mechanism has one pair for each direction in which a unit can change.

Source: 000a:A5, 004a:D1, 004a:D2, 004a:D4. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

_ULP = 2.0**-52


class Pair(ABC):
    """The loss law of a dominating pair."""

    @abstractmethod
    def above(self, losses: Array) -> tuple[Array, Array]:
        """P[Z > z] and Q[Z > z] at each loss z, atoms left out."""

    @abstractmethod
    def below(self, losses: Array) -> tuple[Array, Array]:
        """P[Z < z] and Q[Z < z] at each loss z, atoms left out."""

    @abstractmethod
    def reach(self, tail: float) -> tuple[float, float]:
        """Losses (low, high) with P[Z < low] and P[high < Z] at most ``tail``, atoms within."""

    @abstractmethod
    def distance(self) -> float:
        """The total variation between P and Q."""

    def rounding(self, losses: Array) -> Array:
        """A bound of the relative error of both upper tails at each loss."""
        return np.full(len(losses), 16 * _ULP)

    def blur(self, losses: Array) -> Array:
        """How far from each loss the tails may have been taken, and atoms may lie."""
        return 4 * _ULP * np.abs(losses)

    def unbounded(self) -> float:
        """P[Z = infinity]: outcomes that Q cannot produce."""
        return 0.0

    def atoms(self) -> Array:
        """Rows (loss, P-mass) of losses with positive probability, finite ones only."""
        return np.empty((0, 2))

    @property
    def purely_atomic(self) -> bool:
        """Whether there is nothing but atoms."""
        return False

    def reversed(self) -> Pair:
        """The pair (Q, P), whose loss is -Z under Q: itself, for the symmetric ones."""
        return self


@dataclass(frozen=True)
class NormalPair(Pair):
    """N(mu, 1) against N(0, 1): Z is normal with mean mu**2/2 and deviation mu."""

    mu: float

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Upper tails at z/mu -+ mu/2."""
        return self._tails(-losses / self.mu, self.mu / 2)

    def below(self, losses: Array) -> tuple[Array, Array]:
        return self._tails(losses / self.mu, -self.mu / 2)

    def _tails(self, centre: Array, shift: float) -> tuple[Array, Array]:
        from scipy.special import ndtr  # loaded on first use: SciPy is slow to import

        return ndtr(centre + shift), ndtr(centre - shift)

    def rounding(self, losses: Array) -> Array:
        """That of ``ndtr``, measured below 16 + 4 x**2 ulps, and of its argument."""
        x = np.maximum(losses / self.mu + self.mu / 2, 0.0)
        error: Array = np.minimum(_ULP * (16 + 2 * self.mu + x * (3 + 7 * x)), 1.0)
        return error

    def blur(self, losses: Array) -> Array:
        """None: the rounding of arguments is in ``rounding``."""
        return np.zeros(len(losses))

    def reach(self, tail: float) -> tuple[float, float]:
        from scipy.special import ndtri  # loaded on first use: SciPy is slow to import

        mean, spread = self.mu * self.mu / 2, self.mu * float(-ndtri(tail))
        return mean - spread, mean + spread

    def distance(self) -> float:
        """2 Phi(mu/2) - 1."""
        return math.erf(self.mu / math.sqrt(8))


@dataclass(frozen=True)
class LaplacePair(Pair):
    """Laplace noise of scale 1 at 0 and at ``loss``: atoms at both ends, a density between."""

    loss: float

    def above(self, losses: Array) -> tuple[Array, Array]:
        """(1 - exp(-(e - z)/2))/2 and (exp(-(e + z)/2) - exp(-e))/2 for -e <= z < e."""
        return self._tails(np.clip(losses, -self.loss, self.loss))

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Those of the mirror image, with P and Q exchanged."""
        p, q = self._tails(-np.clip(losses, -self.loss, self.loss))
        return q, p

    def _tails(self, z: Array) -> tuple[Array, Array]:
        gap = -np.expm1(-(self.loss - z) / 2) / 2
        return gap, gap * np.exp(-(self.loss + z) / 2)

    def rounding(self, losses: Array) -> Array:
        """A few ulps, and what rounding the exponent does."""
        return np.full(len(losses), _ULP * (16 + 2 * self.loss))

    def reach(self, tail: float) -> tuple[float, float]:
        return -self.loss, self.loss

    def atoms(self) -> Array:
        """Half of P at the top, half of Q at the bottom."""
        return np.array([[self.loss, 0.5], [-self.loss, 0.5 * math.exp(-self.loss)]])

    def distance(self) -> float:
        """P less Q on one side of the middle."""
        return -math.expm1(-self.loss / 2)


@dataclass(frozen=True)
class BoundedRangePair(Pair):
    """The upper envelope of all pairs whose losses span at most ``loss``.

    Its curve is (1 - exp(-(e - z)/2))**2 / (1 - exp(-e)) between -e and e: the best of the
    two-point pairs with losses t and t - e is at t = (e + z)/2.
    """

    loss: float

    def above(self, losses: Array) -> tuple[Array, Array]:
        """From the curve and its slope: Q[Z > z] = -slope, P[Z > z] = curve + exp(z) Q[Z > z]."""
        return self._tails(np.clip(losses, -self.loss, self.loss))

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Those of the mirror image, with P and Q exchanged."""
        p, q = self._tails(-np.clip(losses, -self.loss, self.loss))
        return q, p

    def _tails(self, z: Array) -> tuple[Array, Array]:
        share = np.expm1(-(self.loss - z) / 2) / math.expm1(-self.loss)
        return share, share * np.exp(-(self.loss + z) / 2)

    def rounding(self, losses: Array) -> Array:
        """A few ulps, and what rounding the exponent does."""
        return np.full(len(losses), _ULP * (16 + 2 * self.loss))

    def reach(self, tail: float) -> tuple[float, float]:
        return -self.loss, self.loss

    def distance(self) -> float:
        """The curve at zero."""
        return math.tanh(self.loss / 4)


@dataclass(frozen=True)
class AtomicPair(Pair):
    """Finitely many losses with their P-masses; symmetric, so that Q loses ``infinite`` too."""

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    infinite: float = 0.0

    def above(self, losses: Array) -> tuple[Array, Array]:
        nothing = np.zeros(len(losses))
        return nothing, nothing

    below = above

    def blur(self, losses: Array) -> Array:
        """Losses are a few products and sums of the largest."""
        return np.full(len(losses), 4 * _ULP * max(self.losses))

    def unbounded(self) -> float:
        """Mass that Q cannot produce."""
        return self.infinite

    @property
    def purely_atomic(self) -> bool:
        return True

    def atoms(self) -> Array:
        return np.column_stack((self.losses, self.masses))

    def reach(self, tail: float) -> tuple[float, float]:
        """Between the least and the largest atom."""
        return min(self.losses), max(self.losses)

    def distance(self) -> float:
        """What P has more than Q at positive losses."""
        z, p = self.atoms().T
        return self.infinite + float((p * -np.expm1(-np.maximum(z, 0.0))).sum())


def response_pair(epsilon: float, delta: float = 0.0) -> AtomicPair:
    """The worst (epsilon, delta) mechanism: randomized response, and delta at infinity (KOV)."""
    fall = math.exp(-epsilon)
    truth, lie = 1 / (1 + fall), fall / (1 + fall)
    return AtomicPair((epsilon, -epsilon), ((1 - delta) * truth, (1 - delta) * lie), delta)


@dataclass(frozen=True)
class Removed(Pair):
    """Poisson sampling of a symmetric pair, unit removed: (1 - q) Q + q P against Q."""

    base: Pair
    rate: float

    def _base_loss(self, losses: Array) -> Array:
        """The loss of the base where the mixture's loss is z: ln(1 + (e^z - 1)/q)."""
        low = np.expm1(np.minimum(losses, 1.0)) / self.rate
        high = np.maximum(losses, 1.0)
        with np.errstate(divide="ignore"):
            near = np.log1p(np.maximum(low, -1.0))
        far = high + np.log1p(-(1 - self.rate) * np.exp(-high)) - math.log(self.rate)
        return np.where(losses < 1, near, far)

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Mixtures of the base's tails."""
        p, q = self.base.above(self._base_loss(losses))
        return (1 - self.rate) * q + self.rate * p, q

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Mixtures of the base's tails."""
        p, q = self.base.below(self._base_loss(losses))
        return (1 - self.rate) * q + self.rate * p, q

    def rounding(self, losses: Array) -> Array:
        """That of the base where its tails are taken, and of the mixture."""
        return self.base.rounding(self._base_loss(losses)) + 4 * _ULP

    def blur(self, losses: Array) -> Array:
        """The base loss is off by ulps of itself and of e^z - 1; seen from the outer loss."""
        steepness = np.abs(np.expm1(-np.clip(losses, math.log1p(-self.rate), 1.0)))
        inside = np.maximum(self._base_loss(losses), -700.0)
        slope = np.clip(1 - (1 - self.rate) * np.exp(np.minimum(-losses, 700.0)), 0.0, 1.0)
        own = 4 * _ULP * (steepness + np.abs(losses) + (np.abs(inside) + 1) * slope)
        return own + slope * self.base.blur(inside)

    def unbounded(self) -> float:
        """The sampled share of the base's."""
        return self.rate * self.base.unbounded()

    def reach(self, tail: float) -> tuple[float, float]:
        """From ln(1 - q) to the image of the base's reach."""
        _, high = self.base.reach(tail)
        return math.log1p(-self.rate), float(self._grown(np.array([high]))[0])

    def _grown(self, inside: Array) -> Array:
        """ln(1 + q (e^y - 1)), the mixture's loss where the base's is y."""
        near = np.log1p(self.rate * np.expm1(np.minimum(inside, 700.0)))
        return np.where(inside < 700, near, inside + math.log(self.rate))

    def atoms(self) -> Array:
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

    def reversed(self) -> Pair:
        """Adding the unit instead."""
        return Reversed(self)


@dataclass(frozen=True)
class Reversed(Pair):
    """The pair (Q, P) of a sampled pair (P, Q)."""

    base: Removed

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Q[Z < -z] and P[Z < -z]."""
        p, q = self.base.below(-losses)
        return q, p

    def below(self, losses: Array) -> tuple[Array, Array]:
        p, q = self.base.above(-losses)
        return q, p

    def rounding(self, losses: Array) -> Array:
        """That of lower tails, which are the upper ones of the symmetric base's mirror image."""
        inside = -self.base._base_loss(-losses)
        return self.base.base.rounding(inside) + 4 * _ULP

    def blur(self, losses: Array) -> Array:
        return self.base.blur(-losses)

    def reach(self, tail: float) -> tuple[float, float]:
        """Mirrored: Q is below P at large losses, and nothing is below the least."""
        low, high = self.base.reach(tail)
        return -high, -low

    def atoms(self) -> Array:
        """The base's, mirrored, with their Q-masses."""
        z, p = self.base.atoms().T
        return np.column_stack((-z, p * np.exp(-z)))

    @property
    def purely_atomic(self) -> bool:
        return self.base.purely_atomic

    def distance(self) -> float:
        return self.base.distance()

    def reversed(self) -> Pair:
        return self.base


@dataclass(frozen=True)
class Replaced(Pair):
    """A sample of fixed size, unit replaced: the worse of both mixtures at every loss.

    Above zero (1 - q) Q + q P against Q, below zero P against (1 - q) P + q Q, and an atom at
    zero where the two curves meet (modern-learn:8). The base is symmetric.
    """

    base: Pair
    rate: float

    @property
    def _sides(self) -> tuple[Removed, Reversed]:
        removed = Removed(self.base, self.rate)
        return removed, Reversed(removed)

    def _middle(self) -> tuple[Array, Array]:
        """The (P, Q) masses above zero of the one, and below zero of the other."""
        removed, added = self._sides
        zero = np.zeros(1)
        return np.concatenate(removed.above(zero)), np.concatenate(added.below(zero))

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Above zero the one; below zero all of it and the other down from zero."""
        removed, added = self._sides
        (p_top, q_top), (p_low, q_low) = self._middle()
        p, q = removed.above(np.maximum(losses, 0.0))
        p_under, q_under = added.below(np.minimum(losses, 0.0))
        up = losses >= 0
        return np.where(up, p, p_top + p_low - p_under), np.where(up, q, q_top + q_low - q_under)

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Below zero the other; above zero all of it and the one up from zero."""
        removed, added = self._sides
        (p_top, q_top), (p_low, q_low) = self._middle()
        p, q = added.below(np.minimum(losses, 0.0))
        p_over, q_over = removed.above(np.maximum(losses, 0.0))
        down = losses < 0
        return np.where(down, p, p_low + p_top - p_over), np.where(down, q, q_low + q_top - q_over)

    def rounding(self, losses: Array) -> Array:
        """That of either side, and of sums in which Q's lower side may be much the larger."""
        removed, _ = self._sides
        _, (_, q_low) = self._middle()
        _, q = self.above(losses)
        worse = 4 * removed.rounding(np.abs(losses))
        middle = float(removed.rounding(np.zeros(1))[0])
        ratio = np.where((losses < 0) & (q > 0), q_low / np.where(q > 0, q, 1.0), 0.0)
        return np.minimum(worse + 2 * ratio * (worse + middle), 1.0)

    def blur(self, losses: Array) -> Array:
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

    def atoms(self) -> Array:
        """Either mixture's on its side, and what they leave for zero."""
        removed, added = (side.atoms() for side in self._sides)
        z, p = self.base.atoms().T
        still = (1 - self.rate) * self.base.distance() + float(p[z == 0].sum())
        return np.vstack((removed[removed[:, 0] > 0], added[added[:, 0] < 0], [[0.0, still]]))

    @property
    def purely_atomic(self) -> bool:
        return self.base.purely_atomic

    def distance(self) -> float:
        """The sampled share of the base's."""
        return self.rate * self.base.distance()
