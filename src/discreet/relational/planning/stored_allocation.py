"""How the spend of an answer was split, as plain JSON: what its stored values were made with.

Noisy values are kept as whole numbers of steps, and a step follows from the split. So the split is
part of what makes two questions the same, is kept beside the values, and is compared before they
are read: values are never read on another grid than the one they were drawn on.

A question may be asked again with its aggregates in another order. So the split is also written
*by measure*, in an order of its own, and beside the values stands which measure each of them
belongs to.

Source: contract, "Spending" (identical questions), "Numbers".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.relational.identity.identity import canonical_text
from discreet.relational.planning.allocation import Noised
from discreet.relational.planning.batch import PlannedBatch
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.left_out import PlannedLeftOut
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery
from discreet.relational.planning.report import Report

FORM = 1
"""Of the form of the text; part of it."""

BY_MEASURE = 2
"""Of the form of a split whose parts stand in an order of their own."""


def allocated(planned: PlannedQuery) -> dict[str, Any]:
    """The grid and noise of each measure, the epsilon of each choice, and the whole event."""
    counted = None
    if isinstance(planned, Discovering) and planned.published_measure is not None:
        counted = planned.noised(planned.published_measure)[1].distribution.to_dict()
    return _plain(
        form=FORM,
        linear=_linear(planned.allocation.noised),
        chosen=_chosen(planned.allocation.choices),
        counted=counted,
        event=json.loads(planned.event.to_json()),
        **_reported(planned),
    )


def _reported(planned: PlannedQuery) -> dict[str, Any]:
    """The same of a report of what the limits left out, where one is bought."""
    return {} if planned.left_out is None else {"left_out": _reports((planned.left_out,))[0]}


def _reports(planned: Iterable[Report | None]) -> list[dict[str, Any]]:
    return [
        {
            "linear": _linear(report.allocation.noised),
            "event": json.loads(report.event.to_json()),
        }
        if isinstance(report, PlannedLeftOut)
        else {}
        for report in planned
    ]


def allocated_together(batch: PlannedBatch) -> dict[str, Any]:
    """The same for a batch, with what each question takes from the common measures."""
    return _plain(
        form=FORM,
        linear=_linear(batch.allocation.noised),
        chosen=_chosen(batch.allocation.choices),
        slots=batch.slots,
        event=json.loads(batch.event.to_json()),
        **({} if batch.left_out is None else {"left_out": _reports(batch.left_out.planned)}),
    )


def by_measure(planned: PlannedQuery, told: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`allocated` told, whatever order the aggregates were asked in."""
    order = measure_order(planned)
    parts = zip(order["linear"], told["linear"], strict=False)
    chosen = zip(order["chosen"], told["chosen"], strict=True)
    return _plain(
        form=BY_MEASURE,
        linear=_sorted({"measure": name, **part} for name, part in parts),
        chosen=_sorted({"measures": names, "epsilon": part} for names, part in chosen),
        counted=told["counted"],
        event=_unordered(told["event"]),
        **({"left_out": told["left_out"]} if "left_out" in told else {}),
    )


def measure_order(planned: PlannedQuery) -> dict[str, Any]:
    """Which measure each of the noisy values belongs to, as they are kept."""
    measures = [part.measure for part in planned.parts]
    if isinstance(planned, Discovering) and planned.published_measure is not None:
        measures.append(planned.published_measure)
    return {
        "linear": [_digest(measure) for measure in measures],
        "chosen": [[_digest(aggregate) for aggregate in group] for group in planned.choosing],
    }


def in_order(
    planned: PlannedQuery, measured: MeasuredValues, order: Mapping[str, Any]
) -> tuple[PlannedQuery, MeasuredValues]:
    """Values kept in the ``order`` of another question, as this one reads them.

    Each draw keeps the name that it was released under, so that it is known as the same draw.
    """
    own = measure_order(planned)
    if own == order:
        return planned, measured
    places = [order["linear"].index(name) for name in own["linear"]]
    groups = [order["chosen"].index(names) for names in own["chosen"]]
    names = tuple(f"m{place}" for place in places)
    return replace(planned, names=names), replace(
        measured,
        linear=tuple(measured.linear[place] for place in places),
        chosen=tuple(measured.chosen[group] for group in groups),
    )


def _digest(part: object) -> str:
    return hashlib.sha256(canonical_text(part).encode()).hexdigest()[:24]


def _sorted(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))


def _unordered(event: Any) -> Any:
    """An event as JSON, the parts of every composition in one order."""
    if isinstance(event, dict):
        return {name: _unordered(part) for name, part in event.items()}
    if not isinstance(event, list):
        return event
    parts = [_unordered(part) for part in event]
    return _sorted(parts) if all(isinstance(part, dict) for part in parts) else parts


def _linear(noised: Iterable[Noised]) -> list[dict[str, Any]]:
    return [
        {
            "exponent": item.measure.exponent,
            "whole": item.measure.whole,
            "noise": item.distribution.to_dict(),
            **({} if item.places is None else {"places": item.places}),
        }
        for item in noised
    ]


def _chosen(choices: Iterable[Fraction]) -> list[str]:
    return [str(epsilon) for epsilon in choices]


def _plain(**parts: object) -> dict[str, Any]:
    """As JSON gives it back, so that what was kept compares equal."""
    plain: dict[str, Any] = json.loads(json.dumps(parts, allow_nan=False))
    return plain
