"""The black-box auditor refutes broken twins and spares sound mechanisms.

A sound mechanism is refuted with probability at most 1 − confidence, set from ``alpha``, the
share of ``conftest.SUITE`` (1e-6 in all).
"""

import math
from collections.abc import Callable
from operator import itemgetter

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from discreet.audit import (
    BrokenTwin,
    Finding,
    GivenEvents,
    LearnedEvents,
    audit,
    bins,
    check_pair,
    outcome,
    repeated,
)
from discreet.audit.testers import epsilon_lower_bound, lower_limit, upper_limit
from discreet.core.errors import InvalidParameter

Generator = np.random.Generator
Integers = NDArray[np.int64]
TRIALS = 40_000


def geometric(rng: Generator, epsilon: float, size: int | tuple[int, ...]) -> Integers:
    success = 1 - math.exp(-epsilon)
    return rng.geometric(success, size) - rng.geometric(success, size)


def response(rng: Generator, truth: float) -> Callable[[int, int], Integers]:
    return lambda bit, n: np.where(rng.random(n) < truth, bit, 1 - bit)


def test_clopper_pearson_limits_cover_the_true_probability_by_enumeration() -> None:
    trials, alpha = 30, 0.05
    successes = range(trials + 1)
    for p in np.linspace(0.01, 0.99, 50):
        chance = binom.pmf(np.arange(trials + 1), trials, p)
        above = np.array([lower_limit(s, trials, alpha=alpha) > p for s in successes])
        below = np.array([upper_limit(s, trials, alpha=alpha) < p for s in successes])
        assert chance[above].sum() <= alpha
        assert chance[below].sum() <= alpha


def test_limits_refuse_impossible_counts() -> None:
    with pytest.raises(InvalidParameter, match="not_a_count"):
        lower_limit(11, 10, alpha=0.1)


