"""Opening a conversation about a universe, and resuming it from the ledger.

To open: translate, price, reserve, claim, keep the salt, count once, begin. To resume: claim, which
ends every older speaker; read back the salt and all that was said; count the same records again;
be where the conversation was. Nothing is drawn a second time and nothing is charged.

Source: contract, "Spending", "Bounding inside the engine". Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import EngineFailed, InvalidData, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count, probability
from discreet.core.written import written
from discreet.curator.budget import as_written
from discreet.curator.interactive.conversation import Conversation, Plan
from discreet.curator.interactive.sessions import Dialogue, paid_dialogue
from discreet.curator.payment import OWNER
from discreet.curator.synopsis.make import synopsis_facts
from discreet.curator.tags import name_of
from discreet.ledger.session_log import SessionLog
from discreet.noise.randomness import random_id
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.journal import Entry, answered
from discreet.queries.online.stored_construction import construction_from_dict, construction_to_dict
from discreet.queries.record_count import MOST
from discreet.queries.workload.cell_counts import cell_counts
from discreet.queries.workload.universe import Universe
from discreet.relational.database import private_tables
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.identity.former import former_identity
from discreet.relational.identity.identity import identity
from discreet.relational.plan.keyed_universe import KeyedUniverse, question_of, universe_from
from discreet.release.guarantee import guarantee_from_dict, guarantee_to_dict

if TYPE_CHECKING:
    from discreet.curator.session import Session

Counts = NDArray[np.int64]


def begin_conversation(
    session: Session,
    universe: Universe,
    make: Callable[..., Any],
    spend: Guarantee,
    *,
    questions: int,
    confidence: float,
    asker: str,
    purpose: str | None,
) -> Conversation:
    """Pay for a conversation and begin it."""
    session._purse.check(spend)
    database = session._database
    source = TableCounts.of(universe, session._question, database.engine, private_tables(database))
    assert isinstance(universe, KeyedUniverse)  # else there is nothing to count
    universe.require_explicit(method="a conversation")
    spend = as_written(spend)
    planned = {
        "questions": count("questions", questions),
        "confidence": float(probability("confidence", confidence)),
    }
    allowed = session._policies.admit(source.question, spend, asker=asker, purpose=purpose)
    mechanism = _made(make, session, source, spend, planned)
    session._scope.require_event(mechanism.event, session.unit)
    if session._holdings.randomness.private:  # test mode has no price
        session._purse.require_covered(spend, mechanism.event)
    source.text(universe.names[:1])  # what cannot be written is refused now
    session._payment.require_unchanged()
    kept = {
        "universe": list(universe.questions),
        "mechanism": construction_to_dict(mechanism),
        "spend": guarantee_to_dict(spend),
        "snapshot": session._snapshot(source.question),
        "question": identity(
            "universe", question=source.question, rows=session._rows(source.question)
        ),
        **planned,
    }
    name = session._account.reserve(
        asker=asker,
        question=f"conversation {random_id(96)}",
        charge=session._price(spend, (mechanism.event,)),
        event=mechanism.event.to_json(),
        detail={
            "mechanism": f"conversation about {' x '.join(universe.names)}",
            "spend": written(spend),
            "conversation": kept,
            **allowed,
        },
    )
    read = partial(session._payment.guarded, name)
    return _continued(session, name, source, mechanism, planned=planned, read=read)


def resume_conversation(session: Session, name: str, *, asker: str) -> Conversation:
    """Go on with a conversation that was paid from here by the same asker."""
    paid = paid_dialogue(session._account, name, Dialogue.CONVERSATION, asker=asker)
    kept = paid["detail"]["conversation"]
    universe = universe_from(kept["universe"], session._question)
    question = question_of(universe, session._question)
    purpose = paid["detail"].get("purpose")
    session._policies.admit_resumed(question, asker=asker, purpose=purpose)
    now = identity("universe", question=question, rows=session._rows(question))
    if kept["question"] not in (now, former_identity(question, session.unit)):
        raise InvalidParameter(
            code="universe_differs",
            expectation="tables that are declared as when the conversation was opened",
            received=list(universe.names),
            remedy="Declare the columns as they were, or open a new conversation.",
        )
    if session._snapshot(question) != kept["snapshot"]:
        raise InvalidParameter(
            code="data_changed",
            expectation="the tables as they were when the conversation was opened",
            received=list(universe.names),
            remedy="Open a new conversation. For tables that are not files, name their version: "
            "dp.table(..., snapshot=...).",
        )
    session._payment.require_unchanged()
    mechanism = construction_from_dict(
        kept["mechanism"],
        spend=guarantee_from_dict(kept["spend"]),
        randomness=session._holdings.randomness,
    )
    database = session._database
    source = TableCounts(universe, question, database.engine, private=private_tables(database))
    read = partial(_read_again, session, name)
    return _continued(session, name, source, mechanism, planned=kept, read=read)


def _continued(
    session: Session,
    name: str,
    source: TableCounts,
    mechanism: OnlineConstruction,
    *,
    planned: Mapping[str, Any],
    read: Callable[[Callable[[], Counts]], Counts],
) -> Conversation:
    """Claim it, count its records, and be where its notebook ends."""
    pages = _Pages(session._account.session_log(name))
    salted = replace(source, salt=pages.salt(source.salt))
    counts = read(lambda: _counted(salted))
    live = mechanism.open(counts, pages)
    plan = Plan(
        universe=source.universe,
        guarantee=mechanism.spend.per(session.unit),
        questions=int(planned["questions"]),
        confidence=float(planned["confidence"]),
        within=mechanism.within(
            confidence=planned["confidence"], questions=int(planned["questions"])
        ),
        facts=synopsis_facts(session, source, mechanism=name_of(mechanism), rmse=None),
    )
    close = partial(session._account.commit, name, {"closed": True})
    return Conversation(name, plan, live, pages, close, asked=pages.asked())


def _read_again(session: Session, name: str, compute: Callable[[], Counts]) -> Counts:
    """Count again; a failure says nothing, and leaves the conversation as it was."""
    try:
        with session._database.engine.snapshot():
            counts = compute()
            session._payment.require_unchanged()
    except Exception:
        OWNER.exception("conversation %s could not be resumed", name)
    else:
        return counts
    raise EngineFailed(
        code="engine_failed",
        expectation="an engine that answers",
        remedy="Resume it again. The data owner's log says what happened.",
    )


def _counted(source: TableCounts) -> Counts:
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
    """A notebook as the journal of the mechanism, with a page of the curator's own."""

    notebook: SessionLog

    def entries(self) -> Sequence[Entry]:
        return [entry for entry in self.notebook.entries() if entry.get("did") != "salt"]

    def write(self, entry: Entry) -> None:
        self.notebook.write(entry)

    def keep(self, entry: Entry) -> None:
        self.notebook.keep(entry)

    def salt(self, fresh: int) -> int:
        """The salt that chose the records, kept before the first count; a fresh one if none is."""
        for entry in self.notebook.entries():
            if entry.get("did") == "salt":
                return int(entry["salt"])
        self.notebook.keep({"did": "salt", "salt": fresh})
        return fresh

    def asked(self) -> int:
        """How many questions were answered."""
        return sum(map(answered, self.entries()))


def _made(
    make: Callable[..., Any],
    session: Session,
    source: TableCounts,
    spend: Guarantee,
    planned: Mapping[str, Any],
) -> OnlineConstruction:
    """The mechanism, with everything that follows from the tables."""
    keywords: dict[str, Any] = {
        "cells": source.universe.size,
        "spend": spend,
        "size": source.size,
        "records": source.records,
        "randomness": session._holdings.randomness,
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
