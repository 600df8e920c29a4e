"""People: who there is, in what role, and whether they may still come in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import Connection, Row, func, insert, select, update

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import random_id
from discreet.server.rights import PersonRole
from discreet.server.state.clock import now
from discreet.server.state.schema import people

_SHUT = "restored"
"""In place of what is kept of a password: nobody comes in before a new link was made for them."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


@dataclass(frozen=True)
class Member:
    """Somebody who may come in.

    ``name`` stands in the ledger beside every question, and never changes.
    """

    id: str
    name: str
    role: PersonRole
    email: str | None
    subject: str | None
    has_password: bool
    created_at: int
    disabled_at: int | None


def member_of(row: Row[tuple[object, ...]]) -> Member:
    """The person that a row of ``people`` tells about."""
    found = row._mapping
    return Member(
        found["id"],
        found["name"],
        PersonRole(found["role"]),
        found["email"],
        found["subject"],
        found["password"] not in (None, _SHUT),
        found["created_at"],
        found["disabled_at"],
    )


def add(
    connection: Connection,
    *,
    name: str,
    role: PersonRole,
    email: str | None = None,
    subject: str | None = None,
) -> Member:
    """A new person under a new name."""
    _require_new(connection, name, email)
    key = random_id()
    connection.execute(
        insert(people).values(
            id=key, name=name, role=role.value, email=email, subject=subject, created_at=now()
        )
    )
    found = by_id(connection, key)
    assert found is not None
    return found


def by_id(connection: Connection, key: str) -> Member | None:
    """A person by the id."""
    row = connection.execute(select(people).where(people.c.id == key)).first()
    return None if row is None else member_of(row)


def by_name(connection: Connection, name: str) -> Member | None:
    """A person by the name."""
    row = connection.execute(select(people).where(people.c.name == name)).first()
    return None if row is None else member_of(row)


def require(connection: Connection, name: str) -> Member:
    """A person by the name, or a refusal."""
    found = by_name(connection, name)
    if found is None:
        raise InvalidParameter(
            code="person_unknown",
            expectation="the name of somebody who was added",
            received=name[:64],
            remedy="`discreet service people list` shows who there is.",
        )
    return found


def list_people(connection: Connection, *, after: str, count: int) -> list[Member]:
    """People in the order of their names."""
    asked = select(people).where(people.c.name > after).order_by(people.c.name).limit(count)
    return [member_of(row) for row in connection.execute(asked)]


def password_of(connection: Connection, name: str) -> tuple[Member, str | None] | None:
    """A person who may come in, and what is kept of the password."""
    asked = select(people).where(people.c.name == name, people.c.disabled_at.is_(None))
    row = connection.execute(asked).first()
    if row is None:
        return None
    found = member_of(row)
    return found, row._mapping["password"] if found.has_password else None


def vouched_for(connection: Connection, *, subject: str, email: str | None) -> Member | None:
    """The person whom a steward listed by the issuer's subject, or by a verified address."""
    named = people.c.subject == subject
    if email is not None:
        named |= people.c.subject.is_(None) & (func.lower(people.c.email) == email.lower())
    admitted = people.c.disabled_at.is_(None) & (func.coalesce(people.c.password, "") != _SHUT)
    row = connection.execute(select(people).where(named, admitted)).first()
    return None if row is None else member_of(row)


def shut_out_all(connection: Connection) -> None:
    """Let nobody in, by password or issuer, before :func:`let_in_anew`."""
    connection.execute(update(people).values(password=_SHUT))


def let_in_anew(connection: Connection, key: str) -> None:
    """Let somebody in again after :func:`shut_out_all`."""
    shut = (people.c.id == key) & (people.c.password == _SHUT)
    connection.execute(update(people).where(shut).values(password=None))


def bind_subject(connection: Connection, key: str, subject: str) -> None:
    """From the first login at an issuer on, its subject is the person, whatever the address."""
    named = (people.c.id == key) & people.c.subject.is_(None)
    connection.execute(update(people).where(named).values(subject=subject))


def set_password(connection: Connection, key: str, kept: str) -> None:
    """Keep what remains of a new password."""
    connection.execute(update(people).where(people.c.id == key).values(password=kept))


def disable(connection: Connection, key: str) -> None:
    """Let nobody in under this name any more; the name is never used again."""
    named = people.c.id == key
    connection.execute(update(people).where(named).values(disabled_at=now(), password=None))


def first_owner(connection: Connection) -> Member:
    """The owner who was added first, in whose name commands at the machine are done."""
    named = (people.c.role == PersonRole.OWNER.value) & people.c.disabled_at.is_(None)
    asked = select(people).where(named).order_by(people.c.created_at, people.c.id)
    row = connection.execute(asked).first()
    if row is None:
        raise InvalidParameter(
            code="no_owner",
            expectation="an owner of the service",
            remedy="Add one: discreet service people add NAME --role owner.",
        )
    return member_of(row)


def owners(connection: Connection) -> int:
    """How many owners there are who may come in."""
    counted = select(func.count()).where(
        people.c.role == PersonRole.OWNER.value, people.c.disabled_at.is_(None)
    )
    return connection.scalar(counted) or 0


def _require_new(connection: Connection, name: str, email: str | None) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            code="person_name",
            expectation="a name of small letters, digits and . _ -, up to 64 of them",
            received=name[:64],
            remedy="Write for instance ann or ann.lee; it stands in the ledger for ever.",
        )
    if email is not None and not _EMAIL.fullmatch(email):
        raise InvalidParameter(
            code="person_email",
            expectation="an address such as ann@example.org",
            received=email[:64],
            remedy="Correct it, or leave it out.",
        )
    if by_name(connection, name) is not None or (
        email is not None
        and connection.execute(select(people.c.id).where(people.c.email == email)).first()
    ):
        raise InvalidParameter(
            code="person_exists",
            expectation="a name and an address that nobody has had",
            received=name,
            remedy="Choose another; a name is never used twice, since it stands in the ledger.",
        )
