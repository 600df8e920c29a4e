"""Buffered linear Toeplitz counters err as the literature has it, and floors stay within bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.noise import Noiseless
from discreet.streams.contribution import EventContribution
from discreet.streams.factorisation.buffered import BufferedToeplitzCounter
from discreet.streams.factorisation.buffers import LIMB, LIMBS, decayed, raised, weighed
from discreet.streams.factorisation.optimum import ErrorObjective
from discreet.streams.factorisation.toeplitz import BITS, ToeplitzCounter
from discreet.streams.planning import plan
from discreet.streams.resume import from_state
from discreet.streams.units import EventLevel
from tests.streams.counters import NORMAL
from tests.streams.test_sensitivity import _released

ONE = 1 << LIMB


@pytest.mark.parametrize(
    ("horizon", "buffers", "largest"),
    [
        (1024, 2, 3.3298),
        (1024, 3, 3.2776),
        (1024, 4, 3.2729),
        (16384, 2, 4.4292),
        (16384, 3, 4.2032),
        (16384, 4, 4.1629),
    ],
)
def test_errors_are_those_of_the_catalogue(horizon: int, buffers: int, largest: float) -> None:
    counter = BufferedToeplitzCounter(
        horizon=horizon, buffers=buffers, spend=NORMAL, unit=EventLevel()
    )
    # Printed to four digits; floors add less than a thousandth of a per cent here.
    assert math.sqrt(counter.variance(horizon)) <= largest * (1 + 1e-4) + 5e-5
    assert (np.diff(counter.coefficients) <= 0).all()
    assert counter.memory() == counter.open().memory() == 8 * (5 * buffers + 2)


def test_the_mean_is_lower_where_it_was_asked_for() -> None:
    def mean(objective: ErrorObjective) -> float:
        counter = BufferedToeplitzCounter(
            horizon=1024, buffers=4, spend=NORMAL, unit=EventLevel(), objective=objective
        )
        squares = np.cumsum(counter.errors**2) * counter.noise.distribution.std**2
        return math.sqrt(squares.mean())

    found = mean(ErrorObjective.MEAN)
    assert found < mean(ErrorObjective.LARGEST) - 0.02
    root = ToeplitzCounter(horizon=1024, spend=NORMAL, unit=EventLevel())
    assert found < math.sqrt((np.cumsum(root.errors**2)).mean()) * root.noise.distribution.std


def test_a_plan_finds_them_where_memory_is_short() -> None:
    given = {"horizon": 16384, "spend": NORMAL, "unit": EventLevel()}
    short = plan(memory=200, **given)  # type: ignore[arg-type]
    assert isinstance(short.best, BufferedToeplitzCounter)
    errors = {each.name: each.error for each in (*short.choices, *short.left_out)}
    assert errors["4 buffers"] < 1.003 * errors["square root"]
    assert errors["4 buffers"] < 0.45 * errors["reduced tree"]


def whole(limbs: NDArray[np.int64]) -> list[int]:
    return [sum(int(each) << LIMB * k for k, each in enumerate(c)) for c in limbs.reshape(4, -1).T]


def test_limbs_compute_as_whole_numbers_do() -> None:
    rng = np.random.default_rng(5)
    sizes, signs = set(), set()
    for _ in range(300):
        bits = int(rng.integers(1, 100))
        values = [int(rng.integers(-(1 << 60), 1 << 60)) << bits >> 60 for _ in range(6)]
        sizes |= {abs(value).bit_length() // 10 for value in values}
        signs |= {value < 0 for value in values}
        limbs = np.zeros((LIMBS, 3, 2), dtype=np.int64)
        flat = limbs.reshape(LIMBS, -1)
        for place, value in enumerate(values):
            flat[:, place] = [value >> LIMB * k & ONE - 1 for k in range(3)] + [value >> 90]
        assert whole(limbs) == values
        factors = rng.integers(0, ONE, (3, 1))
        each = np.broadcast_to(factors, (3, 2)).reshape(-1).tolist()
        less = decayed(limbs, factors)
        assert whole(less) == [v * f >> LIMB for v, f in zip(values, each, strict=True)]
        steps = rng.integers(-(1 << 50), 1 << 50, (3, 2))
        more = whole(raised(less, steps))
        added = [v + (int(s) << LIMB) for v, s in zip(whole(less), steps.ravel(), strict=True)]
        assert more == added
        for k, found in enumerate(weighed(limbs, factors).tolist()):
            pairs = list(zip(values, each, strict=True))[k::2]
            exact = sum((Fraction(v * f, ONE**2) for v, f in pairs), Fraction(0))
            if abs(exact) < 1 << 61:
                assert -1 - Fraction(3, ONE) <= found - exact <= 0
    assert sizes == set(range(10))
    assert signs == {True, False}


def released(counter: BufferedToeplitzCounter, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array(_released(counter, ticks)).reshape(len(ticks), -1)


@pytest.mark.parametrize("buffers", [1, 3, 5])
@pytest.mark.parametrize("horizon", [6, 200])
def test_floors_move_neighbours_no_further_than_is_stated(horizon: int, buffers: int) -> None:
    """What is measured, on histories of all sizes: linear but for ``lost``, within the claim."""
    counter = BufferedToeplitzCounter(
        horizon=horizon, buffers=buffers, spend=NORMAL, unit=EventLevel(), randomness=Noiseless()
    )
    claimed, rng = counter.sensitivity(), np.random.default_rng(horizon * buffers)
    worst = 0.0
    for _ in range(12):
        size = 10 ** int(rng.integers(0, 8))
        ticks = rng.integers(0, size + 1, (horizon, 1))
        at = int(rng.integers(0, horizon))
        more = ticks.copy()
        more[at] += 1
        moved = (released(counter, more) - released(counter, ticks))[:, 0]
        linear = np.zeros(horizon)
        linear[at:] = counter.coefficients[: horizon - at] * (1 << BITS)
        worst = max(worst, float(np.abs(moved - linear).max()))
        assert int(np.abs(moved).sum()) <= claimed.l1
        assert sum(int(each) ** 2 for each in moved) <= claimed.l2_squared
    assert 0 < worst <= counter.lost + 1e-6  # floors do act, and within their bound


def test_factors_that_would_rise_are_refused() -> None:
    given = {"horizon": 8, "buffers": 1, "spend": NORMAL, "unit": EventLevel()}
    for factors in ([[ONE, 0]], [[3, -1]], [[0.5, 0.5]], [[1, 2], [3, 4]], "ab", [[1]], 7):
        with pytest.raises(InvalidParameter, match="coefficients_rise"):
            BufferedToeplitzCounter(factors=factors, **given)  # type: ignore[arg-type]
    two = {**given, "buffers": 2}
    with pytest.raises(InvalidParameter, match="coefficients_rise"):
        BufferedToeplitzCounter(factors=((9, ONE - 1), (9, 9)), **two)  # type: ignore[arg-type]
    for wrong in (0, 7):
        with pytest.raises(InvalidParameter, match="not_a_count"):
            BufferedToeplitzCounter(**{**given, "buffers": wrong})  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="horizon_too_long"):
        BufferedToeplitzCounter(**{**given, "horizon": 1 << 23})  # type: ignore[arg-type]


def test_a_stream_goes_on_with_its_own_factors() -> None:
    """A state holds its factors: it resumes where a search would find others."""
    counter = BufferedToeplitzCounter(
        horizon=50, buffers=2, spend=NORMAL, unit=EventLevel(), factors=((7 << 25, 1 << 28),) * 2
    )
    live = counter.open()
    live.run(np.ones((20, 1), dtype=np.int64))
    again = from_state(live.state())
    assert again.mechanism == counter  # type: ignore[attr-defined]


def test_events_that_do_not_fit_64_bits_are_refused() -> None:
    counter = BufferedToeplitzCounter(
        horizon=64,
        buffers=2,
        spend=NORMAL,
        unit=EventLevel(),
        contribution=EventContribution.of(bound=1 << 40),
    )
    with pytest.raises(InvalidParameter, match="contribution_too_large"):
        counter.open()
    most = BufferedToeplitzCounter(horizon=64, buffers=2, spend=NORMAL, unit=EventLevel()).largest
    full = BufferedToeplitzCounter(
        horizon=64, buffers=2, spend=NORMAL, unit=EventLevel(), randomness=Noiseless()
    )
    for sign in (1, -1):
        ticks = np.full((64, 1), sign * most)
        assert np.abs(released(full, ticks)).max() < 1 << 61
        assert np.allclose(full.open().run(ticks)[:, 0], np.arange(1, 65) * sign * float(most))
