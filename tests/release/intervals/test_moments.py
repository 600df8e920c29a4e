"""Variances, standard deviations, covariances and correlations hold their level for every group."""

import math
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.release.intervals import (
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
    correlation_intervals,
    covariance_intervals,
    half_width,
    smooth_intervals,
    stddev_intervals,
    trusted,
    variance_intervals,
)
from tests.release.intervals.draws import FINE, Floats, draw, held, too_short

TRIALS = 4000
MANY = 40_000
SIZES = [1, 3, 20, 100, 1000, 30_000]
SOME = [3, 100, 1000]
SHAPES = ["spread", "constant", "two", "edge"]
CONTINUOUS = [RoundedLaplace, RoundedGaussian]


def group(shape: str, n: int) -> Floats:
    """Values in [-1, 1], as centred ones are."""
    if shape == "spread":
        return np.linspace(-0.9, 1, n)
    if shape == "constant":
        return np.full(n, 0.7)
    if shape == "two":
        return np.where(np.arange(n) % 3 == 0, 1.0, -0.2)
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)  # the largest variance there is


def noises(kind: type[Distribution], count: int, scale: float = 3.0) -> list[Distribution]:
    """A count on whole numbers, and sums on a fine grid."""
    steps = [1.0] + [FINE] * (count - 1)
    return [kind(scale, step) for step in steps]  # type: ignore[call-arg]


def released(totals: list[Any], laws: list[Distribution], seed: int, trials: int = TRIALS) -> Any:
    """Noisy totals, and their laws: what the functions take."""
    generator = np.random.default_rng(seed)
    noisy = (
        x + draw(distribution, trials, generator)
        for x, distribution in zip(totals, laws, strict=True)
    )
    return (*noisy, laws)


