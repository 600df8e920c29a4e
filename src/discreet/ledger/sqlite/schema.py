"""The form of a ledger file, so that no other file is ever taken for one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from discreet.ledger.errors import damaged, foreign, version_unknown

APPLICATION = 0x44504C47  # "DPLG"
VERSION = 1

STATEMENTS = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " kind TEXT NOT NULL, time TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL,"
    " spent TEXT NOT NULL, ceiling TEXT NOT NULL, previous TEXT NOT NULL, mac TEXT NOT NULL)",
    "CREATE INDEX about ON entries (kind, subject)",
    # The last entry is noted a second time: a row dropped at the end is missed at once.
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL,"
    " mac TEXT NOT NULL)",
    # Against accidents with other tools; against malice there are the seals.
    "CREATE TRIGGER entries_stay BEFORE UPDATE ON entries"
    " BEGIN SELECT RAISE(ABORT, 'a ledger is only added to'); END",
    "CREATE TRIGGER entries_remain BEFORE DELETE ON entries"
    " BEGIN SELECT RAISE(ABORT, 'a ledger is only added to'); END",
)


def create(connection: sqlite3.Connection) -> None:
    """Lay out an empty ledger, inside a transaction."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for statement in STATEMENTS:
        connection.execute(statement)


def count(connection: sqlite3.Connection) -> int:
    """How many tables, indices and triggers there are."""
    (found,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return int(found)


def require_form(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not laid out as a ledger."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise foreign(path.name)
    if version != VERSION:
        raise version_unknown(version, known=VERSION)
    found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    if sorted(sql for (sql,) in found) != sorted(STATEMENTS):
        raise damaged(what="the layout of the file")
