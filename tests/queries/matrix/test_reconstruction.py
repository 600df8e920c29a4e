"""Reconstruction without negative counts: nearer as a whole, and biased as it says."""

import json
import math

import numpy as np
import pytest
from scipy.optimize import nnls

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.noise.randomness import Seeded
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.reconstruction import LeastSquares, NonNegative, projected
from discreet.queries.matrix.strategy import hierarchical, identity
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.synopses.partial_tables import PartialTables
from discreet.queries.synopses.synopsis import (
    HistogramSynopsis,
    noise_of,
    synopsis_from_dict,
)
from discreet.queries.workload.families import Each, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

STRATEGY = ProductStrategy.of(hierarchical(6), identity(3))
MATRIX = np.kron(hierarchical(6).rows, np.eye(3))
NOISY = np.random.default_rng(3).normal(1, 4, (len(hierarchical(6).rows), 3))


def test_it_is_the_solution_of_non_negative_least_squares() -> None:
    found = NonNegative(iterations=20_000, tolerance=1e-12).counts(
        STRATEGY, NOISY, NoisyRecordCount()
    )
    exact, _ = nnls(MATRIX, NOISY.ravel())
    assert found.ravel() == pytest.approx(exact, abs=1e-4)
    assert found.min() >= 0


def test_a_public_total_is_kept_at_the_optimum() -> None:
    """By the conditions of optimality: equal slopes where counts are positive, none below."""
    found = NonNegative(iterations=20_000, tolerance=1e-12).counts(STRATEGY, NOISY, PublicCount(50))
    assert found.sum() == pytest.approx(50)
    slopes = MATRIX.T @ (MATRIX @ found.ravel() - NOISY.ravel())
    inside = slopes[found.ravel() > 1e-6]
    assert inside == pytest.approx(np.full(inside.shape, inside.mean()), abs=1e-4)
    assert slopes.min() >= inside.mean() - 1e-4


def test_fitted_measurements_are_never_further_from_the_truth() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        truth = rng.poisson(0.5, (6, 3)).astype(float)
        noisy = (MATRIX @ truth.ravel()).reshape(NOISY.shape) + rng.normal(0, 3, NOISY.shape)
        distances = [
            np.linalg.norm(
                MATRIX @ (how.counts(STRATEGY, noisy, NoisyRecordCount()) - truth).ravel()
            )
            for how in (NonNegative(), LeastSquares())
        ]
        assert distances[0] <= distances[1] * (1 + 1e-4)


def test_an_empty_cell_is_biased_by_the_stated_amount() -> None:
    """Gaussian noise on an empty cell: s / √(2π) within 5 sigma, 1e-6 false alarms."""
    universe = Universe.of(x=range(64), y=range(64))
    workload = Workload.of(universe, {"x": Each(64), "y": Each(64)})
    mechanism = MatrixMechanism(
        workload,
        dp.ZCDP(rho=0.005),
        ProductStrategy.of(identity(64), identity(64)),
        reconstruction=NonNegative(),
    )
    found = mechanism.release(np.zeros(4096, dtype=np.int64)).answers(workload)
    deviation = float(mechanism.deviations(workload)[0])
    assert found.min() >= 0
    spread = 5 * deviation * math.sqrt((0.5 - 0.5 / math.pi) / 4096)
    assert abs(found.mean() - deviation / math.sqrt(2 * math.pi)) < spread + 0.05


def test_the_counts_by_least_squares_are_kept_beside_those_without_negative_ones() -> None:
    """200 releases of nothing: the sum of all cells is without bias within 5 sigma, wrong 6e-7."""
    universe = Universe.of(x=range(6), y=range(3))
    asked = Workload.of(universe, {"x": Ranges(6), "y": Each(3)})
    tables = [asked, Workload.union(asked, Workload.marginal(universe, ["x"]))]
    for workload in tables:
        made = MatrixMechanism(
            workload, dp.PureDP(epsilon=1), reconstruction=NonNegative(), randomness=Seeded(2)
        )
        cells = Workload.marginal(universe, ["x", "y"])
        found = made.release(np.zeros(universe.shape, dtype=np.int64))
        pairs = []
        for _ in range(200):
            found = made.release(np.zeros(universe.shape, dtype=np.int64))
            before = found.unprocessed
            assert before is not None
            pairs.append((found.answers(cells).sum(), before.answers(cells).sum()))
        whole, plain = np.array(pairs).T
        assert plain.min() < 0 <= whole.min()
        assert abs(plain.mean()) < 5 * plain.std() / math.sqrt(200)
        assert whole.mean() > 10 * whole.std() / math.sqrt(200)
        before = found.unprocessed
        assert before is not None
        assert noise_of(before) is not None
        assert noise_of(found) is None
        assert found.biased is not None
        assert "in `unprocessed`" in found.biased
        stored = json.loads(json.dumps(found.to_dict()))
        again = synopsis_from_dict(stored, universe, found.event)
        assert isinstance(again, HistogramSynopsis | PartialTables)
        assert again.unprocessed is not None
        assert np.array_equal(again.unprocessed.answers(cells), before.answers(cells))
        for broken in (3, {"synopsis": "histogram"}, {**stored}):
            with pytest.raises(InvalidParameter, match="synopsis_not_plain"):
                synopsis_from_dict({**stored, "unprocessed": broken}, universe, found.event)
        straight = MatrixMechanism(workload, dp.PureDP(epsilon=1)).release(
            np.zeros(universe.shape, dtype=np.int64)
        )
        assert straight.unprocessed is None
        assert straight.biased is None


def test_projected_answers_have_the_noisy_ones_beside_them() -> None:
    universe = Universe.of(x=range(6), y=range(3))
    asked = Workload.marginals(universe, 1)
    found = ProjectionMechanism(asked, dp.PureDP(epsilon=1), size=PublicCount(18)).release(
        np.full(universe.shape, 1, dtype=np.int64)
    )
    assert found.unprocessed is not None
    noisy = found.unprocessed.answers(asked)
    assert np.array_equal(noisy, np.round(noisy))
    assert found.answers(asked).min() >= 0


def test_projections_are_nearest() -> None:
    table = np.array([3.0, -1.0, 0.5, 0.0])
    assert projected(table, None) == pytest.approx([3, 0, 0.5, 0])
    assert projected(table, 2.0) == pytest.approx([2, 0, 0, 0])
    assert projected(table, 6.0) == pytest.approx([3 + 2.5 / 3, 0, 0.5 + 2.5 / 3, 2.5 / 3])


def test_too_many_cells_are_refused_before_anything_is_spent() -> None:
    universe = Universe.of(x=range(2048), y=range(1024))
    workload = Workload.of(universe, {"x": Ranges(2048), "y": Each(1024)})
    strategy = ProductStrategy.of(identity(2048), identity(1024))
    assert MatrixMechanism(workload, dp.PureDP(epsilon=1), strategy).strategy is strategy
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        MatrixMechanism(workload, dp.PureDP(epsilon=1), strategy, reconstruction=NonNegative())
