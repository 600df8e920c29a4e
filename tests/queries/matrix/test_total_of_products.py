"""A public number of records beside strategies that touch several attributes, or none."""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.arrays import Floats
from discreet.core.guarantee import Guarantee
from discreet.errors import DiscreetError
from discreet.queries.answer_noise.answer_noise import noise_from_dict
from discreet.queries.matrix.best import minimax_mechanism, union_mechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy, gaussian_strategy, laplace_strategy
from discreet.queries.matrix.reconstruction import LeastSquares
from discreet.queries.matrix.strategy import Strategy, hierarchical, identity, total, wavelet
from discreet.queries.matrix.union import UnionStrategy, gaussian_union, laplace_union
from discreet.queries.planning.plan import best_mechanism, plan
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.families import Each, Listed, Prefixes, QueryFamily, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

PURE, RHO = dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5)
SPENDS = [PURE, RHO]
TABLE = Universe.of(a=range(4), b=range(3), c=["x", "y"])
COUNTS = (np.arange(24).reshape(4, 3, 2) * 7919) % 50
KNOWN = PublicCount(int(COUNTS.sum()))


def _asked(*families: QueryFamily) -> Workload:
    """One product of queries, over an attribute for each family."""
    names = [f"a{place}" for place in range(len(families))]
    universe = Universe.of(
        **{name: range(family.size) for name, family in zip(names, families, strict=True)}
    )
    return Workload.of(universe, dict(zip(names, families, strict=True)))


CASES = {
    "4x4": (_asked(Ranges(4), Ranges(4)), 4.371, 2.106),
    "8x8": (_asked(Ranges(8), Ranges(8)), 7.715, 3.024),
    "prefixes by ranges": (_asked(Prefixes(8), Ranges(8)), 8.409, 2.982),
    "three attributes": (_asked(Ranges(4), Prefixes(4), Each(3)), 5.750, 2.294),
}


# Least squares under the constraint ---------------------------------------------------------------


@st.composite
def _factors(draw: st.DrawFn) -> Strategy:
    size = draw(st.integers(1, 3))
    row = st.lists(st.integers(-5, 5), min_size=size, max_size=size)
    rows = draw(st.lists(row, min_size=1, max_size=3))
    rows += np.eye(size, dtype=int).tolist() if draw(st.booleans()) else [[1] * size]
    return Strategy("drawn", np.array(rows, dtype=np.int64), draw(st.integers(0, 2)))


def _kron(matrices: list[Floats]) -> Floats:
    found: Floats = np.eye(1)
    for each in matrices:
        found = np.asarray(np.kron(found, each), dtype=np.float64)
    return found


def _constrained(matrix: Floats) -> Floats:
    """From the measurements, and the sum behind them, to counts: the equations of Lagrange."""
    size = matrix.shape[1]
    lagrange = np.zeros((size + 1, size + 1))
    lagrange[:size, :size] = matrix.T @ matrix
    lagrange[size, :size] = lagrange[:size, size] = 1
    right = np.zeros((size + 1, len(matrix) + 1))
    right[:size, :-1] = matrix.T
    right[size, -1] = 1
    return np.asarray(np.linalg.pinv(lagrange, rcond=1e-11) @ right)[:size]


@settings(max_examples=150, deadline=None)
@given(st.lists(_factors(), min_size=2, max_size=3), st.integers(0, 2**32))
def test_the_constraint_is_that_of_dense_least_squares(factors: list[Strategy], seed: int) -> None:
    """Estimates, variances, traces: all against one dense system with a multiplier."""
    chance = np.random.default_rng(seed)
    part = ProductStrategy(tuple(factors)).beside_total(KNOWN)
    if len(part.touched) == 1:
        return
    assert part.total_known
    matrix = _kron([factor.rows for factor in factors])
    solved = _constrained(matrix)
    measured, records = chance.normal(size=len(matrix)), int(chance.integers(1, 100))
    shaped = measured.reshape([len(factor.rows) for factor in factors])
    found = LeastSquares().counts(part, shaped, PublicCount(records))
    assert found.sum() == pytest.approx(records)
    # What is asked follows from the measurements: a combination of rows on every attribute.
    rows = [chance.normal(size=(2, len(factor.rows))) @ factor.rows for factor in factors]
    workload = _asked(*map(Listed, rows))
    dense = workload.dense()
    wanted = dense @ solved @ np.append(measured, records)
    size = 1e-7 * (1 + float(np.abs(wanted).max()) + float(np.abs(dense).max()) * records)
    assert dense @ found.ravel() == pytest.approx(wanted, abs=size)
    variances = ((dense @ solved[:, :-1]) ** 2).sum(axis=1)
    (product,) = workload.products
    assert part.variances(product) == pytest.approx(
        variances, abs=1e-7 * (1 + float((dense**2).sum(axis=1).max()))
    )
    assert part.trace(workload) == pytest.approx(float(part.variances(product).sum()), abs=1e-6)
    plain = ProductStrategy(tuple(factors))
    assert (part.variances(product) <= plain.variances(product) * (1 + 1e-9) + 1e-9).all()


