"""The published tables: counts of one level's nodes, from anything that answers a workload.

Beside them the counts as they were measured, before levels were made to agree.

Source: Abowd and others 2022; 004d:D21.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.mechanisms.distributions.cut_bias import cut_bias
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.hierarchy.cell_table import CellTable
from discreet.synthetic.hierarchy.levels import Hierarchy, Key
from discreet.synthetic.hierarchy.tree import Tree


class Answering(Protocol):
    """Something that knows a universe and answers for it: a synopsis, or a curator's release."""

    @property
    def universe(self) -> Universe:
        """What it knows about."""

    def answers(self, workload: Workload) -> Floats:
        """All answers of a workload, in its order."""


def level_counts(hierarchy: Hierarchy, released: Answering, name: str) -> dict[Key, float]:
    """The number of records of every node of a level, by its labels; free.

    Contract: the attributes that tell the level's nodes apart have values for one table in memory.
    """
    universe, level = released.universe, hierarchy.place(name)
    tree = Tree(hierarchy, universe)
    if level == 0:
        first = universe.names[:1]
        return {(): float(released.answers(Workload.marginal(universe, first)).sum())}
    told = [each.by for each in hierarchy.levels[1 : level + 1] if each.by is not None]
    names = list(dict.fromkeys(told))
    places = sorted(names, key=universe.place)
    found = released.answers(Workload.marginal(universe, names))
    table = found.reshape([universe.shape[universe.place(each)] for each in places])
    table = np.transpose(table, [places.index(each) for each in names])
    return dict(zip(tree.keys(level), tree.gathered(level, table).tolist(), strict=True))


@dataclass(frozen=True)
class MeasuredCount:
    """A node's count as it was measured beside the one that was made to agree.

    Attributes:
        released: The whole count that adds up and is not negative.
        measured: The sum of the node's noisy cells: without bias, and perhaps negative.
        deviation: The standard deviation of the noise in ``measured``.
        if_empty: What cutting off each of its cells at zero by itself would add on average, were
            the node empty: the bias of the law of the noise alone, before levels are reconciled.
    """

    released: float
    measured: float
    deviation: float
    if_empty: float

    @property
    def bias(self) -> float:
        """``released`` - ``measured``: on average over the noise, the bias of the released count.

        One node's says little, since it holds the noise of both. The mean over many nodes of a
        kind, such as all small ones, is an estimate of their bias.
        """
        return self.released - self.measured


def measured_counts(
    hierarchy: Hierarchy, released: Answering, name: str
) -> dict[Key, MeasuredCount]:
    """Every node of a level by its labels, before and after levels were made to agree; free.

    Contract: what TopDown left behind, or a curator's release of it, for the same hierarchy; and a
    level that was measured and has at most 2**20 cells, else there is nothing to be shown.
    """
    final = level_counts(hierarchy, released, name)
    table = getattr(released, "synopsis", released)
    level = hierarchy.place(name)
    kept = table.levels[level] if isinstance(table, CellTable) and table.levels else None
    tree = Tree(hierarchy, released.universe)
    if kept is None or kept.counts.shape != (tree.nodes[level], tree.detail):
        raise InvalidParameter(
            code="hierarchy_misfit",
            expectation="a level of TopDown that was measured, of at most 2**20 cells",
            received=name,
            remedy="Give the level a share, leave detail out, or read level_counts.",
        )
    deviation = kept.law.std * math.sqrt(tree.detail)
    if_empty = cut_bias(kept.law) * tree.detail
    sums = kept.counts.sum(axis=1).tolist()
    return {
        key: MeasuredCount(final[key], float(own), deviation, if_empty)
        for key, own in zip(tree.keys(level), sums, strict=True)
    }
