"""The public facts behind an answer: unit, tables, noise, sensitivities, bounds.

Everything here follows from the question, the declarations and the spend, or from keys that were
chosen privately and paid for. Stored with the release; :class:`Statement` says what they mean.
"""

from __future__ import annotations

from typing import Any

from discreet.curator.active_limits import limits_stated
from discreet.curator.budget import PrivacyBudget
from discreet.curator.key_statement import keys_statement
from discreet.curator.tags import name_of
from discreet.relational.aggregates.measures import Measure, Total, ValuesTotal
from discreet.relational.bounding.rule import BOUNDING_RULE
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import AggregateOutput
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.release.software import software

VERSION = 2
"""Of the form of the facts; part of them."""


def statement(planned: PlannedQuery, budget: PrivacyBudget) -> dict[str, Any]:
    """Plain JSON for whoever wants to check the claim."""
    return {
        "version": VERSION,
        "software": software(),
        "private": planned.randomness.private,
        "in_a_batch": planned.settled is not None,
        "protects": protection_text(planned.query.unit),
        **_limits(planned),
        "budget": guarantee_text(budget.total),
        "budget_adds_up": budget.name,
        **share_stated(budget),
        "cells": planned.query.keys.cells,
        **bounded_by(planned),
        **limits_stated(planned),
        "measures": [*_noises(planned), *_choices(planned)],
        **_tables(planned),
        **keys_statement(planned),
    }


def bounded_by(*planned: PlannedQuery) -> dict[str, str]:
    """The rule of bounding by its name, where it may leave rows out."""
    return {"bounding": BOUNDING_RULE} if any(each.cut_by for each in planned) else {}


def share_stated(budget: PrivacyBudget) -> dict[str, bool]:
    """Whether the budget is a share of a larger one; how large that is may change, and is not."""
    return {} if budget.set_aside_from is None else {"budget_is_a_share": True}


def _limits(planned: PlannedQuery) -> dict[str, Any]:
    """How much of one person counts in this answer, where the unit alone does not say it."""
    if planned.person is None or planned.query.limits is None:
        return {}
    return {"limits": protection_text(planned.person)}


def _noises(planned: PlannedQuery) -> list[dict[str, Any]]:
    found = []
    for part, noised in zip(planned.parts, planned.allocation.noised, strict=True):
        entry: dict[str, Any] = {
            "measure": part.measure.words,
            "columns": _columns(planned, part.measure),
            "mechanism": name_of(noised.mechanism),
            "noise": noised.distribution.to_dict(),
            "rows_per_unit": part.contributions.rows,
            "rows_per_unit_in_a_group": part.contributions.most,
        }
        if isinstance(part.measure, Total | ValuesTotal):
            entry["bounds"] = [part.measure.low, part.measure.high]
            entry["centre"] = part.measure.centre
            entry["whole"] = part.measure.whole
        found.append(entry)
    return found


def _choices(planned: PlannedQuery) -> list[dict[str, Any]]:
    return [
        {
            "measure": "rank",
            "columns": _columns(planned, group[0].ranks),
            "mechanism": name_of(planned.selection(n)),
            "levels": [aggregate.q for aggregate in group],
            "candidates": group[0].ranks.size,
            "bounds": [group[0].ranks.candidates[0], group[0].ranks.candidates[-1]],
            "rows_per_unit_in_a_group": planned.choices[n].contributions.most,
        }
        for n, group in enumerate(planned.choosing)
    ]


def _columns(planned: PlannedQuery, measure: Measure) -> list[str]:
    """The released columns that a measure is behind."""
    query = planned.query
    return [
        output.name
        for output in query.outputs
        if isinstance(output, AggregateOutput)
        and measure in query.aggregates[output.number].measures
    ]


def _tables(planned: PlannedQuery) -> dict[str, Any]:
    """Which tables were read, and which of them the owner vouches for."""
    parts = planned.query.parts
    read = {scan.table: scan for part in parts for scan in scans(part.rows)}
    return {
        "tables": [name for name, scan in read.items() if scan.private],
        "public_tables": [name for name, scan in read.items() if not scan.private],
        "reached_through": [name for name, scan in read.items() if scan.route is not None],
    }
