"""What a guarantee means for one person, in numbers that need no calculus.

An attacker knows everything but whether one person is in the data (or which of two values the
person has), and sees the answer. By Wasserman and Zhou (2010) and Kairouz, Oh and Viswanath
(2015) a test with false-alarm rate a has power at most

    min(1, e^epsilon a + delta, 1 - e^-epsilon (1 - delta - a)),

so a guess is right with probability at most max(p + (1 - p) delta, 1 - p + p delta,
(e^epsilon + delta) / (e^epsilon + 1)) for a prior p. With delta = 0 the posterior odds are at
most e^epsilon times the prior odds, whatever the answer.

Source: 004d:P4; 000a:A6. All numbers are upper bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.accounting.gaussian import gaussian_epsilon
from discreet.accounting.zcdp import zcdp_epsilon
from discreet.core.guarantee import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from discreet.core.parameters import exact, rounded_up

DELTAS = (1e-5, 1e-7, 1e-9)
"""At which a guarantee without a delta of its own is read."""

_MARGIN = 1 + 1e-12


@dataclass(frozen=True)
class EpsilonDelta:
    """An (epsilon, delta) that a guarantee implies."""

    epsilon: float
    delta: float

    def power(self, false_alarms: float) -> float:
        """The most power of a test that tells whether one person is there.

        >>> round(EpsilonDelta(1.0, 0.0).power(0.05), 4)
        0.1359
        """
        above = _exp(self.epsilon) * false_alarms + self.delta
        below = 1 - math.exp(-self.epsilon) * (1 - self.delta - false_alarms)
        return min(1.0, above, below)

    def guess(self, prior: float) -> float:
        """The most probable a right guess can be, for a person there with this prior probability.

        >>> round(EpsilonDelta(1.0, 0.0).guess(0.5), 5)
        0.73106
        """
        odds = math.exp(-self.epsilon)
        return max(
            prior + (1 - prior) * self.delta,
            1 - prior + prior * self.delta,
            (1 + self.delta * odds) / (1 + odds),
        )

    def posterior(self, prior: float) -> float | None:
        """The largest belief after the answer; None where a delta allows exceptions.

        >>> round(EpsilonDelta(1.0, 0.0).posterior(0.5) or 0, 5)
        0.73106
        """
        if self.delta > 0:
            return None
        return 1 / (1 + (1 - prior) / prior * math.exp(-self.epsilon))


def pairs(guarantee: Guarantee) -> tuple[EpsilonDelta, ...]:
    """What a guarantee implies as (epsilon, delta): one pair, or one at each of several deltas."""
    match guarantee:
        case PureDP(epsilon=epsilon):
            return (EpsilonDelta(rounded_up(exact(epsilon)), 0.0),)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return (EpsilonDelta(rounded_up(exact(epsilon)), rounded_up(exact(delta))),)
    apart = exact(guarantee.delta) if isinstance(guarantee, ApproxZCDP) else exact(0)
    return tuple(
        EpsilonDelta(_epsilon(guarantee, delta), min(1.0, rounded_up(exact(delta) + apart)))
        for delta in DELTAS
    )


def _epsilon(guarantee: Guarantee, delta: float) -> float:
    match guarantee:
        case ZCDP(rho=rho) | ApproxZCDP(rho=rho):
            return zcdp_epsilon(rho, delta)
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            return _renyi(float(alpha), rounded_up(exact(epsilon)), delta)
        case GaussianDP(mu=mu):
            return gaussian_epsilon(1 / exact(mu), delta) if mu else 0.0
    return math.inf


def _renyi(order: float, loss: float, delta: float) -> float:
    """Canonne, Kamath and Steinke (2020), proposition 12, at one order."""
    gain = math.log1p(-1 / order)
    return max(0.0, loss + gain - (math.log(delta) + math.log(order)) / (order - 1)) * _MARGIN


def _exp(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))
