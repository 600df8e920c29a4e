"""What each group gets of epsilon and delta, and that a key without people is never named."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from discreet.mechanisms.key_selection import (
    ConcentratedThreshold,
    GaussianThreshold,
    GeometricThreshold,
    OptimalSelection,
)
from discreet.noise import Seeded

KINDS = [GaussianThreshold, GeometricThreshold, OptimalSelection]
GROUPS = [(1, 1), (3, 1), (1, 2), (2, 2)]


def rule(kind: Any, *, delta: float, groups: int = 1, swaps: int = 1, **more: Any) -> Any:
    spend = {"rho": 0.5} if kind is ConcentratedThreshold else {"epsilon": 1.5}
    return kind(**spend, delta=delta, groups=groups, swaps=swaps, **more)


@pytest.mark.parametrize(("groups", "swaps"), GROUPS)
@pytest.mark.parametrize("kind", [*KINDS, ConcentratedThreshold])
@pytest.mark.parametrize("delta", [0.2, 1e-6])
def test_a_person_alone_in_all_their_groups_shows_with_at_most_delta(
    kind: Any, groups: int, swaps: int, delta: float
) -> None:
    shows = rule(kind, delta=delta, groups=groups, swaps=swaps).keep_probability(1)
    assert 0 < 1 - (1 - shows) ** groups <= delta * (1 + 1e-9)


@pytest.mark.parametrize(("groups", "swaps"), GROUPS)
@pytest.mark.parametrize("kind", [GeometricThreshold, OptimalSelection])
def test_rules_that_split_give_each_changed_group_its_part_of_delta(
    kind: Any, groups: int, swaps: int
) -> None:
    for delta in (0.3, 1e-4):
        shows = rule(kind, delta=delta, groups=groups, swaps=swaps).keep_probability(1)
        assert shows <= delta / (groups * swaps) * (1 + 1e-9)


@pytest.mark.parametrize("kind", [*KINDS, ConcentratedThreshold])
def test_a_key_without_people_is_never_named_however_low_the_threshold(kind: Any) -> None:
    made = rule(kind, delta=0.45, randomness=Seeded(7))
    assert not made.release(np.zeros(4000, dtype=np.int64)).chosen.any()
    assert made.release(np.full(4000, 2, dtype=np.int64)).chosen.any()
    assert made.keep_probability(0) == 0


@pytest.mark.parametrize("kind", [*KINDS, ConcentratedThreshold])
def test_a_public_minimum_shifts_the_rule_and_nothing_else(kind: Any) -> None:
    plain, shifted = rule(kind, delta=0.3), rule(kind, delta=0.3, min_people=4)
    for people in range(4, 12):
        assert shifted.keep_probability(people) == plain.keep_probability(people - 3)
    assert shifted.keep_probability(3) == 0
    draws = rule(kind, delta=0.3, min_people=4, randomness=Seeded(5))
    assert not draws.release(np.full(2000, 3, dtype=np.int64)).chosen.any()


def geometric_outcomes(made: GeometricThreshold, people: int) -> dict[int, float]:
    """The exact law of what is published for one key, -1 where nothing is."""
    rate, k = float(made.rate), made.bound
    weights = {x: math.exp(-rate * abs(x)) for x in range(-k, k + 1)}
    total = sum(weights.values())
    law = {-1: 0.0}
    for x, weight in weights.items():
        shown = people + x if people > 0 and people + x > k else -1
        law[shown] = law.get(shown, 0.0) + weight / total
    return law


@pytest.mark.parametrize(("groups", "epsilon", "delta"), [(1, 1.0, 0.05), (2, 1.0, 0.1)])
def test_names_and_counts_together_stay_within_epsilon_and_delta(
    groups: int, epsilon: float, delta: float
) -> None:
    """All outcomes of as many keys as a person has, with the person and without."""
    made = GeometricThreshold(epsilon=epsilon, delta=delta, groups=groups)
    for others in itertools.product(range(4), repeat=groups):
        without = [geometric_outcomes(made, n) for n in others]
        present = [geometric_outcomes(made, n + 1) for n in others]
        for first, second in ((present, without), (without, present)):
            excess = 0.0
            for outcome in itertools.product(*first):
                p = math.prod(law[o] for law, o in zip(first, outcome, strict=True))
                q = math.prod(law.get(o, 0.0) for law, o in zip(second, outcome, strict=True))
                excess += max(0.0, p - math.exp(epsilon) * q)
            assert excess <= delta * (1 + 1e-9)
