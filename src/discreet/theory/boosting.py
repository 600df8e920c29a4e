"""The constants of boosting for queries as the texts print them, and what samples must hold.

The mechanism itself uses tighter ones: :mod:`discreet.queries.boosting.bounds`.

Source: 000a:H3, H4, H6; boosting-and-analysts:B4. Errata: 000a:H4 (noise 2 sqrt(2) too small in the
statement), H6 (rows of a subsample).
"""

from __future__ import annotations

import math

from discreet.core.parameters import Number, count, positive, probability
from discreet.core.search import greatest_above_zero
from discreet.queries.boosting.bounds import step_size
from discreet.theory.calculator import calculator


@calculator
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

    >>> from fractions import Fraction
    >>> given = dict(sample=600, rounds=63, advantage=Fraction(1, 3))
    >>> round(printed_slack(epsilon=1, delta=1e-6, **given))
    214498
    """
    draws, wanted = sample * rounds, float(positive("epsilon", epsilon))
    root = math.sqrt(2 * draws * -math.log(probability("delta", delta)))

    def stays_within_epsilon(each: float) -> bool:
        return root * each + draws * each * math.expm1(each) <= wanted

    each = greatest_above_zero(stays_within_epsilon)
    return 4 * step_size(advantage) * rounds * sensitivity / each


@calculator
def generalising_sample(*, bits: float, failure: float, advantage: Number) -> int:
    """Queries to draw so that what fits them fits 1/2 + eta of the weight, for synopses of m bits.

    2 (ln(1/gamma) + m) / (1 - 2 eta). With all databases of n records, m is n log2|X|.

    >>> from fractions import Fraction
    >>> generalising_sample(bits=100, failure=0.05, advantage=Fraction(1, 3))
    618
    """
    step_size(advantage)
    unlikely = -math.log(probability("failure", failure))
    return math.ceil(2 * (unlikely + float(bits)) / (1 - 2 * float(advantage)))


@calculator
def brute_force_scale(
    *, sample: int, epsilon: float, delta: float, sensitivity: float = 1
) -> float:
    """The scale of Laplace noise on k answers: 2 sqrt(2 k ln(1/delta)) rho / epsilon."""
    unlikely = -math.log(probability("delta", delta))
    return 2 * math.sqrt(2 * sample * unlikely) * sensitivity / float(positive("epsilon", epsilon))


@calculator
def brute_force_error(*, scale: float, sample: int, failure: float) -> float:
    """The error that some database has on all k answers: 2 b (ln k + ln(2/beta))."""
    union = math.log(count("sample", sample)) + math.log(2 / probability("failure", failure))
    return 2 * scale * union


@calculator
def subsample_rows(*, sample: int, error: float, failure: float) -> int:
    """Rows of synthetic data that keep k answers within an error: ln(2k/beta) / (2 alpha**2)."""
    union = math.log(2 * count("sample", sample) / probability("failure", failure))
    return math.ceil(union / (2 * float(probability("error", error)) ** 2))
