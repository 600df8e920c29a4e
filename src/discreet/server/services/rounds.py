"""Rounds: opened by the owner or a steward, submitted to by the analysts listed, closed in public.

Source: contract, "What may be seen" (rounds close on a public schedule only).
"""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.server.jobs.models import Finite
from discreet.server.jobs.submission import SubmissionRequest
from discreet.server.jobs.universe import Conditions, WantedUniverse
from discreet.server.rights import Action, may, require
from discreet.server.runtime import Runtime
from discreet.server.services.job_view import JobView
from discreet.server.services.questions import Questions
from discreet.server.state import audit_log, grants, jobs, people, releases, rounds
from discreet.server.state.pagination import Cursor
from discreet.server.state.people import Member
from discreet.server.state.rounds import RoundEntry
from discreet.server.timing import leaving

_NAP = 0.1
_PATIENCE = 60.0


class Promise(BaseModel):
    """What all others together may learn about one query, or one analyst."""

    model_config = ConfigDict(extra="forbid")
    epsilon: Finite
    delta: Finite


class RoundTerms(BaseModel):
    """What is agreed when a round is opened; all of it public but the names."""

    model_config = ConfigDict(extra="forbid")
    universe: WantedUniverse
    analysts: list[str] = Field(min_length=1, max_length=1000)
    queries_each: int = Field(ge=1, le=10_000)
    spend: dict[Literal["epsilon", "delta", "rho"], Finite]
    protects: Literal["query", "analyst"]
    promise: Promise
    ways: int | None = Field(default=None, ge=1, le=16)
    closes: datetime | None = None
    purpose: str = ""


class AnalystRounds:
    """Opening, submitting, closing."""

    def __init__(self, runtime: Runtime, questions: Questions) -> None:
        """Open nothing yet."""
        self._runtime = runtime
        self._questions = questions

    async def open(self, actor: Member, terms: RoundTerms) -> tuple[RoundEntry, dict[str, Any]]:
        """Open a round, paid from the whole budget; the plan that was agreed on."""
        require(actor.role, Action.RUN_ROUNDS)
        self._runtime.record.require_complete()
        ids = await self._runtime.state.read(_with_workers, names=terms.analysts)
        opened = await self._runtime.owner_task(
            "open_round",
            request=terms.model_dump(mode="json"),
            analyst=actor.name,
            purpose=terms.purpose,
        )
        entry = await self._runtime.state.write(
            _opened, actor=actor, terms=terms, opened=opened, ids=ids
        )
        return entry, opened

    async def list_rounds(self, person: Member, *, before: Cursor, count: int) -> list[RoundEntry]:
        """Rounds in which one may submit; all of them for who runs rounds."""
        if may(person.role, Action.RUN_ROUNDS):
            return await self._runtime.state.read(rounds.list_rounds, before=before, count=count)
        require(person.role, Action.ASK)
        return await self._runtime.state.read(
            rounds.of_person, person=person.id, before=before, count=count
        )

    async def submit(self, person: Member, key: str, where: list[Conditions]) -> JobView:
        """Keep one's queries for a round, instead of earlier ones."""
        require(person.role, Action.ASK)
        opener = await self._runtime.state.read(_open_to, person=person, key=key)
        request = SubmissionRequest(round=key, opened_by=opener.name, where=where)
        return await self._questions.ask(person, request, kind="round_submission", about=key)

    async def close(self, actor: Member, key: str) -> RoundEntry:
        """Run a round once nobody is submitting, and keep everybody's share.

        Refused before its public time.
        """
        require(actor.role, Action.RUN_ROUNDS)
        entry = await self._closed(key)
        await self._runtime.state.write(audit_log.add, by=actor.name, what="close round", about=key)
        return entry

    async def close_due(self) -> None:
        """Close the rounds whose public time has come."""
        for entry in await self._runtime.state.read(rounds.due):
            await self._closed(entry.id)

    async def _closed(self, key: str) -> RoundEntry:
        state = self._runtime.state
        entry = await state.read(rounds.require, key)
        if entry.closed_at is not None:
            return entry
        await state.write(rounds.begin_closing, key)
        loop = asyncio.get_running_loop()
        began = loop.time()  # so that waiting for somebody's submission is padded too
        await self._quiet(key)
        opener, analysts = await state.read(_people_of, entry=entry)
        try:
            done = await self._runtime.owner_task(
                "close_round",
                request={"round": key, "analysts": [each.name for each in analysts]},
                analyst=opener.name,
            )
        except DiscreetError as refusal:
            if refusal.code == "round_open":
                await state.write(rounds.stay_open, key)
            raise
        quanta = self._runtime.settings.quanta
        when = leaving(loop.time() - began, quanta.of(()), step=quanta.step)
        await asyncio.sleep(max(0.0, began + when.after - loop.time()))
        return await state.write(_shared, entry=entry, analysts=analysts, shares=done["shares"])

    async def _quiet(self, key: str) -> None:
        """Wait until no submission is under way: taking a round up while it runs would end it."""
        waited = 0.0
        while await self._runtime.state.read(jobs.at_work_on, key):
            await asyncio.sleep(_NAP)
            waited += _NAP
            if waited > _PATIENCE:
                raise InvalidParameter(
                    code="round_busy",
                    expectation="a round to which nobody is submitting just now",
                    remedy="Close it again in a minute.",
                )


