"""Ratios: Fieller's intervals keep their level at every n; the delta method is caught."""

import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.release.intervals import (
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
    half_width,
    half_widths,
    ratio,
    ratio_intervals,
)
from tests.release.intervals.draws import FINE, KINDS, Floats, draw, held, too_short

TRIALS = 100_000
TRUTH = 2.0
LOW, HIGH = -1e4, 1e4


def noisy(
    n: float, law_s: Distribution, law_n: Distribution, seed: int, trials: int = TRIALS
) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    s = TRUTH * n + draw(law_s, trials, generator)
    return s, n + draw(law_n, trials, generator)


def delta_method(
    s: Floats, n: Floats, law_s: Distribution, law_n: Distribution
) -> tuple[Floats, Floats]:
    """The broken twin: a normal quantile of the linearised error."""
    width = 1.959964 * np.sqrt(law_s.std**2 + (s / n * law_n.std) ** 2) / np.abs(n)
    return s / n - width, s / n + width


class TestCoverage:
    @pytest.mark.parametrize("n", [10, 100, 1000])
    @pytest.mark.parametrize("kind", [RoundedGaussian, RoundedLaplace])
    def test_the_set_of_ratios_has_exactly_its_level(
        self, kind: type[Distribution], n: float
    ) -> None:
        # modern-data:C2: Gaussian .9505 .9494 .9503, Laplace .9496 .9496 .9498.
        law_s, law_n = kind(5.0, FINE), kind(3.0, FINE)  # type: ignore[call-arg]
        s, count = noisy(n, law_s, law_n, seed=int(n), trials=400_000)
        h = half_width([(1, law_s), (-TRUTH, law_n)], confidence=0.95)
        share = float((np.abs(s - TRUTH * count) <= h).mean())
        assert share == pytest.approx(0.95, abs=0.0021)
        ends = ratio_intervals(s, count, law_s, law_n, confidence=0.95, low=LOW, high=HIGH)
        # The interval is the set, or all where the set is not an interval.
        assert held(ends, TRUTH) >= share - 1e-5
        if n > 10:
            assert held(ends, TRUTH) == pytest.approx(share, abs=2e-5)

    @pytest.mark.parametrize("n", [1, 5, 30, 300])
    @pytest.mark.parametrize(("one", "other"), list(product(KINDS, KINDS)))
    def test_all_laws_at_all_sizes(
        self, one: type[Distribution], other: type[Distribution], n: float
    ) -> None:
        for step in (1.0, FINE):
            if step == FINE and "discrete" in (one.kind + other.kind):
                continue
            law_s, law_n = one(4.0, step), other(1.5, 1.0)  # type: ignore[call-arg]
            s, count = noisy(n, law_s, law_n, seed=3, trials=40_000)
            ends = ratio_intervals(s, count, law_s, law_n, confidence=0.9, low=-3, high=7)
            assert not too_short(held(ends, TRUTH), 40_000, 0.9)
            if n == 300:
                assert held(ends, TRUTH) < 0.93

    @pytest.mark.parametrize("edge", [0.0, 5.0])
    def test_truth_at_the_bounds(self, edge: float) -> None:
        distribution = RoundedLaplace(3, FINE)
        generator = np.random.default_rng(8)
        s = edge * 50 + draw(distribution, TRIALS, generator)
        n = 50 + draw(distribution, TRIALS, generator)
        ends = ratio_intervals(s, n, distribution, distribution, confidence=0.95, low=0, high=5)
        assert not too_short(held(ends, edge), TRIALS, 0.95)

    @pytest.mark.parametrize(
        ("kind", "n"), [(RoundedLaplace, 10), (RoundedLaplace, 1000), (RoundedGaussian, 10)]
    )
    def test_the_delta_method_is_caught(self, kind: type[Distribution], n: float) -> None:
        law_s, law_n = kind(5.0, FINE), kind(3.0, FINE)  # type: ignore[call-arg]
        s, count = noisy(n, law_s, law_n, seed=1)
        assert too_short(held(delta_method(s, count, law_s, law_n), TRUTH), TRIALS, 0.95)


