"""How many rounds, how many draws, how much slack: the constants of boosting. No data is read.

Source: 000a:H2–H4, H6; boosting-and-analysts:B2, B4; analysts-verified:B3. Errata: 000a:H2 (rounds
are twice what the proof needs; its roots are garbled), H4 (noise 2 sqrt(2) too small in the
statement), 000a:H6 (rows of a subsample); analysts-verified:B3 (the draws cost 3.6 times less slack
than printed).
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, exact, positive
from discreet.mechanisms.grid import sqrt_above


def step_size(advantage: Number) -> float:
    """How far one round moves a log-weight: half the log-odds of 1/2 + eta.

    >>> round(step_size(Fraction(1, 3)), 7)
    0.804719
    """
    eta = float(advantage)
    if not 0 < eta < 0.5:
        raise InvalidParameter(
            code="advantage_range",
            expectation="an advantage strictly between 0 and 1/2",
            received=advantage,
            remedy="A generator that is right on 5/6 of the weight has the advantage 1/3.",
        )
    return math.log((1 + 2 * eta) / (1 - 2 * eta)) / 2


def shrinkage(advantage: Number) -> float:
    """What is left of the total weight after a round, at most: sqrt(1 - 4 eta**2).

    >>> round(shrinkage(Fraction(1, 3)), 4)
    0.7454
    """
    step_size(advantage)
    return math.sqrt(1 - 4 * float(advantage) ** 2)


def rounds_needed(*, queries: int, advantage: Number) -> int:
    """Rounds after which no query can be wrong, if every generator kept its promise.

    A query that the median gets wrong has weight at least one, so the total must be below one:
    the least T with |Q| (1 - 4 eta**2)**(T/2) < 1. The text has ln|Q| / eta**2.

    >>> rounds_needed(queries=1000, advantage=Fraction(1, 3))
    24
    """
    falls = -math.log(shrinkage(advantage))
    return max(2, math.floor(math.log(count("queries", queries)) / falls) + 1)


def squares_before(rounds: int) -> int:
    """1 + 4 + … + (T-1)**2: what draws at ranges in proportion to 1, …, T-1 add up to."""
    return (rounds - 1) * rounds * (2 * rounds - 1) // 6


def draws_rho(
    *, sample: int, rounds: int, slack: Number, advantage: Number, sensitivity: int = 1
) -> Fraction:
    """The zCDP of all draws: 2 k alpha**2 (rho/mu)**2 (1 + 4 + … + (T-1)**2).

    Before round t + 1 the logarithm of a weight moves by at most 2 alpha t rho / mu either way: a
    draw of bounded range 4 alpha t rho / mu. The first round's are free.
    """
    moved = exact(step_size(advantage)) * sensitivity / exact(positive("slack", slack))
    return 2 * sample * moved**2 * squares_before(rounds)


def slack_at(
    *, rho: Number, sample: int, rounds: int, advantage: Number, sensitivity: int = 1
) -> Fraction:
    """The least slack mu whose draws cost no more than rho, rounded up.

    >>> given = dict(sample=50, rounds=20, advantage=Fraction(1, 3))
    >>> round(float(slack_at(rho=0.00875, **given)), 1)
    4275.5
    """
    one = draws_rho(
        sample=sample, rounds=rounds, slack=1, advantage=advantage, sensitivity=sensitivity
    )
    return sqrt_above(one / exact(positive("rho", rho)))


def slack_at_pure(
    *, epsilon: Number, sample: int, rounds: int, advantage: Number, sensitivity: int = 1
) -> Fraction:
    """The least slack under a pure spend: epsilons 4 alpha t rho / mu add up over all draws."""
    ranges = 4 * exact(step_size(advantage)) * sensitivity
    return ranges * sample * (rounds * (rounds - 1) // 2) / exact(positive("epsilon", epsilon))
