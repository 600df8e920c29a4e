"""Running a question in the engine: exact whole numbers for every cell, nothing else.

What each row contributes is written by ``row_contributions``; where rows have owners, people are
bounded next, and then everything is added up. Sums by weight take all rows
(``bounding/row_weights``); what needs whole rows takes some (``bounding/person_groups``).

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.unit import Person
from discreet.relational.aggregates.measures import (
    CountPeople,
    CountRows,
    CountValues,
    Linear,
    Measure,
    Ranks,
    Total,
    ValuesTotal,
)
from discreet.relational.aggregates.weighted import Weighted
from discreet.relational.bounding.person_groups import PersonBounds
from discreet.relational.bounding.row_weights import Crowd, RowWeights, everybody
from discreet.relational.compile.compiler import Compiler, privacy_id
from discreet.relational.engines.engine import Engine
from discreet.relational.execute.row_contributions import RowContributions
from discreet.relational.limits.resources import require_statement
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import Query

_HALF = 1 << 62


@dataclass(frozen=True)
class ExactAggregates:
    """Exact numbers by cell: one array per linear measure, one histogram per Ranks measure."""

    linear: tuple[NDArray[Any], ...]
    ranks: tuple[NDArray[np.int64], ...]


def aggregate_exactly(
    query: Query,
    linear: Sequence[Linear | Weighted],
    ranks: Sequence[Ranks],
    person: Person | None,
    engine: Engine,
    *,
    salt: int,
) -> ExactAggregates:
    """Count and add up in the engine. ``person`` is given where rows have owners to bound."""
    runs = _runs(query, (*linear, *ranks), person, engine, salt=salt)
    found: dict[int, NDArray[Any]] = {}
    with engine.snapshot():
        for run in runs:
            found.update(run.found())
    size = len(linear)
    return ExactAggregates(
        tuple(found[number] for number in range(size)),
        tuple(found[size + number] for number in range(len(ranks))),
    )


def statements(
    query: Query, measures: Sequence[Measure | Weighted], person: Person | None, engine: Engine
) -> list[str]:
    """The text that would run, with a salt of zero: for ``explain`` and for tests."""
    runs = _runs(query, tuple(measures), person, engine, salt=0)
    return [require_statement(run.text()) for run in runs]


def _runs(
    query: Query,
    measures: tuple[Measure | Weighted, ...],
    person: Person | None,
    engine: Engine,
    *,
    salt: int,
) -> list[_Run]:
    """One statement for all sums over rows, one for people by weight, one for each histogram."""
    kinds: dict[object, list[int]] = {}
    for number, measure in enumerate(measures):
        kinds.setdefault(_together(number, measure), []).append(number)
    compiler = Compiler.of(engine, salt=salt)
    made = []
    for numbers in kinds.values():
        taken = tuple(measures[number] for number in numbers)
        kind = _WeightedRun if isinstance(taken[0], Weighted) else _Run
        contributions = RowContributions(
            query.rows,
            query.keys,
            tuple(m.measure if isinstance(m, Weighted) else m for m in taken),
            compiler,
            engine.keys,
            owned=person is not None,
            told_apart=person is not None and kind is _Run and not _presence(taken),
        )
        places = tuple(m.places for m in taken if isinstance(m, Weighted))
        made.append(kind(query, person, engine, contributions, tuple(numbers), places))
    return made


def _together(number: int, measure: Measure | Weighted) -> object:
    """What is found by one statement."""
    if isinstance(measure, Ranks):
        return number
    if isinstance(measure, Weighted):
        return Weighted, isinstance(measure.measure, CountPeople)
    return None


def _presence(measures: Sequence[Measure | Weighted]) -> bool:
    """Whether people alone are counted, however many rows they have."""
    return all(isinstance(measure, CountPeople) for measure in measures)


@dataclass(frozen=True)
class _Run:
    """One statement, over whole rows, and which of the wanted ``numbers`` it finds."""

    query: Query
    person: Person | None
    engine: Engine
    contributions: RowContributions
    numbers: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What it measures."""
        return self.contributions.measures

    def found(self) -> dict[int, NDArray[Any]]:
        """Exact numbers by cell, or by cell and candidate."""
        cell, *fetched = self.engine.numbers(self._run_text())
        (first, *_) = self.measures
        if isinstance(first, Ranks):
            counts = np.zeros((self.query.keys.cells, first.size), dtype=np.int64)
            np.add.at(counts, (cell, fetched[0]), fetched[1])
            return {self.numbers[0]: counts}
        parts = iter(fetched)
        return {
            number: self._spread(cell, joined_halves(next(parts), next(parts)))
            if self._is_wide(measure)
            else self._spread(cell, next(parts))
            for number, measure in zip(self.numbers, self.measures, strict=True)
        }

    def _run_text(self) -> str:
        """What runs once the question is paid for: the same numbers as those of ``text``."""
        return self.text()

    def text(self) -> str:
        """A SELECT of the cell's number and the measures; of ranks, by candidate."""
        if isinstance(self.measures[0], Ranks):
            return self._grouped(["COUNT(*) AS m0"], ("c0",), ("CAST(c0 AS BIGINT)", "m0"))
        sums = [self._sum(number, m) for number, m in enumerate(self.measures)]
        return self._grouped(sums, (), self._outer())

    def _is_wide(self, measure: Measure) -> bool:
        """Whether a sum may need more than 64 bits."""
        return isinstance(measure, Total)

    def _outer(self) -> list[str]:
        return [
            text
            for number, measure in enumerate(self.measures)
            for text in (
                self.engine.dialect.halves(f"m{number}")
                if self._is_wide(measure)
                else (f"CAST(m{number} AS BIGINT)",)
            )
        ]

    def _grouped(self, sums: Sequence[str], more: Sequence[str], outer: Sequence[str]) -> str:
        keys = [f"k{n}" for n in range(sum(len(b.expressions) for b in self.query.keys.blocks))]
        wanted = "".join(f" AND {column} IS NOT NULL" for column in more)
        if self.person is not None:
            group = ["cell", *more]
            inside = f"SELECT {', '.join([*group, *sums])} FROM ({self._bounded()}) AS q"
            inside += f" WHERE TRUE{wanted} GROUP BY {', '.join(group)}"
            return f"SELECT cell, {', '.join(outer)} FROM ({inside}) AS q"
        group = [*keys, *more]
        by = f" GROUP BY {', '.join(group)}" if group else ""
        inside = (
            f"SELECT {', '.join([*group, *sums])} FROM ({self.contributions.text()}) "
            f"AS q WHERE TRUE{wanted}{by}"
        )
        cell, joins, conditions = self.contributions.cells("a")
        return (
            f"SELECT {cell} AS cell, {', '.join(outer)} FROM ({inside}) AS a{joins} "
            f"WHERE {' AND '.join(conditions) or 'TRUE'}"
        )

    def _owned(self) -> str:
        """Each person's rows in declared cells, with what they contribute."""
        cell, joins, conditions = self.contributions.cells("a")
        rows = self.contributions
        named = [content.text for content in (*rows.rows_by(), *rows.contents())]
        items = ", ".join(["o", f"CAST({cell} AS INTEGER) AS cell", *named])
        where = " AND ".join(conditions) or "TRUE"
        return f"SELECT {items} FROM ({self.contributions.text()}) AS a{joins} WHERE {where}"

    def _bounded(self) -> str:
        """Each person's rows in declared cells, cut down to what the unit allows."""
        assert self.person is not None
        return PersonBounds.of(self.person, presence=_presence(self.measures)).text(
            self._owned(),
            self.contributions.contents(),
            privacy_id(self.query.rows, "o"),
            self.query.keys.cells,
            self.contributions.compiler.shuffle,
            self.contributions.rows_by(),
        )

    def _sum(self, number: int, measure: Measure) -> str:
        match measure:
            case CountRows(None):
                text = "COUNT(*)"
            case CountRows():
                text = f"COUNT(c{number})"
            case CountPeople():
                text = "COUNT(DISTINCT o)"
            case CountValues():
                text = f"COUNT(DISTINCT c{number})"
                if measure.most is not None:
                    text = f"LEAST({text}, {measure.most})"
            case ValuesTotal():
                # All different values there are add up to 62 bits.
                text = f"COALESCE(SUM(DISTINCT CAST(c{number} AS BIGINT)), 0)"
            case _:
                text = self.engine.dialect.wide_sum(f"c{number}")
        return f"{text} AS m{number}"

    def _spread(self, cell: NDArray[np.int64], found: NDArray[Any]) -> NDArray[Any]:
        """Found values at their cells, zero elsewhere."""
        cells: NDArray[Any] = np.zeros(self.query.keys.cells, dtype=found.dtype)
        np.add.at(cells, cell, found)
        return cells