def test_a_sum_that_was_not_measured_changes_nothing_else() -> None:
    """Differences alone on one attribute: the total says nothing of what was measured."""
    apart = Strategy("differences", np.array([[1, -1, 0], [0, 1, -1]]), 0)
    part = ProductStrategy.of(identity(4), apart).beside_total(KNOWN)
    assert not part.total_known
    workload = _asked(Ranges(4), Listed([[1.0, -1.0, 0.0]]))
    matrix = _kron([np.eye(4), apart.rows])
    dense = workload.dense()
    (product,) = workload.products
    variances = ((dense @ _constrained(matrix)[:, :-1]) ** 2).sum(axis=1)
    assert part.variances(product) == pytest.approx(variances)


def test_a_total_that_is_bought_is_not_believed() -> None:
    both = ProductStrategy.of(hierarchical(4), identity(3), total(2))
    known = both.beside_total(KNOWN)
    assert known.total_known
    assert not known.beside_total(NoisyRecordCount()).total_known
    workload = Workload.of(TABLE, {"a": Ranges(4), "b": Each(3)})
    errors = {
        MatrixMechanism(workload, PURE, given, NoisyRecordCount()).expected_error
        for given in (both, known)
    }
    assert len(errors) == 1


@pytest.mark.parametrize("spend", SPENDS, ids=["l1", "l2"])
def test_the_number_of_records_alone_is_known_exactly(spend: Guarantee) -> None:
    """Nothing is touched, or only attributes of one value, in every search."""
    single = Universe.of(one=["x"], other=["y"])
    for universe, counts in ((TABLE, COUNTS), (single, np.array([KNOWN.records]))):
        workload = Workload.of(universe, {})
        values = Workload.of(single, {"one": Each(1), "other": Each(1)})
        asked = [workload] if universe is TABLE else [workload, values]
        for each in asked:
            for union in (None, laplace_union(each, KNOWN), gaussian_union(each, KNOWN)):
                mechanism = MatrixMechanism(each, spend, union, KNOWN)
                assert mechanism.expected_error == pytest.approx(0, abs=1e-9)
                assert mechanism.release(counts).answers(each) == pytest.approx([KNOWN.records])


# One covariance everywhere ------------------------------------------------------------------------

TWO = Workload.of(TABLE, {"a": Ranges(4), "b": Prefixes(3)})
MIXED = Workload.union(TWO, Workload.of(TABLE, {"c": Each(2)}), Workload.of(TABLE, {}))
PARTS = [
    ProductStrategy.of(hierarchical(4), wavelet(3), total(2)),
    ProductStrategy.of(identity(4), identity(3), identity(2)),
    ProductStrategy.of(total(4), total(3), identity(2)),
]


def _mechanisms() -> list[MatrixMechanism]:
    made = [
        MatrixMechanism(TWO, spend, part, KNOWN)
        for spend in SPENDS
        for part in (None, PARTS[0], PARTS[1])
    ]
    made += [MatrixMechanism(MIXED, spend, None, KNOWN) for spend in SPENDS]
    made += [union_mechanism(MIXED, spend, KNOWN) for spend in SPENDS]
    made += [minimax_mechanism(TWO, spend, KNOWN) for spend in SPENDS]
    return [*made, MatrixMechanism(MIXED, RHO, UnionStrategy((PARTS[0], PARTS[2]), (3, 2)), KNOWN)]


def test_error_deviations_and_noise_of_answers_agree() -> None:
    """Planned, stated for each query, and kept with the synopsis; the sum has no error at all."""
    made = _mechanisms()
    assert len(made) == 13
    for mechanism in made:
        workload = mechanism.workload
        stated = mechanism.deviations(workload)
        assert float(stated @ stated) == pytest.approx(mechanism.expected_error)
        synopsis = mechanism.release(COUNTS)
        assert synopsis.noise is not None
        assert synopsis.noise.deviations(workload) == pytest.approx(stated, rel=1e-6, abs=1e-5)
        kept = json.loads(json.dumps({"noise": synopsis.noise.to_dict()}))
        again = noise_from_dict(kept, TABLE)
        assert again is not None
        assert again.deviations(workload) == pytest.approx(stated, rel=1e-6, abs=1e-5)
        everything = Workload.of(TABLE, {})
        assert synopsis.answers(everything) == pytest.approx([KNOWN.records])
        assert mechanism.deviations(everything) == pytest.approx([0.0], abs=1e-5)
        assert synopsis.noise.half_widths(everything, confidence=0.95) == pytest.approx(
            [0.0], abs=1e-4
        )


