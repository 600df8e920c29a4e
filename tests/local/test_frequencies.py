"""Corrections of estimates: projections, cuts, consistency."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from discreet import local
from discreet.local.frequencies import Frequencies, consistent, simplex

SHARES = st.lists(st.floats(-2, 2), min_size=2, max_size=12)


@given(SHARES)
def test_the_projection_is_on_the_simplex_and_nearest(shares: list[float]) -> None:
    values = np.array(shares)
    found = simplex(values)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    # optimality: the move is equal where shares are positive, and no smaller elsewhere
    moved = values - found
    level = moved[found > 0].mean()
    assert np.allclose(moved[found > 0], level)
    assert np.all(moved[found == 0] <= level + 1e-9)


def frequencies(shares: list[float], variance: float = 0.0001) -> local.Frequencies:
    array = np.array(shares)
    return local.Frequencies(array, np.full(len(array), variance), 100, ("a", "b", "c", "d"))


def test_corrections_and_rankings() -> None:
    found = frequencies([0.7, 0.02, -0.01, 0.2])
    assert found.projected().shares.sum() == pytest.approx(1)
    assert found.base_cut(confidence=0.95).shares.tolist() == [0.7, 0, 0, 0.2]
    assert found.shifted().shares.tolist() == [0.7, 0.02, 0, 0.2]
    assert frequencies([0.9, 0.3, -0.01, 0.2]).shifted().shares.sum() == pytest.approx(1)
    assert found.top(2) == [("a", 0.7), ("d", 0.2)]
    low, high = found.intervals(confidence=0.95)
    assert np.allclose(high - low, 2 * 1.959964 * 0.01)
    assert found.counts.tolist() == [70, 2, -1, 20]


def test_consistency_is_least_squares() -> None:
    parent, children = np.array([1.0]), np.array([[0.3, 0.5]])
    found = consistent(parent, children, parent_variance=2.0, variance=1.0)

    def loss(x: NDArray[np.float64]) -> float:
        return float((x.sum() - 1.0) ** 2 / 2 + ((x - children[0]) ** 2).sum())

    solved = minimize(loss, np.array([0.3, 0.5]))
    assert np.allclose(found[0], solved.x, atol=1e-5)
    exact = consistent(parent, children, parent_variance=0.0, variance=1.0)
    assert exact.sum() == pytest.approx(1)


def test_a_plot_of_the_largest_shares() -> None:
    pytest.importorskip("altair")
    chart = frequencies([0.7, 0.02, -0.01, 0.2]).plot(confidence=0.95, most=2).to_dict()
    assert len(chart["layer"]) == 2


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("bits", [1, 2])
def test_noise_alone_passes_the_cut_as_rarely_as_stated(epsilon: float, bits: int) -> None:
    """004a:C10. 400 values that nobody has; at .5 each is tested at .5 / 401."""
    oracle = local.HadamardResponse(epsilon=epsilon, domain=401, bits=bits)
    passed = 0
    for _ in range(60):
        found = oracle.estimate(oracle.aggregate(oracle.privatize_many(np.zeros(3000, int))))
        passed += int((found.base_cut(confidence=0.5).shares[1:] > 0).sum())
    # about 30 are expected; more than 75 has a chance below 1e-9 (Poisson)
    assert 5 < passed < 75


def test_shares_print_as_a_table_of_the_largest() -> None:
    found = Frequencies(np.array([0.2, 0.9]), np.array([0.01, 0.01]), 50, ("no", "yes"))
    assert str(found).splitlines() == [
        "yes  0.9000  (0.7040 to 1.0000)",
        "no   0.2000  (0.0040 to 0.3960)",
        "shares of 50 people, with 95% intervals",
    ]
    many = Frequencies(np.zeros(25), np.full(25, np.nan), 50)
    assert "… and 5 more" in str(many)
