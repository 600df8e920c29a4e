"""Rounds: what they are about, who may submit, when they close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, insert, select, update

from discreet.core.errors import InvalidParameter
from discreet.server.state.clock import now
from discreet.server.state.pagination import Cursor, earlier
from discreet.server.state.people import Member, member_of
from discreet.server.state.rows import read_row
from discreet.server.state.schema import members, people, rounds


@dataclass(frozen=True)
class RoundEntry:
    """One of them; its id is that of the ledger."""

    id: str
    about: str
    opened_by: str
    opened_at: int
    closes_at: int | None
    closing_at: int | None
    closed_at: int | None


def add(
    connection: Connection,
    *,
    key: str,
    about: str,
    by: str,
    closes_at: int | None,
    people_ids: Sequence[str],
) -> RoundEntry:
    """Keep that one was opened, and for whom."""
    connection.execute(
        insert(rounds).values(
            id=key, about=about, opened_by=by, opened_at=now(), closes_at=closes_at
        )
    )
    for person in people_ids:
        connection.execute(insert(members).values(round_id=key, person_id=person))
    return require(connection, key)


def require(connection: Connection, key: str) -> RoundEntry:
    """A round, or a refusal."""
    row = connection.execute(select(rounds).where(rounds.c.id == key)).first()
    if row is None:
        raise unknown(key)
    return read_row(RoundEntry, row)


def require_member(connection: Connection, *, key: str, person: str) -> RoundEntry:
    """A round in which a person may submit, or a refusal that tells no more than that."""
    named = (members.c.round_id == key) & (members.c.person_id == person)
    if connection.execute(select(members).where(named)).first() is None:
        raise unknown(key)
    return require(connection, key)


def of_person(
    connection: Connection, *, person: str, before: Cursor, count: int
) -> list[RoundEntry]:
    """The rounds in which a person may submit, the latest first."""
    asked = (
        select(rounds)
        .join(members, members.c.round_id == rounds.c.id)
        .where(members.c.person_id == person)
    )
    return _page(connection, asked, before, count)


def list_rounds(connection: Connection, *, before: Cursor, count: int) -> list[RoundEntry]:
    """All rounds, the latest first: for who runs them."""
    return _page(connection, select(rounds), before, count)


def of_round(connection: Connection, key: str) -> list[Member]:
    """Who may submit."""
    asked = (
        select(people)
        .join(members, members.c.person_id == people.c.id)
        .where(members.c.round_id == key)
        .order_by(people.c.name)
    )
    return [member_of(row) for row in connection.execute(asked)]


def opener(connection: Connection, entry: RoundEntry) -> Member:
    """Who opened it, under whose name the ledger has it."""
    return member_of(connection.execute(select(people).where(people.c.id == entry.opened_by)).one())


def due(connection: Connection) -> list[RoundEntry]:
    """Rounds whose public time of closing has come."""
    late = (rounds.c.closes_at <= now()) & rounds.c.closed_at.is_(None)
    return [read_row(RoundEntry, row) for row in connection.execute(select(rounds).where(late))]


def begin_closing(connection: Connection, key: str) -> None:
    """From now on nobody submits."""
    connection.execute(
        update(rounds)
        .where(rounds.c.id == key, rounds.c.closing_at.is_(None))
        .values(closing_at=now())
    )


def stay_open(connection: Connection, key: str) -> None:
    """Take back that it closes: it was not to be closed yet."""
    named = (rounds.c.id == key) & rounds.c.closed_at.is_(None)
    connection.execute(update(rounds).where(named).values(closing_at=None))


def end_closing(connection: Connection, key: str) -> None:
    """It was run, and everybody's share is kept."""
    connection.execute(update(rounds).where(rounds.c.id == key).values(closed_at=now()))


def unknown(key: str) -> InvalidParameter:
    """A round that somebody has no part in is as unknown as one that never was."""
    return InvalidParameter(
        code="round_not_found",
        expectation="the id of a round in which you may submit",
        received=key[:64],
        remedy="GET /api/v1/rounds lists them.",
    )


def _page(
    connection: Connection, asked: Select[Any], before: Cursor, count: int
) -> list[RoundEntry]:
    page = (
        asked.where(earlier(rounds.c.opened_at, rounds.c.id, before))
        .order_by(rounds.c.opened_at.desc(), rounds.c.id.desc())
        .limit(count)
    )
    return [read_row(RoundEntry, row) for row in connection.execute(page)]
