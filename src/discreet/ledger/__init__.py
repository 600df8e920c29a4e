"""The durable record of spending: append-only, sealed under the owner's key.

Entries, their chain and its verification, sub-accounts, session logs, keys, back-ups, and one
folder for each kind of store. Amounts are taken as they come: what an event costs is decided by
the curator's budget. No data is here but what was released.
"""

from discreet.core.errors import LedgerError
from discreet.ledger.account import LedgerAccount
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import Entry, EntryKind
from discreet.ledger.ledger import Ledger
from discreet.ledger.memory import Memory
from discreet.ledger.postgres.ledger import PostgreSQL
from discreet.ledger.restore import restore
from discreet.ledger.sqlite.ledger import SQLite, ledger_at
from discreet.ledger.sub_account import SubAccount
from discreet.ledger.sub_account_grant import Role, SubAccountGrant
from discreet.ledger.terms import LedgerTerms

__all__ = [
    "Checkpoint",
    "Entry",
    "EntryKind",
    "Ledger",
    "LedgerAccount",
    "LedgerError",
    "LedgerTerms",
    "Memory",
    "PostgreSQL",
    "Role",
    "SQLite",
    "SubAccount",
    "SubAccountGrant",
    "ledger_at",
    "restore",
]
