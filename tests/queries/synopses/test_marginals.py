"""Least squares over marginals, against the dense solution and against simulation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.queries.synopses.marginals import Axes, Marginals, ordered, subsets

SIZES = {"a": 2, "b": 3, "c": 4}
SETS: tuple[Axes, ...] = tuple(map(frozenset, ("", "a", "ab", "bc")))


def matrix(axes: Axes, sizes: dict[str, int]) -> np.ndarray:
    """Which cells of the whole table each cell of a marginal sums up."""
    every = ordered(frozenset(sizes))
    rows = []
    for cell in itertools.product(*(range(sizes[a]) for a in ordered(axes))):
        wanted = dict(zip(ordered(axes), cell, strict=True))
        rows.append(
            [
                float(all(full[every.index(a)] == v for a, v in wanted.items()))
                for full in itertools.product(*(range(sizes[a]) for a in every))
            ]
        )
    return np.array(rows)


def dense(
    sets: tuple[Axes, ...], sizes: dict[str, int], variances: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """The generalised least-squares map from measured cells to cells, and its covariance."""
    whole = np.vstack([matrix(axes, sizes) for axes in sets])
    noise = np.concatenate(
        [np.full(len(matrix(a, sizes)), v) for a, v in zip(sets, variances, strict=True)]
    )
    weighted = whole / noise[:, None]
    mapping = whole @ np.linalg.pinv(whole.T @ weighted) @ weighted.T
    return mapping, mapping @ np.diag(noise) @ mapping.T


def flat(tables: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([table.ravel() for table in tables])


def test_estimates_and_variances_are_those_of_dense_least_squares() -> None:
    variances = [4.0, 1.0, 2.5, 0.5]
    marginals = Marginals(SIZES, SETS)
    mapping, covariance = dense(SETS, SIZES, variances)
    rng = np.random.default_rng(1)
    shapes = [tuple(SIZES[a] for a in ordered(axes)) for axes in SETS]
    tables = [rng.normal(size=shape) for shape in shapes]
    assert flat(marginals.estimate(tables, variances)) == pytest.approx(mapping @ flat(tables))
    cells = [math.prod(shape) for shape in shapes]
    assert np.repeat(marginals.variances(variances), cells) == pytest.approx(np.diag(covariance))


def test_the_weights_of_a_cell_are_the_rows_of_the_dense_map() -> None:
    variances = [4.0, 1.0, 2.5, 0.5]
    marginals = Marginals(SIZES, SETS)
    mapping, _ = dense(SETS, SIZES, variances)
    ends = np.cumsum([0, *(len(matrix(axes, SIZES)) for axes in SETS)])
    for wanted in range(len(SETS)):
        row = mapping[ends[wanted]]
        for column in range(len(SETS)):
            found = sorted(
                weight
                for place, count, weight in marginals.terms(wanted, variances)
                if place == column
                for _ in range(count)
            )
            assert found == pytest.approx(sorted(row[ends[column] : ends[column + 1]]), abs=1e-12)


def test_estimates_agree_on_what_they_share() -> None:
    rng = np.random.default_rng(2)
    shapes = [tuple(SIZES[a] for a in ordered(axes)) for axes in SETS]
    total, a, ab, bc = Marginals(SIZES, SETS).estimate(
        [rng.normal(size=shape) for shape in shapes], [1, 2, 3, 4]
    )
    assert a.sum() == pytest.approx(total)
    assert ab.sum(axis=1) == pytest.approx(a)
    assert ab.sum(axis=0) == pytest.approx(bc.sum(axis=1))


def test_exact_tables_stay_as_they_are() -> None:
    whole = np.arange(24.0).reshape(2, 3, 4)
    tables = [whole.sum(), whole.sum(axis=(1, 2)), whole.sum(axis=2), whole.sum(axis=0)]
    for before, after in zip(
        tables, Marginals(SIZES, SETS).estimate(tables, [1, 5, 2, 3]), strict=True
    ):
        assert after == pytest.approx(before)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.tuples(*[st.integers(1, 4)] * 3),
    chosen=st.sets(st.integers(0, 7), min_size=1),
    variances=st.lists(st.floats(0.1, 10), min_size=8, max_size=8),
)
def test_least_squares_never_raises_a_variance(
    sizes: tuple[int, int, int], chosen: set[int], variances: list[float]
) -> None:
    named = dict(zip("abc", sizes, strict=True))
    every = list(subsets(frozenset("abc")))
    sets = tuple(every[number] for number in sorted(chosen))
    used = variances[: len(sets)]
    after = Marginals(named, sets).variances(used)
    assert (after <= np.array(used) * (1 + 1e-9)).all()
