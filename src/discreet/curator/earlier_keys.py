"""Answers that were bought by earlier versions, over other keys or under other limits.

Then an answer had every listed key, whatever conditions permit, and one limit served all tables
and all steps. Such an answer stays paid for: asked again, it comes back as it was made, with the
rows that its keys had then. Whoever has none gets, and pays for, the keys that the conditions
permit and the limits that follow from the tables.

Source: contract, "Spending" (identical questions), "Columns" (public keys).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from discreet.curator.context import Context
from discreet.curator.stored_answer import Known
from discreet.relational.plan.query import Query

Plan = TypeVar("Plan")


def as_bought(
    context: Context,
    queries: tuple[Query, ...],
    plan: Callable[[tuple[Query, ...]], Plan],
    known: Callable[[Plan], Known],
    *,
    analyst: str,
) -> Plan:
    """The plan of queries as they are; as they were, if this analyst bought only that before."""
    now = plan(queries)
    earlier = tuple(query.as_before() for query in queries)
    if all(query is None for query in earlier):
        return now
    if known(now).stored(context.account, context.ledger, analyst=analyst) is not None:
        return now
    before = plan(tuple(one or query for one, query in zip(earlier, queries, strict=True)))
    stored = known(before).stored(context.account, context.ledger, analyst=analyst)
    return now if stored is None else before
