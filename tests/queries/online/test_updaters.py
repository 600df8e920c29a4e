"""Updaters stop within their bounds, and end where no query is wrong."""

import math

import numpy as np
import pytest

from discreet.errors import InvalidData, InvalidParameter
from discreet.queries.net import small_databases
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.online.updaters import (
    MedianHypothesis,
    MedianUpdater,
    PerceptronHypothesis,
    PerceptronUpdater,
    Updater,
    Watched,
)
from discreet.queries.workload.linear_query import Weights

NUMBERS = np.random.default_rng(11)


def run(updater: Updater, data: np.ndarray, queries: list[Weights]) -> Watched:
    """Exact values, always the worst query, until none is wrong by more than the error."""
    watched = Watched(updater, data)
    while True:
        gaps = [abs(q.answer(data) - watched.answer(q)) for q in queries]
        worst = int(np.argmax(gaps))
        if gaps[worst] <= updater.error:
            return watched
        watched.update(queries[worst], queries[worst].answer(data))


@pytest.mark.parametrize("turn", range(5))
def test_every_updater_ends_within_its_bound_and_is_right_then(turn: int) -> None:
    """000a:G2. The watch would refuse one update too many."""
    numbers = np.random.default_rng(turn)
    counts = numbers.multinomial(6, numbers.dirichlet(np.ones(4)))
    data, squares = counts / 6, float((counts**2).sum())
    queries = [Weights((numbers.random(4) < 0.5).astype(float)) for _ in range(12)]
    for updater in (
        MultiplicativeUpdater(4, 0.2),
        MedianUpdater(small_databases(4, 6), 0.05),
        PerceptronUpdater(4, 0.2, 6, squares),
    ):
        watched = run(updater, data, queries)
        assert watched.updates <= updater.most_updates
        assert all(abs(q.answer(data) - watched.answer(q)) <= updater.error for q in queries)


def test_bounds_of_the_catalogue() -> None:
    assert MultiplicativeUpdater(1024, 0.1).most_updates == 2772
    assert MedianUpdater(NUMBERS.dirichlet(np.ones(3), 8), 0.1).most_updates == 3
    assert PerceptronUpdater(100, 0.1, 50, 50).most_updates == 200
    skewed = MultiplicativeUpdater(2, 0.5, [0.9, 0.1])
    assert skewed.most_updates == math.floor(4 * math.log(10) / 0.25)


def test_the_potential_falls_with_every_update_of_multiplicative_weights() -> None:
    """000a:F4: by at least alpha**2 / 4."""
    numbers = np.random.default_rng(3)
    data = numbers.dirichlet(np.full(64, 0.1))
    updater = MultiplicativeUpdater(64, 0.1)
    hypothesis = updater.begin()
    for _ in range(200):
        query = Weights(numbers.random(64) < 0.5)
        if abs(query.answer(data) - hypothesis.answer(query)) > 0.1:
            before = hypothesis.weights.divergence(data)
            hypothesis.update(query, query.answer(data))
            assert before - hypothesis.weights.divergence(data) >= 0.1**2 / 4


def test_a_perceptron_step_is_that_of_the_catalogue() -> None:
    """000a:G7: x = (3, 1), f = (1, 0), alpha n = 2: the squared distance falls from 10 to 5."""
    hypothesis = PerceptronUpdater(2, 0.5, 4, 10).begin()
    assert isinstance(hypothesis, PerceptronHypothesis)
    hypothesis.update(Weights([1.0, 0.0]), 0.75)
    assert hypothesis.counts.tolist() == [1, 0]
    assert ((np.array([3, 1]) - hypothesis.counts) ** 2).sum() == 5


def test_a_median_update_at_least_halves_the_net() -> None:
    hypothesis = MedianHypothesis(NUMBERS.dirichlet(np.ones(5), 64))
    for sign in (1, -1, -1, 1):
        before = len(hypothesis.net)
        query = Weights(NUMBERS.random(5))
        hypothesis.update(query, hypothesis.answer(query) + sign * 0.5)
        assert len(hypothesis.net) <= before // 2


def test_twin_that_updates_on_an_error_of_exactly_alpha_loses_the_data() -> None:
    """000a:G6: the member within alpha of the data is deleted; the watch refuses that update."""
    net = np.array([[0.5, 0.5], [0.25, 0.75]])
    data, query = np.array([0.25, 0.75]), Weights([1.0, 0.0])
    updater = MedianUpdater(net[:1], 0.25)
    twin = updater.begin()
    assert abs(query.answer(data) - twin.answer(query)) == 0.25
    with pytest.raises(InvalidData, match="net_exhausted"):
        twin.update(query, 0.25)
    with pytest.raises(InvalidData, match="update_unneeded"):
        Watched(updater, data).update(query, 0.25)


def test_the_watch_refuses_values_that_are_off_and_updates_beyond_the_bound() -> None:
    data, query = np.array([1.0, 0.0]), Weights([1.0, 0.0])
    watched = Watched(MultiplicativeUpdater(2, 0.1), data)
    with pytest.raises(InvalidData, match="update_unneeded"):
        watched.update(query, 0.8)
    stubborn = Watched(MultiplicativeUpdater(2, 0.4), data)
    for _ in range(MultiplicativeUpdater(2, 0.4).most_updates):
        stubborn.update(query, 1.0)
        stubborn.inner = MultiplicativeUpdater(2, 0.4).begin()  # forgets what it learnt
    with pytest.raises(InvalidData, match="updates_exceeded"):
        stubborn.update(query, 1.0)


def test_bad_nets_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="net_misshapen"):
        MedianUpdater(np.zeros((0, 3)), 0.1)
