"""A private yes or no: does a number lie above a threshold that chance rarely reaches?

Every mechanism here that may refuse to answer decides by such a test. The number is a distance,
whole and of bounded sensitivity; the noise is Laplace; the threshold contains ln(1/probability),
rounded up, so that a number at its limit passes no more often than stated.

Source: 000b:B5–B8. Proof: ``proofs/robust-noisy-test.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import (
    Number,
    delta_parameter,
    exact,
    finite,
    positive,
    probability,
)
from discreet.mechanisms.grid import LIMIT, floor_log2, ordinary
from discreet.noise import Source, rounded_laplace
from discreet.noise.enclosure import log_inverse
from discreet.noise.laplace import checked_scale

_FINENESS = 20


@dataclass(frozen=True, kw_only=True)
class NoisyTest:
    """Passes if ``value`` plus Laplace noise of scale ``sensitivity / epsilon`` tops ``threshold``.

    Contract: values are whole and move by at most ``sensitivity`` between neighbouring data sets.

    Guarantee: the verdict is epsilon-differentially private, as post-processing of the continuous
    Laplace mechanism; :meth:`pass_probability` is its exact law.

    >>> test = NoisyTest.with_false_pass(epsilon=1, chance=5e-7)
    >>> round(float(test.threshold), 4), f"{test.pass_probability(0):.3g}"
    (13.8155, '5e-07')
    """

    epsilon: Number
    threshold: Number
    sensitivity: Number = 1

    def __post_init__(self) -> None:
        """Refuse noise that the sampler could not hold."""
        object.__setattr__(self, "epsilon", ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "threshold", finite("threshold", self.threshold))
        object.__setattr__(self, "sensitivity", ordinary("sensitivity", self.sensitivity))
        checked_scale(self._scale() * (1 << self._place_cut_on_grid()[0]))

    @classmethod
    def with_false_pass(
        cls, *, epsilon: Number, chance: Number, limit: Number = 0, sensitivity: Number = 1
    ) -> Self:
        """The test that a value of at most ``limit`` passes with probability at most ``chance``.

        The threshold is limit + sensitivity · ln(1 / 2 chance) / epsilon, rounded up.
        """
        rate, unit = ordinary("epsilon", epsilon), exact(ordinary("sensitivity", sensitivity))
        reach = unit * log_inverse_above(2 * exact(positive("chance", chance))) / exact(rate)
        return cls(epsilon=rate, threshold=exact(finite("limit", limit)) + reach, sensitivity=unit)

    def passes(self, value: int, source: Source) -> bool:
        """The verdict. How far the value is below or above the cut is clamped to 2**61 steps."""
        bits, cut = self._place_cut_on_grid()
        scale = self._scale() * (1 << bits)
        needed = max(-LIMIT, min(LIMIT, cut - (value << bits)))
        return int(rounded_laplace(scale, 1, source)[0]) > needed

    def pass_probability(self, value: int) -> float:
        """How likely a value is to pass: no secret, since it concerns a supposed value."""
        short = float((self._effective() - value) / self._scale())
        return math.exp(-short) / 2 if short >= 0 else 1 - math.exp(short) / 2

    def least_value(self, *, confidence: float) -> int:
        """The least whole value that passes with probability at least ``confidence``."""
        wanted = probability("confidence", confidence)
        value = math.floor(self._effective())
        while self.pass_probability(value) >= wanted:
            value -= 1
        while self.pass_probability(value) < wanted:
            value += 1
        return value

    def _scale(self) -> Fraction:
        return exact(self.sensitivity) / exact(self.epsilon)

    def _place_cut_on_grid(self) -> tuple[int, int]:
        """Bits of the grid below whole numbers, and the largest sum in its steps that fails."""
        bits = max(0, _FINENESS - floor_log2(self._scale()))
        return bits, math.ceil(exact(self.threshold) * (1 << bits))

    def _effective(self) -> Fraction:
        """What continuous noise must reach: rounding passes from half a step above the cut."""
        bits, cut = self._place_cut_on_grid()
        return Fraction(2 * cut + 1, 2 << bits)


def log_inverse_above(chance: Fraction) -> Fraction:
    """A rational not below ln(1/chance), and hardly above it; zero for chances beyond one.

    >>> float(log_inverse_above(Fraction(1, 10**6))) >= math.log(10**6)
    True
    """
    if chance >= 1:
        return Fraction(0)
    bits = 64 + chance.denominator.bit_length() - chance.numerator.bit_length()
    low = (chance.numerator << bits) // chance.denominator
    return Fraction(log_inverse(low, low + 1, bits)[1], 1 << bits)


def keep_price(mechanism: Any) -> None:
    """Put plain numbers in the place of a mechanism's ``epsilon`` and ``delta``, or refuse them."""
    epsilon, delta = checked_price(mechanism.epsilon, mechanism.delta)
    object.__setattr__(mechanism, "epsilon", epsilon)
    object.__setattr__(mechanism, "delta", delta)


def checked_price(epsilon: object, delta: object) -> tuple[Number, Number]:
    """Refuse an epsilon or a delta that is not positive: a test can always pass by accident."""
    spend, slack = ordinary("epsilon", epsilon), delta_parameter("delta", delta)
    if slack == 0:
        raise InvalidParameter(
            code="delta_not_positive",
            expectation="delta to be greater than zero",
            received=slack,
            remedy="A test passes by accident now and then, and delta pays for that; choose it "
            "well below one over the number of people, e.g. 1e-6.",
        )
    return spend, slack
