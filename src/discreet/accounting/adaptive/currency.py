"""Currencies: what is added up when events are chosen one by one, in view of earlier answers.

Only sums for which adaptive choice is proved are here: epsilon; (epsilon, delta); rho; rho with a
delta set apart; and Rényi divergence of orders fixed in advance. Privacy loss distributions and
whole (epsilon, delta) curves are not, because the best point of a curve depends on when the
adversary stops.

Proof: ``proofs/filters.md``. Source: 004d:F12, F15; modern-learn:13; contract, "Spending".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.adaptive.orders import renyi_price
from discreet.accounting.adaptive.steps import Amounts, number_down, number_up, steps_up
from discreet.accounting.approx import APPROX
from discreet.accounting.approx_zcdp import APPROXIMATELY_CONCENTRATED
from discreet.accounting.pure import PURE
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core import pricing
from discreet.core.errors import InvalidParameter, Mismatch, Unpriced
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import Number, delta_parameter, exact
from discreet.core.unit import PrivacyUnit


@dataclass(frozen=True)
class Currency(ABC):
    """Prices events in amounts that add up, and says what an amount promises to ``unit``."""

    unit: PrivacyUnit | None

    @abstractmethod
    def price(self, event: Event, delta: Number | None) -> Amounts:
        """The charge for ``event``, rounded up."""

    @abstractmethod
    def read_amounts(self, guarantee: Guarantee, steps: Callable[[Fraction], int]) -> Amounts:
        """The amounts of a limit or share, rounded by ``steps``."""

    @abstractmethod
    def write(self, amounts: Amounts, number: Callable[[int], float]) -> Guarantee:
        """The guarantee of ``amounts``, rounded by ``number``."""

    def spent(self, amounts: Amounts) -> Guarantee:
        """What ``amounts`` already charged promise."""
        return self.write(amounts, number_up)

    def write_amounts_rounded_down(self, amounts: Amounts) -> Guarantee:
        """What may still be charged."""
        return self.write(amounts, number_down)

    @property
    def zero(self) -> Amounts:
        """The amounts before anything is spent."""
        return (0,)


@dataclass(frozen=True)
class Epsilons(Currency):
    """Pure epsilons, added up."""

    def price(self, event: Event, delta: Number | None) -> Amounts:
        _no_delta(delta)
        return (steps_up(PURE.price(event)),)

    def read_amounts(self, guarantee: Guarantee, steps: Callable[[Fraction], int]) -> Amounts:
        match guarantee:
            case PureDP() if guarantee.unit == self.unit:
                return (steps(exact(guarantee.epsilon)),)
        raise _foreign(guarantee, "PureDP", self.unit)

    def write(self, amounts: Amounts, number: Callable[[int], float]) -> PureDP:
        return PureDP(epsilon=number(amounts[0]), unit=self.unit)


@dataclass(frozen=True)
class EpsilonsAndDeltas(Currency):
    """Pairs (epsilon, delta), each fixed before its event runs, added up component by component."""

    def price(self, event: Event, delta: Number | None) -> Amounts:
        """At the given delta the least certified epsilon; without one, what the event states."""
        if delta is None:
            epsilon, spare = _stated(event)
        else:
            spare = exact(delta_parameter("delta", delta))
            epsilon = exact(_finite(pricing.epsilon(event, spare)))
        return (steps_up(epsilon), steps_up(spare))

    def read_amounts(self, guarantee: Guarantee, steps: Callable[[Fraction], int]) -> Amounts:
        match guarantee:
            case ApproxDP() if guarantee.unit == self.unit:
                return (steps(exact(guarantee.epsilon)), steps(exact(guarantee.delta)))
        raise _foreign(guarantee, "ApproxDP", self.unit)

    def write(self, amounts: Amounts, number: Callable[[int], float]) -> ApproxDP:
        return ApproxDP(epsilon=number(amounts[0]), delta=number(amounts[1]), unit=self.unit)

    @property
    def zero(self) -> Amounts:
        return (0, 0)


@dataclass(frozen=True)
class Rhos(Currency):
    """Zero-concentrated rho, added up."""

    def price(self, event: Event, delta: Number | None) -> Amounts:
        _no_delta(delta)
        return (steps_up(ZERO_CONCENTRATED.price(event)),)

    def read_amounts(self, guarantee: Guarantee, steps: Callable[[Fraction], int]) -> Amounts:
        match guarantee:
            case ZCDP() if guarantee.unit == self.unit:
                return (steps(exact(guarantee.rho)),)
        raise _foreign(guarantee, "ZCDP", self.unit)

    def write(self, amounts: Amounts, number: Callable[[int], float]) -> ZCDP:
        return ZCDP(rho=number(amounts[0]), unit=self.unit)


@dataclass(frozen=True)
class RhosAndDeltas(Currency):
    """Zero-concentrated rho, and the delta set apart, each added up.

    Proof: ``proofs/key_selection.md``.
    """

    def price(self, event: Event, delta: Number | None) -> Amounts:
        """The approximately concentrated price; most events set nothing apart."""
        _no_delta(delta)
        apart = APPROXIMATELY_CONCENTRATED.price(event)
        return (steps_up(apart.rho), steps_up(apart.delta))

    def read_amounts(self, guarantee: Guarantee, steps: Callable[[Fraction], int]) -> Amounts:
        """Of an :class:`ApproxZCDP`, or of a :class:`ZCDP`, which sets nothing apart."""
        match guarantee:
            case ApproxZCDP() if guarantee.unit == self.unit:
                return (steps(exact(guarantee.rho)), steps(exact(guarantee.delta)))
            case ZCDP() if guarantee.unit == self.unit:
                return (steps(exact(guarantee.rho)), 0)
        raise _foreign(guarantee, "ApproxZCDP", self.unit)

    def write(self, amounts: Amounts, number: Callable[[int], float]) -> ApproxZCDP:
        return ApproxZCDP(rho=number(amounts[0]), delta=number(amounts[1]), unit=self.unit)

    @property
    def zero(self) -> Amounts:
        return (0, 0)


@dataclass(frozen=True)
class RenyiAt(Currency):
    """Rényi divergence of the one order ``alpha``, added up."""

    alpha: Number

    def price(self, event: Event, delta: Number | None) -> Amounts:
        """The Rényi price at the order."""
        _no_delta(delta)
        return (steps_up(exact(_finite(renyi_price(event, self.alpha)))),)

    def read_amounts(self, guarantee: Guarantee, steps: Callable[[Fraction], int]) -> Amounts:
        """Of a :class:`RenyiDP` at the same order."""
        match guarantee:
            case RenyiDP() if guarantee.unit == self.unit and guarantee.alpha == self.alpha:
                return (steps(exact(guarantee.epsilon)),)
        raise _foreign(guarantee, f"RenyiDP(alpha={self.alpha})", self.unit)

    def write(self, amounts: Amounts, number: Callable[[int], float]) -> RenyiDP:
        return RenyiDP(alpha=self.alpha, epsilon=number(amounts[0]), unit=self.unit)


@dataclass(frozen=True)
class RenyiAtEach(Currency):
    """Rényi divergences of several orders side by side, which together serve one ``promise``."""

    orders: tuple[Number, ...]
    promise: ApproxDP

    def price(self, event: Event, delta: Number | None) -> Amounts:
        """The Rényi price at each order."""
        _no_delta(delta)
        prices = (renyi_price(event, alpha) for alpha in self.orders)
        return tuple(steps_up(exact(_finite(price))) for price in prices)

    def read_amounts(self, guarantee: Guarantee, steps: Callable[[Fraction], int]) -> Amounts:
        """Refused: the promise of several orders is not a sum of shares."""
        raise Mismatch(
            code="no_shares",
            expectation="a budget whose privacy definition adds up",
            received=type(guarantee).__name__,
            remedy="Use ZCDPFilter.converted, or RenyiFilter at one order, to hand out shares.",
        )

    def write(self, amounts: Amounts, number: Callable[[int], float]) -> RenyiDP:
        """The order with the largest amount, as :class:`RenyiDP`."""
        most = max(range(len(amounts)), key=amounts.__getitem__)
        return RenyiDP(alpha=self.orders[most], epsilon=number(amounts[most]), unit=self.unit)

    def spent(self, amounts: Amounts) -> Guarantee:
        """The whole promise as soon as anything is spent: no smaller pair is proved."""
        if not any(amounts):
            return ApproxDP(epsilon=0, delta=0, unit=self.unit)
        return self.promise

    @property
    def zero(self) -> Amounts:
        return (0,) * len(self.orders)


def _stated(event: Event) -> tuple[Fraction, Fraction]:
    """The pair an event states by itself, with no choice of delta."""
    try:
        sums = APPROX.price(event)
    except Unpriced:
        epsilon = pricing.epsilon(event, 0)
        if math.isfinite(epsilon):
            return exact(epsilon), Fraction(0)
    else:
        if not sums.inverse_squares:
            return sums.epsilon, sums.delta
    raise InvalidParameter(
        code="delta_needed",
        expectation="the delta at which this event enters the sum, fixed before it runs",
        received=event.kind,
        remedy="Pass delta=, a share of the budget's delta; or use a ZCDP budget.",
    )


def _no_delta(delta: Number | None) -> None:
    if delta is not None:
        raise InvalidParameter(
            code="delta_not_spent",
            expectation="no delta, since this budget does not spend any",
            received=delta,
            remedy="Leave delta= out, or open the budget with ApproxDP.",
        )


def _finite(price: Number) -> Number:
    if isinstance(price, float) and not math.isfinite(price):
        raise Unpriced(
            code="price_infinite",
            expectation="an event with a finite price in this budget's privacy definition",
            received=price,
            remedy="Choose a larger delta, a lower order, or more noise.",
        )
    return price


def _foreign(guarantee: Guarantee, wanted: str, unit: PrivacyUnit | None) -> Mismatch:
    return Mismatch(
        code="notion_mismatch",
        expectation=f"{wanted} for the unit {unit!r}",
        received=guarantee,
        remedy="A budget is spent in the privacy definition and for the unit it was opened with.",
    )
