"""Privacy filters: a limit fixed at the start, and any events the adversary likes within it.

The number of events, their kinds and their costs may all depend on earlier answers. Whatever the
adversary does, the whole interaction keeps the limit. Each filter adds up one currency for which
this is proved; none of them looks at a curve after the fact.

Proof: ``proofs/filters.md``.
Source: 004d:F12, F15; 004a:D15; modern-learn:13; contract, "Spending".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from discreet.accounting.adaptive.account import Budget, Draft
from discreet.accounting.adaptive.currency import (
    Currency,
    Epsilons,
    EpsilonsAndDeltas,
    RenyiAt,
    RenyiAtEach,
    Rhos,
    RhosAndDeltas,
)
from discreet.accounting.adaptive.orders import renyi_budget
from discreet.accounting.adaptive.steps import Amounts, minus, number_up, plus, steps_down
from discreet.accounting.zcdp import zcdp_rho
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import Number, exact, rounded_down


class PrivacyFilter(Budget):
    """A budget of its own. ``promise`` is what the whole interaction keeps."""

    def __init__(self, currency: Currency, amounts: Amounts, promise: Guarantee) -> None:
        """Fix the limit."""
        super().__init__(currency)
        self._amounts = amounts
        self._promise = promise

    @property
    def promise(self) -> Guarantee:
        """What the interaction keeps: the limit, or the guarantee it was converted from."""
        return self._promise

    @property
    def amounts(self) -> Amounts:
        """The limit in exact amounts of the currency: what a ledger keeps."""
        return self._amounts

    def _propose(self, charge: Amounts, draft: Draft) -> bool:
        total = plus(draft.get(self, self._spent), charge)
        draft[self] = total
        return self._fits(total)

    def _fits(self, total: Amounts) -> bool:
        return all(spent <= most for spent, most in zip(total, self._amounts, strict=True))

    def _ceiling(self) -> Amounts:
        return self._amounts

    def _headroom(self) -> Amounts:
        return minus(self._amounts, self._spent)

    def __repr__(self) -> str:
        """The limit and what is spent."""
        return f"{type(self).__name__}(limit={self.limit}, spent={self.spent()})"


class PureFilter(PrivacyFilter):
    """Pure epsilons add up to the limit at most.

    Guarantee: the whole interaction is ``limit``-private, whatever is chosen adaptively.

    >>> from discreet import events
    >>> budget = PureFilter(limit=PureDP(epsilon=1))
    >>> budget.record(events.Laplace(epsilon=0.4))
    >>> budget.record(events.Laplace(epsilon=0.6))
    >>> budget.admits(events.Laplace(epsilon=1e-300))
    False

    Source: 004d:F12.
    """

    def __init__(self, *, limit: PureDP) -> None:
        """Fix the limit."""
        currency = Epsilons(limit.unit)
        super().__init__(currency, currency.read_amounts(limit, steps_down), limit)


class ApproxFilter(PrivacyFilter):
    """Pairs (epsilon, delta) add up to the limit at most, component by component.

    Contract: an event enters as one pair fixed before it runs. Pure events and those that state
    their delta need nothing more; for Gaussian noise, or to price a batch of fixed events more
    tightly, ``delta=`` says at which delta its curve is read.
    Guarantee: the whole interaction is ``limit``-private, whatever is chosen adaptively.

    >>> from discreet import events
    >>> budget = ApproxFilter(limit=ApproxDP(epsilon=3, delta=1e-6))
    >>> budget.record(events.Gaussian(noise_multiplier=5), delta=5e-7)
    >>> budget.record(events.Laplace(epsilon=1))
    """

    def __init__(self, *, limit: ApproxDP) -> None:
        """Fix the limit."""
        currency = EpsilonsAndDeltas(limit.unit)
        super().__init__(currency, currency.read_amounts(limit, steps_down), limit)


class ZCDPFilter(PrivacyFilter):
    """Zero-concentrated rho adds up to the limit at most.

    Guarantee: the whole interaction is ``limit``-private, whatever is chosen adaptively.
    """

    def __init__(self, *, limit: ZCDP) -> None:
        """Fix the limit."""
        currency = Rhos(limit.unit)
        super().__init__(currency, currency.read_amounts(limit, steps_down), limit)

    @classmethod
    def converted(cls, *, limit: ApproxDP) -> Self:
        """Convert (epsilon, delta) to rho once, now, and then add up rho.

        Better than summing pairs for many Gaussian answers, worse for few pure ones.
        Guarantee: the whole interaction is ``limit``-private; ``promise`` says so.
        """
        rho = zcdp_rho(limit.epsilon, _positive_delta(limit))
        made = cls(limit=ZCDP(rho=rho, unit=limit.unit))
        made._promise = limit
        return made


class ApproxZCDPFilter(PrivacyFilter):
    """Rho, and the delta set apart, add up to the limit at most, component by component.

    Guarantee: the whole interaction is ``limit``-private, whatever is chosen adaptively.
    Proof: ``proofs/key_selection.md``.

    >>> from discreet import events
    >>> budget = ApproxZCDPFilter(limit=ApproxZCDP(rho=0.5, delta=1e-6))
    >>> budget.record(events.ConcentratedThreshold(rho=0.1, delta=1e-6, groups=1, swaps=1))
    >>> budget.remaining().delta
    0.0
    """

    def __init__(self, *, limit: ApproxZCDP) -> None:
        """Fix the limit."""
        currency = RhosAndDeltas(limit.unit)
        super().__init__(currency, currency.read_amounts(limit, steps_down), limit)

    @classmethod
    def converted(cls, *, limit: ApproxDP) -> Self:
        """Convert epsilon and half of delta to rho once, now; set the other half apart.

        Guarantee: the whole interaction is ``limit``-private; ``promise`` says so.
        """
        half = exact(_positive_delta(limit)) / 2
        rho = zcdp_rho(limit.epsilon, rounded_down(half))
        made = cls(limit=ApproxZCDP(rho=rho, delta=half, unit=limit.unit))
        made._promise = limit
        return made


class RenyiFilter(PrivacyFilter):
    """Rényi divergence of the limit's one order adds up to the limit at most.

    Guarantee: the whole interaction is ``limit``-private, whatever is chosen adaptively.
    Source: modern-learn:13.
    """

    def __init__(self, *, limit: RenyiDP) -> None:
        """Fix the limit and its order."""
        currency = RenyiAt(limit.unit, limit.alpha)
        super().__init__(currency, currency.read_amounts(limit, steps_down), limit)

    @classmethod
    def converted(cls, *, limit: ApproxDP, alpha: Number) -> Self:
        """Convert (epsilon, delta) to one order once, now, and then add up at that order."""
        order = RenyiDP(alpha=alpha, epsilon=0).alpha
        (budget,) = _budgets(limit, (order,))
        made = cls(limit=RenyiDP(alpha=order, epsilon=budget, unit=limit.unit))
        made._promise = limit
        return made


class SplitRenyiFilter(PrivacyFilter):
    """Several Rényi orders, of which one must hold to the end; each is paid with its own delta.

    Contract: ``orders`` are fixed now. With K of them, each gets the divergence that is
    (epsilon, delta/K)-private at that order, and the interaction goes on while one order is
    within its own. Without the split, picking the best order afterwards overspends.
    Guarantee: the whole interaction is ``limit``-private. No smaller pair is promised midway:
    ``spent()`` is the limit itself once anything is spent, ``remaining()`` the order with the
    most left, ``spent_at(alpha)`` the sum at one order.
    """

    def __init__(self, *, limit: ApproxDP, orders: Sequence[Number]) -> None:
        """Fix limit, orders and what each may hold."""
        fixed = tuple(RenyiDP(alpha=alpha, epsilon=0).alpha for alpha in orders)
        if not fixed or len(set(fixed)) != len(fixed):
            raise InvalidParameter(
                code="orders_not_distinct",
                expectation="one Rényi order or more, each listed once",
                received=fixed,
                remedy="List the orders once: orders=[4, 8, 16].",
            )
        budgets = _budgets(limit, fixed)
        currency = RenyiAtEach(limit.unit, fixed, limit)
        super().__init__(currency, tuple(steps_down(exact(most)) for most in budgets), limit)

    @property
    def limit(self) -> ApproxDP:
        """What may never be exceeded."""
        assert isinstance(self._promise, ApproxDP)
        return self._promise

    def spent_at(self, alpha: Number) -> RenyiDP:
        """The sum at one of the orders."""
        assert isinstance(self._currency, RenyiAtEach)
        place = self._currency.orders.index(alpha)
        with self._alone():
            steps = self._spent[place]
        return RenyiDP(alpha=alpha, epsilon=number_up(steps), unit=self.unit)

    def _fits(self, total: Amounts) -> bool:
        # Sums only grow, so an order that holds at the end has held all along.
        return any(spent <= most for spent, most in zip(total, self._amounts, strict=True))


def filter_for(limit: Guarantee) -> PrivacyFilter:  # noqa: PLR0911 -- one line for each definition
    """The filter in the limit's own definition; ``ApproxDP(..., by=ZCDP)`` converts once, now.

    >>> filter_for(ZCDP(rho=0.5)).remaining()
    ZCDP(unit=None, rho=0.5)
    """
    match limit:
        case PureDP():
            return PureFilter(limit=limit)
        case ApproxDP(by=by) if by is ZCDP:
            return ZCDPFilter.converted(limit=limit)
        case ApproxDP(by=by) if by is ApproxZCDP:
            return ApproxZCDPFilter.converted(limit=limit)
        case ApproxDP():
            return ApproxFilter(limit=limit)
        case ZCDP():
            return ZCDPFilter(limit=limit)
        case ApproxZCDP():
            return ApproxZCDPFilter(limit=limit)
        case RenyiDP():
            return RenyiFilter(limit=limit)
    raise InvalidParameter(
        code="no_filter",
        expectation="PureDP, ApproxDP, ZCDP, ApproxZCDP or RenyiDP, which add up adaptively",
        received=type(limit).__name__,
        remedy="Use ZCDP(rho=mu**2/2) in place of GaussianDP(mu=mu).",
    )


def _budgets(limit: ApproxDP, orders: Sequence[Number]) -> list[float]:
    """What each order may hold, with delta split evenly; below zero where it is of no use."""
    share = rounded_down(exact(_positive_delta(limit)) / len(orders))
    budgets = [renyi_budget(alpha, epsilon=limit.epsilon, delta=share) for alpha in orders]
    if max(budgets) <= 0:
        raise InvalidParameter(
            code="orders_too_low",
            expectation="an order high enough to reach the limit",
            received=tuple(orders),
            remedy="Add higher orders: about 1 + log(1/delta)/epsilon and above.",
        )
    return budgets


def _positive_delta(limit: ApproxDP) -> Number:
    if limit.delta == 0:
        raise InvalidParameter(
            code="delta_not_positive",
            expectation="delta > 0, since the conversion needs some",
            received=limit.delta,
            remedy="Choose delta well below one over the number of people, or use PureDP.",
        )
    return limit.delta
