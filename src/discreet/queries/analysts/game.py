"""What both games share: public parameters, the exact state of play, and the release.

The data player draws cells, the query player looks for signed queries on which the average cell
drawn so far differs from the data. All cells drawn are published, in order; nothing else is. Sums
of levels are whole numbers, so neighbouring data sets move the state exactly as the proofs say.

Source: analysts-verified:H4, H5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count, exact, positive
from discreet.noise import SYSTEM, Source
from discreet.noise.randomness import require_source
from discreet.queries.analysts.accuracy import analyst_entropy, query_entropy
from discreet.queries.analysts.capped_projection import range_slack
from discreet.queries.analysts.equilibrium import Player, Sampler, SignedLaw, equilibrium
from discreet.queries.analysts.guarantee import (
    AnalystGuarantee,
    AnalystUnit,
    OneQuery,
    public_records,
)
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.log_weights import LogWeights
from discreet.queries.record_count import RecordCount, count_records
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

_MOST_LEVELS = 1 << 34
_MOST_STATE = 1 << 62
_MOST_REACH = 1280.0
"""Scores stay above -640, so the projection cuts none."""


@dataclass(frozen=True, eq=False)
class GameSynopsis:
    """Published cells, as counts that add up to the number of records, and both promises."""

    universe: Universe
    points: Ints
    records: int
    event: Event
    analysts: AnalystGuarantee

    @property
    def counts(self) -> Floats:
        """How many records each cell stands for."""
        drawn = np.bincount(self.points, minlength=self.universe.size)
        return np.asarray(drawn * (self.records / len(self.points)))

    @property
    def histogram(self) -> HistogramSynopsis:
        """The counts alone, without the promise to analysts."""
        return HistogramSynopsis(self.universe, self.counts, self.event)

    def answers(self, workload: Workload) -> Floats:
        return self.histogram.answers(workload)

    def to_dict(self) -> Mapping[str, object]:
        """The counts, for JSON; read back as a histogram."""
        return self.histogram.to_dict()


@dataclass
class Tilts:
    """The query player's state: what the data says more often than the cells drawn so far.

    ``sums`` are exact sums of levels over all ``records``; a tilt is ``rate`` times a whole number.
    """

    queries: QuerySet
    sums: Ints
    records: int
    rate: Fraction
    width: int
    s: int

    def __post_init__(self) -> None:
        """Nothing has been drawn yet."""
        self._drawn = np.zeros(len(self.sums), dtype=np.int64)
        self._cells = 0

    @property
    def distribution(self) -> SignedLaw:
        """The capped law of this round."""
        gaps = self._cells * self.sums - self.records * self._drawn
        return SignedLaw.project(LogWeights(gaps, self.rate).logs, self.width, self.s)

    def learn(self, move: Ints) -> None:
        """Take the cells of a round into account."""
        self._drawn += self.queries.at(move)
        self._cells += len(move)


@dataclass(frozen=True, kw_only=True)
class Game(ABC):
    """Public parameters of a game.

    ``shape`` is the public shape of the queries, ``size`` the public number of records. ``s``
    bounds the query player's law: 1/s for a pair {q, not q}, or for an analyst's queries if
    ``protects`` is ``OneAnalyst()``. A round draws ``batch_x`` cells; the steps of both players are
    ``step_x`` and ``step_q``. One person has at most ``records`` records, all of which a
    neighbour replaces.
    """

    shape: RoundShape
    size: RecordCount
    s: int
    rounds: int
    batch_x: int
    step_x: Number
    step_q: Number
    protects: AnalystUnit
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_source(self.randomness)
        for name in ("s", "rounds", "batch_x", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        for name in ("step_x", "step_q"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        if self.s > self.groups:
            raise InvalidParameter(
                code="cap_unreachable",
                expectation=f"a cap of at least 1/{self.groups}, as there are {self.groups} groups",
                received=self.s,
                remedy="Choose a smaller s, or a release that does not depend on the queries.",
            )
        if self.shape.queries * self.shape.universe.size > _MOST_LEVELS:
            raise InvalidParameter(
                code="game_too_large",
                expectation=f"at most {_MOST_LEVELS} queries times cells, all held in memory",
                received=(self.shape.queries, self.shape.universe.size),
                remedy="Use fewer queries, fewer attributes, or a release that is not a game.",
            )
        state = self.points * self.population * self.shape.levels
        if state > _MOST_STATE or self.reach_q > _MOST_REACH:
            raise InvalidParameter(
                code="game_too_long",
                expectation="rounds * batch_x * records * levels <= 2**62, step_q * rounds <= 1280",
                received=(self.rounds, self.batch_x, self.reach_q),
                remedy="Use fewer rounds, smaller batches or a smaller step_q.",
            )

    @property
    def population(self) -> int:
        """The public number of records."""
        return public_records(self.size)

    @property
    def width(self) -> int:
        """Queries of one group."""
        return 1 if isinstance(self.protects, OneQuery) else self.shape.most

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.shape.queries // self.width

    @property
    def reach_x(self) -> float:
        """H_x: the data player's step times rounds."""
        return float(exact(self.step_x) * self.rounds)

    @property
    def reach_q(self) -> float:
        """H_q: the query player's step times rounds."""
        return float(exact(self.step_q) * self.rounds)

    @property
    def points(self) -> int:
        """M: all cells that are published."""
        return self.rounds * self.batch_x

    @property
    def entropy(self) -> float:
        """How far the start is from the worst s groups."""
        if isinstance(self.protects, OneQuery):
            return float(query_entropy(queries=self.shape.queries, s=self.s))
        return float(analyst_entropy(analysts=self.groups, s=self.s, most=self.width))

    @property
    def slack(self) -> float:
        """What rounding can add to the range of the query player's log-weights."""
        return range_slack(reach=self.reach_q, width=self.width, s=self.s)

    @property
    def share(self) -> float:
        """The total variation by which one query, or analyst, shifts the query player's law."""
        return (1 / self.s + self.slack / 4) * (1 + 2.0**-50)

    @property
    @abstractmethod
    def event(self) -> Event:
        """What a release costs the data."""

    @property
    @abstractmethod
    def analysts(self) -> AnalystGuarantee:
        """What a release tells the others about one query or analyst."""

    @abstractmethod
    def alpha(self, *, beta: float) -> float:
        """Fewer than s groups err by more, with probability at least 1 - beta."""

    @abstractmethod
    def query_player(self, tilts: Tilts) -> Player[Ints, Ints]:
        """Who looks for queries."""

    @abstractmethod
    def gain_rate(self) -> Fraction:
        """The data player's rate for one unit of gain."""

    def release(self, counts: Counted, queries: QuerySet) -> GameSynopsis:
        """Play on exact counts over the universe."""
        if queries.shape != self.shape:
            raise InvalidParameter(
                code="query_set_misfit",
                expectation="queries of the shape that the game was made for",
                received=(queries.shape.analysts, queries.shape.most),
                remedy="Build them with QuerySet.of(game.shape, analysts, submitted).",
            )
        table = cell_counts(counts, self.shape.universe)
        count_records(self.size, table, None)
        rate = exact(self.step_q) / (2 * self.batch_x * self.population * self.shape.levels)
        tilts = Tilts(queries, queries.sums(table), self.population, rate, self.width, self.s)
        cells = LogWeights.even(self.shape.universe.size, self.gain_rate())
        sampler = Sampler(cells, self.batch_x, self.randomness)
        moves = equilibrium(sampler, self.query_player(tilts), rounds=self.rounds)
        return GameSynopsis(
            self.shape.universe,
            np.concatenate(moves),
            self.population,
            self.event,
            self.analysts,
        )
