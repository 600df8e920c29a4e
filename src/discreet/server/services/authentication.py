"""Coming in: by a token, a one-time link, a password, or what an issuer says.

Whoever is not let in is told so, and not why. Attempts are counted for each name and each address,
over all replicas, whether or not anybody has that name; requests are counted for each person.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection

from discreet.core.errors import InvalidParameter
from discreet.server.identity.oidc import Identity, Issuer, LoginRequest
from discreet.server.identity.passwords import hashed, matches
from discreet.server.identity.scram import Verifier
from discreet.server.identity.tokens import digest_of, new_secret
from discreet.server.runtime import Runtime
from discreet.server.services.people import unknown
from discreet.server.state import audit_log, counters, links, logins, oidc_flows, people, tokens
from discreet.server.state.clock import HOUR, MINUTE
from discreet.server.state.people import Member

LOGIN_HOURS = 12
_HASHED_AT_A_TIME = 2
"""Passwords, each of which takes all of four lanes for a while."""
_PER_NAME, _PER_ADDRESS, _WHILE = 20, 100, 15 * MINUTE


@dataclass(frozen=True)
class BrowserLogin:
    """A login: the cookie's secret, seen this once, and the token against forged requests."""

    person: Member
    secret: str
    csrf: str


@dataclass(frozen=True)
class ProvenToken:
    """The digest of a token that somebody has, and what shows them that the service knows it."""

    digest: str
    signature: bytes


class Authentication:
    """Who somebody is."""

    def __init__(self, runtime: Runtime) -> None:
        """Let nobody in yet."""
        self._state = runtime.state
        self._settings = runtime.settings
        self._issuers: dict[str, Issuer] = {}
        self._hashing = asyncio.Semaphore(_HASHED_AT_A_TIME)

    async def bearer(self, token: str) -> Member:
        """Who holds a token; unknown, expired and revoked ones look alike."""
        return await self.holder(digest_of(token))

    async def holder(self, digest: str) -> Member:
        """Who holds the token of a digest."""
        return await self._state.write_relaxed(self._bearer, digest)

    async def by_proof(self, name: str, proof: bytes, conversation: bytes) -> ProvenToken:
        """Who proves to have a token of ``name`` without saying it."""
        for each in await self._state.read(tokens.verifiers, name):
            verifier = Verifier.from_text(each.verifier)
            if verifier.accepts(proof, conversation):
                return ProvenToken(each.digest, verifier.signature(conversation))
        raise unknown()

    async def logged_in(self, secret: str) -> tuple[Member, str]:
        """Who is logged in under a cookie, and the token against forged requests."""
        return await self._state.write_relaxed(self._holder, digest_of(secret))

    async def link_holder(self, secret: str) -> Member:
        """Whom a one-time link would let in; it stays as it is."""
        return _let_in(await self._state.read(links.holder, digest_of(secret)))

    async def by_link(self, secret: str, *, password: str) -> BrowserLogin:
        """Come in by a one-time link, which sets the password and is used up."""
        async with self._hashing:
            kept = await asyncio.to_thread(hashed, password)
        return await self._state.write(_by_link, secret=secret, kept=kept)

    async def by_password(self, name: str, password: str, *, address: str) -> BrowserLogin:
        """Come in by name and password."""
        found = await self._state.write_relaxed(_attempted, name=name, address=address)
        kept = None if found is None else found[1]
        async with self._hashing:
            right = await asyncio.to_thread(matches, kept, password)
        if not right or found is None:
            raise unknown()
        return await self._state.write(_logged_in, person=found[0], how="password")

    async def at_issuer(self, returns_to: str) -> LoginRequest:
        """Where to send a browser to log in at the issuer, and the state it comes back with."""
        state, nonce, verifier = new_secret(), new_secret(), new_secret()
        asked = await self._issuer(returns_to).request(state=state, nonce=nonce, verifier=verifier)
        await self._state.write_relaxed(
            oidc_flows.add, digest=digest_of(state), nonce=nonce, verifier=verifier
        )
        return asked

    async def from_issuer(self, returns_to: str, *, state: str, code: str) -> BrowserLogin:
        """Come in by what the issuer says; it gives nobody a right that a steward did not."""
        flow = await self._state.write_relaxed(oidc_flows.take, digest_of(state))
        if flow is None:
            raise unknown()
        identity = await self._issuer(returns_to).identity(
            code=code, nonce=flow.nonce, verifier=flow.verifier
        )
        return await self._state.write(_vouched_for, identity=identity)

    async def leave(self, secret: str) -> None:
        """End a browser's login."""
        await self._state.write(logins.end, digest_of(secret))

    def _bearer(self, connection: Connection, digest: str) -> Member:
        person = _let_in(tokens.bearer(connection, digest))
        self._counted(connection, person)
        return person

    def _holder(self, connection: Connection, digest: str) -> tuple[Member, str]:
        found = logins.holder(connection, digest)
        if found is None:
            raise unknown()
        self._counted(connection, found[0])
        return found

    def _counted(self, connection: Connection, person: Member) -> None:
        """Count one more request of somebody, or refuse where that is once too often."""
        counters.require_within(
            connection,
            subject=person.id,
            what=counters.REQUESTS,
            most=self._settings.per_minute,
            within=MINUTE,
        )

    def _issuer(self, returns_to: str) -> Issuer:
        settings = self._settings.oidc
        if settings is None:
            raise InvalidParameter(
                code="no_issuer",
                expectation="a service with [service.oidc] in its project file",
                remedy="Log in by password, or ask the owner to name an issuer.",
            )
        if returns_to not in self._issuers:
            self._issuers[returns_to] = Issuer(settings, returns_to=returns_to)
        return self._issuers[returns_to]


def _let_in(found: Member | None) -> Member:
    if found is None:
        raise unknown()
    return found


def _by_link(connection: Connection, *, secret: str, kept: str) -> BrowserLogin:
    person = _let_in(links.use(connection, digest_of(secret)))
    people.set_password(connection, person.id, kept)
    logins.end_all(connection, person=person.id)
    return _logged_in(connection, person=person, how="link")


def _logged_in(connection: Connection, *, person: Member, how: str) -> BrowserLogin:
    secret, csrf = new_secret(), new_secret()
    logins.sweep(connection)
    logins.add(
        connection,
        person=person.id,
        digest=digest_of(secret),
        csrf=csrf,
        lasts=LOGIN_HOURS * HOUR,
    )
    counters.clear(connection, subject=_subject(person.name), what=counters.LOGINS)
    audit_log.add(connection, by=person.name, what="log in", detail={"by": how})
    return BrowserLogin(person, secret, csrf)


def _attempted(
    connection: Connection, *, name: str, address: str
) -> tuple[Member, str | None] | None:
    """Count an attempt, for the name and for the address; who it would be."""
    for subject, what, most in (
        (_subject(address), counters.ADDRESSES, _PER_ADDRESS),
        (_subject(name), counters.LOGINS, _PER_NAME),
    ):
        counters.require_within(connection, subject=subject, what=what, most=most, within=_WHILE)
    return people.password_of(connection, name)


def _vouched_for(connection: Connection, *, identity: Identity) -> BrowserLogin:
    person = _let_in(people.vouched_for(connection, subject=identity.subject, email=identity.email))
    people.bind_subject(connection, person.id, identity.subject)
    return _logged_in(connection, person=person, how="issuer")


def _subject(text: str) -> str:
    """What is counted: of bounded length, and not readable."""
    return hashlib.sha256(text.encode()).hexdigest()
