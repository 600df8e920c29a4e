"""The nearest point of a hull, and the gap that certifies it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.queries.frank_wolfe import AtMost, Exactly, nearest
from discreet.queries.matrix.reconstruction import projected
from discreet.queries.workload.families import Each
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SIX = Universe.of(**{f"x{i}": range(2) for i in range(6)})

MANY = Workload.marginals(SIX, 3)

RECORDS = np.random.default_rng(7).multinomial(60, np.full(64, 1 / 64))


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.floats(-20, 20), min_size=5, max_size=5), total=st.floats(1, 30))
def test_single_cells_are_projected_onto_the_simplex(values: list[float], total: float) -> None:
    """Catalogue oracle: with the identity it is the projection onto the simplex itself."""
    cells = Workload.of(Universe.of(a=range(5)), {"a": Each(5)})
    noisy = np.array(values)
    found = nearest(cells, noisy, Exactly(total), gap=1e-9, iterations=5000)
    assert found.counts == pytest.approx(projected(noisy, total), abs=1e-3)
    free = nearest(cells, noisy, AtMost(total), gap=1e-9, iterations=5000)
    clipped = np.maximum(noisy, 0)
    wanted = clipped if clipped.sum() <= total else projected(noisy, total)
    assert free.counts == pytest.approx(wanted, abs=1e-3)


def test_the_gap_certifies_the_distance_to_the_projection() -> None:
    rng = np.random.default_rng(1)
    noisy = MANY.answers(RECORDS) + rng.normal(0, 20, MANY.queries)
    rough = nearest(MANY, noisy, Exactly(60.0), gap=500.0, iterations=10_000)
    fine = nearest(MANY, noisy, Exactly(60.0), gap=1e-4, iterations=10_000)
    assert rough.gaps[-1] <= 500
    assert fine.gaps[-1] <= 1e-4
    apart = MANY.answers(rough.counts) - MANY.answers(fine.counts)
    assert float(apart @ apart) <= 2 * rough.gaps[-1]
    assert fine.counts.sum() == pytest.approx(60)
    assert fine.counts.min() >= 0
