"""The service: what a person may do, in the words of the domain. Doors call it and nothing lower.

Every door (HTTP, web pages, the PostgreSQL protocol) finds out who somebody is, and calls a verb
with that person. Verbs check rights; doors do not decide.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from discreet.core.errors import DiscreetError
from discreet.server.runtime import Runtime
from discreet.server.state import counters, jobs
from discreet.server.verbs.budgets import Budgets
from discreet.server.verbs.people import People
from discreet.server.verbs.questions import Questions

_BEAT = 3.0
"""Seconds between two renewals of leases."""
_SWEEP = 60.0
_GRACE = 10.0
"""Seconds that work has to end by itself when the service stops."""


class Service:
    """Everything that can be done, over one project file.

    Use it between :meth:`start` and :meth:`stop`, on one event loop.
    """

    def __init__(self, project: Path) -> None:
        """Read the project file, check its settings, open the state; no data is opened."""
        self.runtime = Runtime.of(project)
        self.people = People(self.runtime)
        self.budgets = Budgets(self.runtime)
        self.questions = Questions(self.runtime)
        self._chores: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Open the tables once, so that what is wrong with them is known now."""
        await self.runtime.errand("open")
        await self.budgets.finish()
        self._chores = [
            asyncio.create_task(self._renewing()),
            asyncio.create_task(self._sweeping()),
        ]

    async def stop(self) -> None:
        """Let work end by itself for a while, then end it."""
        await self.questions.settle(_GRACE)
        for chore in self._chores:
            chore.cancel()
            with suppress(asyncio.CancelledError):
                await chore
        await self.runtime.close()

    async def _renewing(self) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            working = self.questions.working()
            if working:
                with suppress(DiscreetError):
                    await self.runtime.state.note(jobs.renew, working)

    async def _sweeping(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP)
            await self.runtime.pool.end_idle()
            with suppress(DiscreetError):
                await self.runtime.state.note(counters.sweep)
