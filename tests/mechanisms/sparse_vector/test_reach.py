"""How far a sparse vector can be wrong: never less than the law says, and not much more."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad

from discreet.core.guarantee import PureDP
from discreet.mechanisms import MONOTONE, Sparse
from discreet.mechanisms.scores import GENERAL
from discreet.mechanisms.sparse_vector.reach import chance_of_errors, reach_of_errors
from discreet.streams.alarms import Alarms
from discreet.streams.units import EventLevel

CASES = [(1.0, 1, 10, 0.05), (2.0, 1, 1000, 0.05), (2.0, 3, 100, 0.2), (1.0, 5, 1, 0.01)]


def bound_by_quadrature(x: float, t: float, rounds: int, questions: int) -> float:
    """The same expectation, by adaptive quadrature; the threshold's scale is one."""

    def inside(r: float) -> float:
        density = rounds * math.exp(-r) * (-math.expm1(-r)) ** (rounds - 1)
        return density * (1 - math.exp(-(x - r) / t) / 2) ** questions

    return 1 - quad(inside, 0, x, limit=400, epsabs=1e-13)[0]


def chance_all_below(x: float, t: float, questions: int) -> float:
    """One round, every value ``x`` below the threshold: the exact chance of a false alarm."""

    def silent(rho: float) -> float:
        gap = x + rho
        own = 1 - math.exp(-gap / t) / 2 if gap > 0 else math.exp(gap / t) / 2
        return math.exp(-abs(rho)) / 2 * own**questions

    parts = [(-60, -x), (-x, 0), (0, 60)]
    return 1 - sum(quad(silent, *each, limit=400, epsabs=1e-13)[0] for each in parts)


@pytest.mark.parametrize(("t", "rounds", "questions", "tail"), CASES)
def test_the_chance_is_never_below_its_law_and_hardly_above(
    t: float, rounds: int, questions: int, tail: float
) -> None:
    x = reach_of_errors(
        threshold_scale=1, value_scale=t, rounds=rounds, questions=questions, tail=tail
    )
    law = bound_by_quadrature(x, t, rounds, questions)
    given = chance_of_errors(
        x, threshold_scale=1, value_scale=t, rounds=rounds, questions=questions
    )
    assert law - 1e-10 <= given <= tail
    assert given <= law * 1.01
    assert law >= tail * 0.98
    exact = chance_all_below(x, t, questions)
    assert exact <= tail
    if rounds == 1:
        assert exact >= tail / 3  # the old bound: below a hundredth of it


@pytest.mark.parametrize(("t", "rounds", "questions", "tail"), CASES)
def test_forgetting_a_kind_of_noise_is_caught(
    t: float, rounds: int, questions: int, tail: float
) -> None:
    """Broken twins: the threshold's noise left out, or questions taken for one."""
    calm = reach_of_errors(
        threshold_scale=1e-6, value_scale=t, rounds=rounds, questions=questions, tail=tail
    )
    assert bound_by_quadrature(calm, t, rounds, questions) > tail
    if questions > 1:
        once = reach_of_errors(
            threshold_scale=1, value_scale=t, rounds=rounds, questions=1, tail=tail
        )
        assert bound_by_quadrature(once, t, rounds, questions) > tail


def test_the_reach_is_never_wider_than_the_printed_error() -> None:
    for scores in (GENERAL, MONOTONE):
        for cutoff in (1, 3, 10):
            for questions in (1, 10, 1000, 10**6):
                for confidence in (0.5, 0.95, 1 - 1e-12):
                    sparse = Sparse.pure(
                        epsilon=1, cutoff=cutoff, threshold=0, sensitivity=1, scores=scores
                    )
                    reach = sparse.reach(confidence=confidence, questions=questions)
                    stated = sparse.error(confidence=confidence, questions=questions)
                    assert reach <= stated * (1 + 1e-6)


def test_a_monitor_fails_about_as_often_as_it_says() -> None:
    """Windows of one tick, 20 ticks, all as far below as may be told wrongly one time in five.

    400 runs fail at most 80 times on average; six deviations more have a chance below 1e-8, and
    fewer than 8 failures one below 1e-6 (the exact chance of one run is above .06).
    """
    monitor = Alarms(
        threshold=10**4, window=1, alarms=1, spend=PureDP(epsilon=1), unit=EventLevel()
    )
    reach = math.ceil(monitor.error(ticks=20, confidence=0.8))
    failures = 0
    for _ in range(400):
        live = monitor.open()
        failures += bool(live.run([10**4 - reach] * 20).any())
    assert 8 <= failures <= 80 + 6 * math.sqrt(400 * 0.2 * 0.8)
