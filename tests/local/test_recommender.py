"""Recommendations: gradients of the loss, one report for each person, tastes that stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import local
from discreet.core.errors import DiscreetError
from discreet.core.events.mechanisms import Pure
from discreet.local.recommender import LocalRecommender
from discreet.local.vectors import VectorMean
from discreet.noise import Seeded

Floats = NDArray[np.float64]


def recommender(**changed: Any) -> LocalRecommender:
    usual: dict[str, Any] = {
        "epsilon": 4,
        "items": 8,
        "factors": 2,
        "rounds": 20,
        "clamp": 0.3,
        "step": 4.0,
        "ridge": 0.1,
    }
    return LocalRecommender(**{**usual, **changed})


def ratings(people: int) -> Floats:
    """Tastes and items on a circle: a rating is the cosine between them, with a little noise."""
    generator = np.random.default_rng(0)
    angles = [generator.uniform(0, 2 * np.pi, size) for size in (people, 8)]
    exact = np.cos(angles[0][:, None] - angles[1])
    return np.asarray(exact + generator.normal(0, 0.05, exact.shape))


def test_reports_are_gradients_of_the_squared_error_in_the_factors() -> None:
    question = recommender(ridge=0.05)
    rows = np.where(np.random.default_rng(1).random((5, 8)) < 0.6, ratings(5), np.nan)
    factors = question.start()
    tastes = question.tastes(rows, factors)

    def loss(given: Floats) -> Floats:
        misses = np.nan_to_num(np.clip(rows, -1, 1) - tastes @ given.T)
        return np.asarray((misses**2).sum(axis=1) / 2)

    found = question.gradients(rows, factors) * question.clamp
    for place in range(16):
        moved = [factors.copy(), factors.copy()]
        for sign, each in zip((1e-6, -1e-6), moved, strict=True):
            each.ravel()[place] += sign
        slope = (loss(moved[0]) - loss(moved[1])) / 2e-6
        assert found[:, place] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("vectors", [local.PrivUnit, VectorMean])
def test_hidden_ratings_are_predicted(vectors: Any) -> None:
    rows = ratings(22_000)
    seen = np.random.default_rng(2).random(rows.shape) < 0.6
    assert recommender(vectors=vectors).event == Pure(epsilon=4)
    question = recommender(vectors=vectors, randomness=Seeded(1))
    known = np.where(seen, rows, np.nan)
    factors = question.fit(known[:20_000])
    hidden = ~seen[20_000:]
    gap = question.predicted(known[20_000:], factors) - rows[20_000:]
    assert np.sqrt(np.mean(gap[hidden] ** 2)) < 0.4  # 0.71 for nought


class Counting(LocalRecommender):
    """Notes who computed a gradient, by the first rating."""

    asked: list[float]

    def gradients(self, ratings: Any, factors: Floats) -> Floats:
        self.asked.extend(np.asarray(ratings)[:, 0].tolist())
        return super().gradients(ratings, factors)


def test_everybody_reports_once() -> None:
    rows = ratings(200)
    rows[:, 0] = np.arange(200) / 200
    question = Counting(epsilon=1, items=8, factors=2, rounds=7, clamp=1.0, step=1.0, ridge=0.1)
    object.__setattr__(question, "asked", [])
    question.fit(rows)
    assert sorted(question.asked) == rows[:, 0].tolist()


def test_a_device_sends_its_gradient_and_nothing_else() -> None:
    question = recommender()
    asked = question.collection("films", turn=1)
    collector, factors = local.Collector(asked), question.start()
    client = asked.client()
    for row in ratings(30):
        collector.take([client.privatize(question.gradients([row], factors)[0])])
    assert collector.tally.people == 30
    assert question.update_factors(factors, collector.tally).shape == (8, 2)
    assert [field.name for field in asked.oracle.fields] == ["seed", "direction"]


def test_no_rating_is_refused() -> None:
    question = recommender(rounds=2)
    rows = ratings(10)
    rows[0], rows[1, 2], rows[2, 3] = np.nan, np.inf, -np.inf
    assert np.isfinite(question.fit(rows)).all()
    for bad in (rows[:, :3], rows[0], rows[:1]):
        with pytest.raises(DiscreetError, match="local_ratings"):
            question.fit(bad)
