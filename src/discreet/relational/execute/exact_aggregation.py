"""Running a question in the engine: exact whole numbers for every cell, nothing else.

What each row contributes is written by ``row_contributions``; where rows have owners, people are
bounded next (``bounding/person_groups``), and then everything is added up.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from discreet.relational.bounding.person_groups import PersonBounds
from discreet.relational.compile.compiler import Compiler, privacy_id
from discreet.relational.engines.engine import Engine
from discreet.relational.execute.row_contributions import RowContributions
from discreet.relational.limits.resources import require_statement
from discreet.relational.plan.query import Query

_HALF = 1 << 62


@dataclass(frozen=True)
class ExactAggregates:
    """Exact numbers by cell: one array per linear measure, one histogram per Ranks measure."""

    linear: tuple[NDArray[Any], ...]
    ranks: tuple[NDArray[np.int64], ...]


def aggregate_exactly(
    query: Query,
    linear: Sequence[Linear],
    ranks: Sequence[Ranks],
    person: Person | None,
    engine: Engine,
    *,
    salt: int,
) -> ExactAggregates:
    """Count and add up in the engine. ``person`` is given where rows have owners to bound."""
    run = _Run.of(query, (*linear, *ranks), person, engine, salt=salt)
    with engine.snapshot():
        sums = run.linear(len(linear)) if linear else ()
        histograms = tuple(run.histogram(len(linear) + i) for i in range(len(ranks)))
    return ExactAggregates(sums, histograms)


def statements(
    query: Query, measures: Sequence[Measure], person: Person | None, engine: Engine
) -> list[str]:
    """The text that would run, with a salt of zero: for ``explain`` and for tests."""
    run = _Run.of(query, tuple(measures), person, engine, salt=0)
    places = [i for i, measure in enumerate(measures) if isinstance(measure, Ranks)]
    texts = [run.linear_text(len(measures) - len(places))] if len(places) < len(measures) else []
    return [
        require_statement(text)
        for text in (*texts, *(run.histogram_text(place) for place in places))
    ]


@dataclass(frozen=True)
class _Run:
    query: Query
    measures: tuple[Measure, ...]
    person: Person | None
    engine: Engine
    contributions: RowContributions

    @classmethod
    def of(
        cls,
        query: Query,
        measures: tuple[Measure, ...],
        person: Person | None,
        engine: Engine,
        *,
        salt: int,
    ) -> _Run:
        """All that the statements of a question share."""
        contributions = RowContributions(
            query.rows,
            query.keys,
            measures,
            Compiler.of(engine, salt=salt),
            engine.keys,
            owned=person is not None,
        )
        return cls(query, measures, person, engine, contributions)

    def linear(self, size: int) -> tuple[NDArray[Any], ...]:
        """Every linear measure, cell by cell."""
        cell, *fetched = self.engine.numbers(self.linear_text(size))
        parts = iter(fetched)
        return tuple(
            self._spread(cell, _joined(next(parts), next(parts)))
            if isinstance(measure, Total)
            else self._spread(cell, next(parts))
            for measure in self.measures[:size]
        )

    def histogram(self, place: int) -> NDArray[np.int64]:
        """Values nearest to each candidate, cell by cell."""
        measure = self.measures[place]
        assert isinstance(measure, Ranks)
        counts = np.zeros((self.query.keys.cells, measure.size), dtype=np.int64)
        cell, nearest, found = self.engine.numbers(self.histogram_text(place))
        np.add.at(counts, (cell, nearest), found)
        return counts

    def linear_text(self, size: int) -> str:
        """A SELECT of the cell's number and the linear measures."""
        sums = [self._sum(number, m) for number, m in enumerate(self.measures[:size])]
        outer = [
            text
            for number, measure in enumerate(self.measures[:size])
            for text in (
                self.engine.dialect.halves(f"m{number}")
                if isinstance(measure, Total)
                else (f"CAST(m{number} AS BIGINT)",)
            )
        ]
        return self._grouped(sums, (), outer)

    def histogram_text(self, place: int) -> str:
        """A SELECT of the cell's number, the candidate's number and how many values are there."""
        return self._grouped(
            [f"COUNT(*) AS m{place}"], (f"c{place}",), (f"CAST(c{place} AS BIGINT)", f"m{place}")
        )

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

    def _bounded(self) -> str:
        """Each person's rows in declared cells, cut down to what the unit allows."""
        assert self.person is not None
        cell, joins, conditions = self.contributions.cells("a")
        contents = self.contributions.contents()
        named = [content.text for content in contents]
        items = ", ".join(["o", f"CAST({cell} AS INTEGER) AS cell", *named])
        where = " AND ".join(conditions) or "TRUE"
        inside = f"SELECT {items} FROM ({self.contributions.text()}) AS a{joins} WHERE {where}"
        presence = all(isinstance(measure, CountPeople) for measure in self.measures)
        return PersonBounds.of(self.person, presence=presence).text(
            inside,
            contents,
            privacy_id(self.query.rows, "o"),
            self.query.keys.cells,
            self.contributions.compiler.shuffle,
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


def _joined(high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[Any]:
    """Whole numbers from their halves: 64-bit while they fit with room to spare, else exact."""
    if high.size == 0 or bool(((high == 0) | (high == -1)).all()):
        return (high << 62) + low
    exact: NDArray[Any] = high.astype(object) * _HALF + low.astype(object)
    return exact
