"""Faults that an attack found, each as it was."""

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.marginal_strategy import MarginalStrategy, MeasuredTable
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.strategy import Strategy, identity
from discreet.queries.matrix.union import UnionStrategy, laplace_union
from discreet.queries.workload.families import Listed
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload


@pytest.mark.parametrize("weights", [(1000, -999), (1, 0), (1,), (1.5, 1)])
def test_a_weight_takes_nothing_away_from_the_sensitivity(weights: Any) -> None:
    part = ProductStrategy.of(identity(2))
    with pytest.raises(InvalidParameter):
        UnionStrategy((part, part), weights)


def test_a_table_has_a_positive_weight() -> None:
    with pytest.raises(InvalidParameter):
        MeasuredTable((0,), (2,), frozenset(), -999)


def test_tables_are_those_of_the_universe() -> None:
    universe = Universe.of(a=range(3))
    odd = MarginalStrategy((MeasuredTable((0,), (2,), frozenset(), 1),))
    with pytest.raises(InvalidParameter, match="strategy_misshapen"):
        MarginalMechanism(Workload.marginals(universe, 1), dp.ZCDP(rho=1), odd)


@pytest.mark.parametrize("rows", [[[1e30]], [[2.0**42]], [[float("nan")]], [[float("inf")]], [1.0]])
def test_a_strategy_has_entries_whose_norm_is_exact(rows: Any) -> None:
    with pytest.raises(InvalidParameter, match="strategy_misshapen"):
        Strategy.of("odd", rows)


def test_a_strategy_has_whole_steps() -> None:
    with pytest.raises(InvalidParameter, match="strategy_misshapen"):
        Strategy("odd", np.array([[1.9]]), 0)


def test_the_largest_steps_do_not_wrap_around() -> None:
    most = 1 << 40
    found = Strategy("large", np.full((1 << 4, 2), most), 0)
    assert found.l1 == most << 4
    assert found.l2_squared == most**2 << 4


def test_queries_that_ask_for_nothing_are_refused() -> None:
    universe = Universe.of(a=range(2), b=range(2))
    nothing = Workload.of(universe, {"a": Listed([[0.0, 0.0]])})
    with pytest.raises(InvalidParameter):
        laplace_union(nothing)
