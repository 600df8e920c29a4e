"""The curator: sole holder of the data, the budget and the ledger.

Two verbs touch data: :meth:`Curator.release` for one measurement and :meth:`Curator.open` for a
conversation. Both reserve durably, then compute, then commit before anybody sees an answer; an
unfinished reservation counts as spent. ``sql`` asks through the same door.

Source: contract, "Spending", "What may be seen"; 000a:C12, 004d:F15, D2.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, TypeVar

from discreet.accounting.adaptive.steps import Amounts
from discreet.core.errors import EngineFailed, InvalidParameter, NotPrivate
from discreet.core.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.measurement import Measurement
from discreet.core.parameters import probability
from discreet.core.space import Space
from discreet.core.unit import PrivacyUnit
from discreet.curator.accuracy import Within, cheapest
from discreet.curator.columns import Columns
from discreet.curator.explanation import Explanation, explain
from discreet.curator.history import History, history
from discreet.curator.ledger import Ledger, ledger_at
from discreet.curator.preview import Preview, preview
from discreet.curator.purse import Purse, as_written
from discreet.curator.release import Release
from discreet.curator.statement import statement
from discreet.curator.warn import warnings_of
from discreet.curator.watch import Watch, Watchable
from discreet.noise.randomness import SYSTEM, Source, integer, require_source
from discreet.relational.database import Database, Databases, Units
from discreet.relational.engine import Engine
from discreet.relational.engines.duckdb import DuckDB
from discreet.relational.identity import identity
from discreet.relational.inquiry import Inquiry, Measured
from discreet.relational.plan import scans
from discreet.relational.question import Question
from discreet.relational.sql.query import question_from
from discreet.relational.table import MOST_ROWS, PublicTable, Table

Result = TypeVar("Result")

OWNER = logging.getLogger("discreet.owner")
"""For the data owner alone: why an engine failed. Silent until the owner adds a handler."""
OWNER.addHandler(logging.NullHandler())
OWNER.propagate = False

ANALYST = "analyst"
"""Who asks, where nobody is named."""


class Curator:
    """Answers questions about private tables from one durable budget.

    Contract: ``budget`` and its notion are fixed when the ledger is begun; ``ledger`` is a path
    (SQLite) or a ledger object, never implicit. ``randomness`` is for tests: with anything but
    the system's generator no durable ledger is accepted and releases are marked as not private.

    Guarantee: whatever is asked, in whatever order and by however many processes that share the
    ledger, everything released together keeps ``budget`` for each unit.
    """

    def __init__(
        self,
        *,
        budget: Guarantee,
        ledger: str | PathLike[str] | Ledger,
        engine: Engine | None = None,
        randomness: Source = SYSTEM,
        **tables: Table | PublicTable,
    ) -> None:
        """Attach the tables, and begin the ledger or reopen it on the same terms."""
        for name, table in tables.items():
            if not isinstance(table, Table | PublicTable):
                raise InvalidParameter(
                    code="not_a_table",
                    expectation="tables declared with dp.table or dp.public",
                    received=(name, type(table).__name__),
                    remedy='Write Curator(visits=dp.table("visits.parquet", ...), ...).',
                )
        require_source(randomness)
        book = ledger_at(ledger)
        if book.durable and not randomness.private:
            raise NotPrivate(
                code="test_mode_in_ledger",
                expectation="a ledger in memory for test mode",
                received=type(book).__name__,
                remedy="Pass ledger=dp.ledger.Memory(), or leave `randomness=` out.",
            )
        self._database = Database(engine if engine is not None else DuckDB(), tables)
        self._randomness = randomness
        self._purse = Purse(budget, self._database.unit)
        self._ledger = book
        self._ledger.open(self._purse.terms)
        self._snapshots: dict[frozenset[str], str] = {}
        self._rows_at_most = (
            sum(table.rows_at_most for table in tables.values() if isinstance(table, Table))
            or MOST_ROWS
        )

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is protected."""
        return self._database.unit

    @property
    def ledger(self) -> Ledger:
        """The record of all spending."""
        return self._ledger

    @property
    def space(self) -> Space:
        """The space on which measurements for :meth:`release` are declared."""
        return Space(Databases(tuple(self._database.names())), Units(self.unit))

    @property
    def remaining(self) -> Guarantee:
        """What may still be spent, rounded down."""
        return self._purse.remaining(self._ledger.remaining())

    @property
    def spent(self) -> Guarantee:
        """What has been spent, unfinished reservations included, rounded up."""
        return self._purse.spent(self._ledger.spent())

    def history(self) -> History:
        """What was asked, by whom and at what price."""
        return history(self._ledger, self._purse)

    def sql(
        self,
        text: str,
        *,
        spend: Guarantee | None = None,
        accuracy: Mapping[str, Within] | Within | None = None,
        confidence: float = 0.95,
        asker: str = ANALYST,
        rows_at_least: int | None = None,
    ) -> Release:
        """Answer a question.

        ``spend`` is the most it may cost, in its own notion. ``accuracy`` instead buys the
        wanted error as cheaply as the budget's notion allows: ``{"n": dp.Within(5)}``. The same
        question by the same asker at the same spend is answered from the ledger at no charge.
        """
        question, inquiry = self._inquiry(text, spend, accuracy, rows_at_least)
        level = float(probability("confidence", confidence))
        same = identity(question, inquiry.spend, self._snapshot(question), self.unit)
        stored = self._ledger.find(asker=asker, question=same)
        if stored is not None:
            return self._stored(stored, inquiry, text, level)
        inquiry.rehearse(self._database)
        number = f"{integer(SYSTEM, 96):024x}"

        def answer() -> tuple[Release, Measured]:
            measured = inquiry.measurement(self._database).release(self._database)
            return self._made(inquiry, measured, number, text, level), measured

        release, _ = self._paid(
            answer,
            lambda made: {"release": made[0].to_json(), "measured": made[1].plain()},
            asker=asker,
            question=same,
            charge=self._charge(inquiry),
            event=inquiry.event,
            detail={"sql": text, "spend": repr(inquiry.spend)},
        )
        return release

    def preview(
        self,
        text: str,
        *,
        spend: Guarantee | None = None,
        accuracy: Mapping[str, Within] | Within | None = None,
        confidence: float = 0.95,
        rows_at_least: int | None = None,
    ) -> Preview:
        """Expected error of each column; touches no data and costs nothing."""
        _, inquiry = self._inquiry(text, spend, accuracy, rows_at_least)
        left = self._ledger.remaining()
        return preview(inquiry, self._purse, self._charge(inquiry), left, confidence=confidence)

    def explain(self, text: str, *, spend: Guarantee | None = None) -> Explanation:
        """The plan, with the stability and sensitivity of every step; costs nothing."""
        self._database.require_process()
        question = question_from(text, self._database)
        inquiry = None if spend is None else self._asked(question, spend)
        return explain(question, inquiry, self._database, self._rows_at_most)

    def release(
        self, measurement: Measurement[Database, Result], *, spend: Guarantee, asker: str = ANALYST
    ) -> Result:
        """Run one measurement on the data and pay for its event.

        ``spend`` is the most the event may cost, in its own notion. What is returned must be
        plain JSON, since it is kept in the ledger.
        """
        measurement.input.require(self.space)
        event = measurement.event(1)
        charge = self._purse.charge(spend, (event,))
        if not self._purse.covers(spend, event):
            raise _too_small(spend)
        return self._paid(
            lambda: measurement.release(self._database),
            lambda value: {"value": value},
            asker=asker,
            question=f"measurement {integer(SYSTEM, 96):024x}",
            charge=charge,
            event=event,
            detail={"spend": repr(spend)},
        )

    def open(self, mechanism: Watchable, *, spend: Guarantee, asker: str = ANALYST) -> Watch:
        """Begin a conversation under one event: AboveThreshold or Sparse over SQL questions.

        The whole of it is paid for now; every answer is in the ledger before it is seen.
        """
        charge = self._purse.charge(spend, (mechanism.event,))
        if not self._purse.covers(spend, mechanism.event):
            raise _too_small(spend)
        reservation = self._ledger.reserve(
            asker=asker,
            question=f"conversation {integer(SYSTEM, 96):024x}",
            charge=charge,
            event=mechanism.event.to_json(),
            detail={"spend": repr(spend), "mechanism": type(mechanism).__name__},
        )
        return Watch(mechanism, self._database, self._ledger, reservation, self._guarded)

    def amend(self, *, budget: Guarantee, reason: str) -> None:
        """Change the budget, for a reason that stays on record; never below what is spent.

        For the data owner: the ledger's key must be at hand. The notion cannot change.
        """
        purse = self._purse.amended(budget)
        self._ledger.amend(limit=purse.limit, budget=purse.terms.budget, reason=reason)
        self._purse = purse

    def close(self) -> None:
        """Let go of the engine and the ledger. What was written stays."""
        self._database.close()
        self._ledger.close()

    def __enter__(self) -> Curator:
        """Use the curator in a ``with`` block, which closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """Tables, unit and what remains."""
        tables = ", ".join(self._database.names())
        return f"Curator({tables}; unit={self.unit}, remaining={self.remaining})"

    def _inquiry(
        self,
        text: str,
        spend: Guarantee | None,
        accuracy: Mapping[str, Within] | Within | None,
        rows_at_least: int | None,
    ) -> tuple[Question, Inquiry]:
        self._database.require_process()
        if (spend is None) == (accuracy is None):
            raise InvalidParameter(
                code="spend_or_accuracy",
                expectation="either spend= or accuracy=; there is no default price",
                remedy="Write spend=dp.PureDP(epsilon=0.5), or accuracy={'n': dp.Within(5)}.",
            )
        question = question_from(text, self._database)
        if spend is not None:
            return question, self._asked(question, spend)
        assert accuracy is not None
        wanted = cheapest(question, accuracy, self._purse, self._asked, rows_at_least=rows_at_least)
        return question, wanted

    def _asked(self, question: Question, spend: Guarantee) -> Inquiry:
        if not isinstance(spend, Guarantee):
            raise InvalidParameter(
                code="not_a_spend",
                expectation="a spend such as PureDP(epsilon=0.5)",
                received=type(spend).__name__,
                remedy="Write spend=dp.PureDP(epsilon=0.5).",
            )
        self._purse.check(spend)
        return Inquiry(question, as_written(spend), self._rows_at_most, self._randomness)

    def _charge(self, inquiry: Inquiry) -> Amounts:
        """The price of a question; nothing in test mode, whose releases are marked."""
        if not self._randomness.private:
            return self._purse.currency.zero
        return self._purse.charge(
            inquiry.spend, (inquiry.allocation.linear_event, *inquiry.choice_events)
        )

    def _snapshot(self, question: Question) -> str:
        """A random id for the version of the tables that a question reads."""
        names = frozenset(scan.table for scan in scans(question.rows))
        if names not in self._snapshots:
            version = self._database.version(names)
            tag = f"{integer(SYSTEM, 128):x}" if version is None else version
            self._snapshots[names] = self._ledger.snapshot(tag)
        return self._snapshots[names]

    def _made(
        self, inquiry: Inquiry, measured: Measured, number: str, text: str, level: float
    ) -> Release:
        """The release of noisy values: post-processing only."""
        columns = Columns(inquiry, measured, number, level)
        answers = columns.answers()
        return Release(
            id=number,
            question=text,
            keys=columns.keys(),
            answers=answers,
            confidence=level,
            guarantee=inquiry.spend.per(self.unit),
            event=inquiry.event,
            warnings=warnings_of(inquiry, answers),
            statement=statement(inquiry, self._purse),
        )

    def _stored(
        self, stored: Mapping[str, Any], inquiry: Inquiry, text: str, level: float
    ) -> Release:
        """The stored release byte for byte; at another confidence, from the same noisy values."""
        release = Release.from_json(str(stored["release"]))
        if release.confidence == level:
            return release
        measured = Measured.from_plain(stored["measured"])
        return self._made(inquiry, measured, release.id, text, level)

    def _paid(
        self,
        compute: Callable[[], Result],
        plain: Callable[[Result], Mapping[str, object]],
        *,
        asker: str,
        question: str,
        charge: tuple[int, ...],
        event: Event,
        detail: Mapping[str, object],
    ) -> Result:
        """Reserve, compute, commit; the answer is durable before it is returned."""
        self._require_unchanged()
        reservation = self._ledger.reserve(
            asker=asker,
            question=question,
            charge=charge,
            event=event.to_json(),
            detail=detail,
        )
        result, kept = self._guarded(reservation, lambda: _with_plain(compute(), plain))
        self._ledger.commit(reservation, kept)
        return result

    def _guarded(self, reservation: str, compute: Callable[[], Result]) -> Result:
        """Run what reads private data; any failure becomes the one code that says nothing."""
        try:
            result = compute()
            self._require_unchanged()
        except Exception:
            OWNER.exception("reservation %s failed after data was opened", reservation)
        else:
            return result
        # Raised out here, where the engine's own error is no longer attached to it.
        self._ledger.fail(reservation, "engine_failed")
        raise EngineFailed(
            code="engine_failed",
            expectation="an engine that answers",
            remedy="The reservation is spent. The data owner's log says what happened.",
        )

    def _require_unchanged(self) -> None:
        if not self._database.unchanged():
            raise InvalidParameter(
                code="data_changed",
                expectation="files that stay as they were when the curator was opened",
                remedy="Open a new curator on the same ledger; it takes a new snapshot.",
            )


def _with_plain(
    result: Result, plain: Callable[[Result], Mapping[str, object]]
) -> tuple[Result, Mapping[str, object]]:
    return result, plain(result)


def _too_small(spend: Guarantee) -> InvalidParameter:
    return InvalidParameter(
        code="spend_too_small",
        expectation="an event that costs no more than `spend`",
        received=spend,
        remedy="Raise the spend, or add noise.",
    )
