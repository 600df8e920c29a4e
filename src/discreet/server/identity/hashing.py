"""Turns at Argon2, which takes all of four lanes and 64 MiB for a while.

Kinds of callers wait in queues of their own, and within one each caller has one turn at a time. So
a known browser waits for known browsers of other people alone, once for each of them, and one
stranger among others for one turn of each.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from enum import Enum
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class HashingQueue(Enum):
    """Who waits; the value is how many passwords of the kind are hashed at a time."""

    BROWSERS = ("browsers", 1)
    """In a browser in which the same person logged in lately; each person is one caller."""
    ADDRESSES = ("addresses", 1)
    """At an address from which somebody logged in lately: whoever may come in has many of them."""
    ELSEWHERE = ("elsewhere", 1)
    LINKS = ("links", 1)
    """With a link that is valid."""


class PasswordHashing:
    """Whose password is hashed now. One event loop uses it."""

    def __init__(self) -> None:
        """Hash nothing yet."""
        self._queues = {each: asyncio.Semaphore(each.value[1]) for each in HashingQueue}
        self._turns: dict[tuple[HashingQueue, str], tuple[asyncio.Lock, list[None]]] = {}
        most = sum(each.value[1] for each in HashingQueue)
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="password")

    @asynccontextmanager
    async def turn(self, queue: HashingQueue, caller: str) -> AsyncIterator[None]:
        """Wait for one's turn, and have it."""
        lock, users = self._turns.setdefault((queue, caller), (asyncio.Lock(), []))
        users.append(None)
        try:
            async with lock, self._queues[queue]:
                yield
        finally:
            users.pop()
            if not users:
                self._turns.pop((queue, caller), None)

    async def run(
        self, act: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Do it in a thread of its own, which nothing else uses; within a :meth:`turn`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: act(*args, **kwargs))

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False)
