"""How far from its threshold a sparse vector can be wrong, by the law of its noise.

Let R be the largest noise, up or down, of the thresholds of all rounds, and let a value lie at
least x away from the threshold. It is answered wrongly only if its own noise, on one side alone,
is at least x - R. Thresholds' noise and values' noise are independent whatever was asked and
however rounds were divided, since both can be drawn beforehand, one for each round and one for each
question. So over k questions nothing is wrong by x or more with a chance of at least

    E[(1 - exp(-(x - R)+ / t) / 2)**k],    P(R <= r) = (1 - exp(-r / s))**c,

s and t being the scales of the two kinds of noise, and c the number of rounds.

Numerics: the expectation is a sum over steps of r, each judged by its upper end, where the bracket
is smallest: a lower bound of the chance, hence an upper bound of x.

Source: 000a:E1, E3 (whose form, by two union bounds with equal parts, is about twice as wide).
Proof: ``proofs/sparse_vector.md``.
"""

from __future__ import annotations

import numpy as np

_STEPS = 1 << 12
_DEEPEST = 60.0
_LESS = 1e-9


def reach_of_errors(
    *, threshold_scale: float, value_scale: float, rounds: int, questions: int, tail: float
) -> float:
    """The least distance at which a wrong answer has a chance of at most ``tail``, rounded up."""
    low, high = 0.0, (threshold_scale + value_scale) * np.log(2 * rounds * questions / tail)
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        wrong = chance_of_errors(
            middle,
            threshold_scale=threshold_scale,
            value_scale=value_scale,
            rounds=rounds,
            questions=questions,
        )
        low, high = (low, middle) if wrong <= tail else (middle, high)
    return float(high)


def chance_of_errors(
    distance: float, *, threshold_scale: float, value_scale: float, rounds: int, questions: int
) -> float:
    """At most this chance has a wrong answer at ``distance`` from the threshold, or any."""
    deep = min(distance / threshold_scale, _DEEPEST)
    ends = np.linspace(0.0, deep, _STEPS + 1)
    with np.errstate(divide="ignore"):
        law = np.exp(rounds * np.log1p(-np.exp(-ends)))
    left = np.maximum(distance - threshold_scale * ends[1:], 0.0)
    right = np.exp(questions * np.log1p(-np.exp(-left / value_scale) / 2))
    return float(min(1.0, 1.0 - np.diff(law) @ right * (1 - _LESS) + _LESS * _LESS))
