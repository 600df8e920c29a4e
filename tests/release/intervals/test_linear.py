"""Half-widths of sums: exact where grids are coarse, never below the level, and fast."""

import math
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.release.intervals import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
    half_width,
    half_widths,
)
from discreet.release.intervals.lattice import gridded_half_width, raised_off_grid
from discreet.release.intervals.repeated import repeated_half_width
from tests.release.intervals.draws import FINE, KINDS, Floats, draw, too_short

LAPLACE = RoundedLaplace(1, 2.0**-40)
NORMAL = RoundedGaussian(1, 2.0**-40)
ORACLES = [(1, 2.995732), (2, 4.113003), (4, 5.692571), (10, 8.861164)]


def enumerated_tail(c: Floats, laws: tuple[Distribution, Distribution], h: float) -> float:
    """P(|c1 Z1 + c2 Z2| > h), over the grid of the second; the first by its enumerated tails."""
    one, other = laws
    reach = round(other.half_width(1 - 1e-12) / other.step)
    k = np.arange(-reach, reach + 1)
    edges = other.above((np.append(k, reach + 1) - 0.5) * other.step)
    far = h * (1 + 1e-13) - c[1] * k * other.step
    return float(2 * one.above(far / c[0]) @ (edges[:-1] - edges[1:]))


class TestOracles:
    @pytest.mark.parametrize(("k", "expected"), ORACLES)
    def test_sums_of_laplace(self, k: int, expected: float) -> None:  # modern-data:C1
        assert half_width([(1, LAPLACE)] * k, confidence=0.95) == pytest.approx(expected, abs=1e-6)

    def test_different_scales(self) -> None:  # modern-data:C2
        assert half_width([(5, LAPLACE), (-6, LAPLACE)], confidence=0.95) == pytest.approx(
            22.7247, abs=5e-5
        )

    @given(a=st.floats(0.01, 100), b=st.floats(0.01, 100), confidence=st.floats(0.3, 1 - 1e-9))
    def test_two_laplace_in_closed_form(self, a: float, b: float, confidence: float) -> None:
        h = half_width([(a, LAPLACE), (b, LAPLACE)], confidence=confidence)
        if abs(a - b) > 1e-3 * a:
            tail = (a * a * math.exp(-h / a) - b * b * math.exp(-h / b)) / (a * a - b * b)
        else:
            tail = (1 + h / (a + b)) * math.exp(-2 * h / (a + b))
        assert tail == pytest.approx(1 - confidence, rel=2e-6 + 2 * abs(a - b) / (a + b) * 1e-3)

    @given(a=st.floats(0.01, 100), b=st.floats(0.01, 100), confidence=st.floats(0.01, 1 - 1e-9))
    def test_normals_in_closed_form(self, a: float, b: float, confidence: float) -> None:
        h = half_width([(a, NORMAL), (b, NORMAL)], confidence=confidence)
        assert math.erfc(h / math.hypot(a, b) / math.sqrt(2)) == pytest.approx(
            1 - confidence, rel=1e-6
        )

    @pytest.mark.parametrize("b", [0.01, 0.3, 1.0, 5.0, 100.0])
    @pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-6])
    def test_laplace_and_normal(self, b: float, confidence: float) -> None:
        h = half_width([(b, LAPLACE), (1, NORMAL)], confidence=confidence)
        z = np.linspace(-12, 12, 2_000_001)
        density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        above = LAPLACE.above((h - z) / b)
        tail = 2 * float((density * above).sum()) * (z[1] - z[0])
        assert tail == pytest.approx(1 - confidence, rel=1e-5)

    def test_many_terms_approach_the_normal_from_above(self) -> None:
        for k in (20, 100, 1000):
            h = half_width([(1, LAPLACE)] * k, confidence=0.95)
            normal = 1.959964 * math.sqrt(2 * k)
            assert normal < h < normal * (1 + 0.2 / k)

    def test_nothing_and_one(self) -> None:
        assert half_width([], confidence=0.95) == 0
        assert half_width([(0, LAPLACE)], confidence=0.95) == 0
        coarse = DiscreteLaplaceDistribution(1, 1)
        assert half_width([(-2, coarse), (0, LAPLACE)], confidence=0.95) == 6


