"""From noisy measures to the columns of an answer, with their intervals.

Each aggregate makes its own column; here are keys, the cells that are shown, and columns computed
from others. Everything is a function of released values and public quantities.

Source: modern-data:C1, C2; contract, "What may be seen".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from numpy.typing import NDArray

from discreet.relational.aggregates.aggregate import Aggregate, FirstOrder, RankSelection
from discreet.relational.aggregates.measures import Linear
from discreet.relational.answers.linear_forms import linear_form, quotient_form
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import AggregateOutput, DerivedOutput, KeyOutput, is_label
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery, in_units
from discreet.relational.post_processing.column import numbers_column, places_column
from discreet.relational.post_processing.compute import compute
from discreet.relational.post_processing.uncertain import Stated, Value, point
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression, columns, evaluate
from discreet.release import ReleasedColumn
from discreet.release.draws import ANYWHERE, Range, sum_terms_by_atom
from discreet.release.estimate import Estimate
from discreet.release.formula import GivenValues, LinearFormula, NoisyMeasure

_ROW = "row"
"""The key of an answer without keys that shows no row."""

_LEANING = "; keys were found by these very counts, so those of keys near the threshold lean upward"
"""What is noted beside counts that decided which keys are named."""


@dataclass(frozen=True)
class NoisyCells:
    """The noisy values of a planned query in some of its cells, for the column of an aggregate."""

    planned: PlannedQuery
    measured: MeasuredValues
    release: str
    cells: Sequence[int]

    def measure(self, measure: Linear) -> NoisyMeasure:
        """The noisy values of a measure in the caller's units, with their law."""
        place, noised = self.planned.noised(measure)
        values: NDArray[Any] = in_units(self.measured.linear[place], noised)
        name, cells = self.planned.name(place), self.cells
        if cells == range(len(values)) or list(cells) == list(range(len(values))):
            return NoisyMeasure(self.release, name, noised.distribution, tuple(values.tolist()))
        picked = values[list(cells)] if len(cells) else values[:0]
        return NoisyMeasure(
            self.release, name, noised.distribution, tuple(picked.tolist()), tuple(cells)
        )

    def chosen(self, aggregate: Aggregate) -> Sequence[float]:
        """The values that were chosen by rank."""
        place, column = self.planned.place(aggregate)
        found: list[float] = self.measured.chosen[place][list(self.cells), column].tolist()
        return found

    def selection_of(self, aggregate: Aggregate) -> RankSelection:
        """The mechanism that chose them."""
        return self.planned.selection_of(aggregate)


