"""One core: right in log-space, quick in boxes, and its potential falls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.workload.linear_query import Region, Weights
from discreet.queries.workload.universe import Universe

UNIVERSE = Universe.of(a=range(4), b=range(3), c=range(5))

COUNTS = (np.arange(60) * 7919) % 23


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
