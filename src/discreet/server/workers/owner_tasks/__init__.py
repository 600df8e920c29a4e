"""The owner's tasks: what needs the ledger or the tables, and is no question of an analyst."""

from __future__ import annotations

from discreet.server.workers.owner_tasks import ledger, rounds, tables
from discreet.server.workers.owner_tasks.task import OwnerTask

OWNER_TASKS: dict[str, OwnerTask] = {
    "open": tables.opened,
    "ping": ledger.ping,
    "set_aside": ledger.set_aside,
    "budget_balances": ledger.budget_balances,
    "spending": ledger.spending,
    "entries": ledger.entries,
    "verify": ledger.verify,
    "released": ledger.released,
    "reserved": ledger.reserved,
    "amend": ledger.amend,
    "backup": ledger.backup,
    "open_round": rounds.open_round,
    "close_round": rounds.close_round,
}
