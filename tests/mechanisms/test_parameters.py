"""Bad parameters are refused by name, with a code and a remedy; none is clamped in silence."""

import inspect
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.mechanisms import (
    AboveThreshold,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Sparse,
    laplace_sum_error,
)
from tests.mechanisms.examples import COUNTS, EXAMPLES, POSITIVE, PROBABILITIES

NOT_NUMBERS: list[Any] = [True, np.True_, "1", None, [1], 1j, np.array([1.0, 2.0])]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64("nan")]
NOT_POSITIVE = [0, -1, 0.0, -0.0, -1e-300, Fraction(-1, 3), np.int64(0)]
EXTREME = [1e308, 5e-324, Fraction(1, 10**400), 10**400, 1e-200]
NOT_A_COUNT = [0, -1, 1.5, 3.0, Fraction(7, 2)]
NOT_A_PROBABILITY = [0, 1, 1.5, -0.1]


def bad_values(name: str) -> list[Any]:
    both = [*NOT_NUMBERS, *NOT_FINITE]
    if name in POSITIVE:
        return [*both, *NOT_POSITIVE, *EXTREME]
    if name in COUNTS:
        return [*both, *NOT_A_COUNT]
    return [*both, *NOT_A_PROBABILITY] if name in PROBABILITIES else both


CASES = [
    pytest.param(kind, name, id=f"{kind.__name__}-{name}")
    for kind, parameters in EXAMPLES.items()
    for name in parameters
]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_bad_values_are_refused_when_the_mechanism_is_built(kind: type[Any], name: str) -> None:
    for bad in bad_values(name):
        with pytest.raises(InvalidParameter) as refused:
            kind(**{**EXAMPLES[kind], name: bad})
        error = refused.value
        assert error.code
        assert error.remedy
        assert name in error.expectation, (bad, str(error))


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_missing_parameter_is_an_error(kind: type[Any], name: str) -> None:
    with pytest.raises(TypeError, match=name):
        kind(**{key: value for key, value in EXAMPLES[kind].items() if key != name})


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_numpy_scalars_are_plain_numbers(kind: type[Any], name: str) -> None:
    # A numpy integer inside a Fraction would wrap around at 64 bits.
    value = EXAMPLES[kind][name]
    scalars = [np.int64(value), np.uint8(value)] if isinstance(value, int) else [np.float64(value)]
    for scalar in scalars:
        mechanism = kind(**{**EXAMPLES[kind], name: scalar})
        assert mechanism.event == kind(**EXAMPLES[kind]).event
        assert name not in COUNTS or type(getattr(mechanism, name)) is int
        if hasattr(mechanism, "release"):
            mechanism.release([1, 0, 1])
        else:
            mechanism.open().ask(3)
    if name in POSITIVE:
        half = kind(**{**EXAMPLES[kind], name: np.float32(0.5)})
        assert half == kind(**{**EXAMPLES[kind], name: 0.5})


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, NoisyMax, AboveThreshold, Sparse])
@pytest.mark.parametrize("scores", ["monotone", 1, 2, None, True])
def test_how_scores_move_is_said_by_name(kind: type[Any], scores: Any) -> None:
    with pytest.raises(InvalidParameter, match="not_scores"):
        kind(**EXAMPLES[kind], scores=scores)


@pytest.mark.parametrize("delta", [0, 1, 2, -1e-9, math.nan, True, "1e-6"])
def test_delta_must_lie_between_zero_and_one(delta: Any) -> None:
    for build in (
        lambda: Gaussian(epsilon=1, delta=delta, sensitivity=1),
        lambda: DiscreteGaussian.calibrated(epsilon=1, delta=delta, sensitivity=1),
        lambda: Gaussian.for_error(5, confidence=0.9, delta=delta, sensitivity=1),
        lambda: Sparse.approximate(epsilon=1, delta=delta, cutoff=2, threshold=0, sensitivity=1),
    ):
        with pytest.raises(InvalidParameter, match="delta"):
            build()


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, math.nan, True, "0.95"])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_confidence_must_be_a_probability(kind: type[Any], confidence: Any) -> None:
    names = inspect.signature(kind.error).parameters
    others = {name: 5 for name in names if name in {"candidates", "people", "questions"}}
    with pytest.raises(InvalidParameter, match="confidence"):
        kind(**EXAMPLES[kind]).error(confidence=confidence, **others)


@pytest.mark.parametrize("number", [0, -1, 2.5, True, "3", math.nan])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_how_many_must_be_a_count(kind: type[Any], number: Any) -> None:
    names = inspect.signature(kind.error).parameters
    for name in {"candidates", "people", "questions", "size"} & set(names):
        with pytest.raises(InvalidParameter, match=name):
            kind(**EXAMPLES[kind]).error(confidence=0.9, **{name: number})


@pytest.mark.parametrize("error", [0, -1, math.nan, math.inf, True, "5"])
def test_a_wanted_error_must_be_positive(error: Any) -> None:
    for build in (
        lambda: Laplace.for_error(error, confidence=0.9, sensitivity=1),
        lambda: DiscreteLaplace.for_error(error, confidence=0.9, sensitivity=1),
        lambda: Gaussian.for_error(error, confidence=0.9, delta=1e-6, sensitivity=1),
        lambda: Exponential.for_error(error, confidence=0.9, candidates=3, sensitivity=1),
        lambda: AboveThreshold.for_error(
            error, confidence=0.9, questions=3, threshold=0, sensitivity=1
        ),
    ):
        with pytest.raises(InvalidParameter, match="error"):
            build()


def test_whole_numbers_have_no_error_below_one() -> None:
    for build in (
        lambda: Laplace.for_error(0.5, confidence=0.9, sensitivity=1, kind=int),
        lambda: Gaussian.for_error(0.5, confidence=0.9, delta=1e-6, sensitivity=1, kind=int),
        lambda: DiscreteLaplace.for_error(0.5, confidence=0.9, sensitivity=1),
    ):
        with pytest.raises(InvalidParameter, match="error_below_one"):
            build()


@pytest.mark.parametrize("kind", [bool, np.int64, str, None, complex])
def test_a_kind_is_int_or_float(kind: Any) -> None:
    for mechanism in (
        Laplace(epsilon=1, sensitivity=1),
        Gaussian(epsilon=1, delta=0.1, sensitivity=1),
    ):
        with pytest.raises(InvalidParameter, match="not_a_kind"):
            mechanism.error(confidence=0.9, kind=kind)


def test_sums_of_no_noise_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="nothing_to_sum"):
        laplace_sum_error([], confidence=0.9)
    for bad in (0, -1, math.nan, math.inf, True):
        with pytest.raises(InvalidParameter, match="scale"):
            laplace_sum_error([1, bad], confidence=0.9)
