"""Coming in and going out: name and password, one-time links, an issuer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.core.errors import DiscreetError
from discreet.server.api.authentication import COOKIE, TheService, set_cookie, visitor_of
from discreet.server.api.errors import status_of
from discreet.server.rights import Action
from discreet.server.service import Service
from discreet.server.services.authentication import BrowserLogin
from discreet.server.web.forms import read_form
from discreet.server.web.page_context import (
    EnterPage,
    PageRoute,
    is_local,
    redirect,
    require_same_site,
    told_refusal,
)
from discreet.server.web.rendering import refusal_words, rendered

router = APIRouter(route_class=PageRoute)
Wanted = Annotated[str, Query(alias="next", max_length=500)]


@router.get("/")
async def home(page: EnterPage) -> Response:
    """Where somebody's work is."""
    return redirect("/budget" if page.may(Action.READ_BUDGET) else "/ask")


@router.get("/login")
async def door(service: TheService, wanted: Wanted = "") -> Response:
    """The form for name and password."""
    return _door(service, wanted)


@router.post("/login")
async def log_in(service: TheService, request: Request) -> Response:
    """Come in by name and password."""
    require_same_site(request)
    form = await read_form(request)
    wanted, name = form.text("next"), form.text("name")
    try:
        came = visitor_of(request)
        login = await service.authentication.by_password(
            name, form.secret("password"), address=came.address, device=came.device
        )
    except DiscreetError as refusal:
        return _door(service, wanted, name, refusal)
    return _inside(service, login, wanted)


@router.get("/enter/{secret}")
async def link(service: TheService, secret: str, request: Request) -> Response:
    """The form for a first password, for whoever holds a one-time link."""
    try:
        person = await service.authentication.link_holder(secret, visitor=visitor_of(request))
    except DiscreetError as refusal:
        return told_refusal(refusal)
    return _threshold(secret, person.name)


@router.post("/enter/{secret}")
async def first_login(service: TheService, secret: str, request: Request) -> Response:
    """Come in by a one-time link, which sets the password and is used up."""
    require_same_site(request)
    form, came = await read_form(request), visitor_of(request)
    person = await service.authentication.link_holder(secret, visitor=came)
    try:
        login = await service.authentication.by_link(
            secret, password=form.secret("password"), visitor=came
        )
    except DiscreetError as refusal:
        return _threshold(secret, person.name, refusal)
    return _inside(service, login, "")


@router.post("/logout")
async def log_out(page: EnterPage) -> Response:
    """End the login of this browser."""
    await page.service.authentication.leave(page.request.cookies[COOKIE])
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/")
    return response


def _inside(service: Service, login: BrowserLogin, wanted: str) -> Response:
    response = RedirectResponse(wanted if is_local(wanted) else "/", 303)
    set_cookie(response, login, service.runtime.settings)
    return response


def _door(
    service: Service, wanted: str, name: str = "", refusal: DiscreetError | None = None
) -> Response:
    issuer = service.runtime.settings.oidc is not None
    told = None if refusal is None else refusal_words(refusal)
    page = rendered("login.html", wanted=wanted, name=name, issuer=issuer, refusal=told)
    return HTMLResponse(page, 200 if refusal is None else status_of(refusal))


def _threshold(secret: str, name: str, refusal: DiscreetError | None = None) -> Response:
    told = None if refusal is None else refusal_words(refusal)
    page = rendered("enter.html", secret=secret, name=name, refusal=told)
    return HTMLResponse(page, 200 if refusal is None else status_of(refusal))
