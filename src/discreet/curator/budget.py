"""The budget of a curator: its currency, and what a question costs in it.

The privacy definition of the budget is the filter: pure and (epsilon, delta) budgets add up pairs,
zCDP adds rho, ``ApproxZCDP`` adds rho and a delta set apart for keys, Rényi adds at its one order,
and ``ApproxDP(..., by=ZCDP)`` (or ``by=ApproxZCDP``) converts once and adds rho (and delta).

Source: contract, "Spending"; 004d:F12, F15.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from discreet.accounting.adaptive import filter_for
from discreet.accounting.adaptive.currency import (
    Currency,
    Epsilons,
    EpsilonsAndDeltas,
    RenyiAt,
    Rhos,
    RhosAndDeltas,
)
from discreet.accounting.adaptive.steps import Amounts, plus, steps_up
from discreet.core.errors import InvalidParameter, Mismatch, Unpriced
from discreet.core.events.event import Event, Nothing, compose
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import exact
from discreet.core.unit import Person, PrivacyUnit, Replace, TickWindow
from discreet.core.written import FORMS, write_frozen_text
from discreet.ledger import LedgerTerms
from discreet.relational.identity.identity import FORM
from discreet.relational.schema.agreement import one_limit
from discreet.release.guarantee import guarantee_to_dict

_LEAST_EPSILON = Fraction("1.1641532182693481e-10")
"""2**-33, as written; below it the search for Gaussian noise does not end in reasonable time."""


@dataclass(frozen=True)
class PrivacyBudget:
    """A budget for a unit, with its currency and exact limit; ``total`` is what the owner wrote.

    ``tables`` are the units as the tables declare them, where these have limits of their own.
    ``set_aside_from`` is the budget above, of which this one is a share.
    """

    total: Guarantee
    unit: PrivacyUnit
    tables: tuple[PrivacyUnit, ...] = ()
    currency: Currency = field(init=False)
    limit: Amounts = field(init=False)
    set_aside_from: PrivacyBudget | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Fix the currency, for ever."""
        if not isinstance(self.total, Guarantee):
            raise InvalidParameter(
                code="not_a_budget",
                expectation="a budget: PureDP, ApproxDP, ZCDP, ApproxZCDP or RenyiDP",
                received=type(self.total).__name__,
                remedy="Write budget=dp.ApproxDP(epsilon=3, delta=1e-6).",
            )
        guard = filter_for(as_written(self.total).per(self.unit))
        object.__setattr__(self, "currency", guard.currency)
        object.__setattr__(self, "limit", guard.amounts)

    @property
    def terms(self) -> LedgerTerms:
        """What the ledger's first record says."""
        budget = guarantee_to_dict(self.total)
        if isinstance(self.total, ApproxDP) and self.total.by is not None:
            budget["by"] = FORMS[self.total.by].tag
        unit, *others = unit_texts(self.unit, self.tables)
        return LedgerTerms(
            unit=unit,
            budget=budget,
            filter=self.name,
            limit=self.limit,
            identities=FORM,
            also=tuple(others),
        )

    @property
    def name(self) -> str:
        """The currency's name in the ledger."""
        match self.currency:
            case Epsilons():
                return "epsilon"
            case EpsilonsAndDeltas():
                return "epsilon+delta"
            case Rhos():
                return "rho"
            case RhosAndDeltas():
                return "rho+delta"
            case RenyiAt(alpha=alpha):
                return f"renyi({alpha})"
        raise LookupError(self.currency)  # no filter of a curator adds up in it

    def charge(self, spend: Guarantee, events: tuple[Event, ...]) -> Amounts:
        """The exact price of ``events`` in this budget's currency.

        ``spend`` says at which delta Gaussian noise enters a sum of pairs: its own.
        """
        self.check(spend)
        try:
            # Together, so that shares of a spend add up to it without rounding.
            return self._least(compose(events), spend)
        except InvalidParameter:
            if not isinstance(spend, ApproxDP):
                raise
        paid = [event for event in events if not isinstance(event, Nothing)]
        return reduce(plus, (self._pair(event, spend) for event in paid), self.currency.zero)

    def _least(self, event: Event, spend: Guarantee) -> Amounts:
        """What the event states; where that is above the spend, its price at the spend's delta.

        Many pure steps, fixed in advance, are cheaper together than the sum that they state.
        """
        stated = self.currency.price(event, None)
        pairs = isinstance(self.currency, EpsilonsAndDeltas)
        if not pairs or not isinstance(spend, ApproxDP) or not spend.delta:
            return stated
        if stated[0] <= steps_up(exact(spend.epsilon)):
            return stated
        try:
            together = self.currency.price(event, spend.delta)
        except (InvalidParameter, Unpriced):
            return stated
        return min(stated, together)

    def _pair(self, event: Event, spend: ApproxDP) -> Amounts:
        """One event of a sum of pairs: as it states itself, or read at the spend's delta."""
        try:
            return self.currency.price(event, None)
        except InvalidParameter:
            return self.currency.price(event, spend.delta)

    def as_paid(self, spend: Guarantee) -> Guarantee:
        """The spend with what pays for it: (epsilon, delta) from a budget in rho says so.

        At equal (epsilon, delta) Gaussian noise costs less rho than Laplace noise.
        """
        if isinstance(spend, ApproxDP) and isinstance(self.currency, Rhos | RhosAndDeltas):
            return replace(spend, by=ZCDP)
        return spend

    def check(self, spend: Guarantee) -> None:
        """Refuse what is no spend, and a spend whose definition has no price in this budget."""
        if not isinstance(spend, Guarantee):
            raise _not_a_spend(spend)
        if isinstance(spend, ApproxDP) and 0 < exact(spend.epsilon) < _LEAST_EPSILON:
            raise InvalidParameter(
                code="parameter_out_of_range",
                expectation="a spend with an epsilon of zero, or of at least 2**-33",
                received=spend,
                remedy="Choose a usual privacy parameter.",
            )
        match self.currency, spend:
            case Epsilons(), PureDP():
                return
            case EpsilonsAndDeltas(), PureDP() | ApproxDP():
                return
            case Rhos(), PureDP() | ApproxDP() | ZCDP():
                return
            case RhosAndDeltas(), PureDP() | ApproxDP() | ZCDP() | ApproxZCDP():
                return
            case RenyiAt(alpha=alpha), PureDP() | ApproxDP() | ZCDP():
                return
            case RenyiAt(alpha=alpha), RenyiDP(alpha=wanted) if alpha == wanted:
                return
        raise Mismatch(
            code="spend_notion",
            expectation=f"a spend that a budget in {self.name} can pay",
            received=type(spend).__name__,
            remedy="Spend PureDP from a PureDP budget, PureDP or ApproxDP from an ApproxDP budget; "
            "open the budget with ApproxDP(..., by=ZCDP) or ZCDP to spend rho.",
        )

    def require_delta(self) -> None:
        """Refuse keys that nobody listed where the budget sets no delta apart for them."""
        if isinstance(self.currency, EpsilonsAndDeltas | RhosAndDeltas):
            return
        raise InvalidParameter(
            code="keys_need_delta",
            expectation="a budget with a delta that discovered keys can draw on",
            received=self.name,
            remedy="Open it with dp.ApproxDP(epsilon=..., delta=...), with "
            "dp.ApproxZCDP(rho=..., delta=...), or with dp.ApproxDP(..., by=dp.ApproxZCDP).",
        )

    def covers(self, spend: Guarantee, event: Event) -> bool:
        """Whether ``event`` costs no more than ``spend`` in the spend's own privacy definition."""
        delta = spend.delta if isinstance(spend, ApproxDP) and spend.delta else None
        return filter_for(spend.per(self.unit)).admits(event, delta=delta)

    def require_covered(self, spend: Guarantee, event: Event) -> None:
        """Refuse a spend that does not cover the event."""
        if not self.covers(spend, event):
            raise InvalidParameter(
                code="spend_too_small",
                expectation="an event that costs no more than `spend`",
                received=spend,
                remedy="Raise the spend, or add noise.",
            )

    def amended(self, budget: Guarantee) -> PrivacyBudget:
        """The budget after the owner changes the budget; its currency cannot change."""
        other = PrivacyBudget(budget, self.unit, self.tables)
        if other.name != self.name:
            raise Mismatch(
                code="notion_mismatch",
                expectation=f"a budget that adds up in {self.name}",
                received=type(budget).__name__,
                remedy="A ledger's privacy definition is fixed for ever; amend within it.",
            )
        return other

    def price_of(self, below: PrivacyBudget) -> Amounts:
        """The charge here for everything that may ever be released from a budget below.

        A session that keeps its budget against every adversary is one interactive mechanism. So
        it enters the sum at a price for the whole of it: in its own currency, or where its
        definition converts. An (epsilon, delta) budget that adds up pairs has no price in rho, and
        is refused there. Proof: ``proofs/sharing.md`` and ``proofs/filters.md``. Source:
        004d:F16, F17.
        """
        if self.currency == below.currency:
            return below.limit
        match self.currency, as_written(below.total):
            case EpsilonsAndDeltas(), PureDP(epsilon=epsilon):
                return (steps_up(exact(epsilon)), 0)
            case EpsilonsAndDeltas(), ApproxDP(epsilon=epsilon, delta=delta):
                # Whatever it adds up by, the whole of it keeps this pair.
                return (steps_up(exact(epsilon)), steps_up(exact(delta)))
            case Rhos() | RhosAndDeltas() | RenyiAt(), PureDP(epsilon=epsilon):
                return self.currency.price(Pure(epsilon=epsilon), None)
        match self.currency, below.currency:
            case RhosAndDeltas(), Rhos():
                return (*below.limit, 0)
            case RenyiAt(alpha=alpha), Rhos():
                (rho,) = below.limit
                return (_ceiling(exact(alpha) * rho),)
        raise Mismatch(
            code="budget_notion",
            expectation=f"a budget whose whole has a price in {self.name}",
            received=below.total,
            remedy="Set aside a budget in the privacy definition of the one above, or PureDP, "
            "which converts to all of them.",
        )

    def remaining(self, left: Amounts) -> Guarantee:
        """What may still be spent, rounded down."""
        return self.currency.write_amounts_rounded_down(left)

    def spent(self, amounts: Amounts) -> Guarantee:
        """What was spent, rounded up."""
        return self.currency.spent(amounts)


