"""Going on with a round from the ledger.

Read what was kept; plan again, which must give the same event; claim, unless it was run already.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, get_args

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP
from discreet.curator.context import Context, tables_read
from discreet.curator.purchase import Reservation
from discreet.curator.rounds.analyst_spending import unit_from_dict
from discreet.curator.rounds.corrected_game import CorrectedGame
from discreet.curator.rounds.corrections import corrections_from_json
from discreet.curator.rounds.log import Pages
from discreet.curator.rounds.plan import RoundMechanism, RoundPlan, plan, written_kind
from discreet.curator.rounds.round import Round, Terms
from discreet.curator.rounds.run import Outcome, Submitted
from discreet.curator.rounds.running import CLOSED, facts_of, running_round
from discreet.curator.rounds.submission import Rule
from discreet.curator.synopsis.make import synopsis_facts
from discreet.curator.synopsis.universe import counts_of, declared_universe
from discreet.ledger.session_log import SessionLog
from discreet.queries.analysts.query_class import AnyQuery, Conjunctions
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.plan.keyed_universe import universe_from
from discreet.release.guarantee import guarantee_from_dict
from discreet.release.promise import promised

_NUMBERS = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")


def resume_round(reservation: Reservation, paid: Mapping[str, Any]) -> Round:
    """Go on with a round that was paid for; or read what it left."""
    context, name, detail = reservation.context, reservation.id, paid["detail"]
    kept = detail["round"]
    universe = universe_from(kept["universe"], context.query)
    source = counts_of(context, universe)
    context.policies.admit_resumed(
        source.query, analyst=paid["asker"], purpose=detail.get("purpose")
    )
    asked = AnyQuery() if kept["ways"] is None else Conjunctions(kept["ways"])
    rule = Rule(universe, kept["queries_each"], asked)
    agreed = RoundPlan.from_dict(kept["plan"])
    spend = guarantee_from_dict(kept["spend"])
    closes = None if kept["closes"] is None else datetime.fromisoformat(kept["closes"])
    pages = Pages(SessionLog(context.ledger, name, 0))  # reads, and may not write
    public = synopsis_facts(context, source, mechanism=agreed.name, rmse=agreed.rmse)
    held = promised(spend, agreed.event).per(context.unit)
    terms = Terms(rule, agreed, held, pages.names(), kept["places"], closes, public)
    if pages.outcome() is not None:
        _require_declared(context, source, kept)
        query = str(paid["question"])
        ended = context.account.find(analyst=paid["asker"], query=query) is not None
        commit = _nothing if ended else partial(reservation.commit, CLOSED)
        round_again = Round(name, terms, pages, _never, commit)
        round_again.close()
        return round_again
    pages.require_not_run()  # without a claim: whoever runs it now may still end it
    chosen = _again(context, source, terms, kept)
    claimed = Pages(reservation.log())
    return running_round(reservation, source, terms, mechanism=chosen, pages=claimed)


def _require_declared(context: Context, source: TableCounts, kept: Mapping[str, Any]) -> None:
    """Refuse to read queries and counts of other cells."""
    if kept["question"] != declared_universe(context, source.query):
        raise InvalidParameter(
            code="universe_differs",
            expectation="tables that are declared as when the round was opened",
            received=list(source.universe.names),
            remedy="Declare the columns as they were, or open a new round.",
        )


def _again(
    context: Context, source: TableCounts, terms: Terms, kept: Mapping[str, Any]
) -> RoundMechanism:
    """The mechanism that was agreed on: planned again, and the same."""
    if context.snapshot(tables_read(source.query)) != kept["snapshot"]:
        raise InvalidParameter(
            code="data_changed",
            expectation="the tables as they were when the round was opened",
            received=list(source.universe.names),
            remedy="Open a new round. For tables that are not files, name their version: "
            "dp.table(..., snapshot=...).",
        )
    _require_declared(context, source, kept)
    context.require_unchanged()
    promise = guarantee_from_dict(kept["promise"])
    assert isinstance(promise, ApproxDP)
    kinds = {
        written_kind(kind): kind for kind in get_args(RoundMechanism) if kind is not CorrectedGame
    }
    facts = facts_of(
        context,
        source,
        terms.rule,
        places=terms.places,
        spend=guarantee_from_dict(kept["spend"]),
        protects=unit_from_dict(kept["plan"]["protects"]),
        promise=promise,
        topics=kept["topics"],
        corrections=corrections_from_json(kept["corrections"]),
    )
    agreed, chosen = plan(facts, kinds[kept["mechanism"]])
    if _promises(agreed) == _promises(terms.plan):
        return chosen
    raise InvalidParameter(
        code="round_differs",
        expectation="a plan as it was when the round was opened",
        received=terms.plan.name,
        remedy="Close it with the version of the software that opened it, or open another.",
    )


def _promises(plan: RoundPlan) -> tuple[object, ...]:
    """What must not differ: words may, and predicted errors in their last digits, but no number."""
    return (plan.name, plan.event, plan.analysts, plan.cost, _NUMBERS.findall(plan.text))


def _nothing() -> None:
    """It was committed."""


def _never(submitted: Submitted, begin: Callable[[], None]) -> Outcome:
    raise AssertionError(len(submitted), begin)
