"""Places, graphs and gradients. Statistical tests fail wrongly with a chance below 1e-6."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DiscreetError
from discreet.core.events.mechanisms import Pure, RandomizedResponse
from discreet.local.completion import NextWords
from discreet.local.gradients import HingeLoss, LocalGradientDescent, RowLoss, SquaredLoss
from discreet.local.graphs import NeighbourLists, NoisyDegrees
from discreet.local.regions import SafeRegion, cell_counts
from discreet.local.regression import OneRoundRegression


def test_counts_of_cells_add_up_over_regions() -> None:
    city = SafeRegion((0, 1, 2, 3), 2)
    country = SafeRegion((2, 3, 4, 5, 6, 7), 1)
    people = {city: [0] * 3000 + [3] * 1000, country: [3] * 2000 + [7] * 2000}
    tallies = {
        region: region.oracle.aggregate(region.oracle.privatize_many(region.places(cells)))
        for region, cells in people.items()
    }
    found = cell_counts(tallies, cells=9)
    truth = np.array([3000, 0, 0, 3000, 0, 0, 0, 2000, 0])
    errors = np.sqrt(found.variances)
    assert found.counts[8] == errors[8] == 0
    assert np.abs(found.counts[:8] - truth[:8]).max() < 6 * errors.max()
    with pytest.raises(DiscreetError, match="local_cell_outside"):
        city.places([7])
    with pytest.raises(DiscreetError, match="local_region_cells"):
        SafeRegion((4,), 1)


def ring(nodes: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    graph = np.zeros((nodes, nodes), dtype=np.bool_)
    at = np.arange(nodes)
    for gap in (1, 2, 3):
        graph[at, (at + gap) % nodes] = True
    return np.asarray(graph | graph.T)


def test_neighbour_lists_give_unbiased_degrees_and_edges() -> None:
    graph = ring(300)
    lists = NeighbourLists(epsilon=2)
    assert lists.event == RandomizedResponse(epsilon=2, categories=2)
    noisy = lists.release(graph)
    assert np.array_equal(noisy, noisy.T)
    assert not noisy.diagonal().any()
    x = math.exp(2)
    spread = math.sqrt(299 * x / (x - 1) ** 2)
    assert abs(np.mean(lists.degrees(noisy)) - 6) < 6 * spread / math.sqrt(150)
    assert abs(lists.edges(noisy) - 900) < 6 * math.sqrt(300 * 299 / 2 * x) / (x - 1)
    false = (noisy & ~graph).sum() / 2
    expected = (300 * 299 / 2 - 900) / (1 + x)
    assert abs(false - expected) < 6 * math.sqrt(expected)


def test_noisy_degrees_pay_for_both_ends() -> None:
    degrees = NoisyDegrees(epsilon=1)
    assert degrees.event.epsilon(delta=0) == 2
    found = degrees.release(ring(2000))
    assert abs(found.mean() - 6) < 6 * math.sqrt(2 / 2000)
    for bad in (np.eye(3, dtype=np.bool_), np.zeros((2, 3), np.bool_), np.zeros((3, 3))):
        with pytest.raises(DiscreetError, match="local_not_a_graph"):
            degrees.release(bad)


def test_gradients_from_devices_find_the_coefficients() -> None:
    generator = np.random.default_rng(0)
    rows = generator.uniform(-1, 1, (200_000, 3))
    wanted = np.array([0.6, -0.3, 0.1])
    aims = rows @ wanted + generator.normal(0, 0.1, len(rows))
    descent = LocalGradientDescent(epsilon=2, loss=SquaredLoss(), rounds=40, clamp=1.0, step=0.5)
    assert descent.event == Pure(epsilon=2)
    found = descent.fit(rows, aims)
    assert np.abs(found - wanted).max() < 0.12


def test_the_loop_reaches_least_squares_where_noise_is_small() -> None:
    generator = np.random.default_rng(1)
    rows = generator.uniform(-1, 1, (100_000, 2))
    aims = rows @ np.array([0.5, 0.2]) + generator.normal(0, 0.1, len(rows))
    closed = np.linalg.lstsq(rows, aims, rcond=None)[0]
    quiet = LocalGradientDescent(epsilon=16, loss=SquaredLoss(), rounds=50, clamp=1.0, step=1.0)
    assert np.abs(quiet.fit(rows, aims) - closed).max() < 0.1


def test_a_hinge_separates() -> None:
    generator = np.random.default_rng(2)
    rows = generator.uniform(-1, 1, (100_000, 2))
    aims = np.sign(rows @ np.array([1.0, -1.0]))
    descent = LocalGradientDescent(
        epsilon=4, loss=HingeLoss(), rounds=30, clamp=1.0, step=0.5, ridge=0.05
    )
    found = descent.fit(rows, aims)
    assert np.mean(np.sign(rows @ found) == aims) > 0.9
    for bad in (rows[:5], rows[:, 0]):
        with pytest.raises(DiscreetError, match="local_gradient_rows"):
            descent.fit(bad, aims[: len(bad)])


class Quotient:
    """A loss whose gradient is NaN where features are too large."""

    def gradients(self, features: Any, targets: Any, coefficients: Any) -> Any:
        return (10 * features) / (10 * features) - coefficients


@pytest.mark.parametrize("loss", [SquaredLoss(), HingeLoss(), Quotient()])
def test_no_number_of_a_person_stops_the_descent(loss: RowLoss) -> None:
    descent = LocalGradientDescent(epsilon=1, loss=loss, rounds=2, clamp=1.0, step=0.1)
    for odd in (np.inf, -np.inf, np.nan, 1e308):
        rows, aims = np.ones((10, 2)), np.ones(10)
        rows[3], rows[4, 0], aims[5], aims[3] = odd, odd, odd, odd
        assert np.isfinite(descent.fit(rows, aims)).all()


def test_regression_in_one_round_finds_least_squares() -> None:
    generator = np.random.default_rng(3)
    rows = generator.uniform(-1, 1, (400_000, 2))
    aims = np.clip(rows @ np.array([0.5, -0.3]) + generator.normal(0, 0.1, len(rows)), -1, 1)
    closed = np.linalg.lstsq(rows, aims, rcond=None)[0]
    for epsilon, bound in ((16, 0.05), (2, 0.08)):
        question = OneRoundRegression(epsilon=epsilon, features=2, ridge=0.05)
        told = question.question.aggregate(question.privatize_many(rows, aims))
        found = question.fit(told)
        # a mean of five coordinates errs by 2.2 / sqrt(n) times 1.3 at epsilon 2; over 1/3: 0.014
        assert np.abs(found - closed).max() < bound
    with pytest.raises(DiscreetError, match="local_regression_rows"):
        question.privatize_many(rows[:, 0], aims)


def test_completion_says_what_the_counts_say() -> None:
    """Tags follow in a circle, and so do words: 0 1 2 0, and word w is followed by w + 1."""
    generator = np.random.default_rng(4)
    start = generator.integers(0, 3, 60_000)
    tags = np.stack([start, (start + 1) % 3, (start + 2) % 3], axis=1)
    last = generator.integers(0, 6, 60_000)
    words = np.stack([last, (last + 1) % 6], axis=1)
    question = NextWords(epsilon=4, tags=3, words=6)
    tally = question.oracle.aggregate(question.oracle.privatize_many(question.numbers(tags, words)))
    found = question.predictor(tally, confidence=1 - 1e-7)
    for tag in range(3):
        assert found.tag(tag, (tag + 1) % 3) == (tag + 2) % 3
        for word in range(6):
            assert found.complete(tag, (tag + 1) % 3, word) == (word + 1) % 6
    assert found.tag(0, 2) is None
    assert found.complete(0, 2, 1) is None
    with pytest.raises(DiscreetError, match="local_vocabulary"):
        NextWords(epsilon=1, tags=20, words=5000)
