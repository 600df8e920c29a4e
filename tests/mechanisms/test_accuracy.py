"""Stated errors hold as often as they say, are not wasteful, and invert."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    TruncatedGeometric,
    Warner,
    laplace_sum_error,
)
from discreet.mechanisms.accuracy import textbook_sum_error, union_sum_error
from discreet.mechanisms.additive import Additive
from discreet.noise import Seeded
from tests.mechanisms import laws

TRIALS = 40_000
SLACK = 6 * math.sqrt(0.25 / TRIALS)
"""Six standard deviations of a share: exceeded once in 10**9."""


def covered(mechanism: Any, truth: Any, error: float, size: int) -> float:
    """The share of trials in which all ``size`` errors are within ``error``."""
    drawn = mechanism.release(np.full(TRIALS * size, truth)) - truth
    return float((np.abs(drawn).reshape(TRIALS, size).max(axis=1) <= error).mean())


class TestCoverage:
    @pytest.mark.parametrize("confidence", [0.5, 0.95])
    @pytest.mark.parametrize("size", [1, 5])
    def test_real_noise_is_covered_exactly_as_often_as_stated(
        self, confidence: float, size: int, source: Seeded
    ) -> None:
        for mechanism in (
            Laplace(epsilon=0.5, sensitivity=1, randomness=source),
            Gaussian(epsilon=0.5, delta=1e-5, sensitivity=1, randomness=source),
        ):
            error = mechanism.error(confidence=confidence, size=size)
            share = covered(mechanism, 3.25, error, size)
            assert confidence - SLACK <= share <= confidence + SLACK

    @pytest.mark.parametrize("confidence", [0.5, 0.95])
    @pytest.mark.parametrize("size", [1, 5])
    def test_whole_noise_is_covered_at_least_as_often_and_one_less_is_not_enough(
        self, confidence: float, size: int, source: Seeded
    ) -> None:
        for mechanism in (
            Laplace(epsilon=0.3, sensitivity=1, randomness=source),
            Gaussian(epsilon=0.5, delta=1e-3, sensitivity=1, randomness=source),
            DiscreteLaplace(epsilon=0.3, sensitivity=1, randomness=source),
            DiscreteGaussian(rho=0.02, sensitivity=1, randomness=source),
        ):
            error = mechanism.error(confidence=confidence, size=size, kind=int)
            assert covered(mechanism, 7, error, size) >= confidence - SLACK
            assert covered(mechanism, 7, error - 1, size) < confidence + SLACK

    def test_rounding_to_the_grid_is_part_of_the_error(self) -> None:
        # Half a step for the value, half a step for the noise.
        for size in (1, 100):
            mechanism = Laplace(epsilon=0.5, sensitivity=1)
            tail = -math.expm1(math.log(0.9) / size)
            continuous = -mechanism.scale(size=size) * math.log(tail)
            step = 2.0 ** mechanism._exponent(size, float)
            assert mechanism.error(confidence=0.9, size=size) >= continuous + 0.99 * step

    def test_clamping_never_enlarges_an_error(self, source: Seeded) -> None:
        mechanism = TruncatedGeometric(epsilon=0.4, size=10, randomness=source)
        for truth in (0, 5, 10):
            error = mechanism.error(confidence=0.9)
            assert covered(mechanism, truth, error, 1) >= 0.9 - SLACK

    def test_intervals_hold_the_truth(self, source: Seeded) -> None:
        mechanism = Laplace(epsilon=0.5, sensitivity=1, randomness=source)
        hits = 0
        for _ in range(2000):
            low, high = mechanism.interval(mechanism.release([5, 9, -3]), confidence=0.8)
            hits += bool((low <= [5, 9, -3]).all() and (high >= [5, 9, -3]).all())
        assert hits / 2000 >= 0.8 - 6 * math.sqrt(0.16 / 2000)
        low, high = mechanism.interval(mechanism.release(5), confidence=0.8)
        assert (type(low), type(high)) == (int, int)
        low, high = mechanism.interval(mechanism.release(5.0), confidence=0.8)
        assert high - low == pytest.approx(2 * mechanism.error(confidence=0.8))
        assert mechanism.interval([5, 6], confidence=0.8)[0].shape == (2,)

    @pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, NoisyMax])
    def test_selections_lose_no_more_than_stated(self, kind: type[Any], source: Seeded) -> None:
        mechanism = kind(epsilon=1, sensitivity=1, randomness=source)
        error = mechanism.error(confidence=0.8, candidates=6)
        # The worst case of the bound: all others just beyond it.
        scores = np.array([0, *[-(error + 1e-3)] * 5])
        wrong = np.mean([mechanism.release(scores) != 0 for _ in range(2000)])
        assert wrong <= 0.2 + 6 * math.sqrt(0.16 / 2000)
        if kind is Exponential:
            assert wrong >= 0.08, "not wildly more than needed"

    def test_surveys_are_within_their_bounds(self, source: Seeded) -> None:
        truth = np.repeat([1, 0], [300, 700])
        for mechanism in (
            RandomizedResponse(epsilon=1, categories=2, randomness=source),
            Warner(keep=Fraction(3, 4), randomness=source),
        ):
            error = mechanism.error(confidence=0.8, people=1000)
            runs = [
                np.atleast_1d(mechanism.estimate(mechanism.release(truth)))[-1] for _ in range(1000)
            ]
            assert np.mean(np.abs(np.array(runs) - 0.3) <= error) >= 0.8


class TestWholeErrorsAreLeast:
    @given(
        epsilon=st.floats(0.01, 20), confidence=st.floats(0.01, 0.9999), size=st.integers(1, 1000)
    )
    def test_for_laplace_noise(self, epsilon: float, confidence: float, size: int) -> None:
        for mechanism, law in (
            (Laplace(epsilon=epsilon, sensitivity=1), laws.rounded_laplace(1 / epsilon)),
            (DiscreteLaplace(epsilon=epsilon, sensitivity=1), laws.discrete_laplace(1 / epsilon)),
        ):
            error = mechanism.error(confidence=confidence, size=size, kind=int)
            self.check(error, confidence, size, law)

    @given(
        multiplier=st.floats(0.2, 30), confidence=st.floats(0.01, 0.9999), size=st.integers(1, 50)
    )
    @settings(max_examples=30)
    def test_for_gaussian_noise(self, multiplier: float, confidence: float, size: int) -> None:
        discrete = DiscreteGaussian(rho=1 / (2 * multiplier**2), sensitivity=1)
        error = discrete.error(confidence=confidence, size=size)
        self.check(error, confidence, size, laws.discrete_gaussian(discrete.sigma))
        rounded = Gaussian(epsilon=1, delta=1e-3, sensitivity=multiplier)
        error = rounded.error(confidence=confidence, size=size, kind=int)
        self.check(error, confidence, size, laws.rounded_gaussian(rounded.scale(kind=int)))

    def check(self, error: float, confidence: float, size: int, law: tuple[Any, Any]) -> None:
        assert error == int(error) >= 0
        tail = -math.expm1(math.log(confidence) / size)
        beyond = law[1]
        assert 2 * beyond(int(error) + 1) <= tail * (1 + 1e-7)
        if error > 0:
            assert 2 * beyond(int(error)) > tail * (1 - 1e-7)

    def test_wide_discrete_gaussians_are_bounded_by_the_normal_tail(self) -> None:
        wide = DiscreteGaussian(rho=1e-14, sensitivity=1)
        error = wide.error(confidence=0.95)
        assert wide.sigma * 1.9599 < error < wide.sigma * 1.9600 + 2


class TestInverses:
    @pytest.mark.parametrize("kind", [int, float])
    @pytest.mark.parametrize("size", [1, 1000])
    @pytest.mark.parametrize("wanted", [1.0, 5.0, 17.3, 1e6])
    @pytest.mark.parametrize("sensitivity", [1, 0.5, 3])
    def test_for_error_gives_the_cheapest_that_keeps_its_word(
        self, kind: type, size: int, wanted: float, sensitivity: float
    ) -> None:
        options = {"confidence": 0.95, "size": size}
        for cheapest in (
            Laplace.for_error(wanted, sensitivity=sensitivity, kind=kind, **options),  # type: ignore[arg-type]
            Gaussian.for_error(wanted, sensitivity=sensitivity, kind=kind, delta=1e-9, **options),  # type: ignore[arg-type]
        ):
            assert cheapest.error(kind=kind, **options) <= wanted  # type: ignore[arg-type]
            if cheapest.epsilon <= 2.0**-400:
                continue
            less = type(cheapest)(
                **{**parameters(cheapest), "epsilon": float(cheapest.epsilon) * (1 - 1e-3)}
            )
            assert less.error(kind=kind, **options) > wanted * (1 - 1e-6) - (kind is int)  # type: ignore[arg-type]

    def test_for_error_on_whole_numbers_is_sharp(self) -> None:
        for build in (
            lambda e: Laplace.for_error(e, confidence=0.9, sensitivity=1, kind=int),
            lambda e: DiscreteLaplace.for_error(e, confidence=0.9, sensitivity=1),
            lambda e: Gaussian.for_error(e, confidence=0.9, delta=1e-6, sensitivity=1, kind=int),
        ):
            for wanted in (1, 2, 10, 99):
                cheapest = build(wanted + 0.5)
                assert cheapest.error(confidence=0.9, kind=int) == wanted
                less = type(cheapest)(
                    **{**parameters(cheapest), "epsilon": float(cheapest.epsilon) * (1 - 1e-9)}
                )
                assert less.error(confidence=0.9, kind=int) > wanted

    def test_selections_invert(self) -> None:
        for kind in (Exponential, PermuteAndFlip):
            cheapest = kind.for_error(7, confidence=0.9, candidates=20, sensitivity=2)
            assert cheapest.error(confidence=0.9, candidates=20) == pytest.approx(7)

    def test_small_budgets_and_many_coordinates_are_found_quickly(self) -> None:
        # Here rounding is not negligible, and a search in tiny steps would not end.
        cheapest = Laplace.for_error(1e9, confidence=0.95, sensitivity=1, size=10**7)
        assert 0.99e9 < cheapest.error(confidence=0.95, size=10**7) <= 1e9
        normal = Gaussian.for_error(1e6, confidence=0.95, delta=1e-12, sensitivity=1, size=10**7)
        assert 0.99e6 < normal.error(confidence=0.95, size=10**7) <= 1e6

    def test_where_epsilon_zero_would_do_the_least_is_taken(self) -> None:
        mechanism = Gaussian.for_error(1e9, confidence=0.95, delta=0.1, sensitivity=1)
        assert mechanism.epsilon == 2.0**-400
        assert mechanism.error(confidence=0.95) <= 1e9

    @given(
        a=st.floats(0.05, 5), b=st.floats(0.05, 5), c=st.floats(0.05, 0.99), d=st.floats(0.05, 0.99)
    )
    def test_errors_are_monotone(self, a: float, b: float, c: float, d: float) -> None:
        def errors(epsilon: float, confidence: float, size: int) -> list[float]:
            built: list[Additive] = [
                Laplace(epsilon=epsilon, sensitivity=1),
                DiscreteLaplace(epsilon=epsilon, sensitivity=1),
                DiscreteGaussian(rho=epsilon, sensitivity=1),
            ]
            return [m.error(confidence=confidence, size=size, kind=int) for m in built]

        low, high = sorted((a, b))
        less, more = sorted((c, d))
        pairs = [
            (errors(low, c, 3), errors(high, c, 3)),
            (errors(a, more, 3), errors(a, less, 3)),
            (errors(a, c, 8), errors(a, c, 3)),
        ]
        for large, small in pairs:
            assert all(x >= y for x, y in zip(large, small, strict=True))


def parameters(mechanism: Any) -> dict[str, Any]:
    import dataclasses

    return {field.name: getattr(mechanism, field.name) for field in dataclasses.fields(mechanism)}


class TestSums:
    def test_worked_numbers(self) -> None:  # 000b:B43
        assert textbook_sum_error([10] * 10, 0.05) == pytest.approx(171.8, abs=0.05)
        assert textbook_sum_error([10] * 10, 0.05 / 1024) == pytest.approx(300.4, abs=0.05)
        # Equal scales: P(Y > alpha sqrt(k) b) <= exp(-alpha**2/8) for alpha < 2 sqrt(2k).
        alpha = math.sqrt(8 * math.log(2 / 0.05))
        assert alpha * math.sqrt(10) * 10 == pytest.approx(171.8, abs=0.05)
        assert alpha < 2 * math.sqrt(20)

    def test_concentration_beats_the_union_bound_for_many_terms(self) -> None:  # 004d:F25
        scales = [1.0] * 400
        assert laplace_sum_error(scales, confidence=0.95) < textbook_sum_error(scales, 0.05)
        assert textbook_sum_error(scales, 0.05) < union_sum_error(scales, 0.05) / 20

    def test_one_term_is_exact(self) -> None:
        assert laplace_sum_error([3], confidence=0.95) == pytest.approx(3 * math.log(20))

    @pytest.mark.parametrize("scales", [[1.0] * 2, [1.0] * 20, [5.0, 1.0, 1.0, 0.5]])
    def test_sums_of_releases_are_covered(self, scales: list[float], source: Seeded) -> None:
        error = laplace_sum_error(scales, confidence=0.9)
        total = np.zeros(TRIALS)
        for scale in scales:
            total += Laplace(epsilon=1 / scale, sensitivity=1, randomness=source).release(
                np.zeros(TRIALS)
            )
        share = float((np.abs(total) <= error).mean())
        assert share >= 0.9 - SLACK
        assert share < 0.995, "not wildly wasteful"

    @given(st.lists(st.floats(0.01, 100), min_size=1, max_size=20), st.floats(0.01, 0.999999))
    def test_it_is_never_worse_than_either_classic_bound(
        self, scales: list[float], confidence: float
    ) -> None:
        bound = laplace_sum_error(scales, confidence=confidence)
        assert bound <= union_sum_error(scales, 1 - confidence)
        assert bound <= textbook_sum_error(scales, 1 - confidence)
        # And no less than what Chernoff's argument proves, over all t: E exp(tY) is a product.
        proved = min(
            (math.log(2 / (1 - confidence)) - sum(math.log1p(-((b * t) ** 2)) for b in scales)) / t
            for t in np.linspace(0, 1 / max(scales), 400)[1:-1]
        )
        classic = union_sum_error(scales, 1 - confidence)
        assert bound >= min(classic, textbook_sum_error(scales, 1 - confidence), 0.99 * proved)
