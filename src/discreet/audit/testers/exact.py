"""Privacy of finite rational laws, decided without rounding.

For rational ε ≠ 0 the number e^ε is irrational, so comparing it with a rational is settled
by a fine enough enclosure; every answer here is therefore exact.

Source: Dwork and Roth, Definition 2.4 (000a:A3, A4, A11; 004a:A3).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

from discreet.audit.testers.finite import Table, is_rational, table
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, delta_parameter, exact, nonnegative


@dataclass(frozen=True)
class Violation:
    """An event that refutes a claim, with its probability under each of the two laws."""

    event: frozenset[Hashable]
    first: Fraction
    second: Fraction


def violates(p: Table, q: Table, *, epsilon: Number, delta: Number = 0) -> Violation | None:
    """The worst event that breaks (ε, δ) in either direction, or None if the pair obeys it.

    Contract: probabilities are ints or Fractions and sum to one exactly; a float epsilon or
    delta stands for the rational it stores.
    Guarantee: exact in both directions, no tolerance.

    >>> yes, no = Fraction(3, 4), Fraction(1, 4)
    >>> violates({1: yes, 0: no}, {1: no, 0: yes}, epsilon=1.1) is None
    True
    >>> violates({1: yes, 0: no}, {1: no, 0: yes}, epsilon=1.09).event
    frozenset({1})
    """
    first, second = _rational(p), _rational(q)
    loss = exact(nonnegative("epsilon", epsilon))
    slack = exact(delta_parameter("delta", delta))
    forward = _excess(first, second, loss)
    if _exceeds(mass(first, forward) - slack, mass(second, forward), loss):
        return Violation(forward, mass(first, forward), mass(second, forward))
    backward = _excess(second, first, loss)
    if _exceeds(mass(second, backward) - slack, mass(first, backward), loss):
        return Violation(backward, mass(first, backward), mass(second, backward))
    return None


def worst_ratio(p: Table, q: Table) -> Fraction | float:
    """The greatest P/Q or Q/P over outcomes, exactly; ``math.inf`` if only one law allows it.

    >>> worst_ratio({0: Fraction(1, 4), 1: Fraction(3, 4)}, {0: Fraction(1, 2), 1: Fraction(1, 2)})
    Fraction(2, 1)
    """
    first, second = _rational(p), _rational(q)
    pairs = [(first.get(o, Fraction(0)), second.get(o, Fraction(0))) for o in {**first, **second}]
    possible = [pair for pair in pairs if any(pair)]
    if any(not all(pair) for pair in possible):
        return math.inf
    return max(max(a / b, b / a) for a, b in possible)


def exp_bounds(x: Fraction, *, digits: int) -> tuple[Fraction, Fraction]:
    """A rational enclosure of e^x with about ``digits`` correct digits, for x ≥ 0.

    Numerics: the argument is rounded outward, ``decimal`` rounds its exponential correctly,
    and one further unit in the last place is added on each side.

    >>> low, high = exp_bounds(Fraction(1), digits=20)
    >>> low < Fraction(2718281828459045235360288, 10**24) < high
    True
    """
    if x == 0:
        return Fraction(1), Fraction(1)
    return _exp_edge(x, digits, decimal.ROUND_FLOOR), _exp_edge(x, digits, decimal.ROUND_CEILING)


def mass(law: dict[Hashable, Fraction], event: frozenset[Hashable]) -> Fraction:
    """The probability of an event."""
    return sum((law.get(outcome, Fraction(0)) for outcome in event), Fraction(0))


def _exp_edge(x: Fraction, digits: int, rounding: str) -> Fraction:
    context = decimal.Context(
        prec=digits, rounding=rounding, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN
    )
    argument = context.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))
    value = context.exp(argument)
    outward = context.next_minus if rounding == decimal.ROUND_FLOOR else context.next_plus
    return Fraction(outward(value))


def _exceeds(left: Fraction, right: Fraction, loss: Fraction) -> bool:
    """Whether left > e^loss · right, for right ≥ 0."""
    if loss == 0 or right == 0:
        return left > right
    digits = 40
    while True:
        low, high = exp_bounds(loss, digits=digits)
        if left > high * right:
            return True
        if left <= low * right:
            return False
        digits *= 2


def _excess(
    above: dict[Hashable, Fraction], below: dict[Hashable, Fraction], loss: Fraction
) -> frozenset[Hashable]:
    return frozenset(o for o, m in above.items() if _exceeds(m, below.get(o, Fraction(0)), loss))


def _rational(law: Table) -> dict[Hashable, Fraction]:
    if not is_rational(law):
        raise InvalidParameter(
            code="law_not_rational",
            expectation="every probability to be an int or a Fraction",
            remedy="Build the law from fractions.Fraction, or use min_delta for floats.",
        )
    return {outcome: exact(value) for outcome, value in table(law).items()}
