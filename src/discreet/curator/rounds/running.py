"""A round that is open: what its planner knows, and how it reads data once it is closed.

Source: contract, "Spending". Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.curator.context import Context
from discreet.curator.purchase import Reservation
from discreet.curator.rounds.log import Pages
from discreet.curator.rounds.plan import Facts, RoundMechanism
from discreet.curator.rounds.round import Round, Terms
from discreet.curator.rounds.run import Outcome, Submitted, run
from discreet.curator.rounds.submission import Rule
from discreet.noise.randomness import SYSTEM, integer
from discreet.queries.analysts.failing_analysts import AnalystRuns
from discreet.queries.analysts.guarantee import AnalystUnit
from discreet.relational.execute.table_counts import TableCounts

CLOSED = {"round": "closed"}
"""What ends the reservation; the outcome itself stays on an encrypted page."""


def running_round(
    reservation: Reservation,
    source: TableCounts,
    terms: Terms,
    *,
    mechanism: RoundMechanism,
    pages: Pages,
) -> Round:
    """A round that collects queries until it is closed, and then runs once."""

    def released(submitted: Submitted) -> Outcome:
        """What reads data: one count for each cell, whatever was asked."""
        fresh = replace(source, salt=integer(SYSTEM, 62))
        with fresh.engine.snapshot():
            return run(mechanism, fresh, terms.names, submitted)

    def guarded(submitted: Submitted, begin: Callable[[], None]) -> Outcome:
        reservation.context.require_unchanged()  # free: nothing was read
        begin()
        return reservation.read_private_data(lambda: released(submitted))

    return Round(reservation.id, terms, pages, guarded, partial(reservation.commit, CLOSED))


def facts_of(
    context: Context,
    source: TableCounts,
    rule: Rule,
    *,
    places: int,
    spend: Guarantee,
    protects: AnalystUnit,
    promise: ApproxDP,
    topics: int | None,
    corrections: int | AnalystRuns,
) -> Facts:
    """What a round is planned from: public, and the same when it is resumed."""
    return Facts(
        universe=source.universe,
        size=source.size,
        records=source.records,
        unit=context.unit,
        analysts=places,
        most=rule.most,
        spend=context.budget.as_paid(spend),
        protects=protects,
        promise=promise,
        asked=rule.asked,
        topics=topics,
        corrections=corrections,
        randomness=context.randomness,
    )
