"""Which way to several quantiles, from public quantities alone."""

from __future__ import annotations

from typing import Any

from discreet.core.parameters import Number
from discreet.mechanisms.quantiles.choice import PERMUTE_AND_FLIP, RankChoice
from discreet.mechanisms.quantiles.recursive import RecursiveQuantiles
from discreet.mechanisms.quantiles.several import IndependentQuantiles, Several
from discreet.noise.randomness import SYSTEM, Source


def plan_quantiles(
    *,
    levels: Any,
    candidates: Any,
    rank_sensitivity: int,
    epsilon: Number,
    by: RankChoice = PERMUTE_AND_FLIP,
    randomness: Source = SYSTEM,
) -> Several:
    """The more accurate way to quantiles at these levels.

    One or two are answered independently; more are answered recursively, which divides epsilon
    into fewer parts and, inside a segment, aims at levels nearer to one half.

    >>> from discreet.mechanisms.quantiles import plan_quantiles
    >>> quartiles = plan_quantiles(
    ...     levels=[0.25, 0.5, 0.75], candidates=range(101), rank_sensitivity=1, epsilon=1
    ... )
    >>> quartiles.rounds
    2

    Source: modern-data:Q5, whose measurements the tests repeat.
    """
    independent = IndependentQuantiles(
        levels=levels,
        candidates=candidates,
        rank_sensitivity=rank_sensitivity,
        epsilon=epsilon,
        by=by,
        randomness=randomness,
    )
    if len(independent.levels) <= 2:
        return independent
    return RecursiveQuantiles(
        levels=independent.levels,
        candidates=independent.candidates,
        rank_sensitivity=rank_sensitivity,
        epsilon=epsilon,
        by=by,
        randomness=randomness,
    )
