"""The minimiser of a sum of losses with a ridge and a linear term, to a certified gradient.

Source: 004b:C5 (a gradient of length g means a distance of at most g over the ridge).
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats
from discreet.learn.losses import Loss

GRADIENT = 1e-6
"""The length of the gradient at which a point counts as the minimiser."""
_ROUNDS = 300
_SHORTEST = 2.0**-40


def minimise(loss: Loss, x: Floats, y: Floats, *, ridge: float, tilt: Floats) -> Floats:
    """A point where the gradient of Σ loss + ridge |θ|²/2 + tilt·θ is at most ``GRADIENT`` long.

    Damped Newton steps, judged by the gradient's length, which they can always shorten: the
    objective is strongly convex. Should rounding prevent it all the same, the answer is zero.
    """

    def gradient(theta: Floats, t: Floats) -> Floats:
        slopes: Floats = x.T @ loss.slope(t, y) + ridge * theta + tilt
        return slopes

    theta = np.zeros(x.shape[1])
    for _ in range(_ROUNDS):
        t = x @ theta
        at = gradient(theta, t)
        length = float(np.linalg.norm(at))
        if length <= GRADIENT / 2:
            return theta
        hessian = (x.T * loss.bend(t, y)) @ x + ridge * np.eye(len(theta))
        direction = np.linalg.solve(hessian, at)
        along = x @ direction
        step = 1.0
        while step > _SHORTEST:
            there = gradient(theta - step * direction, t - step * along)
            if np.linalg.norm(there) <= (1 - step / 4) * length:
                break
            step /= 2
        theta = theta - step * direction
    return np.zeros(x.shape[1])
