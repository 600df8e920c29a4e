"""Objective perturbation: a random linear term in the objective, a little noise on the minimiser.

What is minimised is Σ loss + (Δ/2)|θ|² + b·θ. The law of its exact minimiser has a density, and
between neighbours that density changes by two factors: how likely the b is that leads there, and a
determinant. The second is at most (1 + λ/Δ) for each row that is added, λ the largest eigenvalue of
a row's Hessian, since without the row the Hessian is at least Δ. What a computer finds is not the
exact minimiser of a continuous b; it is within a public distance of it, and noise for twice that
distance, paid from the same spend, hides the difference.

Source: 004b:C3, C4, C5; modern-learn:12. Errata: 004b:C3 asks for Δ ≥ rλ/(1 - exp(-ε/2)), which
suffices; λ/(exp(ε/2) - 1) does too for rows that come or go. Two approximate minimisers are
apart by twice the distance of one (modern-learn:12). Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Approximate, Pure
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact, positive
from discreet.core.unit import Replace
from discreet.learn.losses import Loss, admitted, require_smooth
from discreet.learn.optimisers.newton import (
    certified_gradient,
    minimise,
    require_certifiable,
    require_ridge,
    require_scales,
)
from discreet.learn.optimisers.row_sets import RowSet
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.for_spend import largest_epsilon, readings
from discreet.mechanisms.grid import LIMIT, floor_log2
from discreet.noise import rounded_gaussian, rounded_max_norm

_OUTPUT = Fraction(1, 64)
"""The share of epsilon for the distance to the exact minimiser."""
_DETERMINANT = Fraction(1, 4)
"""The largest share of epsilon for the determinant; a larger ridge costs less."""
_ENOUGH = 512.0
"""More for the determinant would allow a ridge of nothing."""
_FINE = 40
_ABOVE = 1 + 1e-12


def least_ridge(curvature: float, epsilon: float, *, rank: int = 1) -> float:
    """The ridge that the printed theorem asks for: rλ / (1 - exp(-ε/2)).

    >>> round(least_ridge(0.25, 1), 6)
    0.635374
    """
    return rank * curvature / -math.expm1(-epsilon / 2)


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation:
    """Minimises a smooth convex loss over rows of a cube or ball.

    Assumptions: loss, row set, ridge, spend and unit are chosen without the data.

    Guarantee: ``minimise`` costs ``event``, which the spend covers.

    >>> from discreet import PureDP, Row
    >>> from discreet.learn.losses import LogisticLoss
    >>> from discreet.learn.optimisers.row_sets import Ball
    >>> given = Privacy(PureDP(epsilon=1), Row())
    >>> made = ObjectivePerturbation(
    ...     loss=LogisticLoss(), rows=Ball(3), ridge=0.01, privacy=given
    ... )
    >>> made.event, round(made.strength, 4)
    (Pure(epsilon=1), 0.8802)

    Source: 004b:C3, C4, C5, modern-learn:12. Proof: ``proofs/optimisers.md``.

    Numerics: b is rounded to 2**-40 of its length, the gradient certified with a bound of
    all rounding; both enter the distance that the output noise hides.
    """

    loss: Loss
    rows: RowSet
    ridge: Number
    privacy: Privacy

    def __post_init__(self) -> None:
        """Refuse losses with kinks, ridges that are not positive, spends that buy none of this."""
        require_smooth(self.loss)
        positive("ridge", self.ridge)
        require_certifiable(self.loss, self.rows.dimension, self._plan.deviation)
        require_scales(self.loss, self._plan.strength)

    @property
    def event(self) -> Event:
        """What one minimiser costs."""
        return mark_unprotected_event(self._plan.event, self.privacy.randomness)

    @property
    def strength(self) -> float:
        """The ridge: what was asked for, or more where the spend is small."""
        return self._plan.strength

    @property
    def deviation(self) -> float:
        """About the standard deviation of one coordinate of the linear term."""
        return self._plan.deviation

    def minimise(self, x: Floats, y: Floats, people: Any = None) -> Floats:
        """The minimiser over rows that are moved into the row set, and targets into the domain.

        A row whose target is NaN counts nowhere. Where the unit is a person, ``people`` says whose
        each row is.
        """
        plan = self._plan
        require_ridge(self.rows.dimension, plan.deviation, plan.strength)
        # Vectors of many coordinates are long; so many steps are still whole numbers in doubles.
        bits = _FINE - floor_log2(plan.scale * self.rows.dimension)
        tilt = (
            self._draw_tilt_noise(plan.scale * Fraction(2) ** bits).astype(np.float64) * 2.0**-bits
        )
        x, y = bounded_rows(self.privacy, x, y, people, self.rows.dimension)
        inside, y = admitted(self.loss, self.rows.clamped(x), y)
        found = minimise(self.loss, inside, y, ridge=plan.strength, tilt=tilt)
        blur = math.sqrt(len(found)) * 2.0**-bits
        return self._hidden(found, (self._certified + blur) / plan.strength * _ABOVE)

    @property
    def _certified(self) -> float:
        return certified_gradient(self.loss, self.rows.dimension)

    def _draw_tilt_noise(self, scale: Fraction) -> NDArray[np.int64]:
        if self._plan.pure:
            return self.rows.noise(scale, self.privacy.randomness)
        return rounded_gaussian(scale, self.rows.dimension, self.privacy.randomness)

    def _hidden(self, found: Any, distance: float) -> Floats:
        """The minimiser with noise for two that are ``distance`` away from the exact one."""
        bits = 20 - floor_log2(Fraction(distance))
        moved = math.ceil(Fraction(2 * distance) * Fraction(2) ** bits) + 1
        scale = moved / self._plan.output
        noise = rounded_max_norm(scale, len(found), 1, self.privacy.randomness)[0]
        steps = np.clip(np.rint(found * 2.0**bits), -LIMIT, LIMIT).astype(np.int64)
        hidden: Floats = np.clip(steps + noise, -LIMIT, LIMIT) * 2.0**-bits
        return hidden

    @cached_property
    def _plan(self) -> _Plan:
        plans = [
            plan
            for reading in _covered(self.privacy.spend)
            if (plan := self._make_plan_of_reading(reading)) is not None
        ]
        if not plans:
            raise InvalidParameter(
                code="objective_spend",
                expectation="a spend in PureDP or ZCDP, or in ApproxDP for rows that come or go",
                received=type(self.privacy.spend).__name__,
                remedy="Write spend=dp.PureDP(epsilon=1).",
            )
        return min(plans, key=lambda plan: plan.deviation)

    def _make_plan_of_reading(self, reading: PureDP | ApproxDP) -> _Plan | None:
        epsilon = exact(reading.epsilon)
        moved, changed = self.privacy.rows_that_differ, self.privacy.rows_that_differ
        if isinstance(self.privacy.unit, Replace):
            changed //= 2  # the determinant sees what is added, not what goes
        eigenvalue = require_smooth(self.loss) * self.rows.longest**2
        room = min(_ENOUGH, float(_DETERMINANT * epsilon) / changed)
        strength = max(float(self.ridge), eigenvalue / math.expm1(room)) * _ABOVE
        determinant = Fraction(changed * math.log1p(eigenvalue / strength) * _ABOVE)
        output = _OUTPUT * epsilon
        left = epsilon - output - determinant
        steep = exact(self.loss.lipschitz)
        if isinstance(reading, PureDP):
            scale = moved * steep / left
            wide = math.sqrt((self.rows.dimension + 1) * (self.rows.dimension + 2) / 3)
            if self.rows.longest == 1:
                wide = math.sqrt(self.rows.dimension + 1)
            event: Event = Pure(epsilon=reading.epsilon)
            return _Plan(strength, scale, float(scale) * wide, output, event)
        if moved != 1:
            return None
        multiplier = _two_sided(float(left) * (1 - 1e-12), float(reading.delta))
        scale = exact(multiplier) * steep * exact(self.rows.longest)
        event = Approximate(epsilon=reading.epsilon, delta=reading.delta)
        return _Plan(strength, scale, float(scale), output, event)


def _covered(spend: Guarantee) -> list[PureDP | ApproxDP]:
    """The definitions that the theorems are about; rho buys the epsilon that costs as much."""
    found: list[PureDP | ApproxDP] = []
    for reading in readings(spend):
        if isinstance(reading, ZCDP):
            epsilon = largest_epsilon(lambda e: Pure(epsilon=e), reading)
            found.append(PureDP(epsilon=epsilon))
        elif isinstance(reading, PureDP | ApproxDP):
            found.append(reading)
    return found


@dataclass(frozen=True)
class _Plan:
    """How strong the ridge, how wide the linear term, and what the output noise may cost."""

    strength: float
    scale: Fraction
    deviation: float
    output: Fraction
    event: Event

    @property
    def pure(self) -> bool:
        return isinstance(self.event, Pure)


def _two_sided(epsilon: float, delta: float) -> float:
    """The noise multiplier at which twice the Gaussian curve is at most delta.

    The loss is at most μ|Z| + μ²/2 with Z normal, so its curve is twice the Gaussian one where
    epsilon is at least μ²/2; a larger multiplier is taken where it is not.
    """
    from discreet.accounting.gaussian import gaussian_multiplier  # loads all accountants

    multiplier = gaussian_multiplier(epsilon, delta / 2)
    return max(multiplier, math.nextafter(1 / math.sqrt(2 * epsilon), math.inf) * _ABOVE)
