"""Sums of two Laplace variables: the closed form against sixty digits, and against the contour."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.distributions.symmetric import Companion
from discreet.release.intervals.contour import Sums
from discreet.release.intervals.laplace_pairs import is_laplace, laplace_pairs

SCALES = st.floats(1e-6, 1e6)
LAPLACE = Companion(exponential=1.0, weight=1.0, normal=0.0, uniform=0.0, apart=0.0)


def tail(first: float, second: float, h: float) -> Decimal:
    """P(|X| > h), by the formula that cancels, in enough digits."""
    with localcontext(prec=80):
        a, b, x = Decimal(first), Decimal(second), Decimal(h)
        if a == b:
            return (1 + x / (2 * a)) * (-x / a).exp()
        return (a * a * (-x / a).exp() - b * b * (-x / b).exp()) / (a * a - b * b)


@given(SCALES, SCALES, st.sampled_from([1e-12, 1e-6, 0.01, 0.05, 0.5, 0.9]))
def test_the_tail_beyond_a_half_width_is_alpha(first: float, second: float, alpha: float) -> None:
    (h,) = laplace_pairs(np.array([first]), np.array([second]), alpha)
    assert abs(float(tail(first, second, h) / Decimal(alpha)) - 1) < 1e-9


@pytest.mark.parametrize("apart", [0.0, 1e-16, 1e-12, 1e-8, 1e-4, 1e-1])
def test_scales_that_are_nearly_equal_need_no_special_case(apart: float) -> None:
    (h,) = laplace_pairs(np.array([3.0]), np.array([3.0 * (1 + apart)]), 0.05)
    assert abs(float(tail(3.0, 3.0 * (1 + apart), h) / Decimal("0.05")) - 1) < 1e-11


def test_one_that_is_nothing_leaves_the_other() -> None:
    found = laplace_pairs(np.array([2.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0]), 0.05)
    assert found.tolist() == pytest.approx([-2 * np.log(0.05)] * 2 + [0.0])


def test_the_contour_says_the_same() -> None:
    random = np.random.default_rng(1)
    scales = 10 ** random.uniform(-2, 2, (200, 2))
    contour = Sums(scales, [LAPLACE, LAPLACE]).half_widths(0.05)
    assert np.allclose(laplace_pairs(scales[:, 0], scales[:, 1], 0.05), contour, rtol=1e-9, atol=0)


@pytest.mark.parametrize(
    "other", [{"weight": 0.9}, {"normal": 1.0}, {"uniform": 1.0}, {"exponential": 0.0}]
)
def test_what_is_not_plainly_laplace_goes_another_way(other: dict[str, float]) -> None:
    plain = {"exponential": 1.0, "weight": 1.0, "normal": 0.0, "uniform": 0.0, "apart": 0.0}
    assert is_laplace(LAPLACE)
    assert not is_laplace(Companion(**{**plain, **other}))