class TestEnds:
    @given(
        s=st.floats(-300, 300),
        n=st.floats(-100, 300),
        b=st.floats(0.1, 10),
        c=st.floats(0.1, 10),
        confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]),
    )
    @settings(max_examples=100)
    def test_they_solve_the_equation(
        self, s: float, n: float, b: float, c: float, confidence: float
    ) -> None:
        low, high = -4.0, 6.0
        for kind in (RoundedLaplace, RoundedGaussian):
            laws = (kind(b, FINE), kind(c, FINE))
            ends = ratio_intervals([s], [n], *laws, confidence=confidence, low=low, high=high)
            lower, upper = float(ends[0][0]), float(ends[1][0])
            assert low <= lower <= upper <= high
            r = np.linspace(low, high, 2001)
            h = half_widths(np.stack((np.ones_like(r), r), axis=1), laws, confidence)
            kept = r[np.abs(s - r * n) <= h]
            if kept.size:
                assert lower <= kept[0] + 1e-9
                assert kept[-1] - 1e-9 <= upper
            if low < lower or upper < high:
                for end in (lower, upper):
                    if low < end < high:
                        h_end = half_width([(1, laws[0]), (end, laws[1])], confidence=confidence)
                        assert abs(s - end * n) == pytest.approx(h_end, rel=1e-4)

    def test_nothing_is_known_without_a_denominator(self) -> None:
        distribution = RoundedLaplace(1, FINE)
        ends = ratio_intervals(
            [5, 5, -5], [0, 2.9, -2.9], distribution, distribution, confidence=0.95, low=-1, high=3
        )
        assert ends[0].tolist() == [-1, -1, -1]
        assert ends[1].tolist() == [3, 3, 3]

    def test_no_ratio_fits(self) -> None:
        laws: list[Distribution] = [RoundedLaplace(1, FINE), RoundedGaussian(1, FINE)]
        for distribution in laws:
            ends = ratio_intervals(
                [500.0], [100.0], distribution, distribution, confidence=0.95, low=-1, high=3
            )
            assert (ends[0][0], ends[1][0]) == (-1, 3)

    def test_signs_do_not_matter(self) -> None:
        distribution = DiscreteLaplaceDistribution(2, 1)
        s, n = np.array([40.0, -30.0]), np.array([50.0, 60.0])
        one = ratio_intervals(s, n, distribution, distribution, confidence=0.9, low=-2, high=2)
        other = ratio_intervals(-s, -n, distribution, distribution, confidence=0.9, low=-2, high=2)
        mirrored = ratio_intervals(
            -s, n, distribution, distribution, confidence=0.9, low=-2, high=2
        )
        assert np.array_equal(one, other)
        assert mirrored[0] == pytest.approx(-one[1])
        assert mirrored[1] == pytest.approx(-one[0])

    def test_shapes(self) -> None:
        distribution = RoundedGaussian(1, FINE)
        ends = ratio_intervals(
            np.ones((2, 3)), 50, distribution, distribution, confidence=0.9, low=-2, high=2
        )
        assert ends[0].shape == ends[1].shape == (2, 3)
        scalar = ratio_intervals(1, 50, distribution, distribution, confidence=0.9, low=-2, high=2)
        assert scalar[0].shape == ()
        assert float(scalar[0]) == pytest.approx(ends[0][0, 0])
        point = ratio_intervals(
            [1.0], [50.0], distribution, distribution, confidence=0.9, low=2, high=2
        )
        assert (point[0][0], point[1][0]) == (2, 2)
        none = ratio_intervals([], [], distribution, distribution, confidence=0.9, low=0, high=2)
        assert none[0].shape == (0,)

    @pytest.mark.parametrize("kind", KINDS)
    def test_many_cells_equal_single_ones_and_grow_with_confidence(
        self, kind: type[Distribution]
    ) -> None:
        law_s, law_n = kind(4.0, 1.0), kind(2.0, 1.0)  # type: ignore[call-arg]
        s, n = noisy(60, law_s, law_n, seed=2, trials=50)
        previous = None
        for confidence in (0.5, 0.8, 0.95, 0.99):
            ends = ratio_intervals(s, n, law_s, law_n, confidence=confidence, low=-10, high=10)
            for i in (0, 17):
                alone = ratio_intervals(
                    s[i], n[i], law_s, law_n, confidence=confidence, low=-10, high=10
                )
                assert (float(alone[0]), float(alone[1])) == (ends[0][i], ends[1][i])
            if previous is not None:
                assert (ends[0] <= previous[0] + 1e-9).all()
                assert (previous[1] <= ends[1] + 1e-9).all()
            previous = ends

    def test_a_thousand_cells_are_quick(self) -> None:
        law_s, law_n = RoundedLaplace(5, FINE), DiscreteLaplaceDistribution(3, 1)
        s, n = noisy(100, law_s, law_n, seed=4, trials=1000)
        seconds = []
        for high in range(5, 10):  # other bounds, so that nothing is remembered
            start = time.process_time()
            ratio_intervals(s, n, law_s, law_n, confidence=0.95, low=-5, high=high)
            seconds.append(time.process_time() - start)
        assert min(seconds) < 0.1  # about .006 on one idle core


class TestRefusals:
    @pytest.mark.parametrize(
        ("changed", "code"),
        [
            ({"confidence": 1.0}, "not_a_probability"),
            ({"low": 3.0, "high": 2.0}, "bounds_crossed"),
            ({"low": -math.inf}, "not_finite"),
            ({"high": math.nan}, "not_finite"),
        ],
    )
    def test_parameters(self, changed: dict[str, float], code: str) -> None:
        distribution = RoundedLaplace(1, 1)
        given = {"confidence": 0.9, "low": 0.0, "high": 1.0, **changed}
        with pytest.raises(InvalidParameter) as caught:
            ratio_intervals([1], [2], distribution, distribution, **given)
        assert caught.value.code == code


@pytest.mark.parametrize("scales", [(1.5, 1.0), (8.0, 3.0), (400.0, 8.0), (60.0, 30.0)])
@pytest.mark.parametrize("cells", [1, 3, 40])
def test_heights_that_are_not_looked_at_change_nothing(
    scales: tuple[float, float], cells: int
) -> None:
    """On coarse grids a height is found only where it may matter: as if all had been."""
    laws = (
        DiscreteLaplaceDistribution(scales[0], 1.0),
        DiscreteLaplaceDistribution(scales[1], 1.0),
    )
    random = np.random.default_rng(cells)
    n = random.uniform(5 * scales[1], 200 * scales[1], cells)
    s = n * random.uniform(-60, 60, cells)
    few, every = (ratio._Table.of(laws, 0.95, -50.0, 50.0) for _ in range(2))
    assert isinstance(few, ratio._CoarseTable)
    assert isinstance(every, ratio._CoarseTable)
    whole = ratio._Table(every.r, every._compute_wanted_heights(np.ones(len(every.r), dtype=bool)))
    for found, wanted in zip(
        ratio._piecewise(s, n, few), ratio._piecewise(s, n, whole), strict=True
    ):
        assert np.allclose(found, wanted, rtol=1e-9, atol=0)
    assert np.isnan(few.found).any() or cells > 3
