"""Dominating pairs: two laws at least as far apart as any neighbours can push a mechanism.

A pair (P, Q) is given by the law of its privacy loss Z = ln(dP/dQ): how much of P and of Q lies
above and below each loss. Tails are evaluated from the side on which they are small, so that
they are accurate relative to themselves. A mechanism has one pair for each direction in which a
unit can change; symmetric mechanisms have one.

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


class Pair(ABC):
    """The loss law of a dominating pair."""

    @abstractmethod
    def above(self, losses: Array) -> tuple[Array, Array]:
        """P[Z > z] and Q[Z > z] at each loss z."""

    @abstractmethod
    def below(self, losses: Array) -> tuple[Array, Array]:
        """P[Z <= z] and Q[Z <= z] at each loss z."""

    @abstractmethod
    def reach(self, tail: float) -> tuple[float, float]:
        """Losses (low, high) with P[Z < low] and P[Z > high] at most ``tail``."""

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

    @abstractmethod
    def reversed(self) -> Pair:
        """The pair (Q, P), whose loss is -Z under Q."""


@dataclass(frozen=True)
class NormalPair(Pair):
    """N(mu, 1) against N(0, 1): Z is normal with mean mu**2/2 and deviation mu."""

    mu: float

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Upper tails at z/mu -+ mu/2."""
        return self._tails(-losses / self.mu, self.mu / 2)

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Lower tails."""
        return self._tails(losses / self.mu, -self.mu / 2)

    def _tails(self, centre: Array, shift: float) -> tuple[Array, Array]:
        from scipy.special import ndtr  # loaded on first use: SciPy is slow to import

        return ndtr(centre + shift), ndtr(centre - shift)

    def reach(self, tail: float) -> tuple[float, float]:
        """Normal quantiles."""
        from scipy.special import ndtri  # loaded on first use: SciPy is slow to import

        spread = self.mu * float(-ndtri(tail))
        return self.mu**2 / 2 - spread, self.mu**2 / 2 + spread

    def reversed(self) -> Pair:
        """Symmetric."""
        return self


@dataclass(frozen=True)
class LaplacePair(Pair):
    """Laplace noise of scale 1 at 0 and at ``loss``: atoms at both ends, a density between."""

    loss: float

    def above(self, losses: Array) -> tuple[Array, Array]:
        """1 - exp(-(e - z)/2)/2 and exp(-(e + z)/2)/2 for -e <= z < e."""
        z = np.clip(losses, -self.loss, self.loss)
        inside = losses < self.loss
        p = np.where(inside, 1 - np.exp((z - self.loss) / 2) / 2, 0.0)
        q = np.where(inside, np.exp(-(self.loss + z) / 2) / 2, 0.0)
        under = losses < -self.loss
        return np.where(under, 1.0, p), np.where(under, 1.0, q)

    def below(self, losses: Array) -> tuple[Array, Array]:
        """The complements, evaluated without cancellation."""
        z = np.clip(losses, -self.loss, self.loss)
        beyond = losses >= self.loss
        p = np.where(beyond, 1.0, np.exp((z - self.loss) / 2) / 2)
        q = np.where(beyond, 1.0, 1 - np.exp(-(self.loss + z) / 2) / 2)
        under = losses < -self.loss
        return np.where(under, 0.0, p), np.where(under, 0.0, q)

    def reach(self, tail: float) -> tuple[float, float]:
        """Between the atoms."""
        return -self.loss, self.loss

    def atoms(self) -> Array:
        """Half of P at the top, half of Q at the bottom."""
        return np.array([[self.loss, 0.5], [-self.loss, 0.5 * math.exp(-self.loss)]])

    def reversed(self) -> Pair:
        """Symmetric."""
        return self


@dataclass(frozen=True)
class BoundedRangePair(Pair):
    """The upper envelope of all pairs whose losses span at most ``loss``.

    Its curve is (1 - exp(-(e - z)/2))**2 / (1 - exp(-e)) between -e and e: the best of the
    two-point pairs with losses t and t - e is at t = (e + z)/2.
    """

    loss: float

    def _q_above(self, z: Array) -> Array:
        # Minus the derivative of the curve with respect to exp(z).
        half = np.exp((z - self.loss) / 2)
        return (1 - half) * half * np.exp(-z) / -math.expm1(-self.loss)

    def above(self, losses: Array) -> tuple[Array, Array]:
        """From the curve and its slope: Q[Z > z] = -slope, P[Z > z] = curve + exp(z) Q[Z > z]."""
        z = np.clip(losses, -self.loss, self.loss)
        half = np.exp((z - self.loss) / 2)
        q = self._q_above(z)
        p = (1 - half) / -math.expm1(-self.loss)
        under = losses < -self.loss
        return np.where(under, 1.0, p), np.where(under, 1.0, q)

    def below(self, losses: Array) -> tuple[Array, Array]:
        """The complements."""
        z = np.clip(losses, -self.loss, self.loss)
        p = (np.exp((z - self.loss) / 2) - math.exp(-self.loss)) / -math.expm1(-self.loss)
        q = 1 - self._q_above(z)
        under = losses < -self.loss
        return np.where(under, 0.0, p), np.where(under, 0.0, q)

    def reach(self, tail: float) -> tuple[float, float]:
        """The whole range."""
        return -self.loss, self.loss

    def reversed(self) -> Pair:
        """Symmetric: the envelope contains each two-point pair with its reverse."""
        return self


@dataclass(frozen=True)
class AtomicPair(Pair):
    """Finitely many losses with their P-masses; Q-masses follow, the rest of Q is elsewhere."""

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    infinite: float = 0.0

    def _cumulative(self) -> tuple[Array, Array, Array]:
        order = np.argsort(self.losses)
        z = np.asarray(self.losses)[order]
        p = np.asarray(self.masses)[order]
        return z, p, p * np.exp(-z)

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Sums over larger losses, infinity included on the P side."""
        z, p, q = self._cumulative()
        tail_p = np.append(np.cumsum(p[::-1])[::-1], 0.0) + self.infinite
        tail_q = np.append(np.cumsum(q[::-1])[::-1], 0.0)
        where = np.searchsorted(z, losses, side="right")
        return tail_p[where], tail_q[where]

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Sums over smaller losses; Q's mass where P has none counts as loss minus infinity."""
        z, p, q = self._cumulative()
        head_p = np.concatenate(([0.0], np.cumsum(p)))
        head_q = np.concatenate(([0.0], np.cumsum(q))) + max(0.0, 1 - float(q.sum()))
        where = np.searchsorted(z, losses, side="right")
        return head_p[where], head_q[where]

    def unbounded(self) -> float:
        """Mass that Q cannot produce."""
        return self.infinite

    @property
    def purely_atomic(self) -> bool:
        """Nothing else."""
        return True

    def atoms(self) -> Array:
        """All of them."""
        return np.column_stack((self.losses, self.masses))

    def reach(self, tail: float) -> tuple[float, float]:
        """Between the least and the largest atom."""
        return min(self.losses), max(self.losses)

    def reversed(self) -> Pair:
        """Swap the roles: losses change sign, Q-masses become P-masses."""
        z, _, q = self._cumulative()
        missing = max(0.0, 1 - float(q.sum()))
        return AtomicPair(tuple(-z), tuple(q), missing if missing > 1e-15 else 0.0)


