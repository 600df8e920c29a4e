"""All analysts' queries of one round, in a public shape.

Everybody has the same public number of places, ``most``; places that are not used hold a constant
query. Equal queries stay separate. An analyst whose queries are malformed, outside [0, 1] or too
many is told so when submitting, and nobody else is; one who submits nothing, or leaves, has
constant queries only. What others see has the same shape in all cases.

Weights are stored on a public grid of 1/255 (or any number of levels up to 65535), one byte each.

Source: analysts-verified:H1, boosting-and-analysts:H9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.workload.linear_query import LinearQuery, query_of
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

Levels = NDArray[np.unsignedinteger]

FINEST = 65535
_CHUNK = 1 << 18
_TILE = 64
_MOST_ROWS = 1 << 14


@dataclass(frozen=True)
class RoundShape:
    """What everybody knows of a round's queries: their universe and their numbers.

    ``levels`` is the grid: a weight w is held as w * levels, rounded.

    Assumptions: all of it is public.

    Guarantee: what others see of a round has this shape, whoever asks what.

    Source: analysts-verified:H1.
    """

    universe: Universe
    analysts: int
    most: int
    levels: int = 255

    def __post_init__(self) -> None:
        """Refuse empty shapes, universes that do not fit into memory, and finer grids."""
        self.universe.require_explicit(method="a game over its cells")
        for name in ("analysts", "most", "levels"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.levels > FINEST:
            raise InvalidParameter(
                code="levels_too_many",
                expectation=f"at most {FINEST} levels",
                received=self.levels,
                remedy="Use 255, or 1 where all queries are predicates.",
            )

    @property
    def queries(self) -> int:
        """How many queries there are, padding included."""
        return self.analysts * self.most

    def submit(self, queries: Workload | Sequence[LinearQuery | ArrayLike]) -> Levels:
        """One analyst's queries on the grid, padded; or a refusal, for this analyst to see."""
        rows = self._rows(queries)
        held = np.zeros((self.most, self.universe.size), dtype=self.dtype)
        for place, row in enumerate(rows):
            held[place] = np.rint(row * self.levels)
        return held

    def holds(self, rows: object) -> bool:
        """Whether these are one analyst's rows, as :meth:`submit` makes them."""
        return (
            isinstance(rows, np.ndarray)
            and rows.shape == (self.most, self.universe.size)
            and rows.dtype == self.dtype
            and bool((rows <= self.levels).all())
        )

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """One byte where that is enough."""
        return np.dtype(np.uint8 if self.levels <= np.iinfo(np.uint8).max else np.uint16)

    def _rows(self, queries: Workload | Sequence[LinearQuery | ArrayLike]) -> list[Floats]:
        if isinstance(queries, Workload):
            if queries.universe.shape != self.universe.shape:
                raise _unreadable(expectation="a workload over the universe of the round")
            asked: Sequence[LinearQuery | ArrayLike] = [
                query_of(queries, place) for place in range(min(queries.queries, self.most + 1))
            ]
        elif isinstance(queries, Sequence | np.ndarray) and not isinstance(queries, str | bytes):
            asked = queries
        else:
            raise _unreadable(expectation="a workload, or a list of queries")
        if len(asked) > self.most:
            raise InvalidParameter(
                code="queries_too_many",
                expectation=f"at most {self.most} queries of one analyst in a round",
                received=len(asked),
                remedy="Leave some for the next round; the number of places is public and fixed.",
            )
        return [self._row(query) for query in asked]

    def _row(self, query: LinearQuery | ArrayLike) -> Floats:
        given = query.dense() if isinstance(query, LinearQuery) else query
        try:
            row = np.asarray(given, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise _unreadable(expectation="a number for each cell of each query") from None
        if row.size != self.universe.size or not (row.min() >= 0 and row.max() <= 1):
            raise InvalidParameter(
                code="query_weights",
                expectation=f"{self.universe.size} weights between 0 and 1, one for each cell",
                received=row.shape,
                remedy="Scale the query; the answer scales back.",
            )
        return row


@dataclass(frozen=True, eq=False)
class QuerySet:
    """The queries of a round, one row each, analyst after analyst.

    Assumptions: queries were checked when they were submitted; unused places hold a constant query.

    Guarantee: its shape tells nothing; its content is private to the analysts.

    Source: analysts-verified:H1, boosting-and-analysts:H9.
    """

    shape: RoundShape
    rows: Levels

    def __post_init__(self) -> None:
        """Refuse rows of another shape, before any data is opened."""
        wanted = (self.shape.queries, self.shape.universe.size)
        fits = self.rows.shape == wanted and self.rows.dtype == self.shape.dtype
        if not fits or (self.shape.levels < np.iinfo(self.shape.dtype).max and self._exceeds()):
            raise InvalidParameter(
                code="query_set_misfit",
                expectation=f"{wanted[0]} rows of {wanted[1]} levels up to {self.shape.levels}",
                received=(self.rows.shape, str(self.rows.dtype)),
                remedy="Build it with QuerySet.of(shape, analysts, submitted).",
            )

    @classmethod
    def of(
        cls, shape: RoundShape, analysts: Sequence[str], submitted: Mapping[str, Levels]
    ) -> QuerySet:
        """What was submitted, in the public order of analysts; others have constant queries."""
        if len(analysts) != shape.analysts or len(set(analysts)) < len(analysts):
            raise InvalidParameter(
                code="analysts_misfit",
                expectation=f"the names of {shape.analysts} analysts, each once",
                received=len(analysts),
                remedy="List everybody who may submit, whether they do or not.",
            )
        rows = np.zeros((shape.queries, shape.universe.size), dtype=shape.dtype)
        for place, name in enumerate(analysts):
            if name in submitted:
                # One analyst's malformed rows are padding, and no failure of everybody's round.
                if not shape.holds(submitted[name]):
                    continue
                rows[place * shape.most : (place + 1) * shape.most] = submitted[name]
        return cls(shape, rows)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.shape.universe.size

    def sums(self, counts: NDArray[np.integer]) -> NDArray[np.int64]:
        """Each query's sum of levels over all records: exact, below 2**53."""
        out = np.empty(len(self.rows), dtype=np.int64)
        table = counts.astype(np.float64)
        for part in self._chunks():
            out[part] = np.rint(_over_cells(self.rows[part], table))
        return out

    def means(self, table: Floats | NDArray[np.integer]) -> Floats:
        """Each query's mean over a table of any positive weights."""
        weights = np.asarray(table, dtype=np.float64).ravel()
        out = np.empty(len(self.rows))
        for part in self._chunks():
            out[part] = _over_cells(self.rows[part], weights)
        return np.asarray(out / (self.shape.levels * weights.sum()))

    def at(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each query's sum of levels over some cells, repeated as often as they are named."""
        total = np.zeros(len(self.rows), dtype=np.int64)
        for cell in cells:
            total += self._columns[cell]
        return total

    @cached_property
    def _columns(self) -> Levels:
        """The same with one row for each cell: a second copy, read ten times as fast."""
        turned = np.empty(self.rows.shape[::-1], dtype=self.rows.dtype)
        for start in range(0, len(self.rows), _TILE):
            turned[:, start : start + _TILE] = self.rows[start : start + _TILE].T
        return turned

    def along(self, weights: NDArray[np.floating]) -> Floats:
        """For each cell, the sum over queries of a weight times the level.

        Levels are read in the precision of the weights: the faster single one is exact for whole
        weights whose sum stays below 2**24 levels.
        """
        total = np.zeros(self.cells)
        used = np.flatnonzero(weights)
        step = self._step
        for start in range(0, len(used), step):
            part = used[start : start + step]
            levels = self.rows[part].astype(weights.dtype)
            total += np.einsum("q,qx->x", weights[part], levels)
        return total

    @property
    def _step(self) -> int:
        """Rows that are read at once: few enough for a cache, and for short sums."""
        return min(max(1, _CHUNK // self.cells), _MOST_ROWS)

    def _chunks(self) -> list[slice]:
        step = self._step
        return [slice(start, start + step) for start in range(0, len(self.rows), step)]

    def _exceeds(self) -> bool:
        return bool((self.rows > self.shape.levels).any())


def _unreadable(*, expectation: str) -> InvalidParameter:
    """What one analyst submitted is no query; for this analyst to see."""
    return InvalidParameter(
        code="query_unreadable",
        expectation=expectation,
        remedy="Submit Weights, Region, arrays of weights, or a Workload over this universe.",
    )


def _over_cells(rows: Levels, table: Floats) -> Floats:
    """Sums of levels times a table; small pieces without threads are fastest."""
    return np.asarray(np.einsum("qx,x->q", rows.astype(np.float64), table))