def _not_a_spend(received: object) -> InvalidParameter:
    number = isinstance(received, int | float | Fraction) and not isinstance(received, bool)
    return InvalidParameter(
        code="not_a_spend",
        expectation="a spend such as PureDP(epsilon=0.5)",
        received=received if number else type(received).__name__,
        remedy=f"Write spend=dp.PureDP(epsilon={received if number else 0.5}).",
    )


def as_written(guarantee: Guarantee) -> Guarantee:
    """Numbers as a person wrote them: 0.1 means one tenth, not the nearest binary fraction.

    So ten questions at 0.1 fit into a budget of 1. Noise, price and promise all follow from the
    number as written.

    >>> as_written(PureDP(epsilon=0.1)).epsilon
    Fraction(1, 10)
    """
    changed: dict[str, Any] = {
        item.name: Fraction(repr(value))
        for item in fields(guarantee)
        if isinstance(value := getattr(guarantee, item.name), float)
    }
    return replace(guarantee, **changed)


def unit_text(unit: PrivacyUnit) -> str:
    """Whose privacy a ledger guards, as one canonical text for its first record.

    Data sets about the same people may share a ledger: what is spent on each of them adds up for
    the person who is in all of them. By default the identifier's name is part of the text, so that
    a ledger is not opened for another column by mistake. Where the owner names the people, the
    name stands in its place, and each data set may call its identifier as it likes.

    Source: 000a:D2(a), 000b:B46; contract, "Spending" (reopening checks the unit).

    >>> unit_text(Replace(Person("patient_id", max_rows=20, of="patients")))
    "Replace(unit=Person(of='patients', max_rows=20, max_groups=None, max_rows_per_group=None))"
    """
    if isinstance(unit, Replace):
        return f"Replace(unit={unit_text(unit.unit)})"
    if not isinstance(unit, Person):
        return write_frozen_text(unit)
    bounds = f"max_rows={unit.max_rows}, max_groups={unit.max_groups}"
    bounds += f", max_rows_per_group={unit.max_rows_per_group}"
    if unit.of is not None:
        return f"Person(of={unit.of!r}, {bounds})"
    return f"Person(id={unit.id!r}, {bounds}, via={unit.via!r})"


