"""Exact vectors by plain Python: rows cleaned and computed on one by one, then added up.

For scans and filters of tables whose rows are units; no engine and no SQL text is involved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from discreet.core.guarantee import Guarantee
from discreet.relational.aggregates.measures import CountRows, CountValues, Linear, Total
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.nodes import Filtered, PlanNode, Scan
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.types.column_domain import cleaned
from discreet.relational.types.expression import evaluate
from tests.relational.neighbours.worlds import PURE, Frames, Setting, Stand

Row = Mapping[str, object]


def differences(setting: Setting, *questions: str, spend: Guarantee = PURE) -> list[str]:
    """Where the engine's numbers are not those of the reference."""
    stand = Stand(setting)
    try:
        return [
            f"{query}: {type(measure).__name__} is {found}, not {wanted}"
            for query in questions
            for measure, found, wanted in _compared(stand, stand.planned(query, spend))
            if found != wanted
        ]
    finally:
        stand.close()


def _compared(stand: Stand, planned: PlannedQuery) -> Iterator[tuple[Linear, list[int], list[int]]]:
    rows = list(scanned(planned.query.rows, stand.setting.frames))
    engine = stand.exact(planned).linear
    keys = planned.query.keys
    assert isinstance(keys, KeySet)
    for item, found in zip(planned.allocation.noised, engine, strict=True):
        measure = item.measure
        wanted = [_measured(measure, cell) for cell in _cells(keys, rows)]
        yield measure, [int(value) for value in found.tolist()], wanted


def scanned(rows: PlanNode, frames: Frames) -> Iterator[Row]:
    """The rows of a scan as cleaned, or those of them that satisfy conditions."""
    match rows:
        case Scan():
            for stored in frames[rows.table].iter_rows(named=True):
                yield {
                    rows.column(name): cleaned(stored[name], field.domain)
                    for name, field in rows.fields.items()
                }
        case Filtered():
            for row in scanned(rows.rows, frames):
                if evaluate(rows.condition, row) is True:
                    yield row
        case _:
            raise NotImplementedError(type(rows).__name__)


def _cells(keys: KeySet, rows: list[Row]) -> Iterator[list[Row]]:
    """The rows of each cell, in the order of the answer."""
    for choice in product(*(block.entries for block in keys.blocks)):
        wanted = [value for entry in choice for value in entry]
        expressions = [e for block in keys.blocks for e in block.expressions]
        yield [row for row in rows if [evaluate(e, row) for e in expressions] == wanted]


def _measured(measure: Linear, rows: list[Row]) -> int:
    match measure:
        case CountRows(argument):
            return sum(argument is None or evaluate(argument, row) is not None for row in rows)
        case CountValues(argument):
            return len({value for row in rows if (value := evaluate(argument, row)) is not None})
        case Total(argument=argument):
            found = (evaluate(argument, row) for row in rows)
            return sum(_steps(measure, value) for value in found if value is not None)
    raise NotImplementedError(type(measure).__name__)


def _steps(total: Total, value: object) -> int:
    """The nearest whole number of steps, halves to even, less the centre."""
    assert isinstance(value, int | float)
    held = max(Fraction(total.low), min(Fraction(total.high), Fraction(value)))
    return round(held / Fraction(2) ** total.exponent) - total.centre_steps()
