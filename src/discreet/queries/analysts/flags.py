"""What the sampled game costs an analyst: the dynamic programme over flagged draws.

Two worlds differ in one query (or one analyst). Each hidden draw falls, with probability at most
``share``, on what differs: such a draw is *flagged*, by a coin independent of all else. With K_t
flags before round t the points of round t have log-weights that differ within h K_t, where
h = eta_x / b_q, and the published points cost rho(F) = b_x h**2 / 8 times the sum of K_t**2. So

    delta(epsilon) <= E[ 1{F not empty} delta_z(epsilon; rho(F)) ]                 (flags shown)
    delta(epsilon) <= E[ 1{F not empty} delta_z(ln(1 + (e^epsilon - 1) / gamma); rho(F)) ]  (hidden)

where delta_z is the curve of zCDP and gamma the chance of any flag. Only two numbers matter:
``flags`` = -J ln(1 - share), about the expected number of flags, and ``pull`` = h sqrt(M).

Numerics, all upward: coins are replaced by a Poisson process of the same chance of no flag, which
dominates them; time is cut into blocks at whose start all flags of the block arrive; sums of
squares are moved up to a grid; cut tails are added to delta.

Source: analysts-verified:H4 (P2). Proof: ``proofs/analysts-sampled-game.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, nonnegative, positive, probability
from discreet.core.search import greatest_above_zero

BLOCKS = 40
MOST_FLAGS = 64.0
_TAIL = 1e-14
_BINS = 1 << 14
_FINE = 1.001
_UP = 1 + 1e-9


def expected_flags(*, draws: int, share: Number) -> float:
    """-J ln(1 - share), rounded up: the Poisson rate with the same chance of no flag at all."""
    return -count("draws", draws) * math.log1p(-float(probability("share", share))) * _UP


def shown_delta(*, flags: float, pull: float, epsilon: float) -> float:
    """Delta at ``epsilon``, by the bound that gives the flags away. Rounded up."""
    return _expected(flags, pull, float(nonnegative("epsilon", epsilon)))


def hidden_delta(*, flags: float, pull: float, epsilon: float) -> float:
    """Delta at ``epsilon``, by the bound that hides them: never above the other. Rounded up."""
    any_flag = -math.expm1(-float(positive("flags", flags))) * _UP
    larger = math.log1p(math.expm1(float(nonnegative("epsilon", epsilon))) / any_flag)
    return _expected(flags, pull, larger * (1 - 1e-12))


def most_pull(
    *, flags: float, epsilon: float, delta: float, curve: Callable[..., float] = hidden_delta
) -> float:
    """The largest pull whose delta at ``epsilon`` is at most ``delta``, by a curve above.

    >>> round(most_pull(flags=1, epsilon=1, delta=1e-6), 2)
    0.21
    """
    wanted = float(probability("delta", delta))
    if wanted <= 4 * _TAIL:
        raise InvalidParameter(
            code="delta_out_of_range",
            expectation=f"a delta above {4 * _TAIL}",
            received=wanted,
            remedy="Choose a larger delta for the analysts.",
        )

    def stays_within_delta(pull: float) -> bool:
        return curve(flags=flags, pull=pull, epsilon=epsilon) <= wanted

    return greatest_above_zero(stays_within_delta, close=1e-6)


@dataclass(frozen=True, eq=False)
class SquaresLaw:
    """Masses of the mean square of K over blocks, given any flag, and the mass that was cut."""

    squares: Floats
    masses: Floats
    cut: float


@lru_cache(maxsize=256)
def squares_law(flags: float, blocks: int = BLOCKS) -> SquaresLaw:
    """The law of the mean of K**2, K the flags up to the end of each block; moved upward."""
    rate = float(positive("flags", flags))
    if rate > MOST_FLAGS:
        raise InvalidParameter(
            code="flags_too_many",
            expectation=f"at most {MOST_FLAGS} expected draws of one query or analyst",
            received=rate,
            remedy="Use fewer draws, a larger s, or the expected game.",
        )
    most = _quantile(rate, _TAIL)
    step = max(1.0, blocks * most**2 / _BINS)
    # Whole bins if sums of squares fit; otherwise each square is moved up to the next bin.
    jumps = np.ceil(np.arange(most + 1) ** 2 / step).astype(np.int64)
    bins = int(jumps[-1]) * blocks + 1
    arrivals = _poisson(rate / blocks, min(most, _quantile(rate / blocks, _TAIL / blocks)))
    distribution = np.zeros((most + 1, bins))
    distribution[0, 0] = 1.0
    top = 1
    for _ in range(blocks):
        spread = arrivals[0] * distribution[:, :top]
        for more, chance in enumerate(arrivals[1:], start=1):
            spread[more:] += chance * distribution[:-more, :top]
        reached = min(bins, top + int(jumps[-1]))
        distribution[:, :reached] = 0.0
        for k, jump in enumerate(jumps):
            width = min(top, reached - jump)
            distribution[k, jump : jump + width] = spread[k, :width]
        top = reached
    total = distribution.sum(axis=0)
    squares = np.arange(1, top) * step / blocks
    places, masses = _merge_close_points(squares, total[1:top] * _UP)
    # Points that together weigh less than the tail are cut as well.
    kept = masses > _TAIL / _BINS
    return SquaresLaw(places[kept], masses[kept], 3 * _TAIL)


def _quantile(rate: float, tail: float) -> int:
    """A number that a Poisson variable exceeds with probability below ``tail``."""
    most = 1

    # Chernoff: P(N >= k) <= exp(-rate) (e rate / k)**k for k > rate.
    def exponent(least: int) -> float:
        return -rate + least * (1 + math.log(rate / least))

    while most + 1 <= rate or exponent(most + 1) > math.log(tail):
        most += 1
    return most


def _poisson(rate: float, most: int) -> Floats:
    places = np.arange(most + 1)
    factorials = np.array([math.lgamma(k + 1) for k in range(most + 1)])
    return np.asarray(np.exp(places * math.log(rate) - rate - factorials))


def _merge_close_points(squares: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Fewer points: each is moved up to the next of a geometric grid."""
    place = np.ceil(np.log(squares) / math.log(_FINE) - 1e-9).astype(np.int64)
    kinds, where = np.unique(place, return_inverse=True)
    gathered = np.bincount(where, weights=masses).astype(np.float64)
    return np.asarray(_FINE**kinds * _UP, dtype=np.float64), gathered


