"""Shuffled reports of one bit each: the sum over all that is seen, over every count of the others.

Of binary randomized response only the number of ones is seen. With m others, k of whom hold a one,
T_k the law of Bin(k, p) + Bin(m - k, q), p = exp(loss) / (exp(loss) + 1) and q = 1 - p,

    delta_k = Σ_j max(0, (p - exp(epsilon) q) T_k(j - 1) - (exp(epsilon) p - q) T_k(j)),

and delta is the largest over k: exact, where the blanket of :mod:`discreet.accounting.shuffle`
gives away which reports are no coin flips (21 % more epsilon at loss 1). Where people are many, k
is looked at in steps of s: whoever knows the reports of s - 1 of the others learns no less, so each
k in a step costs at most what the least of it does with s - 1 people fewer.

Numerics: masses are bounded from above and below, products are sums of positive terms, and cut
tails are added.

Source: 004a:C36. Proof: ``proofs/shuffle.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.accounting.binomial import BiasedCoin, log_masses, mass_from, mass_to, window
from discreet.core.arrays import Floats

_MARGIN = 1e-12
_UNIT = 2.0**-50
_POINTS = 256
_FEWER = 64
_SOME = 1 << 14
MOST_PEOPLE = 1 << 16
"""More people cost no more than so many."""
LARGEST = 30.0
"""The largest loss that is looked at; beyond, reports are nearly open."""


@dataclass(frozen=True)
class Ones:
    """Laws of the number of ones among others: a row for each count of those who hold one.

    ``raised`` is at least the law, but for a mass of at most ``tail`` that it leaves out; times
    ``sure`` it is at most the law.
    """

    raised: Floats
    sure: float
    tail: float


def bits_delta(loss: float, people: int, epsilon: float) -> float:
    """Delta of so many shuffled bits, rounded up.

    Contract: 0 <= epsilon < loss <= LARGEST.
    """
    ones = ones_among_others(loss, min(people, MOST_PEOPLE))
    fall = math.exp(-loss)
    gain = -math.expm1(epsilon - loss) / (1 + fall) * (1 + _MARGIN)
    lost = (math.expm1(epsilon) - math.expm1(-loss)) / (1 + fall) * (1 - _MARGIN)
    ahead = gain * np.pad(ones.raised, ((0, 0), (1, 0)))
    ahead -= lost * ones.sure * np.pad(ones.raised, ((0, 0), (0, 1)))
    largest = float(np.maximum(ahead, 0.0).sum(axis=1).max())
    return min(1.0, (largest + gain * ones.tail) * (1 + _MARGIN))


@lru_cache(maxsize=8)
def ones_among_others(loss: float, people: int) -> Ones:
    """The laws for all counts of the others, or for the least of each step with so many fewer."""
    step = math.ceil(people / (_POINTS if people <= _SOME else _FEWER))
    others = people - step
    fall = math.exp(-loss)
    coin = BiasedCoin(1 / (1 + fall), fall / (1 + fall))
    held = sorted({*range(0, others + 1, step), others})
    rows, sure, tail = [], 1.0, 0.0
    for k in held:
        first, second = _masses(k, coin), _masses(others - k, coin.turned())
        joined = np.convolve(first.raised, second.raised)
        terms = 4 * _UNIT * min(len(first.raised), len(second.raised))
        rows.append(joined * (1 + terms))
        sure = min(sure, first.sure * second.sure * (1 - 2 * terms))
        tail = max(tail, first.tail + second.tail)
    wide = max(map(len, rows))
    return Ones(np.array([np.pad(row, (0, wide - len(row))) for row in rows]), sure, tail)


def _masses(trials: int, coin: BiasedCoin) -> Ones:
    """The binomial masses of one coin inside its window, raised."""
    if trials == 0:
        return Ones(np.ones(1), 1.0, 0.0)
    low, high = window(trials, coin)
    log, error = log_masses(np.arange(low, high + 1, dtype=np.float64), trials, coin)
    raised = np.exp(log + error) * (1 + 4 * _UNIT) + 5e-324
    tail = mass_to(low - 1, trials, coin) if low else 0.0
    if high < trials:
        tail += mass_from(high + 1, trials, coin)
    return Ones(np.asarray(raised), math.exp(-2 * float(error.max())) * (1 - 16 * _UNIT), tail)
