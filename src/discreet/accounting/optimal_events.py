"""The optimal accountant: events known only by (epsilon, delta), composed as well as can be.

Prices pure and approximate events and their compositions where the optimum is computed exactly:
one epsilon any number of times, or few enough different ones. For events fixed in advance.

Source: 004a:D12, 004a:D13. Proof: ``proofs/composition.md``.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.mixed import Copies, mixed_delta, mixed_epsilon
from discreet.accounting.pure import PURE
from discreet.core.accountant import Accountant
from discreet.core.errors import Unpriced
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Nothing, Repeated
from discreet.core.parameters import exact, rounded_up

FEW = 1 << 14
_MOST_TIMES = 1 << 36
"""Most sums of losses that this accountant lists; larger ones belong to the privacy loss one."""


@dataclass(frozen=True)
class Multiset:
    """How often each (loss, slack) occurs."""

    times: tuple[tuple[tuple[Fraction, Fraction], int], ...] = ()

    def __add__(self, other: Multiset) -> Multiset:
        total = Counter(dict(self.times))
        total.update(dict(other.times))
        return Multiset(tuple(sorted(total.items())))

    def repeated(self, k: int) -> Multiset:
        """The events of ``k`` equal runs."""
        return Multiset(tuple((pair, k * n) for pair, n in self.times))

    def parts(self) -> list[Copies]:
        """As the composition theorem takes them."""
        return [Copies(loss=loss, slack=slack, times=n) for (loss, slack), n in self.times]


class OptimalAccountant(Accountant[Multiset]):
    """Price: the multiset of (epsilon, delta) pairs. Guarantee: their optimal composition."""

    def price(self, event: Event) -> Multiset:
        """Own prices first; whatever else is purely priced is one pair with delta zero."""
        if not self.knows(event) and PURE.knows(event):
            return Multiset((((PURE.price(event), Fraction(0)), 1),))
        return super().price(event)

    def epsilon(self, event: Event, delta: float) -> float:
        """The optimum at ``delta``, rounded up."""
        parts = self._exactly(event)
        return mixed_epsilon(parts, delta=delta) if parts else 0.0

    def delta(self, event: Event, epsilon: float) -> float:
        """The optimum at ``epsilon``, rounded up."""
        parts = self._exactly(event)
        return mixed_delta(parts, epsilon=epsilon) if parts else 0.0

    def _exactly(self, event: Event) -> list[Copies]:
        parts = self.price(event).parts()
        losses: Counter[Fraction] = Counter()
        for part in parts:
            losses[exact(part.loss)] += part.times
        too_many = len(losses) > 1 and math.prod(n + 1 for n in losses.values()) > FEW
        too_many = too_many or any(n > _MOST_TIMES for n in losses.values())
        if too_many or any(math.isinf(rounded_up(loss)) for loss in losses):
            raise Unpriced(
                code="unpriced",
                expectation="few enough different epsilons to list all sums of losses",
                received=event.kind,
                remedy="Use mixed_epsilon, or the privacy loss accountant.",
            )
        return parts


OPTIMAL = OptimalAccountant()


@OPTIMAL.prices(Nothing)
def _nothing(event: Nothing) -> Multiset:
    return Multiset()


@OPTIMAL.prices(basic.Approximate)
def _approximate(event: basic.Approximate) -> Multiset:
    return Multiset((((exact(event.loss), exact(event.slack)), 1),))


@OPTIMAL.prices(Composed)
def _composed(event: Composed) -> Multiset:
    total: Counter[tuple[Fraction, Fraction]] = Counter()
    for part in event.parts:  # all at once: adding one by one would sort a thousand times
        total.update(dict(OPTIMAL.price(part).times))
    return Multiset(tuple(sorted(total.items())))


@OPTIMAL.prices(Repeated)
def _repeated(event: Repeated) -> Multiset:
    return OPTIMAL.price(event.event).repeated(event.times)
