"""One pair by its own curve: single events are exact, samples of distant losses among them.

The truth is listed with fifty digits (:mod:`tests.accounting.finite`'s way), and shares nothing
with the code but the laws of the mechanisms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

import pytest

from discreet import events
from discreet.accounting import PRIVACY_LOSS
from discreet.accounting.pld.curve import curve_bounds, curve_delta
from discreet.accounting.pld.discretise import from_above
from discreet.accounting.pld.pair import LaplacePair, NormalPair, response_pair
from discreet.accounting.pld.sampled_pair import Removed
from discreet.core.events.event import Event

DIGITS = 60
Outcomes = list[tuple[Decimal, Decimal]]
"""P- and Q-masses."""


def discrete_gaussian(sigma: str) -> Outcomes:
    """Moved by one step."""
    with localcontext() as context:
        context.prec = DIGITS
        spread, far = 2 * Decimal(sigma) ** 2, math.ceil(20 * float(sigma)) + 8
        weights = {x: (-Decimal(x * x) / spread).exp() for x in range(-far, far + 2)}
        whole = sum(weights.values())
        return [(weights[x - 1] / whole, weights[x] / whole) for x in range(1 - far, far + 2)]


def response(epsilon: str, categories: int) -> Outcomes:
    with localcontext() as context:
        context.prec = DIGITS
        odds = Decimal(epsilon).exp()
        lie = 1 / (odds + categories - 1)
        return [(odds * lie, lie), (lie, odds * lie), *[(lie, lie)] * (categories - 2)]


def removed(outcomes: Outcomes, rate: str) -> Outcomes:
    """On a sample that the unit joins at ``rate``."""
    with localcontext() as context:
        context.prec = DIGITS
        q = Decimal(rate)
        return [((1 - q) * b + q * a, b) for a, b in outcomes]


def turned(outcomes: Outcomes) -> Outcomes:
    return [(b, a) for a, b in outcomes]


def gap(outcomes: Outcomes, epsilon: float) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        grown = Decimal(epsilon).exp()
        return sum((max(p - grown * q, Decimal(0)) for p, q in outcomes), Decimal(0))


def both_ways(outcomes: Outcomes, epsilon: float) -> Decimal:
    return max(gap(outcomes, epsilon), gap(turned(outcomes), epsilon))


CASES = [
    pytest.param(events.DiscreteGaussian(1, 1), discrete_gaussian("1"), id="discrete"),
    pytest.param(
        events.DiscreteGaussian(1, 1).subsample(rate=0.125),
        removed(discrete_gaussian("1"), "0.125"),
        id="sampled",
    ),
    pytest.param(
        events.DiscreteGaussian(0.5, 0.5).subsample(rate=2**-10),
        removed(discrete_gaussian("0.5"), "0.0009765625"),
        id="rare and coarse",
    ),
    pytest.param(
        events.DiscreteGaussian(4, 4).subsample(rate=0.5),
        removed(discrete_gaussian("4"), "0.5"),
        id="often and fine",
    ),
    pytest.param(
        events.RandomizedResponse(epsilon=2, categories=5).subsample(rate=0.25),
        removed(response("2", 5), "0.25"),
        id="response",
    ),
]


@pytest.mark.parametrize(("event", "outcomes"), CASES)
def test_single_events_are_exact_and_never_below(event: Event, outcomes: Outcomes) -> None:
    """Within a millionth, over twelve powers of ten; a grid alone is up to 3 % above."""
    for epsilon in (0.0, 1e-4, 0.01, 0.1, 0.3, 0.7, 1.1, 1.9):
        truth = both_ways(outcomes, epsilon)
        found = Decimal(PRIVACY_LOSS.delta(event, epsilon))
        assert found >= truth
        if truth > Decimal("1e-15"):
            assert found <= truth * Decimal("1.000001")
    for delta in (1e-3, 1e-6, 1e-9, 1e-12):
        lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
        assert both_ways(outcomes, upper) <= Decimal(delta)
        assert upper - lower <= 2e-6 * upper + 1e-11
        assert lower == 0 or both_ways(outcomes, lower) > Decimal(delta)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("pair", "curve"),
    [
        (LaplacePair(1.0), lambda e: -math.expm1((e - 1) / 2)),
        (response_pair(1.0, 0.25), lambda e: 0.25 + 0.75 * (math.e - math.exp(e)) / (1 + math.e)),
    ],
)
def test_atoms_and_infinity_count(
    pair: LaplacePair, curve: Callable[[float], float], sign: int
) -> None:
    for epsilon in (0.0, 0.25, 0.5, 0.999):
        found = curve_delta(pair, epsilon, sign)
        assert found == pytest.approx(curve(epsilon), rel=1e-12)
        assert (found - curve(epsilon)) * sign >= -1e-15
    assert curve_bounds(pair, curve(0.5)) == pytest.approx((0.5, 0.5), rel=1e-9)


def test_tails_below_every_float_are_not_none() -> None:
    """Normal noise has no epsilon beyond which there is nothing, on a sample neither."""
    for pair in (NormalPair(1e-3), Removed(NormalPair(1e-3), 0.5)):
        assert 0 < curve_delta(pair, 1.0, 1) < 1e-290
    for event in (events.Gaussian(1000), events.Gaussian(1000).subsample(rate=0.5)):
        assert 0 < PRIVACY_LOSS.delta(event, 5.0) < 1e-290
        assert 0 < PRIVACY_LOSS.delta(event * 3, 5.0) < 1e-290
        assert from_above(event.pld().parts[0][0], 0.01, 1e-320).infinite > 0
    assert PRIVACY_LOSS.delta(events.Laplace(epsilon=1), 1.001) == 0


def test_beyond_floats_nothing_is_known() -> None:
    assert curve_bounds(NormalPair(60.0), 1e-6) == (0, math.inf)
    assert curve_bounds(response_pair(1.0, 0.25), 0.2) == (0, math.inf)
    assert curve_delta(NormalPair(60.0), 1800.0, -1) == 0
