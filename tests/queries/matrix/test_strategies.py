"""The numbers of the catalogue, and strategies that reach them."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.queries.matrix.gaussian_optimum import gaussian_optimum
from discreet.queries.matrix.p_identity import p_identity
from discreet.queries.matrix.strategy import Strategy, hierarchical, identity, wavelet
from discreet.queries.workload.families import All, Each, Listed, Prefixes, QueryFamily, Ranges

RANGES = {
    # modern-data:M1: identity, H2, Haar under Laplace noise at epsilon 1
    16: (1632, 6576.10, 5140.63),
    64: (91520, 264672, 212674),
    256: (5658112, 8710213, 7274363),
}
PREFIXES = {
    16: (272, 601.045, 603.125),
    64: (4160, 5680.06, 5624.28),
    256: (65792, 44346.8, 43857.1),
}
GAUSSIAN = {  # modern-data:M2: identity, H2, Haar, optimum
    16: (816, 657.610, 514.063, 413.14),
    64: (45760, 18905.1, 15191.0, 11024.4),
}


@pytest.mark.parametrize("family", [Each(5), All(5), Prefixes(5), Ranges(5), Listed(np.eye(5)[:2])])
def test_families_know_their_matrix_and_its_gram(family: QueryFamily) -> None:
    dense = family.dense()
    assert dense.shape == (family.queries, family.size)
    assert family.gram() == pytest.approx(dense.T @ dense)
    table = np.arange(15.0).reshape(5, 3)
    assert family.apply(table) == pytest.approx(dense @ table)


@pytest.mark.parametrize(
    ("n", "rows", "tree", "single"), [(4, 288, 876 / 7, 40), (8, 6400, 938.667, 240)]
)
def test_all_ranges_of_few_values_cost_what_the_catalogue_says(
    n: int, rows: float, tree: float, single: float
) -> None:
    """004b:A6, with 876/7 in place of the printed 201."""
    gram = Ranges(n).gram()
    assert Strategy.of("rows", Ranges(n).dense(), 0).laplace_error(gram) == pytest.approx(rows)
    assert hierarchical(n).laplace_error(gram) == pytest.approx(tree, rel=1e-6)
    assert identity(n).laplace_error(gram) == pytest.approx(single)


@pytest.mark.parametrize("n", RANGES)
def test_classical_strategies_match_the_tables(n: int) -> None:
    for family, table in ((Ranges(n), RANGES), (Prefixes(n), PREFIXES)):
        gram = family.gram()
        found = [s.laplace_error(gram) for s in (identity(n), hierarchical(n), wavelet(n))]
        assert found == pytest.approx(table[n], rel=1e-5)


@pytest.mark.parametrize("n", GAUSSIAN)
def test_the_gaussian_optimum_is_certified(n: int) -> None:
    gram = Ranges(n).gram()
    found = [s.gaussian_error(gram) for s in (identity(n), hierarchical(n), wavelet(n))]
    assert found == pytest.approx(GAUSSIAN[n][:3], rel=1e-5)
    best = gaussian_optimum(gram)
    assert best.bound <= GAUSSIAN[n][3] * 1.00001
    assert best.error <= GAUSSIAN[n][3] * 1.001
    assert best.bound <= best.error


@pytest.mark.parametrize(("n", "rmse"), [(16, 1.6894), (64, 2.0999)])
def test_prefix_sums_reach_the_optimum_under_gaussian_noise(n: int, rmse: float) -> None:
    best = gaussian_optimum(Prefixes(n).gram())
    assert math.sqrt(best.error / n) <= rmse * 1.001


@pytest.mark.parametrize(
    ("family", "p", "error"),
    [
        (Ranges(16), 2, 1632),
        (Ranges(64), 4, 64125.3),
        (Ranges(256), None, 2134449),
        (Prefixes(16), 4, 211.615),
        (Prefixes(64), 4, 1812.79),
        (Prefixes(256), None, 13773.6),
    ],
)
def test_p_identity_reaches_the_best_known_error(
    family: QueryFamily, p: int | None, error: float
) -> None:
    strategy = p_identity(family.gram(), p)
    found = strategy.laplace_error(family.gram())
    assert found <= error * 1.02
    assert found <= identity(family.size).laplace_error(family.gram()) * (1 + 1e-9)
    assert np.abs(strategy.rows).sum(axis=0).max() <= 1 + 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("family", "error"), [(Ranges(1024), 6.6669e7), (Prefixes(1024), 98099.8)])
def test_p_identity_reaches_the_best_known_error_on_many_values(
    family: QueryFamily, error: float
) -> None:
    """About five seconds of one core each."""
    assert p_identity(family.gram()).laplace_error(family.gram()) <= error * 1.02


@pytest.mark.parametrize(
    ("family", "error"),
    [
        (Ranges(256), 276929),
        (Prefixes(256), 256 * 2.5244**2),
        pytest.param(Ranges(1024), 6.48433e6, marks=pytest.mark.slow),
        pytest.param(Prefixes(1024), 1024 * 2.9555**2, marks=pytest.mark.slow),
    ],
)
def test_the_gaussian_optimum_is_reached_on_many_values(family: QueryFamily, error: float) -> None:
    best = gaussian_optimum(family.gram())
    assert best.error <= error * 1.001
    assert best.error <= best.bound * 1.0002


def test_a_strategy_must_tell_what_is_asked() -> None:
    totals = Strategy.of("totals", np.ones((1, 4)), 0)
    assert totals.trace(All(4).gram()) == pytest.approx(1)
    with pytest.raises(InvalidParameter, match="strategy_rank"):
        totals.trace(Each(4).gram())


@pytest.mark.parametrize("made", [identity, hierarchical, wavelet])
def test_two_columns_are_no_further_apart_than_is_said(made: Callable[[int], Strategy]) -> None:
    """All pairs of columns, in whole steps."""
    for strategy in (made(6), p_identity(Ranges(8).gram(), 3)):
        steps = strategy.steps.astype(object)
        pairs = list(itertools.combinations(steps.T, 2))
        apart = max(int(np.abs(x - y).sum()) for x, y in pairs)
        assert apart <= 2 * (strategy.l1 - strategy.common_l1)
        inner = [int(x @ y) for x, y in pairs]
        assert strategy.products[0] <= min(inner)
        assert max(inner) <= strategy.products[1] == strategy.l2_squared


def test_sensitivities_are_those_of_the_rounded_matrix() -> None:
    rows = np.array([[1 / 3, 1], [2 / 3, -1]])
    strategy = Strategy.of("thirds", rows)
    assert strategy.l1 == int(np.abs(strategy.steps).sum(axis=0).max())
    assert strategy.l2_squared == 2 << 40
    assert np.abs(strategy.rows - rows).max() <= 2.0**-21
