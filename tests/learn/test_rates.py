"""Measured risk on the hardest family grows with p/ε for pure optimisers, with √p/ε for descent.

The family of the lower bounds: a sum of losses -⟨θ, d⟩ over the unit ball, with all rows equal to
one of the vectors of entries ±1/√p, and as many rows as no private optimiser can learn from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.core.arrays import Floats

CORNERS = ((3, 1.0), (6, 1.0), (6, 0.25))
"""Dimensions and epsilons; p/ε grows by eight. There are 2**p corners."""
BALLS = ((8, 1.0), (32, 1.0), (64, 0.5))
"""p/ε grows by sixteen."""
CLOSE = ((4, 1.0), (16, 1.0), (64, 0.5))
"""Between the first and the last √p/ε grows by eight, and p/ε by thirty-two."""


@dataclass(frozen=True)
class Linear(learn.AbsoluteLoss):
    """The loss -t, which has no curvature."""

    @property
    def curvature(self) -> float | None:
        return 1e-9

    def value(self, t: Floats, y: Floats) -> Floats:
        return -t + 0 * y

    def slope(self, t: Floats, y: Floats) -> Floats:
        return -np.ones_like(t) + 0 * y

    def bend(self, t: Floats, y: Floats) -> Floats:
        return 0 * t * y


def hard(p: int, rows: int, rng: np.random.Generator) -> Floats:
    """As many equal rows, along a corner of the cube."""
    corner: Floats = rng.choice([-1.0, 1.0], p) / math.sqrt(p)
    return np.repeat(corner[None, :], rows, axis=0)


def excess(theta: Floats, x: Floats) -> float:
    """How far the sum of losses of θ, brought into the ball, is above the least."""
    total = x.sum(axis=0)
    return float(np.linalg.norm(total) - theta @ total / max(1.0, float(np.linalg.norm(theta))))


def sampled(p: int, epsilon: float, x: Floats) -> Floats:
    """004b:C2 on the corners of the cube."""
    made = learn.ExponentialERM(
        loss=Linear(),
        rows=learn.Ball(p),
        candidates=np.array(list(product([-1.0, 1.0], repeat=p))) / math.sqrt(p),
        privacy=learn.Privacy(dp.PureDP(epsilon=epsilon), dp.Row()),
    )
    return made.minimise(x, np.ones(len(x)))


def perturbed(p: int, epsilon: float, x: Floats) -> Floats:
    """004b:C3 with the ridge that its utility asks for."""
    ridge = 4 * math.sqrt(p * (p + 1)) / epsilon
    made = learn.ObjectivePerturbation(
        loss=Linear(),
        rows=learn.Ball(p),
        ridge=ridge,
        privacy=learn.Privacy(dp.PureDP(epsilon=epsilon), dp.Row()),
    )
    return made.minimise(x, np.ones(len(x)))


def descended(p: int, epsilon: float, x: Floats) -> Floats:
    """004b:C6 with the printed rate."""
    steps = 16
    made = learn.GradientDescent(
        loss=Linear(),
        steps=steps,
        clip=1.0,
        within=learn.EuclideanBall(1),
        privacy=learn.Privacy(dp.ApproxDP(epsilon=epsilon, delta=1e-5), dp.Row()),
    )
    rate = 1 / math.sqrt(steps * (len(x) ** 2 + p * made.multiplier**2))
    return made.minimise(x, np.ones(len(x)), rate_of_descent=rate)


def risks(
    solve: Callable[[int, float, Floats], Floats], p: int, epsilon: float, rows: int, runs: int
) -> float:
    rng = np.random.default_rng(p)
    tables = [hard(p, rows, rng) for _ in range(runs)]
    return float(np.mean([excess(solve(p, epsilon, x), x) for x in tables]))


@pytest.mark.slow
@pytest.mark.parametrize(("solve", "sizes"), [(sampled, CORNERS), (perturbed, BALLS)])
def test_pure_risk_grows_as_p_over_epsilon(
    solve: Callable[[int, float, Floats], Floats], sizes: tuple[tuple[int, float], ...]
) -> None:
    """With 2 p/ε rows the risk is a share of p/ε that stays, here about one.

    Means have relative standard errors below 4 %, so a ratio of 1.5 is eight of them off: a false
    alarm has a probability below 1e-12.
    """
    runs = 900 if solve is sampled else 100
    shares = [
        risks(solve, p, epsilon, round(2 * p / epsilon), runs) * epsilon / p for p, epsilon in sizes
    ]
    assert min(shares) > 0.1  # the floor is of this order, whatever the optimiser
    assert max(shares) < 1.5 * min(shares)


@pytest.mark.slow
def test_the_risk_of_descent_grows_as_the_root_of_p_over_epsilon() -> None:
    """With 8 √p/ε rows; false alarms as above."""
    shares = [
        risks(descended, p, epsilon, round(8 * math.sqrt(p) / epsilon), 60) * epsilon / math.sqrt(p)
        for p, epsilon in CLOSE
    ]
    assert min(shares) > 0.1
    assert max(shares) < 1.5 * min(shares)
