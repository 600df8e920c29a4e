"""One spend, and steps chosen as a mechanism goes along: each is charged before it runs.

A filter holds the limit: the epsilon or rho of the spend, fixed before any data is read. Which
marginal is measured next, how precisely, and how many steps there are may all depend on what came
out so far; the whole never costs more than the limit. So the price that is claimed is the limit's,
and the events that ran can be looked at.

Source: modern-data:A1; 004d:F12, F15. Proof: ``proofs/synthetic.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.adaptive.filter import PrivacyFilter, PureFilter, ZCDPFilter
from discreet.accounting.adaptive.steps import steps_down, steps_up
from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Concentrated, Pure, Unprotected
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact, rounded_down
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.for_spend import (
    WholeNoise,
    additive_readings,
    deviation,
    epsilon_for,
    least_error,
    noise_for,
    share_of,
)
from discreet.mechanisms.grid import sqrt_above
from discreet.mechanisms.selection import Selection
from discreet.noise.randomness import Source
from discreet.queries.record_count import MOST, RecordCount
from discreet.synthetic.drawable import require_drawable

_STEP = 1 << 12
"""Scores are whole numbers of this part of a record, so that their sensitivity is exact."""
_MOST_IN_ALL = 1 << 44
"""Records in all cells of a marginal, as scores see them."""
HEAVIEST = 64
"""Weights of candidates are whole numbers up to this, so that scores are exact."""
_LEAST_VARIANCE = 2.0**-20


class SpendTerms:
    """What a mechanism's steps may cost in all, and how far one person moves what they release.

    One person has at most ``records`` records, which are added, removed or exchanged as ``size``
    says. Where the spend can be read as epsilons or as rho, the one that errs less when
    ``steps`` steps share it is taken: from public quantities alone.
    """

    def __init__(
        self, spend: Guarantee, size: RecordCount, records: int, randomness: Source, steps: int
    ) -> None:
        """Choose the definition in which steps add up."""
        self.size = size
        self.records = records
        self.randomness = randomness
        share = Fraction(1, steps)
        self.paid: PureDP | ZCDP = least_error(
            additive_readings(spend),
            _whole,
            lambda paid: deviation(self._noise(share_of(paid, share))),
        )

    @property
    def event(self) -> Event:
        """What all steps cost together, whatever they turn out to be."""
        match self.paid:
            case PureDP(epsilon=epsilon):
                whole: Event = Pure(epsilon=epsilon)
            case ZCDP(rho=rho):
                whole = Concentrated(rho=rho)
        return mark_unprotected_event(whole, self.randomness)

    @property
    def growth(self) -> int:
        """How many times as much half the noise costs."""
        return 2 if isinstance(self.paid, PureDP) else 4

    @property
    def l1_sensitivity(self) -> int:
        """How far one person moves the counts of a marginal in all."""
        return self.records * self.size.changed_cells

    def noise(self, share: Number) -> WholeNoise:
        """Noise for one marginal that costs a share of the whole."""
        return self._noise(self._part(share))

    def _part(self, share: Number) -> PureDP | ZCDP:
        """A share of the whole, in whole steps: parts of it never add up to more by rounding."""
        return _whole(share_of(self.paid, share))

    def _noise(self, paid: PureDP | ZCDP) -> WholeNoise:
        # All records of a person may lie in one cell.
        l2 = self.records * (
            1 if self.size.changed_cells == 1 else sqrt_above(Fraction(self.size.changed_cells))
        )
        return noise_for(paid, l1=self.l1_sensitivity, l2=l2, randomness=self.randomness)

    def selection(self, share: Number, heaviest: int) -> Selection:
        """What selects for a share of the whole, by scores of :func:`whole_scores`."""
        kind = PermuteAndFlip if isinstance(self.paid, PureDP) else Exponential
        moved = self.l1_sensitivity * heaviest * _STEP

        def at(epsilon: Number) -> Selection:
            return kind(epsilon=epsilon, sensitivity=moved, randomness=self.randomness)

        return at(epsilon_for(self._part(share), lambda e: at(e).event))

    def require_steps(self, least: Number) -> None:
        """Refuse a spend of which ``least``, or all of it, buys nothing that can be drawn."""
        require_drawable(self.noise(least), self.selection(least, HEAVIEST))
        # All of it may buy next to no noise, which one step may well have; but it has a law.
        _ = self.noise(1), self.selection(1, HEAVIEST)


class AdaptiveSpend:
    """The steps of one release: each is charged to a filter, and then runs."""

    def __init__(self, terms: SpendTerms) -> None:
        """Open the filter; nothing is spent yet."""
        self.terms = terms
        paid = terms.paid
        self._filter: PrivacyFilter = (
            PureFilter(limit=paid) if isinstance(paid, PureDP) else ZCDPFilter(limit=paid)
        )
        self.ran: list[Event] = []
        """The events that ran, in order; private noise is not in them."""
        self.split: dict[str, Fraction] = {}
        """The shares of the whole that were spent, by what they paid for."""

    @property
    def share_left(self) -> Fraction:
        """The share of the whole that is left."""
        (limit,) = self._filter.amounts
        (spent,) = self._filter._spent
        return Fraction(limit - spent, limit)

    def measured(
        self, counts: NDArray[np.int64], share: Number, purpose: str = "marginals"
    ) -> tuple[Floats, float]:
        """Noisy counts of a marginal for a share of the whole, and the variance of each.

        The variance is a weight among others for what follows, and so never nothing.
        """
        noise = self.terms.noise(share)
        self._charge(noise.event, purpose)
        variance = max(deviation(noise) ** 2, _LEAST_VARIANCE)
        return noise.release(counts).astype(np.float64), variance

    def selected(self, scores: Sequence[int], share: Number, heaviest: int) -> int:
        """The position of a high score, for a share of the whole."""
        selection = self.terms.selection(share, heaviest)
        self._charge(selection.event, "selection")
        return selection.release(np.asarray(scores, dtype=np.int64))

    def _charge(self, event: Event, purpose: str) -> None:
        before = self.share_left
        self._filter.record(event.instead_of if isinstance(event, Unprotected) else event)
        self.ran.append(event)
        self.split[purpose] = self.split.get(purpose, Fraction(0)) + before - self.share_left


def _whole(paid: PureDP | ZCDP) -> PureDP | ZCDP:
    """The same, or a float just below, if a filter would have to round it up.

    >>> _whole(PureDP(epsilon=Fraction(1, 3))).epsilon, _whole(PureDP(epsilon=Fraction(3, 1009)))
    (Fraction(1, 3), PureDP(unit=None, epsilon=0.002973240832507433))
    """
    amount = exact(paid.epsilon if isinstance(paid, PureDP) else paid.rho)
    if steps_down(amount) == steps_up(amount):
        return paid
    below = rounded_down(amount)
    return PureDP(epsilon=below) if isinstance(paid, PureDP) else ZCDP(rho=below)


def mean_error(noise: WholeNoise) -> float:
    """The mean of the absolute value of one count's noise, about."""
    spread = deviation(noise)
    return spread / math.sqrt(2) if isinstance(noise, DiscreteLaplace) else spread * _HALF_NORMAL


_HALF_NORMAL = math.sqrt(2 / math.pi)


def whole_score(counts: NDArray[np.int64], estimate: Floats, allowance: float, weight: int) -> int:
    """Weight times (the total error of an estimate, less an allowance), exactly in whole steps.

    One record that comes or goes moves it by at most ``weight`` times a record's steps, since the
    estimate is rounded to whole steps before counts are compared with it. Whatever the estimate is,
    no sum of 64 bits wraps around: counts and estimates of a cell end where all cells together
    have 2**44 records, and what is not a number is none.
    """
    most = min(MOST, _MOST_IN_ALL // max(estimate.size, 1))
    guess = np.rint(np.clip(np.nan_to_num(estimate, nan=0.0), 0, most) * _STEP).astype(np.int64)
    error = int(np.abs(np.minimum(counts, most) * _STEP - guess).sum())
    return weight * (error - round(min(allowance, MOST) * _STEP))
