"""Who looks at a page, and what a page answers when it refuses.

A page is for the cookie of a browser's login alone; tokens are for the API. Whatever changes
something is a form with the login's own token in it (:mod:`discreet.server.api.authentication`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.server.api.authentication import CSRF, logged_in, require_own, service_of
from discreet.server.api.errors import LOG, status_of
from discreet.server.refusals import failed
from discreet.server.rights import Action, Forbidden, may, require
from discreet.server.service import Service
from discreet.server.state.people import Member
from discreet.server.web.forms import FormFields, read_form
from discreet.server.web.rendering import refusal_words, rendered

_SAFE = ("GET", "HEAD")
_LOCAL = re.compile(r"/[A-Za-z0-9_\-./?=&%+]*")
PLACES: tuple[tuple[str, str, Action], ...] = (
    ("Ask", "/ask", Action.ASK),
    ("Releases", "/releases", Action.ASK),
    ("Batch", "/batches", Action.ASK),
    ("Synopsis", "/synopses", Action.ASK),
    ("Conversations", "/conversations", Action.ASK),
    ("Budget", "/budget", Action.READ_BUDGET),
    ("People", "/people", Action.READ_BUDGET),
    ("Approvals", "/approvals", Action.APPROVE),
    ("Published", "/published", Action.READ_PUBLISHED),
    ("Streams", "/streams", Action.READ_PUBLISHED),
    ("Rounds", "/rounds", Action.ENTER),
    ("Ledger", "/ledger", Action.READ_LEDGER),
    ("Log", "/log", Action.MONITOR),
    ("Record", "/record", Action.ENTER),
    ("What ε means", "/meaning", Action.ENTER),
)
"""Where one can go, in this order, if one may."""
SAID = {
    "granted": "The budget is set aside.",
    "disabled": "Nobody comes in under that name any more.",
    "tokens_ended": "Their tokens let no program in any more. The password stays.",
    "again": "You asked this before: it is the same release again, free of charge.",
    "agreed": "Agreed: the question is being asked.",
    "declined": "Declined: nothing was charged.",
    "revoked": "The token is ended.",
    "published": "Published: everybody here can read it now.",
    "amended": "The budget is changed, and the ledger says why.",
    "cancelled": "Given up. What was charged stays charged.",
    "opened": "It is open.",
    "closed": "It is closed.",
    "submitted": "Your queries are kept for the round, instead of earlier ones.",
}
"""What a page says after something was done."""


@dataclass(frozen=True)
class PageContext:
    """Somebody at a page.

    Attributes:
        service: What they may use.
        person: Who it is.
        csrf: The login's token against forged requests, for forms.
        request: What the browser sent.
        form: The fields of a form, where one was sent.
    """

    service: Service
    person: Member
    csrf: str
    request: Request
    form: FormFields

    def may(self, action: Action) -> bool:
        """Whether they may do this."""
        return may(self.person.role, action)

    def render(self, template: str, status: int = 200, **told: Any) -> Response:
        """A page for them."""
        path = self.request.url.path
        said = SAID.get(self.request.query_params.get("said", ""))
        refusal = told.pop("refusal", None)
        return HTMLResponse(
            rendered(
                template,
                person=self.person,
                csrf=self.csrf,
                may=self.may,
                Action=Action,
                places=[(name, at, at == path) for name, at, what in PLACES if self.may(what)],
                said=said,
                refusal=None if refusal is None else refusal_words(refusal),
                **told,
            ),
            status,
        )

    def render_refusal(self, template: str, refusal: DiscreetError, **told: Any) -> Response:
        """The same page again, with what was refused on it."""
        return self.render(template, status_of(refusal), refusal=refusal, **told)


def redirect(path: str, said: str = "") -> Response:
    """Send the browser on after something was done, so that loading again does nothing twice."""
    return RedirectResponse(f"{path}?said={said}" if said else path, 303)


def page_for(action: Action) -> Callable[[Request], Awaitable[PageContext]]:
    """Whoever looks, if they may do this; a page says so by depending on it."""

    async def checked(request: Request) -> PageContext:
        person, csrf = await logged_in(request)
        form = FormFields({})
        if request.method not in _SAFE:
            form = await read_form(request)
            require_own(csrf, form.text("csrf") or request.headers.get(CSRF, ""))
        require(person.role, action)
        return PageContext(service_of(request), person, csrf, request, form)

    checked.action = action  # type: ignore[attr-defined]
    return checked


class PageRoute(APIRoute):
    """A route whose refusals are pages; who is not logged in is sent to the door."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with refusals as pages."""
        inner = super().get_route_handler()

        async def show_page_or_refusal(request: Request) -> Response:
            try:
                return await inner(request)
            except DiscreetError as refusal:
                return refusal_page(request, refusal)
            except RequestValidationError:
                misread = InvalidParameter(
                    code="request_misread",
                    expectation="an address as pages of this service write it",
                    remedy="Go back, and follow the link again.",
                )
                return refusal_page(request, misread)
            except HTTPException:
                raise
            except Exception as error:
                LOG.error("mistake of the software", exc_info=error)
                return refusal_page(request, failed())

        return show_page_or_refusal


def refusal_page(request: Request, refusal: DiscreetError) -> Response:
    """A page that says what was refused; the door, where nobody is logged in."""
    if refusal.code == "not_let_in" and request.method in _SAFE:
        path = request.url.path
        wanted = f"?next={quote(path)}" if path != "/" and is_local(path) else ""
        return RedirectResponse(f"/login{wanted}", 303)
    return told_refusal(refusal)


def told_refusal(refusal: DiscreetError) -> Response:
    """A page for anybody that says what was refused."""
    page = rendered("refusal.html", refusal=refusal_words(refusal))
    return HTMLResponse(page, status_of(refusal))


def is_local(path: str) -> bool:
    """Whether an address is one of ours, and no way to another site.

    >>> [is_local(path) for path in ("/ask", "//else.example", "https://else.example", "")]
    [True, False, False, False]
    """
    return _LOCAL.fullmatch(path) is not None and not path.startswith("//")


def require_same_site(request: Request) -> None:
    """Refuse a form that another site's page sent, where nobody is logged in yet."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden(
            code="forged_request",
            expectation="a form of this service's own pages",
            remedy="Open the page here, and send it again.",
        )


EnterPage = Annotated[PageContext, Depends(page_for(Action.ENTER))]
AskPage = Annotated[PageContext, Depends(page_for(Action.ASK))]
ReadPublishedPage = Annotated[PageContext, Depends(page_for(Action.READ_PUBLISHED))]
ReadBudgetPage = Annotated[PageContext, Depends(page_for(Action.READ_BUDGET))]
ManagePeoplePage = Annotated[PageContext, Depends(page_for(Action.MANAGE_PEOPLE))]
GrantPage = Annotated[PageContext, Depends(page_for(Action.GRANT))]
ApprovePage = Annotated[PageContext, Depends(page_for(Action.APPROVE))]
PublishPage = Annotated[PageContext, Depends(page_for(Action.PUBLISH))]
RunRoundsPage = Annotated[PageContext, Depends(page_for(Action.RUN_ROUNDS))]
ReadLedgerPage = Annotated[PageContext, Depends(page_for(Action.READ_LEDGER))]
AmendPage = Annotated[PageContext, Depends(page_for(Action.AMEND))]
MonitorPage = Annotated[PageContext, Depends(page_for(Action.MONITOR))]
