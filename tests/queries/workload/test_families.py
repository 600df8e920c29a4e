"""Families of queries: closed forms are those of the matrix."""

import numpy as np
import pytest

from discreet.queries.workload.answers import cell_weights, column
from discreet.queries.workload.families import All, Each, Listed, Prefixes, QueryFamily, Ranges
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


class Halves(QueryFamily):
    """A family of one's own: the mean of both values."""

    size = 2

    @property
    def queries(self) -> int:
        return 1

    def gram(self) -> np.ndarray:
        return np.full((2, 2), 0.25)

    def apply(self, table: np.ndarray) -> np.ndarray:
        return np.asarray(table.mean(axis=0, keepdims=True))


@pytest.mark.parametrize(
    "family",
    [
        *(Each(5), All(5), Prefixes(5), Ranges(5), Halves()),
        *(Listed([[0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]), Listed([[0, 1, 1]])),
    ],
)
def test_closed_forms_are_those_of_the_matrix(family: QueryFamily) -> None:
    dense, size = family.dense(), family.size
    assert family.gram() == pytest.approx(dense.T @ dense)
    assert family.whole == bool(np.isin(dense, (0, 1)).all())
    root = np.random.default_rng(1).random((size, size))
    covariance = root @ root.T
    assert family.variances(covariance) == pytest.approx(np.diagonal(dense @ covariance @ dense.T))
    weights = np.random.default_rng(2).random((family.queries, 3))
    assert family.transposed(weights) == pytest.approx(dense.T @ weights)
    for place in range(family.queries):
        row = family.row(place)
        if isinstance(row, slice):
            picked = np.zeros(size)
            picked[row] = 1
            row = picked
        assert row == pytest.approx(dense[place])
