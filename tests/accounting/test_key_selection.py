"""Deltas of noisy thresholds, where groups are too many to be judged one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting.key_selection import _LISTED, _gaussian_deltas, alone, threshold_delta


@pytest.mark.parametrize(
    ("sigma", "threshold", "groups", "epsilon"),
    [(600.0, 3300, 130_000, 2.0), (400.0, 2200, 100_000, 1.0), (1000.0, 6000, 200_000, 1.0)],
)
def test_stretches_of_groups_are_judged_no_better_than_every_group(
    sigma: float, threshold: int, groups: int, epsilon: float
) -> None:
    assert groups >= _LISTED
    shown = np.arange(groups + 1)
    shows = -np.expm1(shown * math.log1p(-alone(sigma, threshold)))
    hidden = _gaussian_deltas(np.sqrt(groups - shown) / sigma, epsilon)
    each = float(np.max(shows + (1 - shows) * hidden))
    judged = threshold_delta(sigma, threshold, groups, 1, epsilon)
    assert each <= judged <= each * (1 + 1e-4)
