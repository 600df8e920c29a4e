"""Where the number of records is public, it is exact, costs nothing, and strategies know it."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.arrays import Floats
from discreet.core.guarantee import Guarantee
from discreet.errors import DiscreetError
from discreet.queries.answer_noise.answer_noise import noise_from_dict
from discreet.queries.matrix.exchange_optimum import exchange_optimum
from discreet.queries.matrix.known_total import KnownTotal
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.p_identity import _error_beside_total
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.strategy import (
    Strategy,
    hierarchical,
    identity,
    square_root,
    total,
    wavelet,
)
from discreet.queries.matrix.union import UnionStrategy, gaussian_union, laplace_union
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.families import All, Each, Listed, Prefixes, QueryFamily, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

PURE, RHO = dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5)
SMALL = Universe.of(age=range(8), sex=["f", "m"])
COUNTS = (np.arange(16).reshape(8, 2) * 7919) % 50
KNOWN = PublicCount(int(COUNTS.sum()))


@pytest.mark.parametrize(
    ("spend", "before", "after"), [(PURE, 9.0767, 6.5585), (RHO, 2.8481, 2.4818)], ids=["l1", "l2"]
)
@pytest.mark.parametrize("values", [8, 32])
def test_ranges_are_no_worse_than_a_tree_that_knows_the_total(
    spend: Guarantee, before: float, after: float, values: int
) -> None:
    """Before, the total was measured with noise though everybody knows it."""
    universe = Universe.of(age=range(values))
    workload = Workload.of(universe, {"age": Ranges(values)})
    found = MatrixMechanism(workload, spend, size=PublicCount(1000)).rmse
    assert found <= QuadTree(workload, spend, PublicCount(1000)).rmse
    if values == 32:
        assert found < after < before


@st.composite
def _strategies(draw: st.DrawFn) -> Strategy:
    size = draw(st.integers(1, 6))
    row = st.lists(st.integers(-9, 9), min_size=size, max_size=size)
    rows = draw(st.lists(row, min_size=1, max_size=6))
    rows += np.eye(size, dtype=int).tolist() if draw(st.booleans()) else [[1] * size]
    return Strategy("drawn", np.array(rows, dtype=np.int64), draw(st.integers(0, 3)))


@settings(max_examples=150, deadline=None)
@given(_strategies(), st.integers(0, 2**32))
def test_the_constraint_is_that_of_least_squares(strategy: Strategy, seed: int) -> None:
    """Against the equations of Lagrange, solved apart: estimate, covariance, and what follows."""
    size, chance = strategy.size, np.random.default_rng(seed)
    known, rows = KnownTotal.beside(strategy), strategy.rows
    measured, records = chance.normal(size=len(rows)), int(chance.integers(1, 100))
    found = known.estimated(measured, records)
    assert found.sum() == pytest.approx(records)
    # Optimal: the gradient of the squared distance has no part of sum zero.
    slope = rows.T @ (rows @ found - measured)
    assert slope - slope.mean() == pytest.approx(
        np.zeros(size), abs=1e-7 * (1 + np.abs(slope).max())
    )
    # Linear in the noise, with the stated covariance.
    assert known.pseudoinverse @ known.pseudoinverse.T == pytest.approx(
        known.inverse_gram, abs=1e-9 * (1 + np.abs(known.inverse_gram).max())
    )
    weights = chance.normal(size=size)
    whole = np.vstack([rows, np.ones(size)])
    follows = np.linalg.matrix_rank(np.vstack([whole, weights])) == np.linalg.matrix_rank(whole)
    assert known.determines(np.outer(weights, weights)) == follows
    if strategy.determines_all:
        assert weights @ known.inverse_gram @ weights <= (
            weights @ strategy.inverse_gram @ weights * (1 + 1e-9) + 1e-12
        )


@settings(max_examples=150, deadline=None)
@given(_strategies(), st.sampled_from([1, 1 << 36]))
def test_an_exchange_moves_as_far_as_is_said(strategy: Strategy, large: int) -> None:
    """Exactly, over all pairs of columns in whole numbers; beyond 64 bits too."""
    scaled = Strategy("scaled", strategy.steps * large, strategy.places)
    columns = [[int(step) for step in column] for column in scaled.steps.T]
    worst = max(
        sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for a in columns for b in columns
    )
    assert scaled.apart_l2_squared == worst
    product = ProductStrategy((total(3), scaled))
    if len(product.touched) == 1:
        assert product.moved_l2_squared(PublicCount(3)) == max(worst, 1)


@pytest.mark.parametrize("family", [Each(6), Prefixes(9), Ranges(7), All(5), Each(1)], ids=str)
def test_the_optimum_for_exchanges_is_certified(family: QueryFamily) -> None:
    """No strategy here is below the bound, and the one found is near it."""
    gram, chance = family.gram(), np.random.default_rng(5)
    best = exchange_optimum(gram)
    size = len(gram)
    assert best.error <= best.bound * 1.002 + 1e-9
    drawn = [Strategy.of("drawn", chance.normal(size=(size, size))) for _ in range(20)]
    for other in (*drawn, *(make(size) for make in (identity, hierarchical, wavelet, square_root))):
        moved = other.apart_l2_squared / 4.0**other.places
        error = moved * KnownTotal.beside(other).trace(gram)
        assert error >= best.bound * (1 - 1e-6) - 1e-9


def test_the_gradient_beside_the_total_is_the_slope() -> None:
    gram, theta = Ranges(6).gram(), np.random.default_rng(3).random((3, 6))

    def error(at: Floats) -> float:
        rows = np.vstack([np.eye(6), at]) / (1 + at.sum(axis=0))
        return KnownTotal.beside(Strategy.of("p", rows, 32)).trace(gram)

    found, gradient = _error_beside_total(theta, gram)
    assert found == pytest.approx(error(theta), rel=1e-6)
    for place in np.ndindex(3, 6):
        ahead, behind = theta.copy(), theta.copy()
        ahead[place] += 1e-3
        behind[place] -= 1e-3
        assert gradient[place] == pytest.approx((error(ahead) - error(behind)) / 2e-3, abs=0.02)


WORKLOADS = [
    Workload.of(SMALL, {"age": Ranges(8)}),
    Workload.union(Workload.of(SMALL, {"age": Prefixes(8)}), Workload.of(SMALL, {"age": Each(8)})),
    Workload.union(Workload.of(SMALL, {"age": Ranges(8)}), Workload.of(SMALL, {"sex": Each(2)})),
]
AGES = [
    ProductStrategy.of(factor, total(2))
    for factor in (identity(8), hierarchical(8), wavelet(8), square_root(8))
]


def _mechanisms() -> list[MatrixMechanism]:
    made = [
        MatrixMechanism(WORKLOADS[0], spend, strategy, KNOWN)
        for spend in (PURE, RHO)
        for strategy in (None, *AGES)
    ]
    made += [MatrixMechanism(WORKLOADS[1], spend, None, KNOWN) for spend in (PURE, RHO)]
    unions = [laplace_union(WORKLOADS[2], KNOWN), gaussian_union(WORKLOADS[2], KNOWN)]
    unions.append(UnionStrategy((AGES[1], ProductStrategy.of(total(8), identity(2))), (3, 2)))
    return made + [MatrixMechanism(WORKLOADS[2], RHO, union, KNOWN) for union in unions]


def test_error_deviations_and_noise_of_answers_agree() -> None:
    """One covariance: planned, stated for each query, and kept with the synopsis."""
    made = _mechanisms()
    assert len(made) == 15
    for mechanism in made:
        workload = mechanism.workload
        stated = mechanism.deviations(workload)
        assert float(stated @ stated) == pytest.approx(mechanism.expected_error)
        synopsis = mechanism.release(COUNTS)
        assert synopsis.noise is not None
        assert synopsis.noise.deviations(workload) == pytest.approx(stated, rel=1e-6, abs=1e-6)
        kept = json.loads(json.dumps({"noise": synopsis.noise.to_dict()}))
        again = noise_from_dict(kept, SMALL)
        assert again is not None
        assert again.deviations(workload) == pytest.approx(stated, rel=1e-6, abs=1e-6)
        everything = Workload.of(SMALL, {"age": Listed([[1.0] * 8])})
        assert synopsis.answers(everything) == pytest.approx([KNOWN.records])
        assert mechanism.deviations(everything) == pytest.approx([0.0], abs=1e-5)


@pytest.mark.parametrize("spend", [PURE, RHO], ids=["l1", "l2"])
@pytest.mark.parametrize("strategy", [None, AGES[1]], ids=["searched", "tree"])
def test_the_error_is_the_one_that_was_predicted(
    spend: Guarantee, strategy: ProductStrategy | None
) -> None:
    """1000 releases; the mean of the total squared error is within 5 sigma, 1e-6 false alarms."""
    workload = WORKLOADS[0]
    mechanism = MatrixMechanism(workload, spend, strategy, KNOWN)
    exact, errors = workload.answers(COUNTS), []
    for _ in range(1000):
        found = mechanism.release(COUNTS).answers(workload)
        errors.append(float(((found - exact) ** 2).sum()))
    spread = float(np.std(errors)) / math.sqrt(len(errors))
    assert abs(np.mean(errors) - mechanism.expected_error) < 5 * spread


def test_a_total_that_is_bought_is_not_believed() -> None:
    """A strategy that was made beside a total is measured without one, and the error says so."""
    beside = AGES[1].beside_total(KNOWN)
    assert any(isinstance(factor, KnownTotal) for factor in beside.factors)
    wanted = MatrixMechanism(WORKLOADS[0], PURE, AGES[1], NoisyRecordCount()).expected_error
    assert MatrixMechanism(WORKLOADS[0], PURE, beside, NoisyRecordCount()).expected_error == wanted
    both = ProductStrategy.of(hierarchical(8), identity(2))
    assert not any(isinstance(factor, KnownTotal) for factor in both.beside_total(KNOWN).factors)
    assert both.beside_total(KNOWN).total_known
    assert not beside.total_known


def test_another_word_for_the_total_is_refused() -> None:
    synopsis = MatrixMechanism(WORKLOADS[0], PURE, AGES[0], KNOWN).release(COUNTS)
    assert synopsis.noise is not None
    kept = json.loads(json.dumps({"noise": synopsis.noise.to_dict()}))
    kept["noise"]["strategy"]["parts"][0][0]["total"] = "guessed"
    with pytest.raises(DiscreetError):
        noise_from_dict(kept, SMALL)


def test_one_value_is_known_exactly() -> None:
    universe = Universe.of(only=["x"])
    workload = Workload.of(universe, {"only": Each(1)})
    for spend in (PURE, RHO):
        mechanism = MatrixMechanism(workload, spend, size=PublicCount(5))
        assert mechanism.expected_error == pytest.approx(0.0)
        assert mechanism.release(np.array([5])).answers(workload) == pytest.approx([5.0])
