"""A state in every kind of database, for tests that hold all of them to the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.server.settings import PostgresState, SQLiteState
from discreet.server.state.store import StateStore
from tests import postgres_server

VARIABLE = "DISCREET_TEST_STATE"
Settings = SQLiteState | PostgresState


@contextmanager
def settings_of(kind: str, folder: Path) -> Iterator[Settings]:
    """Where a new state may lie."""
    if kind == "sqlite":
        yield SQLiteState(folder / "state.service")
        return
    with postgres_server.database() as conninfo:
        os.environ[VARIABLE] = conninfo
        yield PostgresState(VARIABLE)


@contextmanager
def opened(settings: Settings) -> Iterator[StateStore]:
    """A state, closed at the end."""
    store = StateStore(settings)
    try:
        yield store
    finally:
        store.close()
