"""A session: the messages of one person who was let in, answered one after the other.

Parse, Bind and Describe are free. Execute charges a question once: its rows stay with the portal,
and the same question again is answered from the ledger. An error leaves everything up to the next
Sync undone; bytes that are no message end the connection.

Source: contract, "Spending", "What may be seen".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from discreet.core.errors import DiscreetError
from discreet.server.operations.fair_loop import LoopShares, in_turns
from discreet.server.service import Service
from discreet.server.services.job_view import JobView
from discreet.server.state.jobs import JobPhase
from discreet.server.state.people import Member
from discreet.server.wire import answers, commands, messages
from discreet.server.wire.authentication import Credential
from discreet.server.wire.catalogue.catalogue import Catalogue
from discreet.server.wire.catalogue.translate import SessionFacts
from discreet.server.wire.commands import SessionState
from discreet.server.wire.errors import (
    MOST_LETTERS,
    MOST_PORTALS,
    MOST_STATEMENTS,
    error_response,
    notice,
    parameter_count,
    portal_unknown,
    several_statements,
    statement_taken,
    statement_unknown,
    too_much_prepared,
)
from discreet.server.wire.messages import (
    Bind,
    Close,
    Describe,
    Execute,
    FieldForm,
    Flush,
    Message,
    Parse,
    SimpleQuery,
    Sync,
    Terminate,
)
from discreet.server.wire.rowset import Columns, RowSet, forms, row_message, texts
from discreet.server.wire.statements import (
    StatementKind,
    WireStatement,
    reading,
    require_short,
)
from discreet.server.wire.stream import WireStream
from discreet.server.wire.transaction import IDLE
from discreet.server.wire.types import BOOL, CAST_TYPES, DATE, TEXT, TIMESTAMP, literal

_DONE, _REFUSED = 200, 400
"""How statements are counted beside requests over HTTP."""
_ROWS = 50
"""Rows that are sent, or parameters read, before others have their turn."""
_LONG = 1000
"""Bytes of a parameter that is read alone."""
Result = TypeVar("Result")
_STAND_INS = {BOOL.oid: "TRUE", DATE.oid: "DATE '2000-01-01'", TIMESTAMP.oid: "NULL"}
"""What stands for a parameter while only columns are asked for."""


def _write_parameters(message: Bind, types: Sequence[int]) -> Generator[None, None, list[str]]:
    """Parameters as they are written in a statement, in steps."""
    found = []
    for value, oid, form in zip(message.parameters, types, message.formats, strict=True):
        found.append(literal(value, oid, binary=bool(form)))
        if len(found) % _ROWS == 0 or len(value or b"") > _LONG:
            yield
    return found


@dataclass
class Prepared:
    """A statement that a client named, and the types that it gave for parameters."""

    statement: WireStatement | None
    types: tuple[int, ...]
    columns: Columns | None = None
    described: bool = False


@dataclass
class Portal:
    """A statement with its parameters; its rows once it was executed."""

    statement: WireStatement | None
    formats: tuple[int, ...]
    columns: Columns | None = None
    described: bool = False
    result: RowSet | None = None
    sent: int = 0


@dataclass
class WireSession:
    """What one connection does after it was let in."""

    service: Service
    catalogue: Catalogue
    stream: WireStream
    credential: Credential
    state: SessionState
    about: dict[str, str | int]
    idle: float
    shares: LoopShares
    subject: str
    prepared: dict[str, Prepared] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)
    _job: str | None = None
    _asking: asyncio.Future[tuple[RowSet, bool]] | None = None
    _cancelled: JobView | None = None
    _skipping: bool = False
    _looked_up: tuple[str, RowSet] | None = None

    async def serve(self) -> None:
        """Answer until the client says good-bye."""
        await self.stream.queue_bytes(messages.ready(self.state.transaction.status))
        await self.stream.flush()
        while True:
            coming = self.stream.message(self.idle)
            message = await self.shares.accounted(self.subject, coming)
            if isinstance(message, Terminate):
                return
            await self._turn()
            await self.shares.accounted(self.subject, self._answer(message))

    async def _answer(self, message: Message) -> None:
        if isinstance(message, SimpleQuery):
            await self._simple(message)
        elif isinstance(message, Sync):
            await self._sync()
        elif not self._skipping:
            await self._extended(message)

    async def cancel(self) -> None:
        """Cancel what is under way; what was charged stays charged."""
        job, asking = self._job, self._asking
        if job is None or asking is None:
            return
        person = await self.credential.person(self.service.authentication)
        view = await self.service.questions.cancel(person, job)
        if view.phase is JobPhase.CANCELLED:
            self._cancelled = view
            asking.cancel()

    # The simple protocol ------------------------------------------------------------------------

    async def _simple(self, message: SimpleQuery) -> None:
        self._skipping = False
        self.portals.pop("", None)
        self.prepared.pop("", None)
        offset = 0
        try:
            found = await self._in_turns(reading(message.text))
            if not found:
                await self.stream.queue_bytes(messages.EMPTY_QUERY)
            for statement in found:
                await self._turn()
                offset = statement.offset
                columns = await self._columns(statement, executing=True)
                await self._sent(await self._run(statement, columns), columns)
        except DiscreetError as refusal:
            await self._refused(refusal, offset)
        await self._ready()

    async def _sent(self, result: RowSet, columns: Columns | None) -> None:
        if columns is not None:
            fields = forms(columns, ())
            await self.stream.queue_bytes(messages.row_description(fields))
            await self._rows(result.rows, columns, fields)
        await self._send_notices(result)
        await self.stream.queue_bytes(result.complete(len(result.rows)))

    async def _rows(
        self, rows: Sequence[Sequence[Any]], columns: Columns, fields: Sequence[FieldForm]
    ) -> None:
        """Rows as they travel, a few at a time."""
        for place, row in enumerate(rows, 1):
            await self.stream.queue_bytes(row_message(row, columns, fields))
            if place % _ROWS == 0:
                await self._turn()

    async def _send_notices(self, result: RowSet) -> None:
        """What stands beside the rows, unless the client asked for less."""
        if self.state.settings.wants_notices():
            await self.stream.queue_bytes(*map(notice, result.notices))

    # The extended protocol ----------------------------------------------------------------------

    async def _extended(self, message: Message) -> None:
        try:
            match message:
                case Parse():
                    await self._parse(message)
                case Bind():
                    await self._bind(message)
                case Describe():
                    await self._describe(message)
                case Execute():
                    await self._execute(message)
                case Close():
                    (self.portals if message.portal else self.prepared).pop(message.name, None)
                    await self.stream.queue_bytes(messages.CLOSED)
                case Flush():
                    await self.stream.flush()
        except DiscreetError as refusal:
            self._skipping = True
            await self._refused(refusal, 0)
            await self.stream.flush()  # a client may wait for it before it sends Sync

    async def _parse(self, message: Parse) -> None:
        found = await self._in_turns(reading(message.text))
        if len(found) > 1:
            raise several_statements()
        statement = found[0] if found else None
        if message.name and message.name in self.prepared:
            raise statement_taken(message.name)
        others = [each for name, each in self.prepared.items() if name != message.name]
        letters = sum(len(each.statement.text) for each in others if each.statement is not None)
        if len(others) >= MOST_STATEMENTS or letters + len(message.text) > MOST_LETTERS:
            raise too_much_prepared()
        count = 0 if statement is None else statement.parameters
        types = (*message.types, *(0,) * (count - len(message.types)))
        casts = {} if statement is None else statement.casts
        types = tuple(oid or CAST_TYPES.get(casts.get(n, ""), 0) for n, oid in enumerate(types, 1))
        self.prepared[message.name] = Prepared(statement, types)
        await self.stream.queue_bytes(messages.PARSED)

    async def _bind(self, message: Bind) -> None:
        prepared = self._prepared(message.statement)
        if message.portal not in self.portals and len(self.portals) >= MOST_PORTALS:
            raise too_much_prepared()
        statement = prepared.statement
        if statement is not None:
            if len(message.parameters) != len(prepared.types):
                raise parameter_count(len(prepared.types), len(message.parameters))
            require_short(sum(len(value or b"") for value in message.parameters))
            written = await self._in_turns(_write_parameters(message, prepared.types))
            bound = statement.binding(written[: statement.parameters])
            statement = await self._in_turns(bound)
        self.portals[message.portal] = Portal(statement, message.result_formats)
        await self.stream.queue_bytes(messages.BOUND)

    async def _describe(self, message: Describe) -> None:
        if message.portal:
            portal = self._portal(message.name)
            columns = await self._described(portal, portal.statement)
            formats = portal.formats
        else:
            prepared = self._prepared(message.name)
            types = [oid or TEXT.oid for oid in prepared.types]
            await self.stream.queue_bytes(messages.parameter_description(types))
            columns = await self._described(prepared, await self._stood_in(prepared))
            formats = ()
        told = messages.NO_DATA
        if columns is not None:
            told = messages.row_description(forms(columns, formats))
        await self.stream.queue_bytes(told)

    async def _described(
        self, what: Prepared | Portal, statement: WireStatement | None
    ) -> Columns | None:
        """The columns of a statement or a portal, found out once."""
        if not what.described:
            what.columns = None
            if statement is not None:
                what.columns = await self._columns(statement, executing=False)
            what.described = True
        return what.columns

    async def _execute(self, message: Execute) -> None:
        portal = self._portal(message.portal)
        if portal.statement is None:
            await self.stream.queue_bytes(messages.EMPTY_QUERY)
            return
        first = portal.result is None
        if portal.result is None:
            columns = await self._described(portal, portal.statement)
            portal.result = await self._run(portal.statement, columns)
        result, columns = portal.result, portal.columns
        end = len(result.rows)
        if message.most:
            end = min(end, portal.sent + message.most)
        shown = result.rows[portal.sent : end]
        if columns is not None:
            fields = forms(columns, portal.formats)
            await self._rows(shown, columns, fields)
        portal.sent = end
        more = portal.sent < len(result.rows)
        if first:
            await self._send_notices(result)
        await self.stream.queue_bytes(messages.SUSPENDED if more else result.complete(len(shown)))

    async def _sync(self) -> None:
        self._skipping = False
        await self._ready()

    # What statements do -------------------------------------------------------------------------

    async def _columns(self, statement: WireStatement, *, executing: bool) -> Columns | None:
        """Which columns a statement has; nothing is charged to find out."""
        if executing:
            self.state.transaction.require_going_on(statement.words[0])
        match statement.kind:
            case StatementKind.QUESTION:
                person = await self._person()
                return await answers.columns_of(
                    self.service, person, statement, self.state.settings
                )
            case StatementKind.PREVIEW:
                return texts("QUERY PLAN", (), "EXPLAIN").columns
            case StatementKind.READING:
                return (await self._read_catalogue(statement)).columns
            case StatementKind.COMMAND:
                if commands.shows_remaining(statement):
                    return answers.REMAINING
                return commands.columns_of(statement, self.state)

    async def _run(self, statement: WireStatement, columns: Columns | None) -> RowSet:
        """Do what a statement says, and count it; this alone can charge."""
        began, status = time.perf_counter(), _REFUSED
        try:
            result = await self._done(statement, columns)
            status = _DONE
        finally:
            took = time.perf_counter() - began
            self.service.metrics.count("WIRE", statement.kind.value, status, took)
        return result

    async def _done(self, statement: WireStatement, columns: Columns | None) -> RowSet:
        self.state.transaction.require_going_on(statement.words[0])
        match statement.kind:
            case StatementKind.QUESTION:
                assert columns is not None
                return await self._ask_question(statement, columns)
            case StatementKind.PREVIEW:
                person, settings = await self._person(), self.state.settings
                return await answers.previewed(self.service, person, statement, settings)
            case StatementKind.READING:
                return await self._read_catalogue(statement)
            case StatementKind.COMMAND:
                if commands.shows_remaining(statement):
                    return await answers.remaining(self.service, await self._person())
                return await self._command(statement)

    async def _ask_question(self, statement: WireStatement, columns: Columns) -> RowSet:
        if statement.wants_no_rows:
            return RowSet(columns)
        self._asking = asyncio.ensure_future(
            answers.answered(
                self.service,
                await self._person(),
                statement,
                self.state.settings,
                columns=columns,
                started=self._note_job,
            )
        )
        try:
            result, charged = await self._asking
        except asyncio.CancelledError:
            if self._cancelled is None:
                raise
            answers.require_finished(self._cancelled, statement)
            raise
        finally:
            self._job = self._asking = self._cancelled = None
        if charged:
            self.state.transaction.note_charge()
        return result

    def _note_job(self, job: str) -> None:
        self._job = job

    async def _read_catalogue(self, statement: WireStatement) -> RowSet:
        """What the catalogue says; between two Syncs it is asked the same once."""
        if self._looked_up is not None and self._looked_up[0] == statement.text:
            return self._looked_up[1]
        person = await self._person()
        settings = {name.lower(): value for name, value in self.state.settings.everything()}
        about = SessionFacts(self.about, settings)
        found = await self.catalogue.answered(person.id, statement, about)
        self._looked_up = (statement.text, found)
        return found

    async def _command(self, statement: WireStatement) -> RowSet:
        executed = commands.executed(statement, self.state)
        await self.stream.queue_bytes(*executed.beside)
        if executed.forgets_all:
            self.prepared.clear()
        elif executed.forgets is not None:
            self._prepared(executed.forgets)
            del self.prepared[executed.forgets]
        return executed.result

    async def _person(self) -> Member:
        """Who it still is; whoever was shut out meanwhile is so from the next statement on."""
        return await self.credential.person(self.service.authentication)

    # The rest -----------------------------------------------------------------------------------

    async def _ready(self) -> None:
        status, self._looked_up = self.state.transaction.status, None
        if status == IDLE:
            self.portals.clear()
        await self.stream.queue_bytes(messages.ready(status))
        await self.stream.flush()

    async def _refused(self, refusal: DiscreetError, offset: int) -> None:
        self.state.transaction.fail()
        await self.stream.queue_bytes(error_response(refusal, offset=offset))

    async def _stood_in(self, prepared: Prepared) -> WireStatement | None:
        """The statement with something in the place of its parameters, for its columns alone."""
        statement = prepared.statement
        if statement is None or not statement.parameters:
            return statement
        numbers = (20, 21, 23, 700, 701, 1700)
        stands = [
            "1" if oid in numbers else _STAND_INS.get(oid, "NULL")
            for oid in prepared.types[: statement.parameters]
        ]
        return await self._in_turns(statement.binding(stands))

    async def _turn(self) -> None:
        """Let others go on, and oneself once it is this person's turn."""
        await self.shares.turn(self.subject)

    async def _in_turns(self, steps: Generator[None, None, Result]) -> Result:
        return await in_turns(steps, self._turn)

    def _prepared(self, name: str) -> Prepared:
        if name not in self.prepared:
            raise statement_unknown(name)
        return self.prepared[name]

    def _portal(self, name: str) -> Portal:
        if name not in self.portals:
            raise portal_unknown(name)
        return self.portals[name]
