"""Which questions of a batch speak of the same rows, and the split of a spend that uses it.

Two measures are related if they add up the same contributions over the same rows and differ only
in their keys. A key is a function of the row with a finite public list of values or NULL; with
NULL as one more value every row lies in exactly one cell, so sums over a key lead from one
question to another, and the answers can be made to agree.

Only where no rows are chosen by a salted hash, by person or by key: which ones stay depends on
the question.

Source: 004d:D21; 000a:C11. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.queries.synopses.marginals import MOST_AXES, Axes, Marginals
from discreet.relational.aggregates.measures import CountRows, Linear, Total
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.identity.identity import canonical_text
from discreet.relational.plan.keys import MAX_CELLS, Block, KeySet
from discreet.relational.plan.nodes import Distinct, Filtered, PlanNode, Scan, UnionAll
from discreet.relational.plan.query import Query
from discreet.relational.planning.allocation import (
    Noised,
    WeightedMeasure,
    relative_variance,
    shares,
)

_ROUNDS = 400
_UNPROCESSED = 0.05
"""Weight of the answers before they are made to agree, so that none of them is left to itself."""


@dataclass(frozen=True)
class RelatedMeasures:
    """Related measures: their numbers among all parts of a batch, and their marginals."""

    members: tuple[int, ...]
    marginals: Marginals


def public_keys(query: Query) -> KeySet:
    """The keys of a question that can be part of a batch: known before anything is paid."""
    if isinstance(query.keys, KeySet):
        return query.keys
    raise InvalidParameter(
        code="batch_keys",
        expectation="questions whose keys are declared, in a batch",
        remedy="Ask questions with discovered keys by `sql`, or declare dp.Category.",
    )


def whole_keys(keys: KeySet) -> KeySet:
    """The keys with NULL as a value of each, so that every row lies in one cell."""
    return KeySet(tuple(_whole(block) for block in keys.blocks))


def _whole(block: Block) -> Block:
    if len(block.expressions) != 1 or (None,) in block.entries:
        return block
    return replace(block, entries=(*block.entries, (None,)))


def axes_of(keys: KeySet) -> tuple[str, ...]:
    """The name of each block, equal where keys and their values are."""
    return tuple(canonical_text(_whole(block)) for block in keys.blocks)


def cells_among(asked: KeySet, whole: KeySet) -> NDArray[np.int64]:
    """The numbers that the cells of ``asked`` have among those of :func:`whole_keys`."""
    inner = [len(block.entries) for block in asked.blocks]
    outer = [len(block.entries) for block in whole.blocks]
    if not inner:
        return np.zeros(1, dtype=np.int64)
    places = np.unravel_index(np.arange(asked.cells), inner)
    return np.asarray(np.ravel_multi_index(places, outer), dtype=np.int64)


def families(parts: Sequence[tuple[Query, Linear, bool]]) -> tuple[RelatedMeasures, ...]:
    """Groups of related parts, of at least two. The flag says that rows are bounded by person."""
    found: dict[tuple[str, str, frozenset[str]], list[int]] = {}
    for number, (query, measure, bounded) in enumerate(parts):
        additive = isinstance(measure, CountRows | Total) and not bounded
        if not (additive and _steady(query.rows) and _simple(public_keys(query))):
            continue
        fixed = frozenset(
            canonical_text(block)
            for block in public_keys(query).blocks
            if len(block.expressions) != 1
        )
        rows, what = canonical_text(query.rows), canonical_text(measure)
        found.setdefault((rows, what, fixed), []).append(number)
    return tuple(
        RelatedMeasures(
            tuple(members), _marginals([public_keys(parts[number][0]) for number in members])
        )
        for members in found.values()
        if len(members) > 1
    )


def _steady(rows: PlanNode) -> bool:
    """Whether the rows are the same whatever is asked about them."""
    steps = (Scan, Filtered, JoinedPublic, Unnested, UnionAll, Distinct, PartitionFilter)
    return isinstance(rows, steps) and all(map(_steady, rows.inputs))


def _simple(keys: KeySet) -> bool:
    """Whether keys can be an axis each: no key twice, and not too many."""
    names = axes_of(keys)
    if len(set(names)) < len(names) or len(names) > MOST_AXES:
        return False
    cells = 1
    for block in keys.blocks:
        cells *= len(_whole(block).entries)
    return cells <= MAX_CELLS


def _marginals(keys: Sequence[KeySet]) -> Marginals:
    sizes: dict[str, int] = {}
    sets: list[Axes] = []
    for each in keys:
        names = axes_of(each)
        whole = whole_keys(each)
        sizes |= {name: len(block.entries) for name, block in zip(names, whole.blocks, strict=True)}
        sets.append(frozenset(names))
    return Marginals(sizes, tuple(sets))


@dataclass(frozen=True)
class JointSplit:
    """The split that minimises the error of all cells after they are made to agree.

    With the precision p_i of each part, the error is Σ_a g_a / (D p)_a: one row of D for each
    residual of each family, and one for each part by itself. Shares of rho are precisions; those
    of epsilon go with their roots. Both are found by a multiplicative iteration whose fixed
    points are stationary; for a part unrelated to others it takes one step.

    ``by_epsilon`` and ``by_rho`` say what a unit of each part's variance at its whole share counts,
    in place of its weight. What is chosen by rank follows the parts and keeps its weight.
    """

    families: tuple[RelatedMeasures, ...]
    by_epsilon: tuple[float, ...]
    by_rho: tuple[float, ...]

    @cached_property
    def related(self) -> frozenset[int]:
        """The parts that belong to a family."""
        return frozenset(number for family in self.families for number in family.members)

    def epsilons(self, weights: Sequence[float]) -> list[Fraction]:
        """Shares of epsilon."""
        return self._shares(self.by_epsilon, weights, 2)

    def rhos(self, weights: Sequence[float]) -> list[Fraction]:
        """Shares of rho."""
        return self._shares(self.by_rho, weights, 1)

    def error(self, parts: Sequence[WeightedMeasure], noised: Sequence[Noised]) -> float:
        """The weighted variances of all parts after they are made to agree."""
        if not parts:  # everything is chosen by rank, or keys alone are asked for
            return 0.0
        gains, telling = self._error([part.weight for part in parts])
        variances = [
            relative_variance(part, item) for part, item in zip(parts, noised, strict=True)
        ]
        precision = telling @ (1 / np.maximum(variances, 1e-12))
        return float(gains @ (1 / precision))

    def _shares(
        self, counted: tuple[float, ...], weights: Sequence[float], power: int
    ) -> list[Fraction]:
        if not weights:  # keys alone are asked for
            return []
        gains, telling = self._error([*counted, *weights[len(counted) :]])
        share = np.full(len(weights), 1 / len(weights))
        for _ in range(_ROUNDS):
            precision = telling @ share**power
            slope = telling.T @ (gains / precision**2)
            step = (share ** (power - 1) * slope) ** (1 / (power + 1))
            share = share * step
            share /= share.sum()
        return shares(share.tolist(), 1.0)

    def _error(self, weights: Sequence[float]) -> tuple[Floats, Floats]:
        """The gains g and the rows of D; the parts beyond a batch's measures are its choices."""
        size = len(weights)
        rows: list[Floats] = []
        gains: list[float] = []
        for family in self.families:
            marginals, members = family.marginals, list(family.members)
            wide = np.zeros((len(marginals.residuals), size))
            wide[:, members] = marginals.telling
            rows.extend(wide)
            inside = np.array([weights[number] for number in members])
            gains.extend((inside @ marginals.carrying).tolist())
        for number, weight in enumerate(weights):
            alone = np.zeros(size)
            alone[number] = 1.0
            rows.append(alone)
            gains.append(weight * (_UNPROCESSED if number in self.related else 1.0))
        return np.array(gains), np.array(rows)
