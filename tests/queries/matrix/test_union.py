"""Groups of queries with a strategy each, and the choice among all strategies."""

import itertools
import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidParameter
from discreet.queries.matrix.best import best_strategy
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.strategy import identity, total
from discreet.queries.matrix.union import UnionStrategy, gaussian_union, laplace_union
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.workload.families import Each, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

UNIVERSE = Universe.of(age=range(12), ward=range(4), sex=range(2))
COUNTS = (np.arange(96) * 37) % 23
WORKLOAD = Workload.union(
    Workload.of(UNIVERSE, {"age": Ranges(12)}, {"ward": Each(4), "sex": Each(2)}),
    Workload.of(UNIVERSE, {"age": Prefixes(12), "sex": Each(2)}, {"age": Prefixes(12)}),
)
PURE, ZERO = dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5)


@pytest.mark.parametrize(("spend", "find"), [(PURE, laplace_union), (ZERO, gaussian_union)])
def test_the_error_is_the_one_that_was_predicted(spend: Guarantee, find: object) -> None:
    """400 releases within 5 sigma: 1e-6 false alarms."""
    assert callable(find)
    mechanism = MatrixMechanism(WORKLOAD, spend, find(WORKLOAD))
    exact = WORKLOAD.answers(COUNTS)
    errors = [
        float(((mechanism.release(COUNTS).answers(WORKLOAD) - exact) ** 2).sum())
        for _ in range(400)
    ]
    spread = float(np.std(errors)) / math.sqrt(len(errors))
    assert abs(np.mean(errors) - mechanism.expected_error) < 5 * spread
    assert (mechanism.deviations(WORKLOAD) ** 2).sum() == pytest.approx(mechanism.expected_error)


@pytest.mark.parametrize("find", [laplace_union, gaussian_union])
def test_the_sensitivity_counts_every_part_with_its_weight(find: object) -> None:
    """All cells, and all pairs of cells, in whole numbers."""
    assert callable(find)
    union: UnionStrategy = find(WORKLOAD)
    rows = []
    for cell in range(UNIVERSE.size):
        record = np.zeros(UNIVERSE.size, dtype=np.int64)
        record[cell] = 1
        parts = [
            weight * part.measure(record.reshape(UNIVERSE.shape)).ravel()
            for weight, part in zip(union.weights, union.parts, strict=True)
        ]
        rows.append(np.concatenate(parts).astype(object))
    known, public = NoisyRecordCount(), PublicCount(5)
    assert max(int(np.abs(row).sum()) for row in rows) <= union.moved_l1(known)
    assert max(int((row**2).sum()) for row in rows) <= union.moved_l2_squared(known)
    for x, y in itertools.combinations(rows[::5], 2):
        assert int(np.abs(x - y).sum()) <= union.moved_l1(public)
        assert int(((x - y) ** 2).sum()) <= union.moved_l2_squared(public)
    # A twin that forgets the weights would claim far too little.
    assert sum(part.l1 for part in union.parts) < max(int(np.abs(row).sum()) for row in rows)


def test_shares_are_the_best_ones() -> None:
    """Moving weight between two parts never lowers the error."""
    for spend, union in ((PURE, laplace_union(WORKLOAD)), (ZERO, gaussian_union(WORKLOAD))):
        least = MatrixMechanism(WORKLOAD, spend, union).expected_error
        for place in range(len(union.parts)):
            for factor in (0.8, 1.25):
                weights = list(union.weights)
                weights[place] = round(weights[place] * factor)
                other = UnionStrategy(union.parts, tuple(weights))
                assert MatrixMechanism(WORKLOAD, spend, other).expected_error > least


def test_one_part_is_the_product_itself() -> None:
    part = ProductStrategy.of(*map(identity, UNIVERSE.shape))
    alone = MatrixMechanism(WORKLOAD, PURE, part).expected_error
    one = MatrixMechanism(WORKLOAD, PURE, UnionStrategy((part,), (1,)))
    assert one.expected_error == alone
    # A finer grid comes nearer to continuous noise, which has a little more variance.
    fine = MatrixMechanism(WORKLOAD, PURE, UnionStrategy((part,), (1 << 20,)))
    assert fine.expected_error == pytest.approx(2 * part.trace(WORKLOAD), rel=1e-6)


@pytest.mark.parametrize("spend", [PURE, ZERO, dp.ApproxDP(epsilon=1, delta=1e-6)])
def test_the_best_strategy_is_no_worse_than_any(spend: Guarantee) -> None:
    best = best_strategy(WORKLOAD, spend)
    union = laplace_union if isinstance(spend, dp.PureDP) else gaussian_union
    for other in (
        MatrixMechanism(WORKLOAD, spend),
        MatrixMechanism(WORKLOAD, spend, union(WORKLOAD)),
        MarginalMechanism(WORKLOAD, spend),
    ):
        assert best.expected_error <= other.expected_error
    assert best.release(COUNTS).answers(WORKLOAD).shape == (WORKLOAD.queries,)


def test_each_kind_of_strategy_is_best_somewhere() -> None:
    many = Universe.of(**{f"x{i}": range(3) for i in range(20)})
    assert isinstance(best_strategy(Workload.marginals(many, 2), ZERO), MarginalMechanism)
    line = Universe.of(age=range(32))
    one = best_strategy(Workload.of(line, {"age": Ranges(32)}), ZERO)
    assert isinstance(one, MatrixMechanism)
    assert isinstance(one.strategy, ProductStrategy)
    plane = Universe.of(age=range(32), income=range(32))
    apart = Workload.of(plane, {"age": Ranges(32)}, {"income": Ranges(32)})
    assert isinstance(best_strategy(apart, ZERO).strategy, UnionStrategy)


def test_what_no_part_holds_is_refused() -> None:
    part = ProductStrategy.of(identity(12), total(4), total(2))
    with pytest.raises(InvalidParameter, match="strategy_rank"):
        _ = MatrixMechanism(WORKLOAD, PURE, UnionStrategy((part,), (1,))).rmse
