"""Release a value exactly where no few rows could change it, and no answer elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Approximate
from discreet.core.parameters import Number, exact
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.robust.ballots import lead
from discreet.mechanisms.robust.blocks import FAILED, Function, outcome
from discreet.mechanisms.robust.lattice import as_number
from discreet.mechanisms.robust.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.robust.noisy_test import NoisyTest, keep_price
from discreet.noise import SYSTEM, Source
from discreet.noise.randomness import require_source


@dataclass(frozen=True, kw_only=True)
class Stable:
    """What all stability-based releases share: the price and the test on a whole distance."""

    epsilon: Number
    delta: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        keep_price(self)
        _ = self.test

    @property
    def event(self) -> Event:
        """The whole price, whether or not there is an answer."""
        return mark_unprotected_event(
            Approximate(epsilon=self.epsilon, delta=self.delta), self.randomness
        )

    @property
    def test(self) -> NoisyTest:
        """distance + Lap(1/epsilon) > ln(1/delta)/epsilon."""
        return NoisyTest.with_false_pass(epsilon=self.epsilon, chance=exact(self.delta) / 2)

    def distance_needed(self, *, confidence: float) -> int:
        """How many rows away from instability the data must be to be answered."""
        return self.test.least_value(confidence=confidence)


@dataclass(frozen=True, kw_only=True)
class StableValue(Stable):
    """Any value, of any type, released exactly where it is far from changing (A_dist).

    Assumptions, under whichever adjacency the caller means: ``distance`` moves by at most one
    between neighbours, and is zero or less wherever some neighbour's value differs.

    Contract: a raising ``value`` counts as no answer, and that is part of the function; distances
    are rounded down; a failing one counts as zero.

    Guarantee: (epsilon, delta)-differential privacy (in truth delta/2). No noise is added to the
    value; a failed test is :class:`NoAnswer` at the same price.

    >>> StableValue(value=max, distance=len, epsilon=1, delta=1e-6).distance_needed(confidence=.95)
    17

    Source: 000b:B7 (Dwork and Roth, Algorithm 13; the threshold in their prose is another). Proof:
    ``proofs/robust-stability.md``.
    """

    value: Function
    distance: Function

    def release(self, data: Any) -> Any | NoAnswer:
        """The value itself, or no answer."""
        result, away = outcome(self.value, data), outcome(self.distance, data)
        number = math.nan if away is FAILED else as_number(away)
        whole = 0 if math.isnan(number) else math.floor(max(-1e12, min(1e12, number)))
        passed = self.test.passes(whole, self.randomness)
        return result if passed and result is not FAILED else NO_ANSWER


@dataclass(frozen=True, kw_only=True)
class StableMode(Stable):
    """The most frequent value, out of a set that need not be known, if its lead is clear.

    Assumptions: a row is a person; neighbours differ by one row *added or removed*. Under replace
    the lead moves twice as fast and this would not be private.

    Contract: rows are numbers, text, bytes, booleans, or tuples or frozensets of these; others,
    None and NaN do not count. 1, 1.0 and True are different values.

    Guarantee: (epsilon, delta)-differential privacy (in truth delta/2); the value released is
    exact. A failed test is :class:`NoAnswer` at the same price.

    >>> StableMode(epsilon=1, delta=1e-6).lead_needed(confidence=0.95)
    18

    Source: 000b:B7, with distance max(0, c1 - c2 - 1). Proof: ``proofs/robust-stability.md``.
    """

    def release(self, rows: Any) -> Any | NoAnswer:
        """The mode itself, or no answer."""
        first = lead(rows)
        passed = self.test.passes(max(0, first.gap - 1), self.randomness)
        return first.winner if passed and first.any_votes else NO_ANSWER

    def lead_needed(self, *, confidence: float) -> int:
        """How many rows the mode must be ahead of the next value to be answered."""
        return self.distance_needed(confidence=confidence) + 1