@pytest.mark.parametrize("change", ["a word", "too few", "no sum"])
def test_a_total_that_cannot_be_known_is_refused_when_read(change: str) -> None:
    synopsis = MatrixMechanism(TWO, PURE, PARTS[0], KNOWN).release(COUNTS)
    assert synopsis.noise is not None
    kept = json.loads(json.dumps({"noise": synopsis.noise.to_dict()}))
    assert noise_from_dict(kept, TABLE) is not None
    strategy = kept["noise"]["strategy"]
    if change == "a word":
        strategy["totals"] = ["guessed"]
    elif change == "too few":
        strategy["totals"] = []
    else:
        row = Strategy("apart", np.array([[1, -1, 0, 0]]), 0)
        apart = ProductStrategy.of(row, total(3), total(2))
        other = MatrixMechanism(
            Workload.of(TABLE, {"a": Listed([[1.0, -1.0, 0.0, 0.0]])}), PURE, apart
        ).release(COUNTS)
        assert other.noise is not None
        strategy["parts"] = json.loads(json.dumps(other.noise.to_dict()))["strategy"]["parts"]
    with pytest.raises(DiscreetError):
        noise_from_dict(kept, TABLE)


# Simulation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("spend", SPENDS, ids=["l1", "l2"])
@pytest.mark.parametrize("case", ["4x4", "three attributes"])
def test_errors_and_intervals_are_those_of_releases(spend: Guarantee, case: str) -> None:
    """600 releases: the mean error within 5 sigma, each query's interval as often right as said."""
    workload = CASES[case][0]
    counts = (np.arange(workload.universe.size) * 7919) % 30
    mechanism = MatrixMechanism(workload, spend, None, PublicCount(int(counts.sum())))
    exact, errors, many = workload.answers(counts), [], 600
    held = np.zeros(workload.queries)
    widths: Floats | None = None
    for _ in range(many):
        synopsis = mechanism.release(counts)
        if widths is None:
            assert synopsis.noise is not None
            widths = synopsis.noise.half_widths(workload, confidence=0.9) + 1e-6
        apart = synopsis.answers(workload) - exact
        errors.append(float((apart**2).sum()))
        held += np.abs(apart) <= widths
    spread = float(np.std(errors)) / math.sqrt(many)
    assert abs(np.mean(errors) - mechanism.expected_error) < 5 * spread
    assert held.min() / many > 0.9 - 6 * math.sqrt(0.09 / many)
    # Not wide without need: exact laws where coefficients are few.
    assert widths is not None
    assert (widths <= 2.2 * mechanism.deviations(workload) + 1e-4).all()


def test_intervals_without_coefficients_are_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where coefficients are too many to be written out, bounds on them serve."""
    from discreet.queries.answer_noise import product_noise

    for spend in SPENDS:
        synopsis = MatrixMechanism(TWO, spend, PARTS[0], KNOWN).release(COUNTS)
        assert synopsis.noise is not None
        exact = synopsis.noise.half_widths(TWO, confidence=0.9)
        for most in (1 << 10, 0):
            monkeypatch.setattr(product_noise, "_MOST_WORK", most)
            wider = synopsis.noise.half_widths(TWO, confidence=0.9)
            monkeypatch.undo()
            assert (wider >= exact * (1 - 1e-9) - 1e-6).all()
            assert np.isfinite(wider).all()


# What is chosen -----------------------------------------------------------------------------------


@pytest.mark.parametrize("spend", SPENDS, ids=["l1", "l2"])
@pytest.mark.parametrize("case", CASES)
def test_the_plan_is_never_worse_than_tree_and_matrix(spend: Guarantee, case: str) -> None:
    """Before, the matrix mechanism erred by 9.331 for ranges of 8 by 8, the tree by 7.795."""
    workload, pure, rho = CASES[case]
    size = PublicCount(1000)
    matrix = MatrixMechanism(workload, spend, size=size).rmse
    assert matrix <= (pure if spend is PURE else rho)
    tree = QuadTree(workload, spend, size).rmse
    assert matrix <= tree
    chosen = plan(workload, spend=spend, size=size).chosen
    assert chosen.predicted.error <= min(matrix, tree) * (1 + 1e-12)
    best = best_mechanism(workload, spend, size)
    assert isinstance(best, MatrixMechanism)
    assert best.rmse == pytest.approx(chosen.predicted.error)


@pytest.mark.parametrize("search", [laplace_strategy, gaussian_strategy])
@pytest.mark.parametrize("families", [(Ranges(32), Ranges(32)), (Prefixes(24), Each(3))])
def test_strategies_beside_the_total_are_no_worse_than_others(
    search: Callable[..., ProductStrategy], families: tuple[QueryFamily, ...]
) -> None:
    """Those of least error without the total, and single values, are among what is compared."""
    workload, size = _asked(*families), PublicCount(1000)
    spend = PURE if search is laplace_strategy else RHO
    found = MatrixMechanism(workload, spend, search(workload, size), size).expected_error
    for other in (search(workload), ProductStrategy.of(*(identity(f.size) for f in families))):
        wanted = MatrixMechanism(workload, spend, other, size).expected_error
        assert found <= wanted * (1 + 1e-9)
