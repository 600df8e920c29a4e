"""Logarithms of binomial probabilities with a bound of their error, for millions of trials.

Loader's form: with s the remainder of Stirling's formula and D(x, m) = x ln(x/m) + m - x,

    ln P(j) = s(n) - s(j) - s(n-j) - D(j, n p) - D(n-j, n q) + ln(n / (2 pi j (n-j))) / 2.

Differences of log-gammas would lose eight digits at ten million trials; here nothing large
cancels. Source: Loader (2000), *Fast and accurate computation of binomial probabilities*.
Proof: ``proofs/composition.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats

_UNIT = 2.0**-50
_SERIES_FROM = 16
_LEAST = 1e-300
_DEVIATIONS = 20
_MORE = 100


def _remainder(n: int) -> float:
    if n == 0:
        return 0.0
    half = math.log(2 * math.pi) / 2
    return math.log(math.factorial(n)) - (n + 0.5) * math.log(n) + n - half


_SMALL = np.array([_remainder(n) for n in range(_SERIES_FROM)])


@dataclass(frozen=True)
class BiasedCoin:
    """``p`` and ``q``, the probabilities of success and failure, each off by ``error`` of itself.

    They need not add up to one in floating point. One below 1e-300 is raised to that, which only
    raises the probabilities of outcomes.
    """

    p: float
    q: float
    error: float = _UNIT

    def __post_init__(self) -> None:
        """Keep logarithms finite."""
        object.__setattr__(self, "p", max(self.p, _LEAST))
        object.__setattr__(self, "q", max(self.q, _LEAST))

    def turned(self) -> BiasedCoin:
        """The coin whose success is this one's failure."""
        return BiasedCoin(self.q, self.p, self.error)


def log_masses(j: Floats, trials: int | Floats, coin: BiasedCoin) -> tuple[Floats, Floats]:
    """ln P(j) for whole ``j`` in [0, trials], and a bound of its absolute error.

    ``trials`` is at least one, and may differ from outcome to outcome.
    """
    n = np.atleast_1d(np.asarray(trials, dtype=np.float64))
    rest = n - j
    first, first_error = _deviance(j, n * coin.p, coin.error)
    second, second_error = _deviance(rest, n * coin.q, coin.error)
    inside = (j > 0) & (rest > 0)
    product = np.where(inside, j * rest, 1.0)
    stirling = _stirling(n) - _stirling(j) - _stirling(rest)
    spread = np.log(n / (2 * math.pi) / product) / 2
    log = np.where(inside, stirling + spread, 0.0) - first - second
    return log, first_error + second_error + _UNIT * (8 + np.abs(log) + np.abs(spread))


def masses_above(j: Floats, trials: int | Floats, coin: BiasedCoin) -> Floats:
    """P(j), rounded up."""
    log, error = log_masses(j, trials, coin)
    raised: Floats = np.exp(np.minimum(log + error, 0.0)) * (1 + _UNIT) + 5e-324
    return raised


def window(trials: int, coin: BiasedCoin) -> tuple[int, int]:
    """Outcomes that hold all but a negligible mass: twenty deviations and more to each side."""
    reach = _DEVIATIONS * math.sqrt(trials * coin.p * coin.q) + _MORE
    mean = trials * coin.p
    return max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))


def mass_from(j: int, trials: int, coin: BiasedCoin) -> float:
    """P(J >= j), rounded up: a geometric bound, useful far above the mean only."""
    return _beyond(j, trials, coin)


def mass_to(j: int, trials: int, coin: BiasedCoin) -> float:
    """P(J <= j), rounded up: a geometric bound, useful far below the mean only."""
    return _beyond(trials - j, trials, coin.turned())


def _beyond(j: int, trials: int, coin: BiasedCoin) -> float:
    """P(j) / (1 - r), where r bounds the ratio of neighbours from ``j`` on."""
    if j > trials:
        return 0.0
    if j <= 0:
        return 1.0
    ratio = (trials - j) / (j + 1) * (coin.p / coin.q) * (1 + 1e-9)
    if ratio >= 1 - 1e-9:
        return 1.0
    mass = float(masses_above(np.array([float(j)]), trials, coin)[0])
    return min(1.0, mass / (1 - ratio) * (1 + 1e-6))


def _stirling(n: Floats) -> Floats:
    small = n < _SERIES_FROM
    large = np.where(small, float(_SERIES_FROM), n)
    s = 1 / (large * large)
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / large
    return np.where(small, _SMALL[np.where(small, n, 0).astype(np.intp)], series)


def _deviance(x: Floats, m: Floats, error: float) -> tuple[Floats, Floats]:
    """x ln(x/m) + m - x, and a bound of its error."""
    u = np.maximum((x - m) / m, -1.0)
    grown = np.where(x > 0, (1 + u) * np.log1p(np.where(x > 0, u, 0.0)), 0.0)
    value = np.where(x > 0, np.maximum(grown - u, 0.0), 1.0) * m
    return value, m * (_UNIT * np.abs(grown) + (_UNIT + error) * np.abs(u))
