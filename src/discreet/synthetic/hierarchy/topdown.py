"""TopDown: every level measured, made to agree from the whole down, in whole counts.

Source: Abowd and others 2022 (TopDown); Cohen and others 2021 (ToyDown). Proof:
``proofs/topdown.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import RecordCount, require_size
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.workload import Workload
from discreet.synthetic.drawable import require_drawable
from discreet.synthetic.hierarchy.cell_table import CellTable
from discreet.synthetic.hierarchy.climb import Climb
from discreet.synthetic.hierarchy.families import Families, whole_children, whole_root
from discreet.synthetic.hierarchy.invariants import Invariants, invariants_of
from discreet.synthetic.hierarchy.kept_blocks import KeptBlocks
from discreet.synthetic.hierarchy.level_noise import (
    LevelError,
    LevelNoises,
    event_of,
    level_errors,
    noises_for,
    variances_of,
)
from discreet.synthetic.hierarchy.levels import Hierarchy
from discreet.synthetic.hierarchy.linear import descended
from discreet.synthetic.hierarchy.measured import Measured, measure
from discreet.synthetic.hierarchy.noisy_levels import noisy_levels
from discreet.synthetic.hierarchy.tree import Tree


@dataclass(frozen=True)
class _Levels:
    """What TopDown and ToyDown share: a hierarchy over a universe, measured level by level."""

    workload: Workload
    spend: Guarantee
    size: RecordCount
    hierarchy: Hierarchy
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_size(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        if not isinstance(self.hierarchy, Hierarchy):
            raise InvalidParameter(
                code="hierarchy_misfit",
                expectation="a hierarchy of levels",
                received=type(self.hierarchy).__name__,
                remedy='Write hierarchy=Hierarchy((Level("nation"), Level("town", by="town"))).',
            )
        require_drawable(*self.noises)

    @cached_property
    def tree(self) -> Tree:
        """The nodes there are."""
        return Tree(self.hierarchy, self.workload.universe)

    @cached_property
    def invariants(self) -> Invariants:
        """The public totals."""
        return invariants_of(self.tree, self.size)

    @cached_property
    def noises(self) -> LevelNoises:
        """What is added to the cells of each level; None where a level is not measured."""
        return noises_for(
            self.tree,
            self.invariants,
            spend=self.spend,
            size=self.size,
            records=self.records,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What one release costs: that of every measured level."""
        return event_of(self.noises)

    @cached_property
    def errors(self) -> tuple[LevelError, ...]:
        """The error of each level by least squares, before anything is spent."""
        return level_errors(self.tree, self.invariants, self.noises)


@dataclass(frozen=True)
class ToyDown(_Levels):
    """All levels by least squares: real numbers, unbiased, with an error that is known exactly.

    Nothing is rounded and negative counts stay. Levels add up and public totals are kept, to the
    last digits of floating point. For hierarchies whose cells fit in memory.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Hierarchy, public totals and all parameters are public.

    Guarantee: the composition of the events of all measured levels, at the spend. The variance of
    every estimate is ``errors``, and not above that of a level released alone at its share.

    Source: Cohen and others 2021. Proof: ``proofs/topdown.md``.
    """

    def __post_init__(self) -> None:
        """Refuse what does not fit in memory as well."""
        super().__post_init__()
        self.workload.universe.require_explicit(method="ToyDown")

    def release(self, counts: Counted) -> HistogramSynopsis:
        """Measure all levels, and make them agree."""
        with KeptBlocks() as kept:
            return self._agreed(measure(self.tree, self.noises, counts, kept))

    def _agreed(self, measured: Measured) -> HistogramSynopsis:
        tree = self.tree
        climb = Climb(tree, variances_of(self.noises), self.invariants.fixed, measured)
        final = climb.tables[0]
        for level in range(1, len(tree.nodes) - 1):
            starts = tree.starts[level - 1]
            final = descended(climb.tables[level], climb.spreads[level], final, starts)
        found = np.zeros(tree.universe.size)
        for leaves in climb.leaves():
            block = leaves.block
            done = descended(leaves.values, leaves.spread, final[block.parents], leaves.starts)
            nodes, detail = np.indices(done.shape).reshape(2, -1)
            found[tree.cells(nodes + block.first, detail)] = done.ravel()
        return HistogramSynopsis(tree.universe, found, self.event)


@dataclass(frozen=True)
class TopDown(_Levels):
    """All levels in whole counts that are not negative, add up, and keep public totals exactly.

    From the whole down, children get the nearest counts to what is known of them by least squares
    that are not negative and add up to their parent, which is final by then; then they are rounded
    so that sums stay. Leaves are counted, estimated and kept in blocks: there is never one array
    of all cells. The workload says over which universe; its queries do not matter here.

    Contract: as many cells above the last level, and below each node, as fit in memory.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Hierarchy, public totals and all parameters are public.

    Guarantee: the composition of the events of all measured levels, at the spend; all that follows
    is post-processing. ``errors`` are those of :class:`ToyDown`: counts that may not be negative
    err less on sparse tables, and are a little too high where truth is near zero: the levels as
    they were measured, without bias, are kept beside them.

    Source: Abowd and others 2022; 004d:D21. Proof: ``proofs/topdown.md``.
    """

    def release(self, counts: Counted) -> CellTable:
        """Measure all levels, and make them agree in whole counts."""
        with KeptBlocks() as kept:
            return self._agreed(measure(self.tree, self.noises, counts, kept))

    def _agreed(self, measured: Measured) -> CellTable:
        tree, known = self.tree, self.invariants
        climb = Climb(tree, variances_of(self.noises), known.fixed, measured)
        low, high = known.lowest, known.highest
        final = whole_root(climb.tables[0], int(low[0][0]), int(high[0][0]))
        for level in range(1, len(tree.nodes) - 1):
            families = Families(tree.starts[level - 1], low[level], high[level])
            final = whole_children(climb.tables[level], climb.spreads[level].shape, final, families)
        cells, numbers = [], []
        for leaves in climb.leaves():
            first, last = leaves.block.first, leaves.block.last
            families = Families(leaves.starts, low[-1][first:last], high[-1][first:last])
            above = final[leaves.block.parents]
            done = whole_children(leaves.values, leaves.spread.shape, above, families)
            nodes, detail = np.nonzero(done)
            cells.append(tree.cells(nodes + first, detail))
            numbers.append(done[nodes, detail])
        found, held = np.concatenate(cells), np.concatenate(numbers)
        order = np.argsort(found)
        levels = noisy_levels(tree, self.noises, measured)
        return CellTable(tree.universe, found[order], held[order], self.event, levels)
