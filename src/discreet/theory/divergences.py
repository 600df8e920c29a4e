"""Divergences of finite laws, and the constructions behind the composition theorems.

A law is a sequence of probabilities; both laws list the same outcomes in the same order. As in
the documents x/0 is infinite and outcomes impossible under both laws do not count. Values are
floats, correct to about 1e-15 of the masses; for certified decisions on rational laws use
``discreet.audit``.

Source: 000a:A5, 000a:B3–B5, 004a:D1, 004a:D10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, delta_parameter, nonnegative, positive
from discreet.core.search import least
from discreet.theory.calculator import calculator

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDING = 1e-9
_MARGIN = 1e-12
_LEAST_LOSS = -1e300


@calculator
def kl_divergence(p: Sequence[Number], q: Sequence[Number]) -> float:
    """The expected privacy loss, sum of P ln(P/Q).

    >>> round(kl_divergence([0.75, 0.25], [0.25, 0.75]), 4)
    0.5493
    """
    above, below = _laws(p, q)
    return max(0.0, float(np.sum(above * _losses(above, below))))


@calculator
def max_divergence(p: Sequence[Number], q: Sequence[Number]) -> float:
    """The largest ln(P(S)/Q(S)) over sets S: the epsilon of one direction of pure privacy."""
    above, below = _laws(p, q)
    return float(np.max(_losses(above, below)[above > 0]))


@calculator
def approximate_max_divergence(p: Sequence[Number], q: Sequence[Number], *, delta: Number) -> float:
    """The largest ln((P(S) - delta)/Q(S)) over sets S of more than delta.

    At most epsilon exactly if the hockey-stick divergence at epsilon is at most delta. Reached
    by a set of outcomes of large P/Q, so only as many sets as outcomes are tried.
    """
    above, below = _laws(p, q)
    slack = float(delta_parameter("delta", delta))
    order = np.argsort(-_losses(above, below), kind="stable")
    gained, paid = np.cumsum(above[order]) - slack, np.cumsum(below[order])
    reached = gained > 0
    with np.errstate(divide="ignore"):
        return float(np.max(np.log(gained[reached]) - np.log(paid[reached])))


@calculator
def total_variation(p: Sequence[Number], q: Sequence[Number]) -> float:
    """Half the sum of |P - Q|; the hockey-stick divergence at zero."""
    above, below = _laws(p, q)
    return float(np.sum(np.maximum(above - below, 0.0)))


@calculator
def hockey_stick(p: Sequence[Number], q: Sequence[Number], *, epsilon: Number) -> float:
    """The sum of max(0, P - exp(epsilon) Q): the delta of one direction at ``epsilon``.

    >>> round(hockey_stick([0.5, 0.5], [0.9, 0.1], epsilon=math.log(2)), 12)
    0.3
    """
    above, below = _laws(p, q)
    return _stick(above, below, float(nonnegative("epsilon", epsilon)))


@calculator
def privacy_losses(p: Sequence[Number], q: Sequence[Number]) -> tuple[Floats, Floats]:
    """The privacy loss variable under P: ln(P/Q) and its probability, outcome by outcome.

    Its mean is the KL divergence, its mean of max(0, 1 - exp(epsilon - L)) the hockey stick.
    """
    above, below = _laws(p, q)
    possible = above > 0
    return _losses(above, below)[possible], above[possible]


@calculator
def loss_tail(*, epsilon: Number, delta: Number, beyond: Number) -> float:
    """A bound of P(loss > epsilon + beyond) for an (epsilon, delta)-private pair, rounded up.

    delta / (1 - exp(-beyond)). The text says that (epsilon, delta) makes the loss exceed epsilon
    with probability at most delta; only the converse holds (000a:A5). With ``beyond = epsilon``
    this is the corrected statement about 2 epsilon.
    """
    nonnegative("epsilon", epsilon)
    slack = float(delta_parameter("delta", delta))
    share = -math.expm1(-float(positive("beyond", beyond)))
    return min(1.0, slack / share * (1 + _MARGIN))


@calculator
def printed_kl_bound(epsilon: Number) -> float:
    """epsilon (exp(epsilon) - 1), Lemma 3.18 as printed."""
    each = float(nonnegative("epsilon", epsilon))
    return each * math.expm1(each) * (1 + _MARGIN)


@calculator
def kl_bound(epsilon: Number) -> float:
    """epsilon tanh(epsilon/2): the largest KL divergence of a pure pair.

    Randomized response attains it.

    >>> round(kl_bound(math.log(3)), 4), round(printed_kl_bound(math.log(3)), 4)
    (0.5493, 2.1972)
    """
    each = float(nonnegative("epsilon", epsilon))
    return each * math.tanh(each / 2) * (1 + _MARGIN)


@calculator
def closest_below(p: Sequence[Number], q: Sequence[Number], *, epsilon: Number) -> Floats:
    """A law P' with P' <= exp(epsilon) Q as near to P as any: Lemma 3.17 (1).

    The excess of P over exp(epsilon) Q moves to where P is below Q; the total variation from P is
    exactly the hockey-stick divergence.
    """
    above, below = _laws(p, q)
    factor = math.exp(float(nonnegative("epsilon", epsilon)))
    kept = np.minimum(above, factor * below)
    return _refilled(kept, np.maximum(below - kept, 0.0), 1 - float(kept.sum()))


@calculator
def closest_pair(
    p: Sequence[Number], q: Sequence[Number], *, epsilon: Number
) -> tuple[Floats, Floats]:
    """Laws P', Q' that are purely epsilon-close, each near its own: Lemma 3.17 (2).

    Within delta / (exp(epsilon) + 1) in total variation, if the pair is (epsilon, delta)-close.
    """
    above, below = _laws(p, q)
    factor = math.exp(float(nonnegative("epsilon", epsilon)))
    first, second = above.copy(), below.copy()
    for high, low, x, y in ((above, below, first, second), (below, above, second, first)):
        over = high > factor * low
        total = high[over] + low[over]
        x[over], y[over] = total * factor / (1 + factor), total / (1 + factor)
    # Mass was taken from one law where it exceeds and given to the other: restore both totals.
    surplus = float(first.sum()) - 1
    if surplus < 0:
        return _refilled(first, np.maximum(second - first, 0.0), -surplus), _drained(
            second, first, surplus
        )
    return _drained(first, second, -surplus), _refilled(
        second, np.maximum(first - second, 0.0), surplus
    )


@dataclass(frozen=True)
class Decomposition:
    """P = (1-weight) near_p + weight far_p, and the same for Q; near laws are purely close."""

    weight: float
    near_p: Floats
    far_p: Floats
    near_q: Floats
    far_q: Floats


@calculator
def decomposed(
    p: Sequence[Number], q: Sequence[Number], *, epsilon: Number, delta: Number
) -> Decomposition:
    """004a:D10: an (epsilon, delta)-close pair is a pure pair, but for weight delta.

    The printed proof has (1-delta) P'' where delta P'' is meant. The weight is the lesser of delta
    and the total variation; caps exp(e1), exp(e2) with e1, e2 <= epsilon leave just that over.
    """
    above, below = _laws(p, q)
    limit = float(nonnegative("epsilon", epsilon))
    slack = float(delta_parameter("delta", delta))
    if max(_stick(above, below, limit), _stick(below, above, limit)) > slack * (1 + _ROUNDING):
        raise InvalidParameter(
            code="pair_not_close",
            expectation="two laws that are (epsilon, delta)-close in both directions",
            received=(limit, slack),
            remedy="Raise delta to the hockey-stick divergence at epsilon.",
        )
    weight = min(slack, _stick(above, below, 0.0))
    if weight == 0:
        return Decomposition(0.0, above, above, below, below)
    near_p, far_p = _capped(above, below, weight, limit)
    near_q, far_q = _capped(below, above, weight, limit)
    return Decomposition(weight, near_p, far_p, near_q, far_q)


def _capped(high: Floats, low: Floats, weight: float, limit: float) -> tuple[Floats, Floats]:
    """min(high, exp(e) low) and the rest, both as laws, where the rest weighs ``weight``."""
    if _stick(high, low, 0.0) <= weight:
        cap = 0.0
    else:
        cap = least(lambda e: _stick(high, low, e) <= weight, 0.0, limit)
    over = np.maximum(high - math.exp(cap) * low, 0.0)
    near, total = high - over, float(over.sum())
    return near / near.sum(), over / total if total else high


def _stick(above: Floats, below: Floats, epsilon: float) -> float:
    share = -np.expm1(np.minimum(epsilon - _losses(above, below), 0.0))
    return float(np.sum(above * share))


def _refilled(law: Floats, room: Floats, amount: float) -> Floats:
    """``law`` with ``amount`` more, spread in proportion to ``room``."""
    total = float(room.sum())
    return law + room * (amount / total) if total > 0 else law


def _drained(law: Floats, other: Floats, amount: float) -> Floats:
    """``law`` with ``-amount`` less, taken where it exceeds ``other`` in proportion."""
    return _refilled(law, np.maximum(law - other, 0.0), amount)


def _losses(above: Floats, below: Floats) -> Floats:
    """ln(P/Q), infinite where only P is possible, and least where P is not."""
    losses = np.where(above > 0, np.inf, _LEAST_LOSS)
    both = (above > 0) & (below > 0)
    losses[both] = np.log(above[both]) - np.log(below[both])
    return losses


def _laws(p: Sequence[Number], q: Sequence[Number]) -> tuple[Floats, Floats]:
    laws = tuple(np.array([float(x) for x in law]) for law in (p, q))
    if len(laws[0]) != len(laws[1]) or not len(laws[0]):
        raise InvalidParameter(
            code="laws_differ_in_length",
            expectation="two laws over the same outcomes",
            received=(len(laws[0]), len(laws[1])),
            remedy="Give impossible outcomes the probability zero.",
        )
    for law in laws:
        if not (law >= 0).all() or abs(math.fsum(law) - 1) > _ROUNDING:
            raise InvalidParameter(
                code="not_a_law",
                expectation="probabilities that are not negative and sum to one",
                received=math.fsum(law),
                remedy="Include every outcome; give a truncated tail its own outcome.",
            )
    return laws[0], laws[1]
