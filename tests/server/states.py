"""A state in every kind of database, for tests that hold all of them to the same."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.server.settings import PostgresState, SQLiteState
from discreet.server.state.store import StateStore
from tests import postgres_server

Settings = SQLiteState | PostgresState
_NUMBERS = itertools.count()


def name_address(conninfo: str) -> str:
    """A variable of the environment with this address, which no later one overwrites."""
    variable = f"DISCREET_TEST_STATE_{next(_NUMBERS)}"
    os.environ[variable] = conninfo
    return variable


@contextmanager
def settings_of(kind: str, folder: Path) -> Iterator[Settings]:
    """Where a new state may lie."""
    if kind == "sqlite":
        yield SQLiteState(folder / "state.service")
        return
    with postgres_server.database() as conninfo:
        yield PostgresState(name_address(conninfo))


@contextmanager
def opened(settings: Settings) -> Iterator[StateStore]:
    """A state, closed at the end."""
    store = StateStore(settings)
    try:
        yield store
    finally:
        store.close()


def variables_of(settings: Settings) -> tuple[str, ...]:
    """What a process of its own must find in its environment to open the state."""
    return (settings.variable,) if isinstance(settings, PostgresState) else ()
