"""Weights of lists of cuts, summed over their beginnings, and the exact draw of one list.

A list is proposed by blocks of cuts and then kept or not. For every block the table holds two sums
for each level j: over lists whose j-th cut is the *first* of them in that block, and over lists
whose j-th is the *last* there, each at the least cost that its blocks allow. Within a block of L
places, r cuts in weak order can be placed in ``binomial(L + r - 1, r)`` ways.

Proof: ``proofs/joint_quantiles.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Ints
from discreet.mechanisms.quantiles.blocks import RankBlocks
from discreet.mechanisms.quantiles.cuts import Cuts
from discreet.mechanisms.quantiles.weighted_sums import ScaledWeights
from discreet.noise import Noiseless, Source, dominated_choice, scaled_exp_coin, uniform_multiset

_SLACK = Fraction((1 << 14) + 1, 1 << 14)
"""How much larger than a proposal's a chance may be, and is not, by far."""


@dataclass(frozen=True)
class CutsInBlock:
    """So many cuts of a list, the last of them at ``level``, within one block."""

    block: int
    level: int
    many: int


@dataclass(frozen=True)
class JointTable:
    """The table of one histogram, with ranks in parts of a row. Private.

    ``targets[j]`` is the rank wanted of cut j, from 0 at level 0 to all rows behind the last.
    """

    cuts: Cuts
    blocks: RankBlocks
    parts: int
    targets: tuple[int, ...]
    rate: Fraction
    first: tuple[ScaledWeights, ...]
    last: tuple[ScaledWeights, ...]

    @classmethod
    def of(cls, cuts: Cuts, levels: tuple[Fraction, ...], rate: Fraction) -> JointTable:
        """Sums for all levels, one after another; ``rate`` is for one part of a row."""
        parts = common_denominator(levels)
        targets = tuple(
            int(level * parts) * cuts.rows for level in (Fraction(0), *levels, Fraction(1))
        )
        wanted = np.array(targets[1:-1]) / parts
        blocks = RankBlocks.of(cuts, wanted, float(rate * parts))
        low, high = parts * blocks.low, parts * blocks.high
        costs = _outside(low, high, targets[1])
        first = [ScaledWeights(np.ones(len(blocks)), costs, float(rate))]
        last = [first[0].times(blocks.many.astype(np.float64))]
        for level in range(2, len(targets) - 1):
            first.append(_stepped(last[-1], low, high, targets[level] - targets[level - 1]))
            last.append(_gathered(first, blocks.many, high - low, targets))
        return cls(cuts, blocks, parts, targets, rate, tuple(first), tuple(last))

    @property
    def levels(self) -> int:
        """How many cuts a list has."""
        return len(self.first)

    def draw(self, source: Source) -> Ints:
        """The places of a list of cuts, drawn with exactly its share of the weights."""
        while True:
            groups, chance = self.proposed(source)
            places = np.concatenate([self._placed(group, source) for group in reversed(groups)])
            if isinstance(source, Noiseless):
                return places
            if scaled_exp_coin(*self.compute_keep_chance(groups, chance, places), source):
                return places

    def proposed(self, source: Source) -> tuple[list[CutsInBlock], Fraction]:
        """RankBlocks from the last to the first, and the chance with which they were proposed."""
        groups: list[CutsInBlock] = []
        level = self.levels
        block, chance = _chosen(self.ends(), source)
        while True:
            before, share = _chosen(self.divided(block, level), source)
            chance *= share
            groups.append(CutsInBlock(block, level, before + 1))
            level -= before + 1
            if level == 0:
                return groups, chance
            block, share = _chosen(self.reached(level, block), source)
            chance *= share

    def compute_keep_chance(
        self, groups: list[CutsInBlock], chance: Fraction, places: Ints
    ) -> tuple[Fraction, Fraction]:
        """Factor and exponent of the chance to keep a list: it turns proposals into the law."""
        ends = self.ends()
        total, least = Fraction(float(ends.relative().sum())), int(ends.costs.min())
        ways = math.prod(
            math.comb(int(self.blocks.many[group.block]) + group.many - 1, group.many)
            for group in groups
        )
        exponent = self.rate * (self.cost(places) - least)
        return ways / (total * chance * _SLACK), exponent

    def cost(self, places: Ints) -> int:
        """By how much the rows between neighbouring cuts miss their shares, in parts of a row."""
        ranks = [0, *(self.parts * self.cuts.ranks(places)).tolist(), self.targets[-1]]
        missed = [rank - target for rank, target in zip(ranks, self.targets, strict=True)]
        return sum(abs(missed[j] - missed[j - 1]) for j in range(1, len(missed)))

    def ends(self) -> ScaledWeights:
        """Whole lists, by the block of their last cut."""
        low, high = self.parts * self.blocks.low, self.parts * self.blocks.high
        return self.last[-1].costing(_outside(low, high, self.targets[-2]))

    def divided(self, block: int, level: int) -> ScaledWeights:
        """Lists whose cut at ``level`` is the last in a block, by how many there are before it."""
        parts = ScaledWeights.none(level, float(self.rate))
        wide = self.parts * int(self.blocks.high[block] - self.blocks.low[block])
        ways, inside = 1.0, 0
        for more in range(level):
            begin = self.first[level - 1 - more]
            ways *= (float(self.blocks.many[block]) + more) / (more + 1)
            if begin.mantissas[block] > 0:
                parts.mantissas[more] = begin.mantissas[block] * ways
                parts.costs[more] = begin.costs[block] + inside
            inside += max(0, self.targets[level - more] - self.targets[level - more - 1] - wide)
        return parts

    def reached(self, level: int, block: int) -> ScaledWeights:
        """Lists whose next cut is the first in a block, by the block of the one at ``level``."""
        share = self.targets[level + 1] - self.targets[level]
        low, high = self.parts * self.blocks.low, self.parts * self.blocks.high
        apart = _outside(low[block] - high[:block], high[block] - low[:block], share)
        return self.last[level - 1][:block].costing(apart)

    def _placed(self, group: CutsInBlock, source: Source) -> Ints:
        inside = uniform_multiset(group.many, int(self.blocks.many[group.block]), source)
        placed: Ints = self.blocks.first[group.block] + inside
        return placed


