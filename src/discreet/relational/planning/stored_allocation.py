"""How the spend of an answer was split, as plain JSON: what its stored values were made with.

Noisy values are kept as whole numbers of steps, and a step follows from the split. So the split is
part of what makes two questions the same, is kept beside the values, and is compared before they
are read: values are never read on another grid than the one they were drawn on.

Source: contract, "Spending" (identical questions), "Numbers".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from discreet.relational.planning.allocation import Noised
from discreet.relational.planning.batch import PlannedBatch
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery

FORM = 1
"""Of the form of the text; part of it."""


def allocated(planned: PlannedQuery) -> dict[str, Any]:
    """The grid and noise of each measure, the epsilon of each choice, and the whole event."""
    counted = None
    if isinstance(planned, Discovering) and planned.counted is not None:
        counted = planned.noised(planned.counted)[1].distribution.to_dict()
    return _plain(
        form=FORM,
        linear=_linear(planned.allocation.noised),
        chosen=_chosen(planned.allocation.choices),
        counted=counted,
        event=json.loads(planned.event.to_json()),
    )


def allocated_together(batch: PlannedBatch) -> dict[str, Any]:
    """The same for a batch, with what each question takes from the common measures."""
    return _plain(
        form=FORM,
        linear=_linear(batch.allocation.noised),
        chosen=_chosen(batch.allocation.choices),
        slots=batch.slots,
        event=json.loads(batch.event.to_json()),
    )


def _linear(noised: Iterable[Noised]) -> list[dict[str, Any]]:
    return [
        {
            "exponent": item.measure.exponent,
            "whole": item.measure.whole,
            "noise": item.distribution.to_dict(),
        }
        for item in noised
    ]


def _chosen(choices: Iterable[Fraction]) -> list[str]:
    return [str(epsilon) for epsilon in choices]


def _plain(**parts: object) -> dict[str, Any]:
    """As JSON gives it back, so that what was kept compares equal."""
    plain: dict[str, Any] = json.loads(json.dumps(parts, allow_nan=False))
    return plain
