"""What one analyst submits: queries read, checked and kept, without a look at anybody else's.

A query is conditions on attributes (``{"ward": "A"}``), a linear query, or an array with a weight
between 0 and 1 for each cell. The rule is public: at most so many queries, each of the round's
class; equal queries stay separate; the latest submission that kept the rule stands. A refusal is
for its own analyst to see, and depends on nothing but the submission and the rule.

Source: analysts-verified:H1. Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.parameters import count
from discreet.queries.analysts.query_class import Conjunctions, QueryClass, outside_class
from discreet.queries.workload.conditions import query_where
from discreet.queries.workload.families import All, Listed
from discreet.queries.workload.linear_query import LinearQuery, Region, Weights, query_of
from discreet.queries.workload.stored_form import packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Places, Product, Workload

Query = LinearQuery | Mapping[str, object] | ArrayLike
"""A linear query, conditions that records must meet, or one weight for each cell."""
Queries = Workload | Sequence[Query]


@dataclass(frozen=True, eq=False)
class Conjunction(LinearQuery):
    """Records that meet a condition on each attribute: zeros and ones for its values."""

    masks: tuple[Floats, ...]

    @property
    def cells(self) -> int:
        """How many cells the universe has."""
        return int(np.prod([mask.size for mask in self.masks]))

    @property
    def conditioned_places(self) -> Places:
        """The places of attributes with a condition that not every value meets."""
        return tuple(place for place, mask in enumerate(self.masks) if not mask.all())

    def answer(self, table: Floats) -> float:
        """The sum over the cells that meet all conditions."""
        return float(self.dense() @ table)

    def dense(self) -> Floats:
        """Zeros and ones."""
        return np.asarray(reduce(np.multiply.outer, self.masks)).ravel()

    @property
    def product(self) -> Product:
        """The same as part of a workload."""
        kept = self.conditioned_places
        return Product(
            tuple(
                Listed(mask[np.newaxis]) if place in kept else All(mask.size)
                for place, mask in enumerate(self.masks)
            )
        )


Held = Conjunction | Weights


@dataclass(frozen=True)
class Rule:
    """What everybody knows about submissions: the universe, the places, and the class."""

    universe: Universe
    most: int
    asked: QueryClass

    def __post_init__(self) -> None:
        """Refuse universes that are not written down, and no places."""
        self.universe.require_explicit(method="a round of queries")
        object.__setattr__(self, "most", count("queries_each", self.most))

    def read_queries(self, queries: Queries) -> tuple[Held, ...]:
        """One analyst's queries, in order; or a refusal, for this analyst to see."""
        try:
            return tuple(self._read_query(query) for query in self._each(queries))
        except DiscreetError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
            pass
        raise InvalidParameter(
            code="query_malformed",
            expectation="conditions, linear queries, or a weight for each cell",
            received=type(queries).__name__,
            remedy='Write [{"ward": "A"}], or one number between 0 and 1 for each cell.',
        )

    def _each(self, queries: Queries) -> Iterator[Query]:
        if isinstance(queries, Workload):
            many = queries.queries if queries.universe == self.universe else 0
            if not many:
                raise InvalidParameter(
                    code="workloads_differ",
                    expectation="a workload over the universe of the round",
                    received=type(queries).__name__,
                    remedy="Build it from `round.universe`.",
                )
            asked: Sequence[Query] = [
                query_of(queries, place) for place in range(min(many, self.most + 1))
            ]
        else:
            # Neither text nor one condition is a list of queries. What is read is what is counted:
            # a frame has another length than what it gives one by one.
            if isinstance(queries, str | bytes | Mapping):
                raise TypeError
            if not isinstance(queries, Sequence | np.ndarray):
                raise TypeError
            asked = list(islice(iter(queries), self.most + 1))
            many = len(asked)
        if many > self.most:
            raise InvalidParameter(
                code="queries_too_many",
                expectation=f"at most {self.most} queries of one analyst in a round",
                received=many,
                remedy="Leave some for the next round; the number of places is public and fixed.",
            )
        return iter(asked)

    def _read_query(self, query: Query) -> Held:
        if isinstance(query, Mapping):
            held: Held = self._conditions(query)
        elif isinstance(query, Region) and query.shape == self.universe.shape:
            held = Conjunction(tuple(map(_mask, query.shape, query.box)))
        elif isinstance(query, Conjunction):
            held = self._conjunction(query.masks)
        else:
            held = Weights(query.dense() if isinstance(query, LinearQuery) else query)
        if held.cells != self.universe.size:
            raise InvalidParameter(
                code="query_weights",
                expectation=f"{self.universe.size} weights between 0 and 1, one for each cell",
                received=held.cells,
                remedy="Build queries from `round.universe`.",
            )
        if isinstance(self.asked, Conjunctions):
            every = tuple(range(len(self.universe.shape)))
            kept = held.conditioned_places if isinstance(held, Conjunction) else every
            if isinstance(held, Weights) or len(kept) > self.asked.ways:
                raise outside_class(kept)
        return held

    def _conditions(self, conditions: Mapping[str, object]) -> Conjunction:
        for name in conditions:
            self.universe.place(name)
        masks = []
        for attribute in self.universe.attributes:
            alone = {k: v for k, v in conditions.items() if k == attribute.name}
            masks.append(query_where(Universe((attribute,)), alone).dense())
        return Conjunction(tuple(masks))

    def _conjunction(self, masks: Sequence[Floats]) -> Conjunction:
        """Masks of the right sizes, of zeros and ones."""
        held = tuple(np.asarray(mask, dtype=np.float64) for mask in masks)
        fits = tuple(mask.shape for mask in held) == tuple((n,) for n in self.universe.shape)
        if not fits or not all(np.isin(mask, (0.0, 1.0)).all() for mask in held):
            raise ValueError
        return Conjunction(held)

    def from_dict(self, plain: Sequence[Mapping[str, Any]]) -> tuple[Held, ...]:
        """What :func:`queries_to_dict` described."""
        return tuple(self._recalled(each) for each in plain)

    def _recalled(self, plain: Mapping[str, Any]) -> Held:
        if "weights" in plain:
            return Weights(unpacked(plain["weights"]))
        masks = []
        for size, places in zip(self.universe.shape, plain["values"], strict=True):
            mask = np.ones(size) if places is None else np.zeros(size)
            if places is not None:
                mask[np.asarray(places, dtype=np.int64)] = 1
            masks.append(mask)
        return Conjunction(tuple(masks))


def queries_to_dict(queries: Sequence[Held]) -> list[dict[str, object]]:
    """Queries for JSON."""
    return [_plain(query) for query in queries]


def _plain(query: Held) -> dict[str, object]:
    if isinstance(query, Weights):
        return {"weights": packed(query.values)}
    return {
        "values": [None if mask.all() else np.flatnonzero(mask).tolist() for mask in query.masks]
    }


def _mask(size: int, part: slice) -> Floats:
    mask = np.zeros(size)
    mask[part] = 1
    return mask
