"""Asking: the editor with its preview, what becomes of a question, one's history."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from discreet.core.errors import DiscreetError
from discreet.server.api.errors import status_of_plain
from discreet.server.jobs.preview import PreviewRequest
from discreet.server.jobs.sql import SqlRequest
from discreet.server.refusals import described
from discreet.server.services.job_view import JobView
from discreet.server.state.jobs import JobPhase
from discreet.server.state.pagination import USUAL, Cursor, cursor_from
from discreet.server.web.after_asking import accounts_of, onward
from discreet.server.web.forms import FormFields, checked
from discreet.server.web.page_context import AskPage, PageContext, PageRoute, redirect
from discreet.server.web.preview_view import ShownPreview, shown_preview
from discreet.server.web.rendering import as_json, refusal_words, rendered
from discreet.server.web.schema_view import first_questions, tables_at_hand

router = APIRouter(route_class=PageRoute)
After = Annotated[str | None, Query(max_length=200)]
PHASES = {
    JobPhase.ACCEPTED: "waits for its turn",
    JobPhase.WAITING: "waits for the owner or a steward to agree to its price",
    JobPhase.STARTED: "is being answered",
    JobPhase.FINISHED: "answered",
    JobPhase.FAILED: "refused or failed",
    JobPhase.CANCELLED: "given up",
}


@router.get("/ask")
async def editor(page: AskPage) -> Response:
    """The editor; ``?sql=`` begins with a question."""
    sql = page.request.query_params.get("sql", "")[:20_000]
    return await _editor(page, {"sql": sql})


@router.post("/ask/preview")
async def preview(page: AskPage) -> Response:
    """A part of a page: the error of every column, or where the question is wrong; free."""
    found, refusal = await _previewed(page)
    part = rendered(
        "preview.html",
        preview=found,
        failure=None if refusal is None else refusal_words(refusal),
        marked=split_line_at_error(page.form.text("sql"), refusal),
    )
    return HTMLResponse(part)


@router.post("/ask/look")
async def look(page: AskPage) -> Response:
    """The same as a whole page, for browsers without scripts."""
    found, refusal = await _previewed(page)
    return await _editor(page, page.form.values(), refusal, found)


@router.get("/ask/standing")
async def standing(page: AskPage) -> Response:
    """A part of a page: what is left of one's budgets."""
    found = await page.service.accounts.own(page.person)
    return HTMLResponse(rendered("standing.html", accounts=found["accounts"]))


@router.post("/ask")
async def ask(page: AskPage) -> Response:
    """Ask; the answer if it comes soon, else the job that goes on."""
    try:
        request = checked(SqlRequest, **_terms(page.form))
        view = await page.service.questions.ask(page.person, request, kind="sql")
    except DiscreetError as refusal:
        return await _editor(page, page.form.values(), described(refusal))
    if view.error is not None and not view.charged:
        return await _editor(page, page.form.values(), view.error)
    return await onward(page, view)


@router.get("/jobs/{job}")
async def job(page: AskPage, job: str) -> Response:
    """A job of one's own, as it is now."""
    return _job(page, await page.service.questions.job(page.person, job))


@router.post("/jobs/{job}/cancel")
async def cancel(page: AskPage, job: str) -> Response:
    """Give it up; what was charged stays charged."""
    await page.service.questions.cancel(page.person, job)
    return redirect(f"/jobs/{job}", "cancelled")


@router.get("/history")
async def history(page: AskPage, after: After = None) -> Response:
    """What one asked, the latest first."""
    found = await page.service.questions.history(
        page.person, before=cursor_from(after), count=USUAL
    )
    last = str(Cursor(found[-1].created_at, found[-1].id)) if len(found) == USUAL else None
    shown = [(each, asked_in(each), PHASES[each.phase]) for each in found]
    return page.render("history.html", jobs=shown, next=last)


def asked_in(view: JobView) -> str:
    """What was asked, in words."""
    asked = json.loads(view.request)
    sql = asked.get("sql")
    return str(sql) if sql else view.kind.replace("_", " ")


def _job(page: PageContext, view: JobView) -> Response:
    refusal = None if view.error is None else refusal_words(view.error)
    found = None if view.result is None or view.release_id else json.loads(view.result)
    return page.render(
        "job.html",
        job=view,
        asked=asked_in(view),
        words=PHASES[view.phase],
        over=view.phase.over,
        waiting=view.phase is JobPhase.WAITING,
        failure=refusal,
        result=None if found is None else as_json(found),
        opened=None if found is None else found.get("conversation"),
    )


async def _previewed(page: PageContext) -> tuple[ShownPreview | None, dict[str, Any] | None]:
    """What a preview says, or why it says nothing."""
    try:
        view = await page.service.questions.ask(
            page.person, checked(PreviewRequest, **_terms(page.form)), kind="preview"
        )
    except DiscreetError as refusal:
        return None, described(refusal)
    if view.error is not None or view.result is None:
        return None, view.error
    return shown_preview(json.loads(view.result)), None


async def _editor(
    page: PageContext,
    written: dict[str, str],
    refusal: dict[str, Any] | None = None,
    preview: ShownPreview | None = None,
) -> Response:
    accounts = await accounts_of(page)
    fields = {"epsilon": "0.1", "confidence": "0.95", "pay": "price", **written}
    return page.render(
        "ask.html",
        200 if refusal is None else status_of_plain(refusal),
        written=fields,
        accounts=accounts,
        by_rho=any("rho" in each.budget for each in accounts),
        tables=tables_at_hand(page.service.schema),
        beginnings=first_questions(page.service.schema),
        protects=page.service.schema["protects"],
        missing=page.service.runtime.record.missing,
        quantum=page.service.runtime.settings.quanta.of(()),
        step=page.service.runtime.settings.quanta.step,
        approval=page.service.runtime.settings.plain()["approval"],
        preview=preview,
        failure=None if refusal is None else refusal_words(refusal),
        marked=split_line_at_error(fields["sql"], refusal),
    )


def split_line_at_error(
    sql: str, refusal: dict[str, Any] | None
) -> tuple[str, str, str, int, int] | None:
    r"""The line of a question with the word that is wrong in it: before, the word, after.

    >>> split_line_at_error("SELECT a\nFORM t", {"start": 9, "end": 13})
    ('', 'FORM', ' t', 9, 13)
    """
    if refusal is None or "start" not in refusal:
        return None
    start, end = int(refusal["start"]), int(refusal["end"])
    first = sql.rfind("\n", 0, start) + 1
    last = sql.find("\n", end)
    return sql[first:start], sql[start:end], sql[end : last if last >= 0 else None], start, end


def _terms(form: FormFields) -> dict[str, Any]:
    """What a form says about a question, in the words of a request."""
    found: dict[str, Any] = {
        "sql": form.text("sql"),
        "account": form.maybe("account"),
        "delta": form.number("delta"),
        "confidence": form.number("confidence"),
        "rows_at_least": form.whole("rows_at_least"),
    }
    if form.text("pay") == "accuracy":
        found["accuracy"] = _accuracy(form.text("within"))
        found.pop("delta")
    else:
        found["rho" if form.text("unit") == "rho" else "epsilon"] = form.number("epsilon")
    return found


def _accuracy(text: str) -> dict[str, Any]:
    """``10``, or ``n = 10, age = 0.5``.

    >>> _accuracy("n = 10, age = 5%")
    {'n': {'within': 10.0}, 'age': {'within': '5%'}}
    """
    if "=" not in text:
        return {"within": _number(text)}
    parts = [part.partition("=") for part in text.split(",")]
    return {name.strip(): {"within": _number(value)} for name, _, value in parts}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text.strip()
