"""K-norm noise has exactly its law, whatever the number of bits first revealed.

Each randomised test fails wrongly with probability at most ALPHA.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betainc, gammainc, ndtr

from discreet.audit import ContinuousLaw, DiscreteLaw, accepts, three_sided
from discreet.audit.testers import scaled
from discreet.core.errors import InvalidParameter
from discreet.noise.bins import SATURATION
from discreet.noise.laplace import rounded_laplace
from discreet.noise.norm import Euclidean, KNorm, MaxNorm, rounded_euclidean, rounded_max_norm
from discreet.noise.normals import HalfNormalCells, normals, uniforms
from discreet.noise.randomness import Noiseless, Seeded
from discreet.noise.table import borders

ALPHA = 1e-9
FINE = 1 << 20
"""Grid steps per scale; one step is far below what the samples here can resolve."""

Floats = NDArray[np.float64]
Kind = type[KNorm]


def euclidean_length(z: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(z).sum(axis=1)), dtype=np.float64)


def largest(z: Floats) -> Floats:
    return np.asarray(np.abs(z).max(axis=1), dtype=np.float64)


LENGTHS: dict[Kind, Callable[[Floats], Floats]] = {Euclidean: euclidean_length, MaxNorm: largest}


def fine(kind: Kind, dimension: int, size: int, seed: int = 1) -> Floats:
    return kind(Fraction(FINE), dimension).draw(size, Seeded(seed)) / FINE


def radius_law(dimension: int) -> ContinuousLaw:
    return ContinuousLaw(lambda r: gammainc(dimension, np.maximum(r, 0)))


@pytest.mark.parametrize("kind", LENGTHS)
@pytest.mark.parametrize("dimension", [1, 2, 3, 100])
def test_the_length_is_a_gamma_variable(kind: Kind, dimension: int) -> None:
    law = radius_law(dimension)
    wrong = [scaled(law, 0.8), scaled(law, 1.25)]
    if dimension <= 3:
        wrong += [radius_law(dimension + 1)]
    result = three_sided(
        lambda size: LENGTHS[kind](fine(kind, dimension, size)), law, wrong, alpha=ALPHA
    )
    assert result.passes, result


def test_the_planar_oracles() -> None:
    """004c:10-8, within the Dvoretzky-Kiefer-Wolfowitz band and Bernstein's for the mean."""
    size = 200_000
    radius = euclidean_length(rounded_euclidean(FINE, 2, size, Seeded(2)) / FINE)
    band = math.sqrt(math.log(2 / ALPHA) / (2 * size))
    for level, point in ((0.5, 1.678347), (0.9, 3.889720), (0.95, 4.743865)):
        assert abs(float(np.mean(radius <= point)) - level) < band
        assert abs(1 - (1 + point) * math.exp(-point) - level) < 1e-6
    assert abs(radius.mean() - 2) < 2 * math.sqrt(2 * 2 * math.log(2 / ALPHA) / size)


def turned(z: Floats) -> Floats:
    return np.arctan2(z[:, 1], z[:, 0]) / (2 * math.pi) + 0.5


UNIFORM = ContinuousLaw(lambda x: np.clip(x, 0, 1))


def test_the_planar_direction_is_uniform_at_every_length() -> None:
    z = fine(Euclidean, 2, 100_000, seed=3)
    near = euclidean_length(z) < 1.678347
    for sample in (z, z[near], z[~near]):
        assert accepts(turned(sample), UNIFORM, alpha=ALPHA / 3).passes


def test_the_direction_test_catches_independent_coordinates() -> None:
    """A broken twin: Laplace coordinates are private for the sum norm only."""
    twin = rounded_laplace(FINE, 200_000, Seeded(3)).reshape(-1, 2) / FINE
    assert not accepts(turned(twin), UNIFORM, alpha=ALPHA).passes