class TestVariance:
    def totals(self, x: Floats) -> list[float]:
        return [len(x), x.sum(), (x * x).sum()]

    @pytest.mark.parametrize("kind", CONTINUOUS)
    @pytest.mark.parametrize("n", SOME)
    @pytest.mark.parametrize("shape", ["spread", "constant"])
    def test_coverage(self, kind: type[Distribution], n: int, shape: str) -> None:
        self.check(kind, n, shape, TRIALS)

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", CONTINUOUS)
    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_coverage_at_length(self, kind: type[Distribution], n: int, shape: str) -> None:
        self.check(kind, n, shape, MANY)

    def check(self, kind: type[Distribution], n: int, shape: str, trials: int) -> None:
        x = group(shape, n)
        laws = noises(kind, 3)
        for ddof in (0, 1):
            if n == ddof:
                continue
            drawn = released(self.totals(x), laws, seed=n, trials=trials)
            ends = variance_intervals(*drawn, confidence=0.95, high=1, ddof=ddof)
            share = held(ends, float(x.var(ddof=ddof)))
            assert not too_short(share, trials, 0.95)
            if n >= 1000 and shape in {"spread", "two"}:
                assert share < 0.97
            assert (ends[0] >= 0).all()
            assert (ends[1] <= 1 + ddof).all()

    @pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
    def test_other_levels(self, confidence: float) -> None:
        x = group("spread", 200)
        laws = noises(RoundedLaplace, 3)
        drawn = released(self.totals(x), laws, seed=5)
        ends = variance_intervals(*drawn, confidence=confidence, high=1)
        assert not too_short(held(ends, float(x.var())), TRIALS, confidence)

    def test_whole_number_noise_throughout(self) -> None:
        x = np.rint(group("spread", 500) * 50)
        laws: list[Distribution] = [DiscreteLaplaceDistribution(b, 1) for b in (3, 150, 7500)]
        drawn = released(self.totals(x), laws, seed=6)
        ends = variance_intervals(*drawn, confidence=0.95, high=2500)
        share = held(ends, float(x.var()))
        assert not too_short(share, TRIALS, 0.95)
        assert share < 0.97

    def test_ends_solve_the_equation_when_the_mean_is_sure(self) -> None:
        # A huge count and sum leave one equation: |s2 - v n| = h.
        laws = noises(RoundedLaplace, 3)
        n, v = 1e7, 0.25
        lower, upper = variance_intervals([n], [0.0], [v * n], laws, confidence=0.95, high=1)
        h = half_width([(1, laws[2]), (v, laws[0])], confidence=0.9525)
        assert float(upper[0] - v) == pytest.approx(h / n, rel=1e-3)
        assert float(v - lower[0]) == pytest.approx(h / n, rel=1e-3)

    def test_forgetting_the_noise_of_the_count_is_caught(self) -> None:
        x = group("edge", 1000)
        laws = noises(RoundedLaplace, 3)
        n, s1, s2, _ = released(self.totals(x), laws, seed=7)
        value = s2 / n - (s1 / n) ** 2
        width = laws[2].half_width(0.95) / n
        assert too_short(held((value - width, value + width), float(x.var())), TRIALS, 0.95)

    def test_standard_deviations_are_roots(self) -> None:
        laws = noises(RoundedGaussian, 3)
        given = ([400.0, 10.0], [3.0, 1.0], [100.0, 2.0])
        for ddof in (0, 1):
            variance = variance_intervals(*given, laws, confidence=0.9, high=1, ddof=ddof)
            deviation = stddev_intervals(*given, laws, confidence=0.9, high=1, ddof=ddof)
            assert np.allclose(np.square(deviation), variance)

    def test_a_count_too_small_says_nothing(self) -> None:
        laws = noises(RoundedLaplace, 3)
        counts = [0.0, -50.0, 8.0]
        ends = variance_intervals(counts, [1.0] * 3, [5.0] * 3, laws, confidence=0.95, high=1)
        assert ends[0].tolist() == [0, 0, 0]
        assert ends[1].tolist() == [1, 1, 1]

    def test_a_variance_below_zero_is_moved_not_forgotten(self) -> None:
        laws = noises(RoundedGaussian, 3)
        lower, upper = variance_intervals([1e4], [0.0], [-20.0], laws, confidence=0.95, high=1)
        assert float(lower[0]) == 0
        assert 0 < float(upper[0]) < 0.002

    def test_many_cells_equal_single_ones_and_grow_with_confidence(self) -> None:
        laws = noises(RoundedLaplace, 3)
        drawn = released(self.totals(group("two", 300)), laws, seed=8, trials=30)
        previous = None
        for confidence in (0.6, 0.9, 0.99):
            ends = variance_intervals(*drawn, confidence=confidence, high=1)
            for i in (0, 11):
                n, s1, s2 = (total[i] for total in drawn[:3])
                alone = variance_intervals(n, s1, s2, laws, confidence=confidence, high=1)
                assert float(alone[0]) == pytest.approx(ends[0][i], rel=1e-6)
                assert float(alone[1]) == pytest.approx(ends[1][i], rel=1e-6)
            if previous is not None:
                assert (ends[0] <= previous[0] + 1e-9).all()
                assert (previous[1] <= ends[1] + 1e-9).all()
            previous = ends

    @pytest.mark.parametrize(
        "changed", [{"confidence": 0}, {"high": 0}, {"high": math.inf}, {"ddof": -1}, {"ddof": 0.5}]
    )
    def test_refusals(self, changed: dict[str, float]) -> None:
        given = {"confidence": 0.9, "high": 1.0, **changed}
        with pytest.raises(InvalidParameter):
            variance_intervals([9], [0], [1], noises(RoundedLaplace, 3), **given)  # type: ignore[arg-type]


def pairs(n: int, slope: float) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(n)
    x = generator.uniform(-1, 1, n)
    y = np.clip(slope * x + (1 - abs(slope)) * generator.uniform(-1, 1, n) + 0.2, -1, 1)
    return x, y


class TestCovariance:
    @pytest.mark.parametrize("kind", CONTINUOUS)
    @pytest.mark.parametrize("n", SOME)
    def test_coverage(self, kind: type[Distribution], n: int) -> None:
        self.check(kind, n, 0.9, TRIALS)

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", CONTINUOUS)
    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("slope", [0.0, 0.9])
    def test_coverage_at_length(self, kind: type[Distribution], n: int, slope: float) -> None:
        self.check(kind, n, slope, MANY)

    def check(self, kind: type[Distribution], n: int, slope: float, trials: int) -> None:
        x, y = pairs(n, slope)
        laws = noises(kind, 4, scale=4.0)
        drawn = released([n, x.sum(), y.sum(), x @ y], laws, seed=n, trials=trials)
        for ddof in (0, 1):
            if n == ddof:
                continue
            ends = covariance_intervals(*drawn, confidence=0.95, high=(1, 1), ddof=ddof)
            truth = float((x - x.mean()) @ (y - y.mean())) / (n - ddof)
            share = held(ends, truth)
            assert not too_short(share, trials, 0.95)
            if n >= 1000:
                assert share < 0.97

    def test_unequal_bounds(self) -> None:
        x, y = pairs(2000, 0.5)
        x = x * 100
        laws: list[Distribution] = [RoundedLaplace(b, FINE) for b in (4, 400, 4, 400)]
        drawn = released([2000, x.sum(), y.sum(), x @ y], laws, seed=1)
        ends = covariance_intervals(*drawn, confidence=0.95, high=(1e4, 1))
        share = held(ends, float(np.cov(x, y, ddof=0)[0, 1]))
        assert not too_short(share, TRIALS, 0.95)
        assert share < 0.97


