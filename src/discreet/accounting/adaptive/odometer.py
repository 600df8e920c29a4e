"""Odometers: a running total with no limit, and what it proves when one stops.

What holds, for any adaptive adversary who stops whenever they like: fix numbers in advance, and
take any set of outcomes in all of which ``spent()`` is within them; on that set the guarantee
with these numbers holds. So a total of one may be read as epsilon = 1 in the outcomes where it
is at most one, although the adversary could have gone on.

For (epsilon, delta) from rho the number to be fixed is not known before one stops. The converted
odometer pays for that: it fixes a ladder of rhos, each twice the last, and gives each rung a part
of delta.

Proof: ``proofs/filters.md``. Source: 004d:F15, M7; modern-learn:13.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.adaptive.account import Draft, PrivacyAccount
from discreet.accounting.adaptive.currency import (
    Currency,
    Epsilons,
    EpsilonsAndDeltas,
    RenyiAt,
    Rhos,
)
from discreet.accounting.adaptive.steps import STEPS, Amounts, plus
from discreet.accounting.zcdp import zcdp_epsilon
from discreet.core.errors import Exhausted
from discreet.core.guarantee import ApproxDP, Guarantee, RenyiDP
from discreet.core.parameters import Number, exact, positive, probability, rounded_down, rounded_up
from discreet.core.unit import PrivacyUnit


class PrivacyOdometer(PrivacyAccount):
    """Adds up one currency without limit."""

    def __init__(self, currency: Currency) -> None:
        """Start at zero."""
        super().__init__(currency)

    def _propose(self, charge: Amounts, draft: Draft) -> bool:
        draft[self] = plus(self._spent, charge)
        return True

    def _exhausted(self, charge: Amounts) -> Exhausted:
        raise AssertionError(charge)

    def __repr__(self) -> str:
        """What is spent."""
        return f"{type(self).__name__}(spent={self.spent()})"


class PureOdometer(PrivacyOdometer):
    """Pure epsilons, added up.

    Guarantee: no outcome changes its probability by more than exp(spent) in that outcome.
    """

    def __init__(self, *, unit: PrivacyUnit | None = None) -> None:
        """Start at zero."""
        super().__init__(Epsilons(unit))


class ApproxOdometer(PrivacyOdometer):
    """Pairs (epsilon, delta), added up; once delta reaches one, ``spent`` promises nothing.

    Guarantee: on any set of outcomes with spent at most (e, d), P(S) <= exp(e) Q(S) + d.
    """

    def __init__(self, *, unit: PrivacyUnit | None = None) -> None:
        """Start at zero."""
        super().__init__(EpsilonsAndDeltas(unit))


class ZCDPOdometer(PrivacyOdometer):
    """Zero-concentrated rho, added up.

    Guarantee: on any set of outcomes with rho at most r, P(S) <= exp(e) Q(S) + d for every
    (e, d) that follows from r-zCDP, where r and d were fixed in advance. Reading an epsilon off
    the rho at which one happened to stop is not covered; ``converted`` is.
    """

    def __init__(self, *, unit: PrivacyUnit | None = None) -> None:
        """Start at zero."""
        super().__init__(Rhos(unit))

    @staticmethod
    def converted(
        *, delta: Number, first: Number, unit: PrivacyUnit | None = None
    ) -> ConvertedOdometer:
        """Report (epsilon, delta) whenever one likes; see :class:`ConvertedOdometer`."""
        return ConvertedOdometer(delta=delta, first=first, unit=unit)


class RenyiOdometer(PrivacyOdometer):
    """Rényi divergence of one order, added up.

    Guarantee: on any set of outcomes with spent at most b, P(S) <= exp(e) Q(S) + d for every
    (e, d) that follows from b at this order, where b and d were fixed in advance.
    """

    def __init__(self, *, alpha: Number, unit: PrivacyUnit | None = None) -> None:
        """Start at zero, at one order."""
        super().__init__(RenyiAt(unit, RenyiDP(alpha=alpha, epsilon=0).alpha))


class ConvertedOdometer(PrivacyOdometer):
    """Adds up rho and reports (epsilon, ``delta``), valid at whatever moment one stops.

    Contract: ``delta`` and ``first`` (the rho of the first rung) are fixed now, before any
    answer. Rung j holds rhos up to first 2**j and has delta / ((j+1)(j+2)).
    Guarantee: with E what ``spent().epsilon`` is in an outcome, P(S) <= E_Q[exp(E) 1_S] + delta
    for every set S of outcomes; where E is at most e on S, P(S) <= exp(e) Q(S) + delta.

    >>> from discreet import events
    >>> odometer = ZCDPOdometer.converted(delta=1e-6, first=0.01)
    >>> odometer.record(events.Gaussian(noise_multiplier=5))
    >>> round(odometer.spent().epsilon, 3), zcdp_epsilon(0.02, 1e-6) < odometer.spent().epsilon
    (0.975, True)
    """

    def __init__(self, *, delta: Number, first: Number, unit: PrivacyUnit | None = None) -> None:
        """Fix the ladder."""
        super().__init__(Rhos(unit))
        self._delta = exact(probability("delta", delta))
        self._first = exact(positive("first", first))

    def spent(self) -> Guarantee:
        """The pair of the rung on which the total lies."""
        with self._alone():
            rho = Fraction(self._spent[0], STEPS)
        if rho == 0:
            return ApproxDP(epsilon=0, delta=0, unit=self.unit)
        top, rung = self._first, 0
        while top < rho:
            top, rung = 2 * top, rung + 1
        share = rounded_down(self._delta / ((rung + 1) * (rung + 2)))
        epsilon = zcdp_epsilon(rounded_up(top), share)
        return ApproxDP(epsilon=epsilon, delta=rounded_up(self._delta), unit=self.unit)
