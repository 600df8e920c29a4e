"""Softmax regression by noisy gradients of all classes at once.

One class against the rest splits the spend among classes. Here a row has one gradient, over the
coefficients of all classes together, clipped as one vector; so ten classes cost what two do. The
number of rows, on which the rate depends, is bought first.

Source: 004b:C6, modern-learn:12. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Gaussian as GaussianEvent
from discreet.core.parameters import count, exact, positive
from discreet.learn.bounded_noise import multiplier_for
from discreet.learn.cells import numbers_of_rows, rows_of_numbers
from discreet.learn.exact_sums import slices
from discreet.learn.optimisers.gradient_descent import clipped_sum
from discreet.learn.privacy import Privacy
from discreet.learn.row_products import predictions_of_each, row_sums
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.for_spend import require_gaussian
from discreet.noise import rounded_gaussian
from discreet.noise.laplace import checked_scale

_BITS = 30
_COUNT = 1 / 50
"""The share of the spend for the number of rows."""
_LARGE = 2.0**200
_SLOWEST, _FASTEST = 0.1, 10.0


@dataclass(frozen=True, kw_only=True)
class SoftmaxDescent:
    """Minimises the cross-entropy of several classes by ``steps`` noisy gradients.

    Assumptions: classes, dimension, steps, clip, spend and unit are chosen without the data; rows
    that are passed are those that count, at most as many of a unit as it allows.

    Guarantee: the whole path costs ``event``, which the spend covers.

    Source: 004b:C6. Proof: ``proofs/optimisers.md``.

    Numerics: clipped gradients in exact steps of 2**-30; noise is Gaussian on the same grid.
    """

    classes: int
    dimension: int
    privacy: Privacy
    steps: int = 30
    clip: float = 1.0

    def __post_init__(self) -> None:
        """Refuse parameters out of range, and spends without normal noise."""
        count("classes", self.classes, least=2)
        count("dimension", self.dimension)
        count("steps", self.steps)
        positive("clip", self.clip)
        checked_scale(self._scale)
        checked_scale(exact(self.of_count) * self.privacy.rows_that_differ)

    @property
    def _scale(self) -> Fraction:
        """The noise of a step, in steps of the grid."""
        return exact(self.of_step) * self.privacy.rows_that_differ * Fraction(2) ** _BITS

    @cached_property
    def multiplier(self) -> float:
        """The noise of one release that would cost the whole spend."""
        return multiplier_for(require_gaussian(self.privacy.spend))

    @property
    def of_count(self) -> float:
        """The noise multiplier of the number of rows."""
        return self.multiplier / math.sqrt(_COUNT) * (1 + 1e-12)

    @property
    def of_step(self) -> float:
        """The noise multiplier of each step."""
        return self.multiplier * math.sqrt(self.steps / (1 - _COUNT)) * (1 + 1e-12)

    @property
    def event(self) -> Event:
        """What the number of rows and the whole path cost."""
        event = GaussianEvent(self.of_step) * self.steps + GaussianEvent(self.of_count)
        return mark_unprotected_event(event, self.privacy.randomness)

    @property
    def known_ahead(self) -> Mapping[str, float]:
        """Noise by name, in the units of what is released."""
        moved = float(self.privacy.rows_that_differ)
        step, number = self.of_step * self.clip * moved, self.of_count * moved
        return {"noise of each step": step, "noise of the number of rows": number}

    def minimise(self, x: Floats, labels: Ints) -> Floats:
        """Coefficients, one line for each class: the average of the second half of the path.

        Labels are places among the classes; a row of another counts nowhere. In a row, NaN counts
        as zero, and numbers are cut at 2**200.
        """
        x, labels = self._admitted(x, labels)
        source, moved = self.privacy.randomness, self.privacy.rows_that_differ
        heard = rounded_gaussian(exact(self.of_count) * moved, 1, source)
        rows = max(1.0, float(len(x) + int(heard[0])))
        rate = self.pace(rows) / rows * self.clip * 2.0**-_BITS
        theta = np.zeros((self.classes, self.dimension))
        total = np.zeros_like(theta)
        for step in range(self.steps):
            noise = rounded_gaussian(self._scale, theta.size, source)
            noisy = (self._sum(x, labels, theta) + noise).astype(np.float64)
            theta = theta - rate * noisy.reshape(theta.shape)
            if step >= self.steps // 2:
                total = total + theta
        average: Floats = total / (self.steps - self.steps // 2)
        return average

    def pace(self, rows: float) -> float:
        """The rate of descent on means: faster where noise is small beside the rows."""
        quiet = math.sqrt(rows / (self.multiplier * self.privacy.rows_that_differ))
        return min(_FASTEST, max(_SLOWEST, 0.3 * quiet))

    def _admitted(self, x: Any, labels: Any) -> tuple[Floats, Ints]:
        """The rows that count, as numbers, each cell by itself; only shapes are refused."""
        rows = rows_of_numbers(x, self.dimension)
        places = numbers_of_rows(labels, len(rows))
        known = np.isin(places, np.arange(self.classes))
        inside = np.nan_to_num(rows[known], nan=0.0, posinf=_LARGE, neginf=-_LARGE)
        return np.clip(inside, -_LARGE, _LARGE), places[known].astype(np.int64)

    def _sum(self, x: Floats, labels: Ints, theta: Floats) -> Any:
        """The sum of clipped gradients, in steps; each row's is a function of that row alone."""
        total = np.zeros(theta.size, dtype=object)
        for part in slices(len(x)):
            rows, true = x[part], labels[part]
            scores = predictions_of_each(rows, theta)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares /= row_sums(shares)[:, None]
            shares[np.arange(len(rows)), true] -= 1
            each = shares[:, :, None] * rows[:, None, :]
            total += clipped_sum(each.reshape(len(rows), -1), self.clip)
        return total.astype(np.int64)
