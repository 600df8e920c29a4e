"""The minimiser of a sum of losses with a ridge and a linear term, to a certified gradient.

Steps are found in doubles, first for a part of the rows. A point is certified if its gradient,
as computed, and a bound of all that rounding may have done to it are short together. Where doubles
are not close enough, the gradient is computed in the widest arithmetic there is. There is no other
way out: a point that is not certified is not returned.

Beyond a public radius a public wall pulls back harder than all rows can push. So the minimiser is
where its gradient can be certified, whatever the rows say, and the search ends for all of them.

Source: 004b:C5 (a gradient of length g means a distance of at most g over the ridge). Proof:
``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.learn.exact_sums import slices
from discreet.learn.losses import Loss, require_smooth
from discreet.learn.optimisers.gradient_sums import DOUBLES, WIDEST, GradientSum, rounding
from discreet.learn.optimisers.line_search import LineSearch

GRADIENT = 1e-6
"""The least length of the gradient at which a point counts as the minimiser."""
ROWS = 2.0**28
"""The most rows that are taken."""
RADIUS = 2.0**8
"""The length of the corners of the cube within which the wall is not felt."""
_BEYOND = 4.0
_SMALLEST = 2.0**-64
_WEAKEST = 2.0**-50
_JITTER = 2.0**-48
_NEAR = 2.0**-50
"""How near the wall, as a share of the radius, a step may end that it stops; within twice
that a coordinate that moves outwards is stiff."""
_DOUBLE_ROUNDS = 400
_FEW = 1 << 14
"""Rows that are searched from nothing."""
_THINNED = 8
"""Of more rows than that, every eighth shows first where to begin."""


def certified_gradient(loss: Loss, dimension: int) -> float:
    """The length of a gradient that is certified, a public number.

    It is four times what rounding may do to ``ROWS`` rows and to the wall, and at least
    ``GRADIENT``.
    """
    farthest = RADIUS + _BEYOND * math.sqrt(dimension)
    at_most = rounding(WIDEST, loss, dimension, rows=ROWS, rows_length=ROWS * farthest)
    wall = 16 * WIDEST.unit * _stiffness(loss) * farthest * math.sqrt(dimension)
    return max(GRADIENT, 4 * (at_most + wall))


def _stiffness(loss: Loss) -> float:
    """How hard the wall pulls back: one step behind it, as hard as ``ROWS`` rows together."""
    return ROWS * loss.lipschitz


def _wall(stiffness: float, theta: Any) -> Any:
    """The gradient of stiffness/2 Σ (|θ_j| - RADIUS/√p)², in coordinates beyond; else zero."""
    inside = RADIUS / math.sqrt(len(theta))
    return stiffness * (theta - np.clip(theta, -inside, inside))


def require_certifiable(loss: Loss, dimension: int, tilt: float) -> None:
    """Refuse linear terms, by their scale, beside which the certificate could not be computed."""
    if not 4096 * dimension * WIDEST.unit * tilt <= certified_gradient(loss, dimension):
        raise InvalidParameter(
            code="objective_spend_small",
            expectation="a spend at which the minimiser can be computed closely enough",
            remedy="Spend more: the noise of this one drowns whatever the data has to say.",
        )


def require_scales(loss: Loss, ridge: float) -> None:
    """Refuse slopes, bends and ridges beside which numbers would overflow, or nothing is told.

    Whether they do would depend on the rows; a ridge that small leaves noise alone.
    """
    steep = loss.lipschitz
    slopes = _SMALLEST <= steep <= 1 / _SMALLEST and require_smooth(loss) <= 1 / _SMALLEST
    if not (slopes and _WEAKEST * steep <= ridge <= steep / _WEAKEST):
        raise InvalidParameter(
            code="minimiser_scale",
            expectation="a loss and a ridge of sizes with which the minimiser can be computed",
            remedy="Ask for a ridge within 2**-50 and 2**50 of the steepest slope, and for slopes "
            "and second derivatives of at most 2**64.",
        )


def require_ridge(dimension: int, tilt: float, ridge: float) -> None:
    """Refuse ridges beside which the linear term alone leads further than can be certified."""
    if not 64 * math.sqrt(dimension) * tilt <= 2.0**12 * ridge:
        raise InvalidParameter(
            code="objective_ridge_small",
            expectation="a ridge at which the minimiser can be computed closely enough",
            remedy="Ask for a larger ridge, that is a smaller C, or spend more.",
        )


def minimise(loss: Loss, x: Floats, y: Floats, *, ridge: float, tilt: Floats) -> Any:
    """A point where the gradient of Σ loss + ridge |θ|²/2 + tilt·θ + wall is certified to be short.

    Contract: coordinates of rows are within [-1, 1], and the linear term pulls less than ``ROWS``
    rows may. Slopes are cut to the loss's steepest, and a slope that is no number counts as zero.
    The point is in doubles or in the widest arithmetic.

    Newton steps, each as long as the objective falls along it; they begin where those of fewer rows
    ended.
    """
    _require_rows(len(x))
    problem = _Problem(loss, x, y, ridge, tilt)
    near, at = problem.roughly()
    if problem.certified(DOUBLES, near, at):
        return near
    wide = near.astype(np.longdouble)
    return problem.searched(WIDEST, wide, problem.certified, rounds=None)[0]


@dataclass(frozen=True)
class _Problem:
    """What is minimised."""

    loss: Loss
    x: Floats
    y: Floats
    ridge: float
    tilt: Floats

    def roughly(self) -> tuple[Floats, Floats]:
        """The minimiser as doubles have it, and the gradient there; of fewer rows first."""
        start = np.zeros(self.x.shape[1])
        if len(self.x) > _FEW:
            start, _ = self._thinned().roughly()
        return self.searched(DOUBLES, start, self._as_close_as_can_be, rounds=_DOUBLE_ROUNDS)

    def _thinned(self) -> _Problem:
        few = slice(None, None, _THINNED)
        ridge, tilt = self.ridge / _THINNED, self.tilt / _THINNED
        return _Problem(self.loss, self.x[few], self.y[few], ridge, tilt)

    def searched(
        self,
        way: GradientSum,
        theta: Any,
        ended: Callable[[GradientSum, Any, Any], bool],
        *,
        rounds: int | None,
    ) -> tuple[Any, Any]:
        """Newton steps until the end is reached, or so many rounds are over; the gradient there."""

        def gradient(there: Any) -> Any:
            return self.gradient(way, there)

        at = gradient(theta)
        while not ended(way, theta, at) and (rounds is None or rounds > 0):
            theta, at = self.line(gradient, theta, at).fallen(at)
            rounds = None if rounds is None else rounds - 1
        return theta, at

    def gradient(self, way: GradientSum, theta: Any) -> Any:
        """The gradient as it is computed in some way."""
        rows = way.of(self.loss, self.x, self.y, theta)
        return rows + self.ridge * theta + self.tilt + _wall(_stiffness(self.loss), theta)

    def certified(self, way: GradientSum, theta: Any, at: Any) -> bool:
        """Whether the gradient is short, whatever rounding has done to it."""
        doubt = self.doubt(way, theta)
        return _length(at) + doubt <= certified_gradient(self.loss, len(theta))

    def doubt(self, way: GradientSum, theta: Any) -> float:
        """How much longer the gradient may be than it was computed."""
        size, rows, length = len(theta), len(self.x), _length(theta)
        lengths = self.ridge * length + _length(self.tilt) + math.sqrt(size) * GRADIENT
        doubt = 8 * way.unit * lengths
        if float(abs(theta).max()) > RADIUS / math.sqrt(size) * (1 - 1e-9):
            doubt += 16 * way.unit * _stiffness(self.loss) * length
        return doubt + rounding(way, self.loss, size, rows=rows, rows_length=rows * length)

    def _as_close_as_can_be(self, way: GradientSum, theta: Any, at: Any) -> bool:
        """Whether the gradient is well below what is certified, or no longer than its rounding."""
        below = certified_gradient(self.loss, len(theta)) / 8
        return _length(at) <= max(below, self.doubt(way, theta))

    def bend(self, theta: Any) -> Floats:
        """The matrix of second derivatives without the wall's, about."""
        found: Floats = self.ridge * np.eye(len(theta))
        at = theta.astype(np.float64)
        for part in slices(len(self.x)):
            rows = self.x[part]
            bend = self.loss.bend(rows @ at, self.y[part])
            bend = np.clip(np.where(np.isnan(bend), 0, bend), 0, self.loss.curvature)
            found += (rows.T * bend) @ rows
        return found

    def line(self, gradient: Callable[[Any], Any], theta: Any, at: Any) -> LineSearch:
        """Along a Newton step, in which the wall bends where it is felt, or would be at once."""
        inside = RADIUS / math.sqrt(len(theta))
        bent, felt = self.bend(theta), abs(theta) > inside
        touched = abs(theta) > inside * (1 - 2 * _NEAR)
        while True:
            found = _solved(bent + np.diag(_stiffness(self.loss) * felt), at)
            outwards = -found * np.sign(theta) > 0
            next_felt = felt | (outwards & touched)
            if (next_felt == felt).all():
                break
            felt = next_felt
        wall = partial(_wall, _stiffness(self.loss))
        reach = max(float(abs(found).max()), 2.0**-1000)
        longest = (RADIUS + 1 + float(abs(theta).max())) / reach
        bends = max(0.0, float(found @ bent @ found))
        return LineSearch(gradient, wall, theta, found, longest, _NEAR * inside / reach, bends)


def _require_rows(rows: int) -> None:
    if rows > ROWS:
        raise InvalidData(
            code="too_many_rows",
            expectation="at most 2**28 rows",
            remedy="Use GradientDescent, or fit to a sample.",
        )


def _solved(bent: Floats, at: Any) -> Floats:
    """A direction, for all data: in units in which coordinates bend alike, and a little of one."""
    unit = 1 / np.sqrt(np.diag(bent))
    even = bent * unit * unit[:, None] + _JITTER * len(bent) * np.eye(len(bent))
    found: Floats = unit * np.linalg.solve(even, unit * at.astype(np.float64))
    return found


def _length(vector: Any) -> float:
    return float(np.sqrt((vector**2).sum()))
