"""A larger epsilon or a larger delta never makes a release worse, whichever mechanism makes it.

Every mechanism that the planner compares is here: by its exact error where that is known, else by
the noise that it measures with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.mechanisms import DiscreteLaplace, Gaussian
from discreet.mechanisms.for_spend import gaussian_for
from discreet.noise.randomness import SYSTEM
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.profile import EachAnalyst, ProfileRelease
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.boosting.boosting import BoostingForQueries
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.best import best_strategy
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.iterative_construction import IterativeConstruction
from discreet.queries.online.multiplicative_updaters import GapUpdater, MultiplicativeUpdater
from discreet.queries.planning.contest import Contest
from discreet.queries.planning.option import MechanismOption
from discreet.queries.planning.options import OPTIONS
from discreet.queries.planning.plan import best_mechanism
from discreet.queries.planning.request import ReleaseRequest
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.trees.dawa import DAWA
from discreet.queries.trees.privtree import PrivTree
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.families import Each, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

LINE = Universe.of(x=range(12))
TABLE = Universe.of(a=range(4), b=range(3), c=range(2))
WORKLOADS = {
    "histogram": Workload.marginal(LINE, ["x"]),
    "prefixes": Workload.of(LINE, {"x": Prefixes(12)}),
    "ranges": Workload.of(LINE, {"x": Ranges(12)}),
    "pairs": Workload.marginals(TABLE, 2),
    "mixed": Workload.of(TABLE, {"a": Ranges(4)}, {"b": Each(3), "c": Each(2)}),
    "many": Workload.marginals(Universe.of(**{f"q{i}": range(2) for i in range(9)}), 2),
}
SIZES: dict[str, RecordCount] = {"come or go": NoisyRecordCount(), "exchanged": PublicCount(500)}

EXACT = {
    "independent noise",
    "matrix mechanism",
    "union of strategies",
    "marginal mechanism",
    "quad-tree",
}
"""Whose error is known exactly."""
MEASURES: Mapping[str, Callable[..., float]] = {
    "MWEM": lambda **given: MWEM(rounds=3, **given).spread,
    "projection mechanism": lambda **given: ProjectionMechanism(**given).noisy.rmse,
    "DAWA": lambda **given: DAWA(**given).range_spread,
    "PrivTree": lambda **given: PrivTree(**given).leaf_spread,
}
"""What is known of the others: the noise that they measure with."""
ORDERED = {"quad-tree", "DAWA", "PrivTree"}

epsilons = st.floats(0.01, 20)
deltas = st.sampled_from([0, 1e-30, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.7])


def pair(one: float, other: float, low: float, high: float) -> tuple[ApproxDP, ApproxDP]:
    """A spend, and one that is no less."""
    return (
        dp.ApproxDP(epsilon=min(one, other), delta=min(low, high)),
        dp.ApproxDP(epsilon=max(one, other), delta=max(low, high)),
    )


spends = st.builds(pair, epsilons, epsilons, deltas, deltas)


def test_every_mechanism_of_the_planner_is_here() -> None:
    assert {option.name for option in OPTIONS} == EXACT | set(MEASURES)
    for option in OPTIONS:
        if option.name in EXACT:
            assert any(_fits(option, workload) for workload in WORKLOADS.values()), option.name


def _fits(option: MechanismOption, workload: Workload) -> bool:
    return option.unfit(ReleaseRequest(workload, dp.PureDP(epsilon=1), about=500)) is None


def _stated(name: str, workload: Workload, spend: Guarantee, size: RecordCount) -> float:
    if name in MEASURES:
        return MEASURES[name](workload=workload, spend=spend, size=size)
    option = next(each for each in OPTIONS if each.name == name)
    request = ReleaseRequest(workload, spend, size, about=500)
    made: Any = request.make_mechanism(option.build(request), SYSTEM)
    return float(made.rmse)


CASES = [
    (option.name, title)
    for option in OPTIONS
    for title, workload in WORKLOADS.items()
    if _fits(option, workload) and not (option.name == "MWEM" and title not in ("pairs", "many"))
]


@pytest.mark.parametrize(("name", "title"), CASES)
@settings(max_examples=8, deadline=None)
@given(spent=spends, size=st.sampled_from(sorted(SIZES)))
@example(spent=pair(1, 1, 0, 1e-6), size="come or go")
@example(spent=pair(1, 1, 1e-6, 0.7), size="exchanged")
def test_more_budget_is_never_worse(
    name: str, title: str, spent: tuple[ApproxDP, ApproxDP], size: str
) -> None:
    less, more = spent
    stated = partial(_stated, name, WORKLOADS[title], size=SIZES[size])
    assert stated(spend=more) <= stated(spend=less) * (1 + 1e-9)


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_without_a_delta_a_spend_is_a_pure_one(name: str) -> None:
    title = next(title for each, title in CASES if each == name)
    nothing, pure = dp.ApproxDP(epsilon=0.7, delta=0), dp.PureDP(epsilon=0.7)
    stated = partial(_stated, name, WORKLOADS[title], size=NoisyRecordCount())
    assert stated(spend=nothing) == stated(spend=pure)


@settings(max_examples=20, deadline=None)
@given(spent=spends)
def test_more_budget_is_never_worse_where_many_steps_share_it(
    spent: tuple[ApproxDP, ApproxDP],
) -> None:
    less, more = spent
    pairs, size = WORKLOADS["pairs"], PublicCount(500)

    def bound(spend: ApproxDP) -> float:
        return BoostingForQueries(pairs, spend, size, sample=4, rounds=3).bound

    def each(spend: ApproxDP) -> float:
        updater = MultiplicativeUpdater(24, 0.4)
        return float(IterativeConstruction(pairs, updater, spend, size).epsilon_each)

    assert bound(more) <= bound(less) * (1 + 1e-9)
    assert each(more) >= each(less) * (1 - 1e-9)


@settings(max_examples=30, deadline=None)
@given(
    spent=spends,
    size=st.sampled_from(sorted(SIZES)),
    cutoff=st.sampled_from([1, 2, 7, 40, 900]),
)
@example(spent=pair(1, 1, 0, 1e-9), size="exchanged", cutoff=2)
@example(spent=pair(1, 1, 1e-9, 1e-3), size="exchanged", cutoff=2)
@example(spent=pair(1, 1, 0, 1e-9), size="come or go", cutoff=900)
def test_a_conversation_is_never_less_exact_for_more_budget(
    spent: tuple[ApproxDP, ApproxDP], size: str, cutoff: int
) -> None:
    """At cutoff 2 and epsilon 1 the share of an update was .5 at delta 0, and .137 at 1e-9."""
    planned: dict[str, Any] = {"confidence": 0.95, "questions": 100}

    def talk(spend: ApproxDP) -> OnlineConstruction:
        return OnlineConstruction(GapUpdater(24, 0.1), spend, SIZES[size], 10, cutoff)

    less, more = map(talk, spent)
    assert float(more.epsilon_each) >= float(less.epsilon_each) * (1 - 1e-9)
    assert more.noise_error(**planned) <= less.noise_error(**planned) * (1 + 1e-9)
    assert more.within(**planned) <= less.within(**planned) * (1 + 1e-9)


def test_a_conversation_with_few_updates_shares_epsilon_and_one_with_many_rho() -> None:
    spend = dp.ApproxDP(epsilon=1, delta=1e-9)
    few, many = (
        OnlineConstruction(GapUpdater(24, 0.1), spend, PublicCount(500), 10, cutoff)
        for cutoff in (2, 200)
    )
    assert few.epsilon_each == Fraction(1, 2)
    assert float(many.epsilon_each) > 1.5 / 200
    for talk in (few, many):
        assert talk.event.epsilon(delta=1e-9) <= 1 + 1e-9


ROUNDS: Mapping[str, Callable[[Guarantee], float]] = {
    "noisy histogram": lambda spend: NoisyHistogram(TABLE, spend, PublicCount(500)).spread,
    "independent noise": lambda spend: PaddedNoise(TABLE, 5, spend, PublicCount(500)).deviation,
    "public marginals": lambda spend: max(
        PublicMarginals(TABLE, 2, spend, PublicCount(500)).deviation(places)
        for places in [(0,), (0, 1), (1, 2)]
    ),
    "profile of queries": lambda spend: ProfileRelease(TABLE, Conjunctions(2), spend).spread,
    "profile of analysts": lambda spend: (
        ProfileRelease(TABLE, Conjunctions(2), spend, each=EachAnalyst()).spread
    ),
}
"""What analysts' rounds are made of."""


