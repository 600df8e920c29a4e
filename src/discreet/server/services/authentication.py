"""Coming in: by a token, a one-time link, a password, or what an issuer says.

Whoever is not let in is told so, and not why. Attempts are counted where they come from, over all
replicas (:mod:`discreet.server.services.login_attempts`); requests are counted for each person.
Nothing that strangers send is hashed before it was counted, and a link not before it was found.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from discreet.core.errors import InvalidParameter
from discreet.server.identity.hashing import HashingQueue, PasswordHashing
from discreet.server.identity.oidc import Identity, Issuer, LoginRequest
from discreet.server.identity.passwords import hashed, matches
from discreet.server.identity.scram import Verifier
from discreet.server.identity.tokens import digest_of, new_secret
from discreet.server.runtime import Runtime
from discreet.server.services import login_attempts
from discreet.server.services.login_attempts import Attempt, Visitor
from discreet.server.services.people import unknown
from discreet.server.state import audit_log, counters, links, logins, oidc_flows, people, tokens
from discreet.server.state.clock import HOUR, MINUTE
from discreet.server.state.people import Member

LOGIN_HOURS = 12


@dataclass(frozen=True)
class BrowserLogin:
    """A login: the cookie's secret, seen this once, and the token against forged requests.

    ``device`` is the secret by which the browser is known from then on; it lets nobody in.
    """

    person: Member
    secret: str
    csrf: str
    device: str


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
        self._issuer: Issuer | None = None
        self._hashing = PasswordHashing()

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

    async def link_holder(self, secret: str, *, visitor: Visitor) -> Member:
        """Whom a one-time link would let in; it stays as it is. One that lets nobody in counts."""
        found = await self._state.read(links.holder, digest_of(secret))
        if found is None:
            await self._count_stranger(visitor, counters.LINKS)
        return _let_in(found)

    async def by_link(self, secret: str, *, password: str, visitor: Visitor) -> BrowserLogin:
        """Come in by a one-time link, which sets the password and is used up."""
        person = await self.link_holder(secret, visitor=visitor)
        async with self._hashing.turn(HashingQueue.LINKS, person.id):
            await self.link_holder(secret, visitor=visitor)  # or it was used meanwhile
            kept = await self._hashing.run(hashed, password)
            return await self._state.write(_by_link, secret=secret, kept=kept, visitor=visitor)

    async def by_password(
        self, name: str, password: str, *, address: str, device: str = ""
    ) -> BrowserLogin:
        """Come in by name and password."""
        visitor = Visitor(address, device)
        attempt = await self._state.write_relaxed(login_attempts.begin, name=name, visitor=visitor)
        async with self._hashing.turn(attempt.queue, attempt.turn):
            right = await self._hashing.run(matches, attempt.kept, password)
        if attempt.person is None or not right or attempt.in_vain:
            raise unknown()
        return await self._state.write(_by_password, attempt=attempt, visitor=visitor)

    async def at_issuer(self, returns_to: str, *, visitor: Visitor) -> LoginRequest:
        """Where to send a browser to log in at the issuer, and the state it comes back with."""
        issuer = self._named_issuer()
        await self._count_stranger(visitor, counters.FLOWS)
        state, nonce, verifier = new_secret(), new_secret(), new_secret()
        asked = await issuer.request(
            returns_to=returns_to, state=state, nonce=nonce, verifier=verifier
        )
        await self._state.write_relaxed(
            oidc_flows.add, digest=digest_of(state), nonce=nonce, verifier=verifier
        )
        return asked

    async def from_issuer(
        self, returns_to: str, *, state: str, code: str, visitor: Visitor
    ) -> BrowserLogin:
        """Come in by what the issuer says; it gives nobody a right that a steward did not."""
        flow = await self._state.write_relaxed(oidc_flows.take, digest_of(state))
        if flow is None:
            raise unknown()
        identity = await self._named_issuer().identity(
            returns_to=returns_to, code=code, nonce=flow.nonce, verifier=flow.verifier
        )
        return await self._state.write(_vouched_for, identity=identity, visitor=visitor)

    async def leave(self, secret: str) -> None:
        """End a browser's login."""
        await self._state.write(logins.end, digest_of(secret))

    def close(self) -> None:
        """Let go of what passwords are hashed with."""
        self._hashing.close()

    async def _count_stranger(self, visitor: Visitor, what: str) -> None:
        await self._state.write_relaxed(login_attempts.count_stranger, visitor=visitor, what=what)

    def _bearer(self, connection: Connection, digest: str) -> Member:
        person = _let_in(tokens.bearer(connection, digest))
        self._count_request(connection, person)
        return person

    def _holder(self, connection: Connection, digest: str) -> tuple[Member, str]:
        found = logins.holder(connection, digest)
        if found is None:
            raise unknown()
        self._count_request(connection, found[0])
        return found

    def _count_request(self, connection: Connection, person: Member) -> None:
        """Count one more request of somebody, or refuse where that is once too often."""
        counters.require_within(
            connection,
            subject=person.id,
            what=counters.REQUESTS,
            most=self._settings.per_minute,
            within=MINUTE,
        )

    def _named_issuer(self) -> Issuer:
        settings = self._settings.oidc
        if settings is None:
            raise InvalidParameter(
                code="no_issuer",
                expectation="a service with [service.oidc] in its project file",
                remedy="Log in by password, or ask the owner to name an issuer.",
            )
        if self._issuer is None:
            self._issuer = Issuer(settings)
        return self._issuer


def _let_in(found: Member | None) -> Member:
    if found is None:
        raise unknown()
    return found


def _by_link(connection: Connection, *, secret: str, kept: str, visitor: Visitor) -> BrowserLogin:
    person = _let_in(links.use(connection, digest_of(secret)))
    people.set_password(connection, person.id, kept)
    logins.end_all(connection, person=person.id)
    return _logged_in(connection, person=person, visitor=visitor, how="link")


def _by_password(connection: Connection, *, attempt: Attempt, visitor: Visitor) -> BrowserLogin:
    person = _let_in(attempt.person)
    login_attempts.succeed(connection, counted=attempt.counted)
    return _logged_in(connection, person=person, visitor=visitor, how="password")


def _vouched_for(connection: Connection, *, identity: Identity, visitor: Visitor) -> BrowserLogin:
    person = _let_in(people.vouched_for(connection, subject=identity.subject, email=identity.email))
    people.bind_subject(connection, person.id, identity.subject)
    return _logged_in(connection, person=person, visitor=visitor, how="issuer")


def _logged_in(
    connection: Connection, *, person: Member, visitor: Visitor, how: str
) -> BrowserLogin:
    secret, csrf = new_secret(), new_secret()
    logins.sweep(connection)
    logins.add(
        connection,
        person=person.id,
        digest=digest_of(secret),
        csrf=csrf,
        lasts=LOGIN_HOURS * HOUR,
    )
    device = login_attempts.remember(connection, name=person.name, visitor=visitor)
    audit_log.add(connection, by=person.name, what="log in", detail={"by": how})
    return BrowserLogin(person, secret, csrf, device)
