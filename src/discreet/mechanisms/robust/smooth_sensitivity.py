"""The median with noise scaled to smooth sensitivity: small for data that are nicely spread."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, exact, positive, probability
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.grid import ordinary
from discreet.mechanisms.robust.lattice import Lattice, read_bounds, rows_of
from discreet.mechanisms.robust.order_statistics import sorted_rows
from discreet.mechanisms.robust.smooth_noise import SmoothNoise
from discreet.noise import SYSTEM, Source
from discreet.noise.laplace import checked_scale
from discreet.noise.randomness import require_source

_MARGIN = 2.0**-34
_INFLATION = 1 + Fraction(1, 1 << 36)


@dataclass(frozen=True, kw_only=True)
class SmoothMedian:
    """The median, with noise in proportion to its smooth sensitivity on this data.

    Local sensitivity, how far one row could move the median of this data, jumps between
    neighbours and would betray them. Smooth sensitivity S is the least bound of it that changes
    by a factor of at most exp(beta) from neighbour to neighbour; noise scaled to S is private.

    Assumptions: a row is a person, rows are *replaced*, and their number is public.

    Contract: numbers are clamped to ``bounds``; NaN and None count as the lower bound. Of an even
    number of rows the lower median is meant. ``noise`` is ``SmoothLaplace(delta=...)`` or
    ``SmoothCauchy()``. Answers stay within the bounds.

    Guarantee: (epsilon, delta)-differential privacy with Laplace noise, pure epsilon with Cauchy
    noise; that is the whole price.

    >>> from discreet.mechanisms.robust.smooth_noise import SmoothCauchy, SmoothLaplace
    >>> SmoothMedian(bounds=(0, 100), epsilon=1, noise=SmoothLaplace(delta=1e-6)).event
    Approximate(epsilon=1, delta=1e-06)
    >>> SmoothMedian(bounds=(0, 100), epsilon=1, noise=SmoothCauchy()).event
    Pure(epsilon=1)

    Numerics: rows lie on a lattice of at least 2**40 steps between the bounds. S is at least one
    step; it is computed for a slightly smaller beta and enlarged by 2**-36, which covers every
    rounding. Source: 004b:A18, 004d:F11, corrected; Nissim, Raskhodnikova and Smith 2007. Proof:
    ``proofs/robust-smooth-sensitivity.md``.
    """

    bounds: tuple[Number, Number]
    epsilon: Number
    noise: SmoothNoise
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range; the data has no say in this."""
        require_source(self.randomness)
        object.__setattr__(self, "epsilon", ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "bounds", read_bounds(self.bounds))
        checked_scale(2 * self.noise.multiplier(self.epsilon) * Lattice.between(self.bounds).width)
        if self.beta < 2 * _MARGIN:
            raise InvalidParameter(
                code="smoothing_too_small",
                expectation="a smoothing parameter that floating point can honour",
                received=self.beta,
                remedy="Choose a larger epsilon.",
            )

    @property
    def event(self) -> Event:
        """The whole price, whatever the data."""
        return mark_unprotected_event(self.noise.event(self.epsilon), self.randomness)

    @property
    def beta(self) -> float:
        """How fast the noise scale may change from neighbour to neighbour."""
        return self.noise.beta(self.epsilon)

    def release(self, data: Any) -> float:
        """The noisy median."""
        rows_of(data)
        lattice = Lattice.between(self.bounds)
        rows = sorted_rows(data, lattice)
        smooth = rows.smooth_sensitivity(self.beta - _MARGIN, least=1.0)
        scale = self.noise.multiplier(self.epsilon) * exact(smooth) * _INFLATION
        return lattice.value(rows.median + self.noise.draw(scale, self.randomness))

    def error(self, *, confidence: float, smooth_sensitivity: Number) -> float:
        """Bound on the error, were the smooth sensitivity of the data the one supposed.

        For planning: the true one is private and never shown.
        """
        tail = 1 - float(probability("confidence", confidence))
        supposed = exact(positive("smooth_sensitivity", smooth_sensitivity))
        scale = float(self.noise.multiplier(self.epsilon) * supposed * _INFLATION)
        step = Lattice.between(self.bounds).length(1)
        return (
            max(scale, float(self.noise.multiplier(self.epsilon)) * step)
            * (self.noise.quantile(tail))
            + step
        )
