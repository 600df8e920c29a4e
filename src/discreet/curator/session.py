"""A session: questions about the same tables that are paid from one account.

A curator is the session of the whole budget; children and parts are sessions below it. Questions
are translated, priced and, if they were answered before, found again; what is left goes through
the door that :mod:`discreet.curator.access` describes.

Source: contract, "Spending", "What may be seen"; 000a:C12, 004d:F15, F16, D2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, overload

from discreet.accounting.adaptive.steps import Amounts, plus
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import probability
from discreet.core.written import written
from discreet.curator import batch as batches
from discreet.curator.access import ANALYST, Access
from discreet.curator.accuracy import Within, cheapest
from discreet.curator.batch import Batch
from discreet.curator.bounds import Bounds, estimate_bounds
from discreet.curator.budget import as_written
from discreet.curator.explain import Explanation, explain
from discreet.curator.holdings import tables_read
from discreet.curator.preview import Preview, preview
from discreet.curator.simulate import rehearse
from discreet.curator.statement import statement
from discreet.curator.stored_answer import Known
from discreet.curator.warnings import warnings_of
from discreet.noise.randomness import random_id
from discreet.relational.answers.columns import Columns
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.frontends.frame.frame import Frame
from discreet.relational.identity.former import former_identity
from discreet.relational.identity.identity import identity
from discreet.relational.plan.keyed_universe import KeyedUniverse
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import Question
from discreet.relational.planning.batch import Drawn
from discreet.relational.planning.batch import PlannedBatch as Questions
from discreet.relational.planning.discovered_keys import inquiry_for
from discreet.relational.planning.planned_query import Inquiry, MeasuredValues
from discreet.relational.planning.stored_allocation import allocated, allocated_together
from discreet.relational.sql.catalog import require_table
from discreet.relational.sql.privacy_clause import agreed, opened
from discreet.release import Release

if TYPE_CHECKING:
    from discreet.curator.interactive.conversation import Conversation
    from discreet.curator.synopsis.preview import SynopsisPreview
    from discreet.curator.synopsis.release import SynopsisRelease
    from discreet.queries.workload.workload import Workload
    from discreet.relational.frontends.ibis_tables import IbisTables


class Session(Access):
    """Asks questions in SQL, by frames or by Ibis, alone or together."""

    def sql(
        self,
        text: Asked,
        *,
        spend: Guarantee | None = None,
        accuracy: Mapping[str, Within] | Within | None = None,
        confidence: float = 0.95,
        asker: str = ANALYST,
        purpose: str | None = None,
        rows_at_least: int | None = None,
    ) -> Release:
        """Answer a question.

        ``spend`` is the most it may cost, in its own notion. ``accuracy`` instead buys the
        wanted error as cheaply as the budget's notion allows: ``{"n": dp.Within(5)}``. The same
        question by the same asker at the same spend is answered from the ledger at no charge.
        ``purpose`` is recorded; a policy may ask for one. Instead of SQL text the question may be
        a frame or an Ibis expression.
        """
        text = text_of(text)
        question, inquiry = self._inquiry(text, spend, accuracy, rows_at_least)
        allowed = self._policies.admit(question, inquiry.spend, asker=asker, purpose=purpose)
        level = float(probability("confidence", confidence))
        known = self._known("sql", question, inquiry)
        stored = known.stored(self._account, self.ledger, asker=asker)
        if stored is not None:
            return self._stored(stored, inquiry, text, level)
        inquiry.rehearse(self._database)
        number = random_id(96)

        def answer() -> tuple[Release, MeasuredValues]:
            measured = inquiry.measurement(self._database).release(self._database)
            return self._made(inquiry, measured, number, text, level), measured

        release, _ = self._payment.paid(
            answer,
            lambda made: known.kept({"release": made[0].to_json(), "measured": made[1].plain()}),
            asker=asker,
            question=known.identity,
            charge=self._charge(inquiry),
            event=inquiry.event,
            detail={"sql": text, "spend": written(inquiry.spend), **allowed},
        )
        return release

    def frame(self, table: str) -> Frame:
        """A table to build a question from: ``.filter``, ``.group_by``, ``.agg``, ``.release``."""
        require_table(table, self._database)
        return Frame.of(table, self)

    @property
    def ibis(self) -> IbisTables:
        """The tables for Ibis, without data; its expressions are questions for :meth:`sql`."""
        from discreet.relational.frontends.ibis_tables import IbisTables

        return IbisTables(self._database)

    def batch(
        self,
        questions: Mapping[str, Asked],
        *,
        spend: Guarantee,
        importance: Mapping[str, float] | None = None,
        confidence: float = 0.95,
        asker: str = ANALYST,
        purpose: str | None = None,
    ) -> Batch:
        """Answer several questions at one price, split over all of them as well as can be.

        What questions share is measured once, and related answers agree with each other.
        ``importance`` weighs the squared errors of a question's cells, 1 unless given. The same
        batch by the same asker is answered from the ledger at no charge.
        """
        texts = {name: text_of(text) for name, text in batches.named(questions).items()}
        weights = batches.importance(texts, importance)
        asked = tuple(self._question(text) for text in texts.values())
        for question in asked:
            self._policies.require_columns(question)
        plan = self._plan(asked, weights, spend)
        allowed = self._policies.admit_spend(plan.spend, asker=asker, purpose=purpose)
        level = float(probability("confidence", confidence))
        known = self._known_together(tuple(texts), plan)
        stored = known.stored(self._account, self.ledger, asker=asker)
        if stored is None:
            plan.rehearse(self._database)
            number = random_id(96)
            drawn = self._payment.paid(
                lambda: plan.measurement(self._database).release(self._database),
                lambda found: known.kept({"batch": number, "drawn": found.plain()}),
                asker=asker,
                question=known.identity,
                charge=self._price(plan.spend, plan.events),
                event=plan.event,
                detail={"batch": texts, "spend": written(plan.spend), **allowed},
            )
        else:
            number, drawn = str(stored["batch"]), Drawn.from_plain(stored["drawn"])
        return batches.made(texts, plan, drawn, self._purse, number=number, confidence=level)

    def bounds(
        self,
        table: str,
        column: str,
        *,
        spend: Guarantee,
        asker: str = ANALYST,
        purpose: str | None = None,
    ) -> Bounds:
        """Estimate bounds of a numeric column, to a factor of two, and pay for it.

        For columns whose bounds nobody knows: ``curator.bounds("visits", "cost", spend=...)``
        gives an object whose ``number()`` is a declaration. The same question by the same asker
        at the same spend is answered from the ledger at no charge.
        """
        return estimate_bounds(self, table, column, spend, asker=asker, purpose=purpose)

    def universe(self, table: Asked, /, *columns: str, **expressions: str) -> KeyedUniverse:
        """A universe for :meth:`synopsis`: combinations of keys that GROUP BY could list.

        ``columns`` are declared columns of ``table`` by name; an expression is named by its
        keyword: ``curator.universe("adult", "sex", age="FLOOR(age / 10)")``. Without either,
        ``table`` is a question: ``SELECT sex, COUNT(*) AS n FROM ... GROUP BY sex``. Rows in which
        a key is NULL lie in no cell, unless NULL was declared. Reads no private row.
        """
        from discreet.curator.synopsis.universe import universe_of

        return universe_of(self, table, columns, expressions)

    def synopsis(
        self,
        workload: Workload,
        *,
        mechanism: Callable[..., Any],
        spend: Guarantee,
        asker: str = ANALYST,
        purpose: str | None = None,
    ) -> SynopsisRelease:
        """Make a synopsis for a workload over a :meth:`universe`; its answers are free.

        ``mechanism`` is made with the keywords workload, spend, size, records and randomness:
        ``dp.queries.MatrixMechanism``, or ``functools.partial(dp.queries.MWEM, rounds=8)``. The
        same synopsis for the same asker at the same spend comes from the ledger at no charge.
        """
        from discreet.curator.synopsis.make import make_synopsis

        return make_synopsis(self, workload, mechanism, spend, asker=asker, purpose=purpose)

    def converse(
        self,
        universe: KeyedUniverse,
        *,
        mechanism: Callable[..., Any],
        spend: Guarantee,
        questions: int,
        confidence: float = 0.95,
        asker: str = ANALYST,
        purpose: str | None = None,
    ) -> Conversation:
        """Begin a long conversation about a :meth:`universe`: counts, one by one, at one price.

        ``mechanism`` makes an online construction, such as
        ``functools.partial(dp.queries.private_gap_weights, about=10_000)``. Answers
        state an error that holds for the first ``questions`` of them at ``confidence``; the
        conversation itself has no limit. It outlives its process: see :meth:`resume`.
        """
        from discreet.curator.interactive.open_conversation import begin_conversation

        return begin_conversation(
            self,
            universe,
            mechanism,
            spend,
            questions=questions,
            confidence=confidence,
            asker=asker,
            purpose=purpose,
        )

    def resume(self, conversation: str, *, asker: str = ANALYST) -> Conversation:
        """Go on with a conversation by its id, also after a restart; nothing is charged or lost.

        Whoever had it open before can no longer use it.
        """
        from discreet.curator.interactive.open_conversation import resume_conversation

        return resume_conversation(self, conversation, asker=asker)

    @overload
    def preview(
        self,
        text: Asked,
        *,
        spend: Guarantee | None = None,
        accuracy: Mapping[str, Within] | Within | None = None,
        confidence: float = 0.95,
        rows_at_least: int | None = None,
    ) -> Preview: ...

    @overload
    def preview(
        self, text: Workload, *, mechanism: Callable[..., Any], spend: Guarantee
    ) -> SynopsisPreview: ...

    def preview(
        self,
        text: Asked | Workload,
        *,
        mechanism: Callable[..., Any] | None = None,
        spend: Guarantee | None = None,
        accuracy: Mapping[str, Within] | Within | None = None,
        confidence: float = 0.95,
        rows_at_least: int | None = None,
    ) -> Preview | SynopsisPreview:
        """Expected error of each column; touches no data and costs nothing.

        With a workload and a ``mechanism``, the expected error of a :meth:`synopsis`; under
        ``Replace`` the rows are counted, since their number is public.
        """
        from discreet.queries.workload.workload import Workload

        if isinstance(text, Workload) or mechanism is not None:
            from discreet.curator.synopsis.preview import preview_synopsis

            return preview_synopsis(self, text, mechanism, spend, accuracy=accuracy)
        question, inquiry = self._inquiry(text, spend, accuracy, rows_at_least)
        self._policies.foresee(question, inquiry.spend)
        left = self._account.remaining()
        return preview(inquiry, self._purse, self._charge(inquiry), left, confidence=confidence)

    def rehearse(
        self, text: str, *, spend: Guarantee, rows: int = 1000, confidence: float = 0.95
    ) -> Release:
        """The answer as it would look, from rows invented from the schema; costs nothing.

        No private row is read. Use it to try queries, bounds and caps before paying.
        """
        question = self._question(text)
        inquiry = self._asked(question, spend)
        self._policies.foresee(question, inquiry.spend)
        return rehearse(text, self._database, spend=spend, rows=rows, confidence=confidence)

    def explain(self, text: Asked, *, spend: Guarantee | None = None) -> Explanation:
        """The plan, with the stability and sensitivity of every step; costs nothing."""
        plain, clause = opened(text_of(text))
        question = self._question(plain)
        spend = agreed(clause, spend, None)
        if clause is not None:
            question = clause.narrowed(question)
        inquiry = None if spend is None else self._asked(question, spend)
        self._policies.foresee(question, None if inquiry is None else inquiry.spend)
        return explain(question, inquiry, self._database, self._holdings.rows_at_most)

    def _inquiry(
        self,
        text: Asked,
        spend: Guarantee | None,
        accuracy: Mapping[str, Within] | Within | None,
        rows_at_least: int | None,
    ) -> tuple[Question, Inquiry]:
        self._database.require_process()
        text, clause = opened(text_of(text))
        spend = agreed(clause, spend, accuracy)
        if (spend is None) == (accuracy is None):
            raise InvalidParameter(
                code="spend_or_accuracy",
                expectation="either spend= or accuracy=; there is no default price",
                remedy="Write spend=dp.PureDP(epsilon=0.5), or accuracy={'n': dp.Within(5)}.",
            )
        question = self._question(text)
        if clause is not None:
            question = clause.narrowed(question)
        if spend is not None:
            return question, self._asked(question, spend)
        assert accuracy is not None
        wanted = cheapest(question, accuracy, self._purse, self._asked, rows_at_least=rows_at_least)
        return question, wanted

    def _asked(self, question: Question, spend: Guarantee) -> Inquiry:
        self._purse.check(spend)
        if not isinstance(question.keys, KeySet):
            self._purse.require_delta()
        return inquiry_for(
            question, as_written(spend), self._holdings.rows_at_most, self._holdings.randomness
        )

    def _plan(
        self, asked: tuple[Question, ...], weights: tuple[float, ...], spend: Guarantee
    ) -> Questions:
        holdings = self._holdings
        self._asked(asked[0], spend)  # refuses what cannot be spent
        return Questions(
            asked, weights, as_written(spend), holdings.rows_at_most, holdings.randomness
        )

    def _charge(self, inquiry: Inquiry) -> Amounts:
        """The price of a question."""
        return reduce(plus, (self._price(spend, events) for spend, events in inquiry.charges))

    def _snapshot(self, question: Question) -> str:
        """A random id for the version of the tables that a question reads."""
        return self._holdings.snapshot(tables_read(question.rows))

    def _rows(self, question: Question) -> tuple[tuple[str, int], ...]:
        """How many rows these tables have at most, as declared."""
        return self._holdings.declared_rows(tables_read(question.rows))

    def _known(self, door: str, question: Question, inquiry: Inquiry) -> Known:
        """The identity of a question with its price and split, and the split itself."""
        snapshot, allocation = self._snapshot(question), allocated(inquiry)
        same = identity(
            door,
            question=question,
            spend=inquiry.spend,
            allocation=allocation,
            snapshot=snapshot,
            rows=self._rows(question),
        )
        former = former_identity(question, inquiry.spend, snapshot, self.unit)
        return Known(same, former, allocation)

    def _known_together(self, names: tuple[str, ...], plan: Questions) -> Known:
        """The same for a batch, with the names and the importance of its questions."""
        snapshots, allocation = tuple(map(self._snapshot, plan.questions)), allocated_together(plan)
        same = identity(
            "batch",
            questions=plan.questions,
            names=names,
            importance=plan.importance,
            spend=plan.spend,
            allocation=allocation,
            snapshots=snapshots,
            rows=tuple(map(self._rows, plan.questions)),
        )
        former = former_identity(
            plan.questions, names, plan.importance, plan.spend, snapshots, self.unit
        )
        return Known(same, former, allocation)

    def _made(
        self, inquiry: Inquiry, measured: MeasuredValues, number: str, text: str, level: float
    ) -> Release:
        """The release of noisy values: post-processing only."""
        inquiry = inquiry.answered(measured)
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
        measured = MeasuredValues.from_plain(stored["measured"])
        return self._made(inquiry, measured, release.id, text, level)
