"""What the limits left out, as a release beside the answer: columns, statement, identity.

Source: contract, "Spending" (identical questions), "What may be seen".
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.curator.budget import PrivacyBudget
from discreet.curator.statement import statement
from discreet.curator.tags import name_of
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.plan.query import KeyOutput, QueryOverAnswers
from discreet.relational.planning.left_out import PlannedLeftOut
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery, in_units
from discreet.relational.post_processing.shown_names import shown_names
from discreet.release import Release, ReleasedColumn
from discreet.release.formula import NoisyMeasure
from discreet.release.guarantee import guarantee_text
from discreet.release.promise import promised_by
from discreet.release.software import software

_PEOPLE = "people of whom a limit leaves something out"
_ROWS = "rows that do not count"


def require_left_out(left_out: object) -> None:
    """Refuse what is no wish for a report."""
    if left_out is not None and not isinstance(left_out, LeftOut):
        raise InvalidParameter(
            code="left_out_misread",
            expectation="left_out=dp.LeftOut(...), or nothing",
            received=type(left_out).__name__,
            remedy="Write left_out=dp.LeftOut(share=0.1, rows_at_most=100).",
        )


def reported(planned: PlannedQuery) -> dict[str, Any]:
    """The report as part of a question's identity; nothing where there is none."""
    return {} if planned.left_out is None else {"left_out": planned.left_out.requested_report}


def left_out_release(
    planned: PlannedQuery,
    measured: MeasuredValues,
    budget: PrivacyBudget,
    *,
    number: str,
    text: str,
    confidence: float,
    name: str = "left_out",
) -> Release | None:
    """The report of noisy values that were paid for; None where none were.

    Its draws are known under ``name`` among those of the release ``number``.
    """
    report = planned.left_out
    if not isinstance(report, PlannedLeftOut) or measured.left_out is None:
        return None
    answers = []
    for (column, noised), values in zip(
        report.name_report_columns(), measured.left_out, strict=True
    ):
        shown = tuple(in_units(values, noised).tolist())
        term = NoisyMeasure(number, f"{name}.{column}", noised.distribution, shown)
        answers.append(
            ReleasedColumn.linear(
                column, [(1, term)], within=(0, math.inf), confidence=confidence, whole=True
            )
        )
    return Release(
        id=number,
        query=text,
        keys=_keys(planned, report),
        answers=tuple(_explained(answer, report) for answer in answers),
        confidence=confidence,
        guarantee=promised_by(report.spend, report.charges).per(budget.unit),
        event=report.event,
        statement=_statement(planned, report, budget),
    )


def describe_left_out_report(release: Release | None) -> dict[str, Any]:
    """What the statement of the answer says of its report: numbers that were paid for."""
    if release is None:
        return {}
    found: dict[str, Any] = {"price": guarantee_text(release.guarantee)}
    for answer in release.answers:
        width = answer.interval.half_width  # type: ignore[union-attr]
        found[answer.name] = {"values": list(answer.values), "half_width": width}
    return {"left_out": found}


def _explained(answer: ReleasedColumn, report: PlannedLeftOut) -> ReleasedColumn:
    words = _PEOPLE
    if answer.name == "rows_at_least":
        words = f"{_ROWS}, {report.rows_at_most:,} of one person at most"
    elif answer.name == "people_at_least":
        words += f", one person in {report.groups:,} groups at most"
    return replace(answer, note=f"{words}; {answer.note}")


def _keys(planned: PlannedQuery, report: PlannedLeftOut) -> dict[str, tuple[Any, ...]]:
    """The keys of all cells, also of those that the answer does not show; of a step none."""
    query = planned.query
    if report.step is not None:
        return {}
    assert isinstance(query.keys, KeySet)
    shown = {place: each.name for place, each in enumerate(query.outputs)}
    if isinstance(query, QueryOverAnswers):
        shown = shown_names(query.table)
    named = {
        each.number: shown[place]
        for place, each in enumerate(query.outputs)
        if isinstance(each, KeyOutput) and place in shown
    }
    return {
        named.get(number, f"key_{number + 1}"): tuple(query.keys.column(block, place))
        for number, (block, place) in enumerate(query.key_places)
    }


def _statement(
    planned: PlannedQuery, report: PlannedLeftOut, budget: PrivacyBudget
) -> dict[str, Any]:
    about = statement(planned, budget)
    kept = (
        "version",
        "private",
        "protects",
        "limits",
        "budget",
        "budget_adds_up",
        "budget_is_a_share",
        "bounding",
    )
    return {
        **{name: about[name] for name in kept if name in about},
        **{name: about[name] for name in ("tables", "public_tables", "reached_through")},
        "software": software(),
        "in_a_batch": planned.settled is not None,
        "cells": report.make_report_query(planned.query).keys.cells,
        "active_limits": [],
        "measures": [
            {
                "measure": f"{noised.measure.words} left out",
                "columns": [name],
                "mechanism": name_of(noised.mechanism),
                "noise": noised.distribution.to_dict(),
                "rows_per_unit": part.contributions.rows,
                "rows_per_unit_in_a_group": part.contributions.most,
            }
            for part, (name, noised) in zip(report.parts, report.name_report_columns(), strict=True)
        ],
    }
