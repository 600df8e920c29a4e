"""The public facts behind an answer: unit, tables, noise, sensitivities, bounds.

Everything here follows from the question, the declarations and the spend, or from keys that were
chosen privately and paid for. Stored with the release; :class:`Statement` says what they mean.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Any

from discreet.curator.budget import PrivacyBudget
from discreet.curator.key_statement import keys_statement
from discreet.curator.tags import name_of
from discreet.relational.aggregates.measures import Measure, Total
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import AggregateOutput
from discreet.relational.planning.planned_query import Inquiry
from discreet.release.guarantee import guarantee_text, protection_text

VERSION = 2
"""Of the form of the facts; part of them. Releases stored before there was one have none."""


def statement(inquiry: Inquiry, purse: PrivacyBudget) -> dict[str, Any]:
    """Plain JSON for whoever wants to check the claim."""
    return {
        "version": VERSION,
        "software": software(),
        "private": inquiry.randomness.private,
        "in_a_batch": inquiry.settled is not None,
        "protects": protection_text(inquiry.question.unit),
        "budget": guarantee_text(purse.total),
        "budget_adds_up": purse.name,
        "cells": inquiry.question.keys.cells,
        "measures": [*_noises(inquiry), *_choices(inquiry)],
        **_tables(inquiry),
        **keys_statement(inquiry),
    }


@cache
def software() -> str:
    """Name and version of this software, as installed."""
    try:
        return f"discreet {metadata.version('discreet')}"
    except metadata.PackageNotFoundError:
        return "discreet"


def _noises(inquiry: Inquiry) -> list[dict[str, Any]]:
    found = []
    for part, noised in zip(inquiry.parts, inquiry.allocation.noised, strict=True):
        entry: dict[str, Any] = {
            "measure": part.measure.words,
            "columns": _columns(inquiry, part.measure),
            "mechanism": name_of(noised.mechanism),
            "noise": noised.law.plain(),
            "rows_per_unit": part.reach.rows,
            "rows_per_unit_in_a_group": part.reach.most,
        }
        if isinstance(part.measure, Total):
            entry["bounds"] = [part.measure.low, part.measure.high]
            entry["centre"] = part.measure.centre
            entry["whole"] = part.measure.whole
        found.append(entry)
    return found


def _choices(inquiry: Inquiry) -> list[dict[str, Any]]:
    return [
        {
            "measure": "rank",
            "columns": _columns(inquiry, group[0].ranks),
            "mechanism": name_of(inquiry.selection(n)),
            "levels": [aggregate.q for aggregate in group],
            "candidates": group[0].ranks.size,
            "bounds": [group[0].ranks.candidates[0], group[0].ranks.candidates[-1]],
            "rows_per_unit_in_a_group": inquiry.choices[n].reach.most,
        }
        for n, group in enumerate(inquiry.choosing)
    ]


def _columns(inquiry: Inquiry, measure: Measure) -> list[str]:
    """The released columns that a measure is behind."""
    question = inquiry.question
    return [
        output.name
        for output in question.outputs
        if isinstance(output, AggregateOutput)
        and measure in question.aggregates[output.number].measures
    ]


def _tables(inquiry: Inquiry) -> dict[str, Any]:
    """Which tables were read, and which of them the owner vouches for."""
    read = {scan.table: scan for scan in scans(inquiry.question.rows)}
    return {
        "tables": [name for name, scan in read.items() if scan.private],
        "public_tables": [name for name, scan in read.items() if not scan.private],
        "reached_through": [name for name, scan in read.items() if scan.route is not None],
    }