def common_denominator(levels: tuple[Fraction, ...]) -> int:
    """The least one."""
    return math.lcm(*(level.denominator for level in levels))


def _outside(low: Ints, high: Ints, wanted: int) -> Ints:
    """How far the ranges from ``low`` to ``high`` are from ``wanted``."""
    far: Ints = np.maximum(np.maximum(low - wanted, wanted - high), 0)
    return far


def _stepped(last: ScaledWeights, low: Ints, high: Ints, share: int) -> ScaledWeights:
    """Lists whose next cut is the first in a later block, by that block.

    Behind a cut of rank s the next one is wanted at ``s + share``. Behind blocks that end at
    ``low - share`` or before it goes beyond that, behind those from ``high - share`` on it falls
    short; behind the others it may do neither.
    """
    here = np.arange(len(low))
    beyond = np.minimum(np.searchsorted(high, low - share, side="right"), here)
    short = np.clip(np.searchsorted(low, high - share, side="left"), beyond, here)
    far = last.costing(-high).over(np.zeros_like(here), beyond).costing(low - share)
    met = last.over(beyond, short - beyond)
    near = last.costing(low).over(short, here - short).costing(share - high)
    return far + met + near


def _gathered(
    first: list[ScaledWeights], many: Ints, wide: Ints, targets: tuple[int, ...]
) -> ScaledWeights:
    """Lists whose latest cut is the last in its block, however many of them are there."""
    level = len(first)
    ways, inside = np.ones(len(many)), np.zeros_like(many)
    sums = ScaledWeights.none(len(many), first[0].rate)
    for more in range(level):
        ways = ways * ((many + float(more)) / (more + 1))
        sums = sums + first[level - 1 - more].times(ways).costing(inside)
        inside = inside + np.maximum(0, targets[level - more] - targets[level - more - 1] - wide)
    return sums


def _chosen(options: ScaledWeights, source: Source) -> tuple[int, Fraction]:
    """One option that occurs, and its chance; without noise a cheapest one."""
    if isinstance(source, Noiseless):
        return int(np.argmin(options.costs)), Fraction(1)
    occur = np.flatnonzero(options.mantissas)
    place, chance = dominated_choice(options[occur].relative(), source)
    return int(occur[place]), chance
