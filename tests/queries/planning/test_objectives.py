"""The worst cell beside the mean: what the planner makes small is said, and is what happens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.noise.randomness import SYSTEM
from discreet.queries.matrix.minimax_optimum import minimax_optimum
from discreet.queries.matrix.strategy import (
    Strategy,
    hierarchical,
    identity,
    square_root,
    wavelet,
)
from discreet.queries.planning.objectives import LargestDeviation, RootMeanSquare
from discreet.queries.planning.plan import best_mechanism, plan
from discreet.queries.workload.families import Each, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

LINE = Workload.of(Universe.of(x=range(16)), {"x": Prefixes(16)})


@pytest.mark.parametrize(("size", "norm"), [(16, 1.7045), (64, 2.1114), (256, 2.5328)])
def test_the_least_largest_deviation_of_prefix_sums(size: int, norm: float) -> None:
    """Source: modern-data:M3. The bound certifies it: no strategy can be better."""
    found = minimax_optimum(np.tril(np.ones((size, size))), gap=1e-4)
    assert found.bound <= norm + 5e-5
    assert found.deviation == pytest.approx(norm, rel=2e-4)
    assert found.bound <= found.deviation


@pytest.mark.slow
def test_the_least_largest_deviation_of_1024_prefix_sums() -> None:
    """Source: modern-data:M3: between 2.961 and 2.964. About half a minute."""
    found = minimax_optimum(np.tril(np.ones((1024, 1024))), gap=8e-4)
    assert 2.961 <= found.bound <= found.deviation <= 2.964


@pytest.mark.parametrize(
    ("size", "largest"),
    [
        (16, 1.943879),
        (64, 2.388848),
        (256, 2.831050),
        pytest.param(1024, 3.272554, marks=pytest.mark.slow),
    ],
)
def test_the_square_root_of_prefix_sums(size: int, largest: float) -> None:
    """Source: modern-data:M3. Its entries are rounded to 20 places."""
    root, sums = square_root(size), np.tril(np.ones((size, size)))
    assert root.rows @ root.rows == pytest.approx(sums, abs=size * 2.0**-19)
    assert _largest(sums, root) == pytest.approx(largest, abs=1e-5)
    optimum = {16: 1.7045, 64: 2.1114, 256: 2.5328, 1024: 2.961}[size]
    assert optimum < largest


def _largest(rows: np.ndarray, strategy: Strategy) -> float:
    spread = np.einsum("ij,ij->i", rows @ strategy.inverse_gram, rows).max()
    return float(np.sqrt(spread * strategy.l2_squared / 4.0**strategy.places))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=5, max_size=5), min_size=1, max_size=7).filter(
        lambda rows: any(any(row) for row in rows)
    )
)
def test_no_strategy_is_below_the_bound_and_the_optimum_is_near_it(rows: list[list[int]]) -> None:
    asked = np.array(rows, dtype=float)
    found = minimax_optimum(asked)
    for other in (identity(5), hierarchical(5), wavelet(5)):
        assert found.bound <= _largest(asked, other) * (1 + 1e-6)
    assert found.bound * (1 - 1e-6) <= found.deviation <= found.bound * 1.02


def test_planning_for_the_worst_cell_lowers_it_and_the_mean_pays() -> None:
    spend = dp.ZCDP(rho=0.5)
    mean, worst = (
        plan(LINE, spend=spend, objective=aim) for aim in (RootMeanSquare(), LargestDeviation())
    )
    assert worst.chosen.predicted.error == pytest.approx(1.7045, rel=2e-3)
    for_mean = best_mechanism(LINE, spend)
    for_worst = best_mechanism(LINE, spend, objective=LargestDeviation())
    largest = [float(each.deviations(LINE).max()) for each in (for_mean, for_worst)]  # type: ignore[attr-defined]
    assert largest[1] < largest[0] * 0.99
    assert for_mean.rmse < for_worst.rmse  # type: ignore[attr-defined]
    assert mean.chosen.predicted.error == pytest.approx(for_mean.rmse)  # type: ignore[attr-defined]
    assert "largest standard deviation" in worst.why


def test_stated_deviations_of_every_option_are_those_of_releases() -> None:
    """The mean of 4 000 squares in the worst cell: off by a seventh less than once in 1e6."""
    table = Universe.of(x=range(5), y=range(3))
    workload = Workload.of(table, {"x": Ranges(5), "y": Each(3)})
    found = plan(workload, spend=dp.PureDP(epsilon=1), objective=LargestDeviation())
    assert {each.name for each in found.ranked} >= {"matrix mechanism", "quad-tree"}
    counts = np.full(15, 30)
    truth = workload.answers(counts)
    for each in found.ranked:
        mechanism = found.request.make_mechanism(each.option.build(found.request), SYSTEM)
        errors = [mechanism.release(counts).answers(workload) - truth for _ in range(4000)]
        seen = np.sqrt(np.mean(np.square(errors), axis=0))
        assert seen.max() == pytest.approx(each.predicted.error, rel=0.15), each.name
        deviations = mechanism.deviations(workload)  # type: ignore[attr-defined]
        assert seen == pytest.approx(deviations, rel=0.2), each.name


def test_mechanisms_that_depend_on_data_have_no_largest_deviation_and_say_so() -> None:
    found = plan(LINE, spend=dp.PureDP(epsilon=1), about=500, objective=LargestDeviation())
    assert "depends on data" in dict(found.unfit)["MWEM"]


def test_an_objective_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="not_an_objective"):
        plan(LINE, spend=dp.PureDP(epsilon=1), objective="largest")  # type: ignore[arg-type]
