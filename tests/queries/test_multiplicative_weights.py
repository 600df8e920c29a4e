"""One core: right in log-space, quick in boxes, and its potential falls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.workload.answers import marginal, product_answers, shared_answers
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
TABLE = COUNTS.astype(float)


def test_queries_of_a_workload_are_its_rows() -> None:
    dense = WORKLOAD.dense()
    for place, row in enumerate(dense):
        query = query_of(WORKLOAD, place)
        assert query.dense() == pytest.approx(row)
        assert query.answer(COUNTS.astype(float)) == pytest.approx(row @ COUNTS)
    with pytest.raises(InvalidParameter, match="query_unknown"):
        query_of(WORKLOAD, len(dense))


def test_shared_sums_are_the_same_sums() -> None:
    assert shared_answers(WORKLOAD, TABLE) == pytest.approx(WORKLOAD.answers(COUNTS))
    parts = product_answers(WORKLOAD, TABLE)
    assert [len(part) for part in parts] == [product.queries for product in WORKLOAD.products]
    table = COUNTS.reshape(4, 3, 5)
    assert marginal(COUNTS.astype(float), (4, 3, 5), (0, 2)).tolist() == (
        table.sum(axis=1, keepdims=True).tolist()
    )


def test_the_catalogue_s_first_update() -> None:
    """000a:F4: x = (1, 0), f = (1, 0), alpha = .4."""
    weights = MultiplicativeWeights(2)
    before = weights.divergence(np.array([1.0, 0.0]))
    weights.update(Weights([1.0, 0.0]), 0.2)
    assert weights.distribution == pytest.approx([0.549834, 0.450166], abs=1e-6)
    drop = before - weights.divergence(np.array([1.0, 0.0]))
    assert drop == pytest.approx(0.09501, abs=1e-5)
    assert drop >= 0.2 * 0.5 - 0.2**2


@given(st.lists(st.tuples(st.integers(0, 59), st.floats(-3, 3)), max_size=40))
@settings(max_examples=40, deadline=None)
def test_boxes_marginals_and_dense_updates_agree(updates: list[tuple[int, float]]) -> None:
    boxes, dense = MultiplicativeWeights(60), MultiplicativeWeights(60)
    shape = UNIVERSE.shape
    for cell, step in updates:
        place = np.unravel_index(cell, shape)
        box = tuple(slice(int(i), int(i) + 1) for i in place[:2])
        query = Region(shape, (*box, slice(0, 5)))
        boxes.update(query, step)
        boxes.tilt_along(np.full((4, 1, 1), step / 2), shape)
        steps = np.zeros((4, 1, 5))
        steps[place[0], 0, place[2]] = step
        boxes.tilt_along(steps, shape)
        dense.tilt(step * query.dense() + np.broadcast_to(steps, shape).ravel())
    assert boxes.distribution == pytest.approx(dense.distribution, rel=1e-9)
    assert boxes.mass == pytest.approx(float(boxes.weights.sum()), rel=1e-9)
    target = COUNTS / COUNTS.sum()
    assert boxes.divergence(target) == pytest.approx(dense.divergence(target), abs=1e-9)


def test_nothing_is_lost_far_below_what_doubles_can_hold() -> None:
    weights = MultiplicativeWeights(3)
    first = Region((3,), (slice(0, 1),))
    for _ in range(300):
        weights.update(first, -10)
    assert weights.answer(first) == 0
    for _ in range(300):
        weights.update(first, 10)
    assert weights.distribution == pytest.approx([1 / 3] * 3)


def test_a_public_start_is_where_it_begins() -> None:
    assert MultiplicativeWeights(2, [1, 3]).distribution == pytest.approx([0.25, 0.75])
    for wrong in ([1, 0], [1, 2, 3], [1, math.nan]):
        with pytest.raises(InvalidParameter, match="start_misfit"):
            MultiplicativeWeights(2, wrong)


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
