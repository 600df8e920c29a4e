"""Releases of each person, as they left: a convenience that the ledger could rebuild.

Somebody who asks the same again gets the same release, which is kept once. Nobody finds another's.
A release is made when it leaves: when the work on it ended is written nowhere.

Source: contract, "What may be seen". Proof: ``proofs/timing.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, insert, select

from discreet.noise.randomness import random_id
from discreet.server.state.clock import now
from discreet.server.state.pagination import Cursor, earlier
from discreet.server.state.rows import read_row
from discreet.server.state.schema import releases


@dataclass(frozen=True)
class StoredRelease:
    """A release with its document; ``release`` is the id that the curator gave it."""

    id: str
    release: str
    person_id: str
    grant_id: str | None
    kind: str
    question: str
    request: str
    reservation: str | None
    made_at: int
    leaves_at: int
    document: str


@dataclass(frozen=True)
class ReleaseTitle:
    """The same without its document, for lists."""

    id: str
    release: str
    kind: str
    question: str
    grant_id: str | None
    made_at: int


# Made once, since every question asks them.
_SAME = select(releases.c.id).where(
    releases.c.person_id == bindparam("person"),
    releases.c.release == bindparam("named"),
    releases.c.document == bindparam("text"),
)
_LEAVES: Any = now() + bindparam("wait", type_=BigInteger)
_KEPT = insert(releases).values(made_at=_LEAVES, leaves_at=_LEAVES)


def add(
    connection: Connection,
    *,
    person: str,
    grant: str | None,
    kind: str,
    release: str,
    question: str,
    request: str,
    reservation: str | None,
    document: str,
    leaves_in: int,
) -> str:
    """Keep a release, unless the person has it; its id here."""
    same = {"person": person, "named": release, "text": document}
    found = connection.scalar(_SAME, same)
    if found is not None:
        return str(found)
    key = random_id()
    values = {
        "id": key,
        "release": release,
        "person_id": person,
        "grant_id": grant,
        "kind": kind,
        "question": question,
        "request": request,
        "reservation": reservation,
        "document": document,
        "wait": leaves_in,
    }
    connection.execute(_KEPT, values)
    return key


def of_person(connection: Connection, *, person: str, key: str) -> StoredRelease | None:
    """A person's own release, once it has left."""
    named = (releases.c.id == key) & (releases.c.person_id == person)
    row = connection.execute(select(releases).where(named, releases.c.leaves_at <= now())).first()
    return None if row is None else read_row(StoredRelease, row)


def by_id(connection: Connection, key: str) -> StoredRelease | None:
    """Any release that has left, for whoever publishes."""
    named = (releases.c.id == key) & (releases.c.leaves_at <= now())
    row = connection.execute(select(releases).where(named)).first()
    return None if row is None else read_row(StoredRelease, row)


def titles(
    connection: Connection, *, person: str, before: Cursor, count: int
) -> list[ReleaseTitle]:
    """A person's own releases that have left, the latest first."""
    columns: list[Any] = [releases.c[name] for name in ReleaseTitle.__dataclass_fields__]
    asked = (
        select(*columns)
        .where(
            releases.c.person_id == person,
            releases.c.leaves_at <= now(),
            earlier(releases.c.made_at, releases.c.id, before),
        )
        .order_by(releases.c.made_at.desc(), releases.c.id.desc())
        .limit(count)
    )
    return [read_row(ReleaseTitle, row) for row in connection.execute(asked)]