def unit_texts(unit: PrivacyUnit, tables: Sequence[PrivacyUnit]) -> tuple[str, ...]:
    """What a ledger's first record says of the unit, and what else it may have said before.

    Where all tables have one limit, it is part of the text, as it always was. Otherwise limits are
    the tables' own, stand in each question, and the text names the people alone. A ledger that was
    begun under one of these texts may be opened under the other: limits decide how much noise a
    question needs, never whom the budget guards.

    >>> one, many = Person("patient", max_rows=1), Person("patient", max_rows=520)
    >>> unit_texts(Person("patient"), (one, many))[0]
    "person/2(id='patient')"
    """
    units = (unit, *tables)
    named = [people_text(each) for each in units]
    limited = [unit_text(_under(limits, each)) for each in units for limits in tables or units]
    alike = one_limit(tables or units)
    return tuple(dict.fromkeys([*limited, *named] if alike else [*named, *limited]))


def _under(limits: PrivacyUnit, unit: PrivacyUnit) -> PrivacyUnit:
    """A unit under the limits that another one declares."""
    if isinstance(unit, Replace) and isinstance(limits, Replace):
        inside = _under(limits.unit, unit.unit)
        return unit if isinstance(inside, Replace | TickWindow) else Replace(inside)
    if not isinstance(unit, Person) or not isinstance(limits, Person):
        return unit
    return replace(
        unit,
        max_rows=limits.max_rows,
        max_groups=limits.max_groups,
        max_rows_per_group=limits.max_rows_per_group,
    )


def people_text(unit: PrivacyUnit) -> str:
    """Whose privacy a ledger guards, without limits; rows have none."""
    if isinstance(unit, Replace):
        return f"Replace(unit={people_text(unit.unit)})"
    if not isinstance(unit, Person):
        return unit_text(unit)
    if unit.of is not None:
        return f"person/2(of={unit.of!r})"
    via = "" if unit.via is None else f", via={unit.via!r}"
    return f"person/2(id={unit.id!r}{via})"


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
