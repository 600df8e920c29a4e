"""A query in SQL: planned from the text, the spend and the schema, then bought and read.

Source: contract, "Spending"; 000a:C12, 004d:F15, D2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.accuracy import NO_GOAL, AccuracyGoal, cheapest
from discreet.curator.budget import as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.left_out import (
    describe_left_out_report,
    left_out_release,
    reported,
    require_left_out,
)
from discreet.curator.paid_before import PaidBefore
from discreet.curator.public_size import people_at_most
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.statement import bounded_by, statement
from discreet.curator.stored_answer import Known, Stored
from discreet.curator.warnings import warnings_of
from discreet.noise.randomness import random_id
from discreet.relational.answers.table_columns import columns_of, try_out
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.identity.identity import (
    CanonicalText,
    both_identities,
    identity,
    question_texts,
)
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.plan.query import Query, QueryOverAnswers
from discreet.relational.planning.discovered_keys import planned_query_for
from discreet.relational.planning.left_out import with_left_out
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery
from discreet.relational.planning.stored_allocation import (
    allocated,
    by_measure,
    in_order,
    measure_order,
)
from discreet.relational.planning.together import PlannedTogether
from discreet.relational.planning.top_k import Ranking
from discreet.relational.sql.listed_constants import require_listed
from discreet.relational.sql.privacy_clause import agreed, opened
from discreet.release import Release
from discreet.release.confidence import confidence_level
from discreet.release.promise import promised_by

Result = TypeVar("Result")
_ASKED = "asked"
"""Where a release in the ledger keeps the identity of the whole question it was made for."""
_ORDER = "measures"
"""Where it keeps which measure each of its noisy values belongs to."""


def answer_sql(
    context: Context,
    text: Asked,
    *,
    spend: Guarantee | None,
    goal: AccuracyGoal = NO_GOAL,
    confidence: float,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None = None,
    left_out: LeftOut | None = None,
) -> Release:
    """The release of a query; the stored one, byte for byte, if this analyst has it."""
    text = text_of(text)
    query, plan = asked_sql(context, text, spend, goal, left_out)
    planned = plan(query)
    if goal.accuracy is None:
        query, planned = _with_all_columns(context, text, (query, planned), plan, analyst)
    goal.require_affordable(planned.price)
    level = confidence_level(confidence)
    release = partial(_release, context, text=text, confidence=level)
    known = cache(lambda: known_private(context, query, planned))

    def answered() -> tuple[Release, Any]:
        measured = planned.measurement(context.database).release(context.database)
        return release(planned, measured, number=random_id(96)), measured

    def read_stored_release(stored: Stored) -> tuple[Release, Any]:
        """As it was made; at another confidence or asked differently, from the same values."""
        made, measured = Release.from_json(str(stored["release"])), stored["measured"]
        if made.confidence != level or stored.get(_ASKED) not in (None, known().whole_identity):
            values = MeasuredValues.from_dict(measured)
            order = stored.get(_ORDER)
            about = (planned, values) if order is None else in_order(planned, values, order)
            made = release(*about, number=made.id)
        return made, measured

    def offer() -> Offer[Callable[[], tuple[Release, Any]]]:
        try_out(planned, level)
        return offer_of(context, planned, answered, text)

    bought, _ = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=planned.price,
            reads=(query,),
            offer=offer,
            paid_before=paid_before,
        ),
        Storage(
            known=known,
            to_dict=lambda made: {
                "release": made[0].to_json(),
                "measured": made[1].to_dict(),
                _ASKED: known().whole_identity,
                _ORDER: measure_order(planned),
            },
            from_dict=read_stored_release,
        ),
    )
    return bought


def _with_all_columns(
    context: Context,
    text: str,
    now: tuple[Query, PlannedQuery],
    plan: Callable[[Query], PlannedQuery],
    analyst: str,
) -> tuple[Query, PlannedQuery]:
    """The inner query with all of its columns, if this analyst paid for these and not for fewer."""
    plain, clause = opened(text)
    whole = None if isinstance(now[0], QueryOverAnswers) else context.as_written(plain)
    if whole is None or len(whole.parts) > 1:
        return now
    if clause is not None:
        whole = clause.narrowed(whole)
    find = partial(Known.stored, account=context.account, analyst=analyst)
    if find(known_private(context, *now)) is not None:
        return now
    try:
        other = (whole, plan(whole))
    except DiscreetError:
        return now
    return now if find(known_private(context, *other)) is None else other


def planned_sql(
    context: Context,
    text: Asked,
    spend: Guarantee | None,
    goal: AccuracyGoal = NO_GOAL,
    left_out: LeftOut | None = None,
) -> tuple[Query, PlannedQuery]:
    """What a text asks for, and how it would be answered at a spend, or within an accuracy."""
    query, plan = asked_sql(context, text, spend, goal, left_out)
    return query, plan(query)


def asked_sql(
    context: Context,
    text: Asked,
    spend: Guarantee | None,
    goal: AccuracyGoal = NO_GOAL,
    left_out: LeftOut | None = None,
) -> tuple[Query, Callable[[Query], PlannedQuery]]:
    """What a text asks for, and what plans it at that spend, or within that accuracy."""
    context.require_open()
    require_left_out(left_out)
    text, clause = opened(text_of(text))
    spend = agreed(clause, spend, goal.accuracy)
    if (spend is None) == (goal.accuracy is None):
        raise InvalidParameter(
            code="spend_or_accuracy",
            expectation="either spend= or accuracy=; there is no default price",
            remedy="Write spend=dp.PureDP(epsilon=0.5), or accuracy={'n': dp.Within(5)}.",
        )
    query = context.question(text)
    if clause is not None:
        query = clause.narrowed(query)
    if spend is not None:
        return query, lambda query: planned_at(context, query, spend, left_out)

    def within(query: Query) -> PlannedQuery:
        asked = partial(planned_at, context, left_out=left_out)
        return cheapest(query, goal, context.budget, asked)

    return query, within


def planned_at(
    context: Context,
    query: Query,
    spend: Guarantee,
    left_out: LeftOut | None = None,
) -> PlannedQuery:
    """How a query would be answered at a spend, of which a report takes its share."""
    context.budget.check(spend)
    if not isinstance(query.keys, KeySet):
        context.budget.require_delta()

    def plan(spend: Guarantee) -> PlannedQuery:
        return planned_query_for(query, spend, context.rows_at_most, context.randomness)

    written = as_written(spend)
    return plan(written) if left_out is None else with_left_out(left_out, written, plan)


def offer_of(
    context: Context, planned: PlannedQuery, product: Callable[[], Result], words: str
) -> Offer[Callable[[], Result]]:
    """A planned query as it is offered: what cannot be compiled or drawn is refused here."""
    require_listed(planned.query)
    planned.preflight(context.database)
    if planned.left_out is not None:
        planned.left_out.preflight(context.database)
    return Offer(product, planned.paid_event, {"sql": words}, charges=planned.paid_charges)


def known_query(context: Context, verb: str, query: Query, planned: PlannedQuery) -> Known:
    """The identity of a query with its price and split, and the split itself."""
    terms, allocation = _terms(context, query, planned), allocated(planned)
    parts = {
        "question": CanonicalText.of(query),
        "spend": terms.pop("spend"),
        "allocation": CanonicalText.of(allocation),
        **terms,
    }
    name, anywhere = both_identities(verb, parts)
    return Known(
        name,
        allocation,
        any_snapshot=anywhere,
        snapshots=context.snapshot_names(tables_read(query)),
    )


def known_private(context: Context, query: Query, planned: PlannedQuery) -> Known:
    """The identity of what a query measures; of all of it where keys are ranked.

    A ranking chooses as many keys as LIMIT says, so its columns, order and limit are private. Of
    several queries together all of the question must be the same.
    """
    if isinstance(planned, Ranking | PlannedTogether):
        return known_query(context, "sql", query, planned)
    terms, told = _terms(context, query, planned), allocated(planned)
    split, spend = by_measure(planned, told), terms.pop("spend")
    question, private = question_texts(query)
    whole = {"question": question, "spend": spend, "allocation": told, **terms}
    parts = {"private": private, "spend": spend, "split": CanonicalText.of(split), **terms}
    name, anywhere = both_identities("sql", parts)
    return Known(
        name,
        allocation=split,
        any_snapshot=anywhere,
        snapshots=context.snapshot_names(tables_read(query)),
        whole=identity("sql", whole),
    )


def _terms(context: Context, query: Query, planned: PlannedQuery) -> dict[str, CanonicalText]:
    """What makes two purchases of one question differ, each written once."""
    tables = tables_read(query)
    terms: dict[str, object] = {
        "spend": planned.price,
        "snapshot": context.snapshot(tables),
        "rows": context.declared_rows(tables),
        **bounded_by(planned),
        **reported(planned),
    }
    return {name: CanonicalText.of(part) for name, part in terms.items()}


def _release(
    context: Context,
    planned: PlannedQuery,
    measured: MeasuredValues,
    *,
    number: str,
    text: str,
    confidence: float,
) -> Release:
    """The release of noisy values: post-processing only."""
    planned = planned.answered(measured)
    columns = columns_of(planned, measured, number, confidence)
    answers = columns.answers()
    report = left_out_release(
        planned, measured, context.budget, number=number, text=text, confidence=confidence
    )
    return Release(
        id=number,
        query=text,
        keys=columns.keys(),
        answers=answers,
        confidence=confidence,
        guarantee=promised_by(planned.price, planned.paid_charges).per(context.unit),
        event=planned.paid_event,
        warnings=warnings_of(planned, answers, people_at_most(context, planned.query)),
        statement={**statement(planned, context.budget), **describe_left_out_report(report)},
        left_out=report,
    )
