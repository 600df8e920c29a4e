"""The published tables: counts of one level's nodes, from anything that answers a workload.

Source: Abowd and others 2022.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
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