def response_pair(epsilon: float, delta: float = 0.0) -> AtomicPair:
    """The worst (epsilon, delta) mechanism: randomized response, and delta at infinity (KOV)."""
    truth = 1 / (1 + math.exp(-epsilon))
    return AtomicPair((epsilon, -epsilon), ((1 - delta) * truth, (1 - delta) * (1 - truth)), delta)


@dataclass(frozen=True)
class Removed(Pair):
    """Poisson sampling, unit removed: (1 - q) Q + q P against Q."""

    base: Pair
    rate: float

    def _base_loss(self, losses: Array) -> Array:
        """The loss of the base where the mixture's loss is z: ln(1 + (e^z - 1)/q)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.expm1(losses) / self.rate
            return np.where(inner > -1, np.log1p(np.maximum(inner, -1.0)), -np.inf)

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Mixtures of the base's tails."""
        p, q = self.base.above(self._base_loss(losses))
        return (1 - self.rate) * q + self.rate * p, q

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Mixtures of the base's tails."""
        p, q = self.base.below(self._base_loss(losses))
        return (1 - self.rate) * q + self.rate * p, q

    def unbounded(self) -> float:
        """The sampled share of the base's."""
        return self.rate * self.base.unbounded()

    def reach(self, tail: float) -> tuple[float, float]:
        """From ln(1 - q) to the image of the base's reach."""
        _, high = self.base.reach(tail)
        top = high + math.log(self.rate + (1 - self.rate) * math.exp(-min(high, 700.0)))
        return math.log1p(-self.rate) if self.rate < 1 else self.base.reach(tail)[0], top

    def atoms(self) -> Array:
        """Those of the base, at the mixture's losses and masses."""
        atoms = self.base.atoms()
        grown = np.log1p(self.rate * np.expm1(atoms[:, 0]))
        masses = atoms[:, 1] * (self.rate + (1 - self.rate) * np.exp(-atoms[:, 0]))
        return np.column_stack((grown, masses))

    def reversed(self) -> Pair:
        """Adding the unit instead."""
        return Reversed(self)


