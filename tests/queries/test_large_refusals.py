"""Universes of a billion cells, and far beyond: refused in words, at once, before anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.queries import (
    DAWA,
    MWEM,
    IndependentNoise,
    MatrixMechanism,
    ProjectionMechanism,
    PublicCount,
    Universe,
    Workload,
    plan,
    small_db,
)
from discreet.queries.net import small_databases

PURE, SIZE = dp.PureDP(epsilon=1), PublicCount(100)


def wide(attributes: int) -> Workload:
    universe = Universe.of(**{f"a{i}": range(2) for i in range(attributes)})
    return Workload.marginal(universe, universe.names)


@pytest.mark.parametrize("attributes", [30, 100], ids=["1e9", "1e30"])
@pytest.mark.parametrize(
    "make",
    [
        lambda w: small_db(w, error=0.1, epsilon=1, size=SIZE),
        lambda w: MWEM(w, PURE, SIZE, rounds=2),
        lambda w: DAWA(w, PURE, SIZE),
        lambda w: MatrixMechanism(w, PURE),
        lambda w: IndependentNoise(w, PURE),
        lambda w: ProjectionMechanism(w, PURE, size=SIZE),
    ],
    ids=["SmallDB", "MWEM", "DAWA", "matrix", "independent", "projection"],
)
def test_a_universe_far_too_large_is_refused_in_words(
    make: Callable[[Workload], Any], attributes: int
) -> None:
    with pytest.raises(DiscreetError) as refused:
        make(wide(attributes))
    assert refused.value.code in {"universe_too_large", "net_too_large"}
    assert 0 < len(str(refused.value)) < 2000


def test_the_planner_says_of_each_why_not() -> None:
    with pytest.raises(InvalidParameter, match="no_mechanism_fits"):
        plan(wide(100), spend=PURE, about=1000)


def test_small_databases_are_counted_without_being_written_out() -> None:
    assert small_databases(1, 5).tolist() == [[1.0]]
    assert len(small_databases(3, 100)) == 101 * 102 // 2
    for cells, rows in ((10**9, 3), (10**30, 2000), (2000, 10**9), (10**5000, 10**6)):
        with pytest.raises(InvalidParameter, match="net_too_large"):
            small_databases(cells, rows)


def test_conjunctions_count_who_has_all_of_some_attributes() -> None:
    """Ten at five attributes and two of them."""
    universe = Universe.of(**{f"a{i}": (False, True) for i in range(5)})
    workload = Workload.conjunctions(universe, 2)
    assert workload.queries == 10
    counts = np.random.default_rng(0).integers(0, 9, universe.shape)
    expected = [
        counts.sum(axis=tuple({*range(5)} - {i, j}))[1, 1]
        for i in range(5)
        for j in range(i + 1, 5)
    ]
    assert workload.answers(counts).tolist() == expected
    assert MatrixMechanism(workload, PURE).release(counts).answers(workload).shape == (10,)
    with pytest.raises(InvalidParameter, match="attributes_not_binary"):
        Workload.conjunctions(Universe.of(x=range(3)), 1)
