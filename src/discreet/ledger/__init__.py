"""The durable record of spending: append-only, sealed under the owner's key."""

from discreet.core.errors import LedgerError
from discreet.ledger.account import Account
from discreet.ledger.checkpoint import Head
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.locate import ledger_at
from discreet.ledger.memory import Memory
from discreet.ledger.postgres.ledger import Postgres
from discreet.ledger.restore import restore
from discreet.ledger.sqlite.ledger import SQLite
from discreet.ledger.sub_account import Allotment
from discreet.ledger.sub_account_grant import Grant, Role
from discreet.ledger.terms import Terms

__all__ = [
    "Account",
    "Allotment",
    "Entry",
    "Grant",
    "Head",
    "Kind",
    "Ledger",
    "LedgerError",
    "Memory",
    "Postgres",
    "Role",
    "SQLite",
    "Terms",
    "ledger_at",
    "restore",
]
