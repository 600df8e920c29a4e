"""Transactions with a PostgreSQL server that end in one of three ways, and it is known in which.

A writer locks the row that notes the last entry of its ledger; so writers are alone, across
threads, processes and machines, and no lock outlives its transaction. Before anything is written
the server must say that it flushes what it acknowledges. A connection that breaks while ``COMMIT``
is under way leaves the outcome open: then a new one waits for the same lock, which the broken
transaction holds until it has ended one way or the other, and looks for its own entry.

Proof: ``proofs/ledger.md``. Source: PostgreSQL documentation, "Explicit Locking",
"Reliability and the Write-Ahead Log", "Asynchronous Commit".
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.errors import LedgerError
from discreet.ledger import waiting
from discreet.ledger.entry import Entry
from discreet.ledger.errors import closed, not_flushed, outcome_unknown, unreachable, unwritable
from discreet.ledger.forks import watch
from discreet.ledger.postgres import schema as tables
from discreet.ledger.postgres.errors import is_unreachable, translated
from discreet.ledger.waiting import Result
from discreet.postgres.address import Address, driver
from discreet.postgres.connection import connect, hang_up, roll_back

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True)
class Mode:
    """How a transaction starts, and what it waits for."""

    begin: str
    locks_head: bool
    locks_layout: bool


_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"  # each statement sees what is committed
READ = Mode("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", locks_head=False, locks_layout=False)
WRITE = Mode(_WRITE, locks_head=True, locks_layout=False)
BEGIN = Mode(_WRITE, locks_head=True, locks_layout=True)

# For one transaction: names mean what PostgreSQL means by them, a commit waits for the flush,
# nobody waits for ever, and a client that vanished gives its lock back.
_SETTLE = """
SELECT set_config('search_path', 'pg_catalog', true),
       set_config('lock_timeout', %s, true),
       set_config('statement_timeout', '0', true),
       set_config('idle_in_transaction_session_timeout', '60s', true),
       set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                  WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true),
       current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery(),
       pg_backend_pid(), transaction_timestamp()
