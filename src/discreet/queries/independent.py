"""Independent noise on every answer: the yardstick that every other mechanism must beat.

A record changes the answers of a product by at most the largest column of its matrix, and those of
a workload by the sum over products. For marginals that is one cell in each.

Guarantee: the event of one additive release of all answers at their joint sensitivity.

Source: 000a:C3, F1; 004b:A1. Proof: ``proofs/independent.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import WholeNoise, noise_for
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.answer_noise.answer_noise import (
    AnswerNoise,
    noise_from_dict,
    noise_to_dict,
)
from discreet.queries.answer_noise.single_draws import SingleDraws
from discreet.queries.record_count import NoisyRecordCount, RecordCount, require_size
from discreet.queries.workload.cell_counts import Counted, marginal_counts
from discreet.queries.workload.linear_query import PLACES, on_grid
from discreet.queries.workload.stored_form import (
    not_plain,
    packed,
    product_from_dict,
    product_to_dict,
    unpacked,
)
from discreet.queries.workload.universe import LARGEST, Universe
from discreet.queries.workload.workload import Product, Workload, apply_each


@dataclass(frozen=True, eq=False)
class ReleasedAnswers:
    """Noisy answers of some products; answers those and nothing else."""

    universe: Universe
    released: tuple[tuple[Product, Floats], ...]
    event: Event
    noise: AnswerNoise | None = None

    def answers(self, workload: Workload) -> Floats:
        """What was released, product by product."""
        known = dict(self.released)
        missing = [product for product in workload.products if product not in known]
        if workload.universe != self.universe or missing:
            raise InvalidParameter(
                code="answers_not_released",
                expectation="products of the workload that was released",
                received=len(missing),
                remedy="Release a synopsis by another mechanism, which answers further queries.",
            )
        return np.concatenate([known[product] for product in workload.products])

    def to_dict(self) -> Mapping[str, object]:
        """The products and their answers."""
        entries = [
            {**product_to_dict(product), "values": packed(values)}
            for product, values in self.released
        ]
        return {"synopsis": "answers", "products": entries, **noise_to_dict(self.noise)}

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> ReleasedAnswers:
        """The answers that ``plain`` described."""
        entries = plain.get("products")
        if not isinstance(entries, list) or not all(isinstance(e, Mapping) for e in entries):
            raise not_plain()
        released = tuple((product_from_dict(e), unpacked(e.get("values"))) for e in entries)
        if any(values.shape != (product.queries,) for product, values in released):
            raise not_plain()
        return cls(universe, released, event, noise_from_dict(plain, universe))


@dataclass(frozen=True)
class IndependentNoise:
    """A workload and a spend. Works on universes of any size whose products stay small.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Guarantee: the event of one additive release of all answers at their joint sensitivity.

    Source: 000a:C3, 004b:A1. Proof: ``proofs/independent.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount = field(default_factory=NoisyRecordCount)
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse weights beyond [0, 1], before any data is seen."""
        require_size(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        shape = self.workload.universe.shape
        for product in self.workload.products:
            cells = math.prod(shape[place] for place in product.kept_places)
            if max(cells, product.queries) > LARGEST:
                raise InvalidParameter(
                    code="universe_too_large",
                    expectation=f"marginals of at most {LARGEST} cells, and as many queries",
                    received=max(cells, product.queries),
                    remedy="Ask for marginals of fewer attributes, or use coarser bins.",
                )
        self.noise  # noqa: B018 - refuses weights beyond [0, 1] and spends of another definition

    @cached_property
    def _products(self) -> tuple[Product, ...]:
        return on_grid(self.workload).products

    @cached_property
    def _step(self) -> Fraction:
        families = [family for each in self._products for family in each.families]
        return Fraction(1) if all(family.whole for family in families) else Fraction(1, 1 << PLACES)

    @cached_property
    def noise(self) -> WholeNoise:
        """What is added to every answer, in steps."""
        columns = [_columns(product, self._step) for product in self._products]
        # Triangle inequality over the moved cells: exchanged records lie in two.
        moved = self.records * self.size.changed_cells
        return noise_for(
            self.spend,
            l1=moved * sum(l1 for l1, _ in columns),
            l2=sqrt_above(Fraction(moved**2 * sum(squared for _, squared in columns))),
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noise.event

    @cached_property
    def rmse(self) -> float:
        """The standard deviation of every answer, in records."""
        return float(distribution_of(self.noise, step=float(self._step)).std)

    def deviations(self, workload: Workload) -> Floats:
        """The standard deviation of each answer: all are equal."""
        return np.full(workload.queries, self.rmse)

    def release(self, counts: Counted) -> ReleasedAnswers:
        """Answer each product from the marginal it looks at; one release of all answers."""
        universe, step = self.workload.universe, float(self._step)
        truth = [_truth(product, counts, universe) for product in self._products]
        steps = np.rint(np.concatenate(truth) / step).astype(np.int64)
        noisy = np.asarray(self.noise.release(steps), dtype=np.float64) * step
        parts = np.split(noisy, np.cumsum([len(part) for part in truth])[:-1])
        released = tuple(zip(self.workload.products, parts, strict=True))
        law = distribution_of(self.noise, step=float(self._step))
        return ReleasedAnswers(universe, released, self.event, SingleDraws(law))


def _truth(product: Product, counts: Counted, universe: Universe) -> Floats:
    kept = product.kept_places
    if not kept:
        names = universe.names[:1]
        return np.array([float(marginal_counts(counts, universe, names).sum())])
    table = marginal_counts(counts, universe, [universe.names[place] for place in kept])
    operators = [product.families[place].apply for place in kept]
    return np.ravel(apply_each(operators, table.astype(np.float64)))


def _columns(product: Product, step: Fraction) -> tuple[int, int]:
    """The largest L1 norm of a column and the largest squared L2 norm, in steps."""
    l1, squared, unit = 1, 1, int(1 / step)
    for family in product.families:
        if family.whole:
            # Of zeros and ones, both norms are the number of ones: the Gram matrix's diagonal.
            ones = int(family.gram().diagonal().max())
            l1, squared = l1 * ones, squared * ones
        else:
            steps = np.rint(family.dense() / float(step)).astype(np.int64)
            l1 *= int(steps.sum(axis=0).max())
            squared *= int((steps**2).sum(axis=0).max())
            unit = 1  # at most one family of a product is not whole
    return l1 * unit, squared * unit**2
