"""Logging in and out, for browsers."""

from __future__ import annotations

import hmac
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from discreet.core.errors import InvalidParameter
from discreet.server.api.authentication import (
    COOKIE,
    TheService,
    is_encrypted,
    logged_in,
    require_own,
    set_cookie,
    visitor_of,
)
from discreet.server.api.pagination import Body
from discreet.server.operations.loopback import is_loopback
from discreet.server.service import Service
from discreet.server.services.authentication import BrowserLogin
from discreet.server.services.people import unknown

router = APIRouter(tags=["logging in"])
_FLOW = "discreet_flow"


class Password(Body):
    """Name and password."""

    name: str = Field(max_length=64)
    password: str = Field(max_length=512)


class FirstPassword(Body):
    """The password that a one-time link sets."""

    password: str = Field(max_length=512)


@router.post("/login")
async def log_in(service: TheService, request: Request, body: Password) -> Response:
    """Log in; the cookie is set, and the token against forged requests returned."""
    came = visitor_of(request)
    login = await service.authentication.by_password(
        body.name, body.password, address=came.address, device=came.device
    )
    return _entered(service, login)


@router.post("/links/{secret}")
async def first_login(
    service: TheService, request: Request, secret: str, body: FirstPassword
) -> Response:
    """Come in by a one-time link, which sets a password and is used up."""
    login = await service.authentication.by_link(
        secret, password=body.password, visitor=visitor_of(request)
    )
    return _entered(service, login)


@router.post("/logout", status_code=204)
async def log_out(service: TheService, request: Request) -> Response:
    """End the login of this browser."""
    _, csrf = await logged_in(request)
    require_own(csrf, request.headers.get("x-csrf-token", ""))
    await service.authentication.leave(request.cookies[COOKIE])
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get("/session")
async def session(request: Request) -> dict[str, Any]:
    """Who is logged in, and the token against forged requests: for this browser's own pages."""
    person, csrf = await logged_in(request)
    return {"name": person.name, "role": person.role.value, "csrf": csrf}


@router.get("/login/issuer", status_code=303, response_class=RedirectResponse)
async def to_issuer(service: TheService, request: Request) -> Response:
    """Send the browser to the issuer; a cookie says that it was this browser."""
    asked = await service.authentication.at_issuer(
        _returns_to(service, request), visitor=visitor_of(request)
    )
    response = RedirectResponse(asked.address, 303)
    response.set_cookie(
        _FLOW,
        asked.state,
        max_age=600,
        httponly=True,
        samesite="lax",  # it comes back from the issuer's pages
        secure=is_encrypted(service.runtime.settings),
        path=request.url.path,
    )
    return response


@router.get("/login/issuer/return", response_class=HTMLResponse)
async def from_issuer(
    service: TheService,
    request: Request,
    state: Annotated[str, Query(max_length=200)],
    code: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """Come in by what the issuer says, with the browser that was sent there."""
    if not hmac.compare_digest(request.cookies.get(_FLOW, "").encode(), state.encode()):
        raise unknown()
    login = await service.authentication.from_issuer(
        _returns_to(service, request), state=state, code=code, visitor=visitor_of(request)
    )
    # A page of our own goes on: a redirect would still count as the issuer's, without the cookie.
    response = HTMLResponse('<!doctype html><meta http-equiv="refresh" content="0;url=/">')
    set_cookie(response, login, service.runtime.settings)
    return response


def _entered(service: Service, login: BrowserLogin) -> Response:
    told = {"name": login.person.name, "role": login.person.role.value, "csrf": login.csrf}
    response = JSONResponse(told)
    set_cookie(response, login, service.runtime.settings)
    return response


def _returns_to(service: Service, request: Request) -> str:
    """Where the issuer sends a browser: as the settings say, or to this machine, never elsewhere.

    What a request says of the host that it was meant for is believed where it is this machine.
    """
    base = service.runtime.settings.address
    if base is None and is_loopback(request.url.hostname or ""):
        base = str(request.base_url)
    if base is None:
        raise InvalidParameter(
            code="no_issuer",
            expectation="a service whose public address is `address =` in [service]",
            remedy="Log in by password, or ask the owner to write it into the project file.",
        )
    return f"{base.rstrip('/')}/api/v1/login/issuer/return"
