"""Publications: releases that the owner shows to everybody, all of them or none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from discreet.noise.randomness import random_id
from discreet.server.state.clock import now
from discreet.server.state.pagination import Cursor, earlier
from discreet.server.state.releases import StoredRelease
from discreet.server.state.rows import read_row
from discreet.server.state.schema import publications, published, releases

PUBLISHED, HELD = "published", "held"


@dataclass(frozen=True)
class Publication:
    """One of them; ``findings`` are what checks found, as JSON text: none where it is published."""

    id: str
    title: str
    made_by: str
    made_at: int
    verdict: str
    findings: str


def add(
    connection: Connection,
    *,
    title: str,
    by: str,
    keys: Sequence[str],
    findings: Sequence[dict[str, Any]],
) -> Publication:
    """Keep a publication: out for everybody where nothing was found, else held as a whole."""
    key = random_id()
    connection.execute(
        insert(publications).values(
            id=key,
            title=title,
            made_by=by,
            made_at=now(),
            verdict=HELD if findings else PUBLISHED,
            findings=json.dumps(list(findings)),
        )
    )
    for place, release in enumerate(keys):
        connection.execute(
            insert(published).values(publication_id=key, place=place, release_id=release)
        )
    return read_row(
        Publication, connection.execute(select(publications).where(publications.c.id == key)).one()
    )


def list_publications(
    connection: Connection, *, verdicts: Sequence[str], before: Cursor, count: int
) -> list[Publication]:
    """Publications with one of these verdicts, the latest first."""
    asked = (
        select(publications)
        .where(publications.c.verdict.in_(verdicts))
        .where(earlier(publications.c.made_at, publications.c.id, before))
        .order_by(publications.c.made_at.desc(), publications.c.id.desc())
        .limit(count)
    )
    return [read_row(Publication, row) for row in connection.execute(asked)]


def by_id(connection: Connection, key: str) -> tuple[Publication, list[StoredRelease]] | None:
    """A publication with its releases, whatever its verdict."""
    row = connection.execute(select(publications).where(publications.c.id == key)).first()
    if row is None:
        return None
    asked = (
        select(releases)
        .join(published, published.c.release_id == releases.c.id)
        .where(published.c.publication_id == key)
        .order_by(published.c.place)
    )
    found = [read_row(StoredRelease, each) for each in connection.execute(asked)]
    return read_row(Publication, row), found


def release(connection: Connection, key: str) -> StoredRelease | None:
    """A release that everybody may read, since it was published."""
    asked = (
        select(releases)
        .join(published, published.c.release_id == releases.c.id)
        .join(publications, publications.c.id == published.c.publication_id)
        .where(releases.c.id == key, publications.c.verdict == PUBLISHED)
    )
    row = connection.execute(asked).first()
    return None if row is None else read_row(StoredRelease, row)