@dataclass(frozen=True)
class _WeightedRun(_Run):
    """One statement over all rows of a person, each at its weight."""

    def _is_wide(self, measure: Measure) -> bool:
        """Fractions of rows are many steps."""
        return True

    def text(self) -> str:
        """A SELECT of the cell's number and the weighted sums."""
        return self._written(everybody)

    def _run_text(self) -> str:
        """The same, in the engine's own words for tables of their size."""
        private = [scan.table for scan in scans(self.query.rows) if scan.private]
        return self._written(partial(self.engine.crowd, private))

    def _written(self, crowd: Crowd) -> str:
        assert self.person is not None
        dialect, cells = self.engine.dialect, self.query.keys.cells
        owned = self._owned()
        if isinstance(self.measures[0], CountPeople):
            owned = f"SELECT DISTINCT o, cell FROM ({owned}) AS q"
            weights = RowWeights.of_presence(self.person, cells)
        else:
            weights = RowWeights.of_rows(self.person, cells)
        counted = [
            f"{weights.counted(self._each(number), measure.steps(), places, dialect)} AS d{number}"
            for number, (measure, places) in enumerate(zip(self.measures, self.places, strict=True))
            if not isinstance(measure, Ranks)
        ]
        sums = [f"{dialect.wide_sum(f'd{n}')} AS m{n}" for n in range(len(self.measures))]
        before, source = weights.beside(owned, dialect, crowd)
        rows = f"SELECT a.cell AS cell, {', '.join(counted)} FROM {source}"
        inside = f"SELECT cell, {', '.join(sums)} FROM ({rows}) AS q GROUP BY cell"
        outer = ", ".join(self._outer())
        return f"{before}SELECT cell, {outer} FROM ({inside}) AS q"

    def _each(self, number: int) -> str:
        """What a row brings before its weight."""
        measure = self.measures[number]
        alone = isinstance(measure, CountPeople) or measure == CountRows(None)
        return "1" if alone else f"a.c{number}"


def joined_halves(high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[Any]:
    """Whole numbers from their halves: 64-bit while they fit with room to spare, else exact."""
    if high.size == 0 or bool(((high == 0) | (high == -1)).all()):
        return (high << 62) + low
    exact: NDArray[Any] = high.astype(object) * _HALF + low.astype(object)
    return exact
