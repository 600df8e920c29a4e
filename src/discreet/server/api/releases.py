"""Releases in several forms, free queries on synopses, conversations, publications."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response

from discreet.release import Release
from discreet.server.api.authentication import Asker, Publisher, Reader, TheService
from discreet.server.api.pagination import Body, Listing, ThePage
from discreet.server.api.questions import IdempotencyKey, respond_with_job
from discreet.server.jobs.universe import Conditions
from discreet.server.services.releases import as_csv, as_parquet, as_svg, statement_of, table_of
from discreet.server.state.publications import Publication
from discreet.server.state.releases import ReleaseTitle, StoredRelease

router = APIRouter(tags=["releases"])


class FileForm(StrEnum):
    """How a release is written."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    SVG = "svg"


_FORMS: dict[FileForm, tuple[str, Callable[[Release], bytes]]] = {
    FileForm.CSV: ("text/csv", as_csv),
    FileForm.JSON: ("application/json", lambda release: release.to_json().encode()),
    FileForm.PARQUET: ("application/vnd.apache.parquet", as_parquet),
    FileForm.SVG: ("image/svg+xml", as_svg),
}
_FILES = {
    "description": "The file.",
    "content": {media: {"schema": {"type": "string"}} for media, _ in _FORMS.values()},
}
Name = Annotated[
    str | None,
    Query(max_length=500, description="Of a batch: which question. Of a synopsis: attributes."),
]


class FreeQuery(Body):
    """Counts by attributes, or of records that meet conditions."""

    by: list[str] | None = Field(default=None, max_length=64)
    where: list[Conditions] | None = Field(default=None, max_length=5000)


class TalkBody(Body):
    """Questions to a conversation: conditions that records must meet."""

    where: list[Conditions] = Field(min_length=1, max_length=5000)


class PublicationBody(Body):
    """What to publish, all of it or nothing."""

    title: str = Field(max_length=200)
    releases: list[str] = Field(min_length=1, max_length=50)


@router.get("/releases")
async def titles(service: TheService, person: Asker, page: ThePage) -> Listing:
    """One's own releases, the latest first."""
    found = await service.releases.titles(person, before=page.cursor, count=page.count)
    return page.by_time(found, lambda each: each.made_at, _title)


@router.get("/releases/{key}/statement", response_class=PlainTextResponse)
async def statement(service: TheService, person: Reader, key: str, name: Name = None) -> Response:
    """The privacy statement of a release, in words."""
    stored = await service.releases.read_release(person, key)
    whole = service.schema["budget"]
    told = await run_in_threadpool(statement_of, stored, name, whole=whole)
    return Response(told, media_type="text/plain")


@router.get("/releases/{key}.{form}", response_class=Response, responses={200: _FILES})
async def file(
    service: TheService, person: Reader, key: str, form: FileForm, name: Name = None
) -> Response:
    """A release as a file."""
    stored = await service.releases.read_release(person, key)
    media, write = _FORMS[form]

    def write_release_table() -> bytes:
        return write(table_of(stored, name))

    saved = f'attachment; filename="{stored.id}.{form.value}"'
    return Response(
        await run_in_threadpool(write_release_table),
        media_type=media,
        headers={"Content-Disposition": saved},
    )


@router.get("/releases/{key}")
async def release(service: TheService, person: Reader, key: str) -> Response:
    """A release of one's own, or one that was published."""
    stored = await service.releases.read_release(person, key)
    own = {"made_at": stored.made_at} if stored.person_id == person.id else {}
    return _json(await run_in_threadpool(_whole, stored, own))


@router.post("/synopses/{key}/queries")
async def query(service: TheService, person: Asker, key: str, body: FreeQuery) -> Response:
    """Ask a synopsis; free."""
    return respond_with_job(await service.synopses.query(person, key, by=body.by, where=body.where))


@router.get("/conversations")
async def conversations(service: TheService, person: Asker, page: ThePage) -> Listing:
    """One's own conversations, the latest first."""
    found = await service.conversations.list_conversations(
        person, before=page.cursor, count=page.count
    )
    return page.by_time(
        found,
        lambda each: each.opened_at,
        lambda each: {
            "conversation": each.id,
            "account": each.grant_id,
            "opened_at": each.opened_at,
            "closed_at": each.closed_at,
            "request": json.loads(each.about),
        },
    )


@router.post("/conversations/{key}/questions")
async def talk(
    service: TheService, person: Asker, key: str, body: TalkBody, retry: IdempotencyKey = None
) -> Response:
    """Ask a conversation of one's own."""
    return respond_with_job(
        await service.conversations.ask(person, key, body.where, idempotency_key=retry)
    )


@router.post("/conversations/{key}/estimate")
async def estimate(service: TheService, person: Asker, key: str, body: FreeQuery) -> Response:
    """The estimate of a conversation as it stands; free."""
    return respond_with_job(
        await service.conversations.estimate(person, key, by=body.by, where=body.where)
    )


@router.delete("/conversations/{key}")
async def hang_up(service: TheService, person: Asker, key: str) -> Response:
    """End a conversation of one's own for good."""
    return respond_with_job(await service.conversations.close(person, key))


@router.post("/publications", status_code=201)
async def publish(service: TheService, person: Publisher, body: PublicationBody) -> dict[str, Any]:
    """Check releases, and show all of them to everybody, or hold all of them."""
    return _published(
        await service.publications.publish(person, title=body.title, keys=body.releases)
    )


@router.get("/publications")
async def publications(service: TheService, person: Reader, page: ThePage) -> Listing:
    """What everybody may read; for who publishes, also what is held."""
    found = await service.publications.list_publications(
        person, before=page.cursor, count=page.count
    )
    return page.by_time(found, lambda each: each.made_at, _published)


@router.get("/publications/{key}")
async def publication(service: TheService, person: Reader, key: str) -> Response:
    """A publication with its releases."""
    found, items = await service.publications.read_publication(person, key)

    def write_publication_json() -> bytes:
        every = b", ".join(_whole(each) for each in items)
        return _with(_published(found), b'"releases": [' + every + b"]")

    return _json(await run_in_threadpool(write_publication_json))


def _title(title: ReleaseTitle) -> dict[str, Any]:
    return {
        "release": title.id,
        "kind": title.kind,
        "question": title.question,
        "account": title.grant_id,
        "made_at": title.made_at,
    }


def _whole(stored: StoredRelease, more: Mapping[str, Any] | None = None) -> bytes:
    """A release without whose it is, and when it was asked for; its document is JSON already."""
    told = {"release": stored.id, "kind": stored.kind, "question": stored.question, **(more or {})}
    return _with(told, b'"result": ' + stored.document.encode())


def _with(told: dict[str, Any], last: bytes) -> bytes:
    """A JSON object with one more member, as it is written."""
    return json.dumps(told)[:-1].encode() + b", " + last + b"}"


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _published(found: Publication) -> dict[str, Any]:
    return {
        "publication": found.id,
        "title": found.title,
        "made_at": found.made_at,
        "verdict": found.verdict,
        "findings": json.loads(found.findings),
    }
