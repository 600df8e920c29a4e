"""Who calls: a token in the header ``Authorization``, or the cookie of a browser's login."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request

from discreet.server.identity.tokens import is_token
from discreet.server.rights import Action, require
from discreet.server.service import Service
from discreet.server.state.people import Member
from discreet.server.verbs.people import unknown


def service_of(request: Request) -> Service:
    """The service behind an app."""
    found: Service = request.app.state.service
    return found


async def caller(request: Request) -> Member:
    """Who it is, or a refusal."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and is_token(token.strip()):
        return await service_of(request).people.bearer(token.strip())
    raise unknown()


def allowed(action: Action) -> Callable[[Request], Awaitable[Member]]:
    """Whoever calls, if they may do this; a route says so by depending on it."""

    async def checked(request: Request) -> Member:
        person = await caller(request)
        require(person.role, action)
        return person

    checked.action = action  # type: ignore[attr-defined]
    return checked


TheService = Annotated[Service, Depends(service_of)]
Asker = Annotated[Member, Depends(allowed(Action.ASK))]
