"""Every estimator by itself, as users fit it: its claim stands, and that of a twin does not.

Each audit trains on one half of the fits which outcomes to look at, and refutes a true claim with
probability at most 1e-6. ``lower_bound`` of a finding is the epsilon that it could refute: the
assertions say how much that is at least, at a claim of three. Twins make mistakes that are easily
made: bounds that are not enforced, noise for one row of a person who has twelve, a row that counts
in every tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.arrays import Floats
from discreet.learn.box import Box
from discreet.learn.estimators import trees
from discreet.learn.privacy import Privacy

GIVEN: dict[str, Any] = {"unit": dp.Row(), "bounds": (-1, 1)}
HIGH = np.full((6, 1), 50.0)
"""Far outside of the bounds: each counts as one."""
LABELLED: dict[str, Any] = {**GIVEN, "classes": [0, 1]}
TARGET: dict[str, Any] = {**GIVEN, "target_bounds": (-1, 1)}

Look = Callable[[Any], Floats]
"""What an attacker looks at in a fitted model."""


def found_by(
    made: Callable[[float], Any], look: Look, claim: float, *, rows: int = 1, trials: int = 1000
) -> Finding:
    """The audit of fits to five rows, and to as many more as one unit has."""
    pair = np.full((5, 1), 50.0), np.full((5 + rows, 1), 50.0)

    def release(x: Floats) -> tuple[int, ...]:
        fitted = made(claim).fit(x, np.ones(len(x)))
        return tuple(np.floor(2 * np.clip(look(fitted), -4, 4)).astype(int).ravel().tolist())

    return audit(
        repeated(release),
        *pair,
        epsilon=claim,
        delta=0,
        events=LearnedEvents(outcome),
        trials=trials,
        confidence=1 - 1e-6,
    )


class Unbounded(Box):
    """A twin of bounds that maps to them and clamps nothing."""

    def columns(self, values: Any, out: Any) -> Any:
        out[:] = np.rint((values - self.middle[:, None]) / self.half[:, None] * 2.0**36)
        return out


def unbounded(kind: type) -> Callable[..., Any]:
    class Twin(kind):  # type: ignore[misc]
        def _box(self, features: int) -> Box:
            return Unbounded.of(self.bounds, features)

    return Twin


class OneRow(Privacy):
    """A twin of privacy whose noise is for one row, whoever has however many."""

    @property
    def moved(self) -> int:
        return 1


def for_one_row(kind: type) -> Callable[..., Any]:
    class Twin(kind):  # type: ignore[misc]
        def _privacy(self) -> Privacy:
            return OneRow(self.spend, self.unit, rows_of_a_unit=12)

    return Twin


def spending(kind: Callable[..., Any], **given: Any) -> Callable[[float], Any]:
    return lambda epsilon: kind(spend=dp.PureDP(epsilon=epsilon), **given)


def scaled_mean(model: Any) -> Floats:
    return np.array([model.mean_[0] - 0.5, 4 * model.var_[0]])


def test_the_scaler_keeps_its_claim_and_the_twin_without_bounds_does_not() -> None:
    honest = found_by(spending(learn.StandardScaler, **GIVEN), scaled_mean, 3)
    assert honest.passes
    assert found_by(spending(learn.StandardScaler, **GIVEN), scaled_mean, 1).passes
    twin = spending(unbounded(learn.StandardScaler), **GIVEN)
    assert not found_by(twin, scaled_mean, 1).passes
