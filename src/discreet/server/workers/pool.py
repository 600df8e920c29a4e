"""Workers as the front sees them: started when first needed, one order at a time, ended when idle.

Every person has workers of their own, as many as may work for them at a time, and no person waits
for another's. A worker that dies fails what it was doing, and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from discreet.server.refusals import lost, too_long
from discreet.server.workers.messages import WorkOrder
from discreet.server.workers.worker import WorkerSettings, work

OWNER_KEY = ""
"""The key of the owner's own worker; people have random ones."""

_GRACE = 2.0
"""Seconds that an interrupted worker has to end by itself."""

Heard = Callable[[dict[str, Any]], None]


class WorkerProcess:
    """One process, and the thread that speaks with it."""

    def __init__(self, settings: WorkerSettings) -> None:
        """Start it; called off the event loop."""
        context: Any = multiprocessing.get_context(_METHOD)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, settings), daemon=True)
        self._process.start()
        theirs.close()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="worker")
        self.busy = False
        self.used_at = time.monotonic()
        self._silent = False

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return not self._silent and bool(self._process.is_alive())

    async def ask(self, order: WorkOrder, *, seconds: float, heard: Heard) -> dict[str, Any]:
        """The reply to an order; what it says before that goes to ``heard``.

        Work that takes longer than ``seconds`` is ended.
        """
        loop = asyncio.get_running_loop()
        asked = loop.run_in_executor(self._thread, self._exchange, order, heard)
        done, _ = await asyncio.wait({asked}, timeout=seconds)
        if done:
            return asked.result()
        await self.end()
        with suppress(Exception):
            await asked
        raise too_long(seconds)

    def _exchange(self, order: WorkOrder, heard: Heard) -> dict[str, Any]:
        try:
            self._pipe.send_bytes(order.to_bytes())
            while True:
                reply: dict[str, Any] = json.loads(self._pipe.recv_bytes())
                if "reserved" not in reply and "tables" not in reply:
                    return reply
                heard(reply)
        except (EOFError, OSError):
            self._silent = True  # it is gone, whatever the system says of it yet
            raise lost() from None
        finally:
            self.used_at = time.monotonic()

    async def end(self) -> None:
        """Ask it to stop, and make it stop where it does not."""
        await asyncio.get_running_loop().run_in_executor(None, self.end_now)

    def end_now(self) -> None:
        """:meth:`end`, in this thread."""
        if self._process.is_alive() and self._process.pid is not None:
            with suppress(ProcessLookupError, OSError):
                os.kill(self._process.pid, signal.SIGINT)
            self._process.join(_GRACE)
            if self._process.is_alive():
                self._process.kill()
        self._process.join()
        with suppress(OSError):
            self._pipe.close()
        self._thread.shutdown(wait=False)


class WorkerPool:
    """The workers of all people at this front."""

    def __init__(self, settings: WorkerSettings, *, idle: float) -> None:
        """Start none yet, but what they are forked from."""
        self._settings = settings
        self._idle = idle
        self._workers: dict[str, list[WorkerProcess]] = {}
        self._at_work: dict[str, WorkerProcess] = {}
        prepare()

    async def ask(
        self,
        key: str,
        order: WorkOrder,
        *,
        seconds: float,
        job: str = "",
        heard: Heard = lambda _: None,
    ) -> dict[str, Any]:
        """Have a worker of ``key`` do it; under the name of a job it can be interrupted."""
        worker = await self._free(key)
        self._at_work[job] = worker
        try:
            return await worker.ask(order, seconds=seconds, heard=heard)
        finally:
            self._at_work.pop(job, None)
            worker.busy = False
            if not worker.alive:
                self._forget(key, worker)
                await worker.end()

    async def interrupt(self, job: str) -> None:
        """End the worker that is at work on a job, if one is; the job then counts as lost."""
        worker = self._at_work.pop(job, None)
        if worker is not None:
            await worker.end()

    @property
    def size(self) -> int:
        """How many workers there are."""
        return sum(map(len, self._workers.values()))

    async def end_idle(self) -> None:
        """End workers whose people asked nothing for a while."""
        old = time.monotonic() - self._idle
        for key, workers in list(self._workers.items()):
            for worker in [each for each in workers if not each.busy and each.used_at < old]:
                self._forget(key, worker)
                await worker.end()

    async def close(self) -> None:
        """End them all."""
        every = [worker for workers in self._workers.values() for worker in workers]
        self._workers.clear()
        await asyncio.gather(*(worker.end() for worker in every))

    async def _free(self, key: str) -> WorkerProcess:
        """A worker that has nothing to do, taken before anybody else can."""
        for worker in list(self._workers.get(key, [])):
            if not worker.busy:
                worker.busy = True
                if worker.alive:
                    return worker
                self._forget(key, worker)
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(None, WorkerProcess, self._settings)
        made.busy = True
        self._workers.setdefault(key, []).append(made)
        return made

    def _forget(self, key: str, worker: WorkerProcess) -> None:
        with suppress(ValueError, KeyError):
            self._workers[key].remove(worker)


_METHOD = "spawn" if sys.platform in ("win32", "darwin") else "forkserver"


def prepare() -> None:
    """Have one process import what workers need, so that each of them begins in milliseconds."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a worker's share is its engine's threads
    if _METHOD == "forkserver":
        multiprocessing.get_context(_METHOD).set_forkserver_preload([work.__module__])
