"""Private gradient descent and mirror descent: every step sees one noisy sum of clipped gradients.

A row's gradient is clipped to length L, rounded towards zero, and added up in exact integers. The
whole path is private, whatever the loss: neither convexity nor smoothness is needed for that. All
rows in every step cost a Gaussian event per step; a Poisson sample in every step a sampled one.

Source: 004b:C6 (with the identity that is missing in print), C7, C18; modern-learn:12.
Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Gaussian as GaussianEvent
from discreet.core.guarantee import ApproxDP
from discreet.core.parameters import Number, count, exact, finite, positive
from discreet.core.unit import Row
from discreet.learn.bounded_noise import multiplier_for
from discreet.learn.exact_sums import Whole, slices
from discreet.learn.losses import Loss, admitted
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.learn.row_products import predictions, row_sums
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.for_spend import require_gaussian
from discreet.noise import poisson_sample, rounded_gaussian
from discreet.noise.laplace import checked_scale

_BITS = 30
_FAR = 2.0**300
_LARGE = 2.0**200


class FeasibleSet(Protocol):
    """Where solutions lie, and how a step is taken there."""

    def start(self, dimension: int) -> Floats:
        """Where descent begins."""

    def step_against_gradient(self, theta: Floats, gradient: Floats, rate: float) -> Floats:
        """One step against the gradient, inside the set."""


@dataclass(frozen=True)
class EuclideanBall:
    """Solutions of length at most ``radius``: projected gradient descent."""

    radius: float

    def start(self, dimension: int) -> Floats:
        return np.zeros(dimension)

    def step_against_gradient(self, theta: Floats, gradient: Floats, rate: float) -> Floats:
        there = theta - rate * gradient
        length = float(np.linalg.norm(there))
        scaled: Floats = there * min(1.0, self.radius / length) if length > 0 else there
        return scaled


@dataclass(frozen=True)
class ProbabilitySimplex:
    """Solutions that are not negative and add up to one: mirror descent in entropy."""

    def start(self, dimension: int) -> Floats:
        return np.full(dimension, 1 / dimension)

    def step_against_gradient(self, theta: Floats, gradient: Floats, rate: float) -> Floats:
        logs = np.log(np.maximum(theta, 1e-300)) - rate * gradient
        weights = np.exp(logs - logs.max())
        shares: Floats = weights / weights.sum()
        return shares


def printed_multiplier(steps: int, epsilon: float, delta: float) -> float:
    """The noise multiplier of the printed theorem: sqrt(2 T (ln(1/δ) + ε)) / ε.

    >>> round(printed_multiplier(100, 1, 1e-5), 5)
    50.02584
    """
    return math.sqrt(2 * steps * (math.log(1 / delta) + epsilon)) / epsilon


def gradients_of_rows(loss: Loss, theta: Floats, x: Floats, y: Floats) -> Floats:
    """The gradient of each row at θ, a function of that row alone; nothing warns of a value.

    NaN counts as zero in a row, numbers are cut at 2**200, and a row whose target is NaN is zero.
    """
    inside = np.clip(np.nan_to_num(x, nan=0.0, posinf=_LARGE, neginf=-_LARGE), -_LARGE, _LARGE)
    rows, targets = admitted(loss, inside, np.asarray(y, dtype=np.float64))
    found: Floats = loss.slope(predictions(rows, theta), targets)[:, None] * rows
    return found


def clipped_sum(gradients: Floats, clip: float, bits: int = _BITS) -> Whole:
    """The sum of rows clipped to length ``clip``, in exact steps of 2**-bits of it, 30 at most.

    Rounding is towards zero, so no row is longer than ``clip`` afterwards. NaN counts as zero.
    """
    total = np.zeros(gradients.shape[1], dtype=object)
    for part in slices(len(gradients)):
        with np.errstate(all="ignore"):  # a quotient beyond all doubles is cut as well
            rows = np.nan_to_num(gradients[part] / float(clip), nan=0.0)
        rows = np.clip(rows, -_FAR, _FAR)
        length = np.sqrt(row_sums(rows**2))[:, None]
        rows *= (1 - 2.0**-40) / np.maximum(length, 1)
        total += np.trunc(rows * 2.0**bits).sum(axis=0).astype(np.int64).astype(object)
    return total


@dataclass(frozen=True, kw_only=True)
class GradientDescent:
    """Minimises a loss over private rows by ``steps`` noisy gradients.

    Assumptions: all parameters are chosen without the data; no step is stopped early. ``rate``
    samples rows independently, for rows that come or go; without it every step reads all rows.

    Guarantee: the whole path costs ``event``, which the spend covers; so does its average.

    >>> import discreet as dp
    >>> from discreet.learn.losses import LogisticLoss
    >>> given = Privacy(dp.ApproxDP(epsilon=1, delta=1e-5), dp.Row())
    >>> made = GradientDescent(
    ...     loss=LogisticLoss(), steps=100, clip=1.0, within=EuclideanBall(1), privacy=given
    ... )
    >>> round(made.multiplier, 2)  # the printed theorem asks for 50.03
    37.31

    Source: 004b:C6, C7. Proof: ``proofs/optimisers.md``.

    Numerics: clipped gradients in exact steps of 2**-30; noise is Gaussian on the same grid.
    """

    loss: Loss
    steps: int
    clip: float
    within: FeasibleSet
    privacy: Privacy
    rate: Number | None = None

    def __post_init__(self) -> None:
        """Refuse parameters out of range, and samples of anything but rows that come or go."""
        count("steps", self.steps)
        positive("clip", self.clip)
        require_gaussian(self.privacy.spend)
        if self.rate is not None:
            if not isinstance(self.privacy.unit, Row):
                raise InvalidParameter(
                    code="sampled_unit",
                    expectation="rows that come or go, where rows are sampled",
                    received=type(self.privacy.unit).__name__,
                    remedy="Leave rate= out, or declare unit=dp.Row().",
                )
            GaussianEvent(1).subsample(rate=finite("rate", self.rate))
        checked_scale(self._scale)

    @property
    def _scale(self) -> Fraction:
        """The noise of a step, in steps of the grid."""
        return exact(self.multiplier) * self.privacy.rows_that_differ * Fraction(2) ** _BITS

    @cached_property
    def multiplier(self) -> float:
        """The noise of a step over the clip: the least that the spend covers."""
        spend = require_gaussian(self.privacy.spend)
        if self.rate is None or exact(self.rate) == 1:
            return multiplier_for(spend) * math.sqrt(self.steps) * (1 + 1e-12)
        if not isinstance(spend, ApproxDP):
            raise InvalidParameter(
                code="sampled_spend",
                expectation="a spend in ApproxDP where rows are sampled",
                received=type(spend).__name__,
                remedy="Write spend=dp.ApproxDP(epsilon=1, delta=1e-6).",
            )
        from discreet.accounting import calibrate  # loads all accountants

        return calibrate(self._priced, epsilon=float(spend.epsilon), delta=float(spend.delta))

    def _priced(self, multiplier: float) -> Event:
        step: Event = GaussianEvent(multiplier)
        if self.rate is not None:
            step = step.subsample(rate=self.rate)
        return step * self.steps

    @property
    def event(self) -> Event:
        """What the whole path costs."""
        return mark_unprotected_event(self._priced(self.multiplier), self.privacy.randomness)

    def minimise(
        self, x: Floats, y: Floats, people: Any = None, *, rate_of_descent: float
    ) -> Floats:
        """The average of the points at which gradients were taken."""
        path = self.path(x, y, people, rate_of_descent=rate_of_descent)
        average: Floats = path.mean(axis=0)
        return average

    def path(self, x: Floats, y: Floats, people: Any = None, *, rate_of_descent: float) -> Floats:
        """All points at which gradients were taken, one line each."""
        x, y = bounded_rows(self.privacy, x, y, people)
        theta = self.within.start(x.shape[1])
        points = []
        for _ in range(self.steps):
            points.append(theta)
            theta = self.within.step_against_gradient(
                theta, self._noisy_gradient(theta, x, y), rate_of_descent
            )
        return np.array(points)

    def _noisy_gradient(self, theta: Floats, x: Floats, y: Floats) -> Floats:
        source, share = self.privacy.randomness, 1.0
        if self.rate is not None:
            chosen = poisson_sample(self.rate, len(x), source)
            x, y, share = x[chosen], y[chosen], float(self.rate)
        exact_sum = clipped_sum(gradients_of_rows(self.loss, theta, x, y), self.clip)
        noise = rounded_gaussian(self._scale, x.shape[1], source)
        steps = np.array([int(each) for each in exact_sum], dtype=np.int64) + noise
        noisy: Floats = steps.astype(np.float64) * (self.clip * 2.0**-_BITS / share)
        return noisy


def descent_rate(radius: float, clip: float, steps: int, *, rows: int, noise: float) -> float:
    """The rate of the printed theorem, for a public number of rows and noise √p λ of a step.

    >>> noise = 10**0.5 * printed_multiplier(100_000, 1, 1e-5)
    >>> round(descent_rate(1, 1, 100_000, rows=1000, noise=noise), 12)
    6.19866e-07
    """
    return radius / (clip * math.sqrt(steps * (rows**2 + noise**2)))