@pytest.mark.parametrize("name", ROUNDS)
@settings(max_examples=6, deadline=None)
@given(spent=spends)
@example(spent=pair(1, 1, 0, 1e-6))
@example(spent=pair(1, 1, 1e-6, 0.7))
def test_more_budget_is_never_worse_for_a_round(
    name: str, spent: tuple[ApproxDP, ApproxDP]
) -> None:
    less, more = spent
    assert ROUNDS[name](more) <= ROUNDS[name](less) * (1 + 1e-9)


rhos = st.floats(0.01, 60)


SEARCHED = {"prefixes", "ranges", "many"}
"""Whose strategies take long to find."""


@pytest.mark.parametrize(
    ("name", "title"),
    [
        pytest.param(name, title, marks=pytest.mark.slow if title in SEARCHED else ())
        for name, title in CASES
    ],
)
@settings(max_examples=4, deadline=None)
@given(one=rhos, other=rhos, size=st.sampled_from(sorted(SIZES)))
@example(one=0.9, other=3.0, size="come or go")
@example(one=1.5, other=40.0, size="exchanged")
def test_more_rho_is_never_worse(
    name: str, title: str, one: float, other: float, size: str
) -> None:
    stated = partial(_stated, name, WORKLOADS[title], size=SIZES[size])
    less, more = (dp.ZCDP(rho=rho) for rho in sorted((one, other)))
    assert stated(spend=more) <= stated(spend=less) * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(spent=st.builds(pair, epsilons, epsilons, *[st.sampled_from([1e-30, 1e-6, 0.05, 0.7])] * 2))
