"""What private optimisation promises and what it cannot do, before anything is spent.

Losses are sums over rows, each of slope at most ``lipschitz``, over a ball of ``radius`` around the
start, unless a name says otherwise. Bounds have constants and hold; rates and floors are orders of
magnitude, whose constants the theorems leave open.

Source: 004b:C6, C8, C11, C16, C17. Errata: 004b:C8 (the strongly convex rate has L squared), C11
(the noise is normal).
"""

from __future__ import annotations

import math

import numpy as np

from discreet.accounting.binomial import BiasedCoin, log_masses
from discreet.core.parameters import count, finite, positive, probability
from discreet.theory.calculator import calculator

_BLOCKS = 1 << 13


@calculator
def descent_excess(
    *,
    rows: int,
    dimension: int,
    epsilon: float,
    delta: float,
    lipschitz: float = 1.0,
    radius: float = 1.0,
    steps: int | None = None,
) -> float:
    """How far above the least loss noisy gradient descent ends, in expectation, at most.

    For a convex sum of losses, the mean of all points, and the multiplier of the book's theorem,
    sqrt(2 T (ln(1/delta) + epsilon))/epsilon; noise that is priced exactly does better. Without
    ``steps``, as many as n**2 epsilon**2 / p: more steps do not hurt. Where losses read a row only
    through products with it, and nothing is projected, the dimension may be the rank of the
    features: noise beyond their span moves no loss. It is at most ``rows``.

    >>> round(descent_excess(rows=1000, dimension=10, epsilon=1, delta=1e-5), 5)
    16.13253
    """
    n, p = count("rows", rows), count("dimension", dimension)
    loss, failure = float(positive("epsilon", epsilon)), float(probability("delta", delta))
    slope, size = float(positive("lipschitz", lipschitz)), float(positive("radius", radius))
    taken = math.ceil(n**2 * loss**2 / p) if steps is None else count("steps", steps)
    noise = 2 * p * (math.log(1 / failure) + loss) / loss**2
    return slope * size * math.sqrt(n**2 / taken + noise)


@calculator
def multiplicity_cap(*, rows: int, draws: int, failure: float) -> int:
    """How often one row is drawn at most, with replacement, unless with probability ``failure``.

    Tails of one row, rounded up, and a union over rows. A stream of draws has a sensitivity of so
    many events, and the failure belongs to its delta.

    >>> multiplicity_cap(rows=1000, draws=1000, failure=1e-6)
    11
    """
    n, many = count("rows", rows), count("draws", draws)
    wanted = math.log(float(probability("failure", failure)) / n)
    if n == 1:
        return many
    # A median is at least the mean, rounded down: caps below it fail more often than half the time.
    low, high, coin = many // n, many, BiasedCoin(1 / n, 1 - 1 / n)
    while low < high:
        cap = (low + high) // 2
        kept = _log_tail(many, coin, cap + 1) <= wanted
        low, high = (low, cap) if kept else (cap + 1, high)
    return low


