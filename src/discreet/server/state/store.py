"""The state, and how it is asked: in one transaction for each call, off the event loop.

What is asked is a function of a connection. A database that is away is one refusal, without a word
of its own: what was paid for meanwhile is in the ledger, and asking again is free.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from discreet.core.errors import DiscreetError, LedgerError
from discreet.postgres.errors import NoConnection
from discreet.server.settings import PostgresState, SQLiteState
from discreet.server.state.databases import database_for
from discreet.server.state.migrate import migrate

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

Act = Callable[Concatenate[Connection, Arguments], Result]

_THREADS = 12


class StateUnavailable(LedgerError):
    """The state cannot be read or written now."""


class StateStore:
    """People, grants, jobs and releases, in SQLite or PostgreSQL. Threads may share it."""

    def __init__(self, place: SQLiteState | PostgresState) -> None:
        """Open it, and bring it up to this version's form."""
        self._database = database_for(place)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="state")
        try:
            with self._transaction(self._database.begin_migration) as connection:
                migrate(connection)
        except BaseException:
            self.close()
            raise

    async def read(
        self, act: Act[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """What ``act`` finds."""
        return await self._away(partial(self.read_now, act, *args, **kwargs))

    async def write_relaxed(
        self, act: Act[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Write what may be lost with the machine's power."""
        return await self._away(partial(self.write_relaxed_now, act, *args, **kwargs))

    async def write(
        self, act: Act[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Write what is on disk on return."""
        return await self._away(partial(self.write_now, act, *args, **kwargs))

    def read_now(
        self, act: Act[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """:meth:`read`, in this thread."""
        with self._transaction(self._database.begin_read) as connection:
            return act(connection, *args, **kwargs)

    def copy_now(
        self, act: Act[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """What ``act`` finds, all of it at one moment."""
        with self._transaction(self._database.begin_copy) as connection:
            return act(connection, *args, **kwargs)

    def write_relaxed_now(
        self, act: Act[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """:meth:`write_relaxed`, in this thread."""
        with self._transaction(self._database.begin_relaxed_write) as connection:
            return act(connection, *args, **kwargs)

    def write_now(
        self, act: Act[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """:meth:`write`, in this thread."""
        with self._transaction(self._database.begin_write) as connection:
            return act(connection, *args, **kwargs)

    def close(self) -> None:
        """Let go of the database."""
        self._threads.shutdown()
        self._database.engine.dispose()

    async def _away(self, act: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, act)

    @contextmanager
    def _transaction(self, begin: Callable[[Connection], None]) -> Iterator[Connection]:
        try:
            with self._database.engine.connect() as connection, connection.begin():
                begin(connection)
                yield connection
            return
        except DiscreetError:
            raise
        except (SQLAlchemyError, NoConnection):
            pass  # the database's own words stay here
        raise StateUnavailable(
            code="state_unavailable",
            expectation="the service's own database, which cannot be reached or written to now",
            remedy="Ask again in a moment; whatever was paid for is in the ledger, and free then.",
        )
