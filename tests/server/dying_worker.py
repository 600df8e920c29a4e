"""Workers that die, or fall silent, at a point of a purchase that a file beside the project names.

``{"point": "reserved", "act": "kill"}`` in ``dies.json``; it is taken away as it is read.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from discreet.ledger.sub_account import SubAccount
from discreet.server.workers import pool
from discreet.server.workers.worker import OrderHandler, WorkerSettings, work

POINTS = ("before reserving", "reserved", "told", "computed", "committed")
CHARGED = POINTS[1:]
ACTS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
_FILE = "dies.json"


def die(folder: Path, point: str, act: str = "kill") -> None:
    """Let the next worker that comes to a point die there."""
    (folder / _FILE).write_text(json.dumps({"point": point, "act": act}), encoding="utf-8")


def has_died(folder: Path) -> bool:
    """Whether a worker came to the point."""
    return not (folder / _FILE).exists()


@contextmanager
def dying_workers() -> Iterator[None]:
    """Services that start now have workers that may die."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "work", work_until)
        yield


def work_until(pipe: Connection[Any, Any], settings: WorkerSettings) -> None:
    """:func:`work`, in a process that looks at each point whether it is to end there."""
    place = settings.folder / _FILE

    def at(point: str) -> None:
        with suppress(OSError, ValueError):
            wanted = json.loads(place.read_text(encoding="utf-8"))
            if wanted["point"] == point:
                place.unlink()
                os.kill(os.getpid(), ACTS[wanted["act"]])

    reserve, commit, told = SubAccount.reserve, SubAccount.commit, OrderHandler._on_reserved

    def reserving(self: SubAccount, **terms: Any) -> str:
        at("before reserving")
        made = reserve(self, **terms)
        at("reserved")
        return made

    def telling(self: OrderHandler, reservation: str) -> None:
        told(self, reservation)
        at("told")

    def committing(self: SubAccount, reservation: str, release: Any) -> None:
        at("computed")
        commit(self, reservation, release)
        at("committed")

    SubAccount.reserve, SubAccount.commit = reserving, committing  # type: ignore[method-assign]
    OrderHandler._on_reserved = telling  # type: ignore[method-assign]
    work(pipe, settings)
