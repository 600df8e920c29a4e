"""Subsample and vote: random blocks elect one of finitely many public options."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from discreet.core.domain import Categories
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.grid import ordinary
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.robust.blocks import Function, apply, split
from discreet.noise import SYSTEM, Source
from discreet.noise.randomness import require_source


class VoteSelection(ABC):
    """How the winner is drawn from the votes."""

    @abstractmethod
    def mechanism(self, epsilon: Number, source: Source) -> NoisyMax | Exponential:
        """The selection at ``epsilon`` for votes, each of which one row can take or give."""

    @abstractmethod
    def failure(self, epsilon: Number, *, votes: int, options: int) -> float:
        """Bound on the probability of a wrong winner when all votes agree."""


@dataclass(frozen=True)
class VoteByNoisyMax(VoteSelection):
    """Report noisy max with Laplace noise of scale 2/epsilon."""

    def mechanism(self, epsilon: Number, source: Source) -> NoisyMax:
        """One row moves a vote from one option to another: general scores."""
        return NoisyMax(epsilon=epsilon, sensitivity=1, randomness=source)

    def failure(self, epsilon: Number, *, votes: int, options: int) -> float:
        """(M - 1)/2 · (1 + eb/4) exp(-eb/2): differences of two Laplace variables, united."""
        loss = float(epsilon) * votes
        return min(1.0, (options - 1) * (1 + loss / 4) * math.exp(-loss / 2) / 2)


@dataclass(frozen=True)
class VoteByExponential(VoteSelection):
    """The exponential mechanism."""

    def mechanism(self, epsilon: Number, source: Source) -> Exponential:
        """One row moves a vote from one option to another: general scores."""
        return Exponential(epsilon=epsilon, sensitivity=1, randomness=source)

    def failure(self, epsilon: Number, *, votes: int, options: int) -> float:
        """1 - 1/(1 + (M - 1) exp(-eb/2)), exactly."""
        others = (options - 1) * math.exp(-float(epsilon) * votes / 2)
        return others / (1 + others)


@dataclass(frozen=True)
class Elected:
    """The winner, and its noisy number of votes if that was paid for."""

    winner: Any
    popularity: int | None = None


@dataclass(frozen=True, kw_only=True)
class SubsampleVote:
    """A private choice among ``options``, by one vote of each random block of rows.

    Assumptions: a row is a person; neighbours differ by one row added, removed or replaced, the
    others keeping their order. ``function`` looks at nothing but its block and keeps no memory.
    ``options`` is public, ordered and complete.

    Contract: ``function`` takes a list (or array) of rows, possibly empty, and returns one of the
    options; raising or returning anything else is a vote for the first.

    Guarantee: pure differential privacy of ``epsilon`` for the winner, plus ``popularity_epsilon``
    if the winner's votes are released too; the event says so. The votes needed grow with
    ln(options)/epsilon even when all agree (:meth:`failure_if_unanimous`).

    >>> vote = SubsampleVote(function=max, options=("a", "b"), blocks=40, epsilon=1)
    >>> vote.event, f"{vote.failure_if_unanimous():.2g}"
    (NoisyMax(epsilon=1), '1.1e-08')

    Source: 000b:B3 (Dwork and Roth, section 7.1). Proof: ``proofs/robust-subsample.md``.
    """

    function: Function
    options: tuple[Any, ...]
    blocks: int
    epsilon: Number
    popularity_epsilon: Number | None = None
    selection: VoteSelection = VoteByNoisyMax()
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range; the data has no say in this."""
        require_source(self.randomness)
        object.__setattr__(self, "options", Categories(tuple(self.options)).values)
        object.__setattr__(self, "blocks", count("blocks", self.blocks))
        for name in ("epsilon", "popularity_epsilon"):
            if name == "epsilon" or self.popularity_epsilon is not None:
                object.__setattr__(self, name, ordinary(name, getattr(self, name)))

    @property
    def event(self) -> Event:
        """The selection, and the count of the winner's votes if asked for."""
        chosen = self.selection.mechanism(self.epsilon, self.randomness).event
        popularity = self._popularity()
        return chosen if popularity is None else chosen + popularity.event

    def release(self, rows: Any) -> Elected:
        """Who won, and how popular it seems if that was paid for."""
        parts = split(rows, self.blocks, self.randomness)
        votes = [0] * len(self.options)
        for result in apply(self.function, parts):
            votes[self._ballot(result)] += 1
        winner = self.selection.mechanism(self.epsilon, self.randomness).release(votes)
        popularity = self._popularity()
        if popularity is None:
            return Elected(self.options[winner])
        return Elected(self.options[winner], popularity.release(votes[winner]))

    def failure_if_unanimous(self) -> float:
        """Bound on the probability of a wrong winner when every block votes for one option."""
        return self.selection.failure(self.epsilon, votes=self.blocks, options=len(self.options))

    def _popularity(self) -> Laplace | None:
        if self.popularity_epsilon is None:
            return None
        return Laplace(epsilon=self.popularity_epsilon, sensitivity=1, randomness=self.randomness)

    def _ballot(self, result: Any) -> int:
        try:
            return self.options.index(result)
        except Exception:  # not an option, or not even comparable
            return 0
