"""Sixty cases that nobody tuned for: the planner takes the best mechanism, and states its error.

The yardstick is the best of all mechanisms whose error does not depend on data, those with the
strategies of the literature included. A sample runs always, all of them as slow.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidParameter
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.best import union_mechanism
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.strategy import hierarchical, identity, total, wavelet
from discreet.queries.planning.option import Basis
from discreet.queries.planning.plan import plan
from discreet.queries.planning.surrogate import rmse, surrogate
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.families import Each, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SIZES = (6, 14, 33, 60)
SPENDS: tuple[Guarantee, ...] = (
    dp.PureDP(epsilon=0.3),
    dp.ApproxDP(epsilon=1, delta=1e-6),
    dp.ZCDP(rho=0.2),
)
NEVER_WORSE = 1.02


def _workload(kind: str, size: int) -> Workload:
    line, table = Universe.of(x=range(size)), Universe.of(x=range(size), y=range(4), z=range(3))
    match kind:
        case "prefixes":
            return Workload.of(line, {"x": Prefixes(size)})
        case "ranges":
            return Workload.of(line, {"x": Ranges(size)})
        case "pairs":
            return Workload.marginals(table, 2)
        case "ranges by class":
            return Workload.of(table, {"x": Ranges(size), "y": Each(4)})
        case "mixed":
            return Workload.of(table, {"x": Prefixes(size)}, {"y": Each(4), "z": Each(3)})
    raise AssertionError


KINDS = ("prefixes", "ranges", "pairs", "ranges by class", "mixed")
CASES = list(itertools.product(KINDS, SPENDS, SIZES))
SAMPLE = CASES[::7]


def rivals(workload: Workload, spend: Guarantee) -> Iterator[Any]:
    """Everything whose error is known before data is read."""
    size = NoisyRecordCount()
    yield IndependentNoise(workload, spend)
    yield MarginalMechanism(workload, spend)
    yield QuadTree(workload, spend, size)
    yield union_mechanism(workload, spend, size)
    kept = {place for product in workload.products for place in product.kept_places}
    sides = list(enumerate(workload.universe.shape))
    yield MatrixMechanism(workload, spend)
    for made in (identity, hierarchical, lambda side: hierarchical(side, 4), wavelet):
        factors = (made(side) if place in kept else total(side) for place, side in sides)
        yield MatrixMechanism(workload, spend, ProductStrategy.of(*factors))


def check(kind: str, spend: Guarantee, size: int) -> None:
    workload = _workload(kind, size)
    found = plan(workload, spend=spend, about=5_000)
    known = [each for each in found.ranked if each.predicted.basis is Basis.COMPUTED]
    least = min(each.rmse for each in rivals(workload, spend))
    assert known[0].predicted.error <= least * NEVER_WORSE
    # What is tried goes first only where it is clearly better, its spread told.
    if found.chosen is not known[0]:
        assert found.chosen.predicted.error * 1.1 <= known[0].predicted.error
        assert found.chosen.predicted.basis is Basis.BOUND or found.chosen.predicted.trials >= 4


@pytest.mark.parametrize(("kind", "spend", "size"), SAMPLE)
def test_the_chosen_mechanism_is_within_two_per_cent_of_the_best(
    kind: str, spend: Guarantee, size: int
) -> None:
    check(kind, spend, size)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "spend", "size"), CASES)
def test_all_sixty(kind: str, spend: Guarantee, size: int) -> None:
    assert len(CASES) == 60
    check(kind, spend, size)


@pytest.mark.parametrize("kind", ["ranges", "ranges by class"])
def test_the_quad_tree_is_stated_with_the_error_that_it_has(kind: str) -> None:
    """Measured: 1.611 said and 3.464 true. Now both are one, and releases have it.

    The mean of 60 squared errors of many queries: off by a fifth less than once in 1e6.
    """
    workload, spend = _workload(kind, 14), dp.PureDP(epsilon=1)
    found = plan(workload, spend=spend)  # no guess of the number of records is needed
    (stated,) = (each.predicted for each in found.ranked if each.name == "quad-tree")
    tree = QuadTree(workload, spend, NoisyRecordCount())
    assert stated.basis is Basis.COMPUTED
    assert stated.error == pytest.approx(tree.rmse, rel=1e-12)
    counts = surrogate(workload.universe, 3_000)
    seen = [rmse(tree.release(counts), workload, counts) ** 2 for _ in range(60)]
    assert np.mean(seen) ** 0.5 == pytest.approx(stated.error, rel=0.2)
    deviations = tree.deviations(workload)
    assert np.mean(deviations**2) ** 0.5 == pytest.approx(tree.rmse, rel=1e-9)


def test_a_tree_whose_leaves_hold_several_cells_states_no_error_of_single_queries() -> None:
    tree = QuadTree(_workload("ranges", 14), dp.PureDP(epsilon=1), NoisyRecordCount(), depth=2)
    assert not tree.error_known
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        tree.deviations(tree.workload)
