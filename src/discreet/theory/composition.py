"""Composition theorems in closed form: basic, advanced (old, improved, heterogeneous), inverted.

``slack`` is the delta' that a theorem itself adds; the deltas of the mechanisms add up besides.
All hold when the mechanisms, but not their parameters, are chosen adaptively, on any adjacent
pair in each round. ``discreet.accounting.optimal`` is never worse than any of them.

Numerics: sums are exact rationals, the rest is raised by a relative 1e-12; what is returned by an
inversion was put through the theorem again and passed.

Source: 000a:D1, 000a:D3–D6, 000b:B47, 000b:B51, 004a:A4, 004a:D8, 004a:D9,
boosting-and-analysts:B1. Proof: ``proofs/composition.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import (
    Number,
    count,
    delta_parameter,
    exact,
    nonnegative,
    positive,
    probability,
    rounded_down,
    rounded_up,
)
from discreet.core.search import greatest, most
from discreet.theory.calculator import calculator

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARGIN = 1e-12
_LARGEST = 700.0


class Theorem(Protocol):
    """The total epsilon of ``times`` mechanisms of one epsilon, at the price of ``slack``."""

    def __call__(self, *, epsilon: Number, times: int, slack: Number) -> float:
        """Rounded up."""


@calculator
def basic_epsilon(epsilons: Sequence[Number]) -> float:
    """The sum, rounded up: tight, and valid whatever is chosen adaptively (000a:D1).

    >>> basic_epsilon([0.5, 0.25])
    0.75
    """
    return rounded_up(_total("epsilon", epsilons))


@calculator
def basic_delta(deltas: Sequence[Number]) -> float:
    """The sum, rounded up; at most one."""
    return min(1.0, rounded_up(sum((exact(delta_parameter("delta", d)) for d in deltas), _ZERO)))


@calculator
def advanced_epsilon(*, epsilon: Number, times: int, slack: Number) -> float:
    """sqrt(2 k ln(1/slack)) epsilon + k epsilon (exp(epsilon) - 1): Theorem 3.20 as printed.

    The printed theorem allows slack = 0, for which it says nothing. Not below basic composition.

    >>> round(advanced_epsilon(epsilon=0.1, times=100, slack=1e-5), 4)
    5.8502
    """
    each, k, spread = _checked(epsilon, times, slack)
    if each > _LARGEST:
        return math.inf
    return (spread + k * each * math.expm1(each)) * (1 + _MARGIN)


@calculator
def improved_epsilon(*, epsilon: Number, times: int, slack: Number) -> float:
    """Theorem 3.20 with the true drift: epsilon tanh(epsilon/2) is the largest expected loss.

    >>> round(improved_epsilon(epsilon=0.1, times=100, slack=1e-5), 4)
    5.2981
    """
    each, k, spread = _checked(epsilon, times, slack)
    return (spread + k * each * math.tanh(each / 2)) * (1 + _MARGIN)


@calculator
def concentrated_epsilon(epsilons: Sequence[Number], *, slack: Number) -> float:
    """Half the sum of squares, plus sqrt(2 ln(1/slack) times it), for mixed epsilons (004a:D8)."""
    squares = sum((exact(nonnegative("epsilon", e)) ** 2 for e in epsilons), _ZERO)
    total = rounded_up(squares)
    return (total / 2 + math.sqrt(2 * _log_inverse(slack) * total)) * (1 + _MARGIN)


@calculator
def composed_epsilon(
    epsilons: Sequence[Number], deltas: Sequence[Number], *, delta: Number
) -> float:
    """The lesser of basic and heterogeneous advanced composition at ``delta`` in all (004a:D9).

    The deltas of the mechanisms come out of ``delta`` first; infinite if they exceed it.

    >>> round(composed_epsilon([0.1] * 100, [1e-9] * 100, delta=1e-6), 5)
    5.77653
    """
    if len(epsilons) != len(deltas):
        raise InvalidParameter(
            code="lengths_differ",
            expectation="one delta for each epsilon",
            received=(len(epsilons), len(deltas)),
            remedy="Give pure mechanisms the delta 0.",
        )
    spent = sum((exact(delta_parameter("delta", d)) for d in deltas), _ZERO)
    left = rounded_down(exact(delta_parameter("delta", delta)) - spent)
    if left < 0:
        return math.inf
    basic = basic_epsilon(epsilons)
    return basic if left == 0 else min(basic, concentrated_epsilon(epsilons, slack=left))


@calculator
def printed_share(*, epsilon: Number, times: int, slack: Number) -> float:
    """Corollary 3.21: epsilon / (2 sqrt(2 k ln(1/slack))), verified by Theorem 3.20.

    Contract: 0 < epsilon < 1. The corollary's proof takes exp(x) - 1 for x; where that fails, as
    for slack near one, the value is refused.

    >>> round(printed_share(epsilon=1 - 1e-9, times=100, slack=1e-6), 6)
    0.009512
    """
    total = float(positive("epsilon", epsilon))
    share = total / (2 * math.sqrt(2 * count("times", times) * _log_inverse(slack)))
    reached = advanced_epsilon(epsilon=share, times=times, slack=slack)
    if reached > total or total > 1:
        raise InvalidParameter(
            code="corollary_fails",
            expectation="parameters for which Corollary 3.21 follows from its theorem",
            received=reached,
            remedy="Use share_of, which inverts the theorem itself.",
        )
    return share


@calculator
def share_of(*, epsilon: Number, times: int, slack: Number, theorem: Theorem) -> float:
    """The largest epsilon of each of ``times`` mechanisms for ``epsilon`` in all, rounded down.

    The lesser of what the theorem and basic composition ask for; verified before it is returned.

    >>> 1 / share_of(epsilon=1, times=10**4, slack=math.exp(-32), theorem=advanced_epsilon) < 812.33
    True
    """
    total = float(positive("epsilon", epsilon))
    k = count("times", times)
    evenly = rounded_down(exact(epsilon) / k)
    by_theorem = greatest(
        lambda e: e == 0 or theorem(epsilon=e, times=k, slack=slack) <= total, 0.0, total
    )
    return max(evenly, by_theorem)


@calculator
def capacity(*, epsilon: Number, slack: Number, scale: Number, theorem: Theorem) -> int:
    """How many counting queries Laplace noise of ``scale`` answers within ``epsilon`` (000a:D6).

    Noise of o(n) answers about n**2 of them, noise of o(sqrt n) about n.
    """
    total = rounded_down(exact(positive("epsilon", epsilon)))
    each = rounded_up(1 / exact(positive("scale", scale)))
    probability("slack", slack)

    def affordable(k: int) -> bool:
        if k == 0 or k * exact(each) <= total:
            return True
        return theorem(epsilon=each, times=k, slack=slack) <= total

    return most(affordable)


_ZERO = Fraction(0)


def _total(name: str, values: Sequence[Number]) -> Fraction:
    return sum((exact(nonnegative(name, value)) for value in values), _ZERO)


def _log_inverse(slack: Number) -> float:
    return -math.log(rounded_down(exact(probability("slack", slack))))


def _checked(epsilon: Number, times: int, slack: Number) -> tuple[float, int, float]:
    each = rounded_up(exact(nonnegative("epsilon", epsilon)))
    k = count("times", times)
    return each, k, math.sqrt(2 * k * _log_inverse(slack)) * each
