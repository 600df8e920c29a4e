"""Privacy of finite output laws, computed rather than sampled.

A law is a mapping from outcome to probability, or an array whose indices are the outcomes.
These functions work in floating point; ``exact`` decides the same questions for rationals.

Source: Dwork and Roth, Definitions 2.1-2.4 (000a:A3, A4; 004a:A3).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, nonnegative

Table: TypeAlias = Mapping[Any, Number]
Law: TypeAlias = Table | Sequence[Number] | Floats

_ROUNDING = 1e-9


def hockey_stick(p: Law, q: Law, *, epsilon: Number) -> float:
    """The hockey-stick divergence: the sum over outcomes of max(0, P − e^ε·Q).

    Contract: two laws over the same outcomes, each summing to one.
    Guarantee: P(S) ≤ e^ε·Q(S) + value for every event S, with equality for one of them.

    >>> round(hockey_stick([0.5, 0.5], [0.9, 0.1], epsilon=math.log(2)), 12)
    0.3
    """
    above, below = paired(p, q)
    slack = float(nonnegative("epsilon", epsilon)) - _log_ratios(above, below)
    return float(np.sum(-above * np.expm1(np.minimum(slack, 0.0))))


def min_delta(p: Law, q: Law, *, epsilon: Number) -> float:
    """The least delta for which the pair is (ε, δ)-indistinguishable in both directions.

    >>> min_delta([0.25, 0.75], [0.25, 0.75], epsilon=0)
    0.0
    """
    return max(hockey_stick(p, q, epsilon=epsilon), hockey_stick(q, p, epsilon=epsilon))


def min_epsilon(p: Law, q: Law) -> float:
    """The least epsilon at delta zero: max |ln P/Q|, where 0/0 is ignored and x/0 is infinite.

    >>> round(min_epsilon([0.75, 0.25], [0.25, 0.75]), 12) == round(math.log(3), 12)
    True
    """
    above, below = paired(p, q)
    possible = (above > 0) | (below > 0)
    return float(np.max(np.abs(_log_ratios(above, below)[possible])))


def paired(p: Law, q: Law) -> tuple[Floats, Floats]:
    """Both laws as arrays over the same outcomes, after checking that they are laws."""
    first, second = table(p), table(q)
    if isinstance(p, Mapping) != isinstance(q, Mapping):
        raise InvalidParameter(
            code="laws_differ_in_kind",
            expectation="both laws to be mappings or both to be arrays",
            received=f"{type(p).__name__} and {type(q).__name__}",
            remedy="Write both laws in the same form.",
        )
    if not isinstance(p, Mapping) and len(first) != len(second):
        raise InvalidParameter(
            code="laws_differ_in_length",
            expectation="two arrays of equal length",
            received=(len(first), len(second)),
            remedy="Give impossible outcomes the probability zero.",
        )
    outcomes = dict.fromkeys([*first, *second])
    return _floats(first, outcomes), _floats(second, outcomes)


def table(law: Law) -> Table:
    """The law as a mapping, after checking that it is non-negative and sums to one."""
    masses = law if isinstance(law, Mapping) else _indexed(law)
    if any(not mass >= 0 for mass in masses.values()):
        raise InvalidParameter(
            code="negative_probability",
            expectation="every probability to be zero or more",
            remedy="Check the function that computes the law.",
        )
    total = _total(masses)
    tolerance = 0.0 if isinstance(total, Fraction) else _ROUNDING
    if not 1 - tolerance <= total <= 1 + tolerance:
        raise InvalidParameter(
            code="not_a_law",
            expectation="probabilities that sum to one",
            received=total,
            remedy="Include every outcome; give a truncated tail its own outcome.",
        )
    return masses


def is_rational(masses: Table) -> bool:
    """Whether every probability is an int or a Fraction, so that sums are exact."""
    return all(isinstance(mass, (int, Fraction)) for mass in masses.values())


def _total(masses: Table) -> Fraction | float:
    if is_rational(masses):
        return sum((Fraction(mass) for mass in masses.values()), Fraction(0))
    return math.fsum(masses.values())


def _indexed(law: Sequence[Number] | Floats) -> Table:
    return dict(enumerate(np.ravel(np.asarray(law)).tolist()))


def _floats(masses: Table, outcomes: Mapping[Hashable, None]) -> Floats:
    exact = [masses.get(outcome, 0) for outcome in outcomes]
    rounded = np.array([float(mass) for mass in exact])
    if any(mass != 0 and value == 0 for mass, value in zip(exact, rounded, strict=True)):
        raise InvalidParameter(
            code="probability_underflows",
            expectation="probabilities that floating point can tell from zero",
            remedy="Decide this law with discreet.audit.violates, which is exact.",
        )
    return rounded


def _log_ratios(above: Floats, below: Floats) -> Floats:
    ratios = np.zeros_like(above)
    ratios[(above > 0) & (below == 0)] = np.inf
    ratios[(above == 0) & (below > 0)] = -np.inf
    both = (above > 0) & (below > 0)
    ratios[both] = np.log(above[both]) - np.log(below[both])
    return ratios
