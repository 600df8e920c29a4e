"""Public totals of a hierarchy, and what follows from them: decided on declarations alone.

A node's total lies between a lowest and a highest number: its public total, else the sums of its
children's ends. If every public total lies between the sums below it, whole counts that keep all of
them exist, whatever the estimates are: children are a transportation problem, whose table of whole
numbers exists as soon as the sums agree.

Source: Abowd and others 2022 (invariants); contract, "Columns" (declared, never read from rows).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Ints
from discreet.core.errors import InvalidParameter
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.synthetic.hierarchy.levels import Key
from discreet.synthetic.hierarchy.tree import Tree

UNBOUNDED = 1 << 60
"""More records than there are."""


@dataclass(frozen=True, eq=False)
class Invariants:
    """By level: public totals (-1 where there is none), and the ends of every node's total."""

    fixed: tuple[Ints | None, ...]
    lowest: tuple[Ints, ...]
    highest: tuple[Ints, ...]

    def bounded(self, level: int) -> bool:
        """Whether any node of a level has a total that is bounded."""
        low, high = self.lowest[level], self.highest[level]
        return bool((low > 0).any() or (high < UNBOUNDED).any())


def invariants_of(tree: Tree, size: RecordCount) -> Invariants:
    """The public totals of a tree; refused where no whole counts could keep all of them."""
    fixed = [_fixed(tree, level, size) for level in range(len(tree.nodes))]
    lowest: list[Ints] = []
    highest: list[Ints] = []
    for level in range(len(tree.nodes) - 1, -1, -1):
        if lowest:
            starts = tree.starts[level][:-1]
            low = np.add.reduceat(lowest[0], starts)
            # Unbounded children stay so; sums of a million of them still fit.
            free = np.logical_or.reduceat(highest[0] >= UNBOUNDED, starts)
            known = np.where(highest[0] >= UNBOUNDED, 0, highest[0])
            high = np.where(free, UNBOUNDED, np.add.reduceat(known, starts))
        else:
            low = np.zeros(tree.nodes[level], dtype=np.int64)
            high = np.full(tree.nodes[level], UNBOUNDED)
        told = fixed[level]
        if told is not None:
            wrong = np.flatnonzero((told >= 0) & ((told < low) | (told > high)))
            if len(wrong):
                raise _conflict(tree, level, int(wrong[0]), told)
            low, high = np.where(told >= 0, told, low), np.where(told >= 0, told, high)
        lowest.insert(0, low)
        highest.insert(0, high)
    return Invariants(tuple(fixed), tuple(lowest), tuple(highest))


def _fixed(tree: Tree, level: int, size: RecordCount) -> Ints | None:
    """The public totals of a level; where records are exchanged their number is one of them."""
    declared: dict[Key, int] = dict(tree.hierarchy.levels[level].totals)  # type: ignore[arg-type]
    public = level == 0 and isinstance(size, PublicCount)
    if public and declared.setdefault((), size.records) != size.records:  # type: ignore[union-attr]
        raise InvalidParameter(
            code="invariants_conflict",
            expectation=f"the public number of records as the total of {tree.hierarchy.names[0]!r}",
            received=declared[()],
            remedy="Leave the total out: where records are exchanged it is known.",
        )
    if not declared:
        return None
    found = np.full(tree.nodes[level], -1, dtype=np.int64)
    for key, number in declared.items():
        found[tree.node(level, key)] = number
    return found


def _conflict(tree: Tree, level: int, node: int, told: Ints) -> InvalidParameter:
    return InvalidParameter(
        code="invariants_conflict",
        expectation=f"public totals that add up below {tree.keys(level)[node]!r} of level "
        f"{tree.hierarchy.names[level]!r}",
        received=int(told[node]),
        remedy="Correct one of the totals, or leave one out.",
    )
