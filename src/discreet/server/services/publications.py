"""Publishing: releases shown to everybody, once every one of them is sound; else none is.

Source: 004d:D19; contract, "What may be seen" (unless the owner published the release to all).
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from discreet.core.errors import InvalidParameter
from discreet.server.rights import Action, may, require
from discreet.server.runtime import Runtime
from discreet.server.services.releases import without_grant
from discreet.server.soundness import SoundnessFinding, findings, same_as_kept
from discreet.server.state import audit_log, publications, releases
from discreet.server.state.pagination import Cursor
from discreet.server.state.people import Member
from discreet.server.state.publications import HELD, PUBLISHED, Publication
from discreet.server.state.releases import StoredRelease

_MOST = 50


class Publications:
    """What everybody may read, and putting something there."""

    def __init__(self, runtime: Runtime) -> None:
        """Publish nothing yet."""
        self._runtime = runtime

    async def publish(self, actor: Member, *, title: str, keys: list[str]) -> Publication:
        """Check releases, and publish all of them or hold all of them."""
        require(actor.role, Action.PUBLISH)
        self._runtime.record.require_complete()
        self._runtime.record.require_reviewed(datetime.now(UTC).date())
        _require_some(title, keys)
        chosen = await self._runtime.state.read(_chosen, keys=keys)
        found = await self._check_releases(chosen)
        return await self._runtime.state.write(
            _record_publication, actor=actor, title=title, keys=keys, found=found
        )

    async def list_publications(
        self, person: Member, *, before: Cursor, count: int
    ) -> list[Publication]:
        """Publications, the latest first; those that are held for who publishes alone."""
        require(person.role, Action.READ_PUBLISHED)
        verdicts = (PUBLISHED, HELD) if may(person.role, Action.PUBLISH) else (PUBLISHED,)
        return await self._runtime.state.read(
            publications.list_publications, verdicts=verdicts, before=before, count=count
        )

    async def read_publication(
        self, person: Member, key: str
    ) -> tuple[Publication, list[StoredRelease]]:
        """One publication with its releases."""
        require(person.role, Action.READ_PUBLISHED)
        found = await self._runtime.state.read(publications.by_id, key)
        held = found is not None and found[0].verdict != PUBLISHED
        if found is None or (held and not may(person.role, Action.PUBLISH)):
            raise InvalidParameter(
                code="publication_unknown",
                expectation="the id of a publication",
                received=key[:64],
                remedy="GET /api/v1/publications lists them.",
            )
        return found[0], await asyncio.to_thread(lambda: [*map(without_grant, found[1])])

    async def _check_releases(self, chosen: list[StoredRelease]) -> list[SoundnessFinding]:
        """What all checks find, of the numbers themselves and of the ledger's record of them."""
        named = [each.reservation for each in chosen if each.reservation is not None]
        sealed = await self._runtime.owner_task("released", request={"reservations": named})
        return await asyncio.to_thread(_findings, chosen, sealed["released"])


def _findings(
    chosen: list[StoredRelease], released: dict[str, dict[str, Any] | None]
) -> list[SoundnessFinding]:
    found = []
    for each in chosen:
        found += findings(each.id, each.document)
        found += same_as_kept(each.id, each.document, released.get(each.reservation or ""))
    return found


def _require_some(title: str, keys: list[str]) -> None:
    if not title.strip() or len(title) > 200 or not 1 <= len(set(keys)) == len(keys) <= _MOST:
        raise InvalidParameter(
            code="publication_terms",
            expectation=f"a title, and 1 to {_MOST} different releases",
            received=len(keys),
            remedy='Write {"title": "Visits in 2024", "releases": ["..."]}.',
        )


def _chosen(connection: Connection, *, keys: list[str]) -> list[StoredRelease]:
    found = [releases.by_id(connection, key) for key in keys]
    if None in found:
        raise InvalidParameter(
            code="release_unknown",
            expectation="ids of releases that have left",
            received=keys[found.index(None)][:64],
            remedy="GET /api/v1/releases lists yours; analysts tell you theirs.",
        )
    return [each for each in found if each is not None]


def _record_publication(
    connection: Connection,
    *,
    actor: Member,
    title: str,
    keys: list[str],
    found: list[SoundnessFinding],
) -> Publication:
    made = publications.add(
        connection, title=title, by=actor.id, keys=keys, findings=[each.plain() for each in found]
    )
    detail = {"title": title, "releases": keys, "findings": len(found)}
    audit_log.add(connection, by=actor.name, what=made.verdict, about=made.id, detail=detail)
    return made