def test_the_bound_approaches_ln3_for_warner_and_never_needs_delta_for_less() -> None:
    n = 10**8
    bound = epsilon_lower_bound(3 * n // 4, n // 4, n, delta=0, confidence=0.999)
    assert math.log(3) - 1e-3 < bound < math.log(3)
    assert epsilon_lower_bound(n // 4, 3 * n // 4, n, delta=0, confidence=0.999) == 0
    assert epsilon_lower_bound(3 * n // 4, n // 4, n, delta=0.6, confidence=0.999) == 0


def test_randomised_response_is_spared_and_a_more_truthful_one_refuted(
    rng: Generator, alpha: float
) -> None:
    twin = BrokenTwin(
        "Warner coin", response(rng, 0.75), response(rng, 0.8), why="ratio 4 where 3 is claimed"
    )

    def auditor(mechanism: Callable[[int, int], Integers]) -> Finding:
        return audit(
            mechanism,
            0,
            1,
            epsilon=math.log(3),
            delta=0,
            events=LearnedEvents(outcome),
            trials=TRIALS,
            confidence=1 - alpha,
        )

    check_pair(twin, auditor)


def test_geometric_noise_of_half_the_scale_is_refuted(rng: Generator, alpha: float) -> None:
    twin = BrokenTwin[Callable[[int, int], Integers]](
        "geometric count",
        lambda x, n: x + geometric(rng, 0.5, n),
        lambda x, n: x + geometric(rng, 1.0, n),
        why="true epsilon is twice the claim",
    )

    def auditor(mechanism: Callable[[int, int], Integers]) -> Finding:
        return audit(
            mechanism,
            10,
            11,
            epsilon=0.5,
            delta=0,
            events=LearnedEvents(outcome),
            trials=TRIALS,
            confidence=1 - alpha,
        )

    check_pair(twin, auditor)
    assert auditor(twin.broken).witness is not None


def test_releasing_the_winning_noisy_count_is_refuted(rng: Generator, alpha: float) -> None:
    """000a:C6: the winner's index is private, its compared value is not free."""

    def index(counts: tuple[int, ...], n: int) -> Integers:
        noisy = np.array(counts) + rng.laplace(size=(n, len(counts)))
        return np.asarray(np.argmax(noisy, axis=1), dtype=np.int64)

    def value(counts: tuple[int, ...], n: int) -> Integers:
        noisy = np.array(counts) + rng.laplace(size=(n, len(counts)))
        return np.asarray(np.floor(np.max(noisy, axis=1)), dtype=np.int64)

    def auditor(mechanism: Callable[[tuple[int, ...], int], Integers]) -> Finding:
        return audit(
            mechanism,
            (0,) * 5,
            (1,) * 5,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=TRIALS,
            confidence=1 - alpha,
        )

    check_pair(BrokenTwin("noisy max", index, value, why="ratio e^(5 epsilon) below zero"), auditor)


def test_sparse_vector_without_query_noise_is_refuted(rng: Generator, alpha: float) -> None:
    """000a:E1, E3: the pattern of answers of AboveThreshold on (0, …, 0, 1) and (1, …, 1, 0)."""

    def above_threshold(query_scale: float) -> Callable[[tuple[int, ...], int], Integers]:
        def run(queries: tuple[int, ...], n: int) -> Integers:
            threshold = rng.laplace(scale=2.0, size=(n, 1))
            noise = query_scale * rng.laplace(size=(n, len(queries)))
            above = np.array(queries) + noise >= threshold
            return np.where(above.any(axis=1), above.argmax(axis=1), len(queries))

        return run

    def auditor(mechanism: Callable[[tuple[int, ...], int], Integers]) -> Finding:
        return audit(
            mechanism,
            (0, 0, 0, 1),
            (1, 1, 1, 0),
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=TRIALS,
            confidence=1 - alpha,
        )

    twin = BrokenTwin(
        "sparse vector", above_threshold(4.0), above_threshold(0.0), why="no query noise"
    )
    check_pair(twin, auditor)


def test_naive_floating_point_laplace_is_refuted_by_its_low_order_bits(
    rng: Generator, alpha: float
) -> None:
    """000a:A11: adding noise to 1 rounds away bits that noise added to 0 keeps."""
    grid = 2.0**-20

    def naive(x: float, n: int) -> NDArray[np.float64]:
        return x + rng.laplace(size=n)

    def on_grid(x: float, n: int) -> NDArray[np.float64]:
        return np.asarray(x + grid * geometric(rng, grid, n), dtype=np.float64)

    def auditor(mechanism: Callable[[float, int], NDArray[np.float64]]) -> Finding:
        return audit(
            mechanism,
            0.0,
            1.0,
            epsilon=1,
            delta=0,
            events=GivenEvents({"finer than at one": lambda z: (z - 1) + 1 != z}),
            trials=TRIALS,
            confidence=1 - alpha,
        )

    check_pair(BrokenTwin("Laplace", on_grid, naive, why="outputs betray their exponent"), auditor)


def test_a_gaussian_claim_is_refuted_by_a_threshold_of_many_bins(
    rng: Generator, alpha: float
) -> None:
    """Sigma 3.73063 is exactly (1, 1e-5) at sensitivity 1 (004a:B7); sigma 0.7 is far from it."""
    twin = BrokenTwin[Callable[[float, int], NDArray[np.float64]]](
        "gaussian",
        lambda x, n: rng.normal(x, 3.73063, n),
        lambda x, n: rng.normal(x, 0.7, n),
        why="noise too small",
    )

    def auditor(mechanism: Callable[[float, int], NDArray[np.float64]]) -> Finding:
        return audit(
            mechanism,
            0.0,
            1.0,
            epsilon=1,
            delta=1e-5,
            events=LearnedEvents(bins(np.linspace(-10, 10, 81).tolist())),
            trials=TRIALS,
            confidence=1 - alpha,
        )

    check_pair(twin, auditor)


def test_a_mechanism_that_names_its_input_with_probability_delta_is_caught_beyond_delta(
    rng: Generator, alpha: float
) -> None:
    def leaky(rate: float) -> Callable[[int, int], Integers]:
        return lambda x, n: np.where(rng.random(n) < rate, x + 100, 0)

    def auditor(mechanism: Callable[[int, int], Integers]) -> Finding:
        return audit(
            mechanism,
            0,
            1,
            epsilon=3,
            delta=0.01,
            events=LearnedEvents(outcome),
            trials=TRIALS,
            confidence=1 - alpha,
        )

    check_pair(BrokenTwin("leak", leaky(0.01), leaky(0.05), why="leaks five times delta"), auditor)


def test_true_claims_are_refuted_no_more_often_than_stated(rng: Generator, alpha: float) -> None:
    """The claim is tight: three is the true ratio."""
    refuted = 0
    for _ in range(300):
        finding = audit(
            response(rng, 0.75),
            0,
            1,
            epsilon=math.log(3),
            delta=0,
            events=LearnedEvents(outcome),
            trials=400,
            confidence=0.8,
        )
        refuted += not finding.passes
    assert refuted <= binom.isf(alpha, 300, 0.2)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.75, 0.25), (0.3, 0.1), (0.525, 0.5)])
