"""Running sums of gradients in which a row takes part several times, some ticks apart.

Trees and banded factorisations of ``streams``, priced for a row that is used at most
``participations`` times, at least ``separation`` ticks apart: so many epochs over batches in a
fixed order. The noise of one participation would be too little for several.

Source: 004b:C9, C10 (errata: an item lies in floor(lg n) + 1 nodes where the root is released),
modern-learn:6. Proof: ``proofs/follow_the_leader.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.grid import sqrt_above
from discreet.noise import Source
from discreet.streams.contribution import EventContribution, StreamSensitivity
from discreet.streams.counter import ContinualCounter
from discreet.streams.factorisation.participation import participation_norm
from discreet.streams.factorisation.toeplitz import ToeplitzCounter
from discreet.streams.tree import ReducedTree
from discreet.streams.units import EventLevel


@dataclass(frozen=True, kw_only=True)
class Epochs:
    """How often a row is used: ``epochs`` times, in one of ``batches`` ticks of each epoch."""

    epochs: int
    batches: int

    def __post_init__(self) -> None:
        """Refuse numbers that are no counts."""
        count("epochs", self.epochs)
        count("batches", self.batches)

    @property
    def ticks(self) -> int:
        """Steps in all."""
        return self.epochs * self.batches


@dataclass(frozen=True, kw_only=True)
class SpacedTree(ReducedTree):
    """The tree, for rows that take part once in each epoch.

    A node of 2**l ticks holds at most one participation for each ``batches`` ticks begun, and all
    nodes of a level hold ``epochs`` of them together.
    """

    passes: Epochs

    def sensitivity(self) -> StreamSensitivity:
        uses, apart = self.passes.epochs, self.passes.batches
        nodes = (-(-(1 << level) // apart) for level in range(self.height))
        squares = sum(uses * min(uses, held) for held in nodes)
        return StreamSensitivity(
            Fraction(self.contribution.l1) * uses * self.height,
            Fraction(self.contribution.l2_squared) * squares,
        )


@dataclass(frozen=True, kw_only=True)
class SpacedToeplitz(ToeplitzCounter):
    """The banded factorisation, for rows that take part once in each epoch."""

    passes: Epochs

    def sensitivity(self) -> StreamSensitivity:
        norm = participation_norm(
            self.coefficients.astype(float),
            horizon=self.horizon,
            participations=self.passes.epochs,
            separation=self.passes.batches,
        )
        return StreamSensitivity(
            Fraction(self.contribution.l1) * self.passes.epochs * int(self.coefficients.sum()),
            Fraction(self.contribution.l2_squared) * Fraction(norm) ** 2,
        )


class PrefixSums(Protocol):
    """A way to tell running sums."""

    @property
    def bits(self) -> int:
        """How much finer than the clip gradients are rounded."""

    def counter(
        self, passes: Epochs, spend: Guarantee, rows: int, keys: int, source: Source
    ) -> ContinualCounter:
        """The counter of ``streams``, for units that move so many clipped rows in a tick."""


@dataclass(frozen=True)
class TreeAggregation:
    """Partial sums in a binary tree, each averaged with what is below it."""

    @property
    def bits(self) -> int:
        return 30

    def counter(
        self, passes: Epochs, spend: Guarantee, rows: int, keys: int, source: Source
    ) -> ContinualCounter:
        return SpacedTree(
            horizon=passes.ticks,
            spend=spend,
            unit=EventLevel(),
            keys=keys,
            contribution=of_clipped(rows, keys, self.bits),
            randomness=source,
            passes=passes,
        )


@dataclass(frozen=True)
class BandedFactorisation:
    """The best Toeplitz factorisation with so many bands; without them, one epoch's.

    With as many bands as an epoch has batches, participations of one row never meet.
    """

    bands: int | None = None

    @property
    def bits(self) -> int:
        return 18  # the factorisation has 24 of its own

    def counter(
        self, passes: Epochs, spend: Guarantee, rows: int, keys: int, source: Source
    ) -> ContinualCounter:
        return SpacedToeplitz(
            horizon=passes.ticks,
            spend=spend,
            unit=EventLevel(),
            keys=keys,
            contribution=of_clipped(rows, keys, self.bits),
            randomness=source,
            bands=self.bands or passes.batches,
            passes=passes,
        )


def of_clipped(rows: int, keys: int, bits: int) -> EventContribution:
    """So many gradients of length at most one, in steps of 2**-bits."""
    length = rows << bits
    wide = length * sqrt_above(Fraction(keys))
    return EventContribution(l1=math.ceil(wide), l2_squared=length**2, largest=length)
