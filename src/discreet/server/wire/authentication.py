"""Coming in through the wire: a name, and a token or a password that did not travel in the clear.

Which of two ways is the owner's choice for everybody, since the service speaks first: it asks for a
token or a password, or for a proof of having a token (SCRAM), which tells nothing to whoever only
pretends to be the service.

Source: contract, "What may be seen"; 004d:P7.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from discreet.server.identity.scram import base64_text
from discreet.server.identity.tokens import digest_of, is_token
from discreet.server.operations.loopback import is_loopback
from discreet.server.services.authentication import Authentication
from discreet.server.services.people import unknown
from discreet.server.settings import WireEntry
from discreet.server.state.people import Member
from discreet.server.wire.errors import not_encrypted
from discreet.server.wire.messages import (
    PASSWORD_WANTED,
    ProtocolViolation,
    sasl_challenge,
    sasl_offer,
    sasl_over,
)
from discreet.server.wire.scram_exchange import MECHANISM, ScramExchange
from discreet.server.wire.stream import WireStream


@dataclass(frozen=True)
class Peer:
    """The other end of a connection."""

    address: str
    encrypted: bool


@dataclass(frozen=True)
class TokenCredential:
    """Somebody with a token, which is looked at again at every statement."""

    digest: str

    async def person(self, authentication: Authentication) -> Member:
        """Who it is, if the token still lets in."""
        return await authentication.holder(self.digest)

    async def leave(self, authentication: Authentication) -> None:
        """Nothing: tokens outlive connections."""


@dataclass(frozen=True)
class PasswordCredential:
    """Somebody who gave a password, and has a login for as long as the connection lasts."""

    secret: str

    async def person(self, authentication: Authentication) -> Member:
        """Who it is, if the login still holds."""
        return (await authentication.logged_in(self.secret))[0]

    async def leave(self, authentication: Authentication) -> None:
        """End the login."""
        await authentication.leave(self.secret)


Credential: TypeAlias = TokenCredential | PasswordCredential


def require_encrypted(peer: Peer) -> None:
    """Refuse to be told a secret that others could read on its way."""
    if not (peer.encrypted or is_loopback(peer.address)):
        raise not_encrypted()


async def by_secret(
    authentication: Authentication, peer: Peer, name: str, stream: WireStream
) -> Credential:
    """Whoever has that name, and a token or the password of it; else a refusal without a reason."""
    await stream.queue_bytes(PASSWORD_WANTED)
    await stream.flush()
    secret = (await stream.password()).secret
    if not is_token(secret):
        login = await authentication.by_password(name, secret, address=peer.address)
        return PasswordCredential(login.secret)
    person = await authentication.bearer(secret)
    if person.name != name:
        raise unknown()
    return TokenCredential(digest_of(secret))


async def by_proof(
    authentication: Authentication, _: Peer, name: str, stream: WireStream
) -> Credential:
    """Whoever has that name, and proves to have a token of it."""
    await stream.queue_bytes(sasl_offer(MECHANISM))
    await stream.flush()
    begun = await stream.sasl()
    if begun.mechanism != MECHANISM:
        raise ProtocolViolation
    exchange = ScramExchange.begun(name, begun.data)
    await stream.queue_bytes(sasl_challenge(exchange.challenge))
    await stream.flush()
    said = exchange.proof(await stream.sasl_more())
    proven = await authentication.by_proof(name, said.proof, said.conversation)
    await stream.queue_bytes(sasl_over(f"v={base64_text(proven.signature)}"))
    return TokenCredential(proven.digest)


ENTRIES: dict[
    WireEntry, Callable[[Authentication, Peer, str, WireStream], Awaitable[Credential]]
] = {WireEntry.PASSWORD: by_secret, WireEntry.SCRAM: by_proof}
"""What is done for each choice of the owner."""
