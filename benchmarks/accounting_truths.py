"""What events cost in truth, by enumeration and numerical integration, with nothing of ours.

A law is one pair of neighbours at its worst: outcomes with their probabilities, or densities of
which one is the other one moved. Notions are the pure epsilon, rho, the Rényi divergence of one
order, mu, and epsilon at a delta. Sums of losses are inverted on a contour: with M(s) = E exp(s Z),

    delta(epsilon) = 1/(2 pi i)  ∫ M(s) exp(-s epsilon) / (s (s + 1)) ds,   from c - i∞ to c + i∞.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

Floats = NDArray[np.float64]
Curve = Callable[[float], float]
Moment = Callable[[complex], complex]
"""ln E exp(s Z)."""

ORDERS = 1 + np.geomspace(1e-6, 1e4, 4000)


def crossing(curve: Curve, delta: float, most: float) -> float:
    """Where a falling curve of epsilon reaches delta."""
    return float(optimize.brentq(lambda e: curve(e) - delta, 0.0, most, xtol=1e-13))


class Law(ABC):
    """A worst pair of neighbours, both ways round."""

    @abstractmethod
    def pure(self) -> float:
        """The largest loss."""

    @abstractmethod
    def renyi(self, orders: Floats) -> Floats:
        """The divergence at each order."""

    @abstractmethod
    def mu(self) -> float:
        """The largest distance of normal quantiles over all tests."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """The hockey-stick divergence."""

    def rho(self) -> float:
        """The supremum of D_alpha / alpha; up to what a fine list of orders misses."""
        return float((self.renyi(ORDERS) / ORDERS).max())

    def epsilon(self, delta: float) -> float:
        """Epsilon at a delta."""
        return crossing(self.delta, delta, min(self.pure(), 60.0))


@dataclass(frozen=True)
class Listed(Law):
    """P- and Q-masses of outcomes."""

    p: Sequence[float]
    q: Sequence[float]

    def _arrays(self) -> tuple[Floats, Floats]:
        p, q = np.array(self.p, dtype=np.float64), np.array(self.q, dtype=np.float64)
        order = np.argsort(q / p)
        return p[order], q[order]

    def pure(self) -> float:
        """The largest of the listed losses."""
        p, q = self._arrays()
        return float(np.abs(np.log(p / q)).max())

    def renyi(self, orders: Floats) -> Floats:
        """The sums, the worse way round."""
        p, q = self._arrays()
        both = [(p, q), (q, p)]
        return np.asarray(np.max([self._one_way(a, b, orders) for a, b in both], axis=0))

    @staticmethod
    def _one_way(p: Floats, q: Floats, orders: Floats) -> Floats:
        exponents = (orders[:, None] - 1) * np.log(p / q)
        peak = exponents.max(axis=1)
        sums = (np.exp(exponents - peak[:, None]) * p).sum(axis=1)
        # Near order one the sum is one and a little: then the moments' own differences.
        near = np.log1p((np.expm1(np.minimum(exponents, 1)) * p).sum(axis=1))
        return np.asarray(np.where(peak < 1, near, peak + np.log(sums)) / (orders - 1))

    def mu(self) -> float:
        """At the corners of the trade-off curve."""
        p, q = self._arrays()
        power, level = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
        misses, rest = np.cumsum(p[::-1])[-2::-1], np.cumsum(q[::-1])[-2::-1]
        hit = np.where(power < 0.5, stats.norm.ppf(power), stats.norm.isf(misses))
        alarm = np.where(level < 0.5, stats.norm.ppf(level), stats.norm.isf(rest))
        return float((hit - alarm).max())

    def delta(self, epsilon: float) -> float:
        """The sum, the worse way round."""
        p, q = self._arrays()
        grown = math.exp(epsilon)
        ways = (np.maximum(a - grown * b, 0.0).sum() for a, b in ((p, q), (q, p)))
        return float(max(ways))


@dataclass(frozen=True)
class Moved(Law):
    """A symmetric log-concave density, and the same moved by one: by quadrature.

    Losses fall from left to right, so the best tests are "below a place".
    """

    log_density: Curve
    distribution: Callable[[Any], Any]
    reach: float
    largest: float

    def _loss(self, x: float) -> float:
        return self.log_density(x) - self.log_density(x - 1)

    def _integral(self, function: Curve) -> float:
        near = [-self.reach / 10, 0.0, 0.5, 1.0, self.reach / 10]
        edges = [-self.reach, *near, self.reach]
        parts = (
            integrate.quad(function, low, high, limit=400, epsabs=1e-18, epsrel=1e-12)[0]
            for low, high in pairwise(edges)
        )
        return math.fsum(parts)

    def pure(self) -> float:
        """The loss far out."""
        return self.largest

    def renyi(self, orders: Floats) -> Floats:
        """The integrals."""

        def moment(alpha: float) -> float:
            def surplus(x: float) -> float:
                log, grown = self.log_density(x), (alpha - 1) * self._loss(x)
                # Apart where the power alone would be too large for a float.
                if grown > 1:
                    return math.exp(log + grown) - math.exp(log)
                return math.exp(log) * math.expm1(grown)

            return math.log1p(self._integral(surplus)) / (alpha - 1)

        return np.array([moment(float(alpha)) for alpha in orders])

    def rho(self) -> float:
        """At fewer orders: each is an integral."""
        orders = 1 + np.geomspace(1e-5, 20, 40)
        return float((self.renyi(orders) / orders).max())

    def mu(self) -> float:
        """Over nine thousand tests."""
        places = np.linspace(-4, 5, 9001)
        power, level = self.distribution(places), self.distribution(places - 1)
        return float((stats.norm.ppf(power) - stats.norm.ppf(level)).max())

    def delta(self, epsilon: float) -> float:
        """By the best test, where the loss is epsilon."""
        if epsilon >= self._loss(-self.reach):
            return 0.0
        place = optimize.brentq(
            lambda x: self._loss(x) - epsilon, -self.reach, self.reach, xtol=1e-14
        )
        return float(self.distribution(place) - math.exp(epsilon) * self.distribution(place - 1))


def gaussian(sigma: float) -> Moved:
    """Normal noise."""
    noise = stats.norm(scale=sigma)
    least = -math.log(sigma * math.sqrt(2 * math.pi))
    return Moved(lambda x: least - (x / sigma) ** 2 / 2, noise.cdf, 60 * sigma, math.inf)


def laplace(epsilon: float) -> Moved:
    """Laplace noise of scale 1/epsilon."""
    noise = stats.laplace(scale=1 / epsilon)
    return Moved(
        lambda x: math.log(epsilon / 2) - epsilon * abs(x), noise.cdf, 60 / epsilon, epsilon
    )


def geometric(epsilon: float, steps: int) -> Listed:
    """Two-sided geometric noise, moved by so many steps; far outcomes of equal loss together."""
    fall = math.exp(-epsilon / steps)
    share = (1 - fall) / (1 + fall)
    p = [1 / (1 + fall), *(share * fall**x for x in range(1, steps)), fall**steps / (1 + fall)]
    return Listed(p, p[::-1])


def response(epsilon: float, categories: int) -> Listed:
    """Randomized response."""
    whole = math.exp(epsilon) + categories - 1
    rest = [] if categories == 2 else [(categories - 2) / whole]
    p = [math.exp(epsilon) / whole, *rest, 1 / whole]
    return Listed(p, p[::-1])


def discrete_gaussian(sigma: float) -> Listed:
    """Discrete normal noise moved by one step."""
    x = np.arange(-math.ceil(14 * sigma), math.ceil(14 * sigma) + 2)
    p, q = (np.exp(-((x - moved) ** 2) / (2 * sigma**2)) for moved in (0, 1))
    return Listed(list(p / p.sum()), list(q / q.sum()))


def sampled(law: Listed, rate: float) -> Listed:
    """On a sample that the unit joins at ``rate``."""
    p, q = np.array(law.p), np.array(law.q)
    return Listed(list((1 - rate) * q + rate * p), list(q))


class BoundedRange(Law):
    """The worst of all two-point pairs whose losses are epsilon apart, for each notion."""

    def __init__(self, epsilon: float) -> None:
        """List the pairs."""
        self.range = epsilon
        places = np.linspace(0, epsilon, 2001)[1:-1].tolist()
        self.pairs = [self._pair(place) for place in places]

    def _pair(self, place: float) -> Listed:
        share = math.expm1(place - self.range) / math.expm1(-self.range)
        other = (1 - share) * math.exp(self.range - place)
        return Listed([share, 1 - share], [share * math.exp(-place), other])

    def pure(self) -> float:
        """The whole range."""
        return self.range

    def renyi(self, orders: Floats) -> Floats:
        """The worst pair at each order."""
        return np.asarray(np.max([pair.renyi(orders) for pair in self.pairs], axis=0))

    def rho(self) -> float:
        """Every tenth pair."""
        orders = ORDERS[::20]
        return max(float((pair.renyi(orders) / orders).max()) for pair in self.pairs[9::10])

    def mu(self) -> float:
        """The worst pair."""
        return max(pair.mu() for pair in self.pairs)

    def delta(self, epsilon: float) -> float:
        """The worst pair at this epsilon."""
        return max(pair.delta(epsilon) for pair in self.pairs)


def gaussian_delta(mu: float) -> Curve:
    """The curve of normal noise of distance ``mu``."""
    normal = stats.norm.cdf
    return lambda e: float(normal(mu / 2 - e / mu) - math.exp(e) * normal(-mu / 2 - e / mu))


def laplace_moment(epsilon: float) -> Moment:
    """Of one Laplace release, at order s + 1."""

    def log(s: complex) -> complex:
        a = s + 1
        weight = a / (2 * a - 1)
        return complex(np.log(weight * np.exp(s * epsilon) + (1 - weight) * np.exp(-a * epsilon)))

    return log


def gaussian_moment(mu: float) -> Moment:
    """Of one Gaussian release."""
    return lambda s: s * (s + 1) * mu * mu / 2


def sampled_moments(mu: float, rate: float) -> tuple[Moment, Moment]:
    """Of Gaussian noise on a sample, unit removed and added, by the trapezoidal rule."""
    x = np.linspace(-14, 14 + 40 * mu, 20_001)
    weights = stats.norm.logpdf(x) + math.log(x[1] - x[0])
    losses = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))

    def moment(power: complex) -> complex:
        exponents = weights + power * losses
        peak = exponents.real.max()
        return complex(peak + np.log(np.exp(exponents - peak).sum()))

    return lambda s: moment(s + 1), lambda s: moment(-s)


def response_moment(epsilon: float) -> Moment:
    """Of one pure release at its worst."""
    whole = 1 + math.exp(-epsilon)

    def log(s: complex) -> complex:
        return complex(np.log((np.exp(s * epsilon) + np.exp(-(s + 1) * epsilon)) / whole))

    return log


def composed_delta(parts: Sequence[tuple[Moment, int]]) -> Curve:
    """The curve of a sum of losses, by the integral above."""

    def log(s: complex) -> complex:
        return sum((times * moment(s) for moment, times in parts), 0j)

    def curve(epsilon: float) -> float:
        def height(t: float) -> float:
            s = math.exp(t)
            return log(complex(s)).real - s * epsilon - math.log(s * (s + 1))

        found = optimize.minimize_scalar(height, bounds=(-6, 6), method="bounded")
        c, peak = math.exp(found.x), float(found.fun)

        def along(t: float) -> float:
            s = complex(c, t)
            return float((np.exp(log(s) - s * epsilon - peak) / (s * (s + 1))).real)

        width = 1.0
        while abs(along(width)) > 1e-14 * abs(along(0.0)) and width < 1e6:
            width *= 1.5
        edges = np.linspace(0, width, 33)
        total = math.fsum(
            integrate.quad(along, low, high, epsabs=1e-16, epsrel=1e-11, limit=200)[0]
            for low, high in pairwise(edges)
        )
        return total * math.exp(peak) / math.pi

    return curve


def composed_epsilon(parts: Sequence[tuple[Moment, int]], delta: float, most: float) -> float:
    """Epsilon at ``delta`` of a sum of losses."""
    return crossing(composed_delta(parts), delta, most)


def curve_mu(curve: Curve, epsilons: Sequence[float]) -> float:
    """The least mu whose curve is above the given one at so many places."""

    def distance(epsilon: float) -> float:
        wanted = curve(epsilon)
        return float(optimize.brentq(lambda mu: gaussian_delta(mu)(epsilon) - wanted, 1e-3, 1e2))

    return max(map(distance, epsilons))


def convolved_epsilon(sigma: float, times: int, delta: float) -> float:
    """Rounds of discrete normal noise: all outcomes, by plain convolution."""
    far = math.ceil(13 * sigma)
    x = np.arange(-far, far + 1)
    one = np.exp(-(x**2) / (2 * sigma**2))
    one /= one.sum()
    total, base, left = np.ones(1), one, times
    while left:
        total = np.convolve(total, base) if left & 1 else total
        left >>= 1
        if left:
            base = np.convolve(base, base)
            cut = min(len(base) // 2, math.ceil(13 * sigma * math.sqrt(2 * times)))
            base = base[len(base) // 2 - cut : len(base) // 2 + cut + 1]
    losses = (2 * (np.arange(len(total)) - len(total) // 2) + times) / (2 * sigma**2)
    return crossing(
        lambda e: float((total * np.maximum(-np.expm1(e - losses), 0.0)).sum()), delta, 60.0
    )


def optimal_epsilon(epsilon: float, slack: float, times: int, delta: float) -> float:
    """Optimal composition of equal (epsilon, slack) pairs, summed over the binomial."""
    j = np.arange(times + 1)
    masses = stats.binom.pmf(j, times, 1 / (1 + math.exp(-epsilon)))
    kept = (1 - slack) ** times
    losses = (2 * j - times) * epsilon
    return crossing(
        lambda e: 1 - kept * (1 - float((masses * np.maximum(-np.expm1(e - losses), 0)).sum())),
        delta,
        times * epsilon,
    )
