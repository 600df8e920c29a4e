"""Empirical risk minimisation on a line by the exponential mechanism, continuous and exact.

Sums of losses are taken at public knots, in exact integers, and joined by straight lines. The
density is exponential in that function: log-linear in each cell, and drawn exactly, without
rejections. So an answer is not tied to a list of candidates, and neither smoothness nor convexity
is needed: medians, quantiles and any loss of one coefficient.

Source: 004b:C2 (its sampler asks for an exact law; a chain that is only close would not be pure).
Proof: ``proofs/log_linear.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import count, probability
from discreet.core.search import least
from discreet.learn.cells import one_of_each
from discreet.learn.exact_sums import slices, sums
from discreet.learn.losses import Loss, admitted
from discreet.learn.optimisers.row_sets import Ball
from discreet.learn.optimisers.selections import FARTHEST, epsilon_of_each, require_reach
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.mechanisms.exponential import Exponential
from discreet.noise import log_linear

_STEPS = 2.0**30
_DIGITS = 30


@dataclass(frozen=True, kw_only=True)
class ExponentialLine:
    """Chooses a number of an interval, the likelier the smaller the sum of losses there.

    Assumptions: loss, interval, number of knots, spend and unit are chosen without the data. Rows
    are numbers within [-1, 1], by which the coefficient is multiplied; ones for a median.

    Guarantee: ``minimise`` costs ``event``, which the spend covers. For a convex loss the sum of
    losses, joined by lines between knots, is with probability 1 - β within
    ``excess(confidence=1 - β)`` of its least.

    >>> import discreet as dp
    >>> from discreet.learn.losses import AbsoluteLoss
    >>> given = Privacy(dp.PureDP(epsilon=1), dp.Row())
    >>> made = ExponentialLine(loss=AbsoluteLoss(), low=0, high=100, privacy=given)
    >>> made.event, round(made.excess(confidence=0.95))
    (Exponential(epsilon=Fraction(1, 1)), 574)

    Source: 004b:C2. Proof: ``proofs/log_linear.md``.

    Numerics: a row's loss is rounded to 2**-30 of the largest that it may be; the answer to 2**-30
    of a cell.
    """

    loss: Loss
    low: float
    high: float
    privacy: Privacy
    knots: int = 257

    def __post_init__(self) -> None:
        """Refuse what is no interval, and too few or too many knots."""
        count("knots", self.knots, least=2)
        if not (-FARTHEST <= self.low < self.high <= FARTHEST):
            raise InvalidParameter(
                code="interval_missing",
                expectation="low < high, finite numbers of usual size",
                remedy="Declare the interval from what is known, never from the data.",
            )
        require_reach(self.reach)
        if self.knots > 1 << 12:
            raise InvalidParameter(
                code="interval_missing",
                expectation="at most 4096 knots",
                received=self.knots,
                remedy="Between knots the answer is as fine as numbers are; take fewer.",
            )

    @property
    def reach(self) -> float:
        """The most that a row's loss differs from that in the middle."""
        return self.loss.lipschitz * (self.high - self.low) / 2 * (1 + 1e-12)

    @property
    def places(self) -> Floats:
        """The knots, at which the loss is taken; between them it is a line."""
        return np.linspace(self.low, self.high, self.knots)

    @cached_property
    def _choice(self) -> Exponential:
        return Exponential(
            epsilon=epsilon_of_each(self.privacy.spend, 1),
            sensitivity=self.privacy.rows_that_differ * int(_STEPS),
            randomness=self.privacy.randomness,
        )

    @property
    def event(self) -> Event:
        """What one choice costs."""
        return self._choice.event

    def excess(self, *, confidence: float) -> float:
        """How far above the least sum of losses the chosen one is at most, for convex losses."""
        chance = 1 - float(probability("confidence", confidence))
        far = least(lambda t: t * np.exp(1 - t) <= chance, 1.0, 1e4)
        return far / float(self._choice.rate()) / _STEPS * self.reach

    def minimise(self, x: Floats, y: Floats, people: Any = None) -> float:
        """The chosen number, over rows that are moved into [-1, 1]."""
        x, y = bounded_rows(self.privacy, _one_column(x), y, people, 1)
        heights = self._heights(*admitted(self.loss, Ball(1).clamped(x), y))
        place = log_linear(heights, self._choice.rate(), _DIGITS, self.privacy.randomness)
        share = Fraction(place, (self.knots - 1) << _DIGITS)
        return self.low + float(share) * (self.high - self.low)

    def _heights(self, x: Floats, y: Floats) -> Any:
        """The sum of losses at each knot, relative to the middle, in steps of the reach."""
        middle = (self.low + self.high) / 2
        total = np.zeros(self.knots, dtype=object)
        for part in slices(len(x)):
            targets = y[part, None]
            base = self.loss.value(x[part] * middle, targets)
            values = self.loss.value(x[part] * self.places, targets) - base
            bounded = np.clip(np.nan_to_num(values / self.reach), -1, 1)
            whole = np.trunc(bounded * _STEPS)
            total += sums(whole, np.zeros(len(whole), dtype=np.int64), 1)[0]
        return total.astype(np.int64)


def _one_column(x: Any) -> Any:
    """Numbers of one dimension as rows of one number each."""
    array = one_of_each(x)
    return array[:, None] if array.ndim == 1 else array
