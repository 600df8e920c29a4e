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
from discreet.local.laplace import LaplaceMean
from discreet.local.projection import RandomProjection
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


def test_a_projection_leads_back_on_average() -> None:
    """Over 400 rounds; entries of R'R have deviations of at most 1/sqrt(8), six of them."""
    projection = RandomProjection(dimensions=16, seed=7)
    vector = np.linspace(-1, 1, 30)
    back = [
        projection.up(projection.down(vector[None], turn=turn)[0], 30, turn=turn)
        for turn in range(400)
    ]
    worst = np.linalg.norm(vector) * np.sqrt(2 / 16 / 400)
    assert np.abs(np.mean(back, axis=0) - vector).max() < 6 * worst
    assert not np.array_equal(back[0], back[1])
    assert RandomProjection(dimensions=16, seed=8).matrix(30, turn=0).shape == (16, 30)
    assert (projection.matrix(30, turn=5) == projection.matrix(30, turn=5)).all()


def test_a_projection_helps_where_each_person_has_one_of_many_features() -> None:
    generator = np.random.default_rng(6)
    wanted = generator.uniform(-1, 1, 64)
    who = generator.integers(0, 64, 60_000)
    rows = np.eye(64)[who]
    aims = wanted[who] + generator.normal(0, 0.1, len(who))
    given: dict[str, Any] = {"epsilon": 2, "loss": SquaredLoss(), "rounds": 20, "step": 2.0}
    plain = LocalGradientDescent(clamp=1.0, **given)
    short = RandomProjection(dimensions=16, seed=7)
    projected = LocalGradientDescent(clamp=0.3, projection=short, **given)
    assert projected.event == plain.event
    assert projected.question(64).dimensions == 16

    def error(found: Any) -> float:
        return float(np.sqrt(np.mean((found - wanted) ** 2)))

    assert error(projected.fit(rows, aims)) < 0.6 * error(plain.fit(rows, aims))


def test_noise_of_each_person_is_the_baseline() -> None:
    """The catalogue's .001414 for a share of a million people is that of continuous noise."""
    share = LaplaceMean(epsilon=1, domain=2)
    assert share.event == Pure(epsilon=1)
    assert share.deviation < np.sqrt(2)
    assert LaplaceMean(epsilon=1, domain=1001).deviation / 1000 == pytest.approx(np.sqrt(2))
    values = np.repeat([0, 50, 100], 20_000)
    years = LaplaceMean(epsilon=1, domain=101)
    reports = years.privatize_many([*values, np.nan, np.inf, -5])
    tally = years.aggregate(reports)
    found = years.mean(tally)
    assert abs(found.mean - 50) < 6 * found.standard_error
    assert np.std(reports.columns["place"]) == pytest.approx(
        np.hypot(years.deviation, np.std(values)), rel=0.05
    )
    for bad, code in ((np.zeros((2, 2)), "local_numbers"),):
        with pytest.raises(DiscreetError, match=code):
            years.privatize_many(bad)
    with pytest.raises(DiscreetError, match="local_nobody_reported"):
        years.mean(years.aggregate(years.batch([])[0]))
    with pytest.raises(DiscreetError, match="domain"):
        LaplaceMean(epsilon=1, domain=1)


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
