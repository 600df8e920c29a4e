"""Scale: the interquartile range up to a factor, if it is stable, and no answer otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Approximate
from discreet.core.parameters import Number, count, exact, finite
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.robust.lattice import Lattice, read_bounds, rows_of
from discreet.mechanisms.robust.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.robust.noisy_test import NoisyTest, keep_price
from discreet.mechanisms.robust.quartiles import Quartiles, quartiles
from discreet.noise import SYSTEM, Source
from discreet.noise.randomness import require_source

_SMALLEST_BASE = Fraction(101, 100)
_LARGEST_BASE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The interquartile range of numbers, with noise on its logarithm.

    The logarithm to ``base`` is cut into bins of width one, in two ways half a bin apart. Where
    the range is several changed rows away from leaving its bin, no single row moves the logarithm
    by more than one, and Laplace noise is added to it. The first way that passes gives the answer.

    Assumptions: a row is a person, rows are *replaced*, and their number n is public.

    Contract: numbers are clamped to ``bounds``; NaN and None count as the lower bound. A smaller
    base is more precise and less often answers; ``base_for(n)`` is the book's advice.

    Guarantee: (epsilon, delta)-differential privacy in all: for each of the two ways a test and a
    release at epsilon/4 each, and delta/2 for passing by accident. A failed test is
    :class:`NoAnswer` at the same price; zero is an answer, for data of which half are equal.

    >>> Scale(bounds=(0, 1000), base=2, epsilon=1, delta=1e-6).event
    Approximate(epsilon=1, delta=1e-06)

    Source: 000b:B6 (Dwork and Roth, Algorithm 12), corrected: the printed threshold ln(1/delta)
    must be ln(1/delta)/epsilon. Proof: ``proofs/robust-scale.md``.
    """

    bounds: tuple[Number, Number]
    base: Number
    epsilon: Number
    delta: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        keep_price(self)
        object.__setattr__(self, "bounds", read_bounds(self.bounds))
        object.__setattr__(self, "base", finite("base", self.base))
        Lattice.between(self.bounds)
        _ = self.test
        if not _SMALLEST_BASE <= self.base <= _LARGEST_BASE:
            raise InvalidParameter(
                code="base_out_of_range",
                expectation="a base of logarithms between 1.01 and 2**20",
                received=self.base,
                remedy="Use 2, or base_for(n) for a public number n of rows.",
            )

    @property
    def event(self) -> Event:
        """Both tests and both releases together, whether or not there is an answer."""
        return mark_unprotected_event(
            Approximate(epsilon=self.epsilon, delta=self.delta), self.randomness
        )

    @property
    def test(self) -> NoisyTest:
        """moves + Lap(4/epsilon) > 1 + 4 ln(1/delta) / epsilon."""
        return NoisyTest.with_false_pass(
            epsilon=self._share(), chance=exact(self.delta) / 2, limit=1
        )

    def release(self, data: Any) -> float | NoAnswer:
        """The noisy range, or no answer."""
        rows_of(data)
        lattice = Lattice.between(self.bounds)
        rows = quartiles(data, lattice)
        answers = [self._one_way(rows, shift) for shift in (0, 1)]
        kept = [answer for answer in answers if not isinstance(answer, NoAnswer)]
        return lattice.length(kept[0]) if kept else NO_ANSWER

    def error(self, *, confidence: float) -> float:
        """The factor by which an answer, if there is one, may be too large or too small."""
        return math.pow(self.base, self._noise().error(confidence=confidence))

    def moves_needed(self, *, confidence: float) -> int:
        """How many rows away from leaving its bin the range must be, to pass one way."""
        return self.test.least_value(confidence=confidence)

    def _one_way(self, rows: Quartiles, shift: int) -> Fraction | NoAnswer:
        """The noisy range in steps, with bins shifted by ``shift`` halves."""
        place = rows.bin(float(self.base), shift)
        passed = self.test.passes(rows.moves_out_of(place), self.randomness)
        # Within its bin by force, so that floating point cannot part neighbours by more than one.
        middle = 0.0 if place.halves is None else (place.halves + 1) / 2
        logarithm = math.log(max(rows.range, 1)) / math.log(self.base)
        inside = min(max(logarithm, middle - 0.5), middle + 0.5)
        noisy = self._noise().release(inside)
        if not passed:
            return NO_ANSWER
        if place.halves is None:
            return Fraction(0)
        largest = math.log(rows.width) / math.log(self.base)
        return exact(math.pow(self.base, min(max(noisy, 0.0), largest)))

    def _noise(self) -> Laplace:
        return Laplace(epsilon=self._share(), sensitivity=1, randomness=self.randomness)

    def _share(self) -> Fraction:
        return exact(self.epsilon) / 4


def base_for(rows: int) -> float:
    """1 + 1/ln n, the base that the book recommends for a public number n of rows.

    >>> round(base_for(1000), 4)
    1.1448
    """
    return 1 + 1 / math.log(count("rows", rows, least=3))
