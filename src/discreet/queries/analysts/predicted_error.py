"""The errors that normal noise leaves in the answers of a round, before anything is spent.

Source: analysts-verified:H4 (baselines).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.search import least


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

    def rarely_passed(error: float) -> bool:
        return float(many @ erfc(error / (math.sqrt(2) * spread))) <= math.log(2)

    largest = least(rarely_passed, 0.0, 60 * float(spread.max()), close=1e-9)
    return PredictedError(mean=mean, largest=largest)
