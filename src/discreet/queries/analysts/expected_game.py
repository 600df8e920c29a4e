"""A2: no query is drawn; the data player learns the query player's whole law.

Guarantees. The cells are draws whose log-weights move within eta_x times the summed shifts of the
query player's law: tanh(eta_q (j-1) / 4n) in round j for a replaced record, the share 1/s for a
replaced query or analyst. So both costs are plain zCDP. Each round takes O(|X| |Q|).

Source: analysts-verified:H4 (A2), H5. Proof: ``proofs/analysts-expected-game.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Composed, Event, Nothing
from discreet.core.events.mechanisms import Exponential
from discreet.core.parameters import exact
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.queries.analysts.accuracy import expected_alpha
from discreet.queries.analysts.game import Game, Tilts
from discreet.queries.analysts.guarantee import AnalystGuarantee

PLACES = 36
"""Binary places of an expected loss."""

ROUNDING = 2.0**-34
"""What rounding two worlds' expected losses, and summing them in doubles, can part them by."""

_UP = 1 + 2.0**-40
"""More than the rounding of the sum over rounds loses."""


@dataclass
class Expecting:
    """The query player of A2: shows the law itself, as the expected level of each cell."""

    tilts: Tilts

    def move(self) -> Ints:
        """For each cell the expected value of a query, on the grid 2**-36, up to a constant."""
        mean = (
            self.tilts.queries.along(self.tilts.distribution.net())
            / self.tilts.queries.shape.levels
        )
        return np.rint(mean * 2.0**PLACES).astype(np.int64)

    def learn(self, move: Ints) -> None:
        """Take the cells into account."""
        self.tilts.learn(move)


@dataclass(frozen=True, kw_only=True)
class ExpectedGame(Game):
    """A2 with public parameters.

    Assumptions: data are exact counts over the universe; neighbours as ``size`` says, with at most
    ``records`` records of a person. All parameters and the round's shape are public.

    Guarantee: rho to people and rho to analysts, each by its own event.

    Source: analysts-verified:H4, H5. Proof: ``proofs/analysts-expected-game.md``.
    """

    @property
    def event(self) -> Event:
        """One exponential draw for each cell, at its range over replaced records."""
        ranges = expected_data_ranges(
            rounds=self.rounds,
            step_x=float(self.step_x),
            step_q=float(self.step_q) * self.records,
            records=self.population,
            slack=ROUNDING + self.slack,
        )
        return mark_unprotected_event(self._cells(ranges), self.randomness)

    @property
    def analysts(self) -> AnalystGuarantee:
        """One exponential draw for each cell, at its range over replaced queries or analysts."""
        shift = float(self.step_x) * (self.share + ROUNDING) * (1 + 2.0**-50)
        event = self._cells(np.arange(self.rounds, dtype=np.float64) * shift)
        return AnalystGuarantee(self.protects, mark_unprotected_event(event, self.randomness))

    def _cells(self, ranges: Floats) -> Event:
        parts = tuple(
            Exponential(epsilon=math.nextafter(float(each), math.inf)) * self.batch_x
            for each in ranges[1:]
        )
        return Composed(parts) if parts else Nothing()

    def alpha(self, *, beta: float) -> float:
        """Fewer than s groups err by more, with probability at least 1 - beta."""
        return float(
            expected_alpha(
                cells=self.shape.universe.size,
                entropy=self.entropy,
                rounds=self.rounds,
                reach_x=self.reach_x,
                reach_q=self.reach_q,
                points=self.points,
                beta=beta,
            )
        )

    def gain_rate(self) -> Fraction:
        """eta_x / 2, in steps of the grid."""
        return exact(self.step_x) / (2 << PLACES)

    def query_player(self, tilts: Tilts) -> Expecting:
        return Expecting(tilts)


def expected_data_ranges(
    *, rounds: int, step_x: float, step_q: float, records: int, slack: float = 0.0
) -> Floats:
    """How far a replaced record moves the log-weights of A2's points, by round, rounded up.

    eta_x times the sum over earlier rounds j of tanh(eta_q (j-1) / 4n) + ``slack``, where the slack
    is what rounding the expected losses can add.
    """
    shifts = np.tanh(float(step_q) * np.arange(rounds) / (4 * records)) + slack
    # Round 1 looks at no earlier round, round t at the first t-1.
    before = np.concatenate([[0.0], np.cumsum(shifts)[:-1]])
    return np.asarray(float(step_x) * before * _UP)
