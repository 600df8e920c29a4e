"""Opening a conversation about a universe, and resuming it from the ledger.

To open: translate, price, reserve, claim, keep the salt, count once, start. To resume: claim, which
ends every older speaker; read back the salt and all that was said; count the same records again;
be where the conversation was. Nothing is drawn a second time and nothing is charged.

Source: contract, "Spending", "Bounding inside the engine". Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from discreet.core.arrays import Ints
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count, probability
from discreet.curator.budget import as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.interactive.conversation import Conversation, Plan
from discreet.curator.purchase import Offer, Purchase, Reservation, reserve
from discreet.curator.synopsis.make import synopsis_facts
from discreet.curator.synopsis.universe import counts_of, declared_universe
from discreet.curator.tags import name_of
from discreet.ledger.session_log import SessionLog
from discreet.noise.randomness import Source
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.journal import Entry, answered
from discreet.queries.online.stored_construction import construction_from_dict, construction_to_dict
from discreet.queries.record_count import MOST
from discreet.queries.workload.cell_counts import cell_counts
from discreet.queries.workload.universe import Universe
from discreet.relational.database import private_tables
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.plan.keyed_universe import KeyedUniverse, query_of_universe, universe_from
from discreet.release.guarantee import guarantee_from_dict, guarantee_to_dict
from discreet.release.promise import promised


def open_conversation(
    context: Context,
    universe: Universe,
    make: Callable[..., Any],
    *,
    spend: Guarantee,
    questions: int,
    confidence: float,
    analyst: str,
    purpose: str | None,
) -> Conversation:
    """Pay for a conversation and start it."""
    context.budget.check(spend)
    spend = as_written(spend)
    source = counts_of(context, universe)
    assert isinstance(universe, KeyedUniverse)  # else there is nothing to count
    universe.require_explicit(method="a conversation")
    planned: dict[str, Any] = {
        "questions": count("questions", questions),
        "confidence": float(probability("confidence", confidence)),
    }

    def offer() -> Offer[OnlineConstruction]:
        paid = context.budget.as_paid(spend)
        mechanism = _make_mechanism(
            make, source, planned, spend=paid, randomness=context.randomness
        )
        source.text(universe.names[:1])  # what cannot be written, or stated, is refused now
        mechanism.within(**planned)
        kept = {
            "universe": list(universe.questions),
            "mechanism": construction_to_dict(mechanism),
            "spend": guarantee_to_dict(spend),
            "snapshot": context.snapshot(tables_read(source.query)),
            "question": declared_universe(context, source.query),
            **planned,
        }
        words = f"conversation about {' x '.join(universe.names)}"
        return Offer(mechanism, mechanism.event, {"mechanism": words, "conversation": kept})

    purchase = Purchase(
        analyst=analyst, purpose=purpose, spend=spend, reads=(source.query,), offer=offer
    )
    reservation, mechanism = reserve(context, purchase, "conversation")
    return _continued(
        reservation, source, mechanism, planned=planned, read=reservation.read_private_data
    )


def resume_conversation(reservation: Reservation, paid: Mapping[str, Any]) -> Conversation:
    """Go on with a conversation that was paid for."""
    context, detail = reservation.context, paid["detail"]
    kept = detail["conversation"]
    universe = universe_from(kept["universe"], context.query)
    query = query_of_universe(universe, context.query)
    context.policies.admit_resumed(query, analyst=paid["asker"], purpose=detail.get("purpose"))
    if kept["question"] != declared_universe(context, query):
        raise InvalidParameter(
            code="universe_differs",
            expectation="tables that are declared as when the conversation was opened",
            received=list(universe.names),
            remedy="Declare the columns as they were, or open a new conversation.",
        )
    if context.snapshot(tables_read(query)) != kept["snapshot"]:
        raise InvalidParameter(
            code="data_changed",
            expectation="the tables as they were when the conversation was opened",
            received=list(universe.names),
            remedy="Open a new conversation. For tables that are not files, name their version: "
            "dp.table(..., snapshot=...).",
        )
    context.require_unchanged()
    mechanism = construction_from_dict(
        kept["mechanism"],
        spend=context.budget.as_paid(guarantee_from_dict(kept["spend"])),
        randomness=context.randomness,
    )
    database = context.database
    source = TableCounts(universe, query, database.engine, private=private_tables(database))
    return _continued(reservation, source, mechanism, planned=kept, read=reservation.read_again)


def _continued(
    reservation: Reservation,
    source: TableCounts,
    mechanism: OnlineConstruction,
    *,
    planned: Mapping[str, Any],
    read: Callable[[Callable[[], Ints]], Ints],
) -> Conversation:
    """Claim it, count its records, and be where its log ends."""
    context = reservation.context
    pages = _Pages(reservation.log())
    salted = replace(source, salt=pages.salt(source.salt))
    counts = read(lambda: _count_cells(salted))
    live = mechanism.open(counts, pages)
    plan = Plan(
        universe=source.universe,
        guarantee=promised(mechanism.spend, mechanism.event).per(context.unit),
        questions=int(planned["questions"]),
        confidence=float(planned["confidence"]),
        within=mechanism.within(
            confidence=planned["confidence"], questions=int(planned["questions"])
        ),
        facts=synopsis_facts(context, source, mechanism=name_of(mechanism), rmse=None),
    )
    close = partial(reservation.commit, {"closed": True})
    return Conversation(
        reservation.id, plan, live, pages, close, asked=pages.count_answered_questions()
    )


def _count_cells(source: TableCounts) -> Ints:
    """What reads data: one count for each cell."""
    with source.engine.snapshot():
        table = cell_counts(source, source.universe)
    if int(table.sum()) >= MOST:
        raise InvalidData(
            code="records_too_many",
            expectation=f"fewer than {MOST} records",
            remedy="Ask about a part of them.",
        )
    return table


@dataclass(frozen=True)
class _Pages:
    """A session log as the journal of the mechanism, with a page of the curator's own."""

    session_log: SessionLog

    def entries(self) -> Sequence[Entry]:
        return [entry for entry in self.session_log.entries() if entry.get("did") != "salt"]

    def write(self, entry: Entry) -> None:
        self.session_log.write(entry)

    def keep(self, entry: Entry) -> None:
        self.session_log.keep(entry)

    def salt(self, fresh: int) -> int:
        """The salt that chose the records, kept before the first count; a fresh one if none is."""
        for entry in self.session_log.entries():
            if entry.get("did") == "salt":
                return int(entry["salt"])
        self.session_log.keep({"did": "salt", "salt": fresh})
        return fresh

    def count_answered_questions(self) -> int:
        """How many questions were answered."""
        return sum(map(answered, self.entries()))


