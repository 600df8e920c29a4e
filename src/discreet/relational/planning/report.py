"""What a planned question asks of a report that is bought beside its answer.

Reports are made in ``left_out.py``, from questions that are planned already; questions and batches
know of them what is written here, and nothing of how they are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.plan.query import Query
from discreet.release.preview import Expected

if TYPE_CHECKING:
    from discreet.relational.database import Database

Charges = tuple[tuple[Guarantee, tuple[Event, ...]], ...]
"""Parts of a spend, each with what it pays for."""


class Report(Protocol):
    """A measurement beside that of a question, with its share of the spend."""

    @property
    def requested_report(self) -> LeftOut:
        """What was wished for."""

    @property
    def whole(self) -> Guarantee:
        """What question and report cost together."""

    @property
    def event(self) -> Event:
        """What the report costs."""

    @property
    def charges(self) -> Charges:
        """The share, and what it pays for."""

    def release(self, query: Query, database: Database) -> tuple[NDArray[Any], ...]:
        """Noisy numbers by cell, in steps. Reads data; ``query`` has every key known."""

    def preflight(self, database: Database) -> None:
        """Find out what cannot be done before anything is paid."""

    def expected(self, confidence: float) -> tuple[Expected, ...]:
        """How wrong each number will be."""


class Reports(Protocol):
    """The reports of a batch, some of its questions having none."""

    @property
    def requested_report(self) -> LeftOut:
        """What was wished for."""

    @property
    def planned(self) -> Sequence[Report | None]:
        """One for each question."""

    @property
    def whole(self) -> Guarantee:
        """What batch and reports cost together."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What each of them costs."""

    @property
    def charges(self) -> Charges:
        """The shares, and what they pay for."""

    def release(self, database: Database) -> tuple[tuple[NDArray[Any], ...], ...]:
        """The noisy numbers of each; none where there is no report. Reads data."""

    def preflight(self, database: Database) -> None:
        """Find out what cannot be done before anything is paid."""
