"""What is asked once and answered at once: queries, batches, bounds, measurements, synopses.

Each verb is a short call into the module that it imports, with the session's
:class:`~discreet.curator.context.Context`. What a verb alone needs is imported when it is first
called. What goes on over several calls, and budgets within the budget, are in
:mod:`discreet.curator.session`.

Source: contract, "Spending", "What may be seen"; 000a:C12, 004d:F15, F16, D2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, overload

from discreet.core.guarantee import Guarantee
from discreet.curator.accuracy import AccuracyGoal, Wanted
from discreet.curator.context import ANALYST, Context
from discreet.curator.history import History, history
from discreet.curator.sql import answer_sql, planned_sql
from discreet.relational.frontends.as_sql import Asked

if TYPE_CHECKING:
    from discreet.core.measurement import Measurement
    from discreet.core.parameters import Number as RealNumber
    from discreet.core.space import Space
    from discreet.core.unit import PrivacyUnit
    from discreet.curator.bounds import Bounds
    from discreet.curator.explain import Explanation
    from discreet.curator.fit_preview import FitPreview
    from discreet.curator.learnt_limits import LearntLimits
    from discreet.curator.paid_before import PaidBefore
    from discreet.curator.synopsis.preview import SynopsisPreview
    from discreet.curator.synopsis.release import SynopsisRelease
    from discreet.curator.synthetic.preview import SynthesisPreview
    from discreet.curator.synthetic.preview_tables import TablesPreview
    from discreet.ledger import Ledger
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
    from discreet.synthetic.encoding.constraints import Constraint
    from discreet.synthetic.encoding.number_column import PrivateBins
    from discreet.synthetic.evaluation.private_distances import PrivateEvaluation
    from discreet.synthetic.synthetic_release import SyntheticRelease
    from discreet.synthetic.tables.tables_release import TablesRelease

Result = TypeVar("Result")
FittedModel = TypeVar("FittedModel")


class QuerySession:
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

    # Models -------------------------------------------------------------------------------------

    def fit(
        self,
        estimator: FittedModel,
        text: Asked,
        *,
        target: str | None = None,
        spend: Guarantee,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
    ) -> FittedModel:
        """Fit a model to the rows of a SELECT, through the engine and from the budget.

        ``estimator`` is one of ``dp.learn`` without privacy parameters: unit, bounds and classes
        are those of the tables, or its own bounds and classes. Where sums are enough, as for
        ``LinearRegression()``, ``GaussianNB()`` or ``PCA(2)``, no row is loaded; others, such as
        ``LogisticRegression()`` or ``KMeans(3)``, are handed rows that the engine clamped and
        bounded. The same fit by the same analyst at the same spend comes from the ledger at no
        charge.
        """
        from discreet.curator.fit import FitRequest, fit_model

        return fit_model(
            FitRequest.of(self.context, estimator, text, target),
            spend=spend,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
        )

    def preview_fit(
        self, estimator: Any, text: Asked, *, target: str | None = None, spend: Guarantee
    ) -> FitPreview:
        """What a fit would take and what is known of its noise; nothing is read or charged."""
        from discreet.curator.fit import FitRequest
        from discreet.curator.fit_preview import preview_fit

        return preview_fit(FitRequest.of(self.context, estimator, text, target), spend)

    # Synthetic tables ---------------------------------------------------------------------------

    def synthesize(
        self,
        table: str,
        *,
        spend: Guarantee,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        constraints: Sequence[Constraint] = (),
        never_missing: Iterable[str] = (),
        mechanism: Callable[..., Any] | None = None,
        bins: int | PrivateBins = 32,
        bins_share: RealNumber = Fraction(1, 10),
        ways: int | None = None,
        target: str | None = None,
        public: Any = None,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
        progress: Callable[..., None] | None = None,
    ) -> SyntheticRelease:
        """Make a synthetic table: a model that samples rows like the table's, and answers counts.

        All declared columns are synthesised, or those that ``columns`` names; a mapping gives
        columns of ``dp.synthetic`` for some. ``constraints`` are what the owner knows to hold of
        every row, ``never_missing`` the columns that have a value in every row. Numbers and days
        have ``bins`` of equal width, or ``dp.synthetic.PrivateBins()`` which are paid for with
        ``bins_share`` of the spend. ``ways`` says how many columns the
        marginals have that are kept, ``target`` which column is to be predicted. ``public`` is a
        table with these columns that everybody may see, from which the model starts. The same
        request by the same analyst at the same spend comes from the ledger at no charge; every
        sample is free. ``progress`` is told what is being done, public phases alone.
        """
        from discreet.curator.synthetic.make import SynthesisRequest, synthesize

        request = SynthesisRequest.of(
            self.context,
            table,
            columns=columns,
            constraints=constraints,
            bins=bins,
            never_missing=never_missing,
            mechanism=mechanism,
            ways=ways,
            target=target,
            bins_share=bins_share,
            public=public,
        )
        return synthesize(
            request,
            spend=spend,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
            progress=progress,
        )

    def synthesize_tables(
        self,
        parent: str,
        children: Sequence[str],
        *,
        spend: Guarantee,
        columns: Mapping[str, Sequence[str] | Mapping[str, Any]] | None = None,
        constraints: Mapping[str, Sequence[Constraint]] | None = None,
        mechanism: Callable[..., Any] | None = None,
        bins: int | PrivateBins = 32,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
    ) -> TablesRelease:
        """Make a synthetic table of people, ``parent``, and the tables of their rows.

        Numbers of rows and what rows depend on are kept. Each table is declared with
        ``dp.Person``; people have one row each, and of the other tables as many rows of a person
        count as they declare. One spend, in equal shares, protects a person with all rows.
        ``columns`` names columns by table, and ``constraints`` what holds of the rows of one;
        ``bins=dp.synthetic.PrivateBins()`` takes a tenth of each table's share. ``mechanism``
        synthesises people, ``dp.synthetic.PrivBayes`` unless it is said. The same request by the
        same analyst at the same spend comes from the ledger at no charge; every sample is free.
        """
        from discreet.curator.synthetic.make_tables import TablesRequest, synthesize_tables

        request = TablesRequest.of(
            self.context,
            parent,
            children,
            columns=columns,
            constraints=constraints,
            bins=bins,
            mechanism=mechanism,
        )
        return synthesize_tables(
            request, spend=spend, analyst=analyst, purpose=purpose, paid_before=paid_before
        )

    def preview_synthesis(
        self, table: str, *, spend: Guarantee, **choices: Any
    ) -> SynthesisPreview:
        """What :meth:`synthesize` would take with these choices: cells, price, split; free."""
        from discreet.curator.synthetic.make import SynthesisRequest
        from discreet.curator.synthetic.preview import preview_synthesis

        return preview_synthesis(SynthesisRequest.of(self.context, table, **choices), spend)

    def preview_tables(
        self,
        parent: str,
        children: Sequence[str],
        *,
        spend: Guarantee,
        columns: Mapping[str, Sequence[str] | Mapping[str, Any]] | None = None,
        constraints: Mapping[str, Sequence[Constraint]] | None = None,
        mechanism: Callable[..., Any] | None = None,
        bins: int | PrivateBins = 32,
    ) -> TablesPreview:
        """What :meth:`synthesize_tables` would take: cells, price, shares, noise; free."""
        from discreet.curator.synthetic.make_tables import TablesRequest
        from discreet.curator.synthetic.preview_tables import preview_tables

        request = TablesRequest.of(
            self.context,
            parent,
            children,
            columns=columns,
            constraints=constraints,
            bins=bins,
            mechanism=mechanism,
        )
        return preview_tables(request, spend)

    def evaluate_synthetic(
        self,
        table: str,
        synthetic: Any,
        *,
        spend: Guarantee,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        ways: Sequence[int] = (1, 2, 3),
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
    ) -> PrivateEvaluation:
        """How far the marginals of synthetic rows lie from those of a table, with noise; charged.

        ``synthetic`` is a release, which is sampled, or a table with the same columns. For the
        same rows it comes from the ledger at no charge.
        """
        from discreet.curator.synthetic.evaluate import DistanceRequest, evaluate_synthetic

        request = DistanceRequest.of(self.context, table, synthetic, columns=columns, ways=ways)
        return evaluate_synthetic(
            request, spend=spend, analyst=analyst, purpose=purpose, paid_before=paid_before
        )

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
