"""The games' settings with the least promised error, from public numbers alone.

For every share of the hidden draws the analysts' budget fixes H_x √M / s, and the data budget fixes
H_q. What is left is searched: the number s of queries (or analysts) that may be wrong, the number
M of points and, for the sampled game, how often a query may be drawn. Minimised is the promise for
all: alpha, plus what correcting s of them adds.

Correction, as the planner counts it. A wrong query is found and then answered, with Gaussian noise
for half of the budget each; s of them at deviations √(s / rho) / n, two of them together, and the
largest of |Q|. A wrong analyst gets a private multiplicative-weights run at rho / s: with T
measurements 2 √(ln|X| / T) of learning and the noise of T / rho for each of 2 most queries. That is
a shared correction; streams of each analyst's own need a cut-off each and cost no less. So a game
is never ranked below where it belongs.

Source: analysts-verified:H4 ("Planner"), H5, H8. 30 % of the data budget is for correction.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.core.arrays import Floats
from discreet.queries.analysts.accuracy import (
    analyst_entropy,
    expected_alpha,
    query_entropy,
    sampled_alpha,
)
from discreet.queries.analysts.flags import most_pull

BETA = 0.01
GAME_PART = 0.7
"""The game's part of the data budget; the rest is for correction."""
_FLAGS = (0.05, 0.3, 2.0, 8.0, 32.0)
_FINE = 160


class HiddenUnit(ABC):
    """Who is hidden: public counts, what a comparator costs, and what correcting costs."""

    @property
    @abstractmethod
    def groups(self) -> int:
        """How many capped groups there are."""

    @abstractmethod
    def entropy(self, s: Floats) -> Floats:
        """Relative entropy of s wrong groups from the start."""

    @abstractmethod
    def correction(self, s: Floats, *, cells: float, records: int, rho: float) -> Floats:
        """The error that correcting s wrong groups adds."""


@dataclass(frozen=True)
class PerQuery(HiddenUnit):
    """One query is hidden, of ``queries`` in all."""

    queries: int

    @property
    def groups(self) -> int:
        """A query and its negation are one group."""
        return self.queries

    def entropy(self, s: Floats) -> Floats:
        return query_entropy(queries=self.queries, s=s)

    def correction(self, s: Floats, *, cells: float, records: int, rho: float) -> Floats:
        """√2 √(s / rho) √(2 ln|Q|) / n."""
        tail = math.sqrt(2 * math.log(max(self.queries, 2)))
        return np.asarray(math.sqrt(2) * np.sqrt(s / rho) * tail / records)


@dataclass(frozen=True)
class PerAnalyst(HiddenUnit):
    """One analyst is hidden, of ``analysts``, who have at most ``most`` queries each."""

    analysts: int
    most: int

    @property
    def groups(self) -> int:
        """One for each analyst."""
        return self.analysts

    def entropy(self, s: Floats) -> Floats:
        """ln(m / s) + ln(2 most)."""
        return analyst_entropy(analysts=self.analysts, s=s, most=self.most)

    def correction(self, s: Floats, *, cells: float, records: int, rho: float) -> Floats:
        """The least over T of 2 √(ln|X| / T) + 2 √(T s / 2 rho) √(2 ln(2 most)) / n."""
        learning, noise = weights_terms(s, cells=cells, most=self.most, records=records, rho=rho)
        # a / √T + b √T is least at T = a / b.
        turns = np.maximum(learning / noise, 1)
        return np.asarray(learning / np.sqrt(turns) + noise * np.sqrt(turns))


def weights_terms(
    s: Floats, *, cells: float, most: int, records: int, rho: float
) -> tuple[float, Floats]:
    """What T rounds of private multiplicative weights leave: the first over √T, the second by √T.

    One of s runs at rho / s: what is not learnt yet, and the noise of what was.
    """
    learning = 2 * math.sqrt(math.log(cells))
    noise = 2 * np.sqrt(s / (2 * rho)) * math.sqrt(2 * math.log(2 * most)) / records
    return learning, np.asarray(noise)


@dataclass(frozen=True)
class GameSetting:
    """A game's settings and its promise: all but fewer than ``s`` groups within ``alpha``."""

    rounds: float
    points: float
    draws: float
    reach_x: float
    reach_q: float
    s: float
    alpha: float
    correction: float

    @property
    def error(self) -> float:
        """What everybody's answers keep to after correction."""
        return self.alpha + self.correction


