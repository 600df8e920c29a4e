"""Private Frank–Wolfe for the lasso: each step chooses a vertex of an L1 ball.

A step moves towards the vertex along which the loss falls most, chosen by the exponential
mechanism. Scores are sums over rows of residual times feature, clamped and added up in exact
integers.

Source: 004b:C12, C13, C14. Errata: the printed noise is that of an average loss and lacks a factor
n for sums; a constant step leaves 1/e of the gap, so steps are 2/(t + 2). Proof:
``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count, positive
from discreet.learn.exact_sums import sums
from discreet.learn.optimisers.selections import epsilon_of_each
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.learn.row_products import predictions
from discreet.mechanisms.exponential import Exponential

_STEPS = 2.0**30


def suggested_steps(
    rows: int, epsilon: float, *, curvature: float = 4, lipschitz: float = 2
) -> int:
    """Γ^(2/3) (nε)^(2/3) / L^(2/3) steps, for a public number of rows.

    >>> suggested_steps(1000, 1)
    159
    """
    return max(1, math.ceil(math.pow(curvature * rows * epsilon / lipschitz, 2 / 3)))


@dataclass(frozen=True, kw_only=True)
class FrankWolfe:
    """Least squares over an L1 ball, for features and targets within [-1, 1].

    Assumptions: ``steps``, ``radius``, spend and unit are chosen without the data.

    Guarantee: the whole path costs ``event``, which the spend covers. The answer has at most
    ``steps`` entries that are not zero.

    Source: 004b:C13, C14. Proof: ``proofs/optimisers.md``.

    Numerics: what a row adds to a score is rounded to 2**-30 of its largest size.
    """

    steps: int
    radius: float
    privacy: Privacy

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        count("steps", self.steps)
        positive("radius", self.radius)
        _ = self._choice

    @property
    def event(self) -> Event:
        """What all steps cost."""
        return self._choice.event * self.steps

    @property
    def epsilon_each(self) -> Number:
        """What one step costs."""
        return self._choice.epsilon

    @cached_property
    def _choice(self) -> Exponential:
        return Exponential(
            epsilon=epsilon_of_each(self.privacy.spend, self.steps),
            sensitivity=self.privacy.rows_that_differ * int(_STEPS),
            randomness=self.privacy.randomness,
        )

    def minimise(self, x: Floats, y: Floats, people: Any = None) -> Floats:
        """The last point; rows are clamped, NaN counts as zero."""
        x, y = bounded_rows(self.privacy, x, y, people)
        inside = np.nan_to_num(np.clip(x, -1, 1), nan=0.0)
        target = np.nan_to_num(np.clip(y, -1, 1), nan=0.0)
        theta = np.zeros(x.shape[1])
        everyone = np.zeros(len(x), dtype=np.int64)
        widest = self.radius + 1
        for t in range(self.steps):
            residuals = np.clip((predictions(inside, theta) - target) / widest, -1, 1)
            each = np.trunc(residuals[:, None] * inside * _STEPS)
            slopes = sums(each, everyone, 1)[0].astype(np.int64)
            place = self._choice.release(np.concatenate([-slopes, slopes]))
            sign = 1 if place < len(theta) else -1
            theta *= 1 - 2 / (t + 2)
            theta[place % len(theta)] += 2 / (t + 2) * sign * self.radius
        return theta
