"""The triangle inequality of Rényi curves bounds both directions of a chain of two steps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting.rdp.chain import ChainCurve, _best, replaced, triangle
from discreet.accounting.rdp.curve import RenyiCurve
from discreet.accounting.rdp.gaussian import GaussianCurve
from discreet.accounting.rdp.laplace import LaplaceCurve
from discreet.accounting.rdp.response import ResponseCurve

ORDERS = np.array([1.5, 2.0, 4.0, 17.0])
PAIRS: list[tuple[RenyiCurve, RenyiCurve]] = [
    (LaplaceCurve(2.0), GaussianCurve(Fraction(1, 50))),
    (ResponseCurve(1.0), LaplaceCurve(0.1)),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_chain_is_no_cheaper_than_either_way_round(first: RenyiCurve, second: RenyiCurve) -> None:
    chained = ChainCurve(first, second).bounds(ORDERS)
    there, back = _best(first, second, ORDERS), _best(second, first, ORDERS)
    assert (chained >= there).all()
    assert (chained >= back).all()
    assert (chained == np.maximum(there, back)).all()
    assert not np.allclose(there, back), "the two ways differ here"
    assert (ChainCurve(second, first).bounds(ORDERS) == chained).all()


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
@pytest.mark.parametrize("shifts", [(1.0, 1.0), (0.5, 2.0)])
def test_normal_laws_in_a_row_are_bounded_by_the_chain(
    order: float, shifts: tuple[float, float]
) -> None:
    """Divergence of N(a + b, 1) from N(0, 1) is order (a + b)**2 / 2, and attained at best."""
    a, b = shifts
    curves = [GaussianCurve(Fraction(s) ** 2 / 2) for s in shifts]
    truth = order * (a + b) ** 2 / 2
    found = float(ChainCurve(curves[0], curves[1])(np.array([order]))[0])
    assert truth * (1 - 1e-12) <= found <= truth * 1.01
    for pivot in (order * 1.1, order * 2, order * 10):
        assert triangle(curves[0], curves[1], order, pivot) >= truth * (1 - 1e-12)


def test_replacing_is_removing_and_adding() -> None:
    unit = GaussianCurve(Fraction(1, 2))
    assert float(replaced(unit)(np.array([2.0]))[0]) == pytest.approx(4.0, rel=1e-3)
    assert replaced(LaplaceCurve(0.5)).ceiling >= 1.0
    assert math.isinf(replaced(unit).ceiling)
