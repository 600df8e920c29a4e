"""Releases: one's own, those published, each with table, charts, statement and downloads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.curator.synopsis.stored_form import synopsis_from_json
from discreet.release import Release
from discreet.release.active_limits import limit_text
from discreet.release.footer import BELOW_ZERO, is_below_zero
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.server.api.releases import PublicationBody
from discreet.server.rights import Action
from discreet.server.services.releases import statement_of, table_of
from discreet.server.state.pagination import Cursor, cursor_from
from discreet.server.state.publications import HELD
from discreet.server.state.releases import StoredRelease
from discreet.server.web.charts.interval_chart import IntervalChart, charts_of
from discreet.server.web.forms import checked
from discreet.server.web.page_context import (
    AskPage,
    PageContext,
    PageRoute,
    PublishPage,
    ReadPublishedPage,
    redirect,
)
from discreet.server.web.release_table import ShownTable, shown_table
from discreet.server.web.rendering import as_json

router = APIRouter(route_class=PageRoute)
After = Annotated[str | None, Query(max_length=200)]
Named = Annotated[str | None, Query(max_length=500)]
PAGE = 12


@dataclass(frozen=True)
class ShownRelease:
    """A release as a page shows it.

    Attributes:
        key: By which it is found.
        question: As it was asked.
        name: Which question of a batch, or which attributes of a synopsis; None: the only one.
        names: Those there are.
        table: Its numbers; None where there are none to show so.
        charts: Of the numbers.
        price: What was paid for it.
        protects: Whom it protects.
        notes: What each column's uncertainty means, and warnings.
        attributes: Of a synopsis: by which its counts can be looked at, for nothing.
        answers: Of a round: the answers to one's own queries.
        plain: All of it as JSON, where there is no table.
        statement: Its privacy statement.
    """

    key: str
    question: str
    name: str | None
    names: tuple[str, ...]
    table: ShownTable | None
    charts: tuple[IntervalChart, ...]
    price: str
    protects: str
    notes: tuple[str, ...]
    attributes: tuple[str, ...]
    answers: tuple[str, ...]
    plain: str
    statement: str


@router.get("/releases")
async def gallery(page: AskPage, after: After = None) -> Response:
    """One's own releases, the latest first."""
    titles = await page.service.releases.titles(page.person, before=cursor_from(after), count=PAGE)
    stored = [await page.service.releases.read_release(page.person, each.id) for each in titles]
    whole = page.service.schema["budget"]
    shown = await run_in_threadpool(
        lambda: [(each.made_at, shown_release(each, whole=whole)) for each in stored]
    )
    last = str(Cursor(titles[-1].made_at, titles[-1].id)) if len(titles) == PAGE else None
    return await run_in_threadpool(page.render, "releases.html", releases=shown, next=last)


@router.get("/releases/{key}")
async def release(page: ReadPublishedPage, key: str, name: Named = None) -> Response:
    """A release of one's own, or one that was published."""
    stored = await page.service.releases.read_release(page.person, key)
    own = stored.person_id == page.person.id
    whole = page.service.schema["budget"]
    shown = await run_in_threadpool(shown_release, stored, name, whole=whole)
    told: dict[str, Any] = {"release": shown, "own": own, "made_at": stored.made_at}
    return await run_in_threadpool(page.render, "release.html", **told)


@router.get("/published")
async def published(page: ReadPublishedPage, after: After = None) -> Response:
    """What everybody may read; for who publishes, also what is held."""
    return await _published(page, after)


@router.post("/published")
async def publish(page: PublishPage) -> Response:
    """Check releases, and show all of them to everybody, or hold all of them."""
    try:
        form = page.form
        asked = checked(PublicationBody, title=form.text("title"), releases=form.every("releases"))
        made = await page.service.publications.publish(
            page.person, title=asked.title, keys=asked.releases
        )
    except DiscreetError as refusal:
        return await _published(page, None, refusal)
    return redirect(f"/published/{made.id}", "" if made.verdict == HELD else "published")


@router.get("/published/{key}")
async def publication(page: ReadPublishedPage, key: str) -> Response:
    """A publication with its releases."""
    found, items = await page.service.publications.read_publication(page.person, key)
    whole = page.service.schema["budget"]
    shown = await run_in_threadpool(lambda: [shown_release(each, whole=whole) for each in items])
    return await run_in_threadpool(
        page.render,
        "publication.html",
        publication=found,
        held=found.verdict == HELD,
        findings=json.loads(found.findings),
        releases=shown,
    )


async def _published(
    page: PageContext, after: str | None, refusal: DiscreetError | None = None
) -> Response:
    found = await page.service.publications.list_publications(
        page.person, before=cursor_from(after), count=PAGE
    )
    last = str(Cursor(found[-1].made_at, found[-1].id)) if len(found) == PAGE else None
    written = page.form.values()
    written.setdefault("releases", page.request.query_params.get("release", "")[:64])
    told: dict[str, Any] = {"publications": found, "held": HELD, "next": last, "written": written}
    told["record_missing"] = page.service.runtime.record.missing
    told["publishes"] = page.may(Action.PUBLISH)
    if refusal is not None:
        return page.render_refusal("published.html", refusal, **told)
    return page.render("published.html", **told)


def shown_release(
    stored: StoredRelease, name: str | None = None, *, whole: Mapping[str, float]
) -> ShownRelease:
    """A release with all that a page shows of it."""
    document: dict[str, Any] = json.loads(stored.document)
    names = tuple(document.get("batch", {}))
    wanted = name if name is not None or not names else names[0]
    attributes = _attributes(document)
    if attributes and wanted is None:
        wanted = attributes[0]
    has_table = "release" in document or bool(names) or bool(attributes)
    found = table_of(stored, wanted) if has_table else None
    return ShownRelease(
        key=stored.id,
        question=stored.question,
        name=wanted,
        names=names,
        table=None if found is None else shown_table(found),
        charts=() if found is None else tuple(charts_of(found)),
        price="" if found is None else guarantee_text(found.guarantee),
        protects="" if found is None else protection_text(found.guarantee.unit),
        notes=() if found is None else _notes(found),
        attributes=attributes,
        answers=tuple(f"{each:.1f}" for each in document.get("answers", ())),
        plain=as_json(document) if found is None else "",
        statement="" if found is None else statement_of(stored, wanted, whole=whole),
    )


def _attributes(document: dict[str, Any]) -> tuple[str, ...]:
    """Of a synopsis, or of a round that released one."""
    if not document.get("synopsis"):
        return ()
    made = synopsis_from_json(json.dumps(document["synopsis"]))
    return tuple(made.universe.names)


def _notes(release: Release) -> tuple[str, ...]:
    notes = [f"{each.name}: {each.note}." for each in release.answers if each.note]
    limits = [limit_text(each) for each in release.statement.get("active_limits", ())]
    return (
        *notes,
        *([f"{BELOW_ZERO.capitalize()}."] if is_below_zero(release) else []),
        *(f"Limit: {each}; the intervals do not cover that." for each in limits),
        *(f"Warning: {each}" for each in release.warnings),
    )
