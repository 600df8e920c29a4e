"""Gaussian noise for releases that no analyst's question influences, and the errors it makes.

Source: analysts-verified:H4 (baselines); contract, "Numbers".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee
from discreet.core.parameters import exact
from discreet.mechanisms import DiscreteGaussian, Gaussian
from discreet.noise.randomness import Source
from discreet.queries.record_count import PublicCount

Noise = Gaussian | DiscreteGaussian


def gaussian_noise(spend: Guarantee, sensitivity: Fraction, randomness: Source) -> Noise:
    """Noise on whole numbers that move by at most ``sensitivity`` in the L2 norm.

    (epsilon, delta) buys the continuous law rounded, by its exact curve; zCDP the discrete one.
    """
    paid = require_gaussian(spend)
    if isinstance(paid, ZCDP):
        return DiscreteGaussian(rho=exact(paid.rho), sensitivity=sensitivity, randomness=randomness)
    return Gaussian(
        epsilon=exact(paid.epsilon),
        delta=paid.delta,
        sensitivity=sensitivity,
        randomness=randomness,
    )


def require_gaussian(spend: Guarantee) -> ApproxDP | ZCDP:
    """Refuse spends that Gaussian noise cannot keep."""
    match spend:
        case ApproxDP(epsilon=epsilon, delta=delta) if delta > 0 and epsilon > 0:
            return spend
        case ZCDP(rho=rho) if rho > 0:
            return spend
    raise InvalidParameter(
        code="gaussian_spend",
        expectation="a spend in ApproxDP with delta > 0, or in ZCDP, above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.ApproxDP(epsilon=1, delta=1e-6).",
    )


def require_public_count(size: object) -> PublicCount:
    """Refuse neighbours that come and go: these prices are for records that are exchanged."""
    if not isinstance(size, PublicCount):
        raise InvalidParameter(
            code="records_not_public",
            expectation="a public number of records, of which neighbours exchange one",
            received=type(size).__name__,
            remedy="Write size=PublicCount(n); add and remove are not priced here.",
        )
    return size


@dataclass(frozen=True)
class PredictedError:
    """Errors of answers that are shares of the records: the mean and the largest expected."""

    mean: float
    largest: float


def normal_errors(deviations: Sequence[tuple[float, float]]) -> PredictedError:
    """Absolute errors of normal answers: pairs of a standard deviation and how many have it.

    The mean, and the median of the largest. The largest of dependent normal errors is
    stochastically no larger than that of independent ones (Šidák), so the median is not passed
    more often than every other time.

    >>> round(normal_errors([(0.0126, 1760)]).largest, 4)
    0.0447
    """
    from scipy.special import erfc  # loaded on first use: SciPy is slow to import

    spread = np.array([deviation for deviation, _ in deviations])
    many = np.array([number for _, number in deviations])
    mean = math.sqrt(2 / math.pi) * float(spread @ many / many.sum())
    low, high = 0.0, 60 * float(spread.max())
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        passing = float(many @ erfc(middle / (math.sqrt(2) * spread)))
        low, high = (middle, high) if passing > math.log(2) else (low, middle)
    return PredictedError(mean=mean, largest=high)
