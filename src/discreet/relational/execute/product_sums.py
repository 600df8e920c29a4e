"""One statement for sums of products of columns, cell by cell, over the rows that count.

Contributions of columns are those of any question: cleaned, clamped and rounded to whole steps,
each at most 2**30 + 1 from the centre. So a product fits 62 bits, and is added up as whole numbers.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.unit import Person
from discreet.relational.aggregates.measures import Total
from discreet.relational.compile.compiler import Compiler
from discreet.relational.engines.engine import Engine
from discreet.relational.execute.exact_aggregation import _Run, joined_halves
from discreet.relational.execute.row_contributions import RowContributions
from discreet.relational.plan.query import Query

Exact = NDArray[Any]


@dataclass(frozen=True)
class ProductSums(_Run):
    """Sums of products of (1, columns) for each of some ``pairs``, and how many values there are.

    Contract: ``pairs`` name each column alone first, as ``Products.pairs`` does.
    """

    pairs: tuple[tuple[int, int], ...] = ()

    @classmethod
    def over(
        cls,
        query: Query,
        totals: tuple[Total, ...],
        pairs: tuple[tuple[int, int], ...],
        person: Person | None,
        engine: Engine,
        *,
        salt: int,
    ) -> ProductSums:
        """The statement under a salt; ``person`` is given where rows have owners to bound."""
        compiler = Compiler.of(engine, salt=salt)
        owned = person is not None
        contributions = RowContributions(
            query.rows,
            query.keys,
            totals,
            compiler,
            compiler.listed,
            owned=owned,
            told_apart=owned,
        )
        return cls(query, person, engine, contributions, (), (), pairs)

    @cached_property
    def text(self) -> str:
        """A SELECT of the cell's number, the number of rows, of values, and all sums."""
        columns = len(self.measures)
        counts = ["COUNT(*)", *(f"COUNT(c{number})" for number in range(columns))]
        sums = [self.engine.dialect.wide_sum(self._product(*pair)) for pair in self.pairs]
        named = [f"{each} AS m{number}" for number, each in enumerate((*counts, *sums))]
        halves = self.engine.dialect.halves
        outer = [f"m{number}" for number in range(len(counts))]
        outer += [
            half for number in range(len(counts), len(named)) for half in halves(f"m{number}")
        ]
        return self._grouped(named, (), outer)

    def _product(self, i: int, j: int) -> str:
        """A product in 64 bits; NULL, which adds nothing, where a factor is missing."""
        return f"CAST(c{j - 1} AS BIGINT)" + (f" * CAST(c{i - 1} AS BIGINT)" if i else "")

    def exact(self) -> tuple[Exact, list[Exact], list[Exact]]:
        """By cell: the number of rows, of values of each column, and the sum for each pair."""
        cell, *fetched = self.engine.numbers(self.text)
        parts: Iterator[Exact] = iter(fetched)
        rows = self._spread(cell, next(parts))
        there = [self._spread(cell, next(parts)) for _ in self.measures]
        sums = [self._at(cell, joined_halves(next(parts), next(parts))) for _ in self.pairs]
        return rows, there, sums

    def _at(self, cell: NDArray[np.int64], found: Exact) -> Exact:
        return self._spread(cell, found.astype(object))
