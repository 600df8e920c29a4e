"""The law of flags from above: nothing that was cut or moved makes the analysts' bound smaller."""

from __future__ import annotations

import decimal
import math

import numpy as np
import pytest

from discreet.queries.analysts.flags import hidden_delta, shown_delta, squares_law, zcdp_deltas

CONTEXT = decimal.Context(prec=60)


def poisson_from(rate: float, least: int) -> float:
    """P(N >= least) for a Poisson number, in sixty digits."""
    mean = decimal.Decimal(rate)
    term = CONTEXT.exp(-mean)
    below = decimal.Decimal(0)
    for k in range(least):
        below = CONTEXT.add(below, term)
        term = CONTEXT.divide(CONTEXT.multiply(term, mean), decimal.Decimal(k + 1))
    return float(1 - below)


@pytest.mark.parametrize("rate", [0.01, 1.0, 7.5, 40.0])
def test_with_one_block_large_squares_are_no_rarer_than_they_are(rate: float) -> None:
    """All flags at once: the mean square is N**2, of which everything is known."""
    law = squares_law(rate, 1)
    most = math.isqrt(int(law.squares.max())) + 3
    for least in range(1, most):
        counted = float(law.masses[law.squares >= least**2 * (1 - 1e-9)].sum()) + law.cut
        assert poisson_from(rate, least) <= counted
    assert law.cut > 0, "some number of flags is beyond every list"


def test_squares_are_moved_up_and_never_down() -> None:
    """Two blocks, in exact masses: at least as much beyond every sum of squares."""
    rate = 2.0
    law = squares_law(rate, 2)
    half = [math.exp(-rate / 2) * (rate / 2) ** k / math.factorial(k) for k in range(30)]
    exact: dict[float, float] = {}
    for first, chance in enumerate(half):
        for second, other in enumerate(half):
            square = (first**2 + (first + second) ** 2) / 2
            exact[square] = exact.get(square, 0.0) + chance * other
    for square in sorted(exact):
        truth = sum(mass for at, mass in exact.items() if at >= square)
        counted = float(law.masses[law.squares >= square * (1 - 1e-12)].sum())
        if square:
            assert truth <= counted + law.cut + 1e-13


@pytest.mark.parametrize("curve", [shown_delta, hidden_delta])
def test_what_was_cut_is_part_of_delta_at_every_epsilon(curve: object) -> None:
    assert callable(curve)
    cut = squares_law(1.0).cut
    assert curve(flags=1.0, pull=0.01, epsilon=50.0) >= cut > 0
    law = squares_law(1.0)
    counted = float(law.masses @ zcdp_deltas(0.3**2 / 8 * law.squares, 1.0))
    assert shown_delta(flags=1.0, pull=0.3, epsilon=1.0) >= counted + cut


def test_every_flag_counts_from_its_own_block_on() -> None:
    """The mass of any flag at all is that of the process, and the least square is one block."""
    law = squares_law(0.5, 4)
    assert float(law.masses.sum()) >= -math.expm1(-0.5) - law.cut
    assert law.squares.min() >= 1 / 4
    last = np.isclose(law.squares, 1 / 4, rtol=2e-3)
    only_last = math.exp(-0.375) * math.exp(-0.125) * 0.125
    assert float(law.masses[last].sum()) == pytest.approx(only_last, rel=1e-6)


@pytest.mark.parametrize(("rate", "blocks"), [(40.0, 40), (60.0, 20), (3.0, 40)])
def test_the_mean_square_is_no_smaller_where_squares_are_moved_to_a_grid(
    rate: float, blocks: int
) -> None:
    """K at the end of block b is Poisson of rate b / blocks: its square has a known mean."""
    law = squares_law(rate, blocks)
    means = [rate * (b + 1) / blocks for b in range(blocks)]
    truth = sum(mean + mean**2 for mean in means) / blocks
    assert truth * (1 - 1e-9) <= float(law.masses @ law.squares) <= truth * 1.1
