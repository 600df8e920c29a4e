"""What all additive mechanisms share: grid, release, errors and the place in a pipeline."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Integers, Vector
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.events.event import Event, Nothing
from discreet.core.events.mechanisms import Unprotected
from discreet.core.measurement import Measurement
from discreet.core.metric import Metric
from discreet.core.parameters import Number, count, exact, nonnegative, positive, probability
from discreet.core.search import doubled, least
from discreet.core.space import Space
from discreet.mechanisms import grid
from discreet.noise.randomness import SYSTEM, Source, require_source

_MOST_SPEND = 2.0**100


@dataclass(frozen=True, kw_only=True)
class Additive(ABC):
    """Noise added to numbers whose sensitivity is declared.

    Assumptions: neighbouring data sets give vectors at most ``sensitivity`` apart in the
    mechanism's norm; shape and kind (whole or real) of the input are public.
    """

    sensitivity: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse a sensitivity that is not positive and finite."""
        require_source(self.randomness)
        object.__setattr__(self, "sensitivity", grid.ordinary("sensitivity", self.sensitivity))

    @property
    def event(self) -> Event:
        """What one release of a whole array costs; marked if it was not private."""
        return mark_unprotected_event(self._event(Fraction(1)), self.randomness)

    def release(self, value: Any) -> Any:
        """Add noise to a number, a list or an array: one release, whatever the size."""
        array = grid.as_array(value)
        return self._release(array, kind(grid.is_whole(array)))

    def scale(self, *, size: int = 1, kind: type = float) -> float:
        """The noise scale in the caller's units, for ``size`` coordinates of the kind."""
        if kind is not int and kind is not float:
            raise InvalidParameter(
                code="not_a_kind",
                expectation="kind to be int for whole numbers or float for reals",
                received=kind,
                remedy="Pass kind=int or kind=float.",
            )
        exponent = self._exponent(size, kind)
        return float(self._scale_in_steps(exponent, count("size", size), kind)) * 2.0**exponent

    def error(self, *, confidence: float, size: int = 1, kind: type = float) -> float:
        """Bound on the largest absolute error of ``size`` coordinates.

        Guarantee: all errors are at most this with probability at least ``confidence``. For
        ``kind=int`` it is the least whole number for which that holds.
        """
        tail = joint_tail(confidence, size)
        error = self._quantile(tail, self.scale(size=size, kind=kind), kind)
        # Rounding moves a real value and its noise by half a step each.
        return error if kind is int else error + 2.0 ** self._exponent(size, kind)

    def interval(self, released: Any, *, confidence: float) -> tuple[Any, Any]:
        """Lower and upper ends that hold the true values, jointly, at ``confidence``."""
        array = np.asarray(released)
        whole = kind(array.dtype.kind in "iu")
        error = self.error(confidence=confidence, size=array.size, kind=whole)
        values = array if isinstance(released, list | tuple) else released
        return values - whole(error), values + whole(error)

    def over(self, space: Space) -> Measurement[Any, Any]:
        """The mechanism as a measurement on numbers in this mechanism's norm."""
        if type(space.metric) is not self._metric():
            raise Mismatch(
                code="metric_mismatch",
                expectation=f"{self._metric().__name__} distances for {type(self).__name__}",
                received=space.metric,
                remedy="Pass `metric=` to the step before: L1() for Laplace, L2() for Gaussian.",
            )
        size = space.domain.size if isinstance(space.domain, Vector) else 1
        element = space.domain.element if isinstance(space.domain, Vector) else space.domain
        whole = kind(isinstance(element, Integers))
        if self._whole_only() and whole is not int:
            raise Mismatch(
                code="domain_mismatch",
                expectation=f"whole numbers for {type(self).__name__}",
                received=space.domain,
                remedy="Use Laplace or Gaussian for real numbers.",
            )

        def privacy(d_in: Number) -> Event:
            distance = exact(nonnegative("d_in", d_in))
            if distance == 0:
                return Nothing()
            exponent = self._exponent(size, whole)
            share = self._in_steps(distance, exponent, size, whole) / self._in_steps(
                exact(self.sensitivity), exponent, size, whole
            )
            return mark_unprotected_event(self._event(share), self.randomness)

        # By the declared kind, never by that of the value: 3 and 3.5 are both real.
        return Measurement(
            space,
            lambda value: self._release(value, whole),
            privacy,
            lambda confidence: self.error(confidence=confidence, size=size, kind=whole),
        )

    def _release(self, value: Any, kind: type) -> Any:
        """Release numbers as the given kind; whole numbers are welcome as reals."""
        array = grid.as_array(value)
        if kind is int or self._whole_only():
            values = grid.whole_steps(array)
        else:
            values = grid.real_steps(array, self._exponent(array.size, float))
        steps = self._scale_in_steps(values.exponent, values.steps.size, kind)
        return values.with_noise(self._draw(steps, values.steps.size))

    @staticmethod
    def _whole_only() -> bool:
        """Whether reals are refused."""
        return False

    def _exponent(self, size: int, kind: type) -> int:
        if kind is int:
            return 0
        sensitivity = exact(self.sensitivity)
        return grid.real_exponent(sensitivity, sensitivity * self._scale_per_sensitivity(), size)

    def _scale_in_steps(self, exponent: int, size: int, kind: type) -> Fraction:
        known = self._scales
        if (exponent, size, kind) not in known:
            steps = self._in_steps(exact(self.sensitivity), exponent, size, kind)
            known[exponent, size, kind] = steps * self._scale_per_sensitivity()
        return known[exponent, size, kind]

    @cached_property
    def _scales(self) -> dict[tuple[int, int, type], Fraction]:
        """Scales that were asked for: the same one for every release of as many numbers."""
        return {}

    @staticmethod
    @abstractmethod
    def _metric() -> type[Metric]:
        """The norm in which the sensitivity is meant."""

    @abstractmethod
    def _scale_per_sensitivity(self) -> Fraction:
        """Noise scale over sensitivity: what the event fixes."""

    @abstractmethod
    def _in_steps(self, distance: Fraction, exponent: int, size: int, kind: type) -> Fraction:
        """How many grid steps apart vectors can be that were ``distance`` apart before rounding."""

    @abstractmethod
    def _event(self, share: Fraction) -> Event:
        """The event when the distance is ``share`` of the declared sensitivity."""

    @abstractmethod
    def _draw(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        """Noise in grid steps."""

    @abstractmethod
    def _quantile(self, tail: float, scale: float, kind: type) -> float:
        """Least t with P(|noise| > t) <= tail; whole for ``kind=int``."""


def kind(whole: object) -> type:
    """``int`` for whole numbers, ``float`` otherwise."""
    return int if whole else float


def mark_unprotected_event(event: Event, source: Source) -> Event:
    """``event`` if its noise was private; otherwise a record that nothing may be charged for."""
    if source.private:
        return event
    return Unprotected(event, reason=f"test mode: {type(source).__name__}")


def joint_tail(confidence: object, size: int) -> float:
    """Chance each of ``size`` independent errors may have of being too large."""
    return -math.expm1(math.log(probability("confidence", confidence)) / count("size", size))


def least_spend(narrow: Callable[[float], bool]) -> float:
    """The least spend at which a monotone condition holds, on its side; bisection on floats."""
    high = doubled(narrow, 1.0, at_most=_MOST_SPEND)
    if high is None:
        raise InvalidParameter(
            code="error_out_of_reach",
            expectation="an error that some amount of privacy loss can buy",
            remedy="Ask for a larger error, a lower confidence or more people.",
        )
    return least(narrow, high / 2 if high > 1 else 0.0, high, close=0.0)


def positive_error(error: object) -> float:
    """A wanted error, refused unless positive and finite."""
    return float(positive("error", error))


def whole_bound(error: float) -> float:
    """For whole-number noise an error below e is an error of at most floor(e)."""
    if error < 1:
        raise InvalidParameter(
            code="error_below_one",
            expectation="an error of at least one for whole numbers",
            received=error,
            remedy="Ask for an error of one or more, or release real numbers.",
        )
    return float(int(error))
