"""Answers that were bought over every listed key, before conditions narrowed the keys.

Such an answer stays paid for: asked again, it comes back as it was made, with the rows that its
keys had then. Whoever has none gets, and pays for, the keys that the conditions permit.

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
    """The plan of queries as they are; over all keys, if this analyst bought only that before."""
    now = plan(queries)
    if all(query.listed is None for query in queries):
        return now
    if known(now).stored(context.account, context.ledger, analyst=analyst) is not None:
        return now
    before = plan(tuple(query.with_all_keys() or query for query in queries))
    stored = known(before).stored(context.account, context.ledger, analyst=analyst)
    return now if stored is None else before
