"""Residuals of marginals: exact sensitivities, and the best precisions."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import LearnedEvents, audit, outcome, repeated
from discreet.core.guarantee import Guarantee
from discreet.queries.matrix.gaussian_optimum import gaussian_optimum
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.marginal_strategy import AxisContrast, MarginalStrategy
from discreet.queries.matrix.residual_weights import gains, residual_strategy, table_strategy
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.families import Each, Listed, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

UNIVERSE = Universe.of(a=range(2), b=range(3), c=range(4))
MIXED = Workload.union(
    Workload.marginals(UNIVERSE, 2), Workload.of(UNIVERSE, {"c": Ranges(4), "a": Each(2)})
)
SIZES: list[RecordCount] = [NoisyRecordCount(), PublicCount(100)]


def columns(strategy: MarginalStrategy, universe: Universe) -> NDArray[np.object_]:
    """What one record in each cell adds to the measured numbers, a row for each cell."""
    found = []
    for cell in range(universe.size):
        record = np.zeros(universe.size, dtype=np.int64)
        record[cell] = 1
        table = record.reshape(universe.shape)
        counts = {
            places: table.sum(axis=tuple(i for i in range(table.ndim) if i not in places))
            for places in strategy.largest_attribute_sets
        }
        found.append(strategy.measure(counts))
    return np.array(found).astype(object)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_contrasts_are_multiples_of_the_centring_with_equal_columns(size: int) -> None:
    part = AxisContrast(size)
    centring = np.eye(size) - 1 / size
    assert part.matrix.T @ part.matrix == pytest.approx(part.kappa * centring)
    assert set(np.abs(part.matrix).sum(axis=0)) == {part.l1}
    assert set((part.matrix**2).sum(axis=0)) == {part.l2_squared}
    assert int(part.matrix[:, 0] @ part.matrix[:, 1]) == part.between


@pytest.mark.parametrize("find", [residual_strategy, table_strategy])
def test_the_sensitivity_is_that_of_every_record_and_of_the_worst_exchange(find: object) -> None:
    """All cells and all pairs of cells, in whole numbers."""
    assert callable(find)
    strategy: MarginalStrategy = find(MIXED, NoisyRecordCount())
    rows = columns(strategy, UNIVERSE)
    assert {int(np.abs(row).sum()) for row in rows} == {strategy.moved_l1(NoisyRecordCount())}
    assert {int((row**2).sum()) for row in rows} == {strategy.moved_l2_squared(NoisyRecordCount())}
    pairs = list(itertools.combinations(rows, 2))
    assert max(int(np.abs(x - y).sum()) for x, y in pairs) <= strategy.moved_l1(PublicCount(9))
    worst = max(int(((x - y) ** 2).sum()) for x, y in pairs)
    assert worst == strategy.moved_l2_squared(PublicCount(9))


def test_the_bound_on_exchanges_over_many_attributes_is_sound_and_reached_table_by_table() -> None:
    strategy = residual_strategy(MIXED, NoisyRecordCount())
    for table in strategy.tables:
        rows = columns(MarginalStrategy((table,)), UNIVERSE)
        pairs = itertools.combinations(rows, 2)
        worst = max(int(((x - y) ** 2).sum()) for x, y in pairs)
        assert worst == table.exchanged_at_most()


def test_gaussian_precisions_reach_the_certified_optimum_for_marginals() -> None:
    """The closed form is the least error of any strategy on the whole universe."""
    for ways in (1, 2):
        workload = Workload.marginals(UNIVERSE, ways)
        certified = gaussian_optimum(workload.gram(), gap=1e-6)
        strategy = residual_strategy(workload, NoisyRecordCount())
        error = strategy.moved_l2_squared(NoisyRecordCount()) * math.fsum(
            gain / strategy.precisions[places] for places, gain in gains(workload).items()
        )
        assert certified.bound * (1 - 1e-6) <= error <= certified.bound * 1.001


def test_gains_are_those_of_the_dense_workload() -> None:
    """The total error of least squares from residuals, against the explicit covariance."""
    workload = Workload.union(MIXED, Workload.of(UNIVERSE, {"b": Listed([[0.5, -1, 2]])}, weight=3))
    strategy = residual_strategy(workload, NoisyRecordCount())
    whole = columns(strategy, UNIVERSE).T.astype(np.float64)
    covariance = np.linalg.pinv(whole.T @ whole, rcond=1e-12)
    dense = float(np.einsum("ij,ij->", covariance, workload.gram()))
    found = sum(gain / strategy.precisions[places] for places, gain in gains(workload).items())
    assert found == pytest.approx(dense, rel=1e-6)


def test_laplace_weights_are_at_least_as_good_as_the_obvious_ones() -> None:
    """Against all asked marginals alike, and against the whole table by itself."""
    for universe, ways in (
        (UNIVERSE, 2),
        (Universe.of(**{f"x{i}": range(2) for i in range(6)}), 2),
    ):
        workload = Workload.marginals(universe, ways)
        found = MarginalMechanism(workload, dp.PureDP(epsilon=1)).expected_error
        alike = 2 * len(workload.products) ** 2 * workload.queries
        alone = 2 * universe.size * len(workload.products)
        assert found <= min(alike, alone) * 1.001


@pytest.mark.parametrize("attributes", [4, 12, 20])
def test_two_valued_attributes_do_as_well_as_fourier_coefficients(attributes: int) -> None:
    """Signed sums by themselves, w_A ∝ (g_A / 2^|A|)^{1/3}: error (Σ (g_A / 2^|A|)^{1/3})³."""
    universe = Universe.of(**{f"x{i}": range(2) for i in range(attributes)})
    workload = Workload.marginals(universe, 2)
    strategy = table_strategy(workload, NoisyRecordCount())
    needed = gains(workload)
    fourier = sum((gain / 2 ** len(places)) ** (1 / 3) for places, gain in needed.items()) ** 3
    found = strategy.moved_l1(NoisyRecordCount()) ** 2 * math.fsum(
        gain / strategy.precisions[places] for places, gain in needed.items()
    )
    assert found <= fourier * 1.001


@dataclass(frozen=True)
class Forgetful(MarginalStrategy):
    """A twin: all tables are measured, and one is counted in the sensitivity."""

    def moved_l1(self, size: RecordCount) -> int:
        return min(table.l1 for table in self.tables)

    def moved_l2_squared(self, size: RecordCount) -> int:
        return min(table.l2_squared for table in self.tables)


def test_a_twin_that_forgets_all_tables_but_one_is_caught_by_enumeration() -> None:
    twin = Forgetful(residual_strategy(MIXED, NoisyRecordCount()).tables)
    rows = columns(twin, UNIVERSE)
    assert max(int(np.abs(row).sum()) for row in rows) > twin.moved_l1(NoisyRecordCount())
    assert max(int((row**2).sum()) for row in rows) > twin.moved_l2_squared(NoisyRecordCount())


def test_a_release_keeps_its_claim_and_that_of_the_forgetful_twin_is_refuted() -> None:
    """One false alarm in 1e6 on each side; ten attributes of which a record moves all."""
    universe = Universe.of(**{f"x{i}": range(2) for i in range(10)})
    workload = Workload.marginals(universe, 1)
    honest = MarginalMechanism(workload, dp.PureDP(epsilon=1))
    assert honest.strategy is not None
    twin = replace(honest, strategy=Forgetful(honest.strategy.tables))
    empty, one = np.zeros(1024, dtype=np.int64), np.zeros(1024, dtype=np.int64)
    one[-1] = 1

    def many(mechanism: MarginalMechanism, counts: NDArray[np.int64]) -> bool:
        """Whether the ten answers that the record is in speak for it."""
        return bool(mechanism.release(counts).answers(workload)[1::2].sum() > 6)

    def passes(mechanism: MarginalMechanism) -> bool:
        return audit(
            repeated(lambda counts: many(mechanism, counts)),
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


@pytest.mark.parametrize("spend", [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5)])
@pytest.mark.parametrize("size", SIZES)
def test_without_noise_every_answer_is_exact(spend: Guarantee, size: RecordCount) -> None:
    counts = np.arange(24) % 7
    known = PublicCount(int(counts.sum())) if isinstance(size, PublicCount) else size
    strategy = MarginalMechanism(MIXED, spend, size=known).strategy
    assert strategy is not None
    table = counts.reshape(UNIVERSE.shape)
    exact = {
        places: table.sum(axis=tuple(i for i in range(3) if i not in places))
        for places in strategy.largest_attribute_sets
    }
    found = strategy.reconstruct(strategy.measure(exact))
    for places, residual in found.items():
        whole = table.sum(axis=tuple(i for i in range(3) if i not in places)).astype(float)
        for axis in range(whole.ndim):
            whole = whole - whole.mean(axis=axis, keepdims=True)
        assert residual == pytest.approx(whole, abs=1e-9)


def test_prefixes_on_kept_axes_count_in_the_gains() -> None:
    """A range on an axis needs its total more than single values do."""
    single = gains(Workload.of(UNIVERSE, {"c": Each(4)}))
    running = gains(Workload.of(UNIVERSE, {"c": Prefixes(4)}))
    assert single == pytest.approx({(): 0.25, (2,): 3.0})
    assert running == pytest.approx({(): 30 / 16, (2,): 10 - 30 / 4})