def _make_mechanism(
    make: Callable[..., Any],
    source: TableCounts,
    planned: Mapping[str, Any],
    *,
    spend: Guarantee,
    randomness: Source,
) -> OnlineConstruction:
    """The mechanism, with everything that follows from the tables."""
    keywords: dict[str, Any] = {
        "cells": source.universe.size,
        "spend": spend,
        "size": source.size,
        "records": source.records,
        "randomness": randomness,
        **planned,
    }
    try:
        inspect.signature(make).bind(**keywords)
    except (TypeError, ValueError):
        raise _unfit(make) from None
    made = make(**keywords)
    # A class of one's own could open what it likes, and would be resumed as another.
    fits = type(made) is OnlineConstruction and (
        made.updater.universe_size,
        made.spend,
        made.size,
        made.records,
        made.randomness,
    ) == tuple(keywords[name] for name in ("cells", "spend", "size", "records", "randomness"))
    if not fits:
        raise _unfit(make)
    mechanism: OnlineConstruction = made
    return mechanism


def _unfit(make: object) -> InvalidParameter:
    plain = make.func if isinstance(make, partial) else make
    return InvalidParameter(
        code="not_an_online_mechanism",
        expectation="a function that makes an OnlineConstruction of the cells, spend, size, "
        "records, randomness, questions and confidence that it is given",
        received=getattr(plain, "__name__", type(plain).__name__),
        remedy="Pass functools.partial(private_gap_weights, about=10_000).",
    )
