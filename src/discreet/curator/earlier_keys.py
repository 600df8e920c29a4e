"""Answers that were bought by earlier versions: over other keys, under other limits or rules.

Then an answer had every listed key, whatever conditions permit; one limit served all tables and all
steps; rows of a person beyond the limits were left out by a hash of their content; and two
quantiles of a column were chosen one by one, more of them by recursion. Such an answer stays paid
for: asked again, it comes back as it was made, with the rows that its keys had then. Whoever has
none gets, and pays for, the keys that the conditions permit, the limits that follow from the
tables, and the rules of today.

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
from discreet.relational.aggregates.quantile_rule import QuantileRule
from discreet.relational.aggregates.ranked import chosen_together
from discreet.relational.bounding.rule import BoundingRule
from discreet.relational.plan.query import Query
from discreet.relational.planning.rules import CURRENT, PlanningRules

Plan = TypeVar("Plan")


def as_bought(
    context: Context,
    queries: tuple[Query, ...],
    plan: Callable[[tuple[Query, ...], PlanningRules], Plan],
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
    earlier: Sequence[tuple[tuple[Query, ...], PlanningRules]],
    plan: Callable[[tuple[Query, ...], PlanningRules], Plan],
    known: Callable[[Plan], Known],
    analyst: str,
) -> Plan | None:
    """The first of the earlier plans whose answer this analyst has; None where there is none."""
    for asked, rules in earlier:
        try:
            before = plan(asked, rules)
        except DiscreetError:
            continue  # what cannot be planned was not bought
        if _is_stored(context, known(before), analyst):
            return before
    return None


def _earlier(
    context: Context, queries: tuple[Query, ...]
) -> list[tuple[tuple[Query, ...], PlanningRules]]:
    """As they may have been asked; in a ledger that began with today's forms, in no other way.

    Whoever changes which keys or limits a query has, or a rule, gives ``IDENTITIES`` another name.
    """
    if context.ledger.identities == IDENTITIES:
        return []
    forms, before = [queries], tuple(query.as_before() for query in queries)
    if any(query is not None for query in before):
        forms.append(tuple(one or query for one, query in zip(before, queries, strict=True)))
    bounding, quantiles = [CURRENT.bounding], [CURRENT.quantiles]
    if any(isinstance(add_remove(query.unit), Person) for query in queries):
        bounding.append(BoundingRule.CONTENT_HASH)
    if any(_has_several_quantiles(part) for query in queries for part in query.parts):
        quantiles.append(QuantileRule.ROUNDS)
    rules = [PlanningRules(rule, chosen) for rule in bounding for chosen in quantiles]
    return [(form, each) for form in forms for each in rules][1:]


def _has_several_quantiles(query: Query) -> bool:
    return any(len(group) > 1 for group in chosen_together(query.aggregates))


def _is_stored(context: Context, known: Known, analyst: str) -> bool:
    return known.stored(context.account, context.ledger, analyst=analyst) is not None
