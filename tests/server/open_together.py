"""Opening a state at the same moment as others do: what a process of its own runs."""

from __future__ import annotations

import os
from multiprocessing.synchronize import Barrier

from discreet.server.settings import PostgresState, SQLiteState
from discreet.server.state.store import StateStore


def open_together(
    settings: SQLiteState | PostgresState, environment: dict[str, str], ready: Barrier
) -> None:
    """Open and close it, once all are ready."""
    os.environ.update(environment)
    ready.wait()
    StateStore(settings).close()
