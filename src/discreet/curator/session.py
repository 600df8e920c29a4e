"""A session: everything that can be asked about the tables, paid from one account.

Each verb is a short call into the module that it imports, with the session's
:class:`~discreet.curator.context.Context`. A curator is the session of the whole budget; children
and parts are sessions below it. What a verb alone needs is imported when it is first called.

Source: contract, "Spending", "What may be seen"; 000a:C12, 004d:F15, F16, D2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeVar, overload

from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.curator.accuracy import AccuracyGoal, Wanted
from discreet.curator.context import ANALYST, Context
from discreet.curator.history import History, history, interactive_sessions
from discreet.curator.sql import answer_sql, planned_sql
from discreet.curator.synthetic.verbs import SynthesisVerbs
from discreet.relational.frontends.as_sql import Asked

if TYPE_CHECKING:
    from discreet.core.measurement import Measurement
    from discreet.core.space import Space
    from discreet.core.unit import PrivacyUnit
    from discreet.curator.bounds import Bounds
    from discreet.curator.explain import Explanation
    from discreet.curator.interactive.conversation import Conversation
    from discreet.curator.interactive.sessions import InteractiveSessions
    from discreet.curator.interactive.sparse_vector import InteractiveMechanism, SparseVectorSession
    from discreet.curator.learnt_limits import LearntLimits
    from discreet.curator.paid_before import PaidBefore
    from discreet.curator.rounds.analyst_spending import AnalystSpending
    from discreet.curator.rounds.round import Round
    from discreet.curator.sub_budgets.blocks import Blocks
    from discreet.curator.sub_budgets.partition import Partition
    from discreet.curator.sub_budgets.sub_sessions import Child, Part
    from discreet.curator.synopsis.preview import SynopsisPreview
    from discreet.curator.synopsis.release import SynopsisRelease
    from discreet.ledger import Ledger
    from discreet.queries.analysts.failing_analysts import AnalystRuns
    from discreet.queries.analysts.guarantee import AnalystUnit
    from discreet.queries.analysts.query_class import QueryClass
    from discreet.queries.workload.workload import Workload
    from discreet.relational.database import Database
    from discreet.relational.frontends.frame.frame import Frame
    from discreet.relational.frontends.ibis_tables import IbisTables
    from discreet.relational.plan.keyed_universe import KeyedUniverse
    from discreet.relational.plan.left_out import LeftOut
    from discreet.relational.plan.rows_per import RowsPer
    from discreet.release import Release
    from discreet.release.batch import Batch
    from discreet.release.preview import Preview

Result = TypeVar("Result")


class Session(SynthesisVerbs):
    """Asks about the tables of a context and pays from its account.

    Guarantee: whatever is asked, in whatever order and by however many processes that share the
    ledger, everything released together keeps the budget for each unit.
    """

    def __init__(self, context: Context) -> None:
        """Ask within ``context``."""
        self.context = context

    # What there is ------------------------------------------------------------------------------

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is protected."""
        return self.context.unit

    @property
    def ledger(self) -> Ledger:
        """The record of all spending."""
        return self.context.ledger

    @property
    def space(self) -> Space:
        """The space on which measurements for :meth:`release` are declared."""
        from discreet.curator.own_measurement import space_of

        return space_of(self.context)

    @property
    def budget(self) -> Guarantee:
        """What everything released here together keeps."""
        return self.context.budget.total

    @property
    def remaining(self) -> Guarantee:
        """What may still be spent, rounded down."""
        return self.context.budget.remaining(self.context.account.remaining())

    @property
    def spent(self) -> Guarantee:
        """What has been spent, unfinished reservations included, rounded up."""
        return self.context.budget.spent(self.context.account.spent())

    def history(self) -> History:
        """What was asked here, by whom and at what price."""
        return history(self.context.account, self.context.budget)

    # Queries ------------------------------------------------------------------------------------

    def sql(
        self,
        text: Asked,
        *,
        spend: Guarantee | None = None,
        accuracy: Wanted = None,
        confidence: float = 0.95,
        analyst: str = ANALYST,
        purpose: str | None = None,
        rows_at_least: int | None = None,
        at_most: Guarantee | None = None,
        paid_before: PaidBefore | None = None,
        left_out: LeftOut | None = None,
    ) -> Release:
        """Answer a query.

        ``spend`` is the most it may cost, in its own definition of privacy. ``accuracy`` instead
        buys the wanted error as cheaply as the budget's definition allows:
        ``{"n": dp.Within(5)}``, for no more than ``at_most``; without that, epsilon 10. The same
        query by the same analyst at the same spend is answered from the ledger at no charge.
        Where it was paid for on another snapshot of the data, it is refused until ``paid_before``
        says ``dp.Reuse()`` or ``dp.PayAgain()``. ``purpose`` is recorded; a policy may ask for one.
        ``left_out=dp.LeftOut(share=0.1, rows_at_most=100)`` also buys what the limits on a person
        left out, for a share of the price: ``answer.left_out``.
        Instead of SQL text the query may be a frame or an Ibis expression.
        """
        return answer_sql(
            self.context,
            text,
            spend=spend,
            goal=AccuracyGoal(accuracy, rows_at_least, at_most),
            confidence=confidence,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
            left_out=left_out,
        )

    def frame(self, table: str) -> Frame:
        """A table to build a query from: ``.filter``, ``.group_by``, ``.agg``, ``.release``."""
        from discreet.relational.frontends.frame.frame import Frame
        from discreet.relational.sql.catalog import require_table

        require_table(table, self.context.database)
        return Frame.of(table, self)

    @property
    def ibis(self) -> IbisTables:
        """The tables for Ibis, without data; its expressions are queries for :meth:`sql`."""
        from discreet.relational.frontends.ibis_tables import IbisTables

        return IbisTables(self.context.database)

    def batch(
        self,
        questions: Mapping[str, Asked],
        *,
        spend: Guarantee,
        importance: Mapping[str, float] | None = None,
        confidence: float = 0.95,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
        left_out: LeftOut | None = None,
    ) -> Batch:
        """Answer several queries at one price, split over all of them as well as can be.

        What queries share is measured once, and related answers agree with each other.
        ``importance`` weighs the squared errors of a query's cells, 1 unless given. The same
        batch by the same analyst is answered from the ledger at no charge. ``left_out`` buys, for
        its share of the spend, what limits left out of each query on which they can act.
        """
        from discreet.curator.batch import answer_batch

        return answer_batch(
            self.context,
            questions,
            spend=spend,
            importance=importance,
            confidence=confidence,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
            left_out=left_out,
        )

    def bounds(
        self,
        table: str,
        column: str,
        *,
        spend: Guarantee,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
    ) -> Bounds:
        """Estimate bounds of a numeric column, to a factor of two, and pay for it.

        For columns whose bounds nobody knows: ``curator.bounds("visits", "cost", spend=...)``
        gives an object whose ``number()`` is a declaration. The same query by the same analyst
        at the same spend is answered from the ledger at no charge.
        """
        from discreet.curator.bounds import estimate_bounds

        return estimate_bounds(
            self.context,
            table,
            column,
            spend=spend,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
        )

    def learn_limits(
        self,
        asked: RowsPer,
        *,
        spend: Guarantee,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
    ) -> LearntLimits:
        """Learn how many rows share a key, or belong to a person, and pay for it.

        ``curator.learn_limits(dp.RowsPer("visits", "city"), spend=...)`` gives an object whose
        ``limit(keeping=0.95)`` is one for :meth:`with_max_rows_per`. Asked again it is free.
        """
        from discreet.curator.learnt_limits import learn_limits

        return learn_limits(
            self.context,
            asked,
            spend=spend,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
        )

    def with_max_rows_per(self, **tables: Mapping[str | tuple[str, ...], int]) -> Session:
        """The same session with other limits on rows per key: ``visits={"city": 8}``.

        A limit is enforced in every join on its key, so any number is private: a larger one costs
        noise, a smaller one leaves more rows out.
        """
        return Session(self.context.limited(tables))

    def release(
        self,
        measurement: Measurement[Database, Result],
        *,
        spend: Guarantee,
        analyst: str = ANALYST,
        purpose: str | None = None,
    ) -> Result:
        """Run one measurement on the data and pay for its event.

        ``spend`` is the most the event may cost, in its own definition of privacy. What is
        returned must be plain JSON, since it is kept in the ledger.
        """
        from discreet.curator.own_measurement import release_measurement

        return release_measurement(
            self.context, measurement, spend=spend, analyst=analyst, purpose=purpose
        )

    # Synopses -----------------------------------------------------------------------------------

    def universe(self, table: Asked, /, *columns: str, **expressions: str) -> KeyedUniverse:
        """A universe for :meth:`synopsis`: combinations of keys that GROUP BY could list.

        ``columns`` are declared columns of ``table`` by name; an expression is named by its
        keyword: ``curator.universe("adult", "sex", age="FLOOR(age / 10)")``. Without either,
        ``table`` is a query: ``SELECT sex, COUNT(*) AS n FROM ... GROUP BY sex``. Rows in which
        a key is NULL lie in no cell, unless NULL was declared. Reads no private row.
        """
        from discreet.curator.synopsis.universe import universe_of

        return universe_of(self.context, table, columns, expressions)

    def synopsis(
        self,
        workload: Workload,
        *,
        mechanism: Callable[..., Any],
        spend: Guarantee,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
    ) -> SynopsisRelease:
        """Make a synopsis for a workload over a :meth:`universe`; its answers are free.

        ``mechanism`` is made with the keywords workload, spend, size, records and randomness:
        ``dp.queries.MatrixMechanism``, or ``functools.partial(dp.queries.MWEM, rounds=8)``. The
        same synopsis for the same analyst at the same spend comes from the ledger at no charge.
        """
        from discreet.curator.synopsis.make import make_synopsis

        return make_synopsis(
            self.context,
            workload,
            mechanism,
            spend=spend,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
        )

    # Interactive sessions -----------------------------------------------------------------------

    def open(
        self,
        mechanism: InteractiveMechanism,
        *,
        spend: Guarantee,
        analyst: str = ANALYST,
        purpose: str | None = None,
    ) -> SparseVectorSession:
        """Open a sparse vector session over SQL queries: AboveThreshold, Sparse or NumericSparse.

        The whole of it is paid for now; every answer is in the ledger before it is seen. A
        mechanism of one's own is held to the rules of measurements.
        """
        from discreet.curator.interactive.sparse_vector import open_sparse_vector

        return open_sparse_vector(
            self.context, mechanism, spend=spend, analyst=analyst, purpose=purpose
        )

    def converse(
        self,
        universe: KeyedUniverse,
        *,
        mechanism: Callable[..., Any],
        spend: Guarantee,
        questions: int,
        confidence: float = 0.95,
        analyst: str = ANALYST,
        purpose: str | None = None,
    ) -> Conversation:
        """Open a long conversation about a :meth:`universe`: counts, one by one, at one price.

        ``mechanism`` makes an online construction, such as
        ``functools.partial(dp.queries.private_gap_weights, about=10_000)``. Answers
        state an error that holds for the first ``questions`` of them at ``confidence``; the
        conversation itself has no limit.
        """
        from discreet.curator.interactive.open_conversation import open_conversation

        return open_conversation(
            self.context,
            universe,
            mechanism,
            spend=spend,
            questions=questions,
            confidence=confidence,
            analyst=analyst,
            purpose=purpose,
        )

    def round(
        self,
        universe: KeyedUniverse,
        *,
        analysts: Sequence[str],
        queries_each: int,
        spend: Guarantee,
        protects: AnalystUnit,
        promise: ApproxDP,
        asked: QueryClass | None = None,
        topics: int | None = None,
        places: int | None = None,
        mechanism: type | None = None,
        corrections: int | AnalystRuns = 0,
        closes: datetime | None = None,
        limit: ApproxDP | None = None,
        analyst: str = ANALYST,
        purpose: str | None = None,
    ) -> Round:
        """Open a round: analysts submit queries over a universe, and one release answers them all.

        ``spend`` is what the data's people pay, now and whatever is submitted. ``protects`` and
        ``promise`` say what all others together may learn about one query (``OneQuery()``) or one
        analyst (``OneAnalyst()``). ``asked`` is a public class of queries, ``places`` a public
        number of analysts that hides how many there are. ``mechanism`` is a kind of release, if the
        planner is not to choose; after a game each analyst gets at most ``corrections`` answers
        afresh, or with ``AnalystRuns()`` all of them if they fail. ``limit`` refuses a round after
        which all rounds together would tell more about analysts. It closes at ``closes``, or when
        the owner says so.
        """
        from discreet.curator.rounds.open import open_round

        return open_round(
            self.context,
            universe,
            analysts=analysts,
            queries_each=queries_each,
            spend=spend,
            protects=protects,
            promise=promise,
            asked=asked,
            topics=topics,
            places=places,
            mechanism=mechanism,
            corrections=corrections,
            closes=closes,
            limit=limit,
            analyst=analyst,
            purpose=purpose,
        )

    def resume(self, id: str, *, analyst: str = ANALYST) -> Any:
        """Go on with what :meth:`open`, :meth:`converse` or :meth:`round` opened, by its id.

        What it gives is what was opened: a sparse vector session, a conversation or a round. Also
        after a restart; nothing is charged or lost. Whoever had it open before can no longer use
        it. A round that was closed gives its results again.
        """
        from discreet.curator.interactive.resume import resume

        return resume(self.context, id, analyst=analyst)

    def interactive_sessions(self, *, analyst: str | None = None) -> InteractiveSessions:
        """What was opened and paid from here, with the ids to :meth:`resume` it.

        All of it, or that of one analyst: whoever lost an id finds it here.
        """
        return interactive_sessions(self.context.account, self.context.budget, analyst)

    @property
    def analyst_spending(self) -> AnalystSpending:
        """What all rounds of the ledger together told about one query, and one analyst.

        For the curator itself: below it, others' rounds are not to be seen.
        """
        from discreet.curator.rounds.analyst_spending import analyst_spending, require_whole

        require_whole(self.context)
        return analyst_spending(self.ledger)

    # For nothing --------------------------------------------------------------------------------

    @overload
    def preview(
        self,
        text: Asked | RowsPer,
        *,
        spend: Guarantee | None = None,
        accuracy: Wanted = None,
        confidence: float = 0.95,
        rows_at_least: int | None = None,
        at_most: Guarantee | None = None,
        left_out: LeftOut | None = None,
    ) -> Preview: ...

    @overload
    def preview(
        self, text: Workload, *, mechanism: Callable[..., Any], spend: Guarantee
    ) -> SynopsisPreview: ...

    def preview(
        self,
        text: Asked | Workload | RowsPer,
        *,
        mechanism: Callable[..., Any] | None = None,
        spend: Guarantee | None = None,
        accuracy: Wanted = None,
        confidence: float = 0.95,
        rows_at_least: int | None = None,
        at_most: Guarantee | None = None,
        left_out: LeftOut | None = None,
    ) -> Preview | SynopsisPreview:
        """Expected error of each column; touches nothing private and costs nothing.

        With a workload and a ``mechanism``, the expected error of a :meth:`synopsis`; under
        ``Replace`` the rows are counted, since their number is public. With a ``dp.RowsPer``, that
        of each count that :meth:`learn_limits` would buy.
        """
        from discreet.curator.preview import preview
        from discreet.curator.public_size import people_at_most
        from discreet.queries.workload.workload import Workload
        from discreet.relational.plan.rows_per import RowsPer

        context = self.context
        if isinstance(text, Workload) or mechanism is not None:
            from discreet.curator.synopsis.preview import preview_synopsis

            return preview_synopsis(context, text, mechanism, spend, accuracy=accuracy)
        if isinstance(text, RowsPer):
            from discreet.curator.learnt_limits import preview_limits

            return preview_limits(context, text, spend, confidence=confidence, accuracy=accuracy)
        goal = AccuracyGoal(accuracy, rows_at_least, at_most)
        query, planned = planned_sql(context, text, spend, goal, left_out)
        if at_most is not None:
            goal.require_affordable(planned.price)
        context.policies.require_askable(query, planned.price)
        left, charge = context.account.remaining(), context.price(planned.paid_charges)
        people = people_at_most(context, query)
        return preview(planned, context.budget, charge, left, confidence=confidence, people=people)

    def simulate(
        self,
        text: str,
        *,
        spend: Guarantee,
        rows: int = 1000,
        confidence: float = 0.95,
        left_out: LeftOut | None = None,
    ) -> Release:
        """The answer as it would look, from rows invented from the schema; costs nothing.

        No private row is read. Use it to try queries, bounds and caps before paying.
        """
        from discreet.curator.simulate import simulate

        return simulate(
            self.context, text, spend=spend, rows=rows, confidence=confidence, left_out=left_out
        )

    def explain(self, text: Asked, *, spend: Guarantee | None = None) -> Explanation:
        """The plan, with the stability and sensitivity of every step; costs nothing."""
        from discreet.curator.explain import explain

        return explain(self.context, text, spend)

    # Budgets within the budget ------------------------------------------------------------------

    def child(self, name: str, *, budget: Guarantee) -> Child:
        """A session with a budget of its own, set aside here in full, now and for ever.

        The same name with the same budget opens the same child again, with what it has spent.
        """
        from discreet.curator.sub_budgets.child import open_child
        from discreet.curator.sub_budgets.sub_sessions import Child

        return Child(open_child(self.context, name, budget), name)

    def partition(
        self,
        table: str,
        *,
        by: str,
        budget: Guarantee,
        k: int | None = None,
        name: str | None = None,
    ) -> Partition[Part]:
        """Parts of a table by a public list of keys, each with ``budget``, paid for once.

        ``by`` is what GROUP BY would take. Under ``Person`` ``k`` is needed: each person is kept
        in at most so many parts, and this session pays ``k`` budgets. Under ``Replace``, twice.
        It is made for one snapshot of the data; ``name`` tells several of a kind apart.
        """
        from discreet.curator.sub_budgets.partition import open_partition
        from discreet.curator.sub_budgets.sub_sessions import Part

        return open_partition(self.context, table, Part, by=by, budget=budget, k=k, name=name)

    def blocks(
        self,
        table: str,
        *,
        by: str,
        budget: Guarantee,
        k: int | None = None,
        settled: date | None = None,
        name: str | None = None,
    ) -> Blocks[Part]:
        """Blocks of time of a growing table, each with ``budget``, paid for once.

        ``by`` is ``date_trunc('month', day)`` or the like. Under ``Person``, ``k``, ``settled``
        and ``name`` are needed: each person counts in their first ``k`` blocks, rows before the
        day ``settled`` are all there and stay as they are, and the name stands for this table.
        """
        from discreet.curator.sub_budgets.blocks import open_blocks
        from discreet.curator.sub_budgets.sub_sessions import Part

        return open_blocks(
            self.context, table, Part, by=by, budget=budget, k=k, settled=settled, name=name
        )
