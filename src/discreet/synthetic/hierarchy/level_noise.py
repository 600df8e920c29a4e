"""What each level of a hierarchy spends, its noise, and the error that follows: before any data.

One record lies in one cell of each level. Levels are released one by one, each at its share, so
the price is the composition of their events.

Source: Abowd and others 2022; Cohen and others 2021 (error by level); contract, "Spending".
Proof: ``proofs/topdown.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.mechanisms.for_spend import (
    WholeNoise,
    additive_readings,
    deviation,
    least_error,
    noise_for,
    share_of,
)
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import Source
from discreet.queries.record_count import RecordCount
from discreet.synthetic.hierarchy.invariants import Invariants
from discreet.synthetic.hierarchy.linear import final_spreads
from discreet.synthetic.hierarchy.tree import Tree

_LEAST_VARIANCE = 2.0**-40
LevelNoises = tuple[WholeNoise | None, ...]
"""What is added to the cells of each level; None where a level is not measured."""


@dataclass(frozen=True)
class LevelError:
    """What one level costs and how wrong it will be, as standard deviations of noise.

    ``alone`` is that of a cell released by itself at this level's share, ``cell`` that of one once
    all levels agree by least squares, ``node`` that of a node's total then.
    """

    level: str
    nodes: int
    cells: int
    share: float
    alone: float
    cell: float
    node: float


def noises_for(
    tree: Tree,
    invariants: Invariants,
    *,
    spend: Guarantee,
    size: RecordCount,
    records: int,
    randomness: Source,
) -> LevelNoises:
    """The noise of each level; of all that the spend permits, what errs least over all cells."""

    def make_level_noises(paid: PureDP | ZCDP) -> LevelNoises:
        return tuple(
            _noise(paid, share, size, records, randomness) if share else None
            for share in tree.hierarchy.shares
        )

    def error(noises: LevelNoises) -> float:
        return sum(each.cells * each.cell**2 for each in level_errors(tree, invariants, noises))

    return least_error(additive_readings(spend), make_level_noises, error)


def _noise(
    paid: PureDP | ZCDP, share: Fraction, size: RecordCount, records: int, randomness: Source
) -> WholeNoise:
    """Noise for one level: a person's records lie in one cell of it each, or move to another."""
    return noise_for(
        share_of(paid, share),
        l1=size.changed_cells * records,
        l2=sqrt_above(Fraction(size.changed_cells * records**2)),
        randomness=randomness,
    )


def event_of(noises: LevelNoises) -> Event:
    """What the release of all measured levels costs."""
    return compose(tuple(noise.event for noise in noises if noise is not None))


def variances_of(noises: LevelNoises) -> list[float]:
    """The variance of one measured cell of each level; infinite where none is measured.

    Levels are weighted by these, so they are never nothing, however much was spent.
    """
    return [
        math.inf if noise is None else max(deviation(noise) ** 2, _LEAST_VARIANCE)
        for noise in noises
    ]


def level_errors(tree: Tree, invariants: Invariants, noises: LevelNoises) -> tuple[LevelError, ...]:
    """The error of every level, exactly, for estimates by least squares: no data is read.

    ``cell`` and ``node`` are root mean squares over the nodes of a level.
    """
    found = []
    spreads = final_spreads(tree, variances_of(noises), invariants.fixed)
    for level, spread in enumerate(spreads):
        noise = noises[level]
        found.append(
            LevelError(
                tree.hierarchy.names[level],
                tree.nodes[level],
                tree.nodes[level] * tree.detail,
                float(tree.hierarchy.shares[level]),
                math.inf if noise is None else deviation(noise),
                math.sqrt(spread.by_cell(tree.detail).mean()),
                math.sqrt(spread.mean.mean() * tree.detail),
            )
        )
    return tuple(found)
