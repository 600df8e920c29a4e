"""The minimiser of a sum of losses with a ridge and a linear term, to a certified gradient.

Steps are found in doubles. The gradient that certifies a point is computed in the widest
arithmetic there is, each row's part is rounded to a public grid and summed in exact integers, and
a bound of all that rounding may do is added to its length. There is no other way out: a point that
is not certified is not returned.

Beyond a public radius a public wall pulls back harder than all rows can push. So the minimiser is
where its gradient can be certified, whatever the rows say, and the search ends for all of them.

Source: 004b:C5 (a gradient of length g means a distance of at most g over the ridge). Proof:
``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.learn.exact_sums import slices, sums
from discreet.learn.losses import Loss, require_smooth

GRADIENT = 1e-6
"""The least length of the gradient at which a point counts as the minimiser."""
EPSILON = float(np.finfo(np.longdouble).eps)
ROWS = 2.0**28
"""The most rows that are taken."""
RADIUS = 2.0**8
"""The length of the corners of the cube within which the wall is not felt."""
_BEYOND = 4.0
_JITTER = 2.0**-48
_LIMB = 30
_DOUBLE_ROUNDS = 60
_HALVINGS = 80


def certified_gradient(loss: Loss, dimension: int) -> float:
    """The length of a gradient that is certified, a public number.

    It is four times what rounding may do to ``ROWS`` rows and to the wall, and at least
    ``GRADIENT``.
    """
    farthest = RADIUS + _BEYOND * math.sqrt(dimension)
    at_most = _rounding(loss, dimension, ROWS, ROWS * farthest)
    return max(
        GRADIENT, 4 * (at_most + 16 * EPSILON * _stiffness(loss) * farthest * math.sqrt(dimension))
    )


def _stiffness(loss: Loss) -> float:
    """How hard the wall pulls back: one step behind it, as hard as ``ROWS`` rows together."""
    return ROWS * loss.lipschitz


def _wall(stiffness: float, theta: Any) -> Any:
    """The gradient of stiffness/2 Σ (|θ_j| - RADIUS/√p)², in coordinates beyond; else zero."""
    inside = RADIUS / math.sqrt(len(theta))
    return stiffness * (theta - np.clip(theta, -inside, inside))


def _wall_bend(stiffness: float, theta: Any) -> Floats:
    """The second derivative of the wall."""
    beyond = abs(theta.astype(np.float64)) > RADIUS / math.sqrt(len(theta))
    return np.diag(stiffness * beyond)


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
    """A point where the gradient of Σ loss + ridge |θ|²/2 + tilt·θ + wall is certified to be short.

    Contract: coordinates of rows are within [-1, 1], and the linear term pulls less than ``ROWS``
    rows may. Slopes are cut to the loss's steepest, and a slope that is no number counts as zero.
    The point is in the widest arithmetic, too.

    Newton steps, each as long as the objective falls along it; they begin in doubles.
    """
    _require_rows(len(x))
    size = x.shape[1]
    stiffness = _stiffness(loss)

    def bend(theta: Any) -> Floats:
        return _hessian(loss, x, y, theta, ridge) + _wall_bend(stiffness, theta)

    def roughly(theta: Any) -> Any:
        return x.T @ _cut(loss, x @ theta, y) + ridge * theta + tilt + _wall(stiffness, theta)

    def exactly(theta: Any) -> Any:
        return _exactly(loss, x, y, theta) + ridge * theta + tilt + _wall(stiffness, theta)

    def certified(theta: Any, at: Any) -> bool:
        doubt = _doubt(loss, len(x), theta, ridge, tilt)
        return bool(_length(at) + doubt <= certified_gradient(loss, size))

    enough = certified_gradient(loss, size) / 8
    start = np.zeros(size)
    near = _descended(
        roughly, bend, start, lambda _, at: _length(at) <= enough, rounds=_DOUBLE_ROUNDS
    )
    return _descended(exactly, bend, near.astype(np.longdouble), certified, rounds=None)


def _descended(
    gradient: Callable[[Any], Any],
    bend: Callable[[Any], Floats],
    theta: Any,
    ended: Callable[[Any, Any], bool],
    *,
    rounds: int | None,
) -> Any:
    """Newton steps until the end is reached, or so many rounds are over."""
    at = gradient(theta)
    while not ended(theta, at) and (rounds is None or rounds > 0):
        theta, at = _along(gradient, theta, at, _solved(bend(theta), at))
        rounds = None if rounds is None else rounds - 1
    return theta


def _along(
    gradient: Callable[[Any], Any], theta: Any, at: Any, direction: Floats
) -> tuple[Any, Any]:
    """Where the objective has fallen along a direction, and hardly falls further.

    Its slope there is at most half as steep as here, in either direction; or the longest step is
    taken, if it still falls there. The slope is continuous, so that halving finds such a place.
    """
    steep = float(at @ direction)
    low, high = 0.0, _step_within(theta, direction)
    step = high
    for _ in range(_HALVINGS):
        there = theta - step * direction
        found = gradient(there)
        left = float(found @ direction)
        if abs(left) <= steep / 2 or (left > 0 and low == 0 and step == high):
            break
        low, high = (step, high) if left > 0 else (low, step)
        step = (low + high) / 2
    return there, found


def _require_rows(rows: int) -> None:
    if rows > ROWS:
        raise InvalidData(
            code="too_many_rows",
            expectation="at most 2**28 rows",
            remedy="Use GradientDescent, or fit to a sample.",
        )


def _solved(bent: Floats, at: Any) -> Floats:
    """A direction, for all data: a trace of a multiple of one keeps the matrix regular."""
    jitter = _JITTER * float(np.trace(bent)) * np.eye(len(bent))
    found: Floats = np.linalg.solve(bent + jitter, at.astype(np.float64))
    return found


def _step_within(theta: Any, direction: Floats) -> float:
    """One, or what leads no further than one step behind the wall."""
    reach = float(abs(direction).max(initial=0.0))
    room = RADIUS + 1 + float(abs(theta).max(initial=0.0))
    return min(1.0, room / reach) if reach > 0 else 1.0


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
    if float(abs(theta).max()) > RADIUS / math.sqrt(len(theta)) * (1 - 1e-9):
        terms += 16 * EPSILON * _stiffness(loss) * length
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
