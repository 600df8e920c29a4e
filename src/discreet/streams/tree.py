"""The binary tree of partial sums: each prefix is a sum of few noisy nodes.

Ticks are the leaves. A node of level l covers 2**l ticks; a tick lies in one node of each level, so
with ``height`` levels one event moves ``height`` nodes. The prefix to tick t is made of one node
for each binary digit of t, and of the completed nodes of the top level. A height of one is noise
per tick; the usual height has two nodes on top, and no root.

Source: 000b:B40 (without the root; the cover is that of the binary form of t + 1 in the text's
numbering from zero), 004b:C9 (errata: with a root, a tick lies in floor(lg n) + 1 nodes); Honaker
2015, modern-learn:6 for weights. Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.core.parameters import count
from discreet.streams.contribution import ONE_COUNT, StreamSensitivity
from discreet.streams.counter import ContinualCounter, largest_increment
from discreet.streams.live_tree import LiveTree, ReducedLiveTree
from discreet.streams.stored import State
from discreet.streams.units import ItemLevel

_MOST_ITEMS = 1 << 36
"""More items than memory holds: no tick changes as many."""


@dataclass(frozen=True, kw_only=True)
class BinaryTree(ContinualCounter):
    """A tree of noisy partial sums over ``horizon`` ticks.

    Contract: increments are whole numbers, clamped so that totals stay within 2**61; estimates are
    whole numbers too. Memory is two numbers for each level and key.

    Guarantee: one release of all nodes that a prefix can need, at their sensitivity: ``height``
    times the events of the unit in L1.

    >>> from discreet.core.guarantee import PureDP
    >>> from discreet.streams.units import EventLevel
    >>> tree = BinaryTree(horizon=8, spend=PureDP(epsilon=1), unit=EventLevel())
    >>> tree.event, [tree.nodes(t) for t in range(1, 9)]
    (DiscreteLaplace(epsilon=1, steps=3), [1, 1, 2, 1, 2, 2, 3, 2])

    Source: 000b:B40, 004b:C9. Proof: ``proofs/streams.md``.

    Numerics: exact integers throughout.
    """

    kind: ClassVar[str] = "tree/1"

    levels: int | None = None

    def __post_init__(self) -> None:
        """Refuse a number of levels that is none."""
        super().__post_init__()
        if self.levels is not None:
            object.__setattr__(self, "levels", count("levels", self.levels))

    @property
    def height(self) -> int:
        """Levels of nodes: the given ones, or as many as leave two nodes on top."""
        return self.levels or max(1, (self.horizon - 1).bit_length())

    def sensitivity(self) -> StreamSensitivity:
        """One node of each level for each event; those of one person may meet in a node.

        Changes of one item take turns, so that they move a node by one at most.
        """
        events, at_once = self.unit.events, self.unit.per_tick
        if self._takes_turns:
            nodes = (-(-self.horizon >> level) for level in range(self.height))
            moved = Fraction(sum(min(events, each) for each in nodes))
            return StreamSensitivity(moved, moved)
        squares = sum(events * min(events, at_once << level) for level in range(self.height))
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events * self.height,
            Fraction(self.contribution.l2_squared) * squares,
        )

    @property
    def _takes_turns(self) -> bool:
        """Whether changes of an item reach the nodes as +1 and -1 in turns, none of them cut off.

        A tick of so many others' changes that its sum is clamped loses some of an item's, and what
        is left of them need not take turns.
        """
        alone = self.keys == 1 and self.contribution == ONE_COUNT
        never_cut_off = largest_increment(self.horizon) >= _MOST_ITEMS
        return isinstance(self.unit, ItemLevel) and alone and never_cut_off

    def nodes(self, t: int) -> int:
        """How many nodes the estimate at tick ``t`` adds up."""
        tick, top = self.require_tick(t), self.height - 1
        return (tick >> top) + (tick & ((1 << top) - 1)).bit_count()

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        return [(1.0, self.nodes(t))]

    def worst_tick(self) -> int:
        """The horizon, or a tick that shares its first digits and has ones from there on."""
        digits = range(self.horizon.bit_length())
        ones = ((self.horizon >> d << d) - 1 for d in digits if self.horizon >> d & 1)
        return max((self.horizon, *(t for t in ones if t > 0)), key=self.variance)

    def shape(self) -> State:
        return {"levels": self.levels}

    def memory(self) -> int:
        return 8 * self.keys * (2 * self.height + 1)

    def open(self) -> LiveTree:
        return LiveTree(self)


@dataclass(frozen=True, kw_only=True)
class ReducedTree(BinaryTree):
    """The tree with variance reduction: a node also learns from the nodes below it.

    When a node is complete, its own noisy sum is averaged with the sum of its children's estimates
    by their precisions. A node of level l then has 1/(2 - 2**-l) of the variance, for the same
    price: only post-processing is added. Nothing of the future is used.

    Contract: as for :class:`BinaryTree`; estimates are real numbers. Memory is three numbers for
    each level and key.

    Guarantee: that of :class:`BinaryTree`.

    Source: Honaker 2015; modern-learn:6. Proof: ``proofs/streams.md``.

    Numerics: estimates are computed from noisy integers, in double precision.
    """

    kind: ClassVar[str] = "reduced-tree/1"

    @cached_property
    def own_weights(self) -> tuple[float, ...]:
        """The weight of a node's own noisy sum, by level."""
        weights, variance = [1.0], 1.0
        for _ in range(1, self.height):
            weights.append(2 * variance / (1 + 2 * variance))
            variance = weights[-1]
        return tuple(weights)

    @cached_property
    def _by_level(self) -> tuple[dict[float, int], ...]:
        """Coefficients of all draws in the estimate of a node, by level, with their numbers."""
        found: list[dict[float, int]] = [{1.0: 1}]
        for own in self.own_weights[1:]:
            below = {(1 - own) * c: 2 * many for c, many in found[-1].items()}
            found.append({**below, own: below.get(own, 0) + 1})
        return tuple(found)

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        tick, top = self.require_tick(t), self.height - 1
        used = [(level, tick >> level & 1) for level in range(top)] + [(top, tick >> top)]
        return [
            (c, many * n) for level, n in used for c, many in self._by_level[level].items() if n
        ]

    def variance(self, t: int) -> float:
        """A node of level l has 1/(2 - 2**-l) of the variance of one draw."""
        tick, top = self.require_tick(t), self.height - 1
        nodes = [tick >> level & 1 for level in range(top)] + [tick >> top]
        share = sum(n / (2 - 2.0**-level) for level, n in enumerate(nodes))
        return share * self.noise.distribution.std**2

    def memory(self) -> int:
        return 8 * self.keys * (3 * self.height + 1)

    def open(self) -> ReducedLiveTree:
        return ReducedLiveTree(self)
