"""Goodness of fit of counts to cell probabilities, valid at every sample size.

The statistic is n·KL(observed ‖ expected), half the likelihood-ratio chi-square. Its usual
chi-square limit is not trustworthy at the rates used here (1e-9), so the p-value is the
finite-sample bound of Agrawal: n·KL has at most the moment generating function of a gamma
variable of shape k − 1, for any n, any probabilities and k cells.

Source: R. Agrawal, "Finite-sample concentration of the multinomial in relative entropy",
IEEE Transactions on Information Theory, 2020 (arXiv 1904.02291).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.search import doubled, least


def divergence(counts: NDArray[np.int64], masses: Floats) -> float:
    """n·KL(counts/n ‖ masses); infinite when an impossible cell was hit."""
    seen = counts > 0
    if np.any(masses[seen] <= 0):
        return math.inf
    expected = counts.sum() * masses[seen]
    return max(0.0, float(np.sum(counts[seen] * np.log(counts[seen] / expected))))


def tail(statistic: float, *, cells: int) -> float:
    """An upper bound on the probability that n·KL reaches ``statistic`` under the true law.

    >>> tail(1.0, cells=5), float(f"{tail(40.0, cells=5):.2g}")
    (1.0, 2.3e-12)
    """
    shape = cells - 1
    if statistic == math.inf:
        return 0.0
    if shape == 0 or statistic <= shape:
        return 1.0
    return math.exp(shape - statistic + shape * math.log(statistic / shape))


def threshold(alpha: float, *, cells: int) -> float:
    """The statistic at which ``tail`` falls to ``alpha``: the least value that is rejected."""
    if cells == 1:
        return math.inf

    def rejected(statistic: float) -> bool:
        return tail(statistic, cells=cells) <= alpha

    high = doubled(rejected, 2.0 * (cells - 1) + 1.0)
    return least(rejected, float(cells - 1), high, close=0.0)


def miss(truth: Floats, wrong: Floats, *, size: int, alpha: float) -> float:
    """An upper bound on the probability that ``size`` draws of ``truth`` pass as ``wrong``.

    Guarantee: n·KL(observed ‖ wrong) is at least the log-likelihood ratio of truth to wrong,
    whose lower tail obeys Chernoff's bound: min over s of exp(s·t)·(Σ truth^(1−s)·wrong^s)^n.
    """
    limit = threshold(alpha, cells=len(wrong))
    if limit == math.inf:
        return 1.0
    both = (truth > 0) & (wrong > 0)
    tilts = np.linspace(0.02, 0.98, 49)
    blends = [float(np.sum(truth[both] ** (1 - s) * wrong[both] ** s)) for s in tilts]
    exponents = [
        s * limit + size * math.log(blend) if blend > 0 else -math.inf
        for s, blend in zip(tilts, blends, strict=True)
    ]
    return math.exp(min(0.0, *exponents))
