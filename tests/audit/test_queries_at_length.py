"""DAWA, PrivTree, MWEM and projection, attacked where they lose most.

Run by ``make audit``, a minute or two each. Neighbours were chosen by the exact laws: there some
outcome that is not rare has nearly the ratio that the mechanism may have. A true claim is refuted
once in a million runs; a run is weaker than it says once in thousands.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.mechanisms import DiscreteLaplace
from discreet.mechanisms.selection import Selection
from discreet.noise import SYSTEM
from discreet.queries.independent import IndependentNoise
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.mwem.rounds import MarginalRound, QueryRound
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.trees.dawa import DAWA
from discreet.queries.trees.noisy_partition import STEPS, NoisyPartition
from discreet.queries.trees.privtree import PrivTree, Splitting
from discreet.queries.workload.families import Listed, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from tests.audit.lengths import Attack, Release

Wholes = NDArray[np.int64]


def ranges(cells: int) -> Workload:
    return Workload.of(Universe.of(x=range(cells)), {"x": Ranges(cells)})


TWO = Workload.marginals(Universe.of(x=range(2)), 1)


def steps(value: float, width: float, low: int, high: int) -> int:
    """A number in whole steps, with all that is far outside in one class."""
    return int(min(max(np.floor(value / width), low), high))


# -- DAWA ------------------------------------------------------------------------------------------


class Published(NoisyPartition):
    """The scale of the publication: half of what the argument needs."""

    def noise(self, cells: int) -> DiscreteLaplace:
        return DiscreteLaplace(epsilon=self.epsilon, sensitivity=STEPS * self.moved)


def buckets(partition: NoisyPartition) -> Release:
    """The partition alone, at a price of a record and a half."""
    present = np.ones(4, dtype=np.bool_)
    return lambda counts: tuple(partition.release(counts, present, Fraction(3, 2)).tolist())


def first_count(mechanism: DAWA | PrivTree) -> Release:
    """How many boxes there are, and the count of the first one in steps of two thirds."""

    def seen(counts: Wholes) -> Hashable:
        found = mechanism.release(counts)
        return len(found.counts), steps(float(found.counts[0]), 2 / 3, 0, 12)

    return seen


def _dawa(epsilon: int) -> DAWA:
    """A tenth for the partition."""
    spend = dp.PureDP(epsilon=epsilon)
    return DAWA(ranges(4), spend, NoisyRecordCount(), part=Fraction(1, 10), price=4)


DAWA_ATTACKS = [
    Attack(
        "DAWA, buckets",
        buckets(NoisyPartition(Fraction(3), 1, SYSTEM)),
        buckets(Published(Fraction(3), 1, SYSTEM)),
        np.array([0, 0, 2, 2]),
        np.array([1, 0, 2, 2]),
        claimed=3,
        refutable=1.6,
        mistake="the published scale",
        trials=40_000,
    ),
    Attack(
        "DAWA, counts",
        first_count(_dawa(2)),
        first_count(_dawa(4)),
        np.array([2, 0, 0, 0]),
        np.array([3, 0, 0, 0]),
        claimed=2,
        refutable=1.2,
        mistake="noise for half a record",
        trials=12_000,
    ),
]


# -- PrivTree --------------------------------------------------------------------------------------


class OneOverEpsilon(PrivTree):
    """Splits with noise of one over epsilon, as if each record were in one node only."""

    @cached_property
    def splitting(self) -> Splitting:
        good: Splitting = PrivTree.splitting.func(self)  # type: ignore[attr-defined]
        scale = self.records / self._growing
        return replace(good, scale=scale, fall=int(good.fall * scale / good.scale) + 1)


def _privtree(kind: type[PrivTree], part: Fraction, epsilon: int = 2) -> PrivTree:
    return kind(ranges(8), dp.PureDP(epsilon=epsilon), NoisyRecordCount(), part=part)


def shape(mechanism: PrivTree) -> Release:
    return lambda counts: tuple(mechanism.release(counts).lows.ravel().tolist())


PRIVTREE_ATTACKS = [
    Attack(
        "PrivTree, shape",
        shape(_privtree(PrivTree, Fraction(9, 10))),
        shape(_privtree(OneOverEpsilon, Fraction(9, 10))),
        np.array([1, 0, 0, 0, 0, 0, 0, 0]),
        np.array([0, 0, 0, 0, 0, 0, 0, 0]),
        claimed=2,
        refutable=0.8,
        mistake="noise of one over epsilon",
        trials=40_000,
    ),
    Attack(
        "PrivTree, leaves",
        first_count(_privtree(PrivTree, Fraction(1, 10))),
        first_count(_privtree(PrivTree, Fraction(1, 10), epsilon=4)),
        np.array([2, 0, 0, 0, 0, 0, 0, 0]),
        np.array([3, 0, 0, 0, 0, 0, 0, 0]),
        claimed=2,
        refutable=1.1,
        mistake="noise for half a record",
        trials=20_000,
    ),
]


# -- MWEM ------------------------------------------------------------------------------------------

PAIR = Workload.of(Universe.of(x=range(3)), {"x": Listed([[1, 0, 0], [0, 1, 0]])})


class Halved(MWEM):
    """Scores that move by one, selected as if they moved by a half."""

    @cached_property
    def selector(self) -> Selection:
        good: Selection = MWEM.selector.func(self)  # type: ignore[attr-defined]
        return replace(good, sensitivity=Fraction(1, 2))


def selected(kind: type[MWEM]) -> Release:
    """One round of two queries; cells that were not measured stay alike."""
    mechanism = kind(
        PAIR,
        dp.PureDP(epsilon=2),
        PublicCount(12),
        1,
        each=QueryRound(share=Fraction(1, 10)),
    )
    return lambda counts: bool(np.isclose(*mechanism.release(counts).counts[1:]))


def measured(kind: type[MarginalRound]) -> Release:
    """One marginal in one round: nothing is selected, all is measured."""
    mechanism = MWEM(TWO, dp.PureDP(epsilon=2), PublicCount(4), 1, each=kind())
    return lambda counts: steps(float(mechanism.release(counts).counts[0]), 0.5, 0, 8)


class Once(MarginalRound):
    """An exchange counted once."""

    def l1(self, workload: Workload, size: object) -> int:
        return 1


MWEM_ATTACKS = [
    Attack(
        "MWEM, selection",
        selected(MWEM),
        selected(Halved),
        np.array([7, 5, 0]),
        np.array([6, 6, 0]),
        claimed=2,
        refutable=1.2,
        mistake="scores of half the sensitivity",
        trials=20_000,
    ),
    Attack(
        "MWEM, measurement",
        measured(MarginalRound),
        measured(Once),
        np.array([4, 0]),
        np.array([3, 1]),
        claimed=2,
        refutable=0.85,
        mistake="an exchange counted once",
        trials=20_000,
    ),
]


# -- projection ------------------------------------------------------------------------------------


class Cheap(ProjectionMechanism):
    """Noise for records that come or go, under exchange."""

    @cached_property
    def noisy(self) -> IndependentNoise:
        good: IndependentNoise = ProjectionMechanism.noisy.func(self)  # type: ignore[attr-defined]
        return IndependentNoise(good.workload, good.spend, NoisyRecordCount())


def projected(kind: type[ProjectionMechanism]) -> Release:
    mechanism = kind(TWO, dp.PureDP(epsilon=2), PublicCount(8))
    return lambda counts: steps(float(mechanism.release(counts).counts[0]), 0.5, 0, 16)


PROJECTION_ATTACKS = [
    Attack(
        "projection",
        projected(ProjectionMechanism),
        projected(Cheap),
        np.array([5, 3]),
        np.array([4, 4]),
        claimed=2,
        refutable=0.85,
        mistake="noise for records that come or go",
        trials=20_000,
    ),
]

ATTACKS = [*DAWA_ATTACKS, *PRIVTREE_ATTACKS, *MWEM_ATTACKS, *PROJECTION_ATTACKS]


@pytest.mark.audit
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_claim_survives_a_strong_attack_and_that_of_a_broken_twin_does_not(
    attack: Attack,
) -> None:
    attack.run()
