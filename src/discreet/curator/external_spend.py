"""Spending done elsewhere: before there was a ledger, or with another tool.

A budget protects people only if everything released about them is charged to it. What another
program released enters here, as the event it was or as the guarantee it kept, at the price it has
in the budget's own currency.

Source: contract, "Spending"; 000a:D2(a), 004d:M5.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

from discreet.accounting.adaptive.currency import RenyiAt
from discreet.accounting.adaptive.steps import Amounts, steps_up
from discreet.core.errors import Exhausted, InvalidParameter, Mismatch
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Approximate, Pure
from discreet.core.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import Number, exact
from discreet.core.unit import relation_of
from discreet.curator.budget import PrivacyBudget, as_written
from discreet.curator.context import Context
from discreet.release.guarantee import guarantee_to_dict


def record(
    context: Context,
    what: Event | Guarantee,
    *,
    reason: str,
    spent_on: date | None,
    delta: Number | None,
) -> None:
    """Charge what was released elsewhere; durable on return."""
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidParameter(
            code="reason_needed",
            expectation="a reason that says what was released, where and by whom",
            received=reason if isinstance(reason, str) else type(reason).__name__,
            remedy='Write reason="the 2023 report, table 4".',
        )
    if spent_on is not None and not isinstance(spent_on, date):
        raise InvalidParameter(
            code="not_a_date",
            expectation="the day on which it was released, or nothing",
            received=type(spent_on).__name__,
            remedy="Write spent_on=datetime.date(2023, 5, 31).",
        )
    charge, event = _priced(what, context.budget, delta)
    detail = {"reason": reason.strip()}
    if spent_on is not None:
        detail["spent_on"] = spent_on.isoformat()[:10]
    try:
        context.ledger.record(charge=charge, event=event, detail=detail)
    except Exhausted as refusal:
        raise Exhausted(
            code=refusal.code,
            expectation=refusal.expectation,
            received=refusal.received,
            remedy="It was released and cannot be taken back: amend the budget, then record it.",
        ) from None


def _priced(
    what: Event | Guarantee, budget: PrivacyBudget, delta: Number | None
) -> tuple[Amounts, str]:
    """The charge, and the text that says what it was."""
    if isinstance(what, Event):
        relation = what.relation()
        if relation is not None and relation is not relation_of(budget.unit):
            raise Mismatch(
                code="relation_mismatch",
                expectation=f"events for {relation_of(budget.unit).value} neighbours",
                received=relation.value,
                remedy="Pass the guarantee that it keeps for the unit of this budget.",
            )
        return budget.currency.price(what, delta), what.to_json()
    if not isinstance(what, Guarantee):
        raise InvalidParameter(
            code="not_an_event",
            expectation="an event such as events.Laplace(epsilon=0.1), or a guarantee",
            received=type(what).__name__,
            remedy="Write record(dp.ApproxDP(epsilon=0.5, delta=1e-7), reason=...).",
        )
    if what.unit not in (None, budget.unit):
        raise Mismatch(
            code="unit_mismatch",
            expectation=f"a guarantee for the unit of this budget, {budget.unit!r}",
            received=what.unit,
            remedy="Work out what it promises to that unit; a row is less than a person.",
        )
    guarantee = as_written(what)
    return _amounts(guarantee, budget), json.dumps({"guarantee": guarantee_to_dict(guarantee)})


def _amounts(guarantee: Guarantee, budget: PrivacyBudget) -> Amounts:
    """The price of a guarantee, where its definition implies one in the budget's currency."""
    match guarantee:
        case PureDP(epsilon=epsilon):
            return budget.currency.price(Pure(epsilon=epsilon), None)
        case ApproxDP(epsilon=epsilon, delta=0):
            return budget.currency.price(Pure(epsilon=epsilon), None)
        case GaussianDP(mu=mu):
            return _amounts(ZCDP(rho=exact(mu) ** 2 / 2), budget)
        case ZCDP(rho=rho) if isinstance(budget.currency, RenyiAt):
            alpha = budget.currency.alpha
            return _amounts(RenyiDP(alpha=alpha, epsilon=exact(alpha) * exact(rho)), budget)
        case ApproxDP(epsilon=epsilon, delta=delta) if budget.name == "epsilon+delta":
            return budget.currency.price(Approximate(epsilon=epsilon, delta=delta), None)
    try:
        return budget.currency.read_amounts(replace(guarantee, unit=budget.unit), steps_up)
    except Mismatch:
        raise Mismatch(
            code="spend_notion",
            expectation=f"a guarantee that has a price in {budget.name}",
            received=type(guarantee).__name__,
            remedy="Pass the events themselves, or a PureDP or ZCDP that they keep.",
        ) from None
