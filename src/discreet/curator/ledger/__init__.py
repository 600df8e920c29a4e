"""The durable record of spending: append-only, sealed under the owner's key."""

from discreet.core.errors import LedgerError
from discreet.curator.ledger.account import Account
from discreet.curator.ledger.allotment import Allotment
from discreet.curator.ledger.book import Ledger
from discreet.curator.ledger.entry import Entry, Kind
from discreet.curator.ledger.grant import Grant, Role
from discreet.curator.ledger.head import Head
from discreet.curator.ledger.memory import Memory
from discreet.curator.ledger.postgres import Postgres
from discreet.curator.ledger.resolve import ledger_at
from discreet.curator.ledger.restore import restore
from discreet.curator.ledger.sqlite import SQLite
from discreet.curator.ledger.terms import Terms

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
