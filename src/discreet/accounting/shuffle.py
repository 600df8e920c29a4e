"""Amplification by shuffling: the numerical bound, with no condition on its parameters.

n people send one report each, all by the same randomiser, pure at ``loss`` for any two inputs,
and only the multiset of reports is seen. With C binomial of n-1 trials at w, A binomial of C fair
coins, and D a coin of odds exp(loss), the curve is at most that of the pair

    P = (A + D, C - A + 1 - D),    Q = (A + 1 - D, C - A + D),

which is symmetric. w = exp(-loss) holds for every randomiser; w = 2 / (exp(loss) + 1) for those
with R(x) >= (R(x0) + R(x1)) / (exp(loss) + 1) pointwise, as k-ary randomized response, and not for
subset selection. Given C = c the best test is a threshold, so that delta is a sum over c of one
probability and one tail of Bin(c, 1/2). delta given c falls in c, so that c may be grouped by its
least value; grouping starts at some hundred values and costs about 1e-5 of epsilon.

Bits by randomized response are summed over all that is seen, in
:mod:`discreet.accounting.shuffled_bits`, and cost the less of both bounds.

Not covered: reports with a delta of their own, different randomisers, dropped reports (count only
those sure to arrive), and metadata that betray the order. The "stronger amplification" theorem
(arXiv 2208.04591) has an erratum and is not used.

Numerics: all roundings go up, cut tails are added; tails of Bin(c, 1/2), which are subtracted, are
partial sums of positive terms and so lower bounds.

Source: modern-learn:7 (Feldman, McMillan, Talwar 2021); 004a:C36. Proof:
``proofs/shuffle.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.binomial import (
    BiasedCoin,
    log_masses,
    mass_from,
    mass_to,
    masses_above,
    window,
)
from discreet.accounting.pure import PURE
from discreet.accounting.shuffled_bits import LARGEST, MOST_PEOPLE, bits_delta
from discreet.core.accountant import Accountant
from discreet.core.arrays import Floats
from discreet.core.events.mechanisms import RandomizedResponse
from discreet.core.events.shuffled import Shuffled
from discreet.core.parameters import (
    Number,
    count,
    delta_parameter,
    exact,
    nonnegative,
    positive,
    rounded_down,
    rounded_up,
)
from discreet.core.search import crossing

if TYPE_CHECKING:
    from discreet.core.events.event import Event

_MARGIN = 1e-12
_UNIT = 2.0**-50
_GROUPS = 960
_UNGROUPED = 1 << 12
_OUTER = 24
_BULK = 0.4
_AT_ONCE = 64
_MOST_PEOPLE = 1 << 33
_NEGLIGIBLE = 1e-13
_LARGEST = 700.0
FAIR = BiasedCoin(0.5, 0.5)


@dataclass(frozen=True)
class Blanket:
    """What the bound depends on: local loss, people, and whether each covers two inputs evenly.

    ``even`` says that the randomiser satisfies the pointwise condition above, ``binary`` that it is
    randomized response of one bit, whose sum is all that is seen.
    """

    loss: Fraction
    people: int
    even: bool
    binary: bool = False

    def share(self) -> float:
        """w, rounded down: the probability that a person's report hides the difference."""
        loss = rounded_up(self.loss)
        fall = math.exp(-loss)
        w = 2 * fall / (1 + fall) if self.even else fall
        return w * (1 - _UNIT * (1 + loss))


@dataclass(frozen=True)
class Groups:
    """Values of C grouped by their least one, with the probabilities of the groups, raised."""

    least: Floats
    masses: Floats
    low_tail: float


@lru_cache(maxsize=64)
def groups(trials: int, share: float) -> Groups:
    """The values of a binomial C of so many trials, in groups judged by their least."""
    if trials == 0 or share == 0:
        return Groups(np.zeros(1), np.ones(1), 0.0)
    coin = BiasedCoin(share, 1 - share)
    bottom, top = window(trials, coin)
    values = np.arange(bottom, top + 1, dtype=np.float64)
    masses = masses_above(values, trials, coin)
    # delta given c falls in c: what lies above the window counts with its last value.
    masses[-1] += mass_from(top + 1, trials, coin)
    inner = int((len(values) - 1) * _BULK / 2)
    middle = len(values) // 2
    edges = [
        np.linspace(0, middle - inner, _OUTER),
        np.linspace(middle - inner, middle + inner, _GROUPS),
        np.linspace(middle + inner, len(values), _OUTER),
    ]
    starts = np.unique(np.concatenate(edges).astype(np.intp))[:-1]
    if len(values) <= _UNGROUPED:
        starts = np.arange(len(values))
    grouped = np.add.reduceat(masses, starts) * (1 + _MARGIN)
    return Groups(values[starts], grouped, mass_to(bottom - 1, trials, coin))


def shuffled_delta(*, loss: Number, people: int, even: bool, epsilon: Number) -> float:
    """Delta at ``epsilon`` of ``people`` shuffled reports of local epsilon ``loss``, rounded up.

    ``even=True`` only for randomisers that satisfy the pointwise condition of this module.

    >>> round(shuffled_delta(loss=1, people=8, even=False, epsilon=0.3), 7)
    0.1137071
    """
    blanket = Blanket(exact(positive("loss", loss)), count("people", people), even)
    return _delta(blanket, exact(nonnegative("epsilon", epsilon)))


