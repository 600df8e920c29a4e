"""Calibration ends on the private side, next to the limit, for any parameter."""

from __future__ import annotations

import pytest

from discreet import events
from discreet.accounting import calibrate, calibrate_count
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event


def test_noise_of_one_gaussian() -> None:
    """004a:B7."""
    found = calibrate(events.Gaussian, epsilon=1, delta=1e-5)
    assert found == pytest.approx(3.73063, abs=5e-5)
    assert events.Gaussian(found).epsilon(delta=1e-5) <= 1


def test_noise_of_a_training_run() -> None:
    def run(z: float) -> Event:
        return events.Gaussian(z).subsample(rate=0.01) * 1000

    found = calibrate(run, epsilon=2, delta=1e-5)
    assert run(found).epsilon(delta=1e-5) <= 2
    assert run(found * (1 - 1e-5)).epsilon(delta=1e-5) > 2
    assert 0.9 < found < 1.0


def test_rate() -> None:
    def run(rate: float) -> Event:
        return events.Gaussian(1.0).subsample(rate=rate) * 100

    found = calibrate(run, epsilon=1, delta=1e-6, start=0.1, most=1)
    assert run(found).epsilon(delta=1e-6) <= 1 < run(found * 1.0001).epsilon(delta=1e-6)


def test_spend() -> None:
    def run(epsilon: float) -> Event:
        return events.Laplace(epsilon=epsilon) * 100

    found = calibrate(run, epsilon=5, delta=1e-6)
    assert run(found).epsilon(delta=1e-6) <= 5 < run(found * 1.0001).epsilon(delta=1e-6)


def test_steps() -> None:
    step = events.Gaussian(1.0).subsample(rate=0.01)
    found = calibrate_count(lambda k: step * k, epsilon=2, delta=1e-5)
    assert (step * found).epsilon(delta=1e-5) <= 2 < (step * (found + 1)).epsilon(delta=1e-5)


def test_counts_never_pass_their_limit() -> None:
    step = events.Laplace(epsilon=0.01)
    for most in (1, 7, 10, 16):
        assert calibrate_count(lambda k: step * k, epsilon=5, delta=0, most=most) == most


def test_every_value_returned_was_priced() -> None:
    """Bounds that are no powers of two: the point next to the limit has been tried itself."""
    tried: list[float] = []

    def make(value: float) -> Event:
        tried.append(value)
        return events.Laplace(epsilon=value)

    found = calibrate(make, epsilon=9.9999999, delta=0, start=3, least=2.9, most=10)
    assert found in tried
    assert found <= 9.9999999


def test_targets_out_of_reach() -> None:
    with pytest.raises(InvalidParameter, match="target_out_of_reach"):
        calibrate(lambda z: events.Laplace(epsilon=1.0), epsilon=0.5, delta=0)
    with pytest.raises(InvalidParameter, match="target_out_of_reach"):
        calibrate(events.Gaussian, epsilon=1, delta=1e-5, most=2)
    with pytest.raises(InvalidParameter, match="target_out_of_reach"):
        calibrate_count(lambda k: events.Laplace(epsilon=1.0) * k, epsilon=0.5, delta=0)
    with pytest.raises(InvalidParameter):
        calibrate(events.Gaussian, epsilon=0, delta=1e-5)
    with pytest.raises(InvalidParameter):
        calibrate(events.Gaussian, epsilon=1, delta=1)