def test_the_bound_of_one_event_keeps_its_confidence_by_enumeration(p: float, q: float) -> None:
    trials, confidence, truth = 40, 0.9, math.log(p / q)
    hits = range(trials + 1)
    chance = np.outer(
        binom.pmf(np.arange(trials + 1), trials, p), binom.pmf(np.arange(trials + 1), trials, q)
    )
    bounds = np.array(
        [
            [epsilon_lower_bound(h, o, trials, delta=0, confidence=confidence) for o in hits]
            for h in hits
        ]
    )
    assert chance[bounds > truth + 1e-12].sum() <= 1 - confidence


def test_many_given_events_share_the_confidence(rng: Generator, alpha: float) -> None:
    """Thirty independent bits, each with the true ratio three in both directions."""

    def bits(x: int, n: int) -> Integers:
        return np.where(rng.random((n, 30)) < 0.75, x, 1 - x)

    events = GivenEvents({f"bit {i}": itemgetter(i) for i in range(30)})
    refuted = 0
    for _ in range(60):
        finding = audit(
            bits,
            0,
            1,
            epsilon=math.log(3),
            delta=0,
            events=events,
            trials=300,
            confidence=0.9,
        )
        refuted += not finding.passes
    assert refuted <= binom.isf(alpha, 60, 0.1)


def test_learning_from_a_sample_does_not_spoil_the_test(rng: Generator, alpha: float) -> None:
    """Two hundred outcomes, the same law for both inputs: any difference is chance."""
    refuted = 0
    for _ in range(100):
        finding = audit(
            lambda _, n: rng.integers(0, 200, n),
            0,
            1,
            epsilon=0,
            delta=0,
            events=LearnedEvents(outcome),
            trials=400,
            confidence=0.8,
        )
        refuted += not finding.passes
    assert refuted <= binom.isf(alpha, 100, 0.2)


def test_many_outcomes_smaller_than_delta_are_refuted_together(rng: Generator) -> None:
    def spread(x: int, n: int) -> Integers:
        side = np.where(rng.random(n) < 0.9, x, 1 - x)
        return np.asarray(100 * side + rng.integers(0, 100, n))

    finding = audit(
        spread,
        0,
        1,
        epsilon=1,
        delta=0.05,
        events=LearnedEvents(outcome),
        trials=TRIALS,
        confidence=0.999,
    )
    assert not finding.passes


def test_an_event_that_delta_excuses_does_not_hide_one_that_it_does_not(rng: Generator) -> None:
    def leaky(x: int, n: int) -> Integers:
        return np.where(rng.random(n) < 0.04, 10 + x, response(rng, 0.8)(x, n))

    finding = audit(
        leaky,
        0,
        1,
        epsilon=1,
        delta=0.05,
        events=LearnedEvents(outcome),
        trials=TRIALS,
        confidence=0.999,
    )
    assert not finding.passes


def test_a_mechanism_that_releases_once_can_be_repeated(rng: Generator) -> None:
    mechanism = repeated(lambda bit: bool(bit) ^ (rng.random() < 0.25))
    finding = audit(
        mechanism,
        0,
        1,
        epsilon=0.1,
        delta=0,
        events=GivenEvents({"yes": bool}),
        trials=2000,
        confidence=0.999,
    )
    assert not finding.passes
    assert finding.witness is not None
    assert finding.witness.name == "yes"


def test_releases_that_are_vectors_or_nan_are_outcomes_too() -> None:
    def vectors(x: int, n: int) -> NDArray[np.float64]:
        return np.full((n, 2), math.nan if x else 1.0)

    def nans(x: int, n: int) -> NDArray[np.float64]:
        return np.full(n, math.nan if x else 1.0)

    assert outcome(math.nan) == bins([0.0])(math.nan) == "NaN"
    for mechanism in (vectors, nans):
        finding = audit(
            mechanism,
            0,
            1,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=400,
            confidence=0.99,
        )
        assert not finding.passes


def test_a_mechanism_that_returns_too_few_releases_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="wrong_number_of_releases"):
        audit(
            lambda _, n: [0] * (n - 1),
            0,
            1,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=10,
            confidence=0.9,
        )


def test_no_events_means_no_refutation() -> None:
    finding = audit(
        lambda x, n: [x] * n,
        0,
        1,
        epsilon=0,
        delta=0,
        events=GivenEvents({}),
        trials=10,
        confidence=0.9,
    )
    assert finding.passes
    assert finding.witness is None
