"""Where the budget went: each grant with what is left of it, by purpose and by person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from discreet.server.services.ledger_access import LedgerAccess
from discreet.server.spends import spend_to_dict
from discreet.server.state.grants import Grant
from discreet.server.state.people import Member
from discreet.server.web.charts.burn_down import BudgetChange, BurnDownChart, burn_down

_PAGE, _MOST_PAGES = 5000, 20
_MOST_CHARTS = 24


@dataclass(frozen=True)
class GrantBalance:
    """A grant with whose it is and what is left."""

    account: str
    name: str
    purpose: str
    made_at: int
    budget: dict[str, float]
    spent: dict[str, float]
    remaining: dict[str, float]
    unit: str


@dataclass(frozen=True)
class SpendingReport:
    """For the owner.

    Attributes:
        budget, set_aside, remaining: Of the whole.
        unit: The number that burns down: epsilon or rho.
        grants: Each with what is left.
        by_purpose, by_person: Burn-downs.
        complete: Whether every charge is in them.
    """

    budget: dict[str, float]
    set_aside: dict[str, float]
    remaining: dict[str, float]
    unit: str
    grants: list[GrantBalance]
    by_purpose: list[BurnDownChart]
    by_person: list[BurnDownChart]
    complete: bool


async def spending_report(
    ledger: LedgerAccess, actor: Member, names: dict[str, str], now: float
) -> SpendingReport:
    """All of it; ``names`` are people's by their ids."""
    whole = await ledger.budget(actor)
    unit = "rho" if "rho" in whole["budget"] else "epsilon"
    grants = [
        _balance(each, names, whole["accounts"][each.account], unit)
        for each in await _every_grant(ledger, actor)
        if each.account in whole["accounts"]
    ]
    charges, complete = await _every_charge(ledger, actor)
    return SpendingReport(
        budget=whole["budget"],
        set_aside=whole["spent"],
        remaining=whole["remaining"],
        unit=unit,
        grants=sorted(grants, key=lambda each: (each.name, each.made_at)),
        by_purpose=_burn_downs(grants, charges, lambda grant: grant.purpose, now),
        by_person=_burn_downs(grants, charges, lambda grant: grant.name, now),
        complete=complete,
    )


async def _every_grant(ledger: LedgerAccess, actor: Member) -> list[Grant]:
    found: list[Grant] = []
    while page := await ledger.grants(actor, after=found[-1].account if found else "", count=200):
        found += page
    return found


async def _every_charge(ledger: LedgerAccess, actor: Member) -> tuple[list[dict[str, Any]], bool]:
    found: list[dict[str, Any]] = []
    after = 0
    for _ in range(_MOST_PAGES):
        page = await ledger.spending(actor, after=after, count=_PAGE)
        found += page["charges"]
        if page["next"] is None or page["next"] - after < _PAGE:
            return found, True
        after = page["next"]
    return found, False


def _balance(grant: Grant, names: dict[str, str], left: dict[str, Any], unit: str) -> GrantBalance:
    return GrantBalance(
        account=grant.account,
        name=names.get(grant.person, "?"),
        purpose=grant.purpose,
        made_at=grant.made_at,
        budget=spend_to_dict(grant.budget),
        spent=left["spent"],
        remaining=left["remaining"],
        unit=unit,
    )


def _burn_downs(
    grants: list[GrantBalance],
    charges: list[dict[str, Any]],
    of: Callable[[GrantBalance], str],
    now: float,
) -> list[BurnDownChart]:
    named = {grant.account: of(grant) for grant in grants}
    changes: dict[str, list[BudgetChange]] = defaultdict(list)
    for grant in grants:
        amount = grant.budget.get(grant.unit, 0.0)
        changes[of(grant)].append(BudgetChange(grant.made_at / 1000, amount))
    unit = grants[0].unit if grants else "epsilon"
    for charge in charges:
        if charge["account"] in named:
            at = datetime.fromisoformat(charge["time"]).timestamp()
            amount = charge["charge"].get(unit, 0.0)
            changes[named[charge["account"]]].append(BudgetChange(at, -amount))
    return [burn_down(name, changes[name], now) for name in sorted(changes)[:_MOST_CHARTS]]
