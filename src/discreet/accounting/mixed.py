"""Optimal composition of mechanisms that differ: exact for few kinds, certified beyond.

Mechanism i is (loss_i, slack_i)-private and so post-processing of randomized response of odds
exp(loss_i) after a leak of probability slack_i. The privacy loss of all is the leak plus a sum of
independent terms ±loss_i. To compute its law is #P-complete in general (Murtagh, Vadhan), but

- with few kinds, each any number of times, all sums are listed (binomials within a kind);
- beyond that, each kind's law is moved to a common grid of losses. A point between two grid
  points is *split* over both so that its probability under either neighbour is kept: the original
  is then post-processing of the split one, so that the curve is an upper bound, and its error is
  of second order in the grid step. No loss moved by more than a step per kind: lower bound.

Numerics: sums of positive terms only, no Fourier transform, so that deltas of 1e-30 keep their
digits; masses are raised by more than their error, cut tails are added to delta.

Source: 004a:D13. Proof: ``proofs/composition.md``.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.accounting.binomial import log_masses, mass_from, mass_to, window
from discreet.accounting.optimal import optimal_delta, truth, with_leak
from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import (
    Number,
    count,
    delta_parameter,
    exact,
    nonnegative,
    rounded_down,
    rounded_up,
)
from discreet.core.search import crossing, greatest

if TYPE_CHECKING:
    from collections.abc import Sequence

Kinds: TypeAlias = tuple[tuple[Fraction, int], ...]

LISTED = 1 << 21
"""Most sums that are listed one by one; beyond it, the grid."""

_CELLS = 1 << 16
_FEWEST = 1 << 10
_FEW = 16
_WORK = 1 << 30
_DEVIATIONS = 15
_UNIT = 2.0**-50


@dataclass(frozen=True, kw_only=True)
class Copies:
    """``times`` mechanisms, each (loss, slack)-private."""

    loss: Number
    slack: Number
    times: int = 1

    def __post_init__(self) -> None:
        """Refuse numbers that are no privacy parameters."""
        object.__setattr__(self, "loss", nonnegative("loss", self.loss))
        object.__setattr__(self, "slack", delta_parameter("slack", self.slack))
        object.__setattr__(self, "times", count("times", self.times))


@dataclass(frozen=True)
class SumLaw:
    """Probabilities of sums of losses: an upper bound of a law, and how far above it may lie.

    True masses are at least ``masses / (1 + excess)``, but for ``lumped`` in all; ``cut`` bounds
    the mass at no loss listed; true losses lie within ``shift`` below those listed.
    """

    losses: Floats
    masses: Floats
    cut: float
    lumped: float
    excess: float
    shift: float

    def gap(self, epsilon: float) -> float:
        """The hockey-stick divergence at ``epsilon``, rounded up."""
        blur = _UNIT * (1 + np.abs(self.losses) + epsilon)
        share = np.minimum(blur - np.expm1(np.minimum(epsilon - self.losses, 0.0)), 1.0)
        counted = np.where(epsilon - blur < self.losses, self.masses * share, 0.0)
        return min(1.0, (float(np.sum(counted)) + self.cut) * (1 + 1e-12))

    def gap_below(self, epsilon: float) -> float:
        """The hockey-stick divergence at ``epsilon``, rounded down."""
        blur = _UNIT * (1 + np.abs(self.losses) + epsilon)
        share = -np.expm1(np.minimum(epsilon + self.shift + blur - self.losses, 0.0)) - _UNIT
        counted = self.masses * np.maximum(share, 0.0)
        return float(np.sum(counted)) * (1 - 1e-12) / (1 + self.excess) - self.lumped


def mixed_delta(parts: Sequence[Copies], *, epsilon: Number) -> float:
    """The least delta at ``epsilon`` of all parts together: exact for few kinds, rounded up."""
    kinds, leaks = _split(parts)
    at = exact(nonnegative("epsilon", epsilon))
    if sum(loss * k for loss, k in kinds) <= at:
        return with_leak(0.0, leaks)
    if len(kinds) == 1:
        ((loss, k),) = kinds
        return with_leak(optimal_delta(loss=loss, slack=0, times=k, epsilon=at), leaks)
    return with_leak(_law(kinds).gap(rounded_down(at)), leaks)


def mixed_epsilon(parts: Sequence[Copies], *, delta: Number) -> float:
    """The least epsilon at ``delta`` of all parts together: exact for few kinds, rounded up.

    >>> round(mixed_epsilon([Copies(loss=0.1, slack=1e-9, times=100)], delta=1e-6), 5)
    4.78772
    """
    target = rounded_down(exact(delta_parameter("delta", delta)))

    def curve(epsilon: float) -> float:
        return mixed_delta(parts, epsilon=epsilon)

    most = rounded_up(sum((exact(p.loss) * p.times for p in parts), Fraction(0)))
    if math.isinf(most) or curve(most) > target:
        return math.inf
    return crossing(curve, target, most)


def mixed_epsilon_bounds(parts: Sequence[Copies], *, delta: Number) -> tuple[float, float]:
    """A lower and an upper bound of the optimal epsilon; equal but for rounding if listed."""
    upper = mixed_epsilon(parts, delta=delta)
    kinds, leaks = _split(parts)
    if math.isinf(upper) or not kinds:
        return upper, upper
    target = rounded_up(exact(delta_parameter("delta", delta)))
    law = _law(kinds)
    leaked = -math.expm1(math.fsum(k * math.log1p(-float(leak)) for leak, k in leaks))

    def may_hold(epsilon: float) -> bool:
        reached = leaked + law.gap_below(epsilon) * (1 - leaked)
        return reached * (1 - 1e-12) <= target

    if may_hold(0.0):
        return 0.0, upper
    return greatest(lambda e: not may_hold(e), 0.0, upper), upper


def can_list_sums(kinds: Kinds) -> bool:
    """Whether all sums of these kinds are few enough to be listed."""
    return math.prod(k + 1 for _, k in kinds) <= LISTED


def _split(parts: Sequence[Copies]) -> tuple[Kinds, list[tuple[Fraction, int]]]:
    if not parts or not all(isinstance(part, Copies) for part in parts):
        raise InvalidParameter(
            code="copies_expected",
            expectation="at least one Copies, and nothing else",
            received=[type(part).__name__ for part in parts],
            remedy="Write [Copies(loss=0.1, slack=0, times=10), ...].",
        )
    losses: Counter[Fraction] = Counter()
    leaks: Counter[Fraction] = Counter()
    for part in parts:
        losses[exact(part.loss)] += part.times
        leaks[exact(part.slack)] += part.times
    kinds = tuple(sorted((loss, k) for loss, k in losses.items() if loss))
    return kinds, [(leak, k) for leak, k in leaks.items() if leak]


@lru_cache(maxsize=32)
def _law(kinds: Kinds) -> SumLaw:
    return _every_sum(kinds) if can_list_sums(kinds) else _on_grid(kinds)


def _every_sum(kinds: Kinds) -> SumLaw:
    losses, logs, excess = np.zeros(1), np.zeros(1), 0.0
    for loss, k in kinds:
        j = np.arange(k + 1, dtype=np.float64)
        log, error = log_masses(j, k, truth(float(loss)))
        losses = np.add.outer(losses, (2 * j - k) * float(loss)).ravel()
        logs = np.add.outer(logs, log + error).ravel()
        excess += float(np.max(2 * error + _UNIT * np.abs(log)))
    blur = _UNIT * len(kinds) * sum(float(loss) * k for loss, k in kinds)
    masses = np.exp(np.minimum(logs + excess, 0.0))
    return SumLaw(losses + blur, masses, 0.0, 0.0, math.expm1(3 * excess), 2 * blur)


def _on_grid(kinds: Kinds) -> SumLaw:
    """Convolve the kinds' laws on a grid that moves with the mean of the sum."""
    reach = _DEVIATIONS * math.sqrt(sum(float(loss) ** 2 * k for loss, k in kinds))
    cells = _CELLS
    while cells > _FEWEST and _work(kinds, cells, reach) > _WORK:
        cells //= 2
    step = 2 * reach / cells
    masses: Floats = np.zeros(cells + 1)
    cut, lumped, excess, origin = 0.0, 0.0, 0.0, -(cells // 2)
    masses[cells // 2] = 1.0
    for loss, k in kinds:
        first, kernel, lost, error = _kind(loss, k, step)
        drift = round(k * float(loss) * math.tanh(float(loss) / 2) / step)
        masses, outside, below = _added(masses, first - drift, kernel)
        cut += lost + outside
        lumped += below
        excess += 2 * error + 2 * _UNIT * len(kernel)
        origin += drift
    # Sums of so many positive terms are off by at most their number of units.
    raised = 1 + excess
    losses = (origin + np.arange(len(masses), dtype=np.float64)) * step
    shift = len(kinds) * step
    above = math.expm1(3 * excess)
    return SumLaw(losses, masses * raised, cut * raised, lumped * raised, above, shift)


def _work(kinds: Kinds, cells: int, reach: float) -> float:
    """How many products the convolutions take."""
    widths = ((k, 4 * _DEVIATIONS * float(loss) * math.sqrt(k)) for loss, k in kinds)
    return cells * sum(min(2.0 * (k + 1), width / reach * cells + 1) for k, width in widths)


def _kind(loss: Fraction, k: int, step: float) -> tuple[int, Floats, float, float]:
    """Probabilities of the sum of ``k`` terms ±loss on the grid, from a first cell on.

    Also the mass left out, and a bound of the relative error of the rest.
    """
    coin = truth(float(loss))
    bottom, top = window(k, coin)
    j = np.arange(bottom, top + 1, dtype=np.float64)
    log, error = log_masses(j, k, coin)
    mass = np.exp(np.minimum(log + error, 0.0))
    lost = mass_to(bottom - 1, k, coin) + mass_from(top + 1, k, coin)
    places = (2 * j - k) * (float(loss) / step)
    places += _UNIT * (1 + np.abs(places))
    lower = np.floor(places)
    # The share of the upper point that keeps both probabilities.
    within = np.minimum(places - lower, 1.0)
    up = mass * np.minimum(np.expm1(-within * step) / math.expm1(-step) * (1 + _UNIT), 1.0)
    cells = (lower - lower[0]).astype(np.intp)
    kernel = np.zeros(int(cells[-1]) + 2)
    np.add.at(kernel, cells, mass - up)
    np.add.at(kernel, cells + 1, up)
    return int(lower[0]), kernel, lost, float(np.max(error)) + _UNIT * 8


def _added(masses: Floats, first: int, kernel: Floats) -> tuple[Floats, float, float]:
    """The law of a sum with an independent term that starts at cell ``first``.

    What leaves at the top is returned apart; what leaves at the bottom goes to the lowest cell,
    which only raises losses, and is returned as well.
    """
    size = len(masses)
    used = np.flatnonzero(kernel)
    if 4 * len(used) > len(kernel) and len(used) > _FEW:
        wide = np.convolve(masses, kernel)
    else:
        wide = np.zeros(size + len(kernel) - 1)
        for i in used.tolist():
            wide[i : i + size] += kernel[i] * masses
    # wide[i] belongs to cell first + i of the new window [0, size).
    start, stop = max(0, -first), max(0, size - first)
    below, above = float(wide[:start].sum()), float(wide[stop:].sum())
    out = np.zeros(size)
    inside = wide[start:stop]
    out[max(0, first) : max(0, first) + len(inside)] = inside
    out[0] += below
    return out, above, below
