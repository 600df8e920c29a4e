"""Declared bounds: every number of a row becomes a whole number of steps within them.

A number is clamped to its bounds, mapped to [-1, 1], and rounded to 2**-36. Bad values follow a
fixed rule, row by row: NaN counts as the middle, infinity as the bound it lies beyond. Nothing is
raised and no warning is given because of a value.

Source: contract, "Columns", "Numbers"; 004d:M2. Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter

BITS = 36
"""Steps of 2**-36: one is 2**36 of them."""
ONE = 2.0**BITS
_WIDEST = 2.0**400


@dataclass(frozen=True, eq=False)
class Box:
    """Lower and upper bounds of each feature, finite and public."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, bounds: Any, features: int, *, name: str = "bounds") -> Box:
        """Read ``(low, high)``, numbers or one for each feature; refuse what is no interval."""
        try:
            low, high = (np.asarray(each, dtype=np.float64) for each in bounds)
            low, high = (np.broadcast_to(each, (features,)).copy() for each in (low, high))
        except (TypeError, ValueError, OverflowError):
            raise _not_bounds(name, type(bounds).__name__) from None
        usual = (np.abs([low, high]) <= _WIDEST).all()
        if not usual or not (high - low >= 1 / _WIDEST).all():
            raise _not_bounds(name, "numbers that are no usual intervals")
        return cls(low, high)

    @property
    def middle(self) -> Floats:
        """Where a number counts as zero."""
        middle: Floats = self.low / 2 + self.high / 2
        return middle

    @property
    def half(self) -> Floats:
        """What one stands for."""
        half: Floats = self.high / 2 - self.low / 2
        return half

    def steps(self, values: Floats) -> Floats:
        """Whole numbers within ±2**36, as doubles: a function of each number alone."""
        return self.columns(values.T, np.empty(values.T.shape)).T

    def columns(self, values: Floats, out: Floats) -> Floats:
        """The same with one row for each feature, which is faster, written into ``out``."""
        middle = self.middle[:, None]
        np.clip(values, self.low[:, None], self.high[:, None], out=out)
        np.copyto(out, middle, where=np.isnan(out))
        out -= middle
        out *= (ONE / self.half)[:, None]
        np.rint(out, out=out)
        return np.clip(out, -ONE, ONE, out=out)

    def filled(self, values: Floats) -> Floats:
        """Numbers clamped to the bounds, the middle where one is missing; for predictions."""
        return np.where(np.isnan(values), self.middle, np.clip(values, self.low, self.high))

    def units(self, values: Floats) -> Floats:
        """Numbers in units of the box, clamped; for predictions, which need no grid."""
        return self._units(values, np.empty(values.shape))

    def units_and_one(self, values: Floats) -> Floats:
        """The same with a last column of ones, for an intercept."""
        both = np.ones((len(values), values.shape[1] + 1))
        self._units(values, both[:, :-1])
        return both

    def _units(self, values: Floats, out: Floats) -> Floats:
        np.clip(values, self.low, self.high, out=out)
        out -= self.middle
        out /= self.half
        np.copyto(out, 0.0, where=np.isnan(out))
        # Close bounds far from zero have a middle that is none: their ends are beyond one.
        return np.clip(out, -1, 1, out=out)


def _not_bounds(name: str, received: object) -> InvalidParameter:
    return InvalidParameter(
        code="bounds_missing",
        expectation=f"{name}=(low, high), finite numbers with low < high, or a list of each",
        received=received,
        remedy=f"Declare {name} from what is known about the data, never from the data itself.",
    )
