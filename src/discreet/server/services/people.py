"""Who there is: adding people, letting them in, shutting them out."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from discreet.core.errors import InvalidParameter
from discreet.server.identity.scram import salt_of, verifier_of
from discreet.server.identity.tokens import digest_of, new_secret, new_token
from discreet.server.rights import Action, Forbidden, PersonRole, require, require_above
from discreet.server.runtime import Runtime
from discreet.server.state import audit_log, links, logins, people, tokens
from discreet.server.state.audit_log import COMMAND_LINE
from discreet.server.state.clock import DAY
from discreet.server.state.people import Member
from discreet.server.state.tokens import TokenEntry

TOKEN_DAYS = 90
LINK_DAYS = 3


@dataclass(frozen=True)
class NewToken:
    """A token, the only time that it is seen."""

    token: str
    entry: TokenEntry


class People:
    """Who there is, and their tokens."""

    def __init__(self, runtime: Runtime) -> None:
        """Know nobody yet."""
        self._state = runtime.state

    async def list_people(self, actor: Member, *, after: str, count: int) -> list[Member]:
        """Everybody, in the order of names."""
        require(actor.role, Action.READ_BUDGET)
        return await self._state.read(people.list_people, after=after, count=count)

    async def add(
        self,
        actor: Member,
        *,
        name: str,
        role: PersonRole,
        email: str | None = None,
        subject: str | None = None,
    ) -> Member:
        """Add somebody who may come in."""
        require(actor.role, Action.MANAGE_PEOPLE)
        require_above(actor.role, role)
        return await self._state.write(
            add_person, by=actor.name, name=name, role=role, email=email, subject=subject
        )

    async def new_link(self, actor: Member, name: str) -> str:
        """A one-time link for somebody, by which they choose a password; shown once."""
        require(actor.role, Action.MANAGE_PEOPLE)
        return await self._state.write(_link_for, actor=actor, name=name)

    async def disable(self, actor: Member, name: str) -> Member:
        """Let nobody in under this name any more."""
        require(actor.role, Action.MANAGE_PEOPLE)
        return await self._state.write(disable_person, actor=actor, name=name)

    async def new_token(
        self,
        person: Member,
        *,
        label: str,
        days: int = TOKEN_DAYS,
        replaces: str | None = None,
        overlap: int = 0,
    ) -> NewToken:
        """A token of one's own; one that it replaces goes on for ``overlap`` seconds."""
        require(person.role, Action.ENTER)
        return await self._state.write(
            issue_token, person=person, label=label, days=days, replaces=replaces, overlap=overlap
        )

    async def tokens(self, person: Member) -> list[TokenEntry]:
        """One's own valid tokens."""
        require(person.role, Action.ENTER)
        return await self._state.read(tokens.list_tokens, person=person.id)

    async def revoke(self, person: Member, token: str) -> None:
        """End a token of one's own."""
        require(person.role, Action.ENTER)
        await self._state.write(_revoked, person=person, token=token)

    async def tokens_of(self, actor: Member, name: str) -> list[TokenEntry]:
        """Somebody's valid tokens, for who looks after people; not the tokens themselves."""
        require(actor.role, Action.MANAGE_PEOPLE)
        return await self._state.read(_tokens_below, actor=actor, name=name)

    async def end_tokens(self, actor: Member, name: str, token: str | None = None) -> int:
        """End one token of somebody, or all of them; passwords stay. How many ended."""
        require(actor.role, Action.MANAGE_PEOPLE)
        return await self._state.write(end_tokens, actor=actor, name=name, token=token)


def unknown() -> Forbidden:
    """Nobody is told why a secret lets nobody in."""
    return Forbidden(
        code="not_let_in",
        expectation="a valid token, password, link or session",
        remedy="Log in again, or ask a steward for a new link.",
    )


def add_person(
    connection: Connection,
    *,
    by: str,
    name: str,
    role: PersonRole,
    email: str | None = None,
    subject: str | None = None,
) -> Member:
    """Add somebody, and log it."""
    made = people.add(connection, name=name, role=role, email=email, subject=subject)
    audit_log.add(connection, by=by, what="add person", about=name, detail={"role": role.value})
    return made


