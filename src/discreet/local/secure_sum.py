"""Sums that nobody sees without noise: shares of noise, masks that cancel, people who leave.

Every person adds a share of noise to a vector of whole numbers and masks it with random words that
each pair of people shares, added by one and subtracted by the other. The server adds up what
arrives; masks of people who left are told by those who stayed, and cancel. What it learns is the
sum with noise of all shares: with ``at_least`` honest shares it is discrete Laplace noise or more,
at the accuracy of a curator.

Whose shares arrived is known, so that what is hidden is which vector a person told, not whether:
the relation is ``Replace``. One vector goes and another comes, and the sum moves by both.

This is a simulation, in one process, of what a secure-aggregation protocol computes: masks are
exact, but keys, signatures and secret sharing are not here.

Source: 004a:C34; 000b:B16, B17. Proof of the noise: ``proofs/shares.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.mechanisms import DiscreteLaplace
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, count, exact, positive
from discreet.core.unit import AddRemoveUnit, Replace
from discreet.local.randomiser import require_people
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise import SYSTEM, Source, laplace_share
from discreet.noise.randomness import require_source, words64

if TYPE_CHECKING:
    from discreet.core.events.event import Event

Words64 = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class SecureSum:
    """A sum of vectors of whole numbers, each of an L1 norm of at most ``norm``.

    Guarantee: ``epsilon`` for each ``unit`` that tells one vector, any vector against any other.
    The sum moves by ``sensitivity``, twice the norm, when one vector is exchanged: a vote for
    another is one less here and one more there.

    >>> from discreet.core.unit import Person
    >>> SecureSum(epsilon=1, norm=1, at_least=8, unit=Person("device")).guarantee
    PureDP(unit=Replace(unit=Person('device')), epsilon=1)

    ``at_least`` shares are sure to arrive from people who do not tell theirs: leave out who may
    drop out or collude. Noise is scaled for so many, so that more people make more of it:
    people / at_least times the variance.
    """

    epsilon: Number
    norm: int
    at_least: int
    unit: AddRemoveUnit | Replace
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse sums for nobody, and units that are no people."""
        require_source(self.randomness)
        positive("epsilon", self.epsilon)
        count("norm", self.norm)
        count("at_least", self.at_least)
        require_people(self.unit)

    @property
    def guarantee(self) -> PureDP:
        """What each unit is promised, towards whoever sees only the sum."""
        return PureDP(epsilon=self.epsilon, unit=require_people(self.unit))

    @property
    def sensitivity(self) -> int:
        """How far the sum moves in L1 when one vector is exchanged for another."""
        return 2 * self.norm

    @property
    def event(self) -> Event:
        """What the sum costs each person, towards whoever sees only the sum."""
        event = DiscreteLaplace(epsilon=self.epsilon, steps=self.sensitivity)
        return mark_unprotected_event(event, self.randomness)

    def noisy(self, vector: Any) -> Words64:
        """A person's vector, or none if it is too long, with a share of noise, modulo 2**64."""
        values = np.asarray(vector)
        if values.dtype.kind not in "iu" or values.ndim != 1:
            raise InvalidData(
                code="local_sum_vector",
                expectation="a vector of whole numbers",
                remedy="Round to a public grid first.",
            )
        length = sum(abs(each) for each in values.tolist())  # whole numbers that cannot overflow
        taken = values if length <= self.norm else np.zeros_like(values)
        whole = taken.astype(np.int64)
        scale = exact(self.sensitivity) / exact(self.epsilon)
        share = laplace_share(scale, self.at_least, len(whole), self.randomness)
        return whole.astype(np.uint64) + share.astype(np.uint64)

    def total(self, vectors: Sequence[Any], *, left: Sequence[int] = ()) -> NDArray[np.int64]:
        """The noisy sum of those who stayed; ``left`` are people who masked and then vanished."""
        missing = _people_among(left, len(vectors))
        stayed = [person for person in range(len(vectors)) if person not in missing]
        if len(stayed) < self.at_least:
            raise InvalidParameter(
                code="local_sum_too_few",
                expectation=f"at least {self.at_least} people who stay",
                received=len(stayed),
                remedy="Nothing is unmasked for fewer: their noise would not suffice.",
            )
        seen = self.masked(vectors)
        total = np.zeros_like(seen.contributions[0])
        for person in stayed:
            total = total + seen.contributions[person]
            for gone in missing:
                total = total - seen.between(person, gone)
        return total.astype(np.int64)

    def masked(self, vectors: Sequence[Any]) -> MaskedContributions:
        """What each person sends, and the masks that only pairs know.

        All vectors have as many places: one of a single place would be added to every other's.
        """
        size = _places(vectors)
        noisy = [self.noisy(vector) for vector in vectors]
        masks = {
            (one, two): words64(self.randomness, size)
            for one in range(len(noisy))
            for two in range(one + 1, len(noisy))
        }
        made = MaskedContributions([], masks)
        for person, vector in enumerate(noisy):
            sent = vector
            for other in range(len(noisy)):
                if other != person:
                    sent = sent + made.between(person, other)
            made.contributions.append(sent)
        return made


def _places(vectors: Sequence[Any]) -> int:
    """How many places every vector has; refused where one has others."""
    shapes = {np.shape(vector) for vector in vectors}
    if len(shapes) != 1 or len(min(shapes)) != 1:
        raise InvalidData(
            code="local_sum_vector",
            expectation="vectors of whole numbers, all of the same length",
            remedy="Fill them up with zeros to a public length.",
        )
    ((size,),) = shapes
    return int(size)


def _people_among(left: Sequence[int], people: int) -> set[int]:
    """Those who left, by their places among all who masked."""
    if not all(type(person) in (int, np.int64) and 0 <= person < people for person in left):
        raise InvalidParameter(
            code="local_sum_left",
            expectation=f"places in left= from 0 to {people - 1}",
            received=left,
            remedy="Name people by the place of their vector.",
        )
    return set(left)


@dataclass(frozen=True)
class MaskedContributions:
    """Contributions as the server sees them, each uniform by itself, and the pairs' masks."""

    contributions: list[Words64]
    masks: dict[tuple[int, int], Words64]

    def between(self, person: int, other: int) -> Words64:
        """The mask that ``person`` added for ``other``; that of the other is its negative."""
        mask = self.masks[min(person, other), max(person, other)]
        return mask if person < other else np.uint64(0) - mask
