"""Sums of products of columns in the engine, in exact integers, for learners.

Each column is mapped to [-1, 1] by its bounds; a missing one counts as the middle, a row without a
target counts nowhere. Every product is clamped to [-1, 1] once more, rounded to 2**-36 and added up
as whole numbers, over the rows of each person that count.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.unit import Person
from discreet.noise.randomness import SYSTEM, integer
from discreet.relational.aggregates.measures import CountRows, Linear, Total
from discreet.relational.aggregates.sum import Sum
from discreet.relational.bounding.key_truncation import Truncated
from discreet.relational.engines.engine import Engine
from discreet.relational.execute.exact_aggregation import aggregate_exactly, statements
from discreet.relational.limits.resources import require_size
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.plan.query import AggregateOutput, Query

BITS = 36
Translate = Callable[[str], Query]
Bounds = tuple[list[float], list[float]]


@dataclass(frozen=True)
class TableMoments:
    """Sums of products of (1, columns) over the rows of a question; a ``MomentSource`` in units.

    Contract: one object serves one release.
    """

    query: Query
    width: int
    engine: Engine
    salt: int = field(default_factory=lambda: integer(SYSTEM, 62), repr=False)

    @classmethod
    def of(
        cls,
        text: str,
        columns: Sequence[str],
        bounds: Bounds,
        translate: Translate,
        engine: Engine,
    ) -> TableMoments:
        """Sums over the rows of a question without aggregates; its first column must be there."""
        units = ["1.0", *(_unit(*each) for each in zip(columns, *bounds, strict=True))]
        pairs = combinations_with_replacement(range(len(units)), 2)
        sums = [f"SUM({units[i]} * {units[j]}) AS s{i}_{j}" for i, j in pairs if j]
        first = _quoted(columns[0])
        asked = f"SELECT {', '.join(sums)} FROM ({text}) AS t WHERE t.{first} IS NOT NULL"
        made = cls(translate(asked), len(units), engine)
        require_size(made.query, made.measures)
        made.records  # noqa: B018 - refuses what has no private rows
        return made

    @property
    def measures(self) -> tuple[Linear, ...]:
        """The number of rows, and a total for each product, clamped to one either way."""
        products = (Total(each.argument, -1.0, 1.0, 0, -BITS) for each in _totals(self.query))
        return (CountRows(None), *products)

    @property
    def records(self) -> int:
        """The most rows of one unit that count."""
        if self.query.person is not None:
            return self.query.person.rows()
        changed = self.query.rows.stability
        if not changed or _exchanges(self.query.rows):
            raise InvalidParameter(
                code="moments_rows",
                expectation="rows of private tables that one unit can only add or remove",
                remedy="Read a private table; join private tables on the person only.",
            )
        return changed

    def text(self) -> str:
        """What the engine would run, with a salt of zero."""
        (found,) = statements(self.query, self.measures, self._person, self.engine)
        return found

    def moments(self) -> NDArray[Any]:
        """The sums, in steps of 2**-72. Private: only noise may follow."""
        found = aggregate_exactly(
            self.query, self.measures, [], self._person, self.engine, salt=self.salt
        )
        rows, *sums = (int(each.reshape(-1)[0]) for each in found.linear)
        total = np.zeros((self.width, self.width), dtype=object)
        total[0, 0] = rows << 2 * BITS
        pairs = [p for p in combinations_with_replacement(range(self.width), 2) if p[1]]
        for (i, j), each in zip(pairs, sums, strict=True):
            total[i, j] = total[j, i] = each << BITS
        return total

    @property
    def _person(self) -> Person | None:
        person = self.query.person
        return None if person is None else Person(person.id, max_rows=self.records)


def column_bounds(text: str, columns: Sequence[str], translate: Translate) -> Bounds:
    """The bounds of each column, as they follow from what the owner declared."""
    sums = ", ".join(f"SUM(t.{_quoted(column)}) AS s{n}" for n, column in enumerate(columns))
    query = translate(f"SELECT {sums} FROM ({text}) AS t")
    found = _totals(query)
    return [float(each.low) for each in found], [float(each.high) for each in found]


def _totals(query: Query) -> list[Total]:
    """The total of each column of the answer; equal ones are one aggregate of the query."""
    found = []
    for output in query.outputs:
        aggregate = query.aggregates[output.number] if isinstance(output, AggregateOutput) else None
        total = aggregate.total if isinstance(aggregate, Sum) else None
        if not isinstance(total, Total):
            raise InvalidParameter(
                code="moments_columns",
                expectation="columns of numbers that differ from row to row",
                received=output.name,
                remedy="Leave out constants; each column must be a number with bounds.",
            )
        found.append(total)
    return found


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _unit(column: str, low: float, high: float) -> str:
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    return f"COALESCE((t.{_quoted(column)} - ({middle!r})) * ({1 / half!r}), 0.0)"


def _exchanges(rows: PlanNode) -> bool:
    """Whether rows may come as others go."""
    return isinstance(rows, Truncated) or any(map(_exchanges, rows.inputs))
