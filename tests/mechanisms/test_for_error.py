"""What an accuracy costs: the cheapest mechanism meets it, and nothing much cheaper does."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet.calculus import L1, Integers, LInf, Reals, Space, Vector
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.events.event import Nothing
from discreet.mechanisms import (
    MONOTONE,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    NoisyMax,
    NumericSparse,
    PermuteAndFlip,
    RandomizedResponse,
    Sparse,
    TruncatedGeometric,
    Warner,
)
from discreet.mechanisms.selection import Selection

SELECTIONS: list[type[Selection]] = [Exponential, PermuteAndFlip, NoisyMax]


def sparse_error(scale: float) -> float:
    return Sparse.for_error(
        50, confidence=0.95, questions=100, cutoff=3, threshold=0, sensitivity=scale
    ).error(confidence=0.95, questions=100)


def numeric_error(scale: float) -> float:
    return NumericSparse.for_error(
        50, confidence=0.95, questions=100, cutoff=3, threshold=0, sensitivity=scale
    ).error(confidence=0.95, questions=100)


def test_discrete_gaussian_meets_the_wanted_error_at_the_least_rho() -> None:
    mechanism = DiscreteGaussian.for_error(5, confidence=0.95, sensitivity=1, size=4)
    assert mechanism.error(confidence=0.95, size=4) <= 5
    cheaper = DiscreteGaussian(rho=float(mechanism.rho) * 0.999, sensitivity=1)
    assert cheaper.error(confidence=0.95, size=4) > 5


def test_geometric_mechanisms_meet_the_wanted_error_at_the_least_epsilon() -> None:
    mechanism = DiscreteLaplace.for_error(5, confidence=0.95, sensitivity=1)
    assert mechanism.error(confidence=0.95) <= 5
    cheaper = DiscreteLaplace(epsilon=float(mechanism.epsilon) * 0.999, sensitivity=1)
    assert cheaper.error(confidence=0.95) > 5
    truncated = TruncatedGeometric.for_error(5, confidence=0.95, size=100)
    assert truncated.epsilon == mechanism.epsilon


@pytest.mark.parametrize("of", [sparse_error, numeric_error])
def test_sparse_mechanisms_meet_the_wanted_error_closely(of: Callable[[float], float]) -> None:
    assert 49.9 < of(1.0) <= 50 * (1 + 1e-12)


def test_randomized_response_meets_the_wanted_error_at_the_least_epsilon() -> None:
    wanted = RandomizedResponse.for_error(0.05, confidence=0.95, people=10_000, categories=3)
    assert wanted.error(confidence=0.95, people=10_000) <= 0.05
    cheaper = RandomizedResponse(epsilon=float(wanted.epsilon) * 0.999, categories=3)
    assert cheaper.error(confidence=0.95, people=10_000) > 0.05


@pytest.mark.parametrize("people", [500, 10_000, 10**9])
def test_warners_coin_meets_the_wanted_error_and_keeps_the_truth_no_more_often(people: int) -> None:
    coin = Warner.for_error(0.2, confidence=0.95, people=people)
    assert coin.error(confidence=0.95, people=people) <= 0.2
    keep = float(coin.keep)
    rarer = Warner(keep=0.5 + (keep - 0.5) * 0.999)
    assert rarer.error(confidence=0.95, people=people) > 0.2
    two = RandomizedResponse.for_error(0.2, confidence=0.95, people=people, categories=2)
    assert coin.event.epsilon(delta=0) == pytest.approx(float(two.epsilon), rel=1e-6)


def test_warners_coin_refuses_an_error_that_so_few_people_cannot_have() -> None:
    with pytest.raises(InvalidParameter, match="error_out_of_reach"):
        Warner.for_error(0.01, confidence=0.95, people=100)


@pytest.mark.parametrize("kind", SELECTIONS)
def test_selections_meet_the_wanted_error(kind: type[Selection]) -> None:
    mechanism = kind.for_error(10, confidence=0.95, candidates=20, sensitivity=1)
    assert mechanism.error(confidence=0.95, candidates=20) == pytest.approx(10)


@pytest.mark.parametrize("kind", SELECTIONS)
def test_a_selection_in_a_pipeline_charges_by_the_distance_of_scores(
    kind: type[Selection],
) -> None:
    space = Space(Vector(Integers(), 3), LInf())
    measurement = kind(epsilon=0.5, sensitivity=1).over(space)
    assert measurement.event(1).epsilon(delta=0) == 0.5
    assert measurement.event(0) == Nothing()
    assert measurement.event(2).epsilon(delta=0) == pytest.approx(1, rel=1e-8)
    # Rounding scores to the grid is never charged less than it costs.
    assert Fraction(measurement.event(Fraction(1, 2)).epsilon(delta=0)) >= Fraction(1, 4)
    assert measurement.release([0, 900, 0]) == 1


@pytest.mark.parametrize("kind", SELECTIONS)
def test_a_selection_refuses_other_norms_and_monotone_scores(kind: type[Selection]) -> None:
    with pytest.raises(Mismatch, match="metric_mismatch"):
        kind(epsilon=1, sensitivity=1).over(Space(Vector(Reals(), 3), L1()))
    with pytest.raises(Mismatch, match="metric_mismatch"):
        kind(epsilon=1, sensitivity=1, scores=MONOTONE).over(Space(Vector(Reals(), 3), LInf()))


def test_numeric_sessions_take_lists_up_to_the_cutoff() -> None:
    session = NumericSparse(epsilon=50, cutoff=2, threshold=100, sensitivity=1).open()
    answers = session.ask_all([0, 900, 0, 900, 900])
    assert [answer is None for answer in answers] == [True, False, True, False]
    assert session.positive_answers_left == 0
