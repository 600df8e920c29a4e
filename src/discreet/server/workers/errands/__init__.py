"""The owner's errands: what needs the ledger or the tables, and is no question of an analyst."""

from __future__ import annotations

from discreet.server.workers.errands import ledger, rounds, tables
from discreet.server.workers.errands.errand import Errand

ERRANDS: dict[str, Errand] = {
    "open": tables.opened,
    "ping": ledger.ping,
    "set_aside": ledger.set_aside,
    "standing_of_all": ledger.standing_of_all,
    "spending": ledger.spending,
    "entries": ledger.entries,
    "verify": ledger.verify,
    "released": ledger.released,
    "amend": ledger.amend,
    "backup": ledger.backup,
    "open_round": rounds.open_round,
    "close_round": rounds.close_round,
}
