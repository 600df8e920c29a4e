"""How far a sum of Laplace noises lies, from its variance alone: a bound that always holds.

A Laplace variable is a normal one whose variance is drawn, twice the squared scale times a
standard exponential E. So X = Σ c_i L_i of variance one is normal of variance W = Σ a_i E_i, where
a_i is the share of the i-th noise in the variance. If no share is above 1/k, the shares are
majorised by k equal ones, and then E φ(W) ≤ E φ(Gamma(k)/k) for every convex φ. P(|X| > t | W) is
convex in W up to t²/3 and concave beyond; with its steepest tangent in place of the rest it is
convex, and above it.

For k equal noises this is a few thousandths from the exact tail at 95 %, and for one noise, where
nothing is known of the shares, two per cent.

Source: derived here; A. W. Marshall, I. Olkin and B. C. Arnold, *Inequalities: Theory of
Majorization and Its Applications*, 2011, ch. 3 and 12. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.parameters import count, probability
from discreet.core.search import least

MOST_PARTS = 256
"""More equal noises than this are bounded as if they were so many: fewer are never less far."""
_PANELS, _NODES, _DEEP = 24, 16, 6.0
_UPWARD = 1 + 1e-9
_FARTHEST = 200.0


def parts_of(peak: float) -> int:
    """How many equal noises bound a sum in whose variance no noise has more than a share."""
    return max(1, min(MOST_PARTS, math.floor(1 / min(peak, 1.0) + 1e-9)))


def laplace_tail(t: Floats, *, parts: int = 1) -> Floats:
    """A bound on P(|X| > t) for each t above zero, X a sum of Laplace noises of variance one.

    Contract: ``parts`` of a sum are equal, or smaller: :func:`parts_of`.

    >>> bound = laplace_tail(np.array([2.1183]))
    >>> float(bound[0]).__round__(4), math.exp(-math.sqrt(2) * 2.1183).__round__(4)
    (0.0534, 0.05)
    """
    from scipy.special import gammaincc, gammaln, ndtr  # loaded on first use

    k = count("parts", parts)
    turn = np.asarray(t, dtype=np.float64) ** 2 / 3
    logs, widths = _below_the_turn()
    w = turn[..., None] * np.exp(logs)
    density = np.exp(k * math.log(k) + (k - 1) * np.log(w) - k * w - float(gammaln(k)))
    given = 2 * ndtr(-np.sqrt(3 * np.exp(-logs)))
    below = (given * density * w) @ widths
    # Beyond the turn, a line: at √3 standard deviations its height, and the slope there.
    beyond = gammaincc(k, k * turn)
    rise = math.sqrt(3) * math.exp(-1.5) / math.sqrt(2 * math.pi)
    mean = gammaincc(k + 1, k * turn)
    line = 2 * float(ndtr(-math.sqrt(3))) * beyond + rise * (mean / turn - beyond)
    return np.asarray((below + line) * _UPWARD)


@lru_cache(maxsize=1)
def _below_the_turn() -> tuple[Floats, Floats]:
    """Nodes and weights for the logarithm of W over the turn; below them nothing is left."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    side = _DEEP / _PANELS
    starts = -_DEEP + side * np.arange(_PANELS)
    logs = (starts[:, None] + (nodes + 1) * side / 2).ravel()
    return logs, np.tile(weights * side / 2, _PANELS)


@lru_cache(maxsize=4096)
def laplace_width(confidence: float, *, parts: int = 1) -> float:
    """The deviations within which a sum of Laplace noises lies with at least this confidence.

    >>> round(laplace_width(0.95), 4), round(laplace_width(0.95, parts=100), 4)
    (2.1614, 1.962)
    """
    alpha = 1 - float(probability("confidence", confidence))

    def reached(t: float) -> bool:
        return float(laplace_tail(np.array(t), parts=parts)) <= alpha

    return least(reached, 0.0, _FARTHEST, close=1e-9)
