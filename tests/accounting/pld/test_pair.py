"""Dominating pairs: the laws they claim, that they dominate, and their tables from both sides."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from discreet.accounting.pld.discretise import (
    LossTable,
    _ordered,
    exact_step,
    from_above,
    from_below,
)
from discreet.accounting.pld.pair import (
    AtomicPair,
    BoundedRangePair,
    DominatingPair,
    LaplacePair,
    NormalPair,
    response_pair,
)
from discreet.accounting.pld.sampled_pair import Removed, Replaced, Reversed

Array = NDArray[np.float64]
Curve = Callable[[float], float]


def normal_curve(mu: float) -> Curve:
    def curve(e: float) -> float:
        return float(
            stats.norm.cdf(mu / 2 - e / mu) - math.exp(e) * stats.norm.cdf(-mu / 2 - e / mu)
        )

    return curve


def laplace_curve(loss: float) -> Curve:
    """For -loss <= e <= loss: 1 - exp((e - loss)/2)."""

    def curve(e: float) -> float:
        if e >= loss:
            return 0.0
        return -math.expm1(e) if e < -loss else -math.expm1((e - loss) / 2)

    return curve


def bounded_range_curve(loss: float) -> Curve:
    def curve(e: float) -> float:
        if e >= loss:
            return 0.0
        return -math.expm1(e) if e < -loss else math.expm1((e - loss) / 2) ** 2 / -math.expm1(-loss)

    return curve


@pytest.mark.parametrize("loss", [0.1, 1.0, 5.0])
def test_bounded_range_is_the_supremum_over_two_point_pairs(loss: float) -> None:
    """With losses t and t - loss, for t from 0 to the loss."""
    t = np.linspace(0, loss, 200001)
    p = np.expm1(t - loss) / math.expm1(-loss)
    for e in np.linspace(-1.2 * loss, 1.2 * loss, 25).tolist():
        upper = p * np.maximum(-np.expm1(e - t), 0)
        lower = (1 - p) * np.maximum(-np.expm1(e - t + loss), 0)
        best = float((upper + lower).max())
        assert best == pytest.approx(bounded_range_curve(loss)(e), abs=1e-9)


def response_curve(loss: float, slack: float = 0.0) -> Curve:
    def curve(e: float) -> float:
        truth = 1 / (1 + math.exp(-loss))
        gap = truth * max(0.0, -math.expm1(e - loss))
        gap += (1 - truth) * max(0.0, -math.expm1(e + loss))
        return slack + (1 - slack) * gap

    return curve


def sampled(base: Curve, rate: float) -> Curve:
    """Advanced joint convexity, exact for the mixture (1 - q) Q + q P against Q (004a:E1)."""

    def curve(e: float) -> float:
        inner = 1 + math.expm1(e) / rate
        return rate * base(math.log(inner)) if inner > 0 else -math.expm1(e)

    return curve


def turned(base: Curve) -> Curve:
    """The curve of (Q, P)."""
    return lambda e: -math.expm1(e) + math.exp(e) * base(-e)


def replaced(base: Curve, rate: float) -> Curve:
    up = sampled(base, rate)
    down = turned(sampled(turned(base), rate))
    return lambda e: up(e) if e >= 0 else down(e)


BASES: list[tuple[DominatingPair, Curve]] = [
    (NormalPair(0.3), normal_curve(0.3)),
    (NormalPair(1.0), normal_curve(1.0)),
    (NormalPair(6.0), normal_curve(6.0)),
    (LaplacePair(0.1), laplace_curve(0.1)),
    (LaplacePair(2.0), laplace_curve(2.0)),
    (LaplacePair(20.0), laplace_curve(20.0)),
    (BoundedRangePair(0.1), bounded_range_curve(0.1)),
    (BoundedRangePair(3.0), bounded_range_curve(3.0)),
    (response_pair(0.7), response_curve(0.7)),
    (response_pair(40.0), response_curve(40.0)),
    (response_pair(1.0, 1e-3), response_curve(1.0, 1e-3)),
]
RATES = (1e-6, 0.01, 0.3, 0.999)
PAIRS: list[tuple[DominatingPair, Curve]] = [
    *BASES,
    *((Removed(pair, q), sampled(curve, q)) for pair, curve in BASES for q in RATES),
    *(
        (Reversed(Removed(pair, q)), turned(sampled(curve, q)))
        for pair, curve in BASES
        for q in RATES
    ),
    *((Replaced(pair, q), replaced(curve, q)) for pair, curve in BASES for q in RATES),
]
IDS = [repr(pair) for pair, _ in PAIRS]


def curve_of(table: LossTable, epsilon: float) -> float:
    ahead = np.maximum(table.losses - epsilon, 0.0)
    return table.infinite + float((table.masses * -np.expm1(-ahead)).sum())


def whole(pair: DominatingPair) -> tuple[float, float]:
    """All of P, and all of Q that P has a share in."""
    p_above, q_above = (float(side[0]) for side in pair.above(np.zeros(1)))
    p_below, q_below = (float(side[0]) for side in pair.below(np.zeros(1)))
    z, p = pair.atoms().T
    total = p_above + p_below + float(p.sum()) + pair.unbounded()
    return total, q_above + q_below + float((p * np.exp(-z)).sum())


@pytest.mark.parametrize(("pair", "curve"), PAIRS, ids=IDS)
def test_probabilities_add_up(pair: DominatingPair, curve: Curve) -> None:
    p, q = whole(pair)
    assert p == pytest.approx(1, abs=1e-12)
    # A symmetric pair's Q misses what its P has at infinity; a sampled one's misses nothing.
    missing = pair.unbounded()
    if isinstance(pair, Removed):
        missing = 0.0
    if isinstance(pair, Reversed):
        missing = pair.base.unbounded()
    assert q == pytest.approx(1 - missing, abs=1e-12)
    assert pair.distance() == pytest.approx(curve(0.0), rel=1e-6, abs=1e-14)


@pytest.mark.parametrize(("pair", "curve"), PAIRS, ids=IDS)
def test_tails_give_the_curve(pair: DominatingPair, curve: Curve) -> None:
    low, high = pair.reach(1e-12)
    z, p = pair.atoms().T
    for e in np.linspace(low - 0.1, high + 0.1, 41).tolist():
        p_above, q_above = (float(side[0]) for side in pair.above(np.array([e])))
        atoms = float((p * -np.expm1(-np.maximum(z - e, 0.0))).sum())
        found = p_above - math.exp(e) * q_above + atoms + pair.unbounded()
        assert found == pytest.approx(curve(e), rel=1e-7, abs=1e-11)


@pytest.mark.parametrize(("pair", "curve"), PAIRS, ids=IDS)
def test_tables_enclose_the_curve(pair: DominatingPair, curve: Curve) -> None:
    """At all epsilons, negative ones too, as composition asks for."""
    low, high = pair.reach(1e-14)
    farthest = max(abs(low), abs(high))
    for parts in (3, 50, 1000):
        step = exact_step(farthest / parts, farthest)
        above, below = from_above(pair, step, 1e-14), from_below(pair, step, 1e-14)
        for e in np.linspace(low - 0.5, high + 0.5, 200).tolist():
            truth, slack = curve(e), 1e-13 * (1 + math.exp(min(e, 20.0)))
            assert curve_of(above, e) >= truth - slack
            assert curve_of(below, e) <= truth + slack
        total = float(above.masses.sum()) + above.infinite
        assert total == pytest.approx(1, abs=1e-8 + 1e-12 / step)
        assert total >= 1 - 1e-15


@pytest.mark.parametrize(
    "pair", [pair for pair, _ in PAIRS if 0.01 < max(map(abs, pair.reach(1e-12))) < 15]
)
def test_tables_get_closer_in_second_order(pair: DominatingPair) -> None:
    """Of the mean loss, which decides about large compositions."""
    low, high = pair.reach(1e-12)
    farthest = max(abs(low), abs(high))
    step = exact_step(farthest / 2000, farthest)
    above, below = from_above(pair, step, 1e-12), from_below(pair, step, 1e-12)
    means = [float((table.masses * table.losses).sum()) for table in (below, above)]
    assert means[0] <= means[1]
    if not len(pair.atoms()):
        assert means[1] - means[0] <= 10 * step**2 + 40 * step**2 / farthest + 1e-13


def test_rounded_cells_never_raise_the_curve() -> None:
    """Cells out of order, as rounding makes them, join others below the same suffix sums."""
    random = np.random.default_rng(3)
    for _ in range(200):
        x = np.exp(np.linspace(-1, 1, 12))
        p = random.exponential(size=11) * random.choice([1e-3, 1.0], 11)
        q = p / np.sqrt(x[1:] * x[:-1]) * np.exp(random.normal(scale=0.2, size=11))
        q[random.integers(11)] *= -1
        p_new, q_new = _ordered(p, q, x)
        assert (p_new >= x[:-1] * q_new).all()
        assert (p_new <= x[1:] * q_new * (1 + 1e-12)).all()
        for level in np.linspace(0, 4, 50):
            after = np.maximum(p_new - level * q_new, 0).sum()
            before = max(0.0, np.cumsum((p - level * q)[::-1]).max())
            assert after <= before + 1e-12


def test_the_error_of_ndtr_is_within_its_bound() -> None:
    """``NormalPair.rounding`` rests on it: fifty digits against SciPy."""
    from decimal import Decimal

    from scipy.special import ndtr

    from tests.accounting.normal import distribution

    for x in np.linspace(-12, 6, 181).tolist():
        exact = distribution(Decimal(x), 60)
        error = abs(Decimal(float(ndtr(x))) - exact) / exact
        assert error <= 2.0**-52 * (16 + 4 * min(x, 0.0) ** 2)


def test_powers_of_spectra_are_within_their_bound() -> None:
    """Complex powers, against products of exact rationals."""
    from fractions import Fraction

    random = np.random.default_rng(11)
    for times in (2, 3, 99, 101, 1000):
        for angle in random.uniform(-math.pi, math.pi, 5):
            radius = math.exp(-random.uniform(0, 30) / times)
            value = radius * complex(math.cos(angle), math.sin(angle))
            power = complex((np.array([value]) ** times)[0])
            real, imag = Fraction(1), Fraction(0)
            a, b = Fraction(value.real), Fraction(value.imag)
            for _ in range(times):
                real, imag = real * a - imag * b, real * b + imag * a
                real, imag = (Fraction(int(each * 2**400), 2**400) for each in (real, imag))
            error = abs(
                complex(float(Fraction(power.real) - real), float(Fraction(power.imag) - imag))
            )
            assert error <= 8 * times * 2.0**-52 * abs(power)


def hockey_stick(p: Array, q: Array, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


@pytest.mark.parametrize(("loss", "moves"), [(1.0, (1, 2)), (0.6, (1, 1)), (2.0, (1, 1, 1))])
def test_one_coordinate_dominates_geometric_vectors(loss: float, moves: tuple[int, ...]) -> None:
    """All ways to spread a shift over coordinates, on the product law, both directions."""
    steps = sum(moves)
    a = math.exp(-loss / steps)
    reach = 100 if len(moves) < 3 else 40
    x = np.arange(-reach, reach + 1)

    def law(shift: int) -> Array:
        return a ** np.abs(x - shift) * (1 - a) / (1 + a)

    def joint(shifts: tuple[int, ...]) -> Array:
        out: Array = law(shifts[0])
        for shift in shifts[1:]:
            out = np.multiply.outer(out, law(shift))
        return out

    one = (joint((steps, *(0 for _ in moves[1:]))), joint(tuple(0 for _ in moves)))
    for signs in itertools.product((1, -1), repeat=len(moves)):
        spread = joint(tuple(s * m for s, m in zip(signs, moves, strict=True)))
        for e in np.linspace(-loss, loss, 21).tolist():
            assert hockey_stick(spread, one[1], e) <= hockey_stick(*one, e) + 1e-9
            assert hockey_stick(one[1], spread, e) <= hockey_stick(one[1], one[0], e) + 1e-9


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_one_coordinate_dominates_laplace_vectors(share: float) -> None:
    """Two coordinates moved by share and 1 - share of the sensitivity, by integration."""
    loss = 1.5
    for e in (-0.9, 0.0, 0.4, 1.0):

        def inside(x: float, e: float = e) -> float:
            """Over the first coordinate, the curve of the second at what is left of epsilon."""
            first = loss * (abs(x - share) - abs(x))
            density = loss / 2 * math.exp(-loss * abs(x - share))
            return density * laplace_curve(loss * (1 - share))(e + first)

        both = integrate.quad(inside, -20, 20, points=[0, share], limit=400)[0]
        assert both <= laplace_curve(loss)(e) + 1e-9


@pytest.mark.parametrize("loss", [0.1, 1.0, 5.0])
def test_bounded_range_contains_exponential_mechanisms(loss: float) -> None:
    """Scores that move by up to the sensitivity: never above the envelope."""
    random = np.random.default_rng(5)
    pair = BoundedRangePair(loss)
    for _ in range(300):
        size = int(random.integers(2, 6))
        scores = random.uniform(-3, 3, size)
        moved = scores + random.choice([-0.5, 0.5], size) * loss
        p, q = (np.exp(s - s.max()) / np.exp(s - s.max()).sum() for s in (scores, moved))
        for e in np.linspace(-loss, loss, 9).tolist():
            above_p, above_q = (float(side[0]) for side in pair.above(np.array([e])))
            assert hockey_stick(p, q, e) <= above_p - math.exp(e) * above_q + 1e-12


def test_fixed_size_samples_of_gaussians() -> None:
    """modern-learn:8: the pair is attained by one differing record among equal others."""
    size, of, multiplier = 1, 10, 1.0
    rate, mu = size / of, 2 / multiplier
    x = np.linspace(-12, 14, 20001)
    p = (1 - rate) * stats.norm.pdf(x) + rate * stats.norm.pdf(x, mu)
    q = stats.norm.pdf(x)
    pair = Replaced(NormalPair(mu), rate)
    for e in (0.0, 0.2, 1.0, 3.0):
        attained = integrate.trapezoid(np.maximum(p - math.exp(e) * q, 0), x)
        above_p, above_q = (float(side[0]) for side in pair.above(np.array([e])))
        assert above_p - math.exp(e) * above_q == pytest.approx(attained, abs=1e-7)


def test_symmetric_pairs_are_symmetric() -> None:
    for pair, curve in BASES:
        assert pair.reversed() is pair
        low, high = pair.reach(1e-9)
        for e in np.linspace(low, high, 9).tolist():
            if pair.unbounded() or e > 10:
                continue
            assert turned(curve)(e) == pytest.approx(curve(e), rel=1e-6, abs=1e-9)
    removed = Removed(NormalPair(1.0), 0.1)
    assert removed.reversed().reversed() is removed
    assert isinstance(AtomicPair((1.0,), (1.0,)), DominatingPair)
