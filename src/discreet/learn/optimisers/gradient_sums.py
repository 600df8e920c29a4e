"""Sums of the gradients of rows, and a bound of what rounding may have done to them.

There are two ways. Doubles add short blocks as matrix products, whose rounding is bounded in any
order of addition, and the blocks without error. The widest arithmetic there is rounds each row's
part to a grid and adds in exact integers: slow, and hundreds of times closer.

Source: contract, "Numbers" (exact sums); the bound of a sum of k terms, k u / (1 - k u) times the
sum of their sizes, holds for every order of addition. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.learn.exact_sums import slices, sums
from discreet.learn.losses import Loss, require_smooth

_LIMB = 30
_BLOCK = 128
"""Rows whose parts are added with rounding."""


class GradientSum(Protocol):
    """A way to add gradients."""

    @property
    def unit(self) -> float:
        """The distance of one from the next number."""

    def of(self, loss: Loss, x: Floats, y: Floats, theta: Any) -> Any:
        """The sum over rows of slope times row."""

    def lost(self, loss: Loss) -> float:
        """What adding up may do to each coordinate, for one row."""


class DoubleSum:
    """In doubles, at the speed of matrix products."""

    unit = float(np.finfo(np.float64).eps)

    def of(self, loss: Loss, x: Floats, y: Floats, theta: Any) -> Floats:
        """The sum over rows; blocks are added without error."""
        parts = [np.zeros((1, x.shape[1]))]
        for part in slices(len(x)):
            rows, slopes = x[part], cut_slopes(loss, x[part] @ theta, y[part])
            whole = len(rows) // _BLOCK * _BLOCK
            blocks = rows[:whole].reshape(-1, _BLOCK, x.shape[1])
            parts.append((slopes[:whole].reshape(-1, 1, _BLOCK) @ blocks)[:, 0])
            parts.append((slopes[whole:] @ rows[whole:])[None])
        return np.array([math.fsum(column) for column in np.concatenate(parts).T.tolist()])

    def lost(self, loss: Loss) -> float:
        """Twice what a block may lose."""
        return _BLOCK * self.unit * loss.lipschitz


class WidestSum:
    """In the widest arithmetic, each part rounded to a grid and added exactly.

    A step of the grid is 2**-60 of the least power of two that no slope exceeds: dividing by
    another number, and multiplying by it again, would round.
    """

    unit = float(np.finfo(np.longdouble).eps)

    def of(self, loss: Loss, x: Floats, y: Floats, theta: Any) -> Any:
        """The sum over rows."""
        size = len(theta)
        total = np.zeros(2 * size, dtype=object)
        for part in slices(len(x)):
            rows = x[part].astype(np.longdouble)
            slopes = cut_slopes(loss, rows @ theta, y[part])
            each = slopes[:, None] * rows * (2.0**_LIMB / _power_above(loss.lipschitz))
            high = np.rint(each)
            low = np.rint((each - high) * 2.0**_LIMB)
            steps = np.concatenate([high, low], axis=1).astype(np.float64)
            total += sums(steps, np.zeros(len(steps), dtype=np.int64), 1)[0]
        whole = (total[:size] << _LIMB) + total[size:]
        # Two doubles hold what one would round away.
        upper = np.array([float(each) for each in whole])
        lower = [float(each - int(up)) for each, up in zip(whole, upper.tolist(), strict=True)]
        both = upper.astype(np.longdouble) + np.array(lower)
        return both * 2.0 ** (-2 * _LIMB) * _power_above(loss.lipschitz)

    def lost(self, loss: Loss) -> float:
        """One step of the grid."""
        return _power_above(loss.lipschitz) * 2.0 ** (-2 * _LIMB)


def _power_above(value: float) -> float:
    """The least power of two that is not smaller."""
    share, power = math.frexp(value)
    return math.ldexp(1.0, power - 1 if share == 0.5 else power)


DOUBLES = DoubleSum()
WIDEST = WidestSum()


def rounding(
    way: GradientSum, loss: Loss, dimension: int, *, rows: float, rows_length: float
) -> float:
    """What rounding may do to the length of the sum; ``rows_length`` is rows times |θ|.

    Contract: coordinates of rows are within [-1, 1].
    """
    root = math.sqrt(dimension)
    predicted = (dimension + 8) * root * rows_length + 8 * rows
    slopes = 20 * loss.lipschitz * rows + require_smooth(loss) * predicted
    return root * (way.unit * slopes + way.lost(loss) * rows) * (1 + 1e-9)


def cut_slopes(loss: Loss, t: Any, y: Floats) -> Any:
    """Slopes cut to the loss's steepest; one that is no number counts as zero."""
    slopes = loss.slope(t, y)
    return np.clip(np.where(np.isnan(slopes), 0, slopes), -loss.lipschitz, loss.lipschitz)
