"""Questions of the wire, asked of the service as those of every other server are.

What names a price is the only thing that is charged, and only when it is executed. Its columns are
found out before, for nothing. The same question again is answered from the ledger.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.release import Release
from discreet.release.footer import caveats
from discreet.server.jobs.columns import ColumnsRequest
from discreet.server.jobs.kind import JobRequest
from discreet.server.jobs.preview import PreviewRequest
from discreet.server.jobs.sql import SqlRequest
from discreet.server.service import Service
from discreet.server.services.job_view import JobView
from discreet.server.state.jobs import JobPhase
from discreet.server.state.people import Member
from discreet.server.wire.errors import JobRefused
from discreet.server.wire.rowset import Columns, RowSet, WireColumn, texts
from discreet.server.wire.session_settings import SessionSettings
from discreet.server.wire.statements import WireStatement
from discreet.server.wire.types import KINDS, TEXT, WireType

Started = Callable[[str], None]
"""Told the id of a job that is under way, so that it can be given up."""


async def columns_of(
    service: Service, person: Member, statement: WireStatement, settings: SessionSettings
) -> Columns:
    """The columns that the answer will have; free."""
    request = ColumnsRequest(sql=statement.text, **settings.terms())
    found = await _finished(service, person, request, "columns", statement)
    columns = []
    for each in json.loads(found)["columns"]:
        form = KINDS[each["kind"]]
        ends = ("", "_lower", "_upper") if each["ends"] else ("",)
        columns += [WireColumn(each["name"] + end, form) for end in ends]
    return tuple(columns)


async def previewed(
    service: Service, person: Member, statement: WireStatement, settings: SessionSettings
) -> RowSet:
    """EXPLAIN: the errors and the price that the answer would have, in words; free."""
    text = _explained(statement)
    request = PreviewRequest(sql=text, confidence=settings.confidence(), **settings.terms())
    found = await _finished(service, person, request, "preview", statement)
    return texts("QUERY PLAN", json.loads(found)["text"].splitlines(), "EXPLAIN")


async def answered(
    service: Service,
    person: Member,
    statement: WireStatement,
    settings: SessionSettings,
    *,
    columns: Columns,
    started: Started,
) -> tuple[RowSet, bool]:
    """The answer, once it may leave; and whether something was charged for it."""
    request = SqlRequest(sql=statement.text, confidence=settings.confidence(), **settings.terms())
    view = await service.questions.ask(person, request, kind="sql", wait=0)
    started(view.id)
    view = await service.questions.wait_for_job(person, view.id)
    require_finished(view, statement)
    assert view.result is not None
    return await asyncio.to_thread(_row_set, view.result, columns), view.charged


REMAINING: Columns = tuple(WireColumn(name, TEXT) for name in ("purpose", "remaining", "of"))
"""The columns of SHOW discreet.remaining."""


async def remaining(service: Service, person: Member) -> RowSet:
    """What is left of each budget of one's own; free, and told at the times of answers."""
    own = await service.accounts.own(person)
    rows = [
        (each["purpose"], _numbers(each.get("remaining")), _numbers(each["budget"]))
        for each in own["accounts"]
    ]
    return RowSet(REMAINING, rows, "SHOW")


def _numbers(amounts: dict[str, float] | None) -> str | None:
    """A price as EXPLAIN says it; None while something of it is at work."""
    if amounts is None:
        return None
    return ", ".join(f"{name} {amount:.6g}" for name, amount in amounts.items())


async def _finished(
    service: Service, person: Member, request: JobRequest, kind: str, statement: WireStatement
) -> str:
    view = await service.questions.ask(person, request, kind=kind, wait=0)
    view = await service.questions.wait_for_job(person, view.id)
    require_finished(view, statement)
    assert view.result is not None
    return view.result


def require_finished(view: JobView, statement: WireStatement) -> None:
    """Refuse to go on without an answer, and say why there is none."""
    if view.error is not None:
        place = ("start", "end") if not statement.as_sent else ()
        raise JobRefused({name: each for name, each in view.error.items() if name not in place})
    if view.phase is JobPhase.WAITING:
        raise InvalidParameter(
            code="waiting_for_approval",
            expectation="a price that needs no approval, or one that was agreed to",
            received=f"job {view.id}",
            remedy="The owner or a steward was asked. Send the same statement again when they "
            "have agreed; nothing is charged until then.",
        )
    if view.phase is not JobPhase.FINISHED:
        charged = "it stays charged" if view.charged else "nothing was charged"
        raise InvalidParameter(
            code="job_cancelled",
            expectation="a question that nobody gave up",
            remedy=f"This one was cancelled; {charged}.",
        )


def _row_set(result: str, columns: Columns) -> RowSet:
    """The rows of a release under the columns that were announced, and what stands beside them."""
    release = Release.from_json(json.dumps(json.loads(result)["release"]))
    values = release.to_dict()
    empty = [None] * len(release)
    found = [
        [_fitting(each, column.form) for each in values.get(column.name, empty)]
        for column in columns
    ]
    return RowSet(columns, list(zip(*found, strict=True)), notices=caveats(release))


def _fitting(value: Any, form: WireType) -> Any:
    """A value as its column has it: an end that is nowhere has no place among whole numbers."""
    endless = isinstance(value, float) and not math.isfinite(value)
    if endless and form is KINDS["whole number"]:
        return None
    return float(value) if form is KINDS["real number"] and value is not None else value


def _explained(statement: WireStatement) -> str:
    """The question after EXPLAIN, in its place, whatever options stand between."""
    begins, depth = 0, 0
    for token in statement.tokens[1:]:
        if depth == 0 and token.word in ("SELECT", "WITH"):
            begins = token.start
            break
        depth += {"(": 1, ")": -1}.get(token.word, 0)
    before = "\n".join(" " * len(line) for line in statement.text[:begins].split("\n"))
    return before + statement.text[begins:]
