"""A session: everything that can be asked about the tables, paid from one account.

A curator is the session of the whole budget; children and parts are sessions below it. Single
questions are in :mod:`discreet.curator.query_session`; here is what goes on over several calls, and
budgets within the budget. Each verb is a short call into the module that it imports.

Source: contract, "Spending", "What may be seen"; 000a:C12, 004d:F15, F16, D2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.curator.context import ANALYST, Context
from discreet.curator.history import interactive_sessions
from discreet.curator.query_session import QuerySession

if TYPE_CHECKING:
    from discreet.curator.interactive.conversation import Conversation
    from discreet.curator.interactive.sessions import InteractiveSessions
    from discreet.curator.interactive.sparse_vector import InteractiveMechanism, SparseVectorSession
    from discreet.curator.rounds.analyst_spending import AnalystSpending
    from discreet.curator.rounds.round import Round
    from discreet.curator.sub_budgets.blocks import Blocks
    from discreet.curator.sub_budgets.partition import Partition
    from discreet.queries.analysts.failing_analysts import AnalystRuns
    from discreet.queries.analysts.guarantee import AnalystUnit
    from discreet.queries.analysts.query_class import QueryClass
    from discreet.relational.plan.keyed_universe import KeyedUniverse
    from discreet.streams.live.clock import Clock
    from discreet.streams.live.found_keys import FoundKeys
    from discreet.streams.live.live_stream import LiveStream
    from discreet.streams.live.patience import Patience
    from discreet.streams.live.rules import EventRules
    from discreet.streams.live.series import LiveStatistic
    from discreet.streams.live.ticks import Ticks
    from discreet.streams.sources.source import EventSource
    from discreet.streams.units import StreamUnit

Result = TypeVar("Result")


class Session(QuerySession):
    """Asks, opens what goes on, and sets budgets aside; all of it is paid from one account.

    Guarantee: whatever is asked, in whatever order and by however many processes that share the
    ledger, everything released together keeps the budget for each unit.
    """

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

    def stream(
        self,
        source: EventSource,
        *,
        unit: StreamUnit,
        ticks: Ticks,
        mechanism: Callable[..., Any],
        spend: Guarantee,
        keys: Sequence[object] | FoundKeys | None = None,
        statistic: LiveStatistic | None = None,
        state: str | PathLike[str] | None = None,
        rules: EventRules | None = None,
        clock: Clock | None = None,
        patience: Patience | None = None,
        confidence: float = 0.95,
        analyst: str = ANALYST,
        purpose: str | None = None,
    ) -> LiveStream:
        """Count events as they come, and release estimates at every tick of a public clock.

        Paid for once, for all ticks. ``unit`` is whose events are protected, ``keys`` the public
        list of what is counted by, or ``FoundKeys``; ``statistic`` a sum, average or quantiles of
        a bounded number in place of counts; ``state`` a file for what must outlive a crash,
        encrypted under the ledger's key. ``mechanism`` is a kind of counter:
        ``dp.streams.BinaryTree``, or ``pan_private`` of ``dp.streams.live``, which keeps no state.
        ``for tick in stream`` waits for each tick; so does ``async for``.
        """
        from discreet.curator.streams.open_stream import open_stream

        return open_stream(
            self.context,
            source,
            unit=unit,
            ticks=ticks,
            mechanism=mechanism,
            spend=spend,
            keys=keys,
            statistic=statistic,
            state=state,
            rules=rules,
            clock=clock,
            patience=patience,
            confidence=confidence,
            analyst=analyst,
            purpose=purpose,
        )

    def resume(self, id: str, *, analyst: str = ANALYST, **stream: Any) -> Any:
        """Go on with what :meth:`open`, :meth:`converse` or :meth:`round` opened, by its id.

        What it gives is what was opened: a sparse vector session, a conversation or a round. Also
        after a restart; nothing is charged or lost. Whoever had it open before can no longer use
        it. A round that was closed gives its results again. A :meth:`stream` needs its ``source=``
        again, and may be given a ``clock``, ``patience`` or the ``state`` file's new place.
        """
        from discreet.curator.interactive.resume import resume

        return resume(self.context, id, analyst=analyst, **stream)

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

    # Budgets within the budget ------------------------------------------------------------------

    def with_max_rows_per(self, **tables: Mapping[str | tuple[str, ...], int]) -> Session:
        """The same session with other limits on rows per key: ``visits={"city": 8}``.

        A limit is enforced in every join on its key, so any number is private: a larger one costs
        noise, a smaller one leaves more rows out.
        """
        return Session(self.context.limited(tables))

    def child(self, name: str, *, budget: Guarantee) -> Child:
        """A session with a budget of its own, set aside here in full, now and for ever.

        The same name with the same budget opens the same child again, with what it has spent.
        """
        from discreet.curator.sub_budgets.child import open_child

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

        return open_blocks(
            self.context, table, Part, by=by, budget=budget, k=k, settled=settled, name=name
        )


class Child(Session):
    """A session with a budget of its own, analysts of its own and a history of its own."""

    def __init__(self, context: Context, name: str) -> None:
        """Ask within what was granted under ``name``."""
        super().__init__(context)
        self.name = name

    def __repr__(self) -> str:
        """Its name and what remains."""
        return f"Child({self.name!r}; remaining={self.remaining})"


class Part(Session):
    """A session about one part of a table."""

    def __init__(self, context: Context, value: object) -> None:
        """Ask about the part of ``value``."""
        super().__init__(context)
        self.value = value

    def __repr__(self) -> str:
        """Which part, and what remains."""
        return f"Part({self.value!s}; remaining={self.remaining})"