@dataclass(frozen=True)
class Columns:
    """The columns of one answer, over the cells that HAVING, ORDER BY and LIMIT leave."""

    planned: PlannedQuery
    measured: MeasuredValues
    release: str
    confidence: float

    def keys(self) -> dict[str, tuple[Any, ...]]:
        """The key columns; those that were not asked for too, since they tell rows apart."""
        query = self.planned.query
        asked = {
            output.number: output.name for output in query.outputs if isinstance(output, KeyOutput)
        }
        names = {
            number: asked.get(number, f"key_{number + 1}")
            for number in range(len(query.key_places))
        }
        found = {name: self._picked(self._key(number)) for number, name in names.items()}
        for output in query.outputs:
            if isinstance(output, DerivedOutput) and is_label(output.expression):
                found[output.name] = tuple(
                    point(compute(output.expression, values))
                    for values in self._read_cell_values(output.expression)
                )
        if not found and len(self.cells) != 1:
            return {_ROW: tuple(range(1, len(self.cells) + 1))}  # the only row was left out
        return found

    def answers(self) -> tuple[ReleasedColumn, ...]:
        """The released columns, in the order of the SELECT."""
        return tuple(
            self.answer(output)
            for output in self.planned.query.outputs
            if isinstance(output, AggregateOutput)
            or (isinstance(output, DerivedOutput) and not is_label(output.expression))
        )

    def answer(self, output: AggregateOutput | DerivedOutput) -> ReleasedColumn:
        """One released column."""
        if isinstance(output, DerivedOutput):
            return self._derived(output.name, output.expression)
        answer = self._aggregate(output.name, output.number, self.cells)
        return replace(answer, note=answer.note + self._leaning(output.number))

    def _leaning(self, number: int) -> str:
        """What to note beside counts that decided which keys are named."""
        if not isinstance(self.planned, Discovering):
            return ""
        measures = self.planned.query.aggregates[number].measures
        return _LEANING if self.planned.published.issuperset(measures) else ""

    def _picked(self, column: tuple[object, ...]) -> tuple[Any, ...]:
        """The values of a column in the cells that are shown."""
        if self.cells == range(len(column)):
            return column
        return tuple([column[cell] for cell in self.cells])

    @cached_property
    def cells(self) -> Sequence[int]:
        """Which cells are shown, and in which order."""
        query = self.planned.query
        every = range(query.keys.cells)
        if query.having is None and not query.order and query.limit is None and not query.offset:
            return every
        cells = list(every)
        if query.having is not None:
            cells = [c for c in cells if evaluate(query.having, self._row(c)) is True]
        for term in reversed(query.order):
            values = {c: evaluate(term.expression, self._row(c)) for c in cells}
            known = [c for c in cells if values[c] is not None]
            known.sort(key=lambda c: values[c], reverse=term.sign < 0)  # type: ignore[arg-type,return-value]
            cells = known + [c for c in cells if values[c] is None]
        end = None if query.limit is None else query.offset + query.limit
        return tuple(cells[query.offset : end])

    def _row(self, cell: int) -> dict[str, Any]:
        """Released values of one cell by the names that expressions use for them."""
        keys = {f"key{n}": self._key(n)[cell] for n in range(len(self.planned.query.key_places))}
        values = {f"agg{n}": answer.values[cell] for n, answer in enumerate(self._everywhere)}
        return keys | values

    @cached_property
    def _keys(self) -> dict[int, tuple[object, ...]]:
        return {}

    def _key(self, number: int) -> tuple[object, ...]:
        if number not in self._keys:
            block, place = self.planned.query.key_places[number]
            keys = self.planned.query.keys
            assert isinstance(keys, KeySet)
            self._keys[number] = keys.column(block, place)
        return self._keys[number]

    @cached_property
    def _everywhere(self) -> tuple[ReleasedColumn, ...]:
        """Every aggregate over all cells, for conditions and derived columns."""
        every = range(self.planned.query.keys.cells)
        return tuple(
            self._aggregate(f"agg{n}", n, every) for n in range(len(self.planned.query.aggregates))
        )

    def _aggregate(self, name: str, number: int, cells: Sequence[int]) -> ReleasedColumn:
        return self._look_up_aggregate(number).answer(
            name, self._make_noisy_cells(cells), self.confidence
        )

    def _look_up_aggregate(self, number: int) -> Aggregate:
        return self.planned.query.aggregates[number]

    def _make_noisy_cells(self, cells: Sequence[int]) -> NoisyCells:
        return NoisyCells(self.planned, self.measured, self.release, cells)

    def _derived(self, name: str, expression: Expression) -> ReleasedColumn:
        """A column computed from others: exact forms where it is linear or a ratio."""
        linear = linear_form(expression, self._linear_measures())
        if linear is not None and linear.terms:
            return ReleasedColumn.linear(
                name,
                linear.terms,
                constant=linear.constant,
                within=linear.within(self._ranges()),
                confidence=self.confidence,
            )
        quotient = quotient_form(expression, self._linear_measures(), self._ranges())
        if quotient is not None:
            return ReleasedColumn.quotient(name, *quotient, confidence=self.confidence)
        values = [compute(expression, values) for values in self._read_cell_values(expression)]
        if expression.domain.kind is DataType.BOOLEAN and not expression.domain.empty:
            return places_column(name, values)
        return numbers_column(name, values, self.confidence)

    def _read_cell_values(self, expression: Expression) -> Iterator[dict[str, Value]]:
        """What an expression reads of each cell that is shown: of many aggregates, its own."""
        read = columns(expression)
        numbers = [n for n in range(len(self.planned.query.aggregates)) if f"agg{n}" in read]
        return (self._released(cell, numbers) for cell in self.cells)

    def everything(self, cell: int) -> dict[str, Value]:
        """The values of one cell, with the noise that they have."""
        return self._released(cell, range(len(self.planned.query.aggregates)))

    def _released(self, cell: int, numbers: Iterable[int]) -> dict[str, Value]:
        """All keys of one cell, and these of its aggregates."""
        keys: dict[str, Any] = {
            f"key{n}": self._key(n)[cell] for n in range(len(self.planned.query.key_places))
        }
        return keys | {f"agg{n}": self.number(n, cell) for n in numbers}

    def number(self, number: int, cell: int) -> Value:
        """What was released of an aggregate in a cell, with its noise."""
        column = self._everywhere[number]
        if not isinstance(column.formula, GivenValues):
            return column.formula.estimate(cell)
        value = column.values[cell]
        if value is None:
            return None
        if column.lower is None:
            return Stated(value, lambda _: ANYWHERE)
        return Stated(value, partial(self._ends, number, cell), self._noise(number, cell))

    def _noise(self, number: int, cell: int) -> Estimate | None:
        """The noise of an aggregate to first order; None where that is not close."""
        if number not in self._slopes:
            every = range(self.planned.query.keys.cells)
            self._slopes[number] = self._look_up_aggregate(number).first_order(
                self._make_noisy_cells(every)
            )
        slopes = self._slopes[number]
        if slopes is None or not all(math.isfinite(factors[cell]) for _, factors in slopes):
            return None
        return Estimate(
            0,
            sum_terms_by_atom(
                (measure.atom(cell), float(factors[cell]), measure.distribution)
                for measure, factors in slopes
            ),
        )

    @cached_property
    def _slopes(self) -> dict[int, FirstOrder | None]:
        return {}

    def _ends(self, number: int, cell: int, confidence: float) -> Range:
        if confidence not in self._wide:
            self._wide[confidence] = replace(self, confidence=confidence)
        column = self._wide[confidence]._everywhere[number]
        assert column.lower is not None
        assert column.upper is not None
        return column.lower[cell], column.upper[cell]

    @cached_property
    def _wide(self) -> dict[float, Columns]:
        """The same columns at other levels of confidence."""
        return {}

    def _ranges(self) -> dict[str, Range]:
        """Where the columns that are one measure lie for public reasons."""
        return {
            f"agg{n}": column.formula.within
            for n, column in enumerate(self._everywhere)
            if isinstance(column.formula, LinearFormula)
        }

    def _linear_measures(self) -> dict[str, NoisyMeasure]:
        """The columns that are one measure."""
        shown = self._make_noisy_cells(self.cells)
        return {
            f"agg{n}": shown.measure(aggregate.additive)
            for n, aggregate in enumerate(self.planned.query.aggregates)
            if aggregate.additive is not None
        }