"""
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND xact_start = %s"
_ALONE = f"SELECT number FROM {tables.SCHEMA}.heads WHERE ledger = %s FOR UPDATE"
_MINE = f"SELECT mac FROM {tables.SCHEMA}.entries WHERE ledger = %s AND id = %s"
_NAP = 0.05


class Transactions:
    """One connection at a time, made anew when it breaks; one transaction at a time.

    Contract: blocks run one after the other; a block inside a block is part of it.
    Guarantee: when a block of writing is left, its entries are durable. When it raises, they are
    not there and never will be, unless the error is ``ledger_outcome_unknown`` or the program was
    interrupted in the commit itself.
    """

    def __init__(self, address: Address, name: str) -> None:
        """Touch nothing yet."""
        self.lock = threading.RLock()
        self.laid_out = False
        self.appended: Entry | None = None
        self._address = address
        self._name = name
        self._connection: Connection[Any] | None = None
        self._running: tuple[int, Any] | None = None
        self._inside = self._checked = self._met = self._closed = False
        watch(self)

    @property
    def connection(self) -> Connection[Any]:
        """The connection of the block under way."""
        if self._connection is None:
            raise unreachable(self._address.where, reason="the connection was lost")
        return self._connection

    @contextmanager
    def transaction(self, mode: Mode) -> Iterator[None]:
        """A block that is committed at its end, or taken back."""
        with self.lock:
            if self._inside:
                yield
                return
            self.appended = None
            self.patiently(lambda: self._begin(mode))
            self._inside = True
            try:
                with translated(self._address.where):
                    yield
                self._commit()
            except BaseException as error:
                self._leave(error)
                raise
            finally:
                self._inside = False

    def patiently(self, act: Callable[[], Result]) -> Result:
        """Do what leaves no trace where the server was lost, and do it again when it is back.

        A server that was never met is not waited for: a wrong address fails at once.
        """
        known = False

        def tried() -> Result:
            nonlocal known
            known = self._met
            return act()

        return waiting.patiently(
            tried, passes=lambda error: known and is_unreachable(error), nap=_NAP
        )

    def close(self) -> None:
        """Close the connection for good."""
        with self.lock:
            self._closed = True
            self._disconnect()

    def put_aside(self) -> Connection[Any] | None:
        """Give up the connection without closing it: it is the parent's."""
        connection, self._connection = self._connection, None
        self._running = None
        return connection

    def _begin(self, mode: Mode) -> None:
        """Start a transaction on a server that can be trusted with one."""
        if self._closed:
            raise closed()
        try:
            if self._connection is None:
                self._connect()
            with translated(self._address.where):
                self._start(self.connection, mode)
        except BaseException as error:
            self._leave(error)
            raise
        self._met = True

    def _connect(self) -> None:
        """Connect, and end what a lost connection left unfinished: it would hold its lock on."""
        with translated(self._address.where):
            self._connection = connect(self._address)
        self._checked = False
        if self._running is not None:
            with suppress(driver().Error):
                self._connection.execute(_END, self._running)

    def _start(self, connection: Connection[Any], mode: Mode) -> None:
        connection.execute(mode.begin)
        patience = f"{waiting.PATIENCE * 1000:.0f}"
        ((*_, fsync, pages, standby, pid, started),) = connection.execute(_SETTLE, (patience,))
        for setting, value in (("fsync", fsync), ("full_page_writes", pages)):
            if value != "on":
                raise not_flushed(setting=f"{setting} = {value}")
        if standby:
            raise unwritable(reason="a standby server, which may lag behind")
        self._running = (pid, started)
        if mode.locks_layout:  # before looking, since a look from before the wait would be stale
            tables.lock(connection)
        self.laid_out = tables.there(connection)
        if self.laid_out and not self._checked:
            tables.require_form(connection)
            self._checked = True
        if self.laid_out and mode.locks_head:
            connection.execute(_ALONE, (self._name,))

    def _commit(self) -> None:
        """Commit; where nobody says how it ended, find out."""
        try:
            with translated(self._address.where):
                ended = self.connection.execute("COMMIT").statusmessage
        except LedgerError as error:
            self._leave(error)
            if not is_unreachable(error):
                raise
            if self.appended is not None:
                self._find_out(self.appended)
            return  # who only read has read it all
        self._running = None
        if ended != "COMMIT":
            raise unwritable(reason="the server took the transaction back")

    def _find_out(self, entry: Entry) -> None:
        """Return if the entry is there, and raise if it is not and never will be.

        Absence is final only once the broken transaction has ended, which holding the locks that
        it held shows.
        """
        try:
            found = waiting.patiently(
                lambda: self._looked_up(entry), passes=is_unreachable, nap=_NAP
            )
        except LedgerError:
            raise outcome_unknown(self._address.where) from None
        if not found:
            raise unreachable(self._address.where, reason="the connection was lost")

    def _looked_up(self, entry: Entry) -> bool:
        self._begin(BEGIN)  # all locks there are: the entry may have been the first
        try:
            if not self.laid_out:
                return False
            with translated(self._address.where):
                row = self.connection.execute(_MINE, (self._name, entry.id)).fetchone()
                return row == (entry.mac,)
        finally:
            self._take_back()

    def _leave(self, error: BaseException) -> None:
        if is_unreachable(error):
            self._disconnect()
        else:
            self._take_back()

    def _take_back(self) -> None:
        """End the transaction, if there is one; without a connection the server ends it."""
        if self._connection is None:
            return
        usable = False
        try:
            usable = roll_back(self._connection)
        finally:
            if not usable:
                self._disconnect()
        if usable:
            self._running = None

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        hang_up(connection)

    def __del__(self) -> None:
        with suppress(AttributeError, ImportError):
            self._disconnect()