@dataclass(frozen=True)
class Reversed(Pair):
    """The pair (Q, P) of a pair (P, Q) without atoms at infinity."""

    base: Pair

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Q[Z < -z] and P[Z < -z], up to atoms, which are on neither side of a grid cell's end."""
        p, q = self.base.below(-losses)
        return q, p

    def below(self, losses: Array) -> tuple[Array, Array]:
        """The other side."""
        p, q = self.base.above(-losses)
        return q, p

    def reach(self, tail: float) -> tuple[float, float]:
        """Mirrored, with Q's tails bounded through P's."""
        low, high = self.base.reach(tail)
        return -high, -low

    def atoms(self) -> Array:
        """The base's, mirrored, with their Q-masses."""
        atoms = self.base.atoms()
        return np.column_stack((-atoms[:, 0], atoms[:, 1] * np.exp(-atoms[:, 0])))

    def reversed(self) -> Pair:
        """Back again."""
        return self.base


@dataclass(frozen=True)
class Replaced(Pair):
    """A sample of fixed size, unit replaced: the worse of both mixtures at every loss.

    Above zero (1 - q) Q + q P against Q, below zero P against (1 - q) P + q Q
    (modern-learn:8).
    """

    base: Pair
    rate: float

    def above(self, losses: Array) -> tuple[Array, Array]:
        """Either mixture's tails, by the sign of the loss."""
        return self._chosen(losses, *self._mixtures("above", losses))

    def below(self, losses: Array) -> tuple[Array, Array]:
        """Either mixture's tails, by the sign of the loss."""
        return self._chosen(losses, *self._mixtures("below", losses))

    def _mixtures(self, side: str, losses: Array) -> tuple[tuple[Array, Array], ...]:
        removed = Removed(self.base, self.rate)
        added = Reversed(Removed(self.base.reversed(), self.rate))
        return getattr(removed, side)(losses), getattr(added, side)(losses)

    @staticmethod
    def _chosen(
        losses: Array, removed: tuple[Array, Array], added: tuple[Array, Array]
    ) -> tuple[Array, Array]:
        up = losses >= 0
        return np.where(up, removed[0], added[0]), np.where(up, removed[1], added[1])

    def reach(self, tail: float) -> tuple[float, float]:
        """Symmetric."""
        _, high = Removed(self.base, self.rate).reach(tail)
        return -high, high

    def reversed(self) -> Pair:
        """Symmetric: replacing back is replacing."""
        return self
