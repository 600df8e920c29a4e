"""Rounded Cauchy noise has exactly its law, whatever the length of its first words.

Each randomised test fails wrongly with probability at most ALPHA.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit import ContinuousLaw, DiscreteLaw, three_sided
from discreet.audit.testers import scaled
from discreet.core.errors import InvalidParameter
from discreet.noise.bins import SATURATION
from discreet.noise.cauchy import LARGEST_SUM, OUTSIDE, HalfDisc, rounded_cauchy
from discreet.noise.randomness import Noiseless, Seeded

ALPHA = 1e-9
UNDECIDED = -2
Floats = NDArray[np.float64]


def mass(scale: float, k: int) -> float:
    """P(k), by the difference of angles in one arc tangent so that tails keep their digits."""
    return math.atan2(scale, scale**2 + k**2 - 0.25) / math.pi


def law(scale: float) -> DiscreteLaw:
    reach = math.ceil(200 * scale)
    return DiscreteLaw.on_integers(lambda k: mass(scale, k), low=-reach, high=reach)


@pytest.mark.parametrize("scale", [0.3, 10])
@pytest.mark.parametrize("bits", [63, 5, 1])
def test_the_law_at_small_scales(scale: float, bits: int) -> None:
    sampler = HalfDisc(Fraction(scale), bits)
    result = three_sided(
        lambda size: sampler.draw(size, Seeded(1)),
        law(scale),
        [law(0.8 * scale), law(1.25 * scale)],
        alpha=ALPHA,
    )
    assert result.passes, result


@pytest.mark.parametrize("scale", [10**6, 2**31, 2**45 + Fraction(1, 3)])
def test_the_law_at_large_scales(scale: int | Fraction) -> None:
    # One step is at most 1e-6 of the scale, far below what these samples can resolve.
    cauchy = ContinuousLaw(lambda x: 0.5 + np.arctan(np.asarray(x, np.float64)) / math.pi)
    result = three_sided(
        lambda size: rounded_cauchy(scale, size, Seeded(2)) / float(scale),
        cauchy,
        [scaled(cauchy, 0.8), scaled(cauchy, 1.25)],
        alpha=ALPHA,
    )
    assert result.passes, result


@pytest.mark.parametrize("scale", [Fraction(3, 10), Fraction(7, 2), Fraction(1 << 40)])
def test_a_square_that_decides_speaks_for_all_squares_inside_it(scale: Fraction) -> None:
    sampler = HalfDisc(scale)
    for x, y in product(range(8), repeat=2):
        outcome = sampler.exact(x, y, 3)
        if outcome == UNDECIDED:
            continue
        inner = {sampler.exact(8 * x + i, 8 * y + j, 6) for i, j in product(range(8), repeat=2)}
        far = sampler.exact((x << 60) + 3**37 % (1 << 60), (y << 60) + 5**25 % (1 << 60), 63)
        assert inner | {far} == {outcome}


@pytest.mark.parametrize("scale", [Fraction(3, 10), Fraction(7, 2)])
def test_enumeration_encloses_the_law(scale: Fraction) -> None:
    """All squares of b bits: those decided for k, and those undecided, enclose P(k)."""
    undecided = []
    for bits in (3, 5, 7):
        squares = [
            HalfDisc(scale).exact(x, y, bits) for x, y in product(range(1 << bits), repeat=2)
        ]
        total = 1 << 2 * bits
        undecided.append(squares.count(UNDECIDED) / total)
        for k in range(6):
            target = math.pi / 4 * mass(float(scale), k) * (1 if k == 0 else 2)
            decided = squares.count(k) / total
            assert decided <= target <= decided + undecided[-1]
        outside = squares.count(OUTSIDE) / total
        assert outside <= 1 - math.pi / 4 <= outside + undecided[-1]
    assert undecided[0] > 1.4 * undecided[1] > 1.4 * 1.4 * undecided[2]


@pytest.mark.parametrize("scale", [Fraction(3, 10), Fraction(10**6), Fraction(1 << 52, 3)])
@pytest.mark.parametrize("bits", [4, 20, 63])
def test_double_precision_never_contradicts_integers(scale: Fraction, bits: int) -> None:
    top = (1 << bits) - 1
    rng = np.random.default_rng(3)
    y = rng.integers(0, top, 2000, dtype=np.uint64, endpoint=True)
    anywhere = rng.integers(0, top, 2000, dtype=np.uint64, endpoint=True)
    borders = [
        int((k + Fraction(1, 2)) * int(v) / scale) for k, v in zip(range(2000), y, strict=True)
    ]
    rims = [math.isqrt((1 << 2 * bits) - int(v) ** 2) for v in y]
    near = [
        np.array([min(max(b + shift, 0), top) for b in places], dtype=np.uint64)
        for places in (borders, rims)
        for shift in (-2, -1, 0, 1)
    ]
    sampler = HalfDisc(scale, bits)
    for x in (anywhere, *near):
        rough = sampler.rough(x, y)
        exact = [sampler.exact(int(a), int(b), bits) for a, b in zip(x, y, strict=True)]
        decided = rough != UNDECIDED
        assert rough[decided].tolist() == np.array(exact)[decided].tolist()


def test_most_points_need_no_integers() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 1 << 63, (2, 100_000), dtype=np.uint64)
    assert np.mean(HalfDisc(Fraction(1 << 31)).rough(x, y) == UNDECIDED) < 1e-3


def test_saturation_is_hidden_by_clamping_the_sum() -> None:
    """At the largest scale about one draw in 200 saturates; clamped sums do not show the value."""
    noise = rounded_cauchy(1 << 55, 20_000, Seeded(5))
    saturated = np.abs(noise) == SATURATION
    assert int(np.abs(noise).max()) == SATURATION
    chance = 2 / math.pi * math.atan2(2**55, 2**62)
    assert abs(saturated.mean() - chance) < math.sqrt(3 * chance * math.log(2 / ALPHA) / len(noise))
    for value in (-LARGEST_SUM, -5, LARGEST_SUM):
        released = np.clip(noise[saturated] + value, -LARGEST_SUM, LARGEST_SUM)
        assert (np.abs(released) == LARGEST_SUM).all()
        assert (np.sign(released) == np.sign(noise[saturated])).all()


def test_no_noise_no_draws_and_refusals() -> None:
    assert rounded_cauchy(3, 4, Noiseless()).tolist() == [0, 0, 0, 0]
    assert rounded_cauchy(3, 0).shape == (0,)
    assert rounded_cauchy(5e-324, 5).tolist() == [0] * 5
    for scale in (0, -1, math.inf, 2**55 + 1):
        with pytest.raises(InvalidParameter):
            rounded_cauchy(scale, 1)
