"""The sampled Gaussian's quadrature, made so coarse that its own error terms must carry it."""

from __future__ import annotations

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
