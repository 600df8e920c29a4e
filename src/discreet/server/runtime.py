"""What all services share: the project, its settings and record, the state, workers."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.curator.project.project import Project
from discreet.server.record import ProjectRecord
from discreet.server.refusals import raised
from discreet.server.settings import ServiceSettings
from discreet.server.state.store import StateStore
from discreet.server.workers.messages import WorkOrder
from discreet.server.workers.pool import OWNER_KEY, WorkerPool
from discreet.server.workers.worker import WorkerSettings

_OWNER_TASKS = 2
"""How many of the owner's tasks are done at a time, each by a worker of its own."""

_LEAST_MEMORY = 256
"""Megabytes that a worker's engine has at least."""


@dataclass(frozen=True)
class Runtime:
    """One front process: everything it holds."""

    place: Path
    project: Project
    settings: ServiceSettings
    record: ProjectRecord
    state: StateStore
    pool: WorkerPool
    owner_tasks: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_OWNER_TASKS))

    @classmethod
    def of(cls, place: Path) -> Runtime:
        """Read the project file at ``place``, and open the state; no data is opened."""
        project = Project.read(place)
        text = place.read_text(encoding="utf-8-sig")
        settings = ServiceSettings.of(project, place)
        record = ProjectRecord.of(project.record)
        state = StateStore(settings.state)
        pool = WorkerPool(worker_settings(place, text, settings), idle=settings.idle)
        return cls(place, project, settings, record, state, pool)

    async def owner_task(self, kind: str, **order: Any) -> dict[str, Any]:
        """Have the owner's worker do something; its refusal is raised here."""
        asked = WorkOrder(kind=kind, request=order.pop("request", {}), **order)
        async with self.owner_tasks:
            reply = await self.pool.ask(OWNER_KEY, asked, seconds=self.settings.longest)
        if "refused" in reply:
            raise raised(reply["refused"])
        done: dict[str, Any] = reply["done"]
        return done

    async def close(self) -> None:
        """End the workers, and let go of the state."""
        await self.pool.close()
        self.state.close()


def worker_settings(place: Path, text: str, settings: ServiceSettings) -> WorkerSettings:
    """The machine is shared out among all workers there may be, so that none has another's."""
    folder = place.absolute().parent
    project = Project.parse(text, folder)
    named = (str(getattr(part, "variable", "")) for part in (project.ledger, project.engine))
    shared = max(1, (os.cpu_count() or 1) // settings.workers)
    return WorkerSettings(
        text=text,
        folder=folder,
        threads=settings.threads or shared,
        megabytes=_share_of_memory(settings.workers),
        tells_tables=not settings.quanta.alike,
        environment={name: os.environ[name] for name in named if name in os.environ},
    )


def _share_of_memory(workers: int) -> int | None:
    """Megabytes for each worker, the owner's included: three quarters of what there is."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    return max(_LEAST_MEMORY, pages * size * 3 // 4 // (workers + _OWNER_TASKS) // 2**20)
