"""Releases that no query influences: exact sensitivities, predicted errors, honest refusals."""

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import discreet as dp
from discreet.errors import InvalidData, InvalidParameter
from discreet.mechanisms.noise_choice import GaussianNoise
from discreet.noise import Noiseless
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.exchange_strategy import ExchangeStrategy, exchange_strategy
from discreet.queries.analysts.precisions import best_precisions
from discreet.queries.analysts.predicted_error import normal_errors
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.query_class import AnyQuery, Conjunctions
from discreet.queries.matrix.residual_weights import gains, residual_strategy
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.workload.linear_query import Weights
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SPEND = dp.ApproxDP(epsilon=1, delta=1e-6)
BITS = Universe.of(**{f"b{place}": range(2) for place in range(12)})
SMALL = Universe.of(a=range(2), b=range(3), c=range(4))
N = 100_000


def test_prices_are_those_of_the_catalogue() -> None:
    """4.225 √|Q| / n; 5.97 per cell, 2.99 √|X| for any query; 27 / n for three-way cells.

    That is Gaussian noise; Laplace noise at epsilon 1 hides two cells with less than half of it.
    """
    independent = PaddedNoise(BITS, 100_000, SPEND, PublicCount(N))
    assert independent.deviation == pytest.approx(4.2247 * math.sqrt(100_000) / N, rel=1e-3)
    normal = NoisyHistogram(BITS, SPEND, PublicCount(N), choice=GaussianNoise())
    assert normal.spread == pytest.approx(5.975, rel=2e-3)
    half = np.arange(4096.0) % 2
    assert normal.deviation(half) == pytest.approx(2.99 * 64, rel=2e-3)
    histogram = NoisyHistogram(BITS, SPEND, PublicCount(N))
    assert histogram.spread == pytest.approx(2.799, rel=2e-3)
    for mechanism in (independent, normal, histogram):
        assert mechanism.event.epsilon(delta=1e-6) <= 1.0001


def test_marginals_measured_for_exchanges_beat_the_other_public_choices() -> None:
    """Under least squares after equal noise, 36.5; under residuals with the worst of each, 36.9."""
    marginals = PublicMarginals(BITS, 3, SPEND, PublicCount(N))
    assert marginals.deviation((0, 4, 9)) < 27.1
    assert NoisyHistogram(BITS, SPEND, PublicCount(N)).spread * math.sqrt(448) > 59
    assert marginals.event.epsilon(delta=1e-6) <= 1.0001


@pytest.mark.parametrize("universe", [SMALL, Universe.of(a=range(1), b=range(3), c=range(2))])
def test_the_distance_of_any_two_records_is_what_the_strategy_says(universe: Universe) -> None:
    """By enumeration of all pairs of cells: never above, and reached."""
    workload = Workload.union(*(Workload.marginals(universe, k) for k in (1, 2)))
    strategy = exchange_strategy([gains(workload)], universe.shape)
    declared = strategy.moved_l2_squared(PublicCount(5))
    cells = list(product(*(range(size) for size in universe.shape)))

    def measured(cell: tuple[int, ...]) -> np.ndarray:
        table = np.zeros(universe.shape, dtype=np.int64)
        table[cell] = 1
        others = range(len(universe.shape))
        counted = {
            places: table.sum(axis=tuple(axis for axis in others if axis not in places))
            for places in strategy.largest_attribute_sets
        }
        return strategy.measure(counted).astype(object)

    vectors = [measured(cell) for cell in cells]
    farthest = max(int(((u - v) ** 2).sum()) for u, v in combinations(vectors, 2))
    assert farthest <= declared <= farthest * (1 + 1e-6)


def test_twin_that_prices_a_record_that_comes_or_goes_is_caught() -> None:
    """Exchanged records are farther apart than one of them is from nothing."""
    workload = Workload.marginals(SMALL, 2)
    strategy = exchange_strategy([gains(workload)], SMALL.shape)
    twin = strategy.moved_l2_squared(NoisyRecordCount())
    assert twin < 0.6 * strategy.moved_l2_squared(PublicCount(5))


