"""A larger epsilon or a larger delta never makes a release worse, whichever mechanism makes it.

Every mechanism that the planner compares is here: by its exact error where that is known, else by
the noise that it measures with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.mechanisms import DiscreteLaplace, Gaussian
from discreet.noise.randomness import SYSTEM
from discreet.queries.boosting.boosting import BoostingForQueries
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.best import best_strategy
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.online.iterative_construction import IterativeConstruction
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
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
    "DAWA": lambda **given: DAWA(**given).bucket_spread,
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
    made: Any = request.made(option.build(request), SYSTEM)
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
