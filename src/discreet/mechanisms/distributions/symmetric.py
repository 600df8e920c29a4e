"""What the laws of all noises share: symmetric, on the multiples of a step, unimodal.

Source: modern-data:C1, N1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import positive, probability
from discreet.core.written import Form

_WHOLE = 2.0**50


@dataclass(frozen=True)
class Companion:
    """The continuous law nearest to one on a grid, as the transform exp(s Z) sees it.

    Noise that is Laplace of scale ``exponential`` with probability ``weight`` and else zero, plus
    a normal of deviation ``normal``, plus a uniform of width ``uniform``. ``apart`` bounds how
    far the noise is from its Laplace or normal variable when both are drawn together.
    """

    exponential: float
    weight: float
    normal: float
    uniform: float
    apart: float


class Distribution(ABC):
    """A symmetric law on the multiples of ``step``.

    Contract: ``step`` is a power of two and the scale is positive, both in the caller's units.

    Guarantee: ``tail``, ``half_width``, ``std`` and ``characteristic`` are those of the noise as
    drawn, rounding included, up to floating point.
    """

    kind: ClassVar[str]
    written: ClassVar[str]
    step: float
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        """Refuse a step that is no power of two and parameters that are not positive."""
        for name, value in self._parameters().items():
            object.__setattr__(self, name, float(positive(name, value)))
        if math.frexp(self.step)[0] != 0.5:
            raise InvalidParameter(
                code="grid_not_power_of_two",
                expectation="a step that is a power of two",
                received=self.step,
                remedy="Use 1 for whole-number noise, else 2.0**-k.",
            )

    @property
    @abstractmethod
    def spread(self) -> float:
        """The parameter of the law, scale or sigma, in the caller's units."""

    @property
    @abstractmethod
    def companion(self) -> Companion:
        """The continuous law nearest to it."""

    @property
    def std(self) -> float:
        """Standard deviation, rounding included."""
        return self.step * math.sqrt(self._variance(self.spread / self.step))

    def tail(self, x: float) -> float:
        """P(|Z| > x)."""
        return 1.0 if x < 0 else float(self._beyond(np.floor(np.float64(x) / self.step)))

    def above(self, x: Floats) -> Floats:
        """P(Z > x) for each x, of either sign."""
        far = np.abs(x) / self.step
        upper = x >= 0
        half = 0.5 * self._beyond(np.where(upper, np.floor(far), np.ceil(far) - 1))
        return np.where(upper, half, 1.0 - half)

    def half_width(self, confidence: float) -> float:
        """The least multiple h of the step with P(|Z| <= h) >= ``confidence``."""
        return self.exceeded(1.0 - float(probability("confidence", confidence)))

    def exceeded(self, alpha: float) -> float:
        """The least multiple h of the step with P(|Z| > h) <= ``alpha``, however small that is."""
        alpha = float(probability("alpha", alpha))
        steps = max(0.0, float(math.ceil(self._reach(alpha, self.spread / self.step))))
        if steps > _WHOLE:
            return steps * self.step * (1 + 2.0**-45)
        while self._beyond(np.float64(steps)) > alpha:
            steps += 1
        while steps > 0 and self._beyond(np.float64(steps - 1)) <= alpha:
            steps -= 1
        return steps * self.step

    def whole_half_width(self, confidence: float) -> int:
        """The least W such that the whole number nearest to x + Z is within W of x, whatever x.

        With a fraction f of x above a whole number, it is where Z lies within W of 1/2 - f: the
        interval is as long as for whole x, and at most one half off centre, where the tails of
        a law with one peak weigh most.

        >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
        >>> law = RoundedLaplace(scale=5, step=2**-20)
        >>> round(law.half_width(0.95), 2), law.whole_half_width(0.95)
        (14.98, 16)
        """
        alpha = 1.0 - float(probability("confidence", confidence))
        width = max(1, math.ceil(self.half_width(confidence)))
        while float(self.above(np.array([width - 0.5, width + 0.5]) - self.step).sum()) > alpha:
            width += 1
        return width

    def characteristic(self, t: Floats) -> Floats:
        """E exp(i t Z), real since the law is symmetric."""
        return self._transform(np.asarray(t, dtype=np.float64) * self.step)

    def to_dict(self) -> dict[str, Any]:
        """The law as a JSON object; ``law_from_plain`` reads it back."""
        return {"law": self.kind, **dict(Form(self.kind, self.written).parts(self))}

    def _parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @abstractmethod
    def _variance(self, s: float) -> float:
        """Variance in squared steps, for a spread of s steps."""

    @abstractmethod
    def _beyond(self, m: Floats | np.float64) -> Floats:
        """P(|Z| > m steps) for whole m >= 0."""

    @abstractmethod
    def _reach(self, alpha: float, s: float) -> float:
        """About the number of steps exceeded with probability alpha."""

    @abstractmethod
    def _transform(self, u: Floats) -> Floats:
        """The characteristic function at u per step."""
