"""Exponential races: the exact choice of one candidate, by weights known only as exponents.

In a race of independent exponential clocks with rates w_i, clock i rings first with probability
w_i / sum(w). ``winner`` draws that outcome directly: it inverts the cumulative weights in double
precision with certified margins, and in integers where a draw falls within a margin.

Source: 000a:C7, 004a:B8. Proof: ``proofs/race.md``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.enclosure import exp_minus
from discreet.noise.randomness import SYSTEM, Noiseless, integer, words64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.core.parameters import Number
    from discreet.noise.randomness import Source

_WEIGHT_ERROR = 2.0**-38
_BLOCK = 1024
_SMALLEST_RATE = Fraction(1, 1 << 900)


def winner(
    scores: NDArray[np.float64] | NDArray[np.int64],
    rate: Fraction,
    size: int,
    source: Source = SYSTEM,
) -> NDArray[np.int64]:
    """``size`` independent winners; candidate i wins with probability ∝ exp(rate * scores[i]).

    Contract: ``scores`` is a one-dimensional array of finite numbers, taken exactly;
    ``rate > 0``. Guarantee: exactly the stated law.
    """
    best = int(np.argmax(scores))
    if isinstance(source, Noiseless):
        return np.full(size, best, dtype=np.int64)
    sums = _cumulative(np.exp(-gaps(scores, best, rate)))
    margin = (4 * _WEIGHT_ERROR + len(sums) // _BLOCK * 2.0**-50) * sums[-1]
    words = words64(source, size)
    targets = words * 2.0**-64 * sums[-1]
    found = np.searchsorted(sums, targets, side="right")
    picks: NDArray[np.int64] = np.minimum(found, len(sums) - 1).astype(np.int64)
    below = np.where(picks > 0, sums[picks - 1], -np.inf)
    doubtful = (targets - below < margin) | (sums[picks] - targets < margin)
    for i in np.flatnonzero(doubtful):
        picks[i] = _decide(scores, best, rate, int(words[i]), source)
    return picks


def gaps(
    scores: NDArray[np.float64] | NDArray[np.int64], best: int, rate: Fraction
) -> NDArray[np.float64]:
    """``rate * (scores[best] - scores)`` in double precision, at most 2**20.

    Numerics: below that the error is under 2**-50 of the value plus 2**-1000. A difference
    of floats that overflows is a gap above 2**20 at every rate left to double precision.
    """
    if not _SMALLEST_RATE < rate < 1 / _SMALLEST_RATE:
        return _slow_gaps(scores, best, rate)
    if scores.dtype.kind in "iu":
        # Differences of 64-bit integers fit unsigned 64-bit integers exactly.
        behind = (scores[best].astype(np.uint64) - scores.astype(np.uint64)).astype(np.float64)
    else:
        with np.errstate(over="ignore"):
            behind = np.subtract(scores[best], scores, dtype=np.float64)
    with np.errstate(over="ignore"):
        scaled: NDArray[np.float64] = np.minimum(behind * float(rate), 2.0**20)
    return scaled


def _slow_gaps(
    scores: NDArray[np.float64] | NDArray[np.int64], best: int, rate: Fraction
) -> NDArray[np.float64]:
    """The same where the rate leaves the range of double precision."""
    exactly = (exact_gap(scores, best, rate, i) for i in range(len(scores)))
    return np.array([float(min(gap, Fraction(1 << 20))) for gap in exactly])


def exact_gap(
    scores: NDArray[np.float64] | NDArray[np.int64], best: int, rate: Fraction, index: int
) -> Fraction:
    """The same for one candidate, as a rational."""
    return rate * (_rational(scores[best]) - _rational(scores[index]))


def _rational(value: Number | np.generic) -> Fraction:
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def _cumulative(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cumulative sums in blocks, so that rounding grows with the square root of the length."""
    blocks = -(-len(weights) // _BLOCK)
    padded = np.zeros(blocks * _BLOCK)
    padded[: len(weights)] = weights
    inside = padded.reshape(blocks, _BLOCK).cumsum(axis=1)
    before = np.concatenate(([0.0], inside[:, -1].cumsum()[:-1]))
    sums: NDArray[np.float64] = (inside + before[:, None]).reshape(-1)[: len(weights)]
    return np.maximum.accumulate(sums)


def _decide(
    scores: NDArray[np.float64] | NDArray[np.int64],
    best: int,
    rate: Fraction,
    word: int,
    source: Source,
) -> int:
    """The winner for one uniform number whose first 64 bits are given, in exact integers."""
    bits = 64
    while True:
        work = bits + 2 * len(scores).bit_length() + 8
        pairs = [exp_minus(exact_gap(scores, best, rate, i), work) for i in range(len(scores))]
        low = list(accumulate(pair[0] for pair in pairs))
        high = list(accumulate(pair[1] for pair in pairs))
        for i in range(len(pairs)):
            # U < (sum up to i) / total for certain, and not below the sum before i.
            if (word + 1) * high[-1] <= low[i] << bits:
                if i == 0 or word * low[-1] >= high[i - 1] << bits:
                    return i
                break
            if i == len(pairs) - 1 and (i == 0 or word * low[-1] >= high[i - 1] << bits):
                return i
        word = word << 64 | integer(source, 64)
        bits += 64
