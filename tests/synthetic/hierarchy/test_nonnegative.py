"""Nearest counts that are not negative, and whole counts near them, against other solvers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.synthetic.hierarchy.families import Families, whole_children
from discreet.synthetic.hierarchy.invariants import UNBOUNDED
from discreet.synthetic.hierarchy.nonnegative import nearest_in_columns, nearest_with_totals
from discreet.synthetic.hierarchy.rounding import rounded_with_sums, with_totals


@settings(max_examples=60)
@given(st.integers(0, 10_000))
def test_a_family_gets_the_nearest_counts_with_its_sum(seed: int) -> None:
    """Kuhn and Tucker: x - z = v λ where x > 0, and no more than that where x = 0."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 5)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    z, v = rng.normal(0, 5, starts[-1]), rng.uniform(0.5, 3, starts[-1])
    sums = rng.integers(1, 20, 5).astype(float)
    x = nearest_in_columns(z, v, sums, starts)
    assert (x >= 0).all()
    assert np.allclose(np.add.reduceat(x, starts[:-1]), sums)
    for first, last in pairwise(starts.tolist()):
        price = (x - z)[first:last] / v[first:last]
        inner = x[first:last] > 1e-9
        assert np.ptp(price[inner]) < 1e-8
        assert (price[~inner] >= price[inner].min() - 1e-8).all()


@pytest.mark.parametrize("seed", range(6))
def test_public_totals_are_met_nearly_and_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, v = rng.normal(4, 6, (3, 4)), np.array([1.0, 2.0, 0.5])
    sums = np.array([10.0, 8.0, 12.0, 6.0])
    lowest, highest = np.array([9.0, 0.0, 5.0]), np.array([9.0, 14.0, float(UNBOUNDED)])
    x = nearest_with_totals(z, v, sums, lowest, highest)

    def cost(flat: Any) -> float:
        return float((((flat.reshape(3, 4) - z) ** 2) / v[:, None]).sum())

    best: Any = minimize(  # type: ignore[call-overload]
        cost,
        np.full(12, 3.0),
        bounds=[(0, None)] * 12,
        constraints=[
            {"type": "eq", "fun": lambda f: f.reshape(3, 4).sum(axis=0) - sums},
            {"type": "eq", "fun": lambda f: f.reshape(3, 4)[0].sum() - 9},
            {"type": "ineq", "fun": lambda f: 14 - f.reshape(3, 4)[1].sum()},
            {"type": "ineq", "fun": lambda f: f.reshape(3, 4)[2].sum() - 5},
        ],
        options={"maxiter": 500},
    )
    assert np.allclose(x.sum(axis=0), sums)
    assert abs(x[0].sum() - 9) < 0.25
    assert x[1].sum() < 14.25
    assert cost(x.ravel()) <= best.fun * 1.1 + 0.5


@given(
    st.lists(st.floats(0, 50), min_size=1, max_size=12),
    st.lists(st.floats(0, 3), min_size=1, max_size=12),
)
def test_rounding_keeps_sums_and_moves_nothing_by_one(one: list[float], two: list[float]) -> None:
    starts = np.array([0, len(one), len(one) + len(two)])
    values = np.array(one + two)
    sums = np.rint(np.add.reduceat(values, starts[:-1]))
    share = np.add.reduceat(values, starts[:-1])
    values = values * np.repeat(
        np.where(share > 0, sums / np.maximum(share, 1e-9), 0), np.diff(starts)
    )
    values[starts[:-1]] += sums - np.add.reduceat(values, starts[:-1])
    found = rounded_with_sums(values, sums.astype(np.int64), starts)
    assert np.add.reduceat(found, starts[:-1]).tolist() == sums.tolist()
    assert (np.abs(found - values) < 1 + 1e-6).all()
    assert (found >= 0).all()


@pytest.mark.parametrize("size", [1 << 40, 1 << 54, 1 << 59])
def test_sums_are_exact_where_doubles_are_not(size: int) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, size // 8, (7, 3))
    starts = np.array([0, 2, 7])
    families = Families(starts, np.zeros(7, dtype=np.int64), np.full(7, UNBOUNDED))
    above = np.add.reduceat(truth, starts[:-1], axis=0)
    estimates = truth + rng.normal(0, size / 8, truth.shape)
    found = whole_children(estimates, rng.uniform(1, 2, 7), above, families)
    assert (found >= 0).all()
    assert np.array_equal(np.add.reduceat(found, starts[:-1], axis=0), above)


@settings(max_examples=80)
@given(st.integers(0, 10_000))
def test_totals_are_repaired_with_columns_as_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2, (4, 5))
    totals = rng.multinomial(counts.sum(), np.ones(4) / 4)
    lowest = np.where(rng.random(4) < 0.5, totals, 0)
    highest = np.where(rng.random(4) < 0.5, totals, UNBOUNDED)
    highest = np.maximum(lowest, highest)
    found = with_totals(counts, counts + rng.uniform(-1, 1, counts.shape), lowest, highest)
    assert np.array_equal(found.sum(axis=0), counts.sum(axis=0))
    assert (found >= 0).all()
    assert (found.sum(axis=1) >= lowest).all()
    assert (found.sum(axis=1) <= highest).all()


@settings(max_examples=60)
@given(st.integers(0, 10_000))
def test_children_add_up_and_keep_their_ends_whatever_the_estimates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.poisson(rng.gamma(0.3, 5, (9, 6)))
    starts = np.array([0, 4, 5, 9])
    held = rng.random(9) < 0.4
    totals = truth.sum(axis=1)
    families = Families(
        starts, np.where(held, totals, 0), np.where(held, totals, UNBOUNDED).astype(np.int64)
    )
    above = np.add.reduceat(truth, starts[:-1], axis=0)
    estimates = truth + rng.normal(0, rng.choice([0.1, 3, 200]), truth.shape)
    found = whole_children(estimates, rng.uniform(1, 2, 9), above, families)
    assert (found >= 0).all()
    assert np.array_equal(np.add.reduceat(found, starts[:-1], axis=0), above)
    assert np.array_equal(found.sum(axis=1)[held], totals[held])
