"""The Gaussian mechanism: calibrated by the exact curve, never by the classic formula."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from discreet import events
from discreet.accounting import gaussian_delta
from discreet.audit import ContinuousLaw, DiscreteLaw, hockey_stick, min_delta, three_sided
from discreet.audit.testers import scaled
from discreet.core.errors import InvalidParameter
from discreet.mechanisms import DiscreteGaussian, Gaussian
from discreet.noise import Seeded
from tests.mechanisms.laws import ATOL, discrete_gaussian, rounded_gaussian, windowed

CURVES = [(1, 1e-5), (0.5, 1e-5), (1, 1e-6), (10, 1e-5), (0.01, 1e-3), (3, 0.4)]


def curve(multiplier: float, epsilon: float) -> float:
    """Delta of the continuous mechanism, in the form of 000a:C5."""
    mu = 1 / multiplier
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))


def classic(epsilon: float, delta: float) -> float:
    """The classic formula, kept here as the broken twin of the exact calibration."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def test_worked_numbers() -> None:
    # 000a:C5, 004a:B6, B7.
    def multiplier(epsilon: float, delta: float) -> float:
        return Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).noise_multiplier

    assert multiplier(1, 1e-5) == pytest.approx(3.73063, abs=5e-6)
    assert multiplier(0.5, 1e-5) == pytest.approx(7.03183, abs=5e-6)
    assert multiplier(1, 1e-6) == pytest.approx(4.22468, abs=5e-6)
    assert classic(1, 1e-5) == pytest.approx(4.8448, abs=5e-5)
    assert curve(1, 1) == pytest.approx(0.126937, abs=5e-7)
    rho = 0.5
    bound = math.exp(-((1 - rho) ** 2) / (4 * rho)) / max(2, math.sqrt(math.pi / rho) * (1 - rho))
    assert curve(1, 1) < bound == pytest.approx(0.4412, abs=5e-5)


def test_the_classic_formula_at_ten_is_a_broken_twin() -> None:
    sigma = classic(10, 1e-5)
    assert sigma == pytest.approx(0.48448, abs=5e-6)
    assert curve(sigma, 10) == pytest.approx(2.27e-5, abs=5e-8)
    assert curve(sigma, 10) > 1e-5, "the auditor refutes the classic formula"
    sound = Gaussian(epsilon=10, delta=1e-5, sensitivity=1).noise_multiplier
    assert sound > sigma
    assert curve(sound, 10) <= 1e-5


@pytest.mark.parametrize(("epsilon", "delta"), CURVES)
def test_the_multiplier_is_the_least_that_keeps_the_promise(epsilon: float, delta: float) -> None:
    z = Gaussian(epsilon=epsilon, delta=delta, sensitivity=7).noise_multiplier
    assert curve(z, epsilon) <= delta * (1 + 1e-9)
    assert curve(z * (1 - 1e-6), epsilon) > delta * (1 - 1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), CURVES)
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_on_whole_numbers_delta_is_at_most_what_is_claimed(
    epsilon: float, delta: float, sensitivity: int
) -> None:
    mechanism = Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    sigma = mechanism.scale(kind=int)
    law, reach = rounded_gaussian(sigma), math.ceil(12 * sigma) + sensitivity + 3
    here, there = (windowed(law, centre, -reach, reach) for centre in (0, sensitivity))
    true = min_delta(here, there, epsilon=epsilon)
    assert true <= delta * (1 + 1e-6)
    if sigma > 3 and delta < 0.1:
        assert true >= delta * 0.5, "rounding takes little away"
    half = rounded_gaussian(sigma / 2)
    broken = (windowed(half, centre, -reach, reach) for centre in (0, sensitivity))
    assert min_delta(*broken, epsilon=epsilon) > delta, "half the scale is refuted"


def test_the_loss_can_exceed_epsilon_more_often_than_delta() -> None:
    # 000a:A5: (epsilon, delta) does not mean |L| <= epsilon but for a chance of delta.
    z = Gaussian(epsilon=1, delta=1e-5, sensitivity=1).noise_multiplier
    often = float(ndtr(1 / (2 * z) - z))
    assert often == pytest.approx(1.612e-4, abs=5e-8)


def test_diagonal_moves_of_whole_vectors_cost_their_euclidean_length() -> None:
    # Two coordinates by one each: root two, with no rounding up to two.
    mechanism = Gaussian(epsilon=1, delta=1e-3, sensitivity=math.sqrt(2))
    sigma = mechanism.scale(size=2, kind=int)
    assert sigma == pytest.approx(math.sqrt(2) * mechanism.noise_multiplier)
    law, reach = rounded_gaussian(sigma), 30
    zero, one = (windowed(law, centre, -reach, reach) for centre in (0, 1))
    here = {(a, b): p * q for a, p in zero.items() for b, q in zero.items()}
    there = {(a, b): p * q for a, p in one.items() for b, q in one.items()}
    assert min_delta(here, there, epsilon=1) <= 1e-3


def test_releases_follow_the_law_and_no_other(source: Seeded, alpha: float) -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-5, sensitivity=2, randomness=source)
    sigma = 2 * mechanism.noise_multiplier
    law = ContinuousLaw(lambda x: ndtr(np.asarray(x) / sigma))
    judged = three_sided(
        lambda n: mechanism.release(np.full(n, -3.75)) + 3.75,
        law,
        [scaled(law, 0.8), scaled(law, 1.25)],
        alpha=alpha,
    )
    assert judged.passes, judged


