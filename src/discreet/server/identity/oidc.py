"""OpenID Connect: an issuer says who somebody is; what they may do is decided here.

The code flow with PKCE, a state and a nonce, each used once within minutes. The issuer's answer is
believed if it is signed by the issuer's own keys, meant for this client, for this login and for
now. It names a subject, and perhaps a verified address; a steward has listed one of them, or nobody
comes in.

Source: OpenID Connect Core 1.0, sections 3.1 and 3.1.3.7; RFC 7636 (PKCE); RFC 9700.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import httpx
from authlib.common.urls import add_params_to_uri  # type: ignore[import-untyped]
from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]
from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
from joserfc import jwt
from joserfc.jwk import KeySet

from discreet.core.errors import LedgerError
from discreet.curator.project.locations import from_environment
from discreet.server.settings import IssuerSettings

LOG = logging.getLogger("discreet.server")

_SIGNED = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by keys that the issuer alone holds; nothing that a client's secret could sign."""
_LEEWAY = 60
_PATIENCE = 10.0


class IssuerUnavailable(LedgerError):
    """The issuer cannot be reached, or says what cannot be believed."""


@dataclass(frozen=True)
class Identity:
    """Who the issuer says it is; an address only if the issuer verified it."""

    subject: str
    email: str | None


@dataclass(frozen=True)
class LoginRequest:
    """Where to send a browser, and what to remember until it comes back."""

    address: str
    state: str
    nonce: str
    verifier: str


class Issuer:
    """One issuer, as the settings name it; what it publishes is read when it is needed."""

    def __init__(self, settings: IssuerSettings) -> None:
        """Ask nothing yet."""
        self._settings = settings
        self._secret = from_environment(settings.secret_from)
        self._known: dict[str, Any] | None = None

    async def request(
        self, *, returns_to: str, state: str, nonce: str, verifier: str
    ) -> LoginRequest:
        """Where to send a browser to log in; ``returns_to`` is where it comes back to."""
        known = await self._metadata()
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": returns_to,
            "scope": "openid email",
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        address = add_params_to_uri(known["authorization_endpoint"], list(asked.items()))
        return LoginRequest(address, state, nonce, verifier)

    async def identity(self, *, returns_to: str, code: str, nonce: str, verifier: str) -> Identity:
        """Who a browser that came back with a code is."""
        known = await self._metadata()
        try:
            token = await self._token(known["token_endpoint"], returns_to, code, verifier)
            published: Any = await self._fetched(known["jwks_uri"])
            keys = KeySet.import_key_set(published)
            decoded = jwt.decode(token["id_token"], keys, algorithms=_SIGNED)
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                options={
                    "iss": {"essential": True, "values": [known["issuer"]]},
                    "aud": {"essential": True, "value": self._settings.client_id},
                },
                params={
                    "nonce": nonce,
                    "client_id": self._settings.client_id,
                    "access_token": token.get("access_token"),
                },
            )
            claims.validate(leeway=_LEEWAY)
        except Exception:  # whatever it is, nobody is let in, and nothing of it is shown
            LOG.warning("an issuer's answer was not believed", exc_info=True)
            claims = None
        if claims is None or claims.get("nonce") != nonce:
            raise _unbelievable()
        verified = claims.get("email_verified") is True
        return Identity(str(claims["sub"]), str(claims["email"]) if verified else None)

    async def _metadata(self) -> dict[str, Any]:
        if self._known is None:
            known = await self._fetched(f"{self._settings.issuer}/.well-known/openid-configuration")
            if str(known.get("issuer", "")).rstrip("/") != self._settings.issuer:
                raise _unbelievable()
            self._known = known
        return self._known

    async def _fetched(self, address: str) -> dict[str, Any]:
        try:
            async with httpx.AsyncClient(timeout=_PATIENCE) as client:
                reply = await client.get(address)
                reply.raise_for_status()
                found: dict[str, Any] = reply.json()
                return found
        except (httpx.HTTPError, ValueError):
            pass
        raise _unbelievable()

    async def _token(
        self, address: str, returns_to: str, code: str, verifier: str
    ) -> dict[str, Any]:
        """What the issuer gives for a code, to this client alone."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": returns_to,
            "code_verifier": verifier,
        }
        client_is = httpx.BasicAuth(self._settings.client_id, self._secret)
        async with httpx.AsyncClient(timeout=_PATIENCE) as client:
            reply = await client.post(address, data=form, auth=client_is)
            reply.raise_for_status()
            found: dict[str, Any] = reply.json()
            return found


def _unbelievable() -> IssuerUnavailable:
    return IssuerUnavailable(
        code="issuer_unavailable",
        expectation="an issuer that answers, with a signed answer that is meant for this login",
        remedy="Log in again. If it goes on, the owner checks [service.oidc].",
    )
