"""Dominating pairs: two laws at least as far apart as any neighbours can push a mechanism.

A pair (P, Q) is given by the law of its privacy loss Z = ln(dP/dQ): losses that happen with
positive probability, the mass at infinity, and the tails of what is spread out between. Tails
are evaluated from the side on which they are small, so that they are accurate relative to
themselves. The pairs here are symmetric: exchanging P and Q gives the same law of losses. Only
sampling breaks that (:mod:`discreet.accounting.pld.sampled_pair`).

Source: 000a:A5, 004a:D1, 004a:D2, 004a:D4. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats

ULP = 2.0**-52
"""One unit in the last place of a double near one."""

_FARTHEST = 37.0
_LEAST = 1e-300
"""Normal tails beyond 37 deviations are below 1e-299: they are not told apart from this much."""


class DominatingPair(ABC):
    """The loss law of a dominating pair."""

    @abstractmethod
    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """P[Z > z] and Q[Z > z] at each loss z, atoms left out."""

    @abstractmethod
    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """P[Z < z] and Q[Z < z] at each loss z, atoms left out."""

    @abstractmethod
    def reach(self, tail: float) -> tuple[float, float]:
        """Losses (low, high) with P[Z < low] and P[high < Z] at most ``tail``, atoms within."""

    @abstractmethod
    def distance(self) -> float:
        """The total variation between P and Q."""

    def rounding(self, losses: Floats) -> Floats:
        """A bound of the relative error of both upper tails at each loss."""
        return np.full(len(losses), 16 * ULP)

    def blur(self, losses: Floats) -> Floats:
        """How far from each loss the tails may have been taken, and atoms may lie."""
        return 4 * ULP * np.abs(losses)

    def unbounded(self) -> float:
        """P[Z = infinity]: outcomes that Q cannot produce."""
        return 0.0

    def atoms(self) -> Floats:
        """Rows (loss, P-mass) of losses with positive probability, finite ones only."""
        return np.empty((0, 2))

    def still(self) -> float:
        """P[Z = 0]."""
        z, p = self.atoms().T
        return float(p[z == 0].sum())

    def lattice(self) -> tuple[float, float] | None:
        """The loss of an atom, and the distance between neighbours, if atoms are all and even."""
        return None

    def convert_to_atoms(self, tail: float) -> DominatingPair:
        """A pair with a curve no higher whose atoms are listed: itself, unless tails say it all.

        It may leave out ``tail`` on either side.
        """
        return self

    @property
    def purely_atomic(self) -> bool:
        """Whether there is nothing but atoms."""
        return False

    def reversed(self) -> DominatingPair:
        """The pair (Q, P), whose loss is -Z under Q: itself, for the symmetric ones."""
        return self


@dataclass(frozen=True)
class NormalPair(DominatingPair):
    """N(mu, 1) against N(0, 1): Z is normal with mean mu**2/2 and deviation mu."""

    mu: float

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Upper tails at z/mu -+ mu/2; P's is never none, however far out."""
        p, q = self._tails(-losses / self.mu, self.mu / 2)
        return np.maximum(p, _LEAST), q

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        return self._tails(losses / self.mu, -self.mu / 2)

    def _tails(self, centre: Floats, shift: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtr  # loaded on first use: SciPy is slow to import

        return ndtr(centre + shift), ndtr(centre - shift)

    def rounding(self, losses: Floats) -> Floats:
        """That of ``ndtr``, measured below 16 + 4 x**2 ulps and of its argument; else all."""
        x = np.maximum(losses / self.mu + self.mu / 2, 0.0)
        near = np.minimum(x, 1e9)  # from where on everything is lost anyway
        error = np.minimum(ULP * (16 + 2 * self.mu + near * (3 + 7 * near)), 1.0)
        return np.where(x - self.mu < _FARTHEST, error, 1.0)

    def blur(self, losses: Floats) -> Floats:
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
class LaplacePair(DominatingPair):
    """Laplace noise of scale 1 at 0 and at ``loss``: atoms at both ends, a density between."""

    loss: float

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """(1 - exp(-(e - z)/2))/2 and (exp(-(e + z)/2) - exp(-e))/2 for -e <= z < e."""
        return self._tails(np.clip(losses, -self.loss, self.loss))

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Those of the mirror image, with P and Q exchanged."""
        p, q = self._tails(-np.clip(losses, -self.loss, self.loss))
        return q, p

    def _tails(self, z: Floats) -> tuple[Floats, Floats]:
        gap = -np.expm1(-(self.loss - z) / 2) / 2
        return gap, gap * np.exp(-(self.loss + z) / 2)

    def rounding(self, losses: Floats) -> Floats:
        """A few ulps, and what rounding the exponent does."""
        return np.full(len(losses), ULP * (16 + 2 * self.loss))

    def reach(self, tail: float) -> tuple[float, float]:
        return -self.loss, self.loss

    def atoms(self) -> Floats:
        """Half of P at the top, half of Q at the bottom."""
        return np.array([[self.loss, 0.5], [-self.loss, 0.5 * math.exp(-self.loss)]])

    def distance(self) -> float:
        """P less Q on one side of the middle."""
        return -math.expm1(-self.loss / 2)


@dataclass(frozen=True)
class BoundedRangePair(DominatingPair):
    """The upper envelope of all pairs whose losses span at most ``loss``.

    Its curve is (1 - exp(-(e - z)/2))**2 / (1 - exp(-e)) between -e and e: the best of the
    two-point pairs with losses t and t - e is at t = (e + z)/2.
    """

    loss: float

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """From the curve and its slope: Q[Z > z] = -slope, P[Z > z] = curve + exp(z) Q[Z > z]."""
        return self._tails(np.clip(losses, -self.loss, self.loss))

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Those of the mirror image, with P and Q exchanged."""
        p, q = self._tails(-np.clip(losses, -self.loss, self.loss))
        return q, p

    def _tails(self, z: Floats) -> tuple[Floats, Floats]:
        share = np.expm1(-(self.loss - z) / 2) / math.expm1(-self.loss)
        return share, share * np.exp(-(self.loss + z) / 2)

    def rounding(self, losses: Floats) -> Floats:
        """A few ulps, and what rounding the exponent does."""
        return np.full(len(losses), ULP * (16 + 2 * self.loss))

    def reach(self, tail: float) -> tuple[float, float]:
        return -self.loss, self.loss

    def distance(self) -> float:
        """The curve at zero."""
        return math.tanh(self.loss / 4)


@dataclass(frozen=True)
class AtomicPair(DominatingPair):
    """Finitely many losses with their P-masses; symmetric, so that Q loses ``infinite`` too."""

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    infinite: float = 0.0

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        nothing = np.zeros(len(losses))
        return nothing, nothing

    below = above

    def blur(self, losses: Floats) -> Floats:
        """Losses are a few products and sums of the largest."""
        return np.full(len(losses), 4 * ULP * max(self.losses))

    def unbounded(self) -> float:
        """Mass that Q cannot produce."""
        return self.infinite

    @property
    def purely_atomic(self) -> bool:
        return True

    def atoms(self) -> Floats:
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
