"""The minimiser of a sum of losses with a ridge and a linear term, to a certified gradient.

Steps are found in doubles. The gradient that certifies a point is computed in the widest
arithmetic there is, each row's part is rounded to a public grid and summed in exact integers, and
a bound of all that rounding may do is added to its length. There is no other way out: a point that
is not certified is not returned.

Source: 004b:C5 (a gradient of length g means a distance of at most g over the ridge). Proof:
``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.learn.exact_sums import slices, sums
from discreet.learn.losses import Loss, require_smooth

GRADIENT = 1e-6
"""The least length of the gradient at which a point counts as the minimiser."""
EPSILON = float(np.finfo(np.longdouble).eps)
ROWS = 2.0**31
"""Rows, and rows times the length of the minimiser, up to which the certificate is reached."""
ROWS_LENGTH = 2.0**36
_LIMB = 30
_DOUBLE_ROUNDS = 60
_SHORTEST = 2.0**-20


def certified_gradient(loss: Loss, dimension: int) -> float:
    """The length of a gradient that is certified, a public number.

    It is four times what rounding may do to ``ROWS`` rows, and at least ``GRADIENT``.
    """
    return max(GRADIENT, 4 * _rounding(loss, dimension, ROWS, ROWS_LENGTH))


def require_certifiable(loss: Loss, dimension: int, tilt: float) -> None:
    """Refuse linear terms, by their scale, beside which the certificate could not be computed."""
    if not 4096 * dimension * EPSILON * tilt <= certified_gradient(loss, dimension):
        raise InvalidParameter(
            code="objective_spend_small",
            expectation="a spend at which the minimiser can be computed closely enough",
            remedy="Spend more: the noise of this one drowns whatever the data has to say.",
        )


def require_ridge(dimension: int, tilt: float, ridge: float) -> None:
    """Refuse ridges beside which the linear term alone leads further than can be certified."""
    if not 64 * math.sqrt(dimension) * tilt <= 2.0**12 * ridge:
        raise InvalidParameter(
            code="objective_ridge_small",
            expectation="a ridge at which the minimiser can be computed closely enough",
            remedy="Ask for a larger ridge, that is a smaller C, or spend more.",
        )


def _rounding(loss: Loss, dimension: int, rows: float, rows_length: float) -> float:
    """What rounding may do to the sum of gradients; ``rows_length`` is rows times |θ|."""
    root = math.sqrt(dimension)
    predicted = (dimension + 8) * root * rows_length + 8 * rows
    slopes = 20 * loss.lipschitz * rows + require_smooth(loss) * predicted
    return root * (EPSILON * slopes + loss.lipschitz * 2.0 ** (-2 * _LIMB) * rows) * (1 + 1e-9)


def minimise(loss: Loss, x: Floats, y: Floats, *, ridge: float, tilt: Floats) -> Any:
    """A point where the gradient of Σ loss + ridge |θ|²/2 + tilt·θ is certified to be short.

    Contract: coordinates of rows are within [-1, 1]. Slopes are cut to the loss's steepest, and a
    slope that is no number counts as zero. The point is in the widest arithmetic, too.

    Newton steps, damped by the gradient's length; where none shortens it, a step by the largest
    curvature, which always lowers the objective.
    """
    enough = certified_gradient(loss, x.shape[1])
    theta: Any = _roughly(loss, x, y, ridge, tilt).astype(np.longdouble)
    at = _exactly(loss, x, y, theta) + ridge * theta + tilt
    while not _length(at) + _doubt(loss, len(x), theta, ridge, tilt) <= enough:
        direction = np.linalg.solve(_hessian(loss, x, y, theta, ridge), at.astype(np.float64))
        step = 1.0
        while step > _SHORTEST:
            there = theta - step * direction
            found = _exactly(loss, x, y, there) + ridge * there + tilt
            if _length(found) <= (1 - step / 4) * _length(at):
                break
            step /= 2
        else:
            steepest = require_smooth(loss) * (x.T @ x) + ridge * np.eye(len(theta))
            there = theta - np.linalg.solve(steepest, at.astype(np.float64))
            found = _exactly(loss, x, y, there) + ridge * there + tilt
        theta, at = there, found
    return theta


def _roughly(loss: Loss, x: Floats, y: Floats, ridge: float, tilt: Floats) -> Floats:
    """Where to begin: Newton steps in doubles, for as long as they shorten the gradient."""

    def gradient(theta: Floats, t: Floats) -> Floats:
        slopes: Floats = x.T @ _cut(loss, t, y) + ridge * theta + tilt
        return slopes

    enough = certified_gradient(loss, x.shape[1])
    theta = np.zeros(x.shape[1])
    for _ in range(_DOUBLE_ROUNDS):
        t = x @ theta
        at = gradient(theta, t)
        if _length(at) <= enough / 8:
            break
        direction = np.linalg.solve(_hessian(loss, x, y, theta, ridge), at)
        along, step = x @ direction, 1.0
        while step > _SHORTEST:
            there = gradient(theta - step * direction, t - step * along)
            if _length(there) <= (1 - step / 4) * _length(at):
                break
            step /= 2
        else:
            break
        theta = theta - step * direction
    return theta


def _exactly(loss: Loss, x: Floats, y: Floats, theta: Any) -> Any:
    """The sum of gradients of the rows: each rounded to 2**-60 of the steepest, added exactly."""
    size = len(theta)
    total = np.zeros(2 * size, dtype=object)
    for part in slices(len(x)):
        rows = x[part].astype(np.longdouble)
        each = _cut(loss, rows @ theta, y[part])[:, None] * rows * (2.0**_LIMB / loss.lipschitz)
        high = np.rint(each)
        low = np.rint((each - high) * 2.0**_LIMB)
        steps = np.concatenate([high, low], axis=1).astype(np.float64)
        total += sums(steps, np.zeros(len(steps), dtype=np.int64), 1)[0]
    whole = (total[:size] << _LIMB) + total[size:]
    # Two doubles hold what one would round away.
    upper = np.array([float(each) for each in whole])
    lower = [float(each - int(up)) for each, up in zip(whole, upper.tolist(), strict=True)]
    both = upper.astype(np.longdouble) + np.array(lower)
    return both * 2.0 ** (-2 * _LIMB) * loss.lipschitz


def _doubt(loss: Loss, rows: int, theta: Any, ridge: float, tilt: Floats) -> float:
    """How much longer the gradient may be than it was computed."""
    length = float(_length(theta))
    terms = 8 * EPSILON * (ridge * length + _length(tilt) + math.sqrt(len(theta)) * GRADIENT)
    return _rounding(loss, len(theta), rows, rows * length) + terms


def _cut(loss: Loss, t: Any, y: Floats) -> Any:
    slopes = loss.slope(t, y)
    return np.clip(np.where(np.isnan(slopes), 0, slopes), -loss.lipschitz, loss.lipschitz)


def _hessian(loss: Loss, x: Floats, y: Floats, theta: Any, ridge: float) -> Floats:
    found: Floats = ridge * np.eye(len(theta))
    at = theta.astype(np.float64)
    for part in slices(len(x)):
        rows = x[part]
        bend = loss.bend(rows @ at, y[part])
        bend = np.clip(np.where(np.isnan(bend), 0, bend), 0, loss.curvature)
        found += (rows.T * bend) @ rows
    return found


def _length(vector: Any) -> float:
    return float(np.sqrt((vector**2).sum()))
