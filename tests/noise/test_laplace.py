"""The three exponential laws: their stated probabilities, their ratios, and their limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit import DiscreteLaw, accepts, three_sided
from discreet.audit.testers import BrokenTwin, GivenEvents, audit, check_pair
from discreet.audit.testers.ratios import Finding
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number
from discreet.noise import (
    Noiseless,
    Seeded,
    discrete_laplace,
    geometric,
    rounded_laplace,
)
from discreet.noise.laplace import (
    LARGEST_SCALE,
    BinnedDiscreteLaplace,
    BinnedGeometric,
    BinnedRoundedLaplace,
    bin_bits,
    checked_scale,
)
from discreet.noise.table import borders
from tests.noise import oracle
from tests.noise.oracle import SUITE, jittered, spread

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Sampler: TypeAlias = Callable[..., Ints]

SAMPLERS: dict[str, Sampler] = {
    "rounded": rounded_laplace,
    "discrete": discrete_laplace,
    "geometric": geometric,
}
NAMES = pytest.mark.parametrize("name", SAMPLERS)


def probability(name: str, scale: float, z: int) -> float:
    if name == "rounded":
        if z == 0:
            return -math.expm1(-1 / (2 * scale))
        return -math.exp(-(abs(z) - 0.5) / scale) * math.expm1(-1 / scale) / 2
    if name == "discrete":
        return math.tanh(1 / (2 * scale)) * math.exp(-abs(z) / scale)
    return -math.expm1(-1 / scale) * math.exp(-z / scale) if z >= 0 else 0.0


def law(name: str, scale: float) -> DiscreteLaw:
    reach = math.ceil(40 * scale) + 2
    return DiscreteLaw.on_integers(lambda z: probability(name, scale, z), low=-reach, high=reach)


def below(name: str, scale: float, k: Floats) -> Floats:
    """P(Z <= k) for whole k."""
    if name == "geometric":
        return -np.expm1(-np.maximum(k + 1, 0) / scale)
    if name == "rounded":
        tail = np.exp(-np.abs(k + 0.5) / scale) / 2
    else:
        tail = np.exp(-np.where(k < 0, -k, k + 1) / scale) / (1 + math.exp(-1 / scale))
    return np.where(k < 0, tail, 1 - tail)


@NAMES
@pytest.mark.parametrize("scale", [0.3, 10])
def test_the_true_law_passes_and_wrong_scales_fail(
    name: str, scale: float, request: pytest.FixtureRequest
) -> None:
    wrong = [law(name, 0.8 * scale), law(name, 1.25 * scale)]
    source = Seeded(101)
    result = three_sided(
        lambda n: SAMPLERS[name](scale, n, source),
        law(name, scale),
        wrong,
        alpha=SUITE.alpha(request.node.nodeid),
    )
    assert result.passes, result


@NAMES
@pytest.mark.parametrize("scale", [32, 127.5, 128, 255.9, 256, 1e6, 2.0**31, 2.0**40, 2.0**55])
def test_the_true_law_passes_and_wrong_scales_fail_at_large_scales(
    name: str, scale: float, request: pytest.FixtureRequest
) -> None:
    source = Seeded(102)
    right, small, large = (
        spread(partial(below, name, factor * scale)) for factor in (1.0, 0.8, 1.25)
    )
    result = three_sided(
        lambda n: jittered(SAMPLERS[name](scale, n, source)),
        right,
        [small, large],
        alpha=SUITE.alpha(request.node.nodeid),
    )
    assert result.passes, result


@NAMES
@pytest.mark.parametrize("scale", [10, 127.5, 128, 256])
def test_remainders_modulo_eight_have_their_law(
    name: str, scale: float, request: pytest.FixtureRequest
) -> None:
    reach = range(-int(45 * scale), int(45 * scale) + 1)
    masses = dict.fromkeys(range(8), 0.0)
    for z in reach:
        masses[z % 8] += probability(name, scale, z)
    sample = SAMPLERS[name](scale, 200_000, Seeded(103)) % 8
    assert accepts(sample, DiscreteLaw.of(masses), alpha=SUITE.alpha(request.node.nodeid)).passes


@NAMES
@pytest.mark.parametrize(
    ("scale", "shift"),
    [
        (1e6, 0),
        (1e6, 5),
        (2**31, 0),
        (2**31, 10),
        (2**31, 18),
        (2**55, 0),
        (2**55, 24),
        (2**55, 42),
    ],
)
def test_low_digits_of_large_noise_have_their_law(
    name: str, scale: float, shift: int, request: pytest.FixtureRequest
) -> None:
    """Digits of a geometric variable weigh exp(-d 2**shift / scale); symmetric laws are flat."""
    fall = 2**shift / scale if name == "geometric" else 0.0
    weights = np.exp(-fall * np.arange(8))
    masses = dict(enumerate((weights / weights.sum()).tolist()))
    sample = SAMPLERS[name](scale, 100_000, Seeded(104)) >> shift & 7
    assert accepts(sample, DiscreteLaw.of(masses), alpha=SUITE.alpha(request.node.nodeid)).passes


def enclosed_masses(
    kind: type[BinnedDiscreteLaplace | BinnedRoundedLaplace], scale: Fraction
) -> dict[int, tuple[Fraction, Fraction]]:
    """Bounds of P(z) as the table draws it, from borders at 300 bits."""
    drawn = kind(scale, 0)
    surely, maybe = borders(drawn, 300)
    values = drawn.values(len(surely)).tolist()
    pairs = zip(values, pairwise([0, *surely]), pairwise([0, *maybe]), strict=True)
    return {
        z: (Fraction(low - high_before, 1 << 300), Fraction(high - low_before, 1 << 300))
        for z, (low_before, low), (high_before, high) in pairs
    }


@pytest.mark.parametrize("kind", [BinnedDiscreteLaplace, BinnedRoundedLaplace])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(0.3), Fraction(10)])
def test_drawn_probabilities_of_neighbours_differ_by_at_most_the_stated_ratio(
    kind: type[BinnedDiscreteLaplace | BinnedRoundedLaplace], scale: Fraction
) -> None:
    """000a:A11: all shifts by one step, to a relative 2**-150."""
    masses = {z: p for z, p in enclosed_masses(kind, scale).items() if p[0] * 2**140 > 1}
    most = (1 + Fraction(1, 1 << 150)) / oracle.exp_minus(1 / scale)
    assert len(masses) > 4
    for z, (low, high) in masses.items():
        if z + 1 in masses:
            near_low, near_high = masses[z + 1]
            assert low <= most * near_high
            assert near_low <= most * high


@pytest.mark.parametrize("name", ["rounded", "discrete"])
@pytest.mark.parametrize("scale", [2, 1000, 2**40])
def test_neighbouring_inputs_share_their_outputs(name: str, scale: int) -> None:
    """Every residue is reached from both inputs: supports carry no trace of the input."""
    noise = SAMPLERS[name](scale, 20_000, Seeded(5))
    for modulus in (2, 3, 8):
        assert set((noise % modulus).tolist()) == set(((noise + 1) % modulus).tolist())
        assert len(set((noise % modulus).tolist())) == modulus


STEP = 2.0**-30


def on_the_grid(x: float, trials: int) -> Floats:
    noise = rounded_laplace(round(1 / STEP), trials, Seeded(int(x) + 1))
    return (STEP * (round(x / STEP) + noise)).astype(np.float64)


def naive(x: float, trials: int) -> Floats:
    """Textbook Laplace noise in floating point: its low bits tell the input."""
    uniform = np.random.default_rng(int(x) + 1).random(trials) - 0.5
    return np.asarray(x - np.sign(uniform) * np.log1p(-2 * np.abs(uniform)))


def fine_bits(y: float) -> bool:
    return abs(y) < 1 and not (y * 2.0**53).is_integer()


def refuted(mechanism: Callable[[float, int], Floats]) -> Finding:
    """004d:A8: near zero, outputs on input one are multiples of 2**-53; on zero they are not."""
    return audit(
        mechanism,
        0.0,
        1.0,
        epsilon=1,
        delta=0,
        events=GivenEvents({"bits below 2**-53": fine_bits}),
        trials=20_000,
        confidence=1 - 1e-9,
    )


def test_a_floating_point_twin_is_caught_by_its_low_bits() -> None:
    check_pair(BrokenTwin("laplace", on_the_grid, naive, "rounding after noise"), refuted)


@NAMES
@pytest.mark.parametrize("scale", [5e-324, 1e-300, Fraction(1, 10**4000), 1e-3])
def test_tiny_scales_return_zeros(name: str, scale: Number) -> None:
    for size in (1, 100, 10_000):
        assert not SAMPLERS[name](scale, size, Seeded(1)).any()


@NAMES
def test_largest_scale_is_drawn_and_anything_beyond_refused(name: str) -> None:
    assert SAMPLERS[name](LARGEST_SCALE, 10, Seeded(1)).any()
    for beyond in (LARGEST_SCALE + 1, 1e300, 10**400, 10**5000, Fraction(10**400, 3)):
        with pytest.raises(InvalidParameter) as refusal:
            SAMPLERS[name](beyond, 1)
        assert refusal.value.code == "scale_out_of_range"


@NAMES
@pytest.mark.parametrize("scale", [0, -1, -0.5, math.nan, math.inf, -math.inf, True, "1", None])
def test_what_is_not_a_positive_number_is_refused(name: str, scale: object) -> None:
    with pytest.raises(InvalidParameter):
        SAMPLERS[name](scale, 1)


@NAMES
@pytest.mark.parametrize("scale", [0.3, 10, 1e6, 2**55])
@pytest.mark.parametrize("size", [0, 1, 4096, 70_000])
def test_sizes_and_types(name: str, scale: float, size: int) -> None:
    drawn = SAMPLERS[name](scale, size, Seeded(9))
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
    assert not SAMPLERS[name](scale, size, Noiseless()).any()
    assert (drawn == SAMPLERS[name](scale, size, Seeded(9))).all()
    assert name != "geometric" or (drawn >= 0).all()


def test_bins_keep_between_32_and_64_to_a_scale() -> None:
    assert bin_bits(Fraction(127.999)) == 0
    for k in range(7, 56):
        for scale in (Fraction(1 << k), Fraction((1 << k + 1) - 1)):
            if scale <= LARGEST_SCALE:
                assert 32 <= scale / (1 << bin_bits(scale)) < 64
    assert bin_bits(Fraction(LARGEST_SCALE)) == 50


def test_floats_stand_for_the_rational_they_store() -> None:
    assert checked_scale(0.1) == Fraction(3602879701896397, 36028797018963968)
    assert checked_scale(np.float64(0.5)) == Fraction(1, 2)


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(10)])
def test_digits_of_a_geometric_variable_are_independent(scale: Fraction) -> None:
    """P(8 q + r) = P(q) P(r): what lets a bin and a place in it be drawn apart."""
    mass = oracle.geometric(scale)
    quotients = [sum(mass(8 * q + r) for r in range(8)) for q in range(6)]
    fall = oracle.exp_minus(8 / scale)
    remainders = [mass(r) / (1 - fall) for r in range(8)]
    for q in range(6):
        for r in range(8):
            assert abs(mass(8 * q + r) - quotients[q] * remainders[r]) < Fraction(1, 10**100)


def test_the_kinds_have_their_own_laws() -> None:
    kinds = (BinnedDiscreteLaplace, BinnedRoundedLaplace, BinnedGeometric)
    assert len({kind(Fraction(2), 0) for kind in kinds}) == 3
