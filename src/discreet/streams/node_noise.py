"""Noise on whole numbers that are released one after another, with one price for all of them.

Two laws. Discrete Laplace noise of scale l1/epsilon, for pure spends; the continuous normal of
standard deviation multiplier times l2, rounded, for the others. All numbers that a counter ever
releases get the same one, so the price is that of one release of the whole vector, whichever part
of it is seen when, and whatever events are chosen in view of it.

Source: 000b:B40, modern-learn:6; contract, "Numbers". Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import DiscreteLaplace as DiscreteLaplaceEvent
from discreet.core.events.mechanisms import Gaussian as GaussianEvent
from discreet.core.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact
from discreet.mechanisms.distributions.distribution import (
    DiscreteLaplaceDistribution,
    RoundedGaussian,
)
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.mechanisms.grid import LIMIT, clamped, sqrt_above
from discreet.noise import Source, discrete_laplace, rounded_gaussian
from discreet.noise.laplace import checked_scale
from discreet.streams.contribution import StreamSensitivity


@dataclass(frozen=True)
class LaplaceNoise:
    """Discrete Laplace noise; pure epsilon where all that is released moves by ``l1`` steps."""

    epsilon: Number
    l1: int

    def __post_init__(self) -> None:
        """Refuse noise that 64 bits do not hold, before anything is paid for."""
        checked_scale(self._scale)

    @property
    def _scale(self) -> Fraction:
        return self.l1 / exact(self.epsilon)

    @property
    def event(self) -> Event:
        """What all releases together cost."""
        return DiscreteLaplaceEvent(epsilon=self.epsilon, steps=self.l1)

    @cached_property
    def distribution(self) -> Distribution:
        """The exact law of one draw."""
        return DiscreteLaplaceDistribution(float(self._scale), 1.0)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """Independent draws of the law."""
        return discrete_laplace(self._scale, size, source)

    def to_dict(self) -> dict[str, object]:
        """For a state; :func:`noise_from_dict` reads it."""
        return {"law": "laplace/1", "epsilon": str(exact(self.epsilon)), "l1": self.l1}


@dataclass(frozen=True)
class NormalNoise:
    """Rounded normal noise; ``multiplier`` deviations where all that is released moves by l2."""

    multiplier: Fraction
    l2_squared: Fraction

    def __post_init__(self) -> None:
        """Refuse noise that 64 bits do not hold, before anything is paid for."""
        checked_scale(self.scale)

    @property
    def event(self) -> Event:
        """What all releases together cost."""
        return GaussianEvent(noise_multiplier=self.multiplier)

    @cached_property
    def scale(self) -> Fraction:
        """The standard deviation before rounding, in steps, rounded up."""
        return self.multiplier * _root_above(self.l2_squared)

    @cached_property
    def distribution(self) -> Distribution:
        """The exact law of one draw."""
        return RoundedGaussian(float(self.scale), 1.0)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """Independent draws of the law."""
        return rounded_gaussian(self.scale, size, source)

    def to_dict(self) -> dict[str, object]:
        """For a state; :func:`noise_from_dict` reads it."""
        return {
            "law": "gaussian/1",
            "multiplier": str(self.multiplier),
            "l2_squared": str(self.l2_squared),
        }


NodeNoise = LaplaceNoise | NormalNoise


def is_enough(noise: NodeNoise, moved: StreamSensitivity) -> bool:
    """Whether noise was made for neighbours as far apart as these, but for the last places.

    A norm that is worked out in floating point may differ in these from one machine to another.
    """
    if isinstance(noise, LaplaceNoise):
        return noise.l1 >= moved.l1 * _LAST_PLACES
    return noise.l2_squared >= moved.l2_squared * _LAST_PLACES


_LAST_PLACES = 1 - Fraction(1, 1 << 30)


def noisy(values: NDArray[np.int64], noise: NodeNoise, source: Source) -> NDArray[np.int64]:
    """Values with fresh noise, clamped to 2**61 before and after: the same map for all data."""
    flat = clamped(values.reshape(-1)) if values.size else values.reshape(-1)
    drawn = noise.draw(flat.size, source)
    drawn += flat
    np.clip(drawn, -LIMIT, LIMIT, out=drawn)
    return drawn.reshape(values.shape)


def noise_for_spend(spend: Guarantee, moved: StreamSensitivity) -> NodeNoise:
    """The noise of least deviation that keeps a spend.

    PureDP takes Laplace noise; ZCDP and GaussianDP normal noise; ApproxDP the better of the two.
    """
    return min(_permitted(spend, moved), key=lambda noise: noise.distribution.std)


def noise_of_one_law(spend: Guarantee, moved: StreamSensitivity) -> NodeNoise:
    """Laplace noise for a pure spend and normal noise for every other, whatever is moved.

    For releases of several scales, whose prices add up only within one law.
    """
    return _permitted(spend, moved)[-1]


def _permitted(spend: Guarantee, moved: StreamSensitivity) -> list[NodeNoise]:
    match spend:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon, delta=0) if epsilon > 0:
            return [_laplace(epsilon, moved)]
        case ApproxDP(epsilon=epsilon, delta=delta) if epsilon > 0:
            from discreet.accounting.gaussian import gaussian_multiplier  # loads all accountants

            wide = Fraction(gaussian_multiplier(epsilon, delta))
            normal = NormalNoise(wide, moved.l2_squared)
            return [normal] if spend.by is not None else [_laplace(epsilon, moved), normal]
        case ZCDP(rho=rho) if rho > 0:
            return [NormalNoise(_root_above(1 / (2 * exact(rho))), moved.l2_squared)]
        case GaussianDP(mu=mu) if mu > 0:
            return [NormalNoise(1 / exact(mu), moved.l2_squared)]
    raise InvalidParameter(
        code="spend_notion",
        expectation="a spend in PureDP, ApproxDP, ZCDP or GaussianDP, above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.PureDP(epsilon=1).",
    )


def _laplace(epsilon: Number, moved: StreamSensitivity) -> LaplaceNoise:
    return LaplaceNoise(epsilon, math.ceil(moved.l1))


def _root_above(square: Fraction) -> Fraction:
    """A rational not below a root: the float next to it, where there is one, else close to it."""
    if not Fraction(1, 1 << 900) < square < 1 << 900:
        return sqrt_above(square)
    root = Fraction(math.sqrt(square))
    return root if root**2 >= square else Fraction(math.nextafter(float(root), math.inf))


def noise_from_dict(plain: Mapping[str, object]) -> NodeNoise:
    """The noise that a state names: the very scale it was opened with."""
    match dict(plain):
        case {"law": "laplace/1", "epsilon": str(epsilon), "l1": int(l1)}:
            return LaplaceNoise(Fraction(epsilon), l1)
        case {"law": "gaussian/1", "multiplier": str(multiplier), "l2_squared": str(square)}:
            return NormalNoise(Fraction(multiplier), Fraction(square))
    raise InvalidParameter(
        code="stream_state_unreadable",
        expectation="noise as a stream's state writes it",
        remedy="Pass what `state()` returned, unchanged.",
    )
