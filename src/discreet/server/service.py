"""The service: what a person may do, in the words of the domain. Doors call it and nothing lower.

Every door (HTTP, web pages, the PostgreSQL protocol) finds out who somebody is, and calls one of
its parts with that person. These check rights; doors do not decide.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.server.jobs.registry import PASSING
from discreet.server.operations.metrics import Metrics
from discreet.server.runtime import Runtime
from discreet.server.services.accounts import Accounts
from discreet.server.services.approvals import Approvals
from discreet.server.services.authentication import Authentication
from discreet.server.services.budgets import Budgets
from discreet.server.services.conversations import Conversations
from discreet.server.services.job_runner import JobRunner
from discreet.server.services.ledger_access import LedgerAccess
from discreet.server.services.people import People
from discreet.server.services.publications import Publications
from discreet.server.services.questions import Questions
from discreet.server.services.releases import Releases
from discreet.server.services.rounds import AnalystRounds
from discreet.server.services.synopses import Synopses
from discreet.server.state import counters, jobs, snapshots
from discreet.server.state.clock import HOUR

LOG = logging.getLogger("discreet.server")

_BEAT, _SWEEP = 3.0, 20.0
"""Seconds between two renewals of leases, and between two sweeps."""
_GRACE = 10.0
"""Seconds that work has to end by itself when the service stops."""


class Service:
    """Everything that can be done, over one project file.

    Use it between :meth:`start` and :meth:`stop`, on one event loop.

    Attributes:
        entrance: Who somebody is.
        people: Who there is, and their tokens.
        questions: Asking, jobs and their phases, one's history.
        accounts: One's own budgets.
        releases, synopses, conversations: What one has.
        budgets: Granting.
        approvals, publications, rounds, keeping: For owners, stewards and auditors.
        schema: What everybody may know of the tables, once it has started.
        metrics: What is counted about the service itself.
        wire_port: Where the PostgreSQL door listens; None without one.
        ledger_trouble: The code of what the ledger said when it was last looked at; empty: none.
    """

    def __init__(self, project: Path) -> None:
        """Read the project file, check its settings, open the state; no data is opened."""
        runtime = self.runtime = Runtime.of(project)
        self.job_runner = JobRunner(runtime)
        self.authentication = Authentication(runtime)
        self.people = People(runtime)
        self.questions = Questions(runtime, self.job_runner)
        self.accounts = Accounts(runtime, self.questions)
        self.releases = Releases(runtime)
        self.synopses = Synopses(self.releases, self.questions)
        self.conversations = Conversations(runtime, self.questions)
        self.budgets = Budgets(runtime)
        self.approvals = Approvals(runtime, self.questions)
        self.publications = Publications(runtime)
        self.rounds = AnalystRounds(runtime, self.questions)
        self.ledger = LedgerAccess(runtime)
        self.metrics = Metrics()
        self.schema: dict[str, Any] = {}
        self.ledger_trouble = ""
        self.wire_port: int | None = None
        self._background: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Open the tables once, so that what is wrong with them is known now."""
        self.schema = await self.runtime.owner_task("open")
        await self.budgets.finish()
        decided = {
            "settings": self.runtime.settings.plain(),
            "record": self.runtime.record.plain(),
        }
        await self.runtime.state.write(snapshots.keep, decided)
        self._background = [
            asyncio.create_task(_again(_BEAT, self._renew)),
            asyncio.create_task(_again(_SWEEP, self._sweep)),
        ]

    async def stop(self) -> None:
        """Let work end by itself for a while, then end it."""
        await self.job_runner.settle(_GRACE)
        for task in self._background:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self.authentication.close()
        await self.runtime.close()

    async def _renew(self) -> None:
        """Go on with what is at work here, but what was cancelled elsewhere."""
        working = self.job_runner.working()
        if working:
            for job in await self.runtime.state.write_relaxed(jobs.renew, working):
                await self.job_runner.interrupt(job)

    async def _look_after_the_ledger(self) -> None:
        try:
            await self.runtime.owner_task("ping")
        except DiscreetError as refusal:
            self.ledger_trouble = refusal.code
            raise
        self.ledger_trouble = ""

    async def _sweep(self) -> None:
        """End idle workers, forget what is over, close rounds whose time has come."""
        await self.runtime.pool.end_idle()
        await self._look_after_the_ledger()
        await self.runtime.state.write_relaxed(counters.sweep)
        await self.runtime.state.write_relaxed(jobs.sweep, kinds=PASSING, older_than=HOUR)
        await self.rounds.close_due()


async def _again(seconds: float, task: Callable[[], Awaitable[None]]) -> None:
    """Do a background task every so many seconds; one that fails is tried again the next time."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await task()
        except DiscreetError as refusal:
            LOG.warning("a background task was put off", extra={"code": refusal.code})
        except Exception:
            LOG.exception("a background task failed")
