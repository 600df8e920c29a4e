"""The workload profile: exact sensitivities, its price, and what it is worth."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.audit.testers import epsilon_lower_bound
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidParameter
from discreet.mechanisms.noise_choice import GaussianNoise
from discreet.noise import Noiseless
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.profile import (
    EachAnalyst,
    EachQuery,
    ProfileRelease,
    TopicProfile,
    Topics,
)
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.query_class import Conjunctions, attribute_sets
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SPEND = dp.ApproxDP(epsilon=1, delta=1e-6)
SMALL = Universe.of(a=range(2), b=range(3), c=range(4))
MANY = Universe.of(**{f"a{place}": range(4) for place in range(15)})
N = 100_000

counts = st.lists(st.integers(0, 1000), min_size=5, max_size=5)


@given(counts, counts)
def test_two_analysts_are_never_more_than_root_two_apart(one: list[int], other: list[int]) -> None:
    """Whatever they ask and however much: in whole steps, exactly."""
    each = EachAnalyst()
    u, v = each.of(one), each.of(other)
    assert sum(x * x for x in u) <= 1 << 2 * each.places
    assert sum((x - y) ** 2 for x, y in zip(u, v, strict=True)) <= each.l2_sensitivity**2


def test_root_two_is_reached_and_one_query_moves_as_much() -> None:
    """Analysts of different topics; and a query that moves from one topic to another."""
    each = EachAnalyst()
    apart = sum((x - y) ** 2 for x, y in zip(each.of([7, 0]), each.of([0, 2]), strict=True))
    assert apart == pytest.approx(float(each.l2_sensitivity) ** 2, rel=1e-6)
    assert float(EachQuery().l2_sensitivity) == pytest.approx(math.sqrt(2))
    for before, after in product(range(3), repeat=2):
        u, v = np.eye(3)[before], np.eye(3)[after]
        assert np.linalg.norm(u - v) <= float(EachQuery().l2_sensitivity)


def test_twin_that_counts_queries_for_a_whole_analyst_is_caught() -> None:
    """Raw counts charged as one query: a replaced analyst with 100 queries is seen through.

    200 releases of each world; the audit's bound is wrong with probability .001.
    """
    first: Topics = [(0,)] * 100
    second: Topics = [(1,)] * 100
    twin = ProfileRelease(SMALL, Conjunctions(1), SPEND, each=EachQuery())
    honest = ProfileRelease(SMALL, Conjunctions(1), SPEND, each=EachAnalyst())

    def seen(release: ProfileRelease, analyst: Topics) -> int:
        profiles = [release.release([analyst]).weights for _ in range(200)]
        return sum(profile[(0,)] > profile[(1,)] for profile in profiles)

    def bound(release: ProfileRelease) -> float:
        hits, misses = seen(release, first), seen(release, second)
        return epsilon_lower_bound(hits, misses, 200, delta=1e-6, confidence=0.999)

    assert bound(twin) > 3
    assert bound(honest) <= 1


def test_price_and_noise_are_those_of_the_catalogue() -> None:
    """5.97 for each count at (1, 1e-6), one query or one analyst; 2.80 and 4.9 by Laplace noise."""
    for each in (EachQuery(), EachAnalyst()):
        given: dict[str, Any] = {"each": each, "choice": GaussianNoise()}
        release = ProfileRelease(SMALL, Conjunctions(2), SPEND, **given)
        assert release.spread == pytest.approx(5.975, rel=2e-3)
        assert release.event.epsilon(delta=1e-6) <= 1.0001
    best = ProfileRelease(SMALL, Conjunctions(2), SPEND)
    assert best.spread == pytest.approx(2.799, rel=1e-3)
    assert best.event.epsilon(delta=0) == 1
    pure = ProfileRelease(SMALL, Conjunctions(2), dp.PureDP(epsilon=1), each=EachAnalyst())
    assert pure.spread == pytest.approx(math.sqrt(2) * math.sqrt(12), rel=1e-3)


def test_profiles_of_two_analysts_are_no_farther_apart_than_is_said() -> None:
    """In L1 over T topics √(2 T): reached by two who share no topic and ask of half of them each;
    never passed, by enumeration of small counts."""
    each = EachAnalyst()
    vectors = [each.of(asked) for asked in product(range(4), repeat=4)]
    farthest = max(
        sum(abs(a - b) for a, b in zip(u, v, strict=True)) for u in vectors for v in vectors
    )
    assert 0.999 * each.moved_l1(4) <= farthest <= each.moved_l1(4)
    assert EachQuery().moved_l1(4) == 2


def test_what_is_measured_after_a_profile_costs_the_same_whatever_it_says() -> None:
    """Also where few marginals would rather have Laplace noise: its price follows the strategy."""
    profiled = ProfiledMarginals(
        Universe.of(a=range(2), b=range(2)),
        Conjunctions(2),
        SPEND,
        PublicCount(N),
        OneQuery(),
        SPEND,
    )
    for topics in ([(0,)] * 90, [(0, 1)] * 90, [(1,)] * 20 + [(0,)] * 90):
        profile = profiled.profile.release([topics])
        assert profiled.marginals(profile).event == profiled.event
        assert isinstance(profiled.event, dp.events.Gaussian | dp.events.DiscreteGaussian)


def test_the_profile_has_every_topic_and_nothing_else() -> None:
    """An analyst with no queries, and topics that the public rule excludes, count nothing."""
    release = ProfileRelease(SMALL, Conjunctions(2), SPEND, randomness=Noiseless())
    profile = release.release([[(0, 1), (0, 1), (2,)], [], [(0, 1, 2), (5,)]])
    assert list(profile.weights) == attribute_sets(SMALL, 2)
    assert profile.weights[0, 1] == 2
    assert sum(profile.weights.values()) == 3
    with pytest.raises(InvalidParameter, match="query_outside_class"):
        release.require_topic((0, 1, 2))
    release.require_topic((0, 2))


def test_importance_forgets_what_noise_explains_and_keeps_everything_usable() -> None:
    """Entries within two deviations count nothing; all topics keep an even part."""
    weights = dict.fromkeys(attribute_sets(SMALL, 1), 0.0) | {(0,): 50.0, (1,): 11.0}
    found = TopicProfile(weights, 6.0, dp.events.Nothing()).importance(SMALL)
    assert min(found.values()) > 0
    assert found[0,] > 0.75
    assert found[1,] == pytest.approx(0.25 * 3 / 9)
    assert sum(found.values()) == pytest.approx(1)


def test_asking_about_few_topics_is_answered_much_better() -> None:
    """Twenty topics of 575: less than half the error; topics nobody asked for, little worse."""
    mechanism = ProfiledMarginals(MANY, Conjunctions(3), SPEND, PublicCount(N), OneQuery(), SPEND)
    widest = [places for places in mechanism.profile.topics if len(places) == 3]
    topics = widest[:: len(widest) // 20][:20]
    numbers = np.random.default_rng(3)
    analysts = [[topics[k] for k in numbers.integers(0, 20, 50)] for _ in range(40)]
    public = PublicMarginals(MANY, 3, SPEND, PublicCount(N))
    measured = mechanism.marginals(mechanism.profile.release(analysts))
    asked = [measured.deviation(places) / public.deviation(places) for places in topics]
    others = [measured.deviation(places) / public.deviation(places) for places in widest[1::30]]
    assert max(asked) < 0.6
    assert max(others) < 1.5
    assert mechanism.event == measured.event
    assert mechanism.predicted(10**5, 20).mean < 0.6 * mechanism.predicted(10**5, 575).mean


@pytest.mark.parametrize("unit", [OneQuery(), OneAnalyst()])
def test_a_release_pays_both_and_answers(unit: OneQuery | OneAnalyst) -> None:
    """Data pays for the marginals, analysts for the profile."""
    mechanism = ProfiledMarginals(
        SMALL, Conjunctions(2), SPEND, PublicCount(240), unit, dp.ZCDP(rho=0.1)
    )
    table = np.full(SMALL.shape, 10)
    released = mechanism.release(table, [[(0, 1)] * 30, [(1, 2)]])
    workload = Workload.marginals(SMALL, 2)
    assert released.answers(workload).shape == (workload.queries,)
    assert released.event == mechanism.event
    assert mechanism.analysts.unit == unit
    assert mechanism.analysts.event.zcdp().rho <= 0.1000001


@pytest.mark.parametrize(
    "spend",
    [
        dp.ApproxDP(epsilon=2, delta=1e-5),
        dp.ApproxDP(epsilon=0.1, delta=1e-9),
        dp.ApproxDP(epsilon=2, delta=1e-5, by=dp.ZCDP),
        dp.ZCDP(rho=0.5),
    ],
    ids=str,
)
@pytest.mark.parametrize("ways", [1, 2])
def test_what_people_pay_is_fixed_before_anybody_asks(spend: Guarantee, ways: int) -> None:
    """Whatever the profile says, so that no round is paid for and then cannot be run.

    With few sets of attributes Laplace noise would err less for some profiles, at other events.
    """
    universe = Universe.of(a=range(2), b=range(2))
    promise = dp.ApproxDP(epsilon=1, delta=0.01)
    mechanism = ProfiledMarginals(
        universe, Conjunctions(ways), spend, PublicCount(50), OneAnalyst(), promise
    )
    topics = attribute_sets(universe, ways)
    weights = np.random.default_rng(5).normal(scale=5, size=(60, len(topics)))
    for drawn in weights.tolist():
        told = TopicProfile(dict(zip(topics, drawn, strict=True)), 2.0, mechanism.profile.event)
        assert mechanism.marginals(told).event == mechanism.event
