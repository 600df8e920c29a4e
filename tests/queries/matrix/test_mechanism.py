"""Measured, reconstructed, and as wrong as it was said to be."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidParameter
from discreet.queries.families import Each, Prefixes, Ranges
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy, gaussian_strategy, laplace_strategy
from discreet.queries.matrix.strategy import hierarchical, identity, wavelet
from discreet.queries.universe import Universe
from discreet.queries.workload import Workload

UNIVERSE = Universe.of(age=range(16), sex=["f", "m"], ward=["A", "B", "C"])
COUNTS = (np.arange(96).reshape(16, 2, 3) * 7919) % 50
WORKLOAD = Workload.union(
    Workload.of(UNIVERSE, {"age": Ranges(16)}),
    Workload.of(UNIVERSE, {"age": Prefixes(16), "sex": Each(2)}),
    Workload.marginals(UNIVERSE, 2),
)
SPENDS = [dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=1e-6), dp.ZCDP(rho=0.5)]


def test_products_answer_as_their_matrix_does() -> None:
    assert WORKLOAD.answers(COUNTS) == pytest.approx(WORKLOAD.dense() @ COUNTS.ravel())
    dense = WORKLOAD.dense()
    assert WORKLOAD.gram() == pytest.approx(dense.T @ dense)
    assert WORKLOAD.queries == len(dense) == 136 + 32 + (32 + 48 + 6)


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
def test_the_error_is_the_one_that_was_foretold(spend: Guarantee) -> None:
    """400 releases; the mean of the total squared error is within 5 sigma, 1e-6 false alarms."""
    factors = (hierarchical(16), identity(2), identity(3))
    mechanism = MatrixMechanism(WORKLOAD, spend, ProductStrategy.of(*factors))
    exact = WORKLOAD.answers(COUNTS)
    errors = []
    for _ in range(400):
        found = mechanism.release(COUNTS).answers(WORKLOAD)
        errors.append(float(((found - exact) ** 2).sum()))
    spread = float(np.std(errors)) / math.sqrt(len(errors))
    assert abs(np.mean(errors) - mechanism.expected_error) < 5 * spread


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
def test_a_found_strategy_is_at_least_as_good_as_the_classical_ones(spend: Guarantee) -> None:
    found = MatrixMechanism(WORKLOAD, spend).expected_error
    for first in (identity(16), hierarchical(16), wavelet(16)):
        classical = ProductStrategy.of(first, identity(2), identity(3))
        assert found <= MatrixMechanism(WORKLOAD, spend, classical).expected_error * 1.001


def test_one_record_moves_measurements_by_no_more_than_the_sensitivity() -> None:
    for strategy in (laplace_strategy(WORKLOAD), gaussian_strategy(WORKLOAD)):
        before = strategy.measure(COUNTS)
        for cell in np.ndindex(16, 2, 3):
            other = COUNTS.copy()
            other[cell] += 1
            moved = (strategy.measure(other) - before).astype(object)
            assert np.abs(moved).sum() <= strategy.l1
            assert (moved**2).sum() <= strategy.l2_squared


def test_without_noise_reconstruction_is_exact() -> None:
    strategy = laplace_strategy(WORKLOAD)
    assert strategy.reconstruct(strategy.measure(COUNTS)) == pytest.approx(COUNTS, abs=1e-6)


def test_records_multiply_the_sensitivity() -> None:
    one = MatrixMechanism(WORKLOAD, SPENDS[0], ProductStrategy.of(*map(identity, (16, 2, 3))))
    three = MatrixMechanism(
        WORKLOAD, SPENDS[0], ProductStrategy.of(*map(identity, (16, 2, 3))), records=3
    )
    assert three.expected_error == pytest.approx(9 * one.expected_error, rel=0.1)


def test_a_billion_cells_can_be_planned_but_not_reconstructed() -> None:
    huge = Universe.of(**{f"a{i}": range(32) for i in range(6)})
    workload = Workload.marginals(huge, 2)
    assert huge.size == 1 << 30
    assert workload.queries == 15 * 1024
    strategy = ProductStrategy.of(*(identity(32) for _ in range(6)))
    assert strategy.trace(workload) == pytest.approx(15 * 32.0**6)
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        MatrixMechanism(workload, SPENDS[0], strategy)


def test_attributes_that_nobody_asks_about_are_summed() -> None:
    universe = Universe.of(**{f"a{i}": range(3) for i in range(8)})
    workload = Workload.marginal(universe, ["a1", "a4", "a6"])
    for spend in SPENDS:
        mechanism = MatrixMechanism(workload, spend)
        assert mechanism.strategy is not None
        assert mechanism.strategy.measurements == 27
    counts = np.ones(3**8, dtype=np.int64)
    found = MatrixMechanism(workload, dp.PureDP(epsilon=1e5)).release(counts)
    assert found.answers(workload) == pytest.approx(np.full(27, 3.0**5), abs=1e-3)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="attribute_unknown"):
        Workload.marginal(UNIVERSE, ["nothing"])
    with pytest.raises(InvalidParameter, match="workload_misfit"):
        Workload.of(UNIVERSE, {"age": Ranges(7)})
    with pytest.raises(InvalidParameter, match="attribute_values"):
        Universe.of(a=[])
    mechanism = MatrixMechanism(WORKLOAD, SPENDS[0], ProductStrategy.of(*map(identity, (16, 2, 3))))
    with pytest.raises(InvalidParameter, match="counts_misfit"):
        mechanism.release(np.zeros(5, dtype=np.int64))
    with pytest.raises(InvalidParameter, match="counts_misfit"):
        mechanism.release(np.zeros(96))  # type: ignore[arg-type]
