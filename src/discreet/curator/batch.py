"""Several questions at one price: releases by name, made to agree where they are related.

Source: contract, "Spending"; 004d:D21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import positive
from discreet.curator.budget import PrivacyBudget, as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.left_out import describe_left_out_report, left_out_release, require_left_out
from discreet.curator.paid_before import PaidBefore
from discreet.curator.public_size import people_at_most
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.sql import planned_at
from discreet.curator.statement import bounded_by, statement
from discreet.curator.stored_answer import Known
from discreet.curator.warnings import warnings_of
from discreet.noise.randomness import random_id
from discreet.relational.answers.agreed_columns import Agreed, AgreedColumns
from discreet.relational.answers.columns import Columns
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.identity.identity import CanonicalText, any_snapshot, identity
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.plan.query import Query
from discreet.relational.planning.batch import Drawn
from discreet.relational.planning.batch import PlannedBatch as Questions
from discreet.relational.planning.left_out import reports_of
from discreet.relational.planning.planned_query import MeasuredValues
from discreet.relational.planning.stored_allocation import allocated_together
from discreet.relational.sql.listed_constants import require_listed
from discreet.release import Release
from discreet.release.batch import Batch
from discreet.release.confidence import confidence_level
from discreet.release.promise import promised_by

_MOST_APART = 1e9


def answer_batch(
    context: Context,
    questions: Mapping[str, Asked],
    *,
    spend: Guarantee,
    importance: Mapping[str, float] | None,
    confidence: float,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None,
    left_out: LeftOut | None = None,
) -> Batch:
    """The releases of several queries; the stored ones if this analyst has them."""
    require_left_out(left_out)
    texts = {name: text_of(text) for name, text in _require_names(questions).items()}
    weights = _weights(texts, importance)
    queries = tuple(_read_named_query(context, name, text) for name, text in texts.items())
    plan = planned_batch(context, queries, weights, spend, left_out=left_out)
    level = confidence_level(confidence)

    def offer() -> Offer[Callable[[], tuple[str, Drawn]]]:
        for name, query in zip(texts, queries, strict=True):
            with _named_in_refusals(name):
                require_listed(query)
        plan.preflight(context.database)
        return Offer(
            product=lambda: (
                random_id(96),
                plan.measurement(context.database).release(context.database),
            ),
            event=plan.paid_event,
            detail={"batch": texts},
            charges=plan.paid_charges,
        )

    number, drawn = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=plan.price,
            reads=queries,
            offer=offer,
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: known_batch(context, tuple(texts), plan),
            to_dict=lambda made: {"batch": made[0], "drawn": made[1].to_dict()},
            from_dict=lambda stored: (str(stored["batch"]), Drawn.from_dict(stored["drawn"])),
        ),
    )
    return _make_batch(texts, plan, drawn, context, number=number, confidence=level)


def _read_named_query(context: Context, name: str, text: str) -> Query:
    with _named_in_refusals(name):
        return context.query(text)


@contextmanager
def _named_in_refusals(name: str) -> Iterator[None]:
    """Among several questions a refusal says which one it is about."""
    try:
        yield
    except InvalidParameter as refusal:
        raise InvalidParameter(
            code=refusal.code,
            expectation=f'{refusal.expectation}, in the question "{name}"',
            received=refusal.received,
            remedy=refusal.remedy,
        ) from None


def planned_batch(
    context: Context,
    queries: tuple[Query, ...],
    weights: tuple[float, ...],
    spend: Guarantee,
    *,
    left_out: LeftOut | None = None,
) -> Questions:
    """How queries would be answered together at a spend."""
    planned_at(context, queries[0], spend)  # refuses what cannot be spent
    written = as_written(spend)
    rest, share = (written, None) if left_out is None else left_out.divided(written)
    plan = Questions(queries, weights, rest, context.rows_at_most, context.randomness)
    if left_out is None or share is None:
        return plan
    return replace(plan, left_out=reports_of(left_out, plan.planned, share, written))


def known_batch(context: Context, names: tuple[str, ...], plan: Questions) -> Known:
    """The identity of a batch with the names and the importance of its queries, and the split."""
    tables = tuple(map(tables_read, plan.questions))
    snapshots = tuple(map(context.snapshot, tables))
    allocation = allocated_together(plan)
    parts = {
        "questions": CanonicalText.of(plan.questions),
        "names": names,
        "importance": plan.importance,
        "spend": plan.price,
        "allocation": allocation,
        "snapshots": snapshots,
        "rows": tuple(map(context.declared_rows, tables)),
        **bounded_by(*plan.planned),
        **({} if plan.left_out is None else {"left_out": plan.left_out.requested_report}),
    }
    return Known(
        identity("batch", parts),
        allocation,
        any_snapshot=any_snapshot("batch", parts),
        snapshots=context.snapshot_names(frozenset().union(*tables)),
    )


def _make_batch(
    texts: Mapping[str, str],
    questions: Questions,
    drawn: Drawn,
    context: Context,
    *,
    number: str,
    confidence: float,
) -> Batch:
    """The releases of noisy values: post-processing only."""
    budget = context.budget
    guarantee = promised_by(questions.price, questions.paid_charges).per(budget.unit)
    agreed = _agreed(questions, drawn)
    plain: dict[str, Release] = {}
    best: dict[str, Release] = {}
    unprocessed = questions.unprocessed(drawn)
    for place, (name, text) in enumerate(texts.items()):
        planned = questions.planned[place]
        measured = unprocessed[place]
        views = [(plain, Columns(planned, measured, number, confidence))]
        if agreed[place]:
            views.append(
                (best, AgreedColumns(planned, measured, number, confidence, agreed[place]))
            )
        for kept, columns in views:
            answers = columns.answers()
            report = _report(
                questions, place, drawn, budget, number=number, text=text, confidence=confidence
            )
            kept[name] = Release(
                id=number,
                query=text,
                keys=columns.keys(),
                answers=answers,
                confidence=confidence,
                guarantee=guarantee,
                event=questions.paid_event,
                warnings=warnings_of(planned, answers, people_at_most(context, planned.query)),
                statement={**statement(planned, budget), **describe_left_out_report(report)},
                left_out=report,
            )
    releases = {name: best.get(name, plain[name]) for name in texts}
    return Batch(releases, plain, guarantee, questions.paid_event)


def _report(
    questions: Questions,
    place: int,
    drawn: Drawn,
    budget: PrivacyBudget,
    *,
    number: str,
    text: str,
    confidence: float,
) -> Release | None:
    """What limits left out of one of the questions; its draws have names within the batch."""
    if questions.left_out is None or drawn.left_out is None or not drawn.left_out[place]:
        return None
    planned = replace(questions.planned[place], left_out=questions.left_out.planned[place])
    values = MeasuredValues((), (), left_out=drawn.left_out[place])
    return left_out_release(
        planned,
        values,
        budget,
        number=number,
        text=text,
        confidence=confidence,
        name=f"left_out{place}",
    )


def _require_names(questions: object) -> Mapping[str, Any]:
    """Questions or their weights, if each has a name."""
    if isinstance(questions, Mapping):
        return questions
    raise InvalidParameter(
        code="batch_names",
        expectation="questions, and their importance, by name",
        received=type(questions).__name__,
        remedy='Write batch({"total": "SELECT ..."}, spend=...).',
    )


def _weights(texts: Mapping[str, str], given: Mapping[str, float] | None) -> tuple[float, ...]:
    """How much the cells of each question count, one unless given; no other names."""
    weights = {} if given is None else dict(_require_names(given))
    unknown = sorted(set(weights) - set(texts))
    if not texts or unknown:
        raise InvalidParameter(
            code="batch_names",
            expectation=f"at least one question, and only their names {list(texts)}",
            received=unknown,
            remedy='Write batch({"total": "SELECT ..."}, importance={"total": 2}, ...).',
        )
    found = tuple(float(positive("importance", weights.get(name, 1.0))) for name in texts)
    if max(found) > _MOST_APART * min(found):
        raise InvalidParameter(
            code="importance_too_uneven",
            expectation=f"importances that are within a factor of {_MOST_APART:g}",
            received=(min(found), max(found)),
            remedy="Ask what hardly matters in another batch, or not at all.",
        )
    return found


def _agreed(questions: Questions, drawn: Drawn) -> list[dict[int, Agreed]]:
    """The estimates by question and part."""
    values, terms = questions.agreed(drawn), questions.terms()
    return [
        {
            place: Agreed(values[slot][questions.find_asked_cells(number)], terms[slot])
            for place, slot in enumerate(slots)
            if slot in values
        }
        for number, slots in enumerate(questions.slots)
    ]