def _log_tail(draws: int, coin: BiasedCoin, least: int) -> float:
    """The logarithm of Pr[Binomial >= least], rounded up; ``least`` is above the mean, nearly.

    In blocks, each bounded by its first mass and first ratio of neighbours, which falls: within
    1e-4, and exact but for rounding up to a deviation of 512. The last block goes on for ever.
    """
    block = max(1, int(math.sqrt(draws * coin.p * coin.q)) // 256)
    blocks = min((draws - least) // block + 1, _BLOCKS)
    starts = float(least) + block * np.arange(blocks, dtype=np.float64)
    log, error = log_masses(starts, draws, coin)
    ratios = (draws - starts) / (starts + 1) * (coin.p / coin.q) * (1 + 1e-12)
    first = float(log[0] + error[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        several = np.where(ratios < 1, (1 - ratios**block) / (1 - ratios), float(block))
    if ratios[-1] < 1:
        several[-1] = 1 / (1 - ratios[-1])
    return first + math.log(float(np.exp(log + error - first) @ several)) + 1e-9


@calculator
def risk_of_regret(*, regret: float, draws: int, span: float, failure: float) -> float:
    """The excess risk of the mean point of a stream of independent draws, at most.

    For convex losses within an interval of length ``span``: regret/n and two deviations of
    martingales (Azuma and Hoeffding), one of the points' losses and one of the best point's. For
    draws with replacement from a table it is the risk on that table; for draws from a population
    the risk there. ``FollowTheLeader.regret`` is a regret that is known before rows are.

    >>> round(risk_of_regret(regret=100, draws=10_000, span=1, failure=0.05), 4)
    0.0372
    """
    n, width = count("draws", draws), float(positive("span", span))
    missed = float(probability("failure", failure))
    return float(finite("regret", regret)) / n + width * math.sqrt(2 * math.log(2 / missed) / n)


@calculator
def strongly_convex_rate(
    *,
    rows: int,
    dimension: int,
    epsilon: float,
    delta: float,
    curvature: float,
    lipschitz: float = 1.0,
) -> float:
    """The order of the excess of a sum of strongly convex losses, by noisy gradient descent.

    L**2 p ln(n/delta)**2 / (curvature n epsilon**2). With ``delta`` zero, by localising and then
    sampling, L**2 p**2 ln(n) / (curvature n epsilon**2).
    """
    n, p = count("rows", rows), count("dimension", dimension)
    loss, bend = float(positive("epsilon", epsilon)), float(positive("curvature", curvature))
    unit = float(positive("lipschitz", lipschitz)) ** 2 / (bend * n * loss**2)
    if delta == 0:
        return unit * p**2 * math.log(n)
    return unit * p * math.log(n / float(probability("delta", delta))) ** 2


@calculator
def risk_rate(
    *,
    rows: int,
    dimension: int,
    epsilon: float,
    delta: float,
    strongly_convex: bool = False,
) -> float:
    """The order of the least excess risk on the population, for an average loss on the unit ball.

    1/sqrt(n) + sqrt(p ln(1/delta))/(epsilon n); strongly convex, the squares of both. The first
    part is there without privacy too: where it is the larger one, privacy is free.

    >>> rate = risk_rate(rows=10**6, dimension=10, epsilon=1, delta=1e-6)
    >>> round(rate * 1000, 3)
    1.012
    """
    n, p, loss, spare = _sizes(rows, dimension, epsilon, delta)
    sampled, private = 1 / math.sqrt(n), math.sqrt(p * spare) / (loss * n)
    return sampled**2 + private**2 if strongly_convex else sampled + private


@calculator
def l1_risk_rate(*, rows: int, dimension: int, epsilon: float, delta: float) -> float:
    """The same on the L1 ball, as for the lasso: the dimension counts by its logarithm alone.

    sqrt(ln(p)/n) + sqrt(ln(p) ln(1/delta)) / (n epsilon)**(2/3).
    """
    n, p, loss, spare = _sizes(rows, dimension, epsilon, delta)
    private = math.sqrt(math.log(p) * spare) / math.pow(n * loss, 2 / 3)
    return math.sqrt(math.log(p) / n) + private


@calculator
def marginals_floor(*, rows: int, dimension: int, epsilon: float, delta: float) -> float:
    """The order of the error in p one-way marginals that nobody gets below, as a share of rows.

    min(1, p/(epsilon n)) for pure privacy, with probability one half; min(1, sqrt(p)/(epsilon n))
    where delta is positive and well below 1/n, with probability one third.
    """
    n, p = count("rows", rows), count("dimension", dimension)
    loss = float(positive("epsilon", epsilon))
    hard = p if delta == 0 else math.sqrt(p)
    if delta:
        probability("delta", delta)
    return min(1.0, float(hard) / (loss * n))


@calculator
def excess_floor(*, rows: int, dimension: int, epsilon: float, delta: float) -> float:
    """The order of the least excess of a sum of linear losses on the unit ball.

    ``rows`` times :func:`marginals_floor`: for losses -<theta, d_i> the excess is
    |sum d| (1 - <theta, theta*>) >= |sum d| |theta - theta*|**2 / 2.
    """
    n = count("rows", rows)
    return n * marginals_floor(rows=n, dimension=dimension, epsilon=epsilon, delta=delta)


def _sizes(
    rows: int, dimension: int, epsilon: float, delta: float
) -> tuple[int, int, float, float]:
    failure = float(probability("delta", delta))
    size, loss = count("dimension", dimension), float(positive("epsilon", epsilon))
    return count("rows", rows), size, loss, math.log(1 / failure)
