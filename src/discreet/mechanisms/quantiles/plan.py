"""Which way to several quantiles, from public quantities alone.

There are four. Each quantile alone costs a part of the budget for each of them; recursion costs a
part for each round; one joint choice pays once, but a row moves all of its score; a tree pays for
its height, however many quantiles are read from it. Which is best depends on the levels, on the
number of candidates and on the privacy definition. What each is expected to err by where there are
many rows depends on nothing else.

Source: modern-data:Q3, Q4, Q5, whose measurements the tests repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, exact
from discreet.mechanisms import grid
from discreet.mechanisms.quantiles.candidates import read_candidates
from discreet.mechanisms.quantiles.choice import EXPONENTIAL, PERMUTE_AND_FLIP, RankChoice
from discreet.mechanisms.quantiles.joint import JointQuantiles
from discreet.mechanisms.quantiles.recursive import RecursiveQuantiles
from discreet.mechanisms.quantiles.several import IndependentQuantiles, Several
from discreet.mechanisms.quantiles.targets import Proportion
from discreet.mechanisms.quantiles.tree import QuantileTree
from discreet.noise.randomness import SYSTEM, Source

Way: TypeAlias = type[Several]
Levels: TypeAlias = tuple[Fraction, ...]

_CHOOSING: tuple[Way, ...] = (IndependentQuantiles, RecursiveQuantiles, JointQuantiles)
WAYS: tuple[Way, ...] = (*_CHOOSING, QuantileTree)
"""From the simplest: of equals the first is taken."""


def plan_quantiles(
    *,
    levels: Any,
    candidates: Any,
    rank_sensitivity: int,
    epsilon: Number,
    by: RankChoice = PERMUTE_AND_FLIP,
    randomness: Source = SYSTEM,
) -> Several:
    """The most accurate way to quantiles at these levels, by the forecasts, at a pure epsilon.

    ``by=EXPONENTIAL`` leaves out what is not of bounded range.

    >>> from discreet.mechanisms.quantiles import plan_quantiles
    >>> common = {"candidates": range(1024), "rank_sensitivity": 1, "epsilon": 1}
    >>> [
    ...     type(plan_quantiles(levels=[i / n for i in range(1, n)], **common)).__name__
    ...     for n in (2, 3, 4, 100)
    ... ]
    ['IndependentQuantiles', 'JointQuantiles', 'RecursiveQuantiles', 'QuantileTree']

    Source: modern-data:Q5.
    """
    wanted, grid_of = read_levels(levels), read_candidates(candidates)
    return make_quantile_mechanism(
        pure_way(wanted, len(grid_of), by),
        levels=wanted,
        candidates=grid_of,
        rank_sensitivity=rank_sensitivity,
        epsilon=epsilon,
        by=by,
        randomness=randomness,
    )


def plan_concentrated_quantiles(
    *,
    levels: Any,
    candidates: Any,
    rank_sensitivity: int,
    rho: Number,
    randomness: Source = SYSTEM,
) -> Several:
    """The most accurate way at a price of rho under zCDP.

    Rounds then cost the square of their part each, so that ways of several rounds do better.

    >>> common = {"candidates": range(1024), "rank_sensitivity": 1, "rho": 0.125}
    >>> plan = plan_concentrated_quantiles(levels=[0.25, 0.5, 0.75], **common)
    >>> type(plan).__name__, plan.event.zcdp().rho <= 0.125
    ('RecursiveQuantiles', True)

    Source: modern-data:Q5, N2.
    """
    wanted, grid_of = read_levels(levels), read_candidates(candidates)
    way = concentrated_way(wanted, len(grid_of))
    price = 8 * exact(grid.ordinary("rho", rho)) * rounds_of(way, wanted)
    return make_quantile_mechanism(
        way,
        levels=wanted,
        candidates=grid_of,
        rank_sensitivity=rank_sensitivity,
        epsilon=1 / grid.sqrt_above(1 / price),
        by=EXPONENTIAL,
        randomness=randomness,
    )


def read_levels(levels: Any) -> Levels:
    """Levels as the fractions that are aimed at."""
    return tuple(Proportion.of(level).q for level in levels)


@lru_cache(maxsize=256)
def pure_way(levels: Levels, candidates: int, by: RankChoice = PERMUTE_AND_FLIP) -> Way:
    """The best of all ways at one epsilon, by the levels and the number of candidates."""
    ways = WAYS if by == PERMUTE_AND_FLIP else _CHOOSING
    return _best(ways, levels, candidates, by, lambda _: 1)


@lru_cache(maxsize=256)
def concentrated_way(levels: Levels, candidates: int) -> Way:
    """The best of all ways at one rho: with r rounds, epsilon may be greater by the root of r."""
    return _best(
        WAYS,
        levels,
        candidates,
        EXPONENTIAL,
        lambda way: 1 / grid.sqrt_above(Fraction(1, rounds_of(way, levels))),
    )


def rounds_of(way: Way, levels: Levels) -> int:
    """Into how many parts a way divides its epsilon."""
    return make_quantile_mechanism(
        way, levels=levels, candidates=(0,), rank_sensitivity=1, epsilon=1
    ).rounds


def make_quantile_mechanism(
    way: Way, *, by: RankChoice = PERMUTE_AND_FLIP, **common: Any
) -> Several:
    """A mechanism of this kind; one joint choice is always by the exponential mechanism."""
    return way(by=EXPONENTIAL if way is JointQuantiles else by, **common)


def _best(
    ways: tuple[Way, ...],
    levels: Levels,
    candidates: int,
    by: RankChoice,
    epsilon: Callable[[Way], Number],
) -> Way:
    if len(levels) == 1:
        return IndependentQuantiles
    found: list[tuple[float, Way]] = []
    for way in ways:
        try:
            mechanism = make_quantile_mechanism(
                way,
                levels=levels,
                candidates=range(candidates),
                rank_sensitivity=1,
                epsilon=epsilon(way),
                by=by,
            )
        except InvalidParameter:
            if way is IndependentQuantiles:
                raise
            continue  # too many outcomes, or levels too close for one choice
        found.append((mechanism.forecast(), way))
    return min(found, key=lambda option: option[0])[1]
