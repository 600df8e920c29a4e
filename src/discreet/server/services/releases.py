"""One's own releases, and those that were published: to look at, and in other forms."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from discreet.core.errors import InvalidParameter
from discreet.release import Release
from discreet.release.format import at_most
from discreet.server.rights import Action, require
from discreet.server.runtime import Runtime
from discreet.server.state import publications, releases
from discreet.server.state.pagination import Cursor
from discreet.server.state.people import Member
from discreet.server.state.releases import ReleaseTitle, StoredRelease


class Releases:
    """What one has, and what everybody has."""

    def __init__(self, runtime: Runtime) -> None:
        """Read nothing yet."""
        self._state = runtime.state

    async def titles(self, person: Member, *, before: Cursor, count: int) -> list[ReleaseTitle]:
        """One's own releases, the latest first."""
        require(person.role, Action.ASK)
        return await self._state.read(releases.titles, person=person.id, before=before, count=count)

    async def read_release(self, person: Member, key: str) -> StoredRelease:
        """A release of one's own, or one that was published."""
        require(person.role, Action.READ_PUBLISHED)
        found = await self._state.read(_readable, person=person.id, key=key)
        if found is None:
            raise InvalidParameter(
                code="release_unknown",
                expectation="the id of a release of yours, or of one that was published",
                received=key[:64],
                remedy="GET /api/v1/releases lists yours.",
            )
        return found


def _readable(connection: Connection, *, person: str, key: str) -> StoredRelease | None:
    own = releases.of_person(connection, person=person, key=key)
    if own is not None:
        return own
    published = publications.release(connection, key)
    return None if published is None else without_grant(published)


def without_grant(stored: StoredRelease) -> StoredRelease:
    """A release as others read it: not how large the share was that paid for it."""
    document = json.dumps(_without_grant(json.loads(stored.document)))
    return replace(stored, document=document)


def _without_grant(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_grant(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _without_grant(each) for name, each in value.items()}
    if isinstance(kept.get("statement"), str):
        del kept["statement"]  # in words; made again from what is kept
    if _STATED in kept:  # what a statement is made from
        kept = {name: each for name, each in kept.items() if name not in _OF_THE_GRANT}
    return kept


_STATED = "budget_adds_up"
_OF_THE_GRANT = ("budget", _STATED, "budget_is_a_share")


def table_of(stored: StoredRelease, name: str | None = None) -> Release:
    """The release in a document: the only one, or the one of a name in a batch."""
    document: dict[str, Any] = json.loads(stored.document)
    if "release" in document:
        return Release.from_json(json.dumps(document["release"]))
    named = document.get("batch", {})
    if name is None and len(named) == 1:
        name = next(iter(named))
    if name in named:
        return Release.from_json(json.dumps(named[name]["release"]))
    if "synopsis" in document:
        from discreet.curator.synopsis.stored_form import synopsis_from_json

        made = synopsis_from_json(json.dumps(document["synopsis"]))
        return made.table(*(made.universe.names[:1] if name is None else name.split(",")))
    raise InvalidParameter(
        code="question_unknown",
        expectation=f"one of the questions {sorted(named)}" if named else "a release with a table",
        received=name,
        remedy="Add ?name=... with one of them." if named else "Read it as JSON.",
    )


def as_csv(release: Release) -> bytes:
    """All columns, numbers in full."""
    columns, text = release.to_dict(), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def as_parquet(release: Release) -> bytes:
    """The same for other programs; needs the extra ``frames``."""
    made = io.BytesIO()
    release.to_polars().write_parquet(made)
    return made.getvalue()


def as_svg(release: Release) -> bytes:
    """A picture of the first answer with its intervals; needs the extra ``plots``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.svg"
        release.save_plot(path)
        return path.read_bytes()


def statement_of(
    stored: StoredRelease, name: str | None = None, *, whole: Mapping[str, float]
) -> str:
    """The privacy statement, in words; beside a grant's budget stands the whole, which is public.

    What others have or spent of the whole is not said.
    """
    document: dict[str, Any] = json.loads(stored.document)
    if isinstance(document.get("statement"), str):
        return str(document["statement"])
    found = table_of(stored, name)
    stated = ", ".join(f"{each} {at_most(value)}" for each, value in whole.items() if value)
    facts = {**found.statement, "whole_budget": stated}
    return str(replace(found, statement=facts).statement)
