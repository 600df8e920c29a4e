"""Mixed composition on a grid: tails that are cut are added to delta, made large enough to see."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from discreet.accounting import mixed
from discreet.accounting.mixed import Copies, mixed_delta, mixed_epsilon

KINDS = ((Fraction(1, 3), 4), (Fraction(1, 2), 3))


def exact_gap(epsilon: float) -> float:
    """The hockey-stick divergence of all answers, by listing them."""
    losses = [float(loss) for loss, k in KINDS for _ in range(k)]
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(losses)):
        z = math.fsum(s * loss for s, loss in zip(signs, losses, strict=True))
        p = math.prod(1 / (1 + math.exp(-s * loss)) for s, loss in zip(signs, losses, strict=True))
        total += p * max(0.0, -math.expm1(epsilon - z))
    return total


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0, 2.0])
def test_the_grid_bounds_the_truth_from_both_sides(epsilon: float) -> None:
    law, truth = mixed._on_grid(KINDS), exact_gap(epsilon)
    assert law.gap_below(epsilon) <= truth <= law.gap(epsilon) <= truth + 1e-4
    assert mixed._every_sum(KINDS).gap(epsilon) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("deviations", [0.3, 1, 2])
def test_what_leaves_a_narrow_grid_is_charged(
    deviations: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mixed, "_DEVIATIONS", deviations)
    law = mixed._on_grid(KINDS)
    assert law.cut > 1e-4
    for epsilon in (0.0, 0.5, 1.5, 2.5):
        assert law.gap_below(epsilon) <= exact_gap(epsilon) <= law.gap(epsilon)


@pytest.mark.parametrize("kept", [0, 1])
def test_what_a_narrow_window_leaves_out_of_a_kind_is_charged(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(trials: int, coin: object) -> tuple[int, int]:
        del coin
        return trials // 2, trials // 2 + kept

    monkeypatch.setattr(mixed, "window", narrow)
    law = mixed._on_grid(KINDS)
    assert law.cut > 1e-3
    for epsilon in (0.0, 0.5, 1.5, 2.5):
        assert exact_gap(epsilon) <= law.gap(epsilon)


def test_every_copy_leaks() -> None:
    """Leaks of all copies, equal or not: one less the chance that none happens."""
    parts = [Copies(loss=0.5, slack=0.01, times=3), Copies(loss=0.25, slack=0.02, times=2)]
    leaked = 1 - 0.99**3 * 0.98**2
    assert mixed_delta(parts, epsilon=2) == pytest.approx(leaked, rel=1e-9)
    assert mixed_delta(parts, epsilon=2) >= leaked * (1 - 1e-12)
    assert mixed_epsilon(parts, delta=leaked * 0.999) == math.inf
    gap = (1 - mixed_delta(parts, epsilon=0.3)) / (1 - leaked)
    pure = [Copies(loss=0.5, slack=0, times=3), Copies(loss=0.25, slack=0, times=2)]
    assert gap == pytest.approx(1 - mixed_delta(pure, epsilon=0.3), rel=1e-9)
