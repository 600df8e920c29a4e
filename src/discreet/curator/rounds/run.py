"""Running a round's release once: counts and all analysts' queries in, an outcome out.

Guarantee: the event of the mechanism, whatever was submitted and by whom. Places that nobody used
hold constant queries, or count as not asked; what others see has the same shape in all cases.

Source: analysts-verified:H1, H4, H5, H10. Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.curator.rounds.corrected_game import CorrectedGame
from discreet.curator.rounds.plan import RoundMechanism
from discreet.curator.rounds.submission import Conjunction, Held
from discreet.queries.analysts.baselines import PaddedNoise
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.game import GameSynopsis
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.synopses.synopsis import HistogramSynopsis, Synopsis, synopsis_from_dict
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.linear_query import Region, Weights
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

Submitted = Mapping[str, Sequence[Held]]


@dataclass(frozen=True, eq=False)
class Own:
    """One analyst's answers in records, and which of them were corrected.

    ``exhausted`` says that all corrections were used, so that later answers were not checked.
    """

    answers: Floats
    corrected: NDArray[np.bool_]
    exhausted: bool = False

    @classmethod
    def unchecked(cls, answers: Floats) -> Own:
        """Answers without corrections."""
        return cls(answers, np.zeros(len(answers), dtype=np.bool_))

    def to_dict(self) -> dict[str, object]:
        """The values to store as JSON."""
        return {
            "answers": self.answers.tolist(),
            "corrected": np.flatnonzero(self.corrected).tolist(),
            "exhausted": self.exhausted,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Own:
        """What :meth:`to_dict` described."""
        own = cls.unchecked(np.array(plain["answers"], dtype=np.float64))
        own.corrected[plain["corrected"]] = True
        return cls(own.answers, own.corrected, plain["exhausted"])


@dataclass(frozen=True)
class Outcome:
    """What a round left: a synopsis for everybody, answers for each analyst alone, or both."""

    shared: Synopsis | None
    own: Mapping[str, Own] = field(default_factory=dict)

    def for_analyst(self, analyst: str, queries: Sequence[Held]) -> Own:
        """One analyst's answers; they depend on nobody else's but through the synopsis."""
        if analyst in self.own:
            return self.own[analyst]
        if self.shared is None:
            return Own.unchecked(np.zeros(0))
        return Own.unchecked(answers_from(self.shared, queries))

    def to_dict(self) -> dict[str, object]:
        """The values to store as JSON."""
        shared = None if self.shared is None else dict(self.shared.to_dict())
        return {"shared": shared, "own": {name: own.to_dict() for name, own in self.own.items()}}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], universe: Universe, event: Event) -> Outcome:
        """What :meth:`to_dict` described."""
        shared = plain["shared"]
        return cls(
            None if shared is None else synopsis_from_dict(shared, universe, event),
            {name: Own.from_dict(own) for name, own in plain["own"].items()},
        )


def run(
    mechanism: RoundMechanism, counts: Counted, names: Sequence[str], asked: Submitted
) -> Outcome:
    """Release once. ``names`` are all analysts in an order that is fixed when the round opens."""
    match mechanism:
        case PaddedNoise():
            return _independent(mechanism, counts, names, asked)
        case ProfiledMarginals():
            topics = [[_topic(query) for query in asked.get(name, ())] for name in names]
            return Outcome(mechanism.release(counts, topics))
        case SampledGame() | ExpectedGame():
            queries = _query_set(mechanism.shape, names, asked)
            return Outcome(_histogram(mechanism.release(counts, queries), mechanism.event))
        case CorrectedGame():
            return _corrected(mechanism, counts, names, asked)
        case _:
            return Outcome(mechanism.release(counts))


def answers_from(synopsis: Synopsis, queries: Sequence[Held]) -> Floats:
    """Estimated counts, from a synopsis alone."""
    found = np.zeros(len(queries))
    boxes = [(i, query) for i, query in enumerate(queries) if isinstance(query, Conjunction)]
    others = [(i, query) for i, query in enumerate(queries) if not isinstance(query, Conjunction)]
    if boxes:
        workload = Workload(synopsis.universe, tuple(query.product for _, query in boxes))
        found[[place for place, _ in boxes]] = synopsis.answers(workload)
    if others:
        universe = synopsis.universe
        table = synopsis.answers(Workload.marginal(universe, universe.names))
        for place, query in others:
            found[place] = query.answer(table)
    return found


def weighed(query: Held) -> Weights | Region:
    """The same query in a form whose weights are known to lie in [0, 1]: a box where it is one."""
    if isinstance(query, Weights):
        return query
    places = [np.flatnonzero(mask) for mask in query.masks]
    if all(len(met) and len(met) == met[-1] - met[0] + 1 for met in places):
        box = tuple(slice(int(met[0]), int(met[-1]) + 1) for met in places)
        return Region(tuple(mask.size for mask in query.masks), box)
    return Weights(query.dense())


def _independent(
    mechanism: PaddedNoise, counts: Counted, names: Sequence[str], asked: Submitted
) -> Outcome:
    everything = [weighed(query) for name in names for query in asked.get(name, ())]
    shares = mechanism.release(counts, everything) * mechanism.size.records
    own, start = {}, 0
    for name in names:
        end = start + len(asked.get(name, ()))
        own[name], start = Own.unchecked(shares[start:end]), end
    return Outcome(None, own)


def _corrected(
    mechanism: CorrectedGame, counts: Counted, names: Sequence[str], asked: Submitted
) -> Outcome:
    """The synopsis, and for every listed analyst, whether they asked or not, their own stream."""
    queries = _query_set(mechanism.game.shape, names, asked)
    played = mechanism.game.release(counts, queries)
    shared = _histogram(played, mechanism.event)
    streams = mechanism.correction.release(counts, queries, played)
    own = {}
    for name, stream in zip(names, streams, strict=False):
        mine = asked.get(name, ())
        corrected = stream.corrected[: len(mine)]
        fresh = stream.answers[: len(mine)] * played.records
        answers = np.where(corrected, fresh, answers_from(shared, mine))
        own[name] = Own(answers, corrected, bool(stream.exhausted))
    return Outcome(shared, own)


def _query_set(shape: RoundShape, names: Sequence[str], asked: Submitted) -> QuerySet:
    """All queries in the public shape; places of nobody, and of the silent, are constant."""
    places = [f"{number}" for number in range(shape.analysts)]
    submitted = {
        place: shape.submit(list(asked[name]))
        for place, name in zip(places, names, strict=False)
        if name in asked
    }
    return QuerySet.of(shape, places, submitted)


def _histogram(played: GameSynopsis, event: Event) -> HistogramSynopsis:
    """The cells that were drawn, as counts; their order says nothing more about the data."""
    return HistogramSynopsis(played.universe, played.counts, event)


def _topic(query: Held) -> tuple[int, ...]:
    """The attributes that a query is about. Others than conjunctions are refused on submission."""
    assert isinstance(query, Conjunction)
    return query.conditioned_places
