"""280 random expressions against what dp-accounting and prv-accountant said of them.

Recorded by ``benchmarks/accounting_battery.py``. Our upper value is never below a lower bound of
either, and never above the tighter of their upper bounds by more than a tenth of a per cent or
1e-6. Some recorded bounds lie within rounding of each other and of ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet import events
from discreet.accounting.pld import PRIVACY_LOSS
from discreet.core.events.event import Event

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("battery.json").read_text(encoding="utf-8")
)["cases"]

KINDS: dict[str, Callable[..., Event]] = {
    "gaussian": events.Gaussian,
    "laplace": lambda epsilon: events.Laplace(epsilon=epsilon),
    "discrete": lambda epsilon: events.DiscreteLaplace(epsilon=epsilon, steps=1),
    "approximate": lambda epsilon, delta: events.Approximate(epsilon=epsilon, delta=delta),
    "sampled_gaussian": lambda z, rate: events.Gaussian(z).subsample(rate=rate),
    "sampled_laplace": lambda epsilon, rate: events.Laplace(epsilon=epsilon).subsample(rate=rate),
    "discrete_gaussian": lambda sigma: events.DiscreteGaussian(sigma, sigma),
    "sampled_discrete_gaussian": lambda sigma, rate: events.DiscreteGaussian(
        sigma, sigma
    ).subsample(rate=rate),
}


def expression(case: dict[str, Any]) -> Event:
    return events.compose(
        tuple(KINDS[kind](*values) * times for kind, *values, times in case["parts"])
    )


def known(*values: float | None) -> list[float]:
    return [max(value, 0.0) for value in values if value is not None]


def test_the_battery_is_large_and_varied() -> None:
    assert len(CASES) >= 200
    assert {part[0] for case in CASES for part in case["parts"]} == set(KINDS)
    assert sum(case["microsoft"] is not None for case in CASES) >= 60
    assert sum(case["google_low"] is not None for case in CASES) >= 150
    assert sum(any("discrete_g" in part[0] for part in case["parts"]) for case in CASES) >= 40


@pytest.mark.parametrize("first", range(0, len(CASES), 40))
def test_battery(first: int) -> None:
    for case in CASES[first : first + 40]:
        lower, upper = PRIVACY_LOSS.epsilon_bounds(expression(case), case["delta"])
        low, high = case["microsoft"] or (None, None)
        lows, highs = known(case["google_low"], low), known(case["google_high"], high)
        assert upper >= max(lows, default=0.0) * (1 - 1e-9), case
        assert upper <= max(min(highs) * 1.001, min(highs) + 1e-6), case
        assert lower <= min(highs) * (1 + 1e-9), case
        assert expression(case).epsilon(delta=case["delta"]) <= upper