class TestCorrelation:
    @pytest.mark.parametrize("kind", CONTINUOUS)
    @pytest.mark.parametrize("n", [100, 2000])
    def test_coverage(self, kind: type[Distribution], n: int) -> None:
        self.check(kind, n, 0.5, TRIALS)

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", CONTINUOUS)
    @pytest.mark.parametrize("n", [3, 100, 400, 2000, 30_000])
    @pytest.mark.parametrize("slope", [0.0, 0.5, 1.0, -0.97])
    def test_coverage_at_length(self, kind: type[Distribution], n: int, slope: float) -> None:
        self.check(kind, n, slope, MANY // 2)

    def check(self, kind: type[Distribution], n: int, slope: float, trials: int) -> None:
        x, y = pairs(n, slope)
        laws = noises(kind, 6, scale=4.0)
        totals = [n, x.sum(), y.sum(), x @ x, y @ y, x @ y]
        drawn = released(totals, laws, seed=n, trials=trials)
        ends = correlation_intervals(*drawn, confidence=0.95, high=(1, 1))
        share = held(ends, float(np.corrcoef(x, y)[0, 1]))
        assert not too_short(share, trials, 0.95)
        if n == 30_000 and slope in {0.0, 0.5}:
            assert share < 0.975
        assert (ends[0] >= -1).all()
        assert (ends[1] <= 1).all()

    def test_unequal_spreads(self) -> None:
        x, y = pairs(3000, 0.6)
        x = x * 50
        laws: list[Distribution] = [RoundedLaplace(b, FINE) for b in (4, 200, 4, 10_000, 4, 200)]
        drawn = released([3000, x.sum(), y.sum(), x @ x, y @ y, x @ y], laws, seed=2)
        ends = correlation_intervals(*drawn, confidence=0.95, high=(2500, 1))
        share = held(ends, float(np.corrcoef(x, y)[0, 1]))
        assert not too_short(share, TRIALS, 0.95)
        assert float(np.median(ends[1] - ends[0])) < 0.1

    def test_no_spread_no_answer(self) -> None:
        laws = noises(RoundedLaplace, 6)
        given = ([5000.0], [0.0], [0.0], [2.0], [1000.0], [1.0])
        ends = correlation_intervals(*given, laws, confidence=0.95, high=(1, 1))
        assert (ends[0][0], ends[1][0]) == (-1, 1)


class TestSmooth:
    @pytest.mark.parametrize("kind", CONTINUOUS)
    def test_trusted_ratios_are_nearly_covered(self, kind: type[Distribution]) -> None:
        law_s, law_n = kind(5.0, FINE), kind(3.0, FINE)  # type: ignore[call-arg]
        n = math.ceil(11 * law_n.half_width(0.95))
        s, count, _ = released([2.0 * n, n], [law_s, law_n], seed=4, trials=40_000)
        sure = trusted(count, law_n, confidence=0.95)
        gradient = np.stack((1 / count, -s / count**2), axis=1)
        lower, upper = smooth_intervals(s / count, gradient, [law_s, law_n], confidence=0.95)
        share = held((lower[sure], upper[sure]), 2.0)
        assert 0.5 < sure.mean() < 1
        assert 0.93 <= share <= 0.97

    def test_far_from_trusted_it_fails(self) -> None:
        law_s, law_n = RoundedLaplace(5, FINE), RoundedLaplace(3, FINE)
        s, count, _ = released([20.0, 10.0], [law_s, law_n], seed=4, trials=20_000)
        assert not trusted(count, law_n, confidence=0.95).any()
        gradient = np.stack((1 / count, -s / count**2), axis=1)
        ends = smooth_intervals(s / count, gradient, [law_s, law_n], confidence=0.95)
        assert too_short(held(ends, 2.0), 20_000, 0.95)
