"""Bad input gets one clear error with a code and a remedy, and nothing is clamped in silence."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import accounting, events
from discreet.core import errors, parameters
from discreet.core.errors import DiscreetError, InvalidParameter

NOT_NUMBERS: list[Any] = [True, False, "1", b"1", None, [1], (1,), {1}, 1j, Decimal(1), object()]
NOT_NUMBERS += [np.array([1.0]), np.bool_(True), np.str_("1")]  # noqa: FBT003
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")]
EPSILONS: dict[str, Any] = {
    "Pure": lambda x: events.Pure(epsilon=x),
    "Laplace": lambda x: events.Laplace(epsilon=x),
    "DiscreteLaplace": lambda x: events.DiscreteLaplace(epsilon=x, steps=1),
    "Exponential": lambda x: events.Exponential(epsilon=x),
    "RandomizedResponse": lambda x: events.RandomizedResponse(epsilon=x, categories=2),
    "SparseVector": lambda x: events.SparseVector(epsilon=x, cutoff=1),
    "Approximate": lambda x: events.Approximate(epsilon=x, delta=0.1),
    "Concentrated": lambda x: events.Concentrated(rho=x),
    "Gaussian": events.Gaussian,
    "DiscreteGaussian": lambda x: events.DiscreteGaussian(1, x),
    "gaussian_delta": lambda x: accounting.gaussian_delta(x, 1),
    "zcdp_rho": lambda x: accounting.zcdp_rho(x, 1e-6),
}


def refused(build: Any, value: Any) -> DiscreetError:
    with pytest.raises(InvalidParameter) as refusal:
        build(value)
    error = refusal.value
    assert error.code in str(error)
    assert error.expectation in str(error)
    assert error.remedy in str(error)
    return error


@pytest.mark.parametrize("name", EPSILONS)
def test_epsilon_is_a_positive_finite_number(name: str) -> None:
    build = EPSILONS[name]
    for value in NOT_NUMBERS:
        assert refused(build, value).code == "not_a_number"
    for value in NOT_FINITE:
        assert refused(build, value).code == "not_finite"
    for value in (0, 0.0, -0.0, -1, -5e-324, Fraction(-1, 10**9), np.int64(-1)):
        assert refused(build, value).code == "not_positive"
    for value in (5e-324, 1, Fraction(1, 10**40), np.float32(0.5), np.int64(3)):
        if name not in ("gaussian_delta", "zcdp_rho"):
            build(value)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: events.Approximate(epsilon=1, delta=x),
        lambda x: events.Laplace(epsilon=1).epsilon(delta=x),
    ],
)
def test_delta_lies_below_one(build: Any) -> None:
    for value in NOT_NUMBERS:
        assert refused(build, value).code == "not_a_number"
    for value in NOT_FINITE:
        assert refused(build, value).code == "not_finite"
    for value in (1, 1.0, -1e-9, 2, Fraction(1)):
        assert refused(build, value).code == "delta_out_of_range"
    build(0)
    build(1 - 2**-53)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2", math.nan, Fraction(1, 2), None])
@pytest.mark.parametrize(
    "build",
    [
        lambda x: events.DiscreteLaplace(epsilon=1, steps=x),
        lambda x: events.SparseVector(epsilon=1, cutoff=x),
        lambda x: events.RandomizedResponse(epsilon=1, categories=x),
        lambda x: events.Repeated(events.Nothing(), x),
    ],
)
def test_counts_are_whole(build: Any, bad: Any) -> None:
    refused(build, bad)


@pytest.mark.parametrize("bad", [0, 1.0000001, -0.1, 2, math.nan, "0.5"])
def test_rates_lie_between_nothing_and_all(bad: Any) -> None:
    refused(lambda x: events.Laplace(epsilon=1).subsample(rate=x), bad)


@pytest.mark.parametrize("bad", [1, 1.5, -1, math.nan, "a", True])
def test_gaussian_and_concentrated_prices_need_a_delta(bad: Any) -> None:
    refused(lambda x: accounting.gaussian_epsilon(1, x), bad)
    refused(lambda x: accounting.gaussian_multiplier(1, x), bad)
    refused(lambda x: accounting.zcdp_epsilon(1, x), bad)
    refused(lambda x: accounting.zcdp_rho(1, x), bad)


def test_at_delta_zero_they_are_infinite_and_no_noise_reaches_them() -> None:
    assert accounting.gaussian_epsilon(1, 0) == math.inf
    assert accounting.zcdp_epsilon(1, 0) == math.inf
    refused(lambda x: accounting.gaussian_multiplier(1, x), 0)
    refused(lambda x: accounting.zcdp_rho(1, x), 0)


@given(st.fractions())
def test_rounding_up_never_rounds_down(value: Fraction) -> None:
    up = parameters.rounded_up(value)
    assert Fraction(up) >= value
    assert Fraction(math.nextafter(up, -math.inf)) < value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_stand_for_the_rational_they_store(value: float) -> None:
    assert parameters.exact(value) == value
    assert parameters.rounded_up(parameters.exact(value)) == value


KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DiscreetError)
]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_survive_pickling_and_copying(kind: type[DiscreetError]) -> None:
    error = kind(code="c", expectation="e", received=(1, "x"), remedy="r")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind
        assert str(again) == str(error) == "[c] Expected e. Got (1, 'x'). r"
        assert (again.code, again.expectation, again.remedy) == ("c", "e", "r")
