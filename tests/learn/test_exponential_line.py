"""The exponential mechanism on a line: oracles, exact ratios, excess, an audit and its twin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.noise import Noiseless, Seeded


@dataclass(frozen=True)
class Rising(learn.AbsoluteLoss):
    """The loss t."""

    def value(self, t: Floats, y: Floats) -> Floats:
        return t + 0 * y


def line(epsilon: float = 1, source: Any = None, **more: Any) -> learn.ExponentialLine:
    usual: dict[str, Any] = {"loss": learn.AbsoluteLoss(), "low": 0.0, "high": 1.0, "knots": 9}
    privacy = learn.Privacy.from_spend_and_unit(dp.PureDP(epsilon=epsilon), dp.Row(), source)
    return learn.ExponentialLine(**{**usual, **more}, privacy=privacy)


def test_the_printed_excess_of_a_truncated_exponential() -> None:
    """004b:C2: C = [0, 1], loss θ, k = εn/2: n (1/k - 1/(e^k - 1)), 2.000 and 19.3216."""
    for epsilon, printed in ((1.0, 2.000), (0.1, 19.3216)):
        k = epsilon * 100 / 2
        assert 100 * (1 / k - 1 / math.expm1(k)) == pytest.approx(printed, abs=1e-4)
    ones = np.ones(100)
    # Relative to the middle a row's loss is within half of L‖C‖: half of epsilon has the same law.
    drawn = [
        100 * line(0.5, Seeded(seed), loss=Rising(), knots=3).minimise(ones, ones)
        for seed in range(300)
    ]
    assert np.mean(drawn) == pytest.approx(2.0, abs=0.6)  # five deviations


def test_no_row_moves_a_density_by_more_than_epsilon() -> None:
    """Exact: log-densities at knots and between, normalised by the cells' own masses."""
    made = line(1.0)
    rate = float(made._choice.rate())
    places = np.linspace(0, 8, 161)

    def logs(y: Floats) -> Floats:
        heights = made._heights(np.ones((len(y), 1)), y).astype(float)
        joined = -rate * np.interp(places, np.arange(9), heights)
        a, b = -rate * heights[:-1], -rate * heights[1:]
        fall = np.abs(b - a)
        mass = np.exp(np.maximum(a, b)) * np.where(
            fall > 0, -np.expm1(-fall) / np.where(fall > 0, fall, 1), 1
        )
        found: Floats = joined - math.log(mass.sum())
        return found

    rng = np.random.default_rng(0)
    worst = 0.0
    for rows in (0, 1, 5, 40):
        rest = rng.uniform(-0.5, 1.5, rows)
        for new in (-3.0, 0.0, 0.31, 1.0, 9.0, 1e300):
            ratio = logs(np.append(rest, new)) - logs(rest)
            worst = max(worst, float(np.ptp(ratio)), float(np.abs(ratio).max()))
    assert 0.95 < worst <= 1


def test_the_median_is_found_between_the_knots() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(0.37, 0.05, 4000)
    ones = np.ones(4000)
    made = line(2.0, Seeded(2), knots=65)
    found = made.minimise(ones, y)
    assert found == pytest.approx(0.37, abs=0.02)
    assert found * 64 != round(found * 64)
    assert line(1.0, Noiseless(), knots=101).minimise(ones, y) == pytest.approx(0.37, abs=0.011)


def test_the_excess_holds_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    y, ones = rng.uniform(0, 1, 60), np.ones(60)
    made = line(1.0, knots=129)
    bound = made.excess(confidence=0.9)
    best = min(abs(y - place).sum() for place in np.linspace(0, 1, 1001))
    missed = sum(
        abs(y - line(1.0, Seeded(s), knots=129).minimise(ones, y)).sum() - best > bound
        for s in range(60)
    )
    assert (
        missed <= 16
    )  # of 60 at a chance of a tenth at most: once in 1e4 runs, and seeds are fixed
    assert made.excess(confidence=0.99) > bound


def test_what_is_refused_and_what_counts_nowhere() -> None:
    with pytest.raises(InvalidParameter, match="interval_missing"):
        line(low=1.0, high=1.0)
    with pytest.raises(InvalidParameter, match="interval_missing"):
        line(knots=1 << 13)
    bad = np.array([np.nan, np.inf, -np.inf, 1e308])
    assert 0 <= line().minimise(bad, bad) <= 1
    assert 0 <= line().minimise(np.zeros(0), np.zeros(0)) <= 1
    assert isinstance(line(1.0, Seeded(1)).event, dp.events.Unprotected)
