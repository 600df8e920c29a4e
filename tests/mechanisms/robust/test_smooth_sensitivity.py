"""The median with smooth-sensitivity noise: admissible laws, exact privacy, and its twins."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit import (
    BrokenTwin,
    ContinuousLaw,
    Finding,
    GivenEvents,
    audit,
    check_pair,
    repeated,
    three_sided,
)
from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Approximate, Pure
from discreet.core.parameters import Number
from discreet.mechanisms.robust import SmoothCauchy, SmoothLaplace, SmoothMedian, SmoothNoise
from discreet.mechanisms.robust.order_statistics import SortedRows
from discreet.noise import Noiseless, Seeded, Source
from tests.mechanisms.robust import laws

Floats = NDArray[np.float64]
GRID = np.concatenate([-np.logspace(9, -9, 20001), [0.0], np.logspace(-9, 9, 20001)])


def cauchy_below(z: Floats) -> Floats:
    return np.asarray(np.arctan(z) / np.pi + 0.5)


def laplace_below(z: Floats) -> Floats:
    return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)


def divergence(
    below: Callable[[Floats], Floats], shift: float, stretch: float, epsilon: float
) -> float:
    """Hockey-stick divergence from Z to (Z stretched and shifted), over a fine partition."""
    p = np.diff(np.concatenate([[0.0], below(GRID), [1.0]]))
    q = np.diff(np.concatenate([[0.0], below((GRID - shift) / stretch), [1.0]]))
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


class TestCauchyNoise:
    @pytest.mark.parametrize("shift", [0.01, 0.3, 1.0, 5.0])
    def test_sliding_by_d_costs_two_asinh_half_d_and_no_less(self, shift: float) -> None:
        ratio = (1 + (GRID + shift) ** 2) / (1 + GRID**2)
        exact = 2 * math.asinh(shift / 2)
        assert np.log(ratio.max()) == pytest.approx(exact, rel=1e-6)
        assert np.log(ratio.max()) <= exact * (1 + 1e-12) <= shift * (1 + 1e-12)

    @pytest.mark.parametrize("stretch", [0.01, 0.3, 1.0, 5.0])
    def test_stretching_by_e_to_the_beta_costs_beta_and_no_less(self, stretch: float) -> None:
        factor = math.exp(stretch)
        ratio = np.log((1 + (factor * GRID) ** 2) / (factor * (1 + GRID**2)))
        assert np.abs(ratio).max() == pytest.approx(stretch, rel=1e-6)
        assert np.abs(ratio).max() <= stretch * (1 + 1e-12)

    @pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
    def test_both_together_stay_within_epsilon(self, epsilon: float) -> None:
        noise = SmoothCauchy()
        shift, stretch = 1 / float(noise.multiplier(epsilon)), math.exp(noise.beta(epsilon))
        for factor in (stretch, 1 / stretch):
            for sign in (1, -1):
                # The shift is at most S of either side, hence of the narrower law.
                moved = sign * shift * min(1, factor)
                assert divergence(cauchy_below, moved, factor, epsilon) < 1e-12

    def test_the_published_constants_cost_a_third_of_what_they_claim(self) -> None:
        """6 S/epsilon and beta = epsilon/6: at most epsilon/6 + 2 asinh(epsilon/12)."""
        for epsilon in (0.1, 1.0, 4.0):
            spent = epsilon / 6 + 2 * math.asinh(epsilon / 12)
            assert spent <= epsilon / 3
            assert divergence(cauchy_below, epsilon / 6, math.exp(epsilon / 6), spent) < 1e-12


class TestLaplaceNoise:
    @pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 8.0, 30.0])
    @pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1, 0.9])
    def test_sliding_and_stretching_stay_within_epsilon_and_delta(
        self, epsilon: float, delta: float
    ) -> None:
        noise = SmoothLaplace(delta=delta)
        shift, beta = 1 / float(noise.multiplier(epsilon)), noise.beta(epsilon)
        for stretch in np.linspace(-beta, beta, 9):
            factor = math.exp(stretch)
            moved = shift * min(1, factor)
            assert divergence(laplace_below, moved, factor, epsilon) <= delta * (1 + 1e-9)

    def test_the_published_smoothing_is_used_where_it_is_proven(self) -> None:
        assert SmoothLaplace(delta=1e-6).beta(1) == pytest.approx(1 / (2 * math.log(2e6)))
        assert SmoothLaplace(delta=1e-6).beta(1) <= 1 / (2 * math.log(2e6))

    def test_beyond_that_range_the_published_smoothing_breaks_the_claim(self) -> None:
        """At epsilon 30 and delta .1: published beta 5, where a stretch that large is seen."""
        epsilon, delta = 30.0, 0.1
        published = epsilon / (2 * math.log(2 / delta))
        narrow, wide = 1.0, math.exp(published)
        assert divergence(laplace_below, 0.0, narrow / wide, epsilon) > delta
        assert SmoothLaplace(delta=delta).beta(epsilon) < published

    def test_a_stretch_twice_too_large_is_caught(self) -> None:
        epsilon, delta = 1.0, 1e-3
        beta = 4 * SmoothLaplace(delta=delta).beta(epsilon)
        assert divergence(laplace_below, 0.0, math.exp(-beta), epsilon) > delta

    def test_zero_delta_is_refused(self) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            SmoothLaplace(delta=0)
        assert refusal.value.code == "delta_not_positive"


class TestPrivacy:
    @pytest.mark.parametrize("noise", [SmoothCauchy(), SmoothLaplace(delta=0.02)])
    @pytest.mark.parametrize("epsilon", [0.5, 2.0])
    def test_all_pairs_of_tiny_tables_are_within_the_price_and_local_sensitivity_is_not(
        self, noise: SmoothNoise, epsilon: float
    ) -> None:
        below = cauchy_below if isinstance(noise, SmoothCauchy) else laplace_below
        delta = float(getattr(noise, "delta", 0))
        edges = np.linspace(-30, 34, 129)

        def auditor(smooth: Callable[[SortedRows], float]) -> laws.Excess:
            def law(x: laws.Rows) -> laws.Law:
                rows = SortedRows(np.array(x), 4)
                scale = float(noise.multiplier(epsilon)) * smooth(rows)
                if scale == 0:
                    levels = (edges >= rows.median).astype(np.float64)
                else:
                    levels = below((edges - rows.median) / scale)
                shares = np.diff(np.concatenate([[0.0], levels, [1.0]]))
                return dict(enumerate(np.maximum(shares, 0).tolist()))

            pairs = laws.replace_pairs(3, 4) + laws.replace_pairs(4, 4)
            return laws.worst(law, pairs, epsilon=epsilon, delta=delta)

        check_pair(
            BrokenTwin(
                "smooth median",
                sound=lambda rows: rows.smooth_sensitivity(noise.beta(epsilon)),
                broken=lambda rows: float(rows.local_sensitivity()),
                why="noise scaled to raw local sensitivity (004d:F11)",
            ),
            auditor,
        )

    def test_the_mechanism_itself_survives_the_auditor_that_refutes_its_twin(self) -> None:
        """Replace-neighbours with medians 50 and local sensitivities 0 and 50, sampled."""
        x, y = [50.0] * 4 + [100.0], [50.0] * 3 + [100.0] * 2
        sound = SmoothMedian(
            bounds=(0, 100), epsilon=1, noise=SmoothCauchy(), randomness=Seeded(51)
        )

        def local(data: list[float]) -> float:
            rows = SortedRows(np.sort(np.array(data, dtype=np.int64)), 100)
            scale = sound.noise.multiplier(1) * max(rows.local_sensitivity(), 1)
            return float(rows.median + sound.noise.draw(scale, sound.randomness))

        def auditor(release: Callable[[list[float]], float]) -> Finding:
            return audit(
                repeated(release),
                x,
                y,
                epsilon=1,
                delta=0,
                events=GivenEvents({"near": lambda value: abs(value - 50) < 20}),
                trials=2000,
                confidence=1 - 1e-9,
            )

        check_pair(
            BrokenTwin("smooth median", sound=sound.release, broken=local, why="local sensitivity"),
            auditor,
        )


def median(source: Source, noise: SmoothNoise, epsilon: float = 1) -> SmoothMedian:
    return SmoothMedian(bounds=(0, 1000), epsilon=epsilon, noise=noise, randomness=source)


class TestAnswers:
    ROWS = np.linspace(495, 505, 101)

    @pytest.mark.parametrize(
        ("noise", "below"),
        [(SmoothCauchy(), cauchy_below), (SmoothLaplace(delta=0.1), laplace_below)],
    )
    def test_the_noise_has_the_stated_law_and_scale(
        self, noise: SmoothNoise, below: Callable[[Floats], Floats]
    ) -> None:
        mechanism = median(Seeded(52), noise)
        rows = SortedRows(np.rint(self.ROWS * 10).astype(np.int64), 10000)
        smooth = rows.smooth_sensitivity(mechanism.beta) / 10

        def law(factor: float) -> ContinuousLaw:
            return ContinuousLaw(lambda x: below((x - 500) / (2 * smooth * factor)))

        result = three_sided(
            lambda size: np.array([mechanism.release(self.ROWS) for _ in range(size)]),
            law(1),
            [law(0.8), law(1.25)],
            alpha=1e-9,
        )
        assert result.passes

    def test_the_price(self) -> None:
        private = SmoothMedian(bounds=(0, 1), epsilon=1, noise=SmoothCauchy())
        assert private.event == Pure(epsilon=1)
        approximate = SmoothMedian(bounds=(0, 1), epsilon=1, noise=SmoothLaplace(delta=1e-6))
        assert approximate.event == Approximate(epsilon=1, delta=1e-6)

    def test_without_noise_it_is_the_lower_median(self) -> None:
        for rows, expected in [([1, 2, 3], 2), ([1, 2, 3, 4], 2), ([5], 5)]:
            answer = median(Noiseless(), SmoothCauchy()).release(rows)
            assert answer == pytest.approx(expected, abs=1e-8)

    def test_missing_rows_count_as_the_lower_bound_and_outliers_are_clamped(self) -> None:
        rows = [None, math.nan, "x", -math.inf, 7, math.inf, 1 << 5000, 9, 9]
        assert median(Noiseless(), SmoothCauchy()).release(rows) == pytest.approx(7, abs=1e-8)

    def test_equal_rows_get_at_least_a_steps_noise(self) -> None:
        """All rows equal: the true smooth sensitivity underflows; a public floor keeps noise."""
        mechanism = median(Seeded(53), SmoothLaplace(delta=1e-6))
        answers = {mechanism.release([500.0] * 4001) for _ in range(50)}
        assert len(answers) > 5
        assert all(abs(answer - 500) < 1e-6 for answer in answers)

    @pytest.mark.parametrize("noise", [SmoothCauchy(), SmoothLaplace(delta=0.1)])
    def test_the_error_holds_for_the_supposed_smooth_sensitivity(self, noise: SmoothNoise) -> None:
        mechanism = median(Seeded(54), noise)
        rows = SortedRows(np.rint(self.ROWS * 10).astype(np.int64), 10000)
        smooth = rows.smooth_sensitivity(mechanism.beta) / 10
        bound = mechanism.error(confidence=0.8, smooth_sensitivity=smooth)
        misses = sum(abs(mechanism.release(self.ROWS) - 500) > bound for _ in range(1000))
        assert 120 < misses < 290

    def test_answers_stay_within_the_bounds(self) -> None:
        mechanism = median(Seeded(55), SmoothCauchy(), epsilon=0.01)
        assert all(0 <= mechanism.release([1, 2, 3]) <= 1000 for _ in range(200))

    def test_a_hundred_thousand_rows_take_no_time(self) -> None:
        rows = np.random.default_rng(7).lognormal(3, 1, 100_001)
        answer = median(Seeded(56), SmoothLaplace(delta=1e-6)).release(rows)
        assert answer == pytest.approx(float(np.median(rows)), abs=1)

    def test_a_smoothing_too_small_for_floating_point_is_refused(self) -> None:
        class Stiff(SmoothCauchy):
            def beta(self, epsilon: Number) -> float:
                return 1e-12

        with pytest.raises(InvalidParameter) as refusal:
            SmoothMedian(bounds=(0, 1), epsilon=1, noise=Stiff())
        assert refusal.value.code == "smoothing_too_small"

    def test_noise_beyond_the_sampler_is_refused_when_built(self) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            SmoothMedian(bounds=(0, 1), epsilon=2.0**-14, noise=SmoothCauchy())
        assert refusal.value.code == "scale_out_of_range"
