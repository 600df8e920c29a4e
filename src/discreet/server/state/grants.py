"""Grants: who may spend how much for what, set aside in the ledger under the grant's id.

A grant is written first, set aside then, and noted as set aside last. One that was interrupted in
between is not yet to be asked from; setting it aside again finds what was done.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.noise.randomness import random_id
from discreet.release.guarantee import guarantee_from_dict, guarantee_to_dict
from discreet.server.state.clock import now
from discreet.server.state.schema import grants, people


@dataclass(frozen=True)
class Grant:
    """A budget for one person and one purpose. ``account`` is its name everywhere."""

    account: str
    person: str
    purpose: str
    budget: Guarantee
    made_by: str
    made_at: int
    set_aside_at: int | None


def add(
    connection: Connection,
    *,
    person: str,
    purpose: str,
    budget: Guarantee,
    made_by: str,
    most_people: int,
) -> Grant:
    """Write a grant that is yet to be set aside."""
    connection.execute(select(people.c.id).order_by(people.c.id).with_for_update())
    _require_room(connection, person, most_people)
    key = random_id()
    connection.execute(
        insert(grants).values(
            id=key,
            person_id=person,
            purpose=_purpose(purpose),
            budget=json.dumps(guarantee_to_dict(budget)),
            made_by=made_by,
            made_at=now(),
        )
    )
    return _grant(connection.execute(select(grants).where(grants.c.id == key)).one())


def set_aside(connection: Connection, account: str) -> None:
    """Note that the ledger has it."""
    connection.execute(update(grants).where(grants.c.id == account).values(set_aside_at=now()))


def withdraw(connection: Connection, account: str) -> None:
    """Forget a grant that the ledger refused."""
    named = (grants.c.id == account) & grants.c.set_aside_at.is_(None)
    connection.execute(delete(grants).where(named))


_OF_PERSON = (
    select(grants)
    .where(grants.c.person_id == bindparam("person"))
    .order_by(grants.c.made_at, grants.c.id)
)


def of_person(connection: Connection, person: str) -> list[Grant]:
    """The grants of a person, oldest first."""
    return [_grant(row) for row in connection.execute(_OF_PERSON, {"person": person})]


def list_grants(connection: Connection, *, after: str, count: int) -> list[Grant]:
    """All grants, of everybody."""
    asked = select(grants).where(grants.c.id > after).order_by(grants.c.id).limit(count)
    return [_grant(row) for row in connection.execute(asked)]


def everything(connection: Connection) -> list[Grant]:
    """All grants, at once: there are no more people with grants than workers."""
    return [_grant(row) for row in connection.execute(select(grants).order_by(grants.c.made_at))]


def unfinished(connection: Connection) -> list[Grant]:
    """Grants of which it is not noted that the ledger has them."""
    asked = select(grants).where(grants.c.set_aside_at.is_(None)).order_by(grants.c.id)
    return [_grant(row) for row in connection.execute(asked)]


def chosen(
    connection: Connection, *, person: str, purpose: str | None, account: str | None
) -> Grant:
    """The grant that pays: the one named, the one for the purpose, or the only one."""
    every = [each for each in of_person(connection, person) if each.set_aside_at is not None]
    found = [
        each
        for each in every
        if account in (None, each.account) and purpose in (None, each.purpose)
    ]
    if len(found) == 1:
        return found[0]
    purposes = sorted({each.purpose for each in every})
    if found:
        one = len(purposes) == 1 or purpose is not None
        raise InvalidParameter(
            code="account_unclear",
            expectation="an account, since several pay for this purpose"
            if one
            else "a purpose, since you have several",
            received=[each.account for each in found] if one else purposes,
            remedy='Name it: "account": "…".' if one else 'Name one: "purpose": "…".',
        )
    if not every:
        raise _none()
    raise InvalidParameter(
        code="no_grant",
        expectation="a purpose and an account for which you were granted a budget",
        received=purposes,
        remedy="Name one of these.",
    )


def require_any(connection: Connection, *, person: str) -> None:
    """Refuse somebody without a grant: who has one has a process, and nobody else."""
    if not any(each.set_aside_at is not None for each in of_person(connection, person)):
        raise _none()


def _none() -> InvalidParameter:
    return InvalidParameter(
        code="no_grant",
        expectation="somebody who was granted a budget",
        remedy="Ask the owner or a steward for one.",
    )


def _purpose(text: str) -> str:
    if not text.strip() or len(text) > 200:
        raise InvalidParameter(
            code="purpose_missing",
            expectation="a purpose in words, of at most 200 letters",
            received=f"{len(text)} letters",
            remedy='Write for instance "planning of beds"; questions are recorded under it.',
        )
    return text.strip()


def _require_room(connection: Connection, person: str, most: int) -> None:
    """No more people than there are processes, so that nobody ever waits for another's."""
    holders = set(connection.scalars(select(grants.c.person_id).distinct()))
    gone = set(connection.scalars(select(people.c.id).where(people.c.disabled_at.is_not(None))))
    if len((holders - gone) | {person}) > most:
        raise InvalidParameter(
            code="workers_used_up",
            expectation=f"at most {most} people with grants, each with a process of their own",
            received=len(holders - gone),
            remedy="Raise `workers =` in [service] of the project file, or disable somebody.",
        )


def _grant(row: Row[tuple[object, ...]]) -> Grant:
    found = row._mapping
    return Grant(
        found["id"],
        found["person_id"],
        found["purpose"],
        guarantee_from_dict(json.loads(found["budget"])),
        found["made_by"],
        found["made_at"],
        found["set_aside_at"],
    )


def count(connection: Connection) -> int:
    """How many there are."""
    return connection.scalar(select(func.count()).select_from(grants)) or 0
