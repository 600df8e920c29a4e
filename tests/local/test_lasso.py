"""Sparse tables from noisy pairs. Statistical tests fail wrongly with a chance below 1e-6."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.core.errors import DiscreetError
from discreet.local.lasso import SparseTable, sparse_table
from discreet.local.marginals import SplitMarginals
from discreet.noise import Seeded

SIZES = (4, 4, 4, 4)
PAIRS = tuple(combinations(range(4), 2))
KINDS = np.array([[0, 1, 2, 3], [3, 1, 0, 0], [2, 2, 2, 1], [1, 0, 3, 2], [0, 3, 1, 1]])
SHARES = np.array([0.4, 0.25, 0.2, 0.1, 0.05])


def records(people: int) -> NDArray[np.int64]:
    return KINDS[np.random.default_rng(0).choice(5, people, p=SHARES)]


def truth(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    table = np.zeros(SIZES)
    np.add.at(table, tuple(rows.T), 1 / len(rows))
    return table


def found(epsilon: float, people: int) -> tuple[SparseTable, float, float]:
    """The table, its distance from the truth, and that of the table of largest entropy."""
    rows = records(people)
    question = SplitMarginals(epsilon=epsilon, sizes=SIZES, sets=PAIRS)
    tally = question.oracle.aggregate(question.oracle.privatize_many(question.numbers(rows)))
    sparse = sparse_table(question, tally, (0, 1, 2, 3))
    fitted = question.marginal(tally, (0, 1, 2, 3))
    distances = [float(np.abs(each - truth(rows)).sum()) / 2 for each in (sparse.shares, fitted)]
    return sparse, distances[0], distances[1]


def test_without_noise_records_that_pairs_determine_are_found() -> None:
    table, distance, _ = found(20, 100_000)
    assert table.shares.sum() == pytest.approx(1)
    assert distance < 0.02
    assert set(zip(*np.nonzero(table.shares > 0.02), strict=True)) == set(map(tuple, KINDS))


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_a_sparse_table_is_nearer_than_that_of_largest_entropy(epsilon: int) -> None:
    pairs = [found(epsilon, 50_000) for _ in range(6)]
    assert np.mean([each[1] for each in pairs]) < np.mean([each[2] for each in pairs])
    assert np.mean([each[0].cells for each in pairs]) < 30  # of 256; five are there


def test_tables_agree_with_their_sums_and_make_rows() -> None:
    table, _, _ = found(4, 50_000)
    rows = table.rows(20_000, Seeded(1))
    assert rows.shape == (20_000, 4)
    again = truth(rows)
    assert not again[table.shares == 0].any()
    assert np.abs(again - table.shares).max() < 6 * 0.5 / np.sqrt(20_000)


def test_attributes_without_a_set_and_large_tables_are_refused() -> None:
    question = SplitMarginals(epsilon=1, sizes=(2, 2, 2), sets=((0, 1),))
    tally = question.oracle.aggregate(question.oracle.privatize_many(np.arange(8)))
    with pytest.raises(DiscreetError, match="local_attributes"):
        sparse_table(question, tally, (0, 1, 2))
    large = SplitMarginals(epsilon=1, sizes=(1000, 1000), sets=((0,), (1,)))
    tally = large.oracle.aggregate(large.oracle.privatize_many(np.arange(8)))
    with pytest.raises(DiscreetError, match="local_marginals_too_large"):
        sparse_table(large, tally, (0, 1))
