"""Noise shares sum to exactly discrete Laplace noise.

Each randomised test fails wrongly with probability at most ALPHA.
"""

import cmath
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln

from discreet.audit import DiscreteLaw, accepts, three_sided
from discreet.core.errors import InvalidParameter
from discreet.noise.enclosure import exp_minus
from discreet.noise.logarithmic import Logarithmic, Octaves
from discreet.noise.randomness import Noiseless, Seeded
from discreet.noise.shares import Jumps, laplace_share

ALPHA = 1e-9
CASES = [(n, scale) for n in (1, 2, 5) for scale in (0.5, 3, 1000)]


def laplace_law(scale: float) -> DiscreteLaw:
    a = math.exp(-1 / scale)
    reach = math.ceil(10 * scale) + 5
    return DiscreteLaw.on_integers(
        lambda z: (1 - a) / (1 + a) * a ** abs(z), low=-reach, high=reach
    )


def summed(scale: float, parties: int, size: int, *, pretended: int = 0) -> NDArray[np.int64]:
    """The sum of so many shares, each drawn as one of ``pretended`` parties if given."""
    shares = [
        laplace_share(scale, pretended or parties, size, Seeded(100 * parties + i))
        for i in range(parties)
    ]
    return np.asarray(np.sum(shares, axis=0), dtype=np.int64)


@pytest.mark.parametrize(("parties", "scale"), CASES)
def test_sums_are_discrete_laplace_noise(parties: int, scale: float) -> None:
    result = three_sided(
        lambda size: summed(scale, parties, size),
        laplace_law(scale),
        [laplace_law(0.8 * scale), laplace_law(1.25 * scale)],
        alpha=ALPHA,
    )
    assert result.passes, result


@pytest.mark.parametrize(("parties", "scale"), CASES)
def test_too_little_noise_is_caught(parties: int, scale: float) -> None:
    """A broken twin: each party believes that one more will send its share."""
    twin = summed(scale, parties, 200_000, pretended=parties + 1)
    assert not accepts(twin, laplace_law(scale), alpha=ALPHA).passes


@pytest.mark.parametrize("scale", [0.5, 3])
def test_rounded_gamma_shares_are_caught(scale: float) -> None:
    """Why shares are not continuous ones rounded: the sum would have another law."""
    rng = np.random.default_rng(5)
    draws = rng.gamma(1 / 5, scale, (2, 5, 300_000))
    twin = np.rint(draws[0] - draws[1]).astype(np.int64).sum(axis=0)
    assert not accepts(twin, laplace_law(scale), alpha=ALPHA).passes


@pytest.mark.parametrize(("parties", "scale"), [(1, 3), (5, 1000), (20, 2**31), (3, 2**55)])
def test_the_variance_is_that_of_the_sum(parties: int, scale: int) -> None:
    """Within 6.2 standard errors (ALPHA for a normal mean); fourth moments are near 24 scale**4."""
    size = 20_000
    sums = summed(scale, parties, size).astype(np.float64)
    a, gap = math.exp(-1 / scale), -math.expm1(-1 / scale)
    variance = 2 * a / gap**2
    error = math.sqrt((24 - 4 + 1) / 4 / size)
    assert abs(np.mean(np.square(sums)) / variance - 1) < 6.2 * error


def logarithmic_law(scale: float) -> DiscreteLaw:
    a = math.exp(-1 / scale)
    total = -math.log(-math.expm1(-1 / scale))
    return DiscreteLaw.on_integers(
        lambda k: a**k / k / total if k >= 1 else 0.0, low=1, high=math.ceil(10 * scale) + 5
    )


@pytest.mark.parametrize("scale", [0.5, 5, 1000])
@pytest.mark.parametrize("coin_bits", [64, 3, 1])
def test_jumps_are_logarithmic(scale: float, coin_bits: int) -> None:
    law = Logarithmic(Fraction(scale), coin_bits)
    result = three_sided(
        lambda size: law.draw(size, Seeded(6)),
        logarithmic_law(scale),
        [logarithmic_law(0.8 * scale), logarithmic_law(1.25 * scale)],
        alpha=ALPHA,
    )
    assert result.passes, result