def test_whole_releases_follow_the_rounded_law_and_no_other(source: Seeded, alpha: float) -> None:
    mechanism = Gaussian(epsilon=2, delta=1e-3, sensitivity=1, randomness=source)
    sigma = mechanism.noise_multiplier

    def law(scale: float) -> DiscreteLaw:
        return DiscreteLaw.on_integers(rounded_gaussian(scale)[0], low=-30, high=30)

    judged = three_sided(
        lambda n: mechanism.release(np.full(n, 5)) - 5,
        law(sigma),
        [law(0.8 * sigma), law(1.25 * sigma)],
        alpha=alpha,
    )
    assert judged.passes, judged


def test_delta_zero_is_refused_with_a_reason() -> None:
    with pytest.raises(InvalidParameter, match="delta_zero"):
        Gaussian(epsilon=1, delta=0, sensitivity=1)


class TestDiscreteGaussian:
    def test_sigma_is_rounded_up_and_never_down(self) -> None:
        for rho in (0.5, 1, 0.1, 1e-3, 3, 1 / 3, 2.0**-300, 2.0**300):
            mechanism = DiscreteGaussian(rho=rho, sensitivity=3)
            assert mechanism.noise_multiplier**2 * 2 * Fraction(rho) >= 1
            assert mechanism.noise_multiplier**2 * 2 * Fraction(rho) <= 1 + Fraction(1, 2**50)
        assert DiscreteGaussian(rho=0.5, sensitivity=1).sigma == 1

    @pytest.mark.parametrize("sigma", [0.25, 0.5, 1, 2])
    def test_its_renyi_divergence_is_at_most_rho_alpha(self, sigma: float) -> None:
        # modern-data:N1: equality at whole orders, less between.
        mechanism = DiscreteGaussian(rho=1 / (2 * sigma**2), sensitivity=1)
        rate = 1 / (2 * mechanism.sigma**2)
        total = math.fsum(math.exp(-rate * z * z) for z in range(-40, 41))
        for alpha in (1.5, 2, 3.5, 8):
            powers = (-alpha * z * z - (1 - alpha) * (z - 1) ** 2 for z in range(-40, 41))
            moment = math.fsum(math.exp(rate * power) for power in powers) / total
            divergence = math.log(moment) / (alpha - 1)
            assert divergence <= alpha * mechanism.rho * (1 + 1e-9)
            if alpha == int(alpha):
                assert divergence == pytest.approx(alpha * mechanism.rho, rel=1e-6)
            if (sigma, alpha) == (0.25, 1.5):
                assert divergence == pytest.approx(9.385, abs=5e-4)

    @pytest.mark.parametrize(
        ("sigma", "discrete", "continuous", "rounded"),
        [(0.5, 0.603205, 0.509862, 0.410075), (1, 0.141351, 0.126937, 0.126937)],
    )
    def test_the_continuous_price_would_be_a_broken_twin(
        self, sigma: float, discrete: float, continuous: float, rounded: float
    ) -> None:
        # modern-data:N1, at epsilon one.
        def delta(law: tuple[object, object]) -> float:
            here, there = (windowed(law, c, -40, 40) for c in (0, 1))  # type: ignore[arg-type]
            return min_delta(here, there, epsilon=1)

        true = delta(discrete_gaussian(sigma))
        assert true == pytest.approx(discrete, abs=5e-7)
        assert curve(sigma, 1) == pytest.approx(continuous, abs=5e-7)
        assert delta(rounded_gaussian(sigma)) == pytest.approx(rounded, abs=5e-7)
        assert true > curve(sigma, 1), "priced by the continuous curve it is refuted"
        event = DiscreteGaussian(rho=1 / (2 * sigma**2), sensitivity=1).event
        assert event.delta(epsilon=1) >= true
        assert isinstance(event, events.DiscreteGaussian)
        assert gaussian_delta(sigma, 1) < true

    def test_variances_of_the_two_laws(self, source: Seeded) -> None:
        def variance(law: tuple[object, object]) -> float:
            mass = law[0]
            return math.fsum(z * z * mass(z) for z in range(-60, 61))  # type: ignore[operator]

        assert variance(discrete_gaussian(0.5)) == pytest.approx(0.215013, abs=5e-7)
        assert variance(rounded_gaussian(0.5)) == pytest.approx(0.325413, abs=5e-7)
        assert variance(discrete_gaussian(1)) == pytest.approx(0.9999998, abs=5e-8)
        assert variance(rounded_gaussian(1)) == pytest.approx(1.083333, abs=5e-7)

    def test_calibration_keeps_its_promise_on_the_true_law(self) -> None:
        for epsilon, delta in ((1, 1e-3), (3, 1e-2)):
            mechanism = DiscreteGaussian.calibrated(epsilon=epsilon, delta=delta, sensitivity=1)
            assert mechanism.event.delta(epsilon=epsilon) <= delta * (1 + 1e-9)
            law = discrete_gaussian(mechanism.sigma)
            here, there = (windowed(law, c, -80, 80) for c in (0, 1))
            assert hockey_stick(here, there, epsilon=epsilon) <= delta
            broken = discrete_gaussian(mechanism.sigma / 2)
            here, there = (windowed(broken, c, -80, 80) for c in (0, 1))
            assert hockey_stick(here, there, epsilon=epsilon) > delta

    def test_releases_follow_the_law_and_no_other(self, source: Seeded, alpha: float) -> None:
        mechanism = DiscreteGaussian(rho=0.125, sensitivity=1, randomness=source)
        assert mechanism.sigma == 2

        def law(sigma: float) -> DiscreteLaw:
            return DiscreteLaw.on_integers(discrete_gaussian(sigma)[0], low=-25, high=25)

        judged = three_sided(
            lambda n: mechanism.release(np.full(n, -9)) + 9,
            law(2),
            [law(1.6), law(2.5)],
            alpha=alpha,
        )
        assert judged.passes, judged
        assert sum(discrete_gaussian(2.0)[0](z) for z in range(-60, 61)) == pytest.approx(
            1, abs=ATOL
        )