def test_paid_in_rho_more_is_never_worse_and_nothing_of_the_same_price_is_better(
    spent: tuple[ApproxDP, ApproxDP],
) -> None:
    """With a delta of zero it is a pure spend: less noise, for many times the rho."""
    less, more = (replace(each, by=dp.ZCDP) for each in spent)
    histogram = WORKLOADS["histogram"]
    noise = {each: IndependentNoise(histogram, each) for each in (less, more)}
    assert noise[more].rmse <= noise[less].rmse * (1 + 1e-9)
    price = noise[more].event.zcdp().rho
    normal = gaussian_for(more, l2=1, randomness=SYSTEM)
    assert price <= normal.event.zcdp().rho * (1 + 1e-9)
    in_rho = IndependentNoise(histogram, dp.ZCDP(rho=price))
    assert noise[more].event.epsilon(delta=float(more.delta)) <= float(more.epsilon) * (1 + 1e-9)
    # The discrete Gaussian of that rho errs a little less than the continuous one, rounded.
    assert noise[more].rmse <= in_rho.rmse + 0.3


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3, 0.3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("title", ["pairs", "many", "ranges"])
def test_whatever_is_chosen_costs_no_more_than_the_spend(
    title: str, epsilon: float, delta: float
) -> None:
    spend, workload = dp.ApproxDP(epsilon=epsilon, delta=delta), WORKLOADS[title]
    made: list[Any] = [
        IndependentNoise(workload, spend),
        best_strategy(workload, spend),
        Contest(workload, spend, NoisyRecordCount(), (IndependentNoise, MarginalMechanism)),
    ]
    if title == "ranges":
        made += [kind(workload, spend, NoisyRecordCount()) for kind in (DAWA, PrivTree, QuadTree)]
    else:
        made.append(MWEM(workload, spend, NoisyRecordCount(), rounds=3))
    for mechanism in made:
        assert mechanism.event.epsilon(delta=delta) <= epsilon * (1 + 1e-9), mechanism


def test_a_histogram_of_64_and_marginals_keep_the_pure_error_at_a_small_delta() -> None:
    """Measured before, with normal noise alone: 4.225 and 5.908."""
    small = dp.ApproxDP(epsilon=1, delta=1e-6)
    histogram = IndependentNoise(Workload.marginal(Universe.of(x=range(64)), ["x"]), small)
    assert histogram.rmse == pytest.approx(1.357, abs=5e-4)
    assert isinstance(histogram.noise, DiscreteLaplace)
    assert best_strategy(WORKLOADS["pairs"], small).rmse == pytest.approx(2.258, abs=5e-4)


def test_many_marginals_take_normal_noise_and_the_tree_weights_of_its_norm() -> None:
    spend = dp.ApproxDP(epsilon=1, delta=1e-6)
    many = MarginalMechanism(WORKLOADS["many"], spend)
    assert isinstance(many.noise, Gaussian)
    assert many.rmse < MarginalMechanism(WORKLOADS["many"], dp.PureDP(epsilon=1)).rmse / 1.5
    for delta, kind, power in ((1e-9, DiscreteLaplace, 1), (0.7, Gaussian, 2)):
        tree = QuadTree(
            WORKLOADS["ranges"], dp.ApproxDP(epsilon=1, delta=delta), NoisyRecordCount()
        )
        assert isinstance(tree.noise, kind)
        assert sum(int(w) ** power for w in tree.weights) <= (1 << 16) ** power


def test_a_spend_that_is_paid_in_rho_is_planned_apart_from_an_equal_one_that_is_not() -> None:
    pairs = dp.ApproxDP(epsilon=1, delta=1e-6)
    in_rho = dp.ApproxDP(epsilon=1, delta=1e-6, by=dp.ZCDP)
    laplace, normal = (best_mechanism(WORKLOADS["histogram"], each) for each in (pairs, in_rho))
    assert normal.event.zcdp().rho < laplace.event.zcdp().rho / 4