def test_one_worst_pattern_costs_less_than_the_worst_of_each_residual() -> None:
    """And the found precisions are better than the closed form under the same price."""
    workload = Workload.marginals(BITS, 3)
    needed = gains(workload)
    found = exchange_strategy([needed], BITS.shape)
    closed = ExchangeStrategy(residual_strategy(workload, PublicCount(N)).tables)

    def error(strategy: ExchangeStrategy) -> float:
        moved = strategy.moved_l2_squared(PublicCount(N))
        told = strategy.precisions
        return moved * sum(gain / told[places] for places, gain in needed.items() if places)

    assert error(found) < 0.92 * error(closed)
    worst_of_each = sum(table.exchanged_at_most() for table in closed.tables)
    assert closed.moved_l2_squared(PublicCount(N)) < 0.62 * worst_of_each


def test_precisions_are_optimal_where_the_optimum_is_known() -> None:
    """One pattern: proportional to √(cost / distance). Two separate ones: each alone at one."""
    costs, apart = np.array([9.0, 1.0, 4.0]), np.array([[1.0, 2.0, 3.0]])
    found = best_precisions(csr_array(costs[None, :]), apart)
    expected = np.sqrt(costs / apart[0])
    assert found == pytest.approx(expected / (apart[0] @ expected), rel=1e-6)
    even = best_precisions(csr_array(np.diag([4.0, 1.0])), np.ones((1, 2)))
    assert even == pytest.approx([0.8, 0.2], rel=1e-3), "both kinds have the same variance"
    assert best_precisions(csr_array(np.ones((1, 2))), np.eye(2)) == pytest.approx([1, 1], rel=1e-3)


def test_the_worst_conjunction_is_as_good_as_can_be() -> None:
    """All cells of all marginals are equally precise; no weighing of sums does better."""
    universe = Universe.of(a=range(7), b=range(8), c=range(2), d=range(5))
    sets = Conjunctions(2).kinds(universe, 1)
    normal = GaussianNoise()
    even = PublicMarginals(universe, 2, SPEND, PublicCount(N), choice=normal)
    worst = [even.deviation(places) for places, _ in sets]
    assert max(worst) < 1.02 * min(worst)
    for power in (0, 1):
        weighed = PublicMarginals(
            universe,
            2,
            SPEND,
            PublicCount(N),
            importance={places: many**power for places, many in sets},
            choice=normal,
        )
        assert max(weighed.deviation(places) for places, _ in sets) > max(worst)


def test_predicted_errors_are_the_observed_ones() -> None:
    """Answers follow from 298 numbers or more: over 20 releases 8 % are six deviations.

    The largest error is predicted by a median that dependence can only lower: 20 of 20 above it
    has odds of one in a million.
    """
    numbers = np.random.default_rng(5)
    counts = numbers.multinomial(N, numbers.dirichlet(np.full(4096, 0.2)))
    workload = Workload.marginals(BITS, 3)
    truth = workload.answers(counts)
    marginals = PublicMarginals(BITS, 3, SPEND, PublicCount(N))
    histogram = NoisyHistogram(BITS, SPEND, PublicCount(N))
    for mechanism, deviation in (
        (marginals, marginals.deviation((0, 1, 2))),
        (histogram, histogram.spread * math.sqrt(448)),
    ):
        releases = [mechanism.release(counts).answers(workload) - truth for _ in range(20)]
        typical = math.sqrt(float(np.mean(np.square(releases))))
        assert typical == pytest.approx(deviation, rel=0.08)
        predicted = normal_errors([(deviation, workload.queries)]).largest
        largest = [float(np.abs(errors).max()) for errors in releases]
        assert min(largest) < predicted
        assert max(largest) > 0.75 * predicted


def test_without_noise_every_release_is_exact() -> None:
    """Test mode: answers are the truth, and the event says that nothing was protected."""
    counts = np.arange(24).reshape(SMALL.shape)
    size = PublicCount(int(counts.sum()))
    marginals = PublicMarginals(SMALL, 2, SPEND, size, randomness=Noiseless())
    workload = Workload.marginals(SMALL, 2)
    assert marginals.release(counts).answers(workload) == pytest.approx(workload.answers(counts))
    histogram = NoisyHistogram(SMALL, SPEND, size, randomness=Noiseless())
    assert histogram.release(counts).counts == pytest.approx(counts.ravel())
    independent = PaddedNoise(SMALL, 3, SPEND, size, randomness=Noiseless())
    query = Weights(np.linspace(0, 1, 24))
    assert independent.release(counts, [query])[0] == pytest.approx(
        query.answer(counts.ravel().astype(float)) / size.records
    )