def _with_workers(connection: Connection, *, names: list[str]) -> list[str]:
    """The ids of analysts, each with a grant and so with a process of their own."""
    found = []
    for name in names:
        person = people.require(connection, name)
        if not grants.of_person(connection, person.id) or not may(person.role, Action.ASK):
            raise InvalidParameter(
                code="round_members",
                expectation="analysts who have a budget, and so a process of their own",
                received=name,
                remedy="Grant them one first; the round itself is paid from the whole budget.",
            )
        found.append(person.id)
    return found


def _opened(
    connection: Connection,
    *,
    actor: Member,
    terms: RoundTerms,
    opened: dict[str, Any],
    ids: list[str],
) -> RoundEntry:
    about = {
        "attributes": opened["attributes"],
        "queries_each": terms.queries_each,
        "protects": terms.protects,
        "promise": terms.promise.model_dump(),
        "spend": terms.spend,
        "plan": opened["plan"],
    }
    closes = None if terms.closes is None else int(terms.closes.timestamp() * 1000)
    made = rounds.add(
        connection,
        key=opened["round"],
        about=json.dumps(about),
        by=actor.id,
        closes_at=closes,
        people_ids=ids,
    )
    detail = {"spend": terms.spend, "purpose": terms.purpose}
    audit_log.add(connection, by=actor.name, what="open round", about=made.id, detail=detail)
    return made


def _open_to(connection: Connection, *, person: Member, key: str) -> Member:
    """Who opened a round in which a person may submit now."""
    entry = rounds.require_member(connection, key=key, person=person.id)
    if entry.closing_at is not None:
        raise InvalidParameter(
            code="round_closed",
            expectation="a round that is still open",
            remedy="Submit to the next round.",
        )
    return rounds.opener(connection, entry)


def _people_of(connection: Connection, *, entry: RoundEntry) -> tuple[Member, list[Member]]:
    return rounds.opener(connection, entry), rounds.of_round(connection, entry.id)


def _shared(
    connection: Connection, *, entry: RoundEntry, analysts: list[Member], shares: dict[str, Any]
) -> RoundEntry:
    """Keep everybody's share as a release of their own."""
    for person in analysts:
        releases.add(
            connection,
            person=person.id,
            grant=None,
            kind="round",
            release=entry.id,
            question="a round",
            request="{}",
            reservation=entry.id,
            document=json.dumps({"round": entry.id, **shares[person.name]}),
            leaves_in=0,
        )
    rounds.end_closing(connection, entry.id)
    return rounds.require(connection, entry.id)
