"""Estimated counts by some of the attributes: what product strategies leave of large universes.

Source: 004b:A7 (Kronecker strategies; nothing of the universe's size is ever needed).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.queries.answer_noise.answer_noise import (
    AnswerNoise,
    noise_from_dict,
    noise_to_dict,
)
from discreet.queries.synopses.synopsis import (
    Synopsis,
    bias_told,
    unprocessed_from_dict,
    unprocessed_to_dict,
)
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product, Workload, apply_each


@dataclass(frozen=True, eq=False)
class PartialTable:
    """Estimated counts by the attributes at some places of the universe, an axis for each."""

    places: tuple[int, ...]
    counts: Floats

    def answers(self, product: Product) -> Floats:
        """The answers of a product that keeps no other attribute."""
        gone = tuple(
            axis for axis, place in enumerate(self.places) if place not in product.kept_places
        )
        return answered(product, self.counts.sum(axis=gone))


@dataclass(frozen=True, eq=False)
class PartialTables:
    """Tables by some attributes each; a query is answered from the smallest that holds it."""

    universe: Universe
    tables: tuple[PartialTable, ...]
    event: Event
    noise: AnswerNoise | None = None
    unprocessed: Synopsis | None = None

    @property
    def biased(self) -> str | None:
        """In which way its counts are wrong on average, in words; None where they are not known."""
        return bias_told(self.unprocessed)

    def answers(self, workload: Workload) -> Floats:
        """Sums of estimated counts; queries by attributes that were not measured are refused."""
        require_same(workload, self.universe)
        return np.concatenate([self._holding(p).answers(p) for p in workload.products])

    def _holding(self, product: Product) -> PartialTable:
        fit = [table for table in self.tables if set(product.kept_places) <= set(table.places)]
        if not fit:
            raise not_measured(self.universe, product)
        return min(fit, key=lambda table: table.counts.size)

    def to_dict(self) -> Mapping[str, object]:
        """The tables, with the places of their attributes, and what is known of their noise."""
        tables = [{"places": list(t.places), "counts": packed(t.counts)} for t in self.tables]
        return {
            "synopsis": "partial tables",
            "tables": tables,
            **noise_to_dict(self.noise),
            **unprocessed_to_dict(self.unprocessed),
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> PartialTables:
        """The tables that ``plain`` described."""
        entries = plain.get("tables")
        if not isinstance(entries, list):
            raise not_plain()
        tables = tuple(_read_partial_table(entry, universe) for entry in entries)
        before = unprocessed_from_dict(plain, universe, event)
        return cls(universe, tables, event, noise_from_dict(plain, universe), before)


def _read_partial_table(entry: object, universe: Universe) -> PartialTable:
    if not isinstance(entry, Mapping):
        raise not_plain()
    places, shape = placed(entry.get("places"), universe)
    counts = unpacked(entry.get("counts"))
    if counts.shape != shape:
        raise not_plain()
    return PartialTable(places, counts)


def placed(stored: object, universe: Universe) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Stored places of attributes, and the shape of a table by them."""
    if not isinstance(stored, list) or len(set(stored)) < len(stored):
        raise not_plain()
    if not all(isinstance(p, int) and 0 <= p < len(universe.shape) for p in stored):
        raise not_plain()
    return tuple(stored), tuple(universe.shape[place] for place in stored)


def answered(product: Product, table: Floats) -> Floats:
    """A product's answers from counts by exactly the attributes that it keeps, in their order."""
    if not product.kept_places:
        return np.full(math.prod(f.queries for f in product.families), float(table))
    return np.ravel(
        apply_each([product.families[place].apply for place in product.kept_places], table)
    )


def require_same(workload: Workload, universe: Universe) -> None:
    """Refuse a workload over another universe."""
    if workload.universe != universe:
        raise InvalidParameter(
            code="workloads_differ",
            expectation="a workload over the synopsis's own universe",
            remedy="Build it from synopsis.universe.",
        )


def not_measured(universe: Universe, product: Product) -> InvalidParameter:
    """A query looks at attributes that were never measured together."""
    return InvalidParameter(
        code="marginal_not_measured",
        expectation="queries by attributes that were measured together",
        received=tuple(universe.names[place] for place in product.kept_places),
        remedy="Put this marginal into the mechanism's workload; a released synopsis cannot learn.",
    )
