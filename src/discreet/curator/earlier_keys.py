"""Answers that were bought by earlier versions: over other keys, under other limits or rules.

Then an answer had every listed key, whatever conditions permit; one limit served all tables and all
steps; and rows of a person beyond the limits were left out by a hash of their content. Such an
answer stays paid for: asked again, it comes back as it was made, with the rows that its keys had
then. Whoever has none gets, and pays for, the keys that the conditions permit, the limits that
follow from the tables, and the rule of today.

Source: contract, "Spending" (identical questions), "Columns" (public keys), "Bounding inside the
engine".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from discreet.core.errors import DiscreetError
from discreet.core.unit import Person, add_remove
from discreet.curator.budget import IDENTITIES
from discreet.curator.context import Context
from discreet.curator.stored_answer import Known
from discreet.relational.bounding.rule import CURRENT, BoundingRule
from discreet.relational.plan.query import Query

Plan = TypeVar("Plan")


def as_bought(
    context: Context,
    queries: tuple[Query, ...],
    plan: Callable[[tuple[Query, ...], BoundingRule], Plan],
    known: Callable[[Plan], Known],
    *,
    analyst: str,
) -> Plan:
    """The plan of queries as they are; as they once were, if this analyst bought only that.

    A query that is refused today, since sums by weight need more room, may have been bought then.
    """
    earlier = _earlier(context, queries)
    try:
        now = plan(queries, CURRENT)
    except DiscreetError:
        before = _bought(context, earlier, plan, known, analyst)
        if before is None:
            raise
        return before
    if not earlier or _is_stored(context, known(now), analyst):
        return now
    return _bought(context, earlier, plan, known, analyst) or now


def _bought(
    context: Context,
    earlier: Sequence[tuple[tuple[Query, ...], BoundingRule]],
    plan: Callable[[tuple[Query, ...], BoundingRule], Plan],
    known: Callable[[Plan], Known],
    analyst: str,
) -> Plan | None:
    """The first of the earlier plans whose answer this analyst has; None where there is none."""
    for asked, rule in earlier:
        try:
            before = plan(asked, rule)
        except DiscreetError:
            continue  # what cannot be planned was not bought
        if _is_stored(context, known(before), analyst):
            return before
    return None


def _earlier(
    context: Context, queries: tuple[Query, ...]
) -> list[tuple[tuple[Query, ...], BoundingRule]]:
    """As they may have been asked; in a ledger that began with today's forms, in no other way.

    Whoever changes which keys or limits a query has gives ``IDENTITIES`` another name.
    """
    if context.ledger.identities == IDENTITIES:
        return []
    forms, before = [queries], tuple(query.as_before() for query in queries)
    if any(query is not None for query in before):
        forms.append(tuple(one or query for one, query in zip(before, queries, strict=True)))
    rules = [CURRENT]
    if any(isinstance(add_remove(query.unit), Person) for query in queries):
        rules.append(BoundingRule.CONTENT_HASH)
    return [(form, rule) for form in forms for rule in rules][1:]


def _is_stored(context: Context, known: Known, analyst: str) -> bool:
    return known.stored(context.account, context.ledger, analyst=analyst) is not None
