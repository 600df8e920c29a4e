"""Warnings before harm, from public quantities or from values that were paid for.

Source: 004d:D2; 000b:B12 (and chapter 13 of that book); contract, "What may be seen".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.core.guarantee import ApproxDP, Guarantee, PureDP
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.plan.nodes import PlanNode, Scan
from discreet.relational.plan.query import AggregateOutput, QueryOverAnswers
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.release import ReleasedColumn

_LARGE = 10
_FEW = 300


def warnings_of(planned: PlannedQuery, answers: Sequence[ReleasedColumn]) -> tuple[str, ...]:
    """What the analyst should know; nothing but public facts and released numbers is read."""
    return (
        *_about_part(planned.query.rows),
        *_about_spend(planned.spend),
        *_about_counts(planned, answers),
    )


def _about_part(rows: PlanNode) -> list[str]:
    """That the answer is about a part of a table only; each part is named once."""
    found = [f"about {rows.label()} of the table only"] if isinstance(rows, PartitionFilter) else []
    for below in rows.inputs:
        found += [note for note in _about_part(below) if note not in found]
    return found


def _about_spend(spend: Guarantee) -> list[str]:
    if isinstance(spend, PureDP | ApproxDP) and spend.epsilon > _LARGE:
        return [
            f"epsilon {float(spend.epsilon):g} is large: odds about a person may change by a "
            f"factor of {math.exp(min(float(spend.epsilon), 700)):.3g}"
        ]
    return []


def _about_counts(planned: PlannedQuery, answers: Sequence[ReleasedColumn]) -> list[str]:
    """Few rows, cells drowned in noise: from noisy counts."""
    found: list[str] = []
    if isinstance(planned.query, QueryOverAnswers):
        return found
    cells = planned.query.keys.cells
    named = {answer.name: answer for answer in answers}
    for output in planned.query.outputs:
        if not isinstance(output, AggregateOutput) or output.name not in named:
            continue
        if not planned.query.aggregates[output.number].is_size:
            continue
        answer = named[output.name]
        values = [value for value in answer.values if value is not None]
        if not values or answer.upper is None:
            continue
        width = max(high - value for high, value in zip(answer.upper, values, strict=True))
        total = sum(values)
        everything = (
            isinstance(planned.query.rows, Scan)
            and len(values) == cells
            and not isinstance(planned, Discovering)
        )
        if everything and total + width * math.sqrt(len(values)) < _FEW:
            found.append(
                f"{output.name}: about {max(total, 0):g} in all, fewer than a few hundred; "
                "differential privacy is of little use for so few"
            )
        drowned = sum(1 for value in values if value < width)
        if len(values) > 1 and len(values) == cells and drowned > len(values) / 2:
            found.append(
                f"{output.name}: {drowned} of {len(values)} cells are smaller than their own "
                "noise; use coarser keys or a larger spend"
            )
    return found
