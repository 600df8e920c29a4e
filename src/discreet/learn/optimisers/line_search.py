"""How far to go along a direction in which an objective falls, where a stiff wall may stand.

The slope along a line is that of the rows, which bends gently, and that of the wall, which is known
without rows and jumps in stiffness where a coordinate meets it. So the next place to look at is
found with the wall's own slope and a straight line for the rest, every second one by halving.

Source: none needed; what is found is certified elsewhere. Proof: ``proofs/optimisers.md`` (that the
search ends).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.core.arrays import Floats

_LOOKS = 160
_HALVINGS = 70


@dataclass(frozen=True)
class LineSearch:
    """Points θ - step · direction for steps up to ``longest``, with the gradient at each.

    ``wall`` is the wall's gradient at a point; ``bend`` is about how fast the slope of all the
    rest falls at θ. Steps that differ by ``near`` are one where the objective bends sharply.
    """

    gradient: Callable[[Any], Any]
    wall: Callable[[Any], Any]
    theta: Any
    direction: Floats
    longest: float
    near: float
    bend: float

    def fallen(self, at: Any) -> tuple[Any, Any]:
        """Where the objective has fallen and hardly falls further, and the gradient there.

        Its slope there is at most half as steep as here, in either direction; or the longest step
        is taken, if it still falls there; or it still falls there, and rises at a step that is
        longer by at most ``near``. Halving finds such a place.
        """
        steep = float(at @ self.direction)
        low, high = _Place(0 * self.theta[0], steep - self._walled(0)), None
        best = self.theta, at
        step = self._guess(low, None)
        for look in range(_LOOKS):
            there = self._at(step)
            found = self.gradient(there)
            left = float(found @ self.direction)
            if abs(left) <= steep / 2 or (left > 0 and step >= self.longest):
                return there, found
            place = _Place(step, left - self._walled(step))
            if left > 0:
                low, best = place, (there, found)
            else:
                high = place
            if high is None:
                step = min(2 * low.step, self.longest + 0 * low.step)
            elif low.step > 0 and high.step - low.step <= self.near:
                break
            else:
                step = self._between(low, high, by_halving=look % 2 == 1)
        return best

    def _between(self, low: _Place, high: _Place, *, by_halving: bool) -> Any:
        """A place between both, by halving or as guessed; just beside one where it was guessed."""
        if by_halving:
            return (low.step + high.step) / 2
        beside = min(self.near, high.step - low.step) / 2
        return min(max(self._guess(low, high), low.step + beside), high.step - beside)

    def _guess(self, low: _Place, high: _Place | None) -> Any:
        """Where the slope is zero, if all of it but the wall's is straight."""
        end = self.longest if high is None else high.step
        falls = self.bend if high is None else (low.slope - high.slope) / float(end - low.step)
        straight = low.step + low.slope / falls if falls > 0 else math.inf
        if low.step < straight < end and self._walled(straight) == 0:
            return straight
        below, above = low.step, end + 0 * low.step
        for _ in range(_HALVINGS):
            middle = (below + above) / 2
            left = low.slope - falls * float(middle - low.step) + self._walled(middle)
            below, above = (middle, above) if left > 0 else (below, middle)
        return (below + above) / 2

    def _at(self, step: Any) -> Any:
        return self.theta - step * self.direction

    def _walled(self, step: Any) -> float:
        """The wall's part of the slope."""
        return float(self.wall(self._at(step)) @ self.direction)


@dataclass(frozen=True)
class _Place:
    """A step, and the slope there without the wall's."""

    step: Any
    slope: float
