"""Measured, reconstructed, and as wrong as it was said to be."""

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import LearnedEvents, audit, outcome, repeated
from discreet.core.domain import Categories
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidData, InvalidParameter
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy, gaussian_strategy, laplace_strategy
from discreet.queries.matrix.strategy import Strategy, hierarchical, identity, total, wavelet
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.synopses.synopsis import synopsis_from_dict
from discreet.queries.workload.families import Each, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

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
def test_the_error_is_the_one_that_was_predicted(spend: Guarantee) -> None:
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


def test_measurements_never_wrap_around() -> None:
    """Counts beyond all plans are measured in larger integers, and then saturate."""
    strategy = laplace_strategy(WORKLOAD)
    counts = np.full((16, 2, 3), 1 << 50, dtype=np.int64)
    assert strategy.measure(counts).tolist() == strategy.measure(counts.astype(object)).tolist()
    assert strategy.measure(counts).max() > 1 << 63
    found = MatrixMechanism(WORKLOAD, SPENDS[0], strategy).release(counts).answers(WORKLOAD)
    assert found[-1] > 1 << 25


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
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        MatrixMechanism(workload, SPENDS[0])


class Uniform:
    """A source of a billion cells with one record for each value of every attribute."""

    unit = dp.Row()

    def domain(self, column: str) -> Categories:
        return Categories(tuple(range(32)))

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        table = np.zeros((32,) * len(columns), dtype=np.int64)
        table[(np.arange(32),) * len(columns)] = 1
        return table


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
def test_a_few_attributes_of_a_billion_cells_are_released(spend: Guarantee) -> None:
    """Only the touched attributes are counted; 7 sigma on each answer, 1e-8 false alarms."""
    huge = Universe.of(**{f"a{i}": range(32) for i in range(6)})
    workload = Workload.of(huge, {"a1": Ranges(32), "a4": Each(32)}, {"a1": Prefixes(32)})
    classical = ProductStrategy.of(
        *(total(32) if i not in (1, 4) else identity(32) for i in range(6))
    )
    mechanism = MatrixMechanism(workload, spend, classical)
    synopsis = mechanism.release(Uniform())
    running = Workload.of(huge, {"a1": Prefixes(32)})
    errors = synopsis.answers(running) - np.arange(1, 33)
    assert (np.abs(errors) <= 20 * mechanism.deviations(running)).all()
    assert synopsis.answers(workload).shape == (workload.queries,)
    again = synopsis_from_dict(json.loads(json.dumps(synopsis.to_dict())), huge, synopsis.event)
    assert (again.answers(workload) == synopsis.answers(workload)).all()
    with pytest.raises(InvalidParameter, match="marginal_not_measured"):
        synopsis.answers(Workload.marginal(huge, ["a0"]))


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
def test_each_query_knows_its_deviation(spend: Guarantee) -> None:
    """The squares add up to the expected error, and single ones follow from the matrices."""
    factors = (hierarchical(16), identity(2), identity(3))
    mechanism = MatrixMechanism(WORKLOAD, spend, ProductStrategy.of(*factors))
    found = mechanism.deviations(WORKLOAD) ** 2
    assert found.sum() == pytest.approx(mechanism.expected_error)
    covariance: NDArray[np.float64] = np.eye(1)
    for factor in factors:
        covariance = np.asarray(np.kron(covariance, factor.inverse_gram), dtype=np.float64)
    dense = WORKLOAD.dense()
    each = np.einsum("ij,ij->i", dense @ covariance, dense)
    assert found == pytest.approx(each * found[0] / each[0])


def test_exchanged_records_move_measurements_by_no_more_than_is_said() -> None:
    """All pairs of cells, for strategies of every kind."""
    universe = Universe.of(age=range(5), sex=range(2))
    workload = Workload.of(universe, {"age": Ranges(5), "sex": Each(2)})
    public = PublicCount(7)
    for strategy in (
        ProductStrategy.of(identity(5), identity(2)),
        ProductStrategy.of(hierarchical(5), identity(2)),
        ProductStrategy.of(wavelet(5), wavelet(2)),
        ProductStrategy.of(hierarchical(5), total(2)),
        laplace_strategy(workload),
        gaussian_strategy(workload),
    ):
        moved = []
        for cell in np.ndindex(5, 2):
            table = np.zeros((5, 2), dtype=np.int64)
            table[cell] = 1
            moved.append(strategy.measure(table).ravel().astype(object))
        pairs = list(itertools.combinations(moved, 2))
        assert max(int(np.abs(x - y).sum()) for x, y in pairs) <= strategy.moved_l1(public)
        squared = max(int(((x - y) ** 2).sum()) for x, y in pairs)
        assert squared <= strategy.moved_l2_squared(public) <= 4 * strategy.l2_squared
    plain = ProductStrategy.of(identity(5), identity(2))
    assert (plain.moved_l1(public), plain.moved_l2_squared(public)) == (2, 2)


def test_a_public_number_of_records_is_checked() -> None:
    strategy = ProductStrategy.of(*map(identity, (16, 2, 3)))
    known = PublicCount(int(COUNTS.sum()))
    synopsis = MatrixMechanism(WORKLOAD, SPENDS[0], strategy, size=known).release(COUNTS)
    assert synopsis.universe == UNIVERSE
    with pytest.raises(InvalidData, match="records_differ"):
        MatrixMechanism(WORKLOAD, SPENDS[0], strategy, size=PublicCount(3)).release(COUNTS)


class Normalised(ProductStrategy):
    """A twin: factors keep their largest entries, and claim columns of length one."""

    def moved_l1(self, size: RecordCount) -> int:
        return int(1 / self.step)


def test_a_twin_that_claims_unit_columns_is_refuted() -> None:
    """One false alarm in 1e6; sixteen copies of one count are averaged, so the twin is caught."""
    universe = Universe.of(x=range(2))
    workload = Workload.of(universe, {})
    copies = Strategy.of("copies", np.ones((16, 2)), 0)
    honest = MatrixMechanism(workload, dp.PureDP(epsilon=1), ProductStrategy.of(copies))
    twin = replace(honest, strategy=Normalised((copies,)))
    empty, one = np.array([0, 0]), np.array([1, 0])

    def total_of(mechanism: MatrixMechanism, counts: NDArray[np.int64]) -> float:
        return float(np.round(mechanism.release(counts).answers(workload)[0] * 2))

    def passes(mechanism: MatrixMechanism) -> bool:
        return audit(
            repeated(lambda counts: total_of(mechanism, counts)),
            empty,
            one,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=1000,
            confidence=1 - 1e-6,
        ).passes

    assert passes(honest)
    assert not passes(twin)


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
