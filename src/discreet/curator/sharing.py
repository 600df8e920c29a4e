"""Sharing a budget: children, partitions, blocks of time and rounds below a session.

Source: contract, "Units and neighbours", "What may be seen"; 004d:F16, F17. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.curator.access import ANALYST
from discreet.curator.session import Session

if TYPE_CHECKING:
    from discreet.curator.rounds import Round
    from discreet.curator.rounds.analyst_spending import AnalystSpending
    from discreet.curator.sub_budgets.blocks import Blocks
    from discreet.curator.sub_budgets.child import Child
    from discreet.curator.sub_budgets.partition import Partition
    from discreet.queries.analysts.guarantee import AnalystUnit
    from discreet.queries.analysts.query_class import QueryClass
    from discreet.relational.plan.keyed_universe import KeyedUniverse


class Sharing(Session):
    """A session that can set parts of its budget aside."""

    def child(self, name: str, *, budget: Guarantee) -> Child:
        """A session with a budget of its own, set aside here in full, now and for ever.

        The same name with the same budget opens the same child again, with what it has spent.
        """
        from discreet.curator.sub_budgets.child import open_child  # a child is a session itself

        return open_child(self, name, budget)

    def partition(
        self,
        table: str,
        *,
        by: str,
        budget: Guarantee,
        k: int | None = None,
        name: str | None = None,
    ) -> Partition:
        """Parts of a table by a public list of keys, each with ``budget``, paid for once.

        ``by`` is what GROUP BY would take. Under ``Person`` ``k`` is needed: each person is kept
        in at most so many parts, and this session pays ``k`` budgets. Under ``Replace``, twice.
        It is made for one snapshot of the data; ``name`` tells several of a kind apart.
        """
        from discreet.curator.sub_budgets.partition import open_partition

        return open_partition(self, table, by=by, budget=budget, k=k, name=name)

    def blocks(
        self,
        table: str,
        *,
        by: str,
        budget: Guarantee,
        k: int | None = None,
        settled: date | None = None,
        name: str | None = None,
    ) -> Blocks:
        """Blocks of time of a growing table, each with ``budget``, paid for once.

        ``by`` is ``date_trunc('month', day)`` or the like. Under ``Person``, ``k``, ``settled``
        and ``name`` are needed: each person counts in their first ``k`` blocks, rows before the
        day ``settled`` are all there and stay as they are, and the name stands for this table.
        """
        from discreet.curator.sub_budgets.blocks import open_blocks

        return open_blocks(self, table, by=by, budget=budget, k=k, settled=settled, name=name)

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
        corrections: int = 0,
        closes: datetime | None = None,
        limit: ApproxDP | None = None,
        asker: str = ANALYST,
        purpose: str | None = None,
    ) -> Round:
        """Open a round: analysts submit queries over a universe, and one release answers them all.

        ``spend`` is what the data's people pay, now and whatever is submitted. ``protects`` and
        ``promise`` say what all others together may learn about one query (``OneQuery()``) or one
        analyst (``OneAnalyst()``). ``asked`` is a public class of queries, ``places`` a public
        number of analysts that hides how many there are. ``mechanism`` is a kind of release, if the
        planner is not to choose; after a game each analyst gets at most ``corrections`` answers
        afresh. ``limit`` refuses a round after which all rounds together would
        tell more about analysts. It closes at ``closes``, or when the owner says so.
        """
        from discreet.curator.rounds.open import open_round
        from discreet.queries.analysts.query_class import AnyQuery

        return open_round(
            self,
            universe,
            analysts=analysts,
            queries_each=queries_each,
            spend=spend,
            protects=protects,
            promise=promise,
            asked=AnyQuery() if asked is None else asked,
            topics=topics,
            places=places,
            mechanism=mechanism,
            corrections=corrections,
            closes=closes,
            limit=limit,
            asker=asker,
            purpose=purpose,
        )

    def resume_round(self, round_id: str, *, asker: str = ANALYST) -> Round:
        """Go on with a round by its id, also after a restart; nothing is charged or lost.

        A round that was closed gives its results again. Whoever had it open before can no longer
        use it.
        """
        from discreet.curator.rounds.open import resume_round

        return resume_round(self, round_id, asker=asker)

    @property
    def analyst_spending(self) -> AnalystSpending:
        """What all rounds of the ledger together told about one query, and one analyst.

        For the curator itself: below it, others' rounds are not to be seen.
        """
        from discreet.curator.rounds.analyst_spending import analyst_spending
        from discreet.curator.rounds.open import require_whole

        require_whole(self)
        return analyst_spending(self.ledger)
