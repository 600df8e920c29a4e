"""The exact law of DAWA's partitions, by convolution over the tree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.noise.randomness import SYSTEM
from discreet.queries.trees.noisy_partition import STEPS, NoisyPartition

Buckets = tuple[tuple[int, int], ...]
Weights = tuple[int, np.ndarray]
"""Where the support begins, in steps, and the probabilities from there."""
Cost = Callable[[np.ndarray], Fraction]
Scale = Callable[[int], float]
"""The noise on candidates of so many cells, in records; zero for none."""


def from_median(cells: np.ndarray) -> Fraction:
    return Fraction(int(min(abs(cells - middle).sum() for middle in cells)))


def from_mean(cells: np.ndarray) -> Fraction:
    return sum(
        (abs(Fraction(int(c)) - Fraction(int(cells.sum()), len(cells))) for c in cells), Fraction(0)
    )


def noisy(cost: Fraction, scale: float) -> Weights:
    centre = cost * STEPS
    assert centre.denominator == 1
    if scale == 0:
        return int(centre), np.ones(1)
    reach = math.ceil(40 * scale * STEPS)
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / (scale * STEPS))
    return int(centre) - reach, weights / weights.sum()


def above(law: Weights, points: np.ndarray, *, strictly: bool) -> np.ndarray:
    """The chance of more than, or of at least, each of some points."""
    start, weights = law
    tails = np.append(weights[::-1].cumsum()[::-1], 0.0)
    return np.asarray(tails[np.clip(points - start + strictly, 0, len(weights))])


def partition_law(
    counts: tuple[int, ...], cost: Cost, scale: Scale, price: Fraction
) -> dict[Buckets, float]:
    """The exact chance of every partition into halves, by convolution over the tree."""

    def at(low: int, high: int) -> dict[Buckets, Weights]:
        own = noisy(cost(np.array(counts[low:high])) + price, scale(high - low))
        if high - low == 1:
            return {((low, high),): own}
        middle = (low + high) // 2
        halves: dict[Buckets, Weights] = {}
        sides = itertools.product(at(low, middle).items(), at(middle, high).items())
        for (left, one), (right, other) in sides:
            halves[left + right] = one[0] + other[0], np.convolve(one[1], other[1])
        start = min(law[0] for law in halves.values())
        end = max(law[0] + len(law[1]) for law in halves.values())
        total = np.zeros(end - start)
        for first, weights in halves.values():
            total[first - start : first - start + len(weights)] += weights
        found = {
            part: (first, weights * above(own, first + np.arange(len(weights)), strictly=True))
            for part, (first, weights) in halves.items()
        }
        merged = own[1] * above((start, total), own[0] + np.arange(len(own[1])), strictly=False)
        found[((low, high),)] = own[0], merged
        return found

    return {part: float(weights.sum()) for part, (_, weights) in at(0, len(counts)).items()}


def loss(one: dict[Buckets, float], other: dict[Buckets, float]) -> float:
    """The largest logarithm of a ratio among partitions that are not astronomically rare."""
    return max(
        abs(math.log(one[part] / other[part]))
        for part in one
        if min(one[part], other[part]) > 1e-13
    )


def proved(epsilon: float, moved: int = 1) -> Scale:
    """The scales of the mechanism itself, as it draws them."""
    partition = NoisyPartition(Fraction(epsilon), moved, SYSTEM)
    return lambda cells: partition.noise(cells).scale(kind=int) / STEPS
