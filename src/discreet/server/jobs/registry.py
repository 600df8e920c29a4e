"""Every kind of job, by its name. A new one is one more line here."""

from __future__ import annotations

from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.server.jobs.account_balance import AccountBalanceKind
from discreet.server.jobs.batch import BatchKind
from discreet.server.jobs.bounds import BoundsKind
from discreet.server.jobs.columns import ColumnsKind
from discreet.server.jobs.conversation import (
    ConversationCloseKind,
    ConversationEstimateKind,
    ConversationKind,
    ConversationQuestionsKind,
)
from discreet.server.jobs.fit import FitKind, FitPreviewKind
from discreet.server.jobs.kind import JobKind
from discreet.server.jobs.preview import PreviewKind
from discreet.server.jobs.sql import SqlKind
from discreet.server.jobs.submission import SubmissionKind
from discreet.server.jobs.synopsis import SynopsisKind, SynopsisPreviewKind, SynopsisTableKind
from discreet.server.jobs.synthetic import SynthesizeKind
from discreet.server.jobs.synthetic_tables import TablesKind, TablesPreviewKind
from discreet.server.jobs.universe import UniverseKind

ASKED: tuple[JobKind[Any], ...] = (
    SqlKind(),
    BatchKind(),
    SynopsisKind(),
    SynthesizeKind(),
    TablesKind(),
    FitKind(),
    BoundsKind(),
    ConversationKind(),
)
"""What ``POST /questions`` takes."""
PREVIEWED: tuple[JobKind[Any], ...] = (
    PreviewKind(),
    SynopsisPreviewKind(),
    FitPreviewKind(),
    TablesPreviewKind(),
    UniverseKind(),
)
"""What ``POST /previews`` takes, by the kind that it is a preview of."""
KINDS: dict[str, JobKind[Any]] = {
    kind.name: kind
    for kind in (
        *ASKED,
        *PREVIEWED,
        ColumnsKind(),
        SynopsisTableKind(),
        ConversationQuestionsKind(),
        ConversationEstimateKind(),
        ConversationCloseKind(),
        SubmissionKind(),
        AccountBalanceKind(),
    )
}
KEPT = tuple(name for name, kind in KINDS.items() if kind.kept)
"""Those that stay in a history."""
PASSING = tuple(name for name, kind in KINDS.items() if not kind.kept)


def kind_named(name: str) -> JobKind[Any]:
    """The kind of a name, or a refusal that lists those there are."""
    found = KINDS.get(name)
    if found is None:
        raise InvalidParameter(
            code="kind_unknown",
            expectation=f"one of the kinds {', '.join(kind.name for kind in ASKED)}",
            received=name[:64],
            remedy='Write for instance "kind": "sql".',
        )
    return found
