"""Propose-test-release: noise for a proposed sensitivity, if the data lie far from exceeding it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Approximate
from discreet.core.parameters import Number, exact
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.grid import ordinary
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.robust.blocks import FAILED, Function, outcome
from discreet.mechanisms.robust.lattice import Lattice, as_number, read_bounds, rows_of
from discreet.mechanisms.robust.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.robust.noisy_test import NoisyTest, keep_price
from discreet.mechanisms.robust.order_statistics import sorted_rows
from discreet.noise import SYSTEM, Source
from discreet.noise.laplace import checked_scale
from discreet.noise.randomness import require_source


@dataclass(frozen=True, kw_only=True)
class Proposal(ABC):
    """What both forms share: the price, the proposed bound, the test and the noise."""

    bound: Number
    bounds: tuple[Number, Number]
    epsilon: Number
    delta: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        object.__setattr__(self, "bound", ordinary("bound", self.bound))
        keep_price(self)
        object.__setattr__(self, "bounds", read_bounds(self.bounds))
        Lattice.between(self.bounds)
        self.error(confidence=0.5)
        _ = self.test

    @property
    def event(self) -> Event:
        """Test and release together, whether or not there is an answer."""
        return mark_unprotected_event(
            Approximate(epsilon=self.epsilon, delta=self.delta), self.randomness
        )

    @property
    def test(self) -> NoisyTest:
        """distance + Lap(2/epsilon) > 2 ln(1/2 delta) / epsilon."""
        return NoisyTest.with_false_pass(epsilon=self._half(), chance=self.delta)

    def error(self, *, confidence: float) -> float:
        """Bound on the error of an answer, if there is one, at ``confidence``."""
        return self._noise(self.bound).error(confidence=confidence)

    def distance_needed(self, *, confidence: float) -> int:
        """How many rows away from trouble the data must be to be answered at ``confidence``."""
        return self.test.least_value(confidence=confidence)

    def _noise(self, sensitivity: Number) -> Laplace:
        return Laplace(epsilon=self._half(), sensitivity=sensitivity, randomness=self.randomness)

    def _half(self) -> Fraction:
        return exact(self.epsilon) / 2

    @abstractmethod
    def release(self, data: Any) -> float | NoAnswer:
        """The noisy value, or no answer."""


@dataclass(frozen=True, kw_only=True)
class ProposeTestRelease(Proposal):
    """Any real function whose local sensitivity is at most ``bound`` far around the data.

    Assumptions, under whichever adjacency the caller means (it is the caller's, and must be the
    same throughout): ``value`` is a function into the reals; ``distance`` moves by at most one
    between neighbours, and is zero or less wherever some neighbour's value differs by more than
    ``bound``. The number of changes to the nearest such data set is such a distance, and so is any
    lower bound of it that moves by at most one.

    Contract: values are clamped to ``bounds``; NaN and raising count as the lower bound and are
    part of the function. Distances are rounded down; a failing one counts as zero.

    Guarantee: (epsilon, delta)-differential privacy in all: epsilon/2 for the test, epsilon/2 for
    the noise, delta for passing by accident. A failed test is :class:`NoAnswer` at the same price.

    >>> ptr = ProposeTestRelease(value=sum, distance=len, bound=1, bounds=(0, 100),
    ...                          epsilon=1, delta=1e-6)
    >>> ptr.event, ptr.distance_needed(confidence=0.95)
    (Approximate(epsilon=1, delta=1e-06), 31)

    Source: 000b:B5 (Dwork and Roth, section 7.2, with the exact threshold). Proof:
    ``proofs/robust-propose-test-release.md``.
    """

    value: Function
    distance: Function

    def release(self, data: Any) -> float | NoAnswer:
        """The noisy value, or no answer."""
        lower, upper = map(float, self.bounds)
        number = as_number(outcome(self.value, data))
        clamped = lower if math.isnan(number) else min(max(number, lower), upper)
        if not self.test.passes(_whole(outcome(self.distance, data)), self.randomness):
            return NO_ANSWER
        noisy = self._noise(self.bound).release(clamped)
        return float(min(max(noisy, lower), upper))


@dataclass(frozen=True, kw_only=True)
class ProposedMedian(Proposal):
    """The median, with noise for the proposed ``bound`` on how far one row can move it.

    Assumptions: a row is a person, rows are *replaced*, and their number is public.

    Contract: numbers are clamped to ``bounds``; NaN and None count as the lower bound. Of an even
    number of rows the lower median is meant.

    Guarantee: (epsilon, delta)-differential privacy in all, as for :class:`ProposeTestRelease`.

    >>> median = ProposedMedian(bound=2, bounds=(0, 100), epsilon=1, delta=1e-6)
    >>> round(median.error(confidence=0.95), 3)
    11.983

    Source: 000b:B5, with the distance from A^(k). Proof:
    ``proofs/robust-propose-test-release.md``.
    """

    def error(self, *, confidence: float) -> float:
        """Bound on the error of an answer, if there is one, at ``confidence``."""
        lattice = Lattice.between(self.bounds)
        noise = self._noise(self._bound_in_steps(lattice))
        checked_scale(exact(noise.scale(kind=int)))
        return lattice.length(noise.error(confidence=confidence, kind=int) + 1)

    def release(self, data: Any) -> float | NoAnswer:
        """The noisy median, or no answer."""
        rows_of(data)
        lattice = Lattice.between(self.bounds)
        rows = sorted_rows(data, lattice)
        bound = self._bound_in_steps(lattice)
        if not self.test.passes(rows.distance_to_sensitivity(bound), self.randomness):
            return NO_ANSWER
        return lattice.value(int(self._noise(bound).release(rows.median)))

    def _bound_in_steps(self, lattice: Lattice) -> int:
        """More than the whole range is never needed."""
        return min(lattice.steps_for(self.bound), lattice.width)


def _whole(distance: Any) -> int:
    number = math.nan if distance is FAILED else as_number(distance)
    return 0 if math.isnan(number) else math.floor(max(-1e12, min(1e12, number)))
