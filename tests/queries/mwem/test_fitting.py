"""How weights learn from measurements."""

import numpy as np
import pytest

import discreet as dp
from discreet.noise import Seeded
from discreet.queries.mwem.fitting import (
    MeasuredMarginal,
    MeasuredQuery,
    Scaling,
    SmallSteps,
    replay,
    settle,
)
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.mwem.mwem import MWEM, LastIterate
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.linear_query import Region
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload


def test_the_update_of_the_catalogue() -> None:
    """004b:A15: two cells, n = 100, q = (1, 0), m = 80: 53.74 after one update."""
    weights, query = MultiplicativeWeights(2), Region((2,), (slice(0, 1),))
    replay(weights, [MeasuredQuery(query, 80, 0)], SmallSteps(), total=100, passes=1)
    assert 100 * weights.answer(query) == pytest.approx(53.74, abs=0.005)
    replay(weights, [MeasuredQuery(query, 80, 0)], SmallSteps(), total=100, passes=200)
    assert 100 * weights.answer(query) == pytest.approx(80, abs=0.1)


def test_measurements_that_contradict_each_other_settle_between_them() -> None:
    """Full steps end at whatever was replayed last; shrinking ones at the least squares fit."""
    counts = ([70.0, 30.0], [50.0, 50.0])
    history = [MeasuredMarginal((2,), (0,), np.array(cells), 5.0) for cells in counts]
    weights = MultiplicativeWeights(2)
    replay(weights, history, Scaling(), total=100, passes=20)
    assert 100 * weights.distribution[0] < 52
    settle(weights, history, Scaling(), total=100, passes=8)
    assert 100 * weights.distribution[0] == pytest.approx(60, abs=5)


def test_settling_makes_the_last_estimate_better() -> None:
    """Ten noisy looks at six marginals, from the same seed: the same data, fitted once more."""
    workload, counts = Workload.marginals(TABLE, 2), correlated(5000)
    exact = workload.answers(counts)

    def error(settling: int, seed: int) -> float:
        mechanism = MWEM(
            workload,
            dp.PureDP(epsilon=0.2),
            PublicCount(5000),
            10,
            iterate=LastIterate(settling),
            randomness=Seeded(seed),
        )
        return float(np.square(mechanism.release(counts).answers(workload) - exact).mean())

    with_it, without = (sum(error(passes, seed) for seed in range(6)) for passes in (8, 0))
    assert with_it < 0.95 * without


TABLE = Universe.of(a=range(4), b=range(4), c=range(4), d=range(4))


def correlated(records: int) -> np.ndarray:
    """Records whose attributes mostly repeat the first one."""
    numbers = np.random.default_rng(8)
    first = numbers.choice(4, records, p=[0.5, 0.3, 0.15, 0.05])
    columns = [first]
    for _ in range(3):
        fresh = numbers.choice(4, records, p=[0.4, 0.3, 0.2, 0.1])
        columns.append(np.where(numbers.random(records) < 0.7, columns[-1], fresh))
    counts = np.zeros(TABLE.shape, dtype=np.int64)
    np.add.at(counts, tuple(columns), 1)
    return counts