@pytest.mark.parametrize("dimension", [3, 100])
def test_euclidean_directions_in_high_dimension(dimension: int) -> None:
    z = fine(Euclidean, dimension, 5000, seed=4)
    share = ContinuousLaw(lambda x: betainc(0.5, (dimension - 1) / 2, np.clip(x, 0, 1)))
    for column in (0, dimension - 1):
        sample = np.square(z[:, column]) / np.square(z).sum(axis=1)
        assert accepts(sample, share, alpha=ALPHA / 3).passes
    twin = rounded_laplace(FINE, z.size, Seeded(4)).reshape(z.shape) / FINE
    sample = np.square(twin[:, 0]) / np.square(twin).sum(axis=1)
    assert not accepts(sample, share, alpha=ALPHA).passes


def test_max_norm_points_are_uniform_on_the_sides_of_a_cube() -> None:
    z = fine(MaxNorm, 3, 60_000, seed=5)
    side = np.abs(z).argmax(axis=1)
    rows = np.arange(len(z))
    sides = DiscreteLaw.of(dict.fromkeys(range(6), 1 / 6))
    assert accepts(2 * side + (z[rows, side] > 0), sides, alpha=ALPHA / 3).passes
    for other in (1, 2):
        place = z[rows, (side + other) % 3] / largest(z) / 2 + 0.5
        assert accepts(place, UNIFORM, alpha=ALPHA / 3).passes


def laplace_law(scale: float) -> DiscreteLaw:
    def mass(k: int) -> float:
        if k == 0:
            return -math.expm1(-0.5 / scale)
        return -math.exp(-(abs(k) - 0.5) / scale) * math.expm1(-1 / scale) / 2

    reach = math.ceil(40 * scale)
    return DiscreteLaw.on_integers(mass, low=-reach, high=reach)


@pytest.mark.parametrize("kind", LENGTHS)
@pytest.mark.parametrize("scale", [0.4, 3])
@pytest.mark.parametrize("bits", [63, 6, 1])
def test_on_the_line_both_are_rounded_laplace_noise(kind: Kind, scale: float, bits: int) -> None:
    law = kind(Fraction(scale), 1, bits)
    result = three_sided(
        lambda size: law.draw(size, Seeded(6)).ravel(),
        laplace_law(scale),
        [laplace_law(0.8 * scale), laplace_law(1.25 * scale)],
        alpha=ALPHA,
    )
    assert result.passes, result


REACH = 6


