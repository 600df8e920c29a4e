"""Families of queries: closed forms are those of the matrix."""

import numpy as np
import pytest

from discreet.queries.workload.answers import cell_weights, column
from discreet.queries.workload.families import Each, Listed, Prefixes, QueryFamily, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload


@pytest.mark.parametrize(
    "family",
    [Each(4), Prefixes(4), Ranges(4), Listed([[0.5, 0.0, 1.0, 0.25], [1.0, 1.0, 0.0, 0.0]])],
)
def test_the_transpose_is_that_of_the_matrix(family: QueryFamily) -> None:
    universe = Universe.of(a=range(4), b=range(3))
    workload = Workload.of(universe, {"a": family, "b": Prefixes(3)}, {"b": Each(3)})
    dense = workload.dense()
    weights = np.arange(float(len(dense)))
    assert cell_weights(workload, weights) == pytest.approx(dense.T @ weights)
    for cell in range(12):
        assert column(workload, cell) == pytest.approx(dense[:, cell])
