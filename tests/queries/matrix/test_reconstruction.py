"""Reconstruction without negative counts: nearer as a whole, and biased as it says."""

import math

import numpy as np
import pytest
from scipy.optimize import nnls

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.reconstruction import LeastSquares, NonNegative, projected
from discreet.queries.matrix.strategy import hierarchical, identity
from discreet.queries.record_count import NoisyRecordCount, PublicCount
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