class TestCoarseGrids:
    @pytest.mark.parametrize(("one", "other"), list(product(KINDS, KINDS)))
    @pytest.mark.parametrize("spreads", [(0.4, 0.7), (1.0, 1.0), (3.0, 0.5), (6.0, 20.0)])
    def test_pairs_are_exact(
        self, one: type[Distribution], other: type[Distribution], spreads: tuple[float, float]
    ) -> None:
        laws = (one(spreads[0], 1.0), other(spreads[1], 0.5))  # type: ignore[call-arg]
        for c in ([1, 1], [1, math.pi], [0.37, 1], [1, 0.25], [10, 1]):
            row = np.array(c, dtype=np.float64)
            for confidence in (0.6, 0.95):
                h = half_width(list(zip(c, laws, strict=True)), confidence=confidence)
                assert enumerated_tail(row, laws, h) <= 1 - confidence
                assert enumerated_tail(row, laws, h * (1 - 3e-6) - 1e-9) > 1 - confidence

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_common_grid_is_exact_for_many_terms(self, kind: type[Distribution]) -> None:
        distribution = kind(1.3, 1.0)  # type: ignore[call-arg]
        reach = 60
        k = np.arange(-reach, reach + 1)
        edges = distribution.above(np.append(k, reach + 1) - 0.5)
        mass = edges[:-1] - edges[1:]
        total = np.ones(1)
        for _ in range(3):
            total = np.convolve(total, mass)
        total = np.convolve(total, np.kron(mass, [1, 0])[:-1])  # the fourth counts twice
        place = np.abs(np.arange(len(total)) - len(total) // 2)
        terms = [
            (1.0, distribution),
            (-1.0, distribution),
            (1.0, distribution),
            (2.0, distribution),
        ]
        for confidence in (0.5, 0.9, 0.95, 0.999):
            h = half_width(terms, confidence=confidence)
            whole = round(h)
            assert h == pytest.approx(whole, rel=1e-7)
            assert total[place > whole].sum() <= 1 - confidence
            assert total[place > whole - 1].sum() > 1 - confidence

    def test_a_thousand_counts_on_one_grid(self) -> None:
        h = half_width([(1, DiscreteLaplaceDistribution(2, 1))] * 1000, confidence=0.95)
        normal = 1.959964 * math.sqrt(1000) * DiscreteLaplaceDistribution(2, 1).std
        assert normal - 1 < h < normal + 2

    def test_three_terms_without_a_common_grid(self) -> None:
        laws = (
            DiscreteLaplaceDistribution(1, 1),
            RoundedLaplace(2, 1),
            DiscreteGaussianDistribution(0.8, 1),
        )
        c = (1.0, math.sqrt(2), math.pi)
        h = half_width(list(zip(c, laws, strict=True)), confidence=0.95)
        generator = np.random.default_rng(11)
        trials = 400_000
        total = sum(
            x * draw(distribution, trials, generator)
            for x, distribution in zip(c, laws, strict=True)
        )
        share = float((np.abs(total) <= h).mean())
        assert not too_short(share, trials, 0.95)
        assert share < 0.9515

    def test_the_fine_grid_costs_little(self) -> None:
        terms = [(1.0, LAPLACE), (2.0, LAPLACE), (math.pi, NORMAL)]
        exact = half_width(terms, confidence=0.95)
        assert exact <= gridded_half_width(terms, 0.05) <= exact * (1 + 1e-3)


class TestManyCells:
    @pytest.mark.parametrize(("one", "other"), list(product(KINDS, KINDS)))
    @pytest.mark.parametrize("spreads", [(0.5, 2.0), (1.0, 5.0), (30.0, 3.0), (70.0, 90.0)])
    def test_coarse_pairs_keep_their_level(
        self, one: type[Distribution], other: type[Distribution], spreads: tuple[float, float]
    ) -> None:
        laws = (one(spreads[0], 1.0), other(spreads[1], 1.0))  # type: ignore[call-arg]
        generator = np.random.default_rng(5)
        rows = np.stack((np.ones(40), np.exp(generator.uniform(-3, 3, 40))), axis=1)
        rows[:8, 1] = np.arange(1, 9) / 4
        for confidence in (0.5, 0.95):
            wide = half_widths(rows, laws, confidence)
            for row, h in zip(rows[::3], wide[::3], strict=True):
                assert enumerated_tail(row, laws, h) <= 1 - confidence
                least = half_width(
                    list(zip(row.tolist(), laws, strict=True)), confidence=confidence
                )
                finest = float((row * [distribution.step for distribution in laws]).min())
                assert least * (1 - 1e-6) <= h <= least * (1 + 1e-3) + finest

    @pytest.mark.parametrize("size", [2, 3, 6])
    @pytest.mark.parametrize("kind", [RoundedLaplace, RoundedGaussian])
    def test_fine_rows_equal_single_ones(self, kind: type[Distribution], size: int) -> None:
        generator = np.random.default_rng(size)
        rows = np.exp(generator.normal(size=(50, size)) * 2) * generator.choice([-1, 1], (50, size))
        rows[0, 1:] = 0
        rows[1] = 0
        laws = [kind(b, FINE) for b in np.linspace(1, 3, size)]  # type: ignore[call-arg]
        wide = half_widths(rows, laws, 0.95)
        single = [
            half_width(list(zip(row.tolist(), laws, strict=True)), confidence=0.95) for row in rows
        ]
        assert wide == pytest.approx(single, rel=1e-7)
        assert wide[1] == 0

    def test_equal_rows_are_exact(self) -> None:
        laws = [DiscreteLaplaceDistribution(1, 1)] * 3
        wide = half_widths(np.ones((4, 3)), laws, 0.95)
        assert wide == pytest.approx([half_width([(1, laws[0])] * 3, confidence=0.95)] * 4)

    def test_coarse_triples_keep_their_level(self) -> None:
        laws = [DiscreteLaplaceDistribution(1, 1), RoundedLaplace(2, 1), RoundedGaussian(1, 1)]
        generator = np.random.default_rng(3)
        rows = np.exp(generator.uniform(-1, 1, (12, 3)))
        wide = half_widths(rows, laws, 0.95)
        trials = 100_000
        noise = np.stack([draw(distribution, trials, generator) for distribution in laws])
        for row, h in zip(rows, wide, strict=True):
            share = float((np.abs(row @ noise) <= h).mean())
            assert not too_short(share, trials, 0.95)
            assert share < 0.975

    @pytest.mark.parametrize("size", [2, 6])
    def test_a_thousand_cells_are_quick(self, size: int) -> None:
        rows = np.exp(np.random.default_rng(1).normal(size=(1000, size)))
        laws = [RoundedLaplace(b, FINE) for b in np.linspace(1, 3, size)]
        half_widths(rows, laws, 0.95)
        seconds = []
        for _ in range(5):
            start = time.process_time()
            half_widths(rows, laws, 0.95)
            seconds.append(time.process_time() - start)
        assert min(seconds) < 0.1  # about .006 on one idle core


class TestShape:
    """What the proofs use: half-widths are a norm of the coefficients, growing with each."""

    laws = (LAPLACE, RoundedLaplace(0.3, FINE), NORMAL)
    rows = st.tuples(*[st.floats(-5, 5)] * 3)

    @given(a=rows, b=rows, confidence=st.floats(0.05, 0.9999))
    @settings(max_examples=60)
    def test_triangle_inequality(
        self, a: tuple[float, ...], b: tuple[float, ...], confidence: float
    ) -> None:
        rows = np.array([a, b, np.add(a, b)])
        one, other, both = half_widths(rows, self.laws, confidence)
        assert both <= (one + other) * (1 + 1e-6) + 1e-9

    @given(a=rows, share=st.tuples(*[st.floats(0, 1)] * 3), confidence=st.floats(0.05, 0.9999))
    @settings(max_examples=60)
    def test_growth_in_each_coefficient(
        self, a: tuple[float, ...], share: tuple[float, ...], confidence: float
    ) -> None:
        larger, smaller = half_widths(np.array([a, np.multiply(a, share)]), self.laws, confidence)
        assert smaller <= larger * (1 + 1e-6) + 1e-9

    @given(c=rows, one=st.floats(0.01, 0.9999), other=st.floats(0.01, 0.9999))
    @settings(max_examples=60)
    def test_growth_in_confidence(self, c: tuple[float, ...], one: float, other: float) -> None:
        terms = list(zip(c, self.laws, strict=True))
        low, high = sorted((one, other))
        assert half_width(terms, confidence=low) <= half_width(terms, confidence=high) * (1 + 1e-6)


class TestCoverage:
    @pytest.mark.parametrize("k", [2, 4, 10])
    def test_sums_and_the_normal_twin(self, k: int) -> None:
        trials = 1_000_000
        generator = np.random.default_rng(k)
        distribution = RoundedLaplace(1, FINE)
        total = np.zeros(trials)
        for _ in range(k):
            total += draw(distribution, trials, generator)
        far = np.abs(total)
        ours = half_width([(1, distribution)] * k, confidence=0.95)
        twin = 1.959964 * distribution.std * math.sqrt(k)
        assert not too_short(float((far <= ours).mean()), trials, 0.95)
        assert too_short(float((far <= twin).mean()), trials, 0.95), "the normal must be caught"


class TestRefusals:
    @pytest.mark.parametrize(
        "rows", [np.ones(2), np.ones((3, 3)), np.array([[1, math.nan]]), np.array([[math.inf, 1]])]
    )
    def test_misshapen_coefficients(self, rows: Floats) -> None:
        with pytest.raises(InvalidParameter) as caught:
            half_widths(rows, [LAPLACE, LAPLACE], 0.95)
        assert caught.value.code == "coefficients_misshapen"

    @pytest.mark.parametrize("confidence", [0, 1, math.nan, "95"])
    def test_confidence(self, confidence: float) -> None:
        with pytest.raises(InvalidParameter):
            half_width([(1, LAPLACE)], confidence=confidence)
        with pytest.raises(InvalidParameter):
            half_widths(np.ones((1, 1)), [LAPLACE], confidence)

    def test_coefficients_are_finite(self) -> None:
        with pytest.raises(InvalidParameter):
            half_width([(math.inf, LAPLACE)], confidence=0.9)


class TestTinyRisks:
    """No interval is empty, and none is refused, up to a confidence of 1 - 1e-12."""

    LAWS = (
        DiscreteLaplaceDistribution(5, 1),
        DiscreteLaplaceDistribution(3, 1),
        DiscreteGaussianDistribution(3, 1),
        RoundedLaplace(5, 2.0**-30),
    )
    RISKS = (1e-3, 1e-6, 1e-9, 1e-10, 1e-11, 1e-12)

    @pytest.mark.parametrize("coefficients", [(1, 1), (1, 0.37), (1, 1, 1), (1, 0.5, 0.3)], ids=str)
    @pytest.mark.parametrize("first", range(len(LAWS)))
    def test_smaller_risks_have_wider_intervals(
        self, first: int, coefficients: tuple[float, ...]
    ) -> None:
        laws = [self.LAWS[(first + place) % 4] for place in range(len(coefficients))]
        terms = list(zip(coefficients, laws, strict=True))
        widths = [half_width(terms, confidence=1 - risk) for risk in self.RISKS]
        assert widths == sorted(widths)
        rows = np.array([coefficients, [2 * c for c in coefficients]])
        bulk = [half_widths(rows, laws, 1 - risk)[0] for risk in self.RISKS]
        assert bulk == sorted(bulk)
        # Both are upper bounds, apart by two steps of each term at most.
        assert np.allclose(widths, bulk, rtol=1e-3, atol=2 * sum(coefficients))
        for risk, width in zip(self.RISKS, widths, strict=True):
            alone = max(c * law.half_width(1 - risk) for c, law in terms)
            assert width >= alone - 1  # a sum may lie between the steps of one


def test_the_width_of_a_sum_of_whole_noises_is_whole() -> None:
    """Counts are exact, so that nothing is added to a width for rounding; thirds are not."""
    for spread in (0.5, 1, 2):
        law = DiscreteLaplaceDistribution(scale=spread, step=1)
        for terms in ([(1.0, law), (2.0, law)], [(1.0, law)] * 7, [(3.0, law), (-6.0, law)]):
            width = half_width(terms, confidence=0.95)
            assert width == round(width), (spread, len(terms))
        counted = repeated_half_width([(1.0, 100)], law, confidence=0.95)
        assert counted == round(counted)
    assert raised_off_grid(68.0, [Fraction(1), Fraction(4)]) == 68
    assert raised_off_grid(68.0, [Fraction(1), Fraction(1 / 3)]) == 68 * (1 + 1e-8)