def pair_law(kind: Kind, scale: float) -> DiscreteLaw:
    """Planar masses of unit cells by Gauss's rule on 16 parts a side; -1 stands for elsewhere."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    offsets = ((np.arange(16)[:, None] + (nodes + 1) / 2) / 16 - 0.5).ravel()
    weight = np.tile(weights / 32, 16)
    constant = 2 * math.pi if kind is Euclidean else 8.0
    masses = {}
    for i, (a, b) in enumerate(product(range(-REACH, REACH + 1), repeat=2)):
        x, y = np.meshgrid(a + offsets, b + offsets)
        size = np.hypot(x, y) if kind is Euclidean else np.maximum(np.abs(x), np.abs(y))
        density = np.exp(-size / scale) / (constant * scale**2)
        masses[i] = float(weight @ density @ weight)
    masses[-1] = 1 - sum(masses.values())
    return DiscreteLaw.of(masses)


def coded(z: NDArray[np.int64]) -> NDArray[np.int64]:
    inside = (np.abs(z) <= REACH).all(axis=1)
    return np.where(inside, (z[:, 0] + REACH) * (2 * REACH + 1) + z[:, 1] + REACH, -1)


@pytest.mark.parametrize("kind", LENGTHS)
@pytest.mark.parametrize("bits", [63, 4])
def test_rounded_pairs_have_the_masses_of_their_cells(kind: Kind, bits: int) -> None:
    law = kind(Fraction(3, 4), 2, bits)
    wrong = [pair_law(kind, 0.6), pair_law(kind, 0.9375)]
    wrong += [pair_law(MaxNorm if kind is Euclidean else Euclidean, 0.75)]
    result = three_sided(
        lambda size: coded(law.draw(size, Seeded(7))), pair_law(kind, 0.75), wrong, alpha=ALPHA
    )
    assert result.passes, result


@pytest.mark.parametrize("kind", LENGTHS)
@pytest.mark.parametrize("dimension", [1, 2, 50])
def test_double_precision_and_integers_agree(kind: Kind, dimension: int) -> None:
    """The same bits at 2**45 times the scale are rounded by integers alone."""
    scale = Fraction(1001, 3)
    z = kind(scale, dimension).draw(1000, Seeded(8))
    fine_z = kind(scale * 2**45, dimension).draw(1000, Seeded(8))
    for coarse, finer in zip(z.ravel().tolist(), fine_z.ravel().tolist(), strict=True):
        assert abs(2**46 * coarse - 2 * finer) <= 2**45 + 1


@pytest.mark.parametrize("kind", LENGTHS)
def test_what_few_bits_decide_more_bits_confirm(kind: Kind) -> None:
    law = kind(Fraction(5, 3), 1)
    rng = np.random.default_rng(9)
    decided = 0
    for free, *radial in rng.integers(0, 128, (2000, 1 + law.radials)).tolist():
        low, high = sum(w * w for w in radial), sum((w + 1) ** 2 for w in radial)
        least = (law.twice(free, low, 4) + 1) // 2
        if least != (law.twice(free + 1, high, 4) + 1) // 2:
            continue
        decided += 1
        for extra in rng.integers(0, 1 << 40, (5, 1 + law.radials)).tolist():
            word, *words = ((w << 40) + e for w, e in zip((free, *radial), extra, strict=True))
            square = sum(w * w for w in words)
            assert (law.twice(word, square, 44) + 1) // 2 == least
    assert decided > 100


@pytest.mark.parametrize("bits", [63, 3, 1])
def test_normals_are_normal_to_their_last_revealed_bit(bits: int) -> None:
    """With few bits, most places are judged by integers; what those revealed is not lost."""
    drawn = normals(20_000, bits, Seeded(10))
    assert bits == 63 or drawn.deeper
    words = drawn.list_known_bits(0, 20_000)
    rng = np.random.default_rng(11)
    unseen = rng.random(len(words))
    value = np.array([(w + u) / (8 << b) for (w, b), u in zip(words, unseen, strict=True)])
    sample = np.where(drawn.negative, -value, value)
    law = ContinuousLaw(ndtr)
    assert accepts(sample, law, alpha=ALPHA).passes
    assert not accepts(sample, scaled(law, 1.25), alpha=ALPHA).passes
    assert not accepts(sample, scaled(law, 0.8), alpha=ALPHA).passes


def test_uniforms_fill_their_interval() -> None:
    drawn = uniforms(20_000, 63, Seeded(12))
    value = np.where(drawn.negative, -drawn.rough(), drawn.rough()) / 2 + 0.5
    assert accepts(value, UNIFORM, alpha=ALPHA).passes


@pytest.mark.parametrize("bits", [16, 64, 256])
def test_cells_are_enclosed(bits: int) -> None:
    surely, maybe = borders(HalfNormalCells(), bits)
    weights = [math.exp(-h * h / 128) for h in range(len(surely))]
    reached = np.cumsum(weights) / sum(weights)
    for low, high, level in zip(surely, maybe, reached, strict=True):
        assert 0 <= high - low <= 2
        assert low / 2**bits <= level + 1e-14
        assert high / 2**bits >= level - 1e-14


@pytest.mark.parametrize("draw", [rounded_euclidean, rounded_max_norm])
def test_coordinates_saturate_with_their_sign(
    draw: Callable[..., NDArray[np.int64]],
) -> None:
    z = draw(1 << 55, 20_000, 2, Seeded(13))
    assert int(z.max()) == SATURATION
    assert int(z.min()) == -SATURATION
    assert draw(5e-324, 2, 50).any() is np.False_


@pytest.mark.parametrize("draw", [rounded_euclidean, rounded_max_norm])
def test_no_noise_no_draws_and_refusals(draw: Callable[..., NDArray[np.int64]]) -> None:
    assert draw(3, 2, 4, Noiseless()).tolist() == [[0, 0]] * 4
    assert draw(3, 2, 0).shape == (0, 2)
    assert draw(3, 5, 7).dtype == np.int64
    for scale, dimension in ((0, 2), (1, 0), (1, 1.5), (2**55 + 1, 2)):
        with pytest.raises(InvalidParameter):
            draw(scale, dimension, 1)