def test_the_histogram_keeps_to_the_public_total() -> None:
    """So a query and its negation have errors of opposite sign."""
    counts = np.full(SMALL.shape, 5)
    released = NoisyHistogram(SMALL, SPEND, PublicCount(120)).release(counts)
    assert released.counts.sum() == pytest.approx(120)


def test_predictions_by_public_class() -> None:
    """Conjunctions have fewer cells than any query may have, and there are only so many."""
    histogram = NoisyHistogram(BITS, SPEND, PublicCount(N))
    some = histogram.predicted(Conjunctions(3), 10**5)
    every = histogram.predicted(AnyQuery(), 10**5)
    assert some.mean < every.mean
    assert some.largest < every.largest
    assert some == histogram.predicted(Conjunctions(3), 10**9)


@pytest.mark.parametrize("spend", [dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=0)])
def test_pure_spends_get_laplace_noise_and_no_gaussian(spend: dp.PureDP | dp.ApproxDP) -> None:
    made: tuple[Any, ...] = (
        NoisyHistogram(SMALL, spend, PublicCount(9)),
        PaddedNoise(SMALL, 3, spend, PublicCount(9)),
        PublicMarginals(SMALL, 2, spend, PublicCount(9)),
    )
    for mechanism in made:
        assert mechanism.event.epsilon(delta=0) <= 1
    with pytest.raises(InvalidParameter, match="gaussian_spend"):
        NoisyHistogram(SMALL, spend, PublicCount(9), choice=GaussianNoise())
    with pytest.raises(InvalidParameter, match="gaussian_spend"):
        PublicMarginals(SMALL, 2, spend, PublicCount(9), choice=GaussianNoise())


def test_few_marginals_get_laplace_noise_and_tables_of_their_own() -> None:
    """One attribute of three values: √2 · 2 per cell, where normal noise leaves 4.7."""
    one = Universe.of(a=range(3))
    best = PublicMarginals(one, 1, SPEND, PublicCount(N))
    normal = PublicMarginals(one, 1, SPEND, PublicCount(N), choice=GaussianNoise())
    assert best.deviation((0,)) < 0.6 * normal.deviation((0,))
    weighed = PublicMarginals(SMALL, 2, SPEND, PublicCount(N), importance={(0, 1): 1.0})
    even = PublicMarginals(SMALL, 2, SPEND, PublicCount(N))
    assert weighed.deviation((0, 1)) < even.deviation((0, 1))
    assert math.isfinite(weighed.deviation((1, 2)))


def test_bad_input_is_refused_before_or_without_showing_data() -> None:
    """Neighbours that come and go, other totals, too many queries, unknown sets, wide queries."""
    with pytest.raises(InvalidParameter, match="records_not_public"):
        NoisyHistogram(SMALL, SPEND, NoisyRecordCount())  # type: ignore[arg-type]
    with pytest.raises(InvalidData, match="records_differ"):
        NoisyHistogram(SMALL, SPEND, PublicCount(7)).release(np.ones(24, dtype=int))
    with pytest.raises(InvalidParameter, match="queries_beyond_padding"):
        PaddedNoise(SMALL, 1, SPEND, PublicCount(24)).release(
            np.ones(24, dtype=int), [Weights(np.ones(24))] * 2
        )
    with pytest.raises(InvalidParameter, match="importance_misfit"):
        PublicMarginals(SMALL, 1, SPEND, PublicCount(24), importance={(0, 1): 1.0})
    wide = Universe.of(**{f"a{place}": range(2) for place in range(60)})
    with pytest.raises(InvalidParameter, match="marginals_too_many"):
        PublicMarginals(wide, 3, SPEND, PublicCount(24))
    released = PublicMarginals(SMALL, 1, SPEND, PublicCount(24)).release(np.ones(24, dtype=int))
    with pytest.raises(InvalidParameter):
        released.answers(Workload.marginals(SMALL, 2))


def test_independent_noise_takes_no_query_that_could_weigh_more_than_it_says() -> None:
    class Heavy(Weights):
        def answer(self, table: Any) -> float:
            return 100 * super().answer(table)

    line = Universe.of(a=range(4))
    asked = PaddedNoise(line, 2, dp.ZCDP(rho=1), PublicCount(10))
    for query in (Heavy([1, 0, 0, 0]), Weights([1, 0, 0])):
        with pytest.raises(InvalidParameter, match="query_misfit"):
            asked.release(np.array([4, 3, 2, 1]), [query])