def _expected(flags: float, pull: float, epsilon: float) -> float:
    distribution = squares_law(float(flags))
    rhos = float(pull) ** 2 / 8 * distribution.squares
    return min(
        1.0, float(distribution.masses @ zcdp_deltas(rhos, epsilon)) * _UP + distribution.cut
    )


def zcdp_deltas(rhos: Floats, epsilon: float) -> Floats:
    """The curve of zCDP at many rhos: any order is a bound, a search finds a good one."""
    golden = (math.sqrt(5) - 1) / 2
    low = np.full(rhos.shape, math.log(1e-6))
    high = np.full(rhos.shape, math.log(1e9))

    def at(point: Floats) -> Floats:
        excess = np.exp(point)
        inner = (1 + excess) * rhos - epsilon - np.log1p(1 / excess)
        return np.asarray(excess * inner - np.log1p(excess))

    inner, outer = high - golden * (high - low), low + golden * (high - low)
    left, right = at(inner), at(outer)
    for _ in range(40):
        down = left <= right
        high, low = np.where(down, outer, high), np.where(down, low, inner)
        inner, outer = high - golden * (high - low), low + golden * (high - low)
        left, right = at(inner), at(outer)
    return np.asarray(np.minimum(1.0, np.exp(np.minimum(left, right)) * _UP))
