"""Exact draws of the number of runs of random stopping.

Both laws have rational ratios of neighbouring probabilities, so that integer arithmetic encloses
their weights; inversion by :mod:`discreet.noise.table` is then exact.

Source: modern-learn:1. Proof: ``proofs/tuning.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events.tuned import PoissonRuns, StoppingLaw
from discreet.core.parameters import count, exact
from discreet.noise import table
from discreet.noise.randomness import SYSTEM, Noiseless
from discreet.noise.table import OutcomeWeights

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

_EXTRA = 64
_LEAST_GAMMA = 2.0**-12
_MOST_RUNS = 1 << 12


def stopping_times(law: StoppingLaw, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """``size`` independent numbers of runs, exactly of ``law``.

    Contract: gamma is at least 2**-12 and a Poisson mean at most 2**12, so that tables stay small.
    A noiseless source gives one run.
    """
    size = count("size", size, least=0)
    if isinstance(law, PoissonRuns):
        if exact(law.mean) > _MOST_RUNS:
            raise _too_many(law)
        steps: Steps = PoissonSteps(exact(law.mean))
    else:
        if exact(law.gamma) < _LEAST_GAMMA:
            raise _too_many(law)
        steps = NegativeBinomialSteps(exact(law.eta), exact(law.gamma))
    if isinstance(source, Noiseless):
        return np.ones(size, dtype=np.int64)
    return table.draw(steps, size, source)


def _too_many(law: StoppingLaw) -> InvalidParameter:
    return InvalidParameter(
        code="too_many_runs",
        expectation="gamma of at least 2**-12, or a Poisson mean of at most 2**12",
        received=law,
        remedy="Choose a law with fewer expected runs.",
    )


@dataclass(frozen=True)
class NegativeBinomialSteps:
    """P(1), P(2), … with P(k+1)/P(k) = (1-gamma) (k+eta) / (k+1)."""

    eta: Fraction
    gamma: Fraction

    def weights(self, bits: int) -> OutcomeWeights:
        """Floors and ceilings of one weight times each ratio, until the rest weighs nothing."""
        work = bits + _EXTRA
        low, high = [1 << work], [1 << work]
        a, b = self.eta.numerator, self.eta.denominator
        kept, whole = self.gamma.denominator - self.gamma.numerator, self.gamma.denominator
        # From k on each ratio is at most kept/whole times (1 + max(0, eta - 1) / (k + 1)).
        excess = max(0, a - b)
        floor = 1 << (_EXTRA // 2)
        k = 1
        while True:
            up, down = kept * (k * b + a), whole * (k + 1) * b
            low.append(low[-1] * up // down)
            high.append(-(-high[-1] * up // down))
            k += 1
            # The rest is geometric: high * ratio / (1 - ratio), once that ratio is below one.
            top, bottom = kept * (b * (k + 1) + excess), whole * b * (k + 1)
            if top < bottom:
                tail = -(-high[-1] * top // (bottom - top))
                if tail <= floor:
                    return OutcomeWeights(low, high, tail)

    def values(self, count: int) -> NDArray[np.int64]:
        """Numbers of runs, from one."""
        return np.arange(1, count + 1, dtype=np.int64)


@dataclass(frozen=True)
class PoissonSteps:
    """P(0), P(1), … with P(k+1)/P(k) = mean / (k+1)."""

    mean: Fraction

    def weights(self, bits: int) -> OutcomeWeights:
        """Floors and ceilings of one weight times each ratio, until the rest weighs nothing."""
        work = bits + _EXTRA
        low, high = [1 << work], [1 << work]
        floor = 1 << (_EXTRA // 2)
        k = 0
        while True:
            low.append(low[-1] * self.mean.numerator // (self.mean.denominator * (k + 1)))
            high.append(-(-high[-1] * self.mean.numerator // (self.mean.denominator * (k + 1))))
            k += 1
            # From here each ratio is at most one half: the rest weighs at most the last.
            if 2 * self.mean <= k + 1 and high[-1] <= floor:
                return OutcomeWeights(low, high, high[-1])

    def values(self, count: int) -> NDArray[np.int64]:
        """Numbers of runs, from zero."""
        return np.arange(count, dtype=np.int64)


Steps = NegativeBinomialSteps | PoissonSteps
