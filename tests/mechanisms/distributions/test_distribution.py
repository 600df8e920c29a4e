"""Laws are those of the noise as drawn: by enumeration, by the mechanisms, and as JSON."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.mechanisms import DiscreteGaussian as DiscreteGaussianMechanism
from discreet.mechanisms import DiscreteLaplace as DiscreteLaplaceMechanism
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.additive import Additive
from discreet.noise import Seeded
from discreet.release.intervals import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
    distribution_from_dict,
    distribution_of,
)
from tests.mechanisms import laws as written
from tests.release.intervals.draws import DEVIATIONS, KINDS

INDEPENDENT = {
    RoundedLaplace: written.rounded_laplace,
    DiscreteLaplaceDistribution: written.discrete_laplace,
    RoundedGaussian: written.rounded_gaussian,
    DiscreteGaussianDistribution: written.discrete_gaussian,
}
SPREADS = [0.2, 0.5, 0.99, 1.0, 1.7, 3.9, 4.1, 25.0]
STEPS = [1.0, 0.25, 8.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("step", STEPS)
class TestEnumeration:
    def distribution(self, kind: type[Distribution], spread: float, step: float) -> Distribution:
        return kind(spread * step, step)  # type: ignore[call-arg]

    def test_tails(self, kind: type[Distribution], spread: float, step: float) -> None:
        distribution = self.distribution(kind, spread, step)
        _, at_least = INDEPENDENT[kind](spread)
        for m in range(12):
            expected = 2 * at_least(m + 1)
            for x in (m * step, (m + 0.99) * step):
                assert distribution.tail(x) == pytest.approx(expected, rel=1e-10, abs=1e-15)
            assert distribution.above(np.array([m * step]))[0] == pytest.approx(
                expected / 2, abs=1e-14
            )
            assert distribution.above(np.array([-(m + 1) * step]))[0] == pytest.approx(
                1 - expected / 2, abs=1e-14
            )
        assert distribution.tail(-0.1) == 1

    def test_deviation_and_characteristic(
        self, kind: type[Distribution], spread: float, step: float
    ) -> None:
        distribution = self.distribution(kind, spread, step)
        mass, _ = INDEPENDENT[kind](spread)
        k = np.arange(-math.ceil(45 * spread) - 5, math.ceil(45 * spread) + 6)
        p = np.array([mass(int(z)) for z in k])
        assert distribution.std == pytest.approx(step * math.sqrt(p @ k**2), rel=1e-9)
        t = np.array([0.0, 0.01, 0.3, 1.0, 3.1, 7.0, -2.0]) / step
        assert distribution.characteristic(t) == pytest.approx(
            np.cos(np.outer(t * step, k)) @ p, abs=1e-12
        )

    def test_half_widths_are_least(
        self, kind: type[Distribution], spread: float, step: float
    ) -> None:
        distribution = self.distribution(kind, spread, step)
        for confidence in (0.01, 0.3, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9):
            h = distribution.half_width(confidence)
            assert h % step == 0
            assert distribution.tail(h) <= 1 - confidence
            assert h == 0 or distribution.tail(h - step) > 1 - confidence


def test_worked_numbers() -> None:  # modern-data:C1, N1
    fine = 2.0**-40
    assert RoundedLaplace(1, fine).half_width(0.95) == pytest.approx(2.995732, abs=1e-6)
    assert RoundedGaussian(1, fine).half_width(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert DiscreteGaussianDistribution(1, fine).half_width(0.95) == pytest.approx(
        1.959964, abs=1e-6
    )
    geometric = DiscreteLaplaceDistribution(1, 1)
    assert geometric.half_width(0.95) == 3
    assert geometric.tail(3) == pytest.approx(0.02678, abs=5e-6)
    variances = [
        (DiscreteGaussianDistribution(0.5, 1), 0.215013),
        (RoundedGaussian(0.5, 1), 0.325413),
        (DiscreteGaussianDistribution(1, 1), 0.9999998),
        (RoundedGaussian(1, 1), 1.083333),
    ]
    for distribution, variance in variances:
        assert distribution.std**2 == pytest.approx(variance, abs=1e-6)


def test_wide_discrete_normals_need_no_table() -> None:
    narrow, wide = (
        DiscreteGaussianDistribution(4096, 1),
        DiscreteGaussianDistribution(math.nextafter(4096, 5000), 1),
    )
    for x in (0, 100, 4096, 20_000, 60_000):
        assert wide.tail(x) == pytest.approx(narrow.tail(x), rel=1e-8)
    assert narrow.half_width(0.95) == wide.half_width(0.95)


@pytest.mark.parametrize("kind", KINDS)
def test_extreme_scales(kind: type[Distribution]) -> None:
    coarse = kind(1e-3, 1.0)  # type: ignore[call-arg]
    assert coarse.half_width(0.95) == 0
    assert coarse.std < 1e-100
    assert np.all(np.abs(coarse.characteristic(np.array([0.5, 3.0])) - 1) < 1e-100)
    fine = kind(1.0, 2.0**-54)  # type: ignore[call-arg]
    continuous = 2.995732274 if "laplace" in fine.kind else 1.959963985
    assert fine.half_width(0.95) == pytest.approx(continuous, rel=1e-9)


MECHANISMS: list[tuple[Additive, Distribution]] = [
    (Laplace(epsilon=0.5, sensitivity=3), RoundedLaplace(1.5, 0.25)),
    (DiscreteLaplaceMechanism(epsilon=0.5, sensitivity=3), DiscreteLaplaceDistribution(1.5, 0.25)),
    (DiscreteGaussianMechanism(rho=0.125, sensitivity=3), DiscreteGaussianDistribution(1.5, 0.25)),
]


class TestMechanisms:
    @pytest.mark.parametrize(("mechanism", "distribution"), MECHANISMS)
    def test_their_laws(self, mechanism: Additive, distribution: Distribution) -> None:
        assert distribution_of(mechanism, step=0.25) == distribution

    def test_the_normal_one(self) -> None:
        mechanism = Gaussian(epsilon=1, delta=1e-5, sensitivity=2)
        distribution = distribution_of(mechanism, step=2)
        assert distribution == RoundedGaussian(4 * mechanism.noise_multiplier, 2)

    def test_a_release_follows_its_law(self) -> None:
        source = Seeded(7)
        size = 40_000
        for mechanism in (
            Laplace(epsilon=0.4, sensitivity=1, randomness=source),
            DiscreteLaplaceMechanism(epsilon=0.4, sensitivity=1, randomness=source),
            Gaussian(epsilon=1, delta=1e-3, sensitivity=1, randomness=source),
            DiscreteGaussianMechanism(rho=0.1, sensitivity=1, randomness=source),
        ):
            distribution = distribution_of(mechanism, step=1, size=size)
            drawn = np.abs(mechanism.release(np.zeros(size, dtype=np.int64)))
            for m in range(10):
                p = distribution.tail(m)
                slack = DEVIATIONS * math.sqrt(p * (1 - p) / size)
                assert abs(float((drawn > m).mean()) - p) <= slack

    def test_others_have_none(self) -> None:
        with pytest.raises(InvalidParameter) as caught:
            distribution_of(TruncatedLike(), step=1)  # type: ignore[arg-type]
        assert caught.value.code == "law_unknown"


class TruncatedLike:
    def scale(self, *, size: int, kind: type) -> float:
        return float(size)


class TestJson:
    @pytest.mark.parametrize("kind", KINDS)
    @given(spread=st.floats(1e-6, 1e9), exponent=st.integers(-60, 20))
    def test_round_trip(self, kind: type[Distribution], spread: float, exponent: int) -> None:
        distribution = kind(spread, 2.0**exponent)  # type: ignore[call-arg]
        assert (
            distribution_from_dict(json.loads(json.dumps(distribution.to_dict()))) == distribution
        )

    @pytest.mark.parametrize(
        "plain",
        [
            {},
            {"law": "rounded_laplace"},
            {"law": "rounded_laplace", "scale": 1.0},
            {"law": "rounded_laplace", "sigma": 1.0, "step": 1.0},
            {"law": "rounded_laplace", "scale": 1.0, "step": 1.0, "more": 1},
            {"law": "cauchy", "scale": 1.0, "step": 1.0},
        ],
    )
    def test_anything_else_is_refused(self, plain: dict[str, object]) -> None:
        with pytest.raises(InvalidParameter) as caught:
            distribution_from_dict(plain)
        assert caught.value.code == "law_not_plain"


class TestRefusals:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(
        ("spread", "step", "code"),
        [
            (0, 1, "not_positive"),
            (-1, 1, "not_positive"),
            (math.nan, 1, "not_finite"),
            (math.inf, 1, "not_finite"),
            ("1", 1, "not_a_number"),
            (1, 0, "not_positive"),
            (1, 0.3, "grid_not_power_of_two"),
            (1, 3, "grid_not_power_of_two"),
        ],
    )
    def test_parameters(
        self, kind: type[Distribution], spread: object, step: object, code: str
    ) -> None:
        with pytest.raises(InvalidParameter) as caught:
            kind(spread, step)  # type: ignore[call-arg]
        assert caught.value.code == code

    @pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, math.nan, None])
    def test_confidence(self, confidence: float) -> None:
        with pytest.raises(InvalidParameter):
            RoundedLaplace(1, 1).half_width(confidence)
