"""Making a synopsis: translate, price, find again or count once, release, keep.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/counting.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, from_json
from discreet.core.guarantee import Guarantee
from discreet.core.written import written
from discreet.curator.budget import as_written
from discreet.curator.statement import VERSION, software
from discreet.curator.synopsis.fingerprint import described, requested
from discreet.curator.synopsis.mechanism import (
    GIVEN,
    Mechanism,
    expected_error,
    mechanism_from,
)
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.curator.tags import name_of
from discreet.noise.randomness import random_id
from discreet.queries.synopses.synopsis import Synopsis, recalled
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.relational.database import private_tables
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.identity.former import former_identity
from discreet.relational.identity.identity import identity
from discreet.relational.plan.nodes import scans
from discreet.release.guarantee import guarantee_text, protection_text

if TYPE_CHECKING:
    from discreet.curator.session import Session


def make_synopsis(
    session: Session,
    workload: Workload,
    make: Callable[..., Any],
    spend: Guarantee,
    *,
    asker: str,
    purpose: str | None,
) -> SynopsisRelease:
    """Count, release and keep a synopsis; or find the one that the asker already has."""
    source = counts_of(session, workload)
    session._purse.check(spend)
    spend = as_written(spend)
    allowed = session._policies.admit(source.question, spend, asker=asker, purpose=purpose)
    require_own(session, make)
    same, former = _identity(session, make, workload, source, spend)
    stored = session._account.find(asker=asker, question=same)
    if stored is None and former is not None:
        stored = session._account.find(asker=asker, question=former)
    if stored is not None:
        return _made(session, source, spend, _Kept.from_plain(stored, source.universe))
    mechanism = priced_mechanism(session, make, workload, source=source, spend=spend)
    event = mechanism.event
    number, name = random_id(96), name_of(mechanism)
    rmse = expected_error(mechanism)
    kept = session._payment.paid(
        lambda: _Kept(number, name, _released(mechanism, source), event, rmse),
        _Kept.plain,
        asker=asker,
        question=same,
        charge=session._price(spend, (event,)),
        event=event,
        detail={"mechanism": words(name, source), "spend": written(spend), **allowed},
    )
    return _made(session, source, spend, kept)


def require_own(session: Session, make: Callable[..., Any] | None) -> None:
    """Hold a mechanism of one's own to the rules of measurements: nobody can say what it reads."""
    if make is not None and requested(make, given=GIVEN) is None:
        session._require_own()


def priced_mechanism(
    session: Session,
    make: Callable[..., Any] | None,
    workload: Workload,
    *,
    source: TableCounts,
    spend: Guarantee,
) -> Mechanism:
    """The mechanism for these tables, if it keeps to the spend; reads public facts alone."""
    randomness = session._holdings.randomness
    mechanism = mechanism_from(make, workload, spend=spend, source=source, randomness=randomness)
    event = mechanism.event
    session._scope.require_event(event, session.unit)
    if randomness.private:  # test mode has no price
        session._purse.require_covered(spend, event)
    source.text(workload.universe.names[:1])  # what cannot be written is refused now
    return mechanism


@dataclass(frozen=True)
class _Kept:
    """What the ledger keeps of a synopsis."""

    number: str
    mechanism: str
    synopsis: Synopsis
    event: Event
    rmse: float | None

    def plain(self) -> dict[str, object]:
        return {
            "synopsis": self.number,
            "mechanism": self.mechanism,
            "plain": dict(self.synopsis.plain()),
            "event": self.event.to_json(),
            "rmse": self.rmse,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], universe: Universe) -> _Kept:
        event = from_json(plain["event"])
        synopsis = recalled(plain["plain"], universe, event)
        return cls(plain["synopsis"], plain["mechanism"], synopsis, event, plain["rmse"])


def _made(session: Session, source: TableCounts, spend: Guarantee, kept: _Kept) -> SynopsisRelease:
    """The release of what is kept: post-processing only."""
    return SynopsisRelease(
        id=kept.number,
        question=words(kept.mechanism, source),
        synopsis=kept.synopsis,
        guarantee=spend.per(session.unit),
        event=kept.event,
        rmse=kept.rmse,
        facts=synopsis_facts(session, source, mechanism=kept.mechanism, rmse=kept.rmse),
    )


def counts_of(session: Session, workload: object) -> TableCounts:
    """What counts the cells of a workload's universe; nothing is counted yet."""
    if not isinstance(workload, Workload):
        raise InvalidParameter(
            code="not_a_workload",
            expectation="a workload over a universe of the curator's tables",
            received=type(workload).__name__,
            remedy='Write dp.queries.Workload.marginals(curator.universe("adult", "sex"), 1).',
        )
    database = session._database
    return TableCounts.of(
        workload.universe, session._question, database.engine, private_tables(database)
    )


def _released(mechanism: Mechanism, source: TableCounts) -> Synopsis:
    """What reads data: all counts of one release see one state of the tables."""
    with source.engine.snapshot():
        return mechanism.release(source)


def _identity(
    session: Session,
    make: Callable[..., Any],
    workload: Workload,
    source: TableCounts,
    spend: Guarantee,
) -> tuple[str, str | None]:
    """Equal for the same synopsis of the same data; new each time where that is unsure.

    What is asked is compared, not what follows from it: a strategy that is searched for may
    differ in its last digits between machines. What is kept needs no split to be read: estimates
    stand in it as numbers, beside their event. The second text is the former identity.
    """
    asked = requested(make, given=GIVEN)
    about = described((type(workload), workload.universe.attributes, workload.products))
    if asked is None or about is None:
        return f"synopsis {random_id(96)}", None
    question, snapshot, unit = source.question, session._snapshot(source.question), session.unit
    same = identity(
        "synopsis",
        question=question,
        mechanism=asked,
        workload=about,
        spend=spend,
        snapshot=snapshot,
        rows=session._rows(question),
    )
    return same, former_identity(question, "synopsis", asked, about, spend, snapshot, unit)


def words(mechanism: str, source: TableCounts) -> str:
    """What is made, in words."""
    read = dict.fromkeys(scan.table for scan in scans(source.question.rows))
    cells = f"{source.universe.size:,} cells"
    return (
        f"synopsis of {', '.join(read)} by {mechanism}: "
        f"{' x '.join(source.universe.names)}, {cells}"
    )


def synopsis_facts(
    session: Session, source: TableCounts, *, mechanism: str, rmse: float | None
) -> dict[str, Any]:
    """The public facts of the privacy statement."""
    read = {scan.table: scan for scan in scans(source.question.rows)}
    error = "not foretold here" if rmse is None else f"about {rmse:.4g}"
    return {
        "version": VERSION,
        "software": software(),
        "private": session._holdings.randomness.private,
        "protects": protection_text(session.unit),
        "budget": guarantee_text(session._purse.budget),
        "budget_adds_up": session._purse.name,
        "synopsis": {"attributes": list(source.universe.names), "rmse": rmse},
        "cells": source.universe.size,
        "measures": [
            {
                "measure": "number of records",
                "columns": ["n"],
                "mechanism": mechanism,
                "rows_per_unit": source.records,
                "error": f"of a query that was planned for, root mean square: {error}",
            }
        ],
        "tables": [name for name, scan in read.items() if scan.private],
        "public_tables": [name for name, scan in read.items() if not scan.private],
        "reached_through": [name for name, scan in read.items() if scan.route is not None],
    }
