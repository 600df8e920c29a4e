"""The errors that noise leaves in the answers of a round, before anything is spent.

Source: analysts-verified:H4 (baselines). Proof (tails of Laplace noise): ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.search import least
from discreet.mechanisms import DiscreteLaplace
from discreet.mechanisms.for_spend import WholeNoise
from discreet.release.intervals.laplace_sums import laplace_tail, parts_of


@dataclass(frozen=True)
class PredictedError:
    """Errors of answers that are shares of the records: the mean and the largest expected."""

    mean: float
    largest: float


@dataclass(frozen=True)
class Deviations:
    """How many answers have a standard deviation, and what they are combined from.

    ``peak`` is the largest share that one noise has in the variance: one, where nothing is known.
    """

    deviation: float
    many: float
    peak: float = 1.0


def predicted_errors(found: Sequence[Deviations], noise: WholeNoise) -> PredictedError:
    """Absolute errors of answers that combine noise of one kind.

    The mean, and the median of the largest, both from above. Of all laws of one variance that sums
    of Laplace noise have, the normal one has the largest mean.
    """
    if not isinstance(noise, DiscreteLaplace):
        return normal_errors([(each.deviation, each.many) for each in found])
    parts = [parts_of(each.peak) for each in found]
    groups = [np.flatnonzero(np.array(parts) == each) for each in sorted(set(parts))]

    def tails(t: Floats) -> Floats:
        passed = np.empty_like(t)
        for group in groups:
            passed[group] = laplace_tail(t[group], parts=parts[group[0]])
        return passed

    return _errors([(each.deviation, each.many) for each in found], tails)


def normal_errors(deviations: Sequence[tuple[float, float]]) -> PredictedError:
    """Absolute errors of normal answers: pairs of a standard deviation and how many have it.

    The mean, and the median of the largest. The largest of dependent normal errors is
    stochastically no larger than that of independent ones (Šidák), so the median is not passed
    more often than every other time. That holds for sums of Laplace noise as well, which are normal
    given their variances, and the less likely to be small the larger these are.

    >>> round(normal_errors([(0.0126, 1760)]).largest, 4)
    0.0447
    """
    from scipy.special import erfc  # loaded on first use: SciPy is slow to import

    return _errors(deviations, lambda t: np.asarray(erfc(t / math.sqrt(2))))


def _errors(
    deviations: Sequence[tuple[float, float]], tails: Callable[[Floats], Floats]
) -> PredictedError:
    """From the tails at so many deviations, an array of them."""
    spread: Floats = np.array([deviation for deviation, _ in deviations])
    many: Floats = np.array([number for _, number in deviations])
    mean = math.sqrt(2 / math.pi) * float(spread @ many / many.sum())

    def rarely_passed(error: float) -> bool:
        return float(many @ tails(error / spread)) <= math.log(2)

    largest = least(rarely_passed, 0.0, 60 * float(spread.max()), close=1e-9)
    return PredictedError(mean=mean, largest=largest)
