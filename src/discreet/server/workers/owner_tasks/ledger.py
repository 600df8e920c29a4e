"""Tasks at the ledger: setting aside, balances, entries, verifying, amending, copying."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from discreet.core.guarantee import Guarantee
from discreet.curator.budget import PrivacyBudget
from discreet.ledger import Checkpoint, EntryKind
from discreet.release.guarantee import guarantee_from_dict
from discreet.server.spends import spend_to_dict
from discreet.server.workers.owner_tasks.task import OwnerTaskCall


def ping(call: OwnerTaskCall) -> dict[str, Any]:
    """Look whether the ledger is there."""
    return {"entries": call.curator.ledger.checkpoint().number}


def set_aside(call: OwnerTaskCall) -> dict[str, Any]:
    """Set a grant's budget aside, or find that it was."""
    budget = guarantee_from_dict(call.order.budget)
    child = call.curator.child(call.order.account, budget=budget)
    return {"remaining": spend_to_dict(child.remaining)}


def budget_balances(call: OwnerTaskCall) -> dict[str, Any]:
    """The whole budget, and what each grant has spent: for the owner."""
    found = {}
    for account, budget in call.request["accounts"].items():
        child = call.curator.child(account, budget=guarantee_from_dict(budget))
        found[account] = {
            "spent": spend_to_dict(child.spent),
            "remaining": spend_to_dict(child.remaining),
        }
    return {
        "budget": spend_to_dict(_in_force(call)),
        "spent": spend_to_dict(call.curator.spent),
        "remaining": spend_to_dict(call.curator.remaining),
        "accounts": found,
    }


def spending(call: OwnerTaskCall) -> dict[str, Any]:
    """Each charge to a grant in time, from an entry on: who spent what, for burn-downs."""
    names = {_account_id(call, key, each): key for key, each in call.request["accounts"].items()}
    budgets = {
        key: PrivacyBudget(guarantee_from_dict(each), call.curator.unit)
        for key, each in call.request["accounts"].items()
    }
    after, count = int(call.request["after"]), int(call.request["count"])
    found, last = [], after
    for entry in islice(call.curator.ledger.entries(after), count):
        last = entry.number
        key = names.get(entry.account) if entry.kind is EntryKind.RESERVED else None
        if key is not None:
            charge = budgets[key].spent(entry.amounts("charge"))
            told = {"account": key, "analyst": entry.body.get("asker"), "time": entry.time}
            found.append({**told, "charge": spend_to_dict(charge)})
    return {"charges": found, "next": last if last > after else None}


def entries(call: OwnerTaskCall) -> dict[str, Any]:
    """Entries as they stand, from a number on."""
    after, count = int(call.request["after"]), int(call.request["count"])
    found = [each.to_dict() for each in islice(call.curator.ledger.entries(after), count)]
    return {"entries": found, "next": found[-1]["number"] if len(found) == count else None}


def verify(call: OwnerTaskCall) -> dict[str, Any]:
    """Check every seal and total, and that a kept checkpoint is there."""
    kept = call.request.get("checkpoint")
    found = call.ledger.verify(None if kept is None else Checkpoint.parse(str(kept)))
    return {"verified": True, "entries": found.number, "checkpoint": str(found)}


def released(call: OwnerTaskCall) -> dict[str, Any]:
    """What reservations ended with, under their seals."""
    named = call.request["reservations"]
    found = {each: call.ledger.released(str(each)) for each in named}
    return {"released": {key: None if body is None else dict(body) for key, body in found.items()}}


def reserved(call: OwnerTaskCall) -> dict[str, Any]:
    """Which of these reservations were made, whatever came of them."""
    named = map(str, call.request["reservations"])
    return {"reserved": [each for each in named if call.curator.ledger.was_reserved(each)]}


def amend(call: OwnerTaskCall) -> dict[str, Any]:
    """Change the numbers of the whole budget, for a reason that stays on record."""
    budget = call.ledger.amend(call.request["numbers"], reason=str(call.request["reason"]))
    return {"budget": spend_to_dict(budget)}


def backup(call: OwnerTaskCall) -> dict[str, Any]:
    """Write a consistent copy of the ledger, without its key."""
    return {"checkpoint": str(call.ledger.backup(Path(call.request["path"])))}


def _in_force(call: OwnerTaskCall) -> Guarantee:
    """The whole budget: as it was opened, or as amendments have left it since."""
    budget, limit = call.curator.context.budget, call.curator.ledger.limit()
    return budget.total if limit == budget.limit else budget.spent(limit)


def _account_id(call: OwnerTaskCall, key: str, budget: dict[str, Any]) -> str:
    """The ledger's own id of a grant's account."""
    child = call.curator.child(key, budget=guarantee_from_dict(budget))
    return child.context.account.account
