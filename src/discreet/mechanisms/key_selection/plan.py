"""Which rule finds most keys, from epsilon, delta and the groups of a person alone.

Rules are compared where one key in n (n + 1) has n people, the tail of most vocabularies. The
optimal rule and the truncated geometric win for one or two groups a person, normal noise from
three on.

Source: modern-data:P3 (planner).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number
from discreet.mechanisms.key_selection.gaussian import GaussianThreshold
from discreet.mechanisms.key_selection.geometric import GeometricThreshold
from discreet.mechanisms.key_selection.optimal import OptimalSelection
from discreet.mechanisms.key_selection.rule import KeySelectionRule
from discreet.noise import SYSTEM, Source

Kind: TypeAlias = type[OptimalSelection] | type[GeometricThreshold] | type[GaussianThreshold]

_ALWAYS_NORMAL = 32
"""Groups a person from which normal noise wins at every epsilon and delta of use."""


def plan_names(
    *,
    epsilon: Number,
    delta: Number,
    groups: int,
    swaps: int = 1,
    min_people: int = 1,
    randomness: Source = SYSTEM,
) -> KeySelectionRule:
    """The rule that names most keys; counts are not asked for."""
    return _best(OptimalSelection, epsilon, delta, groups, swaps)(
        epsilon=epsilon,
        delta=delta,
        groups=groups,
        swaps=swaps,
        min_people=min_people,
        randomness=randomness,
    )


def plan_counts(
    *,
    epsilon: Number,
    delta: Number,
    groups: int,
    swaps: int = 1,
    min_people: int = 1,
    randomness: Source = SYSTEM,
) -> KeySelectionRule:
    """The rule that names most keys together with their noisy counts."""
    return _best(GeometricThreshold, epsilon, delta, groups, swaps)(
        epsilon=epsilon,
        delta=delta,
        groups=groups,
        swaps=swaps,
        min_people=min_people,
        randomness=randomness,
    )


@lru_cache(maxsize=256)
def _best(first: Kind, epsilon: Number, delta: Number, groups: int, swaps: int) -> Kind:
    """``first`` or normal noise; a rule that is out of reach gives way to one that is not."""
    kinds: tuple[Kind, ...] = (first, GaussianThreshold)
    if groups * swaps == 1:
        return first
    if groups * swaps > _ALWAYS_NORMAL:
        return GaussianThreshold
    found: dict[Kind, float] = {}
    for kind in kinds:
        try:
            made = kind(epsilon=epsilon, delta=delta, groups=groups, swaps=swaps)
            found[kind] = made.compute_found_share()
        except InvalidParameter:
            found[kind] = 0.0
    return max(kinds, key=lambda kind: found[kind])
