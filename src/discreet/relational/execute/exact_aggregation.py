"""Running a question in the engine: exact whole numbers for every cell, nothing else.

What each row contributes is written by ``row_contributions``; where rows have owners, people are
bounded next, and then everything is added up. Sums by weight take all rows
(``bounding/row_weights``); what needs whole rows takes some (``bounding/person_groups``).

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
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
from discreet.relational.types.data_type import DataType

_HALF = 1 << 62
_ONLY = "0 AS cell"
"""The number of the cell where there is one alone."""


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
    statements: Statements | None = None,
) -> ExactAggregates:
    """Count and add up in the engine. ``person`` is given where rows have owners to bound.

    ``statements`` are those of this very question under this salt, where they were written before.
    """
    found: dict[int, NDArray[Any]] = {}
    with engine.snapshot():  # tables of keys are named inside
        made = statements or Statements.of(query, (*linear, *ranks), person, engine, salt=salt)
        for run in made.runs:
            found.update(run.compute_exact_numbers())
    size = len(linear)
    return ExactAggregates(
        tuple(found[number] for number in range(size)),
        tuple(found[size + number] for number in range(len(ranks))),
    )


def statements(
    query: Query, measures: Sequence[Measure | Weighted], person: Person | None, engine: Engine
) -> list[str]:
    """The text that would run, with a salt of zero: for ``explain`` and for tests."""
    return Statements.of(query, tuple(measures), person, engine, salt=0).texts()


@dataclass(frozen=True)
class Statements:
    """What finds all measures of a question, under one salt.

    Tables of keys that statements name stay only as long as a question runs: those that name any
    are written again then, and are not ``lasting``.
    """

    runs: tuple[_Run, ...]
    lasting: bool

    @classmethod
    def of(
        cls,
        query: Query,
        measures: tuple[Measure | Weighted, ...],
        person: Person | None,
        engine: Engine,
        *,
        salt: int,
    ) -> Statements:
        """Written as far as it takes to know whether they last."""
        named: list[str] = []

        def keys(entries: Sequence[tuple[object, ...]], kinds: Sequence[DataType]) -> str:
            named.append(engine.keys(entries, kinds))
            return named[-1]

        compiler = replace(Compiler.of(engine, salt=salt), listed=keys)
        runs = tuple(_runs(query, measures, person, engine, compiler))
        for run in runs:
            _ = run.text  # names the tables
        return cls(runs, lasting=not named)

    def texts(self) -> list[str]:
        """The text of each; refused where one is too long."""
        return [require_statement(run.text) for run in self.runs]


def _runs(
    query: Query,
    measures: tuple[Measure | Weighted, ...],
    person: Person | None,
    engine: Engine,
    compiler: Compiler,
) -> list[_Run]:
    """One statement for all sums over rows, one for people by weight, one for each histogram."""
    kinds: dict[object, list[int]] = {}
    for number, measure in enumerate(measures):
        kinds.setdefault(_together(number, measure), []).append(number)
    made = []
    for numbers in kinds.values():
        taken = tuple(measures[number] for number in numbers)
        kind = _WeightedRun if isinstance(taken[0], Weighted) else _Run
        contributions = RowContributions(
            query.rows,
            query.keys,
            tuple(m.measure if isinstance(m, Weighted) else m for m in taken),
            compiler,
            compiler.listed,
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

    def compute_exact_numbers(self) -> dict[int, NDArray[Any]]:
        """Exact numbers by cell, or by cell and candidate."""
        cell, *fetched = self.engine.numbers(self._run_text())
        (first, *_) = self.measures
        if isinstance(first, Ranks):
            counts = np.zeros((self.query.keys.cells, first.size), dtype=np.int64)
            np.add.at(counts, (cell, fetched[0]), fetched[1])
            return {self.numbers[0]: counts}
        parts = iter(fetched)
        return {
            number: self._spread(cell, self._joined(parts, measure))
            for number, measure in zip(self.numbers, self.measures, strict=True)
        }

    def _joined(self, parts: Iterator[NDArray[Any]], measure: Measure) -> NDArray[Any]:
        """The sums of a measure, of one column or of two."""
        if not self._is_wide(measure):
            return next(parts)
        return roomy(next(parts)) if self._whole else joined_halves(next(parts), next(parts))

    @property
    def _whole(self) -> bool:
        """Whether wide sums are one column each."""
        return self.engine.dialect.sums_whole(self.query.keys.cells)

    def _run_text(self) -> str:
        """What runs once the question is paid for: the same numbers as those of ``text``."""
        return self.text

    @cached_property
    def text(self) -> str:
        """A SELECT of the cell's number and the measures; of ranks, by candidate."""
        if isinstance(self.measures[0], Ranks):
            return self._grouped(["COUNT(*) AS m0"], ("c0",), ("CAST(c0 AS BIGINT)", "m0"))
        if self.person is None and self.contributions.keys_plain:
            if self._whole and not self.query.keys.blocks:
                return self._at_once(_ONLY)
            return self._with_cells(self._at_once(), self._outer())
        sums = [self._sum(number, m, f"c{number}") for number, m in enumerate(self.measures)]
        return self._grouped(sums, (), self._outer())

    def _at_once(self, *first: str) -> str:
        """The sums by keys that are columns of the rows, in one step over them."""
        rows = self.contributions
        sums = [
            self._sum(number, m, rows.content(number)) for number, m in enumerate(self.measures)
        ]
        return rows.grouped([*first, *sums])

    def _is_wide(self, measure: Measure) -> bool:
        """Whether a sum may need more than 64 bits."""
        return isinstance(measure, Total)

    def _outer(self) -> list[str]:
        return [
            text
            for number, measure in enumerate(self.measures)
            for text in (
                self.engine.dialect.halves(f"m{number}")
                if self._is_wide(measure) and not self._whole
                else (f"CAST(m{number} AS BIGINT)",)
                if isinstance(measure, ValuesTotal)
                else (f"m{number}",)
            )
        ]

    def _grouped(self, sums: Sequence[str], more: Sequence[str], outer: Sequence[str]) -> str:
        keys = [f"k{n}" for n in range(sum(len(b.expressions) for b in self.query.keys.blocks))]
        wanted = " AND ".join(f"{column} IS NOT NULL" for column in more)
        where = f" WHERE {wanted}" if wanted else ""
        if self.person is not None:
            group = ["cell", *more]
            inside = f"SELECT {', '.join([*group, *sums])} FROM ({self._bounded()}) AS q"
            inside += f"{where} GROUP BY {', '.join(group)}"
            return f"SELECT cell, {', '.join(outer)} FROM ({inside}) AS q"
        group = [*keys, *more]
        by = f" GROUP BY {', '.join(group)}" if group else ""
        inside = (
            f"SELECT {', '.join([*group, *sums])} FROM ({self.contributions.text()}) "
            f"AS q{where}{by}"
        )
        return self._with_cells(inside, outer)

    def _with_cells(self, inside: str, outer: Sequence[str]) -> str:
        """Sums by key as sums by the number of a cell; keys that are not declared have none.

        Engines move a condition on keys below the grouping, to each row: a range is welcome there,
        a look-up doubles the time. One that reads a sum, which is never NULL, stays above.
        """
        cells = self.contributions.cells("a", self.engine.dialect.code)
        named = ", ".join(f"{text} AS x{number}" for number, text in enumerate(outer))
        summed = f"({inside}) AS a{cells.joins}{cells.ranges}"
        if cells.all_ranges:
            return f"SELECT {cells.or_null} AS cell, {named} FROM {summed}"
        cell = f"CASE WHEN m0 IS NOT NULL THEN {cells.or_null} END"
        placed = f"SELECT {cell} AS cell, {named} FROM {summed}"
        return f"SELECT * FROM ({placed}) AS q WHERE cell IS NOT NULL"

    def _owned(self) -> str:
        """Each person's rows in declared cells, with what they contribute."""
        rows, cells = self.contributions, self.contributions.cells("a")
        named = [content.text for content in (*rows.rows_by(), *rows.contents())]
        items = ", ".join(["o", f"CAST({cells.number} AS INTEGER) AS cell", *named])
        return f"SELECT {items} FROM ({rows.text()}) AS a{cells.joins}{cells.where}"

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

    def _sum(self, number: int, measure: Measure, content: str) -> str:
        match measure:
            case CountRows(None):
                text = "COUNT(*)"
            case CountRows():
                text = f"COUNT({content})"
            case CountPeople():
                text = "COUNT(DISTINCT o)"
            case CountValues():
                text = f"COUNT(DISTINCT {content})"
                if measure.most is not None:
                    text = f"LEAST({text}, {measure.most})"
            case ValuesTotal():
                # All different values there are add up to 62 bits.
                text = f"COALESCE(SUM(DISTINCT CAST({content} AS BIGINT)), 0)"
            case _:
                text = self.engine.dialect.wide_sum(content)
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

    @cached_property
    def text(self) -> str:
        """A SELECT of the cell's number and the weighted sums."""
        return self._write_weighted_sums(everybody)

    def _run_text(self) -> str:
        """The same, in the engine's own words for tables of their size."""
        private = [scan.table for scan in scans(self.query.rows) if scan.private]
        crowd = partial(self.engine.crowd, private)
        return (
            self.text if self._weights.looks_at(crowd) == "r" else self._write_weighted_sums(crowd)
        )

    @cached_property
    def _weights(self) -> RowWeights:
        assert self.person is not None
        cells, presence = self.query.keys.cells, isinstance(self.measures[0], CountPeople)
        weights = RowWeights.of_presence if presence else RowWeights.of_rows
        return weights(self.person, cells)

    def _owned(self) -> str:
        """Each person's rows; the cell is NULL where the keys of a row are not declared."""
        return self.contributions.placed(self.engine.dialect.code)

    def _write_weighted_sums(self, crowd: Crowd) -> str:
        weights = self._weights
        if isinstance(self.measures[0], CountPeople):
            return self._of_presence(weights, crowd)
        linear = all(weights.is_linear(*each) for each in self._sizes)
        if linear and not self.query.keys.blocks and weights.all_seen(self.engine.dialect, crowd):
            return self._by_person(weights)
        return self._weighed(self._owned(), weights, crowd)

    def _of_presence(self, weights: RowWeights, crowd: Crowd) -> str:
        """Each person once in a group; where nobody can be in too many groups, each counts."""
        owned = f"SELECT DISTINCT o, cell FROM ({self._owned()}) AS q"
        if self.query.keys.cells > weights.rows:
            return self._weighed(owned, weights, crowd)
        ones = [self.engine.dialect.bound(1 << places) for _, places in self._sizes]
        return self._by_cell(ones, f"({owned}) AS a")

    def _weighed(self, owned: str, weights: RowWeights, crowd: Crowd) -> str:
        """Rows beside the weight that each of them has."""
        dialect = self.engine.dialect
        each = [
            weights.weigh_contribution(self._each(n), *size, dialect)
            for n, size in enumerate(self._sizes)
        ]
        before, source = weights.beside(owned, dialect, crowd)
        return before + self._by_cell(each, source)

    def _by_cell(self, each: Sequence[str], source: str) -> str:
        where = "WHERE a.cell IS NOT NULL GROUP BY a.cell"
        inside = f"SELECT a.cell AS cell, {self._summed(each)} FROM {source} {where}"
        if self._whole:
            return inside
        return f"SELECT cell, {', '.join(self._outer())} FROM ({inside}) AS q"

    def _by_person(self, weights: RowWeights) -> str:
        """Without keys, the rows of each person are added up before they are weighed."""
        dialect = self.engine.dialect
        each = [self._each(number) for number in range(len(self.measures))]
        added = [f"SUM({text}) AS c{number}" for number, text in enumerate(each) if text]
        source = weights.by_person(f"({self.contributions.text()}) AS a", added, dialect)
        weighed = [
            weights.weigh_contribution(text or "a.n", *size, dialect)
            for text, size in zip(each, self._sizes, strict=True)
        ]
        summed = self._summed(weighed)
        if self._whole:
            return f"SELECT {_ONLY}, {summed} FROM {source}"
        return (
            f"SELECT {_ONLY}, {', '.join(self._outer())} FROM (SELECT {summed} FROM {source}) AS q"
        )

    @cached_property
    def _sizes(self) -> list[tuple[int, int]]:
        """The most that a row brings to each measure, and the binary places it is counted in."""
        return [
            (measure.steps(), places)
            for measure, places in zip(self.measures, self.places, strict=True)
            if not isinstance(measure, Ranks)
        ]

    def _summed(self, texts: Sequence[str]) -> str:
        wide = self.engine.dialect.wide_sum
        return ", ".join(f"{wide(text)} AS m{number}" for number, text in enumerate(texts))

    def _each(self, number: int) -> str:
        """What a row brings before its weight; nothing is written where it is one."""
        measure = self.measures[number]
        alone = isinstance(measure, CountPeople) or measure == CountRows(None)
        return "" if alone else f"a.c{number}"


def roomy(whole: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as they are while they fit 64 bits with room to spare, else exact."""
    fits = whole.dtype != object and bool(((whole >= -_HALF) & (whole < _HALF)).all())
    return whole if fits else whole.astype(object)


def joined_halves(high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[Any]:
    """Whole numbers from their halves: 64-bit while they fit with room to spare, else exact."""
    if high.size == 0 or bool(((high == 0) | (high == -1)).all()):
        return (high << 62) + low
    exact: NDArray[Any] = high.astype(object) * _HALF + low.astype(object)
    return exact
