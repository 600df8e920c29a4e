"""Every mechanism faces the auditor; one that claims a sixth of what it spends is refuted.

Run by ``make audit``. Each case attacks with fresh system randomness on a pair of neighbours that
the mechanism's proof calls worst, or nearly. False alarms: 1e-9 per case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from discreet.audit import BrokenTwin, LearnedEvents, audit, check_pair
from discreet.audit.testers import Finding, bins, outcome, repeated
from discreet.mechanisms import (
    MONOTONE,
    AboveThreshold,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    NumericSparse,
    PermuteAndFlip,
    RandomizedResponse,
    Sparse,
    TruncatedGeometric,
)
from discreet.mechanisms.key_selection import GeometricThreshold, OptimalSelection
from discreet.mechanisms.quantiles import EXPONENTIAL, PERMUTE_AND_FLIP, Quantile, RankChoice
from discreet.mechanisms.robust import StableMode

CONFIDENCE = 1 - 1e-9
Many = Callable[[Any, int], Any]


@dataclass(frozen=True)
class Attack:
    """A family of mechanisms by epsilon, a pair of neighbours, and how to look at outputs."""

    name: str
    at: Callable[[float], Many]
    x: Any
    y: Any
    epsilon: float = 1.0
    delta: float = 0.0
    label: Callable[[Any], Any] = outcome
    trials: int = 200_000


def many(release: Callable[[Any], Any]) -> Many:
    """Coordinates of one array release are independent releases of one number."""
    return lambda value, trials: release(np.full(trials, value)).tolist()


def transcript(open_: Callable[[], Any]) -> Many:
    return repeated(lambda values: tuple(open_().ask_all(list(values))))


def medians(by: RankChoice) -> Callable[[float], Many]:
    """One group for each trial, all with the same histogram."""

    def at(epsilon: float) -> Many:
        median = Quantile(q=0.5, candidates=range(3), rank_sensitivity=1, epsilon=epsilon, by=by)
        return lambda counts, trials: median.release(np.tile(counts, (trials, 1))).tolist()

    return at


def numeric(mechanism: NumericSparse) -> Many:
    return repeated(lambda value: mechanism.open().ask(value))


def named(kind: type[OptimalSelection] | type[GeometricThreshold]) -> Callable[[float], Many]:
    """One key for each trial, all of the same number of people; None where it is not named."""

    def at(epsilon: float) -> Many:
        rule = kind(epsilon=epsilon, delta=0.01)

        def release(people: Any, trials: int) -> list[Any]:
            kept = rule.release(np.full(trials, people))
            counts = np.ones(trials, dtype=np.int64) if kept.counts is None else kept.counts
            return [int(n) if yes else None for yes, n in zip(kept.chosen, counts, strict=True)]

        return release

    return at


ATTACKS = [
    Attack("OptimalSelection", named(OptimalSelection), 1, 2, delta=0.01),
    Attack("GeometricThreshold", named(GeometricThreshold), 5, 4, delta=0.01),
    Attack("Quantile", medians(PERMUTE_AND_FLIP), (20, 0, 20), (20, 0, 21)),
    Attack("Quantile, exponential", medians(EXPONENTIAL), (20, 0, 20), (20, 0, 21)),
    Attack("Laplace", lambda e: many(Laplace(epsilon=e, sensitivity=1).release), 0, 1),
    Attack(
        "Laplace on reals",
        lambda e: many(Laplace(epsilon=e, sensitivity=1).release),
        0.25,
        1.25,
        label=bins([-1.0, 0.25, 0.75, 1.25, 3.0]),
    ),
    Attack(
        "DiscreteLaplace", lambda e: many(DiscreteLaplace(epsilon=e, sensitivity=1).release), 0, 1
    ),
    Attack(
        "Gaussian",
        lambda e: many(Gaussian(epsilon=e, delta=0.01, sensitivity=1).release),
        0,
        1,
        delta=0.01,
    ),
    Attack(
        "DiscreteGaussian",
        lambda e: many(DiscreteGaussian.calibrated(epsilon=e, delta=0.01, sensitivity=2).release),
        0,
        2,
        delta=0.01,
        epsilon=0.5,
    ),
    Attack(
        "TruncatedGeometric", lambda e: many(TruncatedGeometric(epsilon=e, size=9).release), 0, 1
    ),
    Attack(
        "Exponential",
        lambda e: repeated(Exponential(epsilon=e, sensitivity=1).release),
        (0, 1, 1, 1, 1, 1, 1, 1),
        (1, 0, 0, 0, 0, 0, 0, 0),
        trials=20_000,
    ),
    Attack(
        "PermuteAndFlip",
        lambda e: repeated(PermuteAndFlip(epsilon=e, sensitivity=1).release),
        (0, 1, 1, 1, 1, 1, 1, 1),
        (1, 0, 0, 0, 0, 0, 0, 0),
        trials=20_000,
    ),
    Attack(
        "NoisyMax",
        lambda e: repeated(NoisyMax(epsilon=e, sensitivity=1).release),
        (0, 1, 1, 1, 1, 1, 1, 1),
        (1, 0, 0, 0, 0, 0, 0, 0),
        trials=20_000,
    ),
    Attack(
        "NoisyMax of counts",
        lambda e: repeated(NoisyMax(epsilon=e, sensitivity=1, scores=MONOTONE).release),
        (0, 1, 1, 1, 1, 1, 1, 1),
        (0, 0, 0, 0, 0, 0, 0, 0),
        trials=20_000,
        epsilon=0.7,
    ),
    Attack(
        "RandomizedResponse",
        lambda e: many(RandomizedResponse(epsilon=e, categories=4).release),
        0,
        1,
    ),
    Attack(
        "AboveThreshold",
        lambda e: transcript(AboveThreshold(epsilon=e, threshold=0, sensitivity=1).open),
        (0,) * 8 + (1,),
        (1,) * 8 + (0,),
        trials=20_000,
        epsilon=1.5,
    ),
    Attack(
        "Sparse",
        lambda e: transcript(Sparse.pure(epsilon=e, cutoff=2, threshold=0, sensitivity=1).open),
        (0, 0, 0, 0, 1, 1),
        (1, 1, 1, 1, 0, 0),
        trials=20_000,
        epsilon=4.0,
    ),
    Attack(
        "NumericSparse",
        lambda e: numeric(NumericSparse(epsilon=e, cutoff=1, threshold=0, sensitivity=1)),
        0,
        1,
        label=lambda answer: None if answer is None else min(max(round(answer / 4), -2), 2),
        trials=80_000,
        epsilon=4.0,
    ),
    Attack(
        "StableMode",
        lambda e: repeated(StableMode(epsilon=e, delta=0.05).release),
        ("a",) * 3 + ("b",),
        ("a",) * 2 + ("b",),
        trials=20_000,
        delta=0.05,
    ),
]


@pytest.mark.audit
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_claim_survives_and_a_sixth_of_it_does_not(attack: Attack) -> None:
    def auditor(mechanism: Many) -> Finding:
        return audit(
            mechanism,
            attack.x,
            attack.y,
            epsilon=attack.epsilon,
            delta=attack.delta,
            events=LearnedEvents(attack.label),
            trials=attack.trials,
            confidence=CONFIDENCE,
        )

    twin = BrokenTwin(
        attack.name,
        sound=attack.at(attack.epsilon),
        broken=attack.at(6 * attack.epsilon),
        why="claims a sixth of what it spends",
    )
    check_pair(twin, auditor)
