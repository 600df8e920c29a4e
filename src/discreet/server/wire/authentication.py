"""Coming in through the wire: a name, and a token or a password that did not travel in the clear.

Source: contract, "What may be seen"; 004d:P7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from discreet.server.identity.tokens import is_token
from discreet.server.operations.loopback import is_loopback
from discreet.server.services.authentication import Authentication
from discreet.server.services.people import unknown
from discreet.server.state.people import Member
from discreet.server.wire.errors import not_encrypted


@dataclass(frozen=True)
class Peer:
    """The other end of a connection."""

    address: str
    encrypted: bool


@dataclass(frozen=True)
class TokenCredential:
    """Somebody with a token, which is looked at again at every statement."""

    token: str

    async def person(self, authentication: Authentication) -> Member:
        """Who it is, if the token still lets in."""
        return await authentication.bearer(self.token)

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


async def authenticated(
    authentication: Authentication, peer: Peer, name: str, secret: str
) -> Credential:
    """Whoever has that name, and a token or the password of it; else a refusal without a reason."""
    require_encrypted(peer)
    if not is_token(secret):
        login = await authentication.by_password(name, secret, address=peer.address)
        return PasswordCredential(login.secret)
    person = await authentication.bearer(secret)
    if person.name != name:
        raise unknown()
    return TokenCredential(secret)