@dataclass(frozen=True)
class GameBudget:
    """Public numbers a game is planned from: rho of the data, and the analysts' spend.

    At most ``rounds`` are played, and at most the share ``wrong`` of all groups may be wrong.
    """

    cells: float
    records: int
    data_rho: float
    epsilon: float
    delta: float
    analyst_rho: float
    rounds: float = math.inf
    wrong: float = 1.0


def sampled_setting(asked: HiddenUnit, budget: GameBudget) -> GameSetting:
    """A1's best setting; alpha above one promises nothing."""
    s, points = _grid(asked, budget.wrong)
    rho = GAME_PART * budget.data_rho
    found: list[GameSetting] = []
    for flags, pull in zip(_FLAGS, _pulls(budget.epsilon, budget.delta), strict=True):
        # flags = -J ln(1 - 1/s), or below it.
        draws = np.floor(flags / -np.log1p(-1 / s))
        rounds = np.minimum(np.minimum(points, np.maximum(draws, 1)), budget.rounds)
        limit = rounds if math.isfinite(budget.rounds) else np.full(rounds.shape, np.inf)
        reach_x = _useful(
            pull * np.maximum(draws, 1) / np.sqrt(points), math.log(budget.cells), limit
        )
        reach_q = budget.records * np.sqrt(24 * rho / np.maximum(draws, 1))
        reach_q = _useful(reach_q, asked.entropy(s), limit)
        alpha = sampled_alpha(
            cells=budget.cells,
            entropy=asked.entropy(s),
            rounds=limit,
            reach_x=reach_x,
            reach_q=reach_q,
            points=points,
            draws=np.maximum(draws, 1),
            beta=BETA,
        )
        alpha = np.where(draws >= 1, alpha, np.inf)
        table = np.broadcast_arrays(rounds, points, draws, reach_x, reach_q, s, alpha)
        found.append(_least(table, asked, budget))
    return min(found, key=lambda each: each.error)


def expected_setting(asked: HiddenUnit, budget: GameBudget) -> GameSetting:
    """A2's best setting."""
    s, points = _grid(asked, budget.wrong)
    rho = GAME_PART * budget.data_rho
    rounds = np.minimum(points, budget.rounds)
    limit = rounds if math.isfinite(budget.rounds) else np.full(rounds.shape, np.inf)
    reach_x = s * math.sqrt(24 * budget.analyst_rho) / np.sqrt(points)
    reach_x = _useful(reach_x, math.log(budget.cells), limit)
    reach_q = budget.records * math.sqrt(2560 * rho) / (reach_x * np.sqrt(points))
    reach_q = _useful(reach_q, asked.entropy(s), limit)
    alpha = expected_alpha(
        cells=budget.cells,
        entropy=asked.entropy(s),
        rounds=limit,
        reach_x=reach_x,
        reach_q=reach_q,
        points=points,
        beta=BETA,
    )
    draws = np.zeros_like(points)
    table = np.broadcast_arrays(rounds, points, draws, reach_x, reach_q, s, alpha)
    return _least(table, asked, budget)


@lru_cache(maxsize=64)
def _pulls(epsilon: float, delta: float) -> tuple[float, ...]:
    """The largest pull for each share of draws on the grid."""
    return tuple(most_pull(flags=flags, epsilon=epsilon, delta=delta) for flags in _FLAGS)


def _grid(asked: HiddenUnit, wrong: float) -> tuple[Floats, Floats]:
    """Numbers of wrong groups (rows) and of points (columns)."""
    s = np.exp(np.linspace(math.log(2), math.log(max(asked.groups * wrong, 2)), _FINE))[:, None]
    return s, np.geomspace(2, 1e14, _FINE)[None, :]


def _useful(reach: Floats, entropy: Floats | float, rounds: Floats) -> Floats:
    """No farther than where regret, entropy / H + H / 8T, begins to grow."""
    return np.asarray(np.minimum(reach, np.sqrt(8 * rounds * entropy)))


def _least(table: tuple[Floats, ...], asked: HiddenUnit, budget: GameBudget) -> GameSetting:
    s, alpha = table[-2], table[-1]
    rho = (1 - GAME_PART) * budget.data_rho
    added = asked.correction(s, cells=budget.cells, records=budget.records, rho=rho)
    place = np.unravel_index(np.argmin(alpha + added), alpha.shape)
    rounds, points, draws, reach_x, reach_q, wrong, error = (float(part[place]) for part in table)
    return GameSetting(
        rounds=rounds,
        points=points,
        draws=draws,
        reach_x=reach_x,
        reach_q=reach_q,
        s=wrong,
        alpha=error,
        correction=float(added[place]),
    )
