"""The sampled Gaussian's quadrature, made so coarse that its own error terms must carry it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting.rdp import sampled_gaussian
from discreet.accounting.rdp.sampled_gaussian import log_surplus


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("digits", [1.0, 3.0, 8.0])
def test_a_coarse_rule_is_still_a_bound(
    mu: float, rate: float, digits: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few nodes that end close to the bulk: what they miss is added, and never less than that."""
    orders = np.array([1.3, 2.0, 3.0, 4.5])
    fine = np.array([log_surplus(mu, rate, np.array([order]))[0] for order in orders])
    monkeypatch.setattr(sampled_gaussian, "_DIGITS", digits)
    coarse = np.array([log_surplus(mu, rate, np.array([order]))[0] for order in orders])
    assert (coarse >= fine - 1e-9).all()
    assert (coarse <= fine + 3.0).all()


@pytest.mark.parametrize("step", [1.5, 2.0, 2.5])
@pytest.mark.parametrize("mu", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("rate", [0.001, 0.5])
def test_what_a_wide_step_does_not_resolve_is_added(
    mu: float, rate: float, step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Poisson's formula: the rule errs by its share of every term, not of their difference.

    With nodes 2 apart the sum of u**2 under the normal density is an eighth too small.
    """

    def wide(mu: float, precision: float) -> tuple[float, float]:
        strip = min(math.pi / mu, 2 * math.pi / step)
        exponent = 2 * math.pi * strip / step
        return step, math.log(2) + strip**2 / 2 - exponent - math.log1p(-math.exp(-exponent))

    monkeypatch.setattr(sampled_gaussian, "_step", wide)
    for order in (2, 3, 5):
        surplus = sum(
            math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * math.expm1(mu * mu * c)
            for k in range(2, order + 1)
            for c in [k * (k - 1) / 2]
        )
        assert log_surplus(mu, rate, np.array([float(order)]))[0] >= math.log(surplus)
