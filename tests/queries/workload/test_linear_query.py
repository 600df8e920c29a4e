"""One query of a workload: its row, weights in [0, 1], exact on the grid."""

import math

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.queries.workload.families import All, Each, Listed, Prefixes, Ranges
from discreet.queries.workload.linear_query import Region, Weights, on_grid, query_of
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

UNIVERSE = Universe.of(a=range(4), b=range(3), c=range(5))

WORKLOAD = Workload.union(
    Workload.marginals(UNIVERSE, 2),
    Workload.of(UNIVERSE, {"a": Ranges(4), "c": Prefixes(5)}),
    Workload.of(UNIVERSE, {"b": Listed([[0.5, 0.25, 1.0], [0.0, 1.0, 1.0]])}),
)

COUNTS = (np.arange(60) * 7919) % 23


def test_queries_of_a_workload_are_its_rows() -> None:
    dense = WORKLOAD.dense()
    for place, row in enumerate(dense):
        query = query_of(WORKLOAD, place)
        assert query.dense() == pytest.approx(row)
        assert query.answer(COUNTS.astype(float)) == pytest.approx(row @ COUNTS)
    with pytest.raises(InvalidParameter, match="query_unknown"):
        query_of(WORKLOAD, len(dense))


def test_weights_outside_zero_and_one_are_refused() -> None:
    for wrong in ([0.5, 1.5], [-0.1, 0], [math.nan, 0], [[0.5]], []):
        with pytest.raises(InvalidParameter, match="query_weights"):
            Weights(wrong)
    with pytest.raises(InvalidParameter, match="query_weights"):
        on_grid(Workload.of(UNIVERSE, {"b": Listed([[2.0, 0, 0]])}))
    half = Listed([[0.5, 0.5, 0.5]])
    quarter = Listed([[0.25] * 4])
    with pytest.raises(InvalidParameter, match="queries_fractional"):
        on_grid(Workload.of(UNIVERSE, {"a": quarter, "b": half}))


def test_a_region_that_could_count_a_cell_twice_is_refused() -> None:
    for box in ((np.array([0, 0]),), ([0, 0],), (slice(0, 1), slice(0, 1)), ()):
        with pytest.raises(InvalidParameter, match="region_misfit"):
            Region((3,), box)  # type: ignore[arg-type]


def test_answers_on_the_grid_do_not_depend_on_the_order_of_summation() -> None:
    """The stored weights are multiples of 2**-20, so doubles hold every partial sum."""
    numbers = np.random.default_rng(5)
    query = Weights(numbers.random(1000))
    counts = numbers.integers(0, 1 << 20, 1000).astype(float)
    order = numbers.permutation(1000)
    assert query.answer(counts) == sum((query.values * counts)[order].tolist())
    exact = [int(w * 2**20) * int(c) for w, c in zip(query.values, counts, strict=True)]
    assert query.answer(counts) * 2**20 == sum(exact)


def test_all_and_each_are_regions() -> None:
    query = query_of(Workload.of(UNIVERSE, {"a": Each(4), "b": All(3)}), 2)
    assert query == Region((4, 3, 5), (slice(2, 3), slice(0, 3), slice(0, 5)))