def shuffled_epsilon(*, loss: Number, people: int, even: bool, delta: Number) -> float:
    """The least epsilon at ``delta``, rounded up; never above ``loss``.

    >>> round(shuffled_epsilon(loss=1, people=1000, even=False, delta=1e-6), 4)
    0.1824
    """
    blanket = Blanket(exact(positive("loss", loss)), count("people", people), even)
    return _epsilon(blanket, rounded_down(exact(delta_parameter("delta", delta))))


def _epsilon(blanket: Blanket, target: float) -> float:
    most = rounded_up(blanket.loss)
    if math.isinf(most):
        return math.inf
    return crossing(lambda epsilon: _delta(blanket, Fraction(epsilon)), target, most)


def _delta(blanket: Blanket, epsilon: Fraction) -> float:
    if epsilon >= blanket.loss:
        return 0.0
    loss, spent = rounded_up(blanket.loss), rounded_down(epsilon)
    # With a the truth's probability: gain = a - exp(epsilon) (1 - a), for each unit of mass.
    fall = math.exp(-loss)
    gain = -math.expm1(-rounded_up(blanket.loss - epsilon)) / (1 + fall) * (1 + _MARGIN)
    if loss > _LARGEST:
        return min(1.0, gain)
    # With fewer people it costs no less, and sums over very many of them would not end.
    held = groups(min(blanket.people, _MOST_PEOPLE) - 1, blanket.share())
    given = _bound_delta_given_count(held.least, loss, spent, gain)
    bulk = float(np.sum(held.masses * given)) * (1 + _MARGIN)
    # Below the window delta given c is at most that of c = 0, which is the gain.
    bound = min(1.0, bulk + held.low_tail * gain)
    if blanket.binary and loss <= LARGEST and blanket.people < 2 * MOST_PEOPLE:
        return min(bound, bits_delta(loss, blanket.people, spent))
    return bound


def _bound_delta_given_count(c: Floats, loss: float, epsilon: float, gain: float) -> Floats:
    """Delta given C = c: gain P(t-1) - (exp(epsilon) - 1) P(>= t), rounded up.

    Outcomes from t on are those more probable under P than exp(epsilon) times under Q. If
    rounding misjudges one, its contribution is below 1e-14 (exp(epsilon) + 1) P(t-1).
    """
    grown = math.expm1(epsilon)
    place = 0.5 + math.tanh(epsilon / 2) / math.tanh(loss / 2) / 2
    t = np.clip(np.ceil((c + 1) * place), 1.0, c + 1)
    first = _fair_masses(c, t - 1, raised=True)
    value = gain * first - grown * _fair_tail(c, t) * (1 - _MARGIN)
    blur = _MARGIN * gain + 1e-14 * (grown + 2)
    return np.clip(value + blur * first, 0.0, gain)


def _fair_masses(c: Floats, j: Floats, *, raised: bool) -> Floats:
    """P(Bin(c, 1/2) = j), rounded up or down."""
    log, error = log_masses(j, np.maximum(c, 1.0), FAIR)
    masses = np.exp(log + error if raised else log - error)
    return np.where(c > 0, masses, 1.0)


def _fair_tail(c: Floats, t: Floats) -> Floats:
    """P(Bin(c, 1/2) >= t), rounded down, by summing while terms matter."""
    inside = t <= c
    term = np.where(inside, _fair_masses(c, np.minimum(t, c), raised=False), 0.0)
    total, at = term.copy(), t.copy()
    offsets = np.arange(_AT_ONCE, dtype=np.float64)
    while np.any(term > _NEGLIGIBLE * total):
        here = at[:, None] + offsets
        ratios = np.maximum(c[:, None] - here, 0.0) / (here + 1)
        terms = term[:, None] * np.cumprod(ratios, axis=1)
        total += terms.sum(axis=1)
        term = terms[:, -1]
        at += _AT_ONCE
    return total


class ShuffleAccountant(Accountant[Blanket]):
    """Price: what the shuffle bound depends on. Prices one shuffled event alone.

    Rounds of shuffled events are composed by their privacy loss, in
    :mod:`discreet.accounting.shuffled_losses`.
    """

    def epsilon(self, event: Event, delta: float) -> float:
        """The numerical bound at ``delta``."""
        return _epsilon(self.price(event), rounded_down(exact(delta)))

    def delta(self, event: Event, epsilon: float) -> float:
        """The numerical bound at ``epsilon``."""
        return _delta(self.price(event), exact(epsilon))


SHUFFLED = ShuffleAccountant()


@SHUFFLED.prices(Shuffled)
def _shuffled(event: Shuffled) -> Blanket:
    even = isinstance(event.event, RandomizedResponse)
    binary = isinstance(event.event, RandomizedResponse) and event.event.categories == 2
    return Blanket(exact(event.event.loss), event.people, even, binary)


@PURE.prices(Shuffled)
def _pure(event: Shuffled) -> Fraction:
    # Post-processing of one person's report and of reports that did not change.
    return PURE.price(event.event)
