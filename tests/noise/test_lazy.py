"""Continuous Laplace variables, revealed in pieces, have the law of those drawn whole."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import ContinuousLaw, DiscreteLaw, accepts
from discreet.noise import LazyLaplace, Noiseless, Seeded, rounded_laplace
from tests.noise.oracle import SUITE, Floats, Told, told_integer

SCALES = [Fraction(1, 5), Fraction(1), Fraction(7, 2), Fraction(1000)]


def middle(variable: LazyLaplace) -> float:
    low, high = variable.bounds()
    return float((low + high) / 2)


@pytest.mark.parametrize("rounded", [0, 1, -1, 5, -3])
@pytest.mark.parametrize("scale", SCALES)
def test_given_its_cell_a_variable_has_the_conditional_law(
    rounded: int, scale: Fraction, request: pytest.FixtureRequest
) -> None:
    source, s = Seeded(51), float(scale)
    sample = []
    for _ in range(1500):
        variable = LazyLaplace(rounded, scale, source)
        variable.refine()
        sample.append(middle(variable))
    width = 0.5 if rounded == 0 else 1.0
    start = 0.0 if rounded == 0 else abs(rounded) - 0.5

    def cdf(x: Floats) -> Floats:
        into = np.clip(np.abs(x) - start, 0, width)
        part = np.expm1(-into / s) / np.expm1(-width / s)
        if rounded == 0:
            return np.asarray(0.5 + np.sign(x) * part / 2)
        inside = np.where(x > 0, part, 0.0) if rounded > 0 else np.where(x < 0, 1 - part, 1.0)
        return np.asarray(inside)

    assert accepts(
        np.array(sample), ContinuousLaw(cdf), alpha=SUITE.alpha(request.node.nodeid)
    ).passes


def test_cell_and_place_together_are_continuous_noise(request: pytest.FixtureRequest) -> None:
    scale, source = Fraction(3, 2), Seeded(52)
    cells = rounded_laplace(scale, 4000, source)
    sample = []
    for cell in cells.tolist():
        variable = LazyLaplace(cell, scale, source)
        variable.refine()
        sample.append(middle(variable))

    def cdf(x: Floats) -> Floats:
        tail = np.exp(-np.abs(x) / 1.5) / 2
        return np.where(x < 0, tail, 1 - tail)

    alpha = SUITE.alpha(request.node.nodeid)
    assert accepts(np.array(sample), ContinuousLaw(cdf), alpha=alpha).passes
    assert not accepts(np.array(sample), ContinuousLaw(lambda x: cdf(1.25 * x)), alpha=alpha).passes


def test_the_sign_of_a_zero_cell_is_fair(request: pytest.FixtureRequest) -> None:
    source = Seeded(53)
    signs = [LazyLaplace(0, Fraction(2), source).bounds()[0] < 0 for _ in range(5000)]
    law = DiscreteLaw.of({True: 0.5, False: 0.5})
    assert accepts(signs, law, alpha=SUITE.alpha(request.node.nodeid)).passes


@pytest.mark.parametrize("rounded", [0, 1, -1, 2**62, -(2**62)])
@pytest.mark.parametrize("scale", [*SCALES, Fraction(1 << 55)])
def test_bounds_nest_and_stay_in_the_cell(rounded: int, scale: Fraction) -> None:
    variable = LazyLaplace(rounded, scale, Seeded(54))
    low, high = variable.bounds()
    assert rounded - Fraction(1, 2) <= low < high <= rounded + Fraction(1, 2)
    width = high - low
    assert width == (Fraction(1, 2) if rounded == 0 else 1)
    for depth in range(1, 6):
        variable.refine()
        closer_low, closer_high = variable.bounds()
        assert low <= closer_low < closer_high <= high
        assert closer_high - closer_low == width / 2 ** (32 * depth)
        low, high = closer_low, closer_high


def test_no_bits_are_drawn_before_they_are_asked_for() -> None:
    source = Told()
    LazyLaplace(4, Fraction(2), source).bounds()
    assert not source.given
    LazyLaplace(0, Fraction(2), source).bounds()
    assert len(source.given) == 1


def test_a_place_is_kept_with_probability_exp_of_its_depth_in_the_cell() -> None:
    """Rejection at the one threshold exp(-place * step / scale), word by word."""
    scale, place = Fraction(1), 3 << 30  # three quarters into the cell
    chance = int(Fraction(np.exp(-0.75)) * 2**64)
    for word, kept in [(chance - 2**20, True), (chance + 2**20, False)]:
        told = [told_integer(place, 32), word.to_bytes(8, "little"), told_integer(0, 32), bytes(8)]
        variable = LazyLaplace(5, scale, Told(told))
        variable.refine()
        near = variable.bounds()[0] - Fraction(9, 2)
        assert near == (Fraction(3, 4) if kept else 0)


def test_later_places_are_flatter_but_not_flat(request: pytest.FixtureRequest) -> None:
    """At scale 2**-28 of a step, the second 32 bits still fall by exp(-1/16)."""
    scale, source = Fraction(1, 1 << 28), Seeded(55)
    sample = []
    for _ in range(2000):
        variable = LazyLaplace(1, scale, source)
        variable._bits = 32  # as if the first bits had come out zero
        variable.refine()
        sample.append((variable.bounds()[0] - Fraction(1, 2)) * 2**35 // 1)
    fall = np.exp(-np.arange(8) / 8 / 16)
    law = DiscreteLaw.of(dict(enumerate((fall / fall.sum()).tolist())))
    assert accepts([int(x) for x in sample], law, alpha=SUITE.alpha(request.node.nodeid)).passes


def test_without_randomness_a_variable_stays_at_the_near_end_of_its_cell() -> None:
    variable = LazyLaplace(3, Fraction(2), Noiseless())
    variable.refine()
    assert variable.bounds()[0] == Fraction(5, 2)
