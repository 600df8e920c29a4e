"""Making a synopsis: translate, price, find again or count once, release, keep.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/counting.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, from_json
from discreet.core.guarantee import Guarantee
from discreet.curator.budget import as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.paid_before import PaidBefore
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.statement import VERSION, share_stated
from discreet.curator.stored_answer import Known
from discreet.curator.synopsis.fingerprint import fingerprint_of, request_fingerprint
from discreet.curator.synopsis.mechanism import (
    GIVEN,
    SynopsisMaker,
    expected_error,
    mechanism_from,
)
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.curator.synopsis.universe import counts_of
from discreet.curator.tags import name_of
from discreet.mechanisms.additive import Additive
from discreet.noise.randomness import SYSTEM, random_id
from discreet.queries.synopses.synopsis import Synopsis, synopsis_from_dict
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.identity.identity import CanonicalText, any_snapshot, identity
from discreet.relational.plan.nodes import scans
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.release.promise import promised
from discreet.release.software import software


def make_synopsis(
    context: Context,
    workload: Workload,
    make: Callable[..., Any],
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None,
) -> SynopsisRelease:
    """Count, release and keep a synopsis; or find the one that the analyst already has."""
    source = workload_counts(context, workload)
    context.budget.check(spend)
    spend = as_written(spend)
    kept = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=spend,
            reads=(source.query,),
            offer=lambda: offer_of(
                mechanism_for(context, make, workload, source=source, spend=spend), source
            ),
            own=is_own(make),
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: _identify_synopsis(context, make, workload, source, spend),
            to_dict=_Kept.to_dict,
            from_dict=lambda stored: _Kept.from_dict(stored, source.universe),
        ),
    )
    return _make_release(context, source, spend, kept)


def is_own(make: Callable[..., Any] | None) -> bool:
    """Whether a mechanism is of somebody's own making, so that nobody can say what it reads."""
    return make is not None and request_fingerprint(make, given=GIVEN) is None


def mechanism_for(
    context: Context,
    make: Callable[..., Any] | None,
    workload: Workload,
    *,
    source: TableCounts,
    spend: Guarantee,
) -> SynopsisMaker:
    """The mechanism for these tables; reads public facts alone."""
    mechanism = mechanism_from(
        make,
        workload,
        spend=context.budget.as_paid(spend),
        source=source,
        randomness=context.randomness,
    )
    source.text(workload.universe.names[:1])  # what cannot be written is refused now
    _require_noise(mechanism)
    return mechanism


def _require_noise(mechanism: SynopsisMaker) -> None:
    """Draw noise for nothing, so that noise too wide to be drawn is refused now and not charged."""
    noise = getattr(mechanism, "noise", None)
    if isinstance(noise, Additive):
        replace(noise, randomness=SYSTEM).release(0)


def offer_of(mechanism: SynopsisMaker, source: TableCounts) -> Offer[Callable[[], _Kept]]:
    """A mechanism as it is offered."""
    event, name, rmse = mechanism.event, name_of(mechanism), expected_error(mechanism)
    return Offer(
        product=lambda: _Kept(random_id(96), name, _released(mechanism, source), event, rmse),
        event=event,
        detail={"mechanism": words(name, source)},
    )


@dataclass(frozen=True)
class _Kept:
    """What the ledger keeps of a synopsis."""

    number: str
    mechanism: str
    synopsis: Synopsis
    event: Event
    rmse: float | None

    def to_dict(self) -> dict[str, object]:
        return {
            "synopsis": self.number,
            "mechanism": self.mechanism,
            "plain": dict(self.synopsis.to_dict()),
            "event": self.event.to_json(),
            "rmse": self.rmse,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], universe: Universe) -> _Kept:
        event = from_json(plain["event"])
        synopsis = synopsis_from_dict(plain["plain"], universe, event)
        return cls(plain["synopsis"], plain["mechanism"], synopsis, event, plain["rmse"])


def _make_release(
    context: Context, source: TableCounts, spend: Guarantee, kept: _Kept
) -> SynopsisRelease:
    """The release of what is kept: post-processing only."""
    return SynopsisRelease(
        id=kept.number,
        query=words(kept.mechanism, source),
        synopsis=kept.synopsis,
        guarantee=promised(spend, kept.event).per(context.unit),
        event=kept.event,
        rmse=kept.rmse,
        facts=synopsis_facts(context, source, mechanism=kept.mechanism, rmse=kept.rmse),
    )


def workload_counts(context: Context, workload: object) -> TableCounts:
    """What counts the cells of a workload's universe; nothing is counted yet."""
    if not isinstance(workload, Workload):
        raise InvalidParameter(
            code="not_a_workload",
            expectation="a workload over a universe of the curator's tables",
            received=type(workload).__name__,
            remedy='Write dp.queries.Workload.marginals(curator.universe("adult", "sex"), 1).',
        )
    return counts_of(context, workload.universe)


def _released(mechanism: SynopsisMaker, source: TableCounts) -> Synopsis:
    """What reads data: all counts of one release see one state of the tables."""
    with source.engine.snapshot():
        return mechanism.release(source)


def _identify_synopsis(
    context: Context,
    make: Callable[..., Any],
    workload: Workload,
    source: TableCounts,
    spend: Guarantee,
) -> Known:
    """Equal for the same synopsis of the same data; new each time where that is unsure.

    What is asked is compared, not what follows from it: a strategy that is searched for may
    differ in its last digits between machines. What is kept needs no split to be read: estimates
    stand in it as numbers, beside their event.
    """
    asked = request_fingerprint(make, given=GIVEN)
    about = fingerprint_of((type(workload), workload.universe.attributes, workload.products))
    if asked is None or about is None:
        return Known(f"synopsis {random_id(96)}", anew=True)
    query = source.query
    tables = tables_read(query)
    snapshot = context.snapshot(tables)
    parts = {
        "question": CanonicalText.of(query),
        "mechanism": asked,
        "workload": about,
        "spend": spend,
        "snapshot": snapshot,
        "rows": context.declared_rows(tables),
    }
    return Known(
        identity("synopsis", parts),
        any_snapshot=any_snapshot("synopsis", parts),
        snapshots=context.snapshot_names(tables),
    )


def words(mechanism: str, source: TableCounts) -> str:
    """What is made, in words."""
    read = dict.fromkeys(scan.table for scan in scans(source.query.rows))
    cells = f"{source.universe.size:,} cells"
    return (
        f"synopsis of {', '.join(read)} by {mechanism}: "
        f"{' x '.join(source.universe.names)}, {cells}"
    )


def synopsis_facts(
    context: Context, source: TableCounts, *, mechanism: str, rmse: float | None
) -> dict[str, Any]:
    """The public facts of the privacy statement."""
    read = {scan.table: scan for scan in scans(source.query.rows)}
    error = "not predicted here" if rmse is None else f"about {rmse:.4g}"
    return {
        "version": VERSION,
        "software": software(),
        "private": context.randomness.private,
        "protects": protection_text(context.unit),
        "budget": guarantee_text(context.budget.total),
        "budget_adds_up": context.budget.name,
        **share_stated(context.budget),
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
