"""A contest: several mechanisms run, and the one that errs least is chosen privately.

For workloads where the winner depends on data. The choice looks at data and is charged, as is every
contender, whether it wins or not; only the winner's synopsis is released.

Score: the sum over all queries of the absolute error, rounded to 1/256 of a record, negated. Given
the synopses, neighbouring data move each true answer by at most ``records``, hence a rounded error
by at most that and 1/256; sums are exact in integers.

Guarantee: the composition of all contenders and of one selection.

Source: 004b:A22 (a selector that uses private data must be charged to the budget). Proof:
``proofs/contest.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose, from_json
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact, probability, rounded_down
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.for_spend import additive_readings, divided, epsilon_for, share_of
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.independent import IndependentNoise
from discreet.queries.mwem.rounds import exact_answers
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest, SynopsisMechanism
from discreet.queries.record_count import MOST, RecordCount
from discreet.queries.synopses.synopsis import Synopsis, synopsis_from_dict
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import on_grid, rounded
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

_STEPS = 256


@dataclass(frozen=True, eq=False)
class Won:
    """The winner's synopsis at the price of the whole contest."""

    winner: Synopsis
    event: Event

    @property
    def universe(self) -> Universe:
        """What it knows about."""
        return self.winner.universe

    def answers(self, workload: Workload) -> NDArray[np.float64]:
        return self.winner.answers(workload)

    def to_dict(self) -> Mapping[str, object]:
        """The winner, with its own event."""
        event = self.winner.event.to_json()
        return {"synopsis": "won", "winner": self.winner.to_dict(), "event": event}

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe, event: Event) -> Won:
        """The winner that ``plain`` described."""
        match plain:
            case {"winner": Mapping() as winner, "event": str() as own}:
                return cls(synopsis_from_dict(winner, universe, from_json(own)), event)
        raise not_plain()


@dataclass(frozen=True)
class Contest:
    """Contenders that share a spend equally, after ``part`` of it was set aside to choose.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public. Contenders are
    mechanisms with events of their own.

    Guarantee: the composition of all contenders and of one selection, at the spend, whoever wins.

    Source: 004b:A22. Proof: ``proofs/contest.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    contenders: tuple[MechanismBuilder, ...]
    part: Number = Fraction(1, 10)
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse fewer than two contenders and universes that are not explicit."""
        probability("part", self.part)
        object.__setattr__(self, "records", count("records", self.records))
        object.__setattr__(self, "contenders", tuple(self.contenders))
        self.workload.universe.require_explicit(method="a contest")
        if len(self.contenders) < 2:
            raise InvalidParameter(
                code="contenders_too_few",
                expectation="at least two mechanisms",
                received=len(self.contenders),
                remedy="Run a single mechanism by itself; nothing needs to be chosen.",
            )

    @cached_property
    def _shares(self) -> tuple[PureDP | ZCDP, Guarantee]:
        """What pays for the selection, and for each contender.

        (epsilon, delta) is shared as epsilons and deltas or as rho, whichever leaves independent
        noise on all answers the smaller.
        """
        part, many = exact(self.part), len(self.contenders)
        each = (1 - part) / many
        shared: list[tuple[PureDP | ZCDP, Guarantee]] = [
            (share_of(paid, part), share_of(paid, each)) for paid in additive_readings(self.spend)
        ]
        if len(shared) == 1:
            return shared[0]
        chooses, left = divided(self.spend, part)
        assert isinstance(left, ApproxDP)
        delta = rounded_down(exact(left.delta) / many)
        shared[0] = chooses, ApproxDP(epsilon=exact(left.epsilon) / many, delta=delta)
        return min(shared, key=lambda pair: self._noise(pair[1]))

    def _noise(self, share: Guarantee) -> float:
        return IndependentNoise(self.workload, share, self.size, self.records).rmse

    @cached_property
    def mechanisms(self) -> tuple[SynopsisMechanism, ...]:
        """All contenders, each at its share."""
        request = ReleaseRequest(self.workload, self._shares[1], self.size, self.records)
        return tuple(request.make_mechanism(build, self.randomness) for build in self.contenders)

    @cached_property
    def selector(self) -> PermuteAndFlip | Exponential:
        """What chooses the winner by its score, in steps."""
        moved = self.workload.queries * (self.records * _STEPS + 1)
        share = self._shares[0]
        kind = PermuteAndFlip if isinstance(share, PureDP) else Exponential

        def at(epsilon: Number) -> PermuteAndFlip | Exponential:
            return kind(epsilon=epsilon, sensitivity=moved, randomness=self.randomness)

        return at(epsilon_for(share, lambda epsilon: at(epsilon).event))

    @property
    def event(self) -> Event:
        """What one release costs: every contender and the choice."""
        return compose((*(each.event for each in self.mechanisms), self.selector.event))

    def release(self, counts: Counted) -> Won:
        """Run all, and release the winner's synopsis."""
        table = cell_counts(counts, self.workload.universe)
        truth = np.concatenate(exact_answers(on_grid(self.workload), table))
        synopses = [each.release(table) for each in self.mechanisms]
        scores = [_score(each.answers(self.workload), truth) for each in synopses]
        return Won(synopses[self.selector.release(np.array(scores))], self.event)


def _score(answers: NDArray[np.float64], truth: NDArray[np.float64]) -> int:
    # On the grid and below 2**33, differences are exact in doubles.
    held = rounded(np.clip(np.nan_to_num(answers), -MOST, MOST))
    steps = np.rint(np.abs(held - truth) * _STEPS).astype(np.int64)
    # Cut, where there are very many queries, so that the sum cannot wrap around.
    return -int(np.minimum(steps, (1 << 62) // len(steps)).sum())
