"""Conversations: opened and paid for once, then asked about counts as often as was agreed."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.release import Release
from discreet.server.jobs.conversation import ConversationRequest
from discreet.server.refusals import raised
from discreet.server.services.job_view import JobView
from discreet.server.spends import spend_to_dict
from discreet.server.state.conversations import OpenConversation
from discreet.server.state.pagination import USUAL, Cursor, cursor_from
from discreet.server.web.conditions import conditions_from
from discreet.server.web.forms import checked
from discreet.server.web.page_context import (
    AskPage,
    PageContext,
    PageRoute,
    redirect,
)
from discreet.server.web.release_table import shown_table

router = APIRouter(route_class=PageRoute)
After = Annotated[str | None, Query(max_length=200)]


@router.get("/conversations")
async def conversations(page: AskPage, after: After = None) -> Response:
    """One's own, the latest first."""
    return await _conversations(page, after)


@router.post("/conversations")
async def open_conversation(page: AskPage) -> Response:
    """Open one, about groups that a question with GROUP BY names."""
    form = page.form
    try:
        request = checked(
            ConversationRequest,
            universe={"sql": form.text("sql")},
            account=form.maybe("account"),
            epsilon=form.number("epsilon"),
            delta=form.number("delta"),
            questions=form.whole("questions"),
            about=form.whole("about"),
        )
        view = await page.service.questions.ask(page.person, request, kind="conversation")
        opened = _finished(view)
    except DiscreetError as refusal:
        return await _conversations(page, None, refusal)
    if opened is None:
        return redirect(f"/jobs/{view.id}")
    return redirect(f"/conversations/{opened['conversation']}", "opened")


@router.get("/conversations/{key}")
async def conversation(page: AskPage, key: str) -> Response:
    """One of them."""
    return await _conversation(page, key)


@router.post("/conversations/{key}/questions")
async def ask(page: AskPage, key: str) -> Response:
    """Ask how many records meet conditions, a line for each question."""
    lines = page.form.every("where")
    try:
        view = await page.service.conversations.ask(
            page.person, key, conditions_from(lines), idempotency_key=None
        )
        found = _finished(view)
    except DiscreetError as refusal:
        return await _conversation(page, key, refusal=refusal)
    if found is None:
        return redirect(f"/jobs/{view.id}")
    replies = list(zip(lines, found["replies"], strict=True))
    return await _conversation(page, key, replies=replies)


@router.post("/conversations/{key}/estimate")
async def estimate(page: AskPage, key: str) -> Response:
    """The estimate as it stands, by attributes; free."""
    by = [part.strip() for part in page.form.text("by").split(",") if part.strip()]
    try:
        view = await page.service.conversations.estimate(page.person, key, by=by)
        found = _finished(view)
    except DiscreetError as refusal:
        return await _conversation(page, key, refusal=refusal)
    if found is None:
        return redirect(f"/jobs/{view.id}")
    release = Release.from_json(json.dumps(found["release"]))
    return await _conversation(page, key, table=shown_table(release))


@router.post("/conversations/{key}/close")
async def close(page: AskPage, key: str) -> Response:
    """End it for good."""
    try:
        _finished(await page.service.conversations.close(page.person, key))
    except DiscreetError as refusal:
        return await _conversation(page, key, refusal=refusal)
    return redirect("/conversations", "closed")


def _finished(view: JobView) -> dict[str, Any] | None:
    """What came of a job; None while it goes on."""
    if view.error is not None:
        raise raised(view.error)
    found: dict[str, Any] | None = None if view.result is None else json.loads(view.result)
    return found


async def _conversations(
    page: PageContext, after: str | None, refusal: DiscreetError | None = None
) -> Response:
    found = await page.service.conversations.list_conversations(
        page.person, before=cursor_from(after), count=USUAL
    )
    grants = [each for each in await page.service.budgets.of(page.person) if each.set_aside_at]
    told: dict[str, Any] = {
        "conversations": [(each, _about(each)) for each in found],
        "accounts": [(each.account, each.purpose, spend_to_dict(each.budget)) for each in grants],
        "next": str(Cursor(found[-1].opened_at, found[-1].id)) if len(found) == USUAL else None,
        "written": page.form.values(),
    }
    if refusal is not None:
        return page.render_refusal("conversations.html", refusal, **told)
    return page.render("conversations.html", **told)


async def _conversation(
    page: PageContext,
    key: str,
    *,
    refusal: DiscreetError | None = None,
    replies: list[tuple[str, dict[str, Any]]] | None = None,
    table: Any = None,
) -> Response:
    found = await page.service.conversations.read_conversation(page.person, key)
    told: dict[str, Any] = {
        "conversation": found,
        "about": _about(found),
        "replies": replies or [],
        "table": table,
        "written": page.form.values(),
    }
    if refusal is not None:
        return page.render_refusal("conversation.html", refusal, **told)
    return page.render("conversation.html", **told)


def _about(found: OpenConversation) -> str:
    universe = json.loads(found.about)["universe"]
    return str(universe.get("sql") or f"{universe['table']}: {', '.join(universe['columns'])}")
