"""Warnings before harm, from public quantities or from values that were paid for.

Source: 004d:D2; 000b:B12 (and chapter 13 of that book); 000a:A3; contract, "What may be seen".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.guarantee import ApproxDP, Guarantee, PureDP
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.plan.nodes import PlanNode, Scan
from discreet.relational.plan.query import AggregateOutput, QueryOverAnswers
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.release import ReleasedColumn
from discreet.release.column import HalfWidth
from discreet.release.formula import LinearFormula
from discreet.release.promise import promised_by

_LARGE = 10
_FEW = 300


def warnings_of(
    planned: PlannedQuery, answers: Sequence[ReleasedColumn], people: int | None = None
) -> tuple[str, ...]:
    """What the analyst should know; nothing but public facts and released numbers is read.

    ``people`` is how many there are at most, where that is public.
    """
    sizes = tuple(_sizes(planned, answers))
    return (
        *_about_part(planned.query.rows),
        *_about_spend(planned.spend),
        *about_delta(
            _promised(planned), people, *(each.at_most for each in sizes if each.everything)
        ),
        *_about_counts(planned, sizes),
    )


def _promised(planned: PlannedQuery) -> Guarantee:
    return promised_by(planned.spend, planned.charges)


def about_delta(spend: Guarantee, *sizes: float | None) -> list[str]:
    """That delta is one over the number of people, or more; ``sizes`` say how many there may be.

    Showing each row in full with the probability delta keeps delta, so that one like this promises
    nobody anything. Where nothing is known, a few hundred people are assumed: for fewer,
    differential privacy is of no use anyway.
    """
    delta = float(getattr(spend, "delta", 0))
    people = min((size for size in sizes if size is not None), default=float(_FEW))
    if delta == 0 or delta * max(people, 1) < 1:
        return []
    shown = f"showing one person in {math.ceil(1 / delta):,} in full would keep it"
    return [
        f"delta {delta:g} is large: {shown}; choose one well below one over the number of people"
    ]


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


@dataclass(frozen=True)
class _Sizes:
    """A released column that counts rows: its values, and the largest half-width."""

    name: str
    values: Floats
    width: float
    everything: bool

    @property
    def total(self) -> float:
        """All of them together."""
        return float(sum(self.values.tolist()))

    @property
    def at_most(self) -> float:
        """The upper end of the total."""
        return self.total + self.width * math.sqrt(len(self.values))


def _sizes(planned: PlannedQuery, answers: Sequence[ReleasedColumn]) -> Iterator[_Sizes]:
    """Columns of numbers of rows; ``everything`` if they are about all rows of a table."""
    if isinstance(planned.query, QueryOverAnswers):
        return
    named = {answer.name: answer for answer in answers}
    for output in planned.query.outputs:
        if not isinstance(output, AggregateOutput) or output.name not in named:
            continue
        if not planned.query.aggregates[output.number].is_size:
            continue
        answer = named[output.name]
        values = np.array([each for each in answer.values if each is not None], dtype=np.float64)
        if not values.size or answer.interval is None:
            continue
        everything = (
            isinstance(planned.query.rows, Scan)
            and len(values) == planned.query.keys.cells
            and not isinstance(planned, Discovering)
        )
        yield _Sizes(output.name, values, _width(answer, values), everything)


def _width(answer: ReleasedColumn, values: Floats) -> float:
    """The largest distance of an upper end; ends of one width are not worked out for it."""
    if isinstance(answer.interval, HalfWidth) and isinstance(answer.formula, LinearFormula):
        upper = np.clip(values + float(answer.interval.half_width), *answer.formula.within)
    else:
        upper = np.array(answer.upper, dtype=np.float64)
    return float(np.max(upper - values))


def _about_counts(planned: PlannedQuery, sizes: Sequence[_Sizes]) -> list[str]:
    """Few rows, cells drowned in noise: from noisy counts."""
    found: list[str] = []
    for size in sizes:
        if size.everything and size.at_most < _FEW:
            found.append(
                f"{size.name}: about {max(size.total, 0):g} in all, fewer than a few hundred; "
                "differential privacy is of little use for so few"
            )
        cells = len(size.values)
        drowned = np.count_nonzero(size.values < size.width)
        whole = cells == planned.query.keys.cells
        if cells > 1 and whole and drowned > cells / 2:
            found.append(
                f"{size.name}: {drowned} of {cells} cells are smaller than their own "
                "noise; use coarser keys or a larger spend"
            )
    return found