def test_jumps_too_large_for_a_word_are_right_modulo_two_to_the_64() -> None:
    """Beyond the scales that shares allow, so that the rare branch is common.

    Residues modulo 8 come from the logarithms of 1 - a w at the eighth roots of unity w; the
    octaves from 64 up are a fifth of all draws.
    """
    scale = Fraction(1 << 80)
    total = 80 * math.log(2)
    roots = [cmath.exp(2j * math.pi * i / 8) for i in range(8)]
    logs = [total, *(-cmath.log(1 - w) for w in roots[1:])]
    masses = {
        r: sum((logs[i] * roots[-i * r % 8]).real for i in range(8)) / 8 / total for r in range(8)
    }
    drawn = Logarithmic(scale).draw(100_000, Seeded(7))
    assert accepts((drawn % 8).astype(np.int64), DiscreteLaw.of(masses), alpha=ALPHA).passes
    below = (np.euler_gamma + math.log(2**62)) / total
    # Draws below 2**62, and those from 2**64 up, of which a quarter land there again.
    beyond = 1 - (np.euler_gamma + 64 * math.log(2)) / total
    share = float(np.mean(drawn < 1 << 62))
    assert abs(share - below - beyond / 4) < 0.02


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(10**6), Fraction(1 << 55)])
@pytest.mark.parametrize("parties", [1, 7])
def test_the_number_of_jumps_is_poisson(scale: Fraction, parties: int) -> None:
    weights = Jumps(scale, parties).weights(64)
    mean = -2 * math.log(-math.expm1(-1 / float(scale))) / parties
    numbers = np.arange(len(weights.low))
    expected = np.exp(numbers * math.log(mean) - gammaln(numbers + 1) - mean)
    total = sum(weights.low)
    assert (sum(weights.high) + weights.tail - total) / total < 2**-60
    for low, high, mass in zip(weights.low, weights.high, expected, strict=True):
        assert low <= high
        assert low / total - 1e-12 <= mass <= high / total + 1e-12


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(10**6), Fraction(1 << 55)])
def test_octaves_are_enclosed(scale: Fraction) -> None:
    coarse, fine = Octaves(scale).weights(64), Octaves(scale).weights(200)
    shift = len(bin(fine.high[0])) - len(bin(coarse.high[0]))
    for j, (low, high) in enumerate(zip(coarse.low, coarse.high, strict=True)):
        assert low << shift <= fine.low[j] <= fine.high[j] <= high << shift
    assert sum(fine.high[len(coarse.low) :]) + fine.tail <= coarse.tail << shift
    assert coarse.tail < sum(coarse.low) >> 64


@pytest.mark.parametrize("coin_bits", [1, 4, 64])
def test_a_decided_coin_agrees_with_longer_ones(coin_bits: int) -> None:
    """Each judgement lies on its side of an enclosure far finer than the coin."""
    scale = Fraction(7, 3)
    law = Logarithmic(scale, coin_bits)
    for octave, place in ((1, 1), (2, 3), (3, 5), (4, 1)):
        low, high = exp_minus(place / scale, 300)
        chance = Fraction(low + high, 2 << 300) * Fraction(1 << octave, (1 << octave) + place)
        for coin in {0, 1, int(chance * 2**coin_bits), (1 << coin_bits) - 1}:
            kept = law._decide(octave, place, coin, Seeded(8))
            if Fraction(coin + 1, 1 << coin_bits) < chance:
                assert kept
            elif Fraction(coin, 1 << coin_bits) > chance:
                assert not kept


def test_no_noise_no_draws_and_refusals() -> None:
    assert laplace_share(3, 2, 4, Noiseless()).tolist() == [0, 0, 0, 0]
    assert laplace_share(3, 2, 0).shape == (0,)
    assert laplace_share(5e-324, 2, 5).tolist() == [0] * 5
    assert laplace_share(3, 2, 40_000).shape == (40_000,)
    for scale, parties in ((0, 1), (1, 0), (1, 1.5), (2**55 + 1, 2)):
        with pytest.raises(InvalidParameter):
            laplace_share(scale, parties, 1)  # type: ignore[arg-type]
