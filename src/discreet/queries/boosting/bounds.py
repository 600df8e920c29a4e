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
from discreet.core.parameters import Number, count, exact, positive, probability
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


def printed_slack(
    *,
    epsilon: float,
    delta: float,
    sample: int,
    rounds: int,
    advantage: Number,
    sensitivity: int = 1,
) -> float:
    """The slack of the text: k T draws at the last round's range, by advanced composition.

    >>> given = dict(sample=600, rounds=63, advantage=Fraction(1, 3))
    >>> round(printed_slack(epsilon=1, delta=1e-6, **given))
    214498
    """
    draws, wanted = sample * rounds, float(positive("epsilon", epsilon))
    root = math.sqrt(2 * draws * -math.log(probability("delta", delta)))
    low, high = 0.0, 1.0
    for _ in range(200):
        each = (low + high) / 2
        paid = root * each + draws * each * math.expm1(each)
        low, high = (each, high) if paid <= wanted else (low, each)
    return 4 * step_size(advantage) * rounds * sensitivity / low


def generalising_sample(*, bits: float, failure: float, advantage: Number) -> int:
    """Queries to draw so that what fits them fits 1/2 + eta of the weight, for synopses of m bits.

    2 (ln(1/gamma) + m) / (1 - 2 eta). With all databases of n records, m is n log2|X|.

    >>> generalising_sample(bits=100, failure=0.05, advantage=Fraction(1, 3))
    618
    """
    step_size(advantage)
    unlikely = -math.log(probability("failure", failure))
    return math.ceil(2 * (unlikely + float(bits)) / (1 - 2 * float(advantage)))


def brute_force_scale(
    *, sample: int, epsilon: float, delta: float, sensitivity: float = 1
) -> float:
    """The scale of Laplace noise on k answers: 2 sqrt(2 k ln(1/delta)) rho / epsilon."""
    unlikely = -math.log(probability("delta", delta))
    return 2 * math.sqrt(2 * sample * unlikely) * sensitivity / float(positive("epsilon", epsilon))


def brute_force_error(*, scale: float, sample: int, failure: float) -> float:
    """The error that some database has on all k answers: 2 b (ln k + ln(2/beta))."""
    union = math.log(count("sample", sample)) + math.log(2 / probability("failure", failure))
    return 2 * scale * union


def subsample_rows(*, sample: int, error: float, failure: float) -> int:
    """Rows of synthetic data that keep k answers within an error: ln(2k/beta) / (2 alpha**2)."""
    union = math.log(2 * count("sample", sample) / probability("failure", failure))
    return math.ceil(union / (2 * float(probability("error", error)) ** 2))
