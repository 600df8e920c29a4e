"""Counts of many marginals from few statements: rows are read, and cells found, once for many.

Each statement numbers the cells of all attributes in one step over the records, and counts by many
sets of attributes in the next. The records are those of :class:`TableCounts`, the same in every
marginal.

Source: ``discreet.core.source``; contract, "Bounding inside the engine". Proof:
``proofs/counting.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Domain
from discreet.core.unit import PrivacyUnit
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.compile.compiler import Compiler
from discreet.relational.execute.row_contributions import RowContributions
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.limits.resources import require_statement

TOGETHER = 256
"""Marginals of one statement."""

Places = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SeveralCounts:
    """Counts by the sets of attributes that are expected, many at once; others one by one.

    Contract: one object serves one release. ``sets`` are places of attributes, in order.
    """

    source: TableCounts
    sets: frozenset[Places]
    _known: dict[Places, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: TableCounts, sets: Iterable[Places]) -> SeveralCounts:
        """Expect these sets; where attributes have other values than numbers, none."""
        plain = all(
            attribute.values == tuple(range(attribute.size))
            for attribute in source.universe.attributes
        )
        return cls(source, frozenset(sets) if plain else frozenset())

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is at stake."""
        return self.source.unit

    def domain(self, column: str) -> Domain:
        return self.source.domain(column)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Exact counts by some attributes, one axis each. Private: only noise may follow."""
        places = tuple(map(self.source.universe.place, columns))
        asked = tuple(sorted(places))
        if asked not in self.sets or self.source.at_once:
            return self.source.counts(columns)
        if asked not in self._known:
            self._count(self._together(asked))
        shape = tuple(self.source.universe.shape[place] for place in asked)
        table = np.zeros(math.prod(shape), dtype=np.int64)
        cells, numbers = self._known[asked]
        table[cells] = numbers
        counted = self.source.completed(table).reshape(shape)
        return np.transpose(counted, [asked.index(place) for place in places])

    def _together(self, asked: Places) -> list[Places]:
        """The sets that are counted with one: those of its size, by public order alone."""
        same = sorted(each for each in self.sets if len(each) == len(asked))
        first = same.index(asked) // TOGETHER * TOGETHER
        return same[first : first + TOGETHER]

    def _count(self, sets: Sequence[Places]) -> None:
        number, cells, counts = self.source.engine.numbers(require_statement(self.text(sets)))
        shape = self.source.universe.shape
        for place, each in enumerate(sets):
            size = math.prod(shape[axis] for axis in each)
            # A number that is no cell's would be a mistake of ours: it counts nowhere.
            mine = (number == place) & (cells >= 0) & (cells < size)
            self._known[each] = cells[mine], counts[mine]

    def text(self, sets: Sequence[Places]) -> str:
        """What the engine runs for some sets."""
        parts = [
            f"SELECT {number} AS s, {self._cell(each)} AS cell, COUNT(*) AS m FROM base GROUP BY 2"
            for number, each in enumerate(sets)
        ]
        return f"WITH base AS ({self._base}) {' UNION ALL '.join(parts)}"

    def _cell(self, places: Places) -> str:
        """The number of a marginal's cell, in row-major order."""
        shape = self.source.universe.shape
        text = "CAST(0 AS BIGINT)"
        for place in places:
            text = f"({text} * {shape[place]} + k{place})"
        return text

    @cached_property
    def _base(self) -> str:
        """The cells of all attributes of every record."""
        source = self.source
        query = source.keyed()
        rows = RowContributions(
            query.rows,
            query.keys,
            (CountRows(None),),
            Compiler.of(source.engine, salt=source.salt),
            source.engine.keys,
            owned=False,
        )
        keys = [f"k{place}" for place in range(len(source.universe.attributes))]
        inside = " AND ".join(
            f"{key} BETWEEN 0 AND {size - 1}"
            for key, size in zip(keys, source.universe.shape, strict=True)
        )
        named = ", ".join(f"CAST({key} AS BIGINT) AS {key}" for key in keys)
        return f"SELECT {named} FROM ({rows.text()}) AS r WHERE {inside}"