def issue_link(connection: Connection, *, by: str, person: Member) -> str:
    """A one-time link's secret, the only time that it is seen; an earlier one ends."""
    if person.disabled_at is not None:
        raise _out(person)
    secret = new_secret()
    people.let_in_anew(connection, person.id)
    links.add(connection, person=person.id, digest=digest_of(secret), lasts=LINK_DAYS * DAY)
    audit_log.add(connection, by=by, what="new link", about=person.name)
    return secret


def issue_token(
    connection: Connection,
    *,
    person: Member,
    label: str,
    days: int = TOKEN_DAYS,
    replaces: str | None = None,
    overlap: int = 0,
    by: str | None = None,
) -> NewToken:
    """Keep the digest of a new token, and show the token once; ``by`` None: its own person."""
    if person.disabled_at is not None:
        raise _out(person)
    if not 1 <= days <= 366 or not 0 < len(label.strip()) <= 100 or not 0 <= overlap <= 7 * 86_400:
        raise InvalidParameter(
            code="token_terms",
            expectation="a label, 1 to 366 days, and an overlap of at most seven days",
            remedy='Write for instance {"label": "notebook", "days": 90}.',
        )
    if replaces is not None and not tokens.shorten(
        connection, person=person.id, token=replaces, lasts=overlap * 1000
    ):
        raise _no_token(replaces)
    token = new_token()
    entry = tokens.add(
        connection,
        person=person.id,
        label=label.strip(),
        digest=digest_of(token),
        verifier=verifier_of(token, salt=salt_of(person.name)).to_text(),
        lasts=days * DAY,
    )
    audit_log.add(connection, by=by or person.name, what="new token", about=person.name)
    return NewToken(token, entry)


def disable_person(connection: Connection, *, actor: Member | None, name: str) -> Member:
    """Shut somebody out: no token, login, link or password is left; ``actor`` None: a command."""
    person = people.require(connection, name)
    if actor is not None:
        require_above(actor.role, person.role)
    if person.role is PersonRole.OWNER and people.owners(connection) == 1:
        raise InvalidParameter(
            code="last_owner",
            expectation="an owner who is left",
            received=name,
            remedy="Add another owner first.",
        )
    people.disable(connection, person.id)
    tokens.forget_all(connection, person=person.id)
    logins.end_all(connection, person=person.id)
    links.forget(connection, person=person.id)
    audit_log.add(connection, by=_by(actor), what="disable person", about=name)
    return people.require(connection, name)


def end_tokens(
    connection: Connection, *, actor: Member | None, name: str, token: str | None = None
) -> int:
    """End one token of somebody, or all; how many were valid. ``actor`` None: a command."""
    person = people.require(connection, name)
    if actor is not None:
        require_above(actor.role, person.role)
    if token is None:
        ended = tokens.forget_all(connection, person=person.id)
    elif tokens.forget(connection, person=person.id, token=token):
        ended = 1
    else:
        raise _no_token(token, "theirs", f"GET /api/v1/people/{name}/tokens")
    detail = {"tokens": ended}
    audit_log.add(connection, by=_by(actor), what="revoke token", about=name, detail=detail)
    return ended


def _tokens_below(connection: Connection, *, actor: Member, name: str) -> list[TokenEntry]:
    person = people.require(connection, name)
    require_above(actor.role, person.role)
    return tokens.list_tokens(connection, person=person.id)


def _by(actor: Member | None) -> str:
    return COMMAND_LINE if actor is None else actor.name


def _out(person: Member) -> InvalidParameter:
    return InvalidParameter(
        code="person_disabled",
        expectation="somebody who may come in",
        received=person.name,
        remedy="Add somebody under another name.",
    )


def _link_for(connection: Connection, *, actor: Member, name: str) -> str:
    person = people.require(connection, name)
    require_above(actor.role, person.role)
    return issue_link(connection, by=actor.name, person=person)


def _revoked(connection: Connection, *, person: Member, token: str) -> None:
    if not tokens.forget(connection, person=person.id, token=token):
        raise _no_token(token)
    audit_log.add(connection, by=person.name, what="revoke token", about=person.name)


def _no_token(
    token: str, whose: str = "yours", listed: str = "GET /api/v1/tokens"
) -> InvalidParameter:
    return InvalidParameter(
        code="token_unknown",
        expectation=f"the id of a valid token of {whose}",
        received=token[:64],
        remedy=f"{listed} lists them.",
    )
