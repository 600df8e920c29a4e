"""Who calls: a token in the header ``Authorization``, or the cookie of a browser's login.

A browser sends its cookie along with requests that other pages make it send. So whatever changes
something needs the login's own token beside the cookie, in the header ``X-CSRF-Token``.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from discreet.server.api.request_pace import note_let_in
from discreet.server.identity.tokens import is_token
from discreet.server.rights import Action, Forbidden, require
from discreet.server.service import Service
from discreet.server.services.authentication import LOGIN_HOURS, BrowserLogin
from discreet.server.services.login_attempts import Visitor
from discreet.server.services.people import unknown
from discreet.server.settings import ServiceSettings
from discreet.server.state.clock import HOUR, SECOND
from discreet.server.state.counters import KNOWN_FOR
from discreet.server.state.people import Member

COOKIE = "discreet_login"
DEVICE = "discreet_device"
"""By which a browser is known from which somebody logged in before; it lets nobody in."""
CSRF = "x-csrf-token"
_SAFE = ("GET", "HEAD", "OPTIONS")


def service_of(request: Request) -> Service:
    """The service behind an app."""
    found: Service = request.app.state.service
    return found


async def caller(request: Request) -> Member:
    """Who it is, or a refusal."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        if scheme.lower() != "bearer" or not is_token(token.strip()):
            raise unknown()
        person = await service_of(request).authentication.bearer(token.strip())
        note_let_in(request.scope, person.id)
        return person
    person, csrf = await logged_in(request)
    if request.method not in _SAFE:
        require_own(csrf, request.headers.get(CSRF, ""))
    return person


async def logged_in(request: Request) -> tuple[Member, str]:
    """Whose browser it is, and the login's token against forged requests."""
    cookie = request.cookies.get(COOKIE, "")
    if not cookie:
        raise unknown()
    person, csrf = await service_of(request).authentication.logged_in(cookie)
    note_let_in(request.scope, person.id)
    return person, csrf


def visitor_of(request: Request) -> Visitor:
    """Where a request comes from, as far as is known."""
    address = request.client.host if request.client else ""
    return Visitor(address, request.cookies.get(DEVICE, ""))


def require_own(csrf: str, sent: str) -> None:
    """Refuse a request that another page may have made the browser send."""
    if not hmac.compare_digest(csrf.encode(), sent.encode()):
        raise Forbidden(
            code="forged_request",
            expectation="the login's own token in the header X-CSRF-Token, or in the form",
            remedy="Load the page again.",
        )


def set_cookie(response: Response, login: BrowserLogin, settings: ServiceSettings) -> None:
    """Give a browser its login: never to scripts, never along with other sites' requests."""
    lasts = {COOKIE: LOGIN_HOURS * HOUR, DEVICE: KNOWN_FOR}
    for name, secret in ((COOKIE, login.secret), (DEVICE, login.device)):
        response.set_cookie(
            name,
            secret,
            max_age=lasts[name] // SECOND,
            httponly=True,
            samesite="strict",
            secure=is_encrypted(settings),
            path="/",
        )


def is_encrypted(settings: ServiceSettings) -> bool:
    """Whether browsers reach the service by TLS."""
    named = (settings.address or "").startswith("https://")
    return settings.certificate is not None or settings.behind_proxy or named


def allowed(action: Action) -> Callable[[Request], Awaitable[Member]]:
    """Whoever calls, if they may do this; a route says so by depending on it."""

    async def checked(request: Request) -> Member:
        person = await caller(request)
        require(person.role, action)
        return person

    checked.action = action  # type: ignore[attr-defined]
    return checked


async def the_service(request: Request) -> Service:
    """:func:`service_of`, on the event loop and not in a thread of its own."""
    return service_of(request)


TheService = Annotated[Service, Depends(the_service)]
Entered = Annotated[Member, Depends(allowed(Action.ENTER))]
Asker = Annotated[Member, Depends(allowed(Action.ASK))]
Reader = Annotated[Member, Depends(allowed(Action.READ_PUBLISHED))]
PeopleKeeper = Annotated[Member, Depends(allowed(Action.MANAGE_PEOPLE))]
Granter = Annotated[Member, Depends(allowed(Action.GRANT))]
Approver = Annotated[Member, Depends(allowed(Action.APPROVE))]
Publisher = Annotated[Member, Depends(allowed(Action.PUBLISH))]
RoundKeeper = Annotated[Member, Depends(allowed(Action.RUN_ROUNDS))]
BudgetReader = Annotated[Member, Depends(allowed(Action.READ_BUDGET))]
LedgerReader = Annotated[Member, Depends(allowed(Action.READ_LEDGER))]
Amender = Annotated[Member, Depends(allowed(Action.AMEND))]
MetricsReader = Annotated[Member, Depends(allowed(Action.MONITOR))]
