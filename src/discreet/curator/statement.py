"""The public facts behind an answer: unit, noise, sensitivities, bounds."""

from __future__ import annotations

from typing import Any

from discreet.curator.purse import Purse
from discreet.curator.release.promise import protected
from discreet.relational.inquiry import Inquiry
from discreet.relational.measures import CountPeople, CountRows, Linear, Total


def statement(inquiry: Inquiry, purse: Purse) -> dict[str, Any]:
    """Plain JSON for whoever wants to check the claim."""
    noises = []
    for part, noised in zip(inquiry.parts, inquiry.allocation.noised, strict=True):
        entry: dict[str, Any] = {
            "measure": named(part.measure),
            "mechanism": type(noised.mechanism).__name__,
            "noise": noised.law.plain(),
            "rows_per_unit": part.reach.rows,
            "rows_per_unit_in_a_group": part.reach.most,
        }
        if isinstance(part.measure, Total):
            entry["bounds"] = [part.measure.low, part.measure.high]
            entry["centre"] = part.measure.centre
        noises.append(entry)
    choices = [
        {
            "measure": "rank",
            "mechanism": type(inquiry.selection(n)).__name__,
            "levels": [aggregate.q for aggregate in group],
            "candidates": group[0].ranks.size,
            "bounds": [group[0].ranks.candidates[0], group[0].ranks.candidates[-1]],
        }
        for n, group in enumerate(inquiry.choosing)
    ]
    return {
        "protects": protected(inquiry.question.unit),
        "budget_adds_up": purse.name,
        "cells": inquiry.question.keys.cells,
        "measures": [*noises, *choices],
    }


def named(measure: Linear) -> str:
    """What a measure is, in words."""
    match measure:
        case CountRows(None):
            return "number of rows"
        case CountRows():
            return "number of values"
        case CountPeople():
            return "number of people"
        case Total():
            return "centred sum" if measure.centre else "sum"
    return "number of different values"
