"""Every kind of job, by its name. A new one is one more line here."""

from __future__ import annotations

from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.server.jobs.kind import JobKind
from discreet.server.jobs.sql import SqlKind

KINDS: dict[str, JobKind[Any]] = {kind.name: kind for kind in (SqlKind(),)}


def kind_named(name: str) -> JobKind[Any]:
    """The kind of a name, or a refusal that lists those there are."""
    found = KINDS.get(name)
    if found is None:
        raise InvalidParameter(
            code="kind_unknown",
            expectation=f"one of the kinds {', '.join(sorted(KINDS))}",
            received=name[:64],
            remedy='Write for instance "kind": "sql".',
        )
    return found
