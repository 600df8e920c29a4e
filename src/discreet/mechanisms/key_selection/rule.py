"""What all rules that name keys share: public parameters, the event, and what is kept of counts.

A rule reads, for each candidate key, how many *people* have it. It never looks at the key.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import count, probability
from discreet.core.search import doubled, least_whole
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise import SYSTEM, Source
from discreet.noise.randomness import require_source

if TYPE_CHECKING:
    from discreet.mechanisms.distributions.symmetric import Distribution

MOST_PEOPLE = 10**7
"""Rules that would not name a key of so many people are refused as useless."""


@dataclass(frozen=True)
class KeptKeys:
    """Which candidates are named, and their noisy counts where the rule publishes any."""

    chosen: NDArray[np.bool_]
    counts: NDArray[np.int64] | None


@dataclass(frozen=True, kw_only=True)
class KeySelectionRule(ABC):
    """A private choice among candidate keys.

    Assumptions: counts are of people, each counted once in at most ``groups`` keys; ``swaps`` is
    2 under Replace and else 1. Keys that nobody has are not candidates, and are never named.

    ``min_people`` is public: a key of fewer people is never named. It costs nothing, since the rule
    then reads the count less ``min_people - 1``, which moves no more than the count.
    """

    groups: int = 1
    swaps: int = 1
    min_people: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse bounds that are not whole numbers of at least one."""
        require_source(self.randomness)
        for name in ("groups", "swaps", "min_people"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if max(self.groups * self.swaps, self.min_people) > MOST_PEOPLE:
            raise out_of_reach()

    @property
    def event(self) -> Event:
        """What one choice among all candidates costs."""
        return mark_unprotected_event(self._event(), self.randomness)

    @property
    @abstractmethod
    def distribution(self) -> Distribution | None:
        """The noise of published counts; None where none are."""

    def release(self, counts: Any) -> KeptKeys:
        """Choose among candidates by their exact numbers of people."""
        people = np.asarray(counts)
        if people.ndim != 1 or people.dtype.kind not in "iu" or (people < 0).any():
            raise InvalidData(
                code="not_counts",
                expectation="one whole number of people for each candidate key",
                remedy="Count distinct people by key, after bounding each to `groups` keys.",
            )
        kept = self._release(np.maximum(people.astype(np.int64) - (self.min_people - 1), 0))
        if kept.counts is None:
            return kept
        return KeptKeys(kept.chosen, kept.counts + (self.min_people - 1))

    def keep_probability(self, people: int) -> float:
        """The chance that a key of so many people is named, for information."""
        above = count("people", people, least=0) - (self.min_people - 1)
        return float(self._probabilities(np.array([max(above, 0)]))[0])

    def people_for(self, chance: float) -> int:
        """The least number of people whose key is named with probability ``chance`` or more."""
        wanted = float(probability("chance", chance))

        def enough(people: int) -> bool:
            return bool(self._probabilities(np.array([people]))[0] >= wanted)

        high = doubled(enough, 1, at_most=2 * MOST_PEOPLE)
        if high is None:
            raise out_of_reach()
        return least_whole(enough, high // 2, high) + self.min_people - 1

    def compute_found_share(self) -> float:
        """The share of keys found of a long tail: how planners compare."""
        from discreet.accounting.key_selection import tail_of_keys  # loads all accountants

        last = self.people_for(1 - 1e-9) - (self.min_people - 1)
        people, shares = tail_of_keys(last)
        named = self._probabilities(people.astype(np.int64))
        return float(np.sum(named * shares) + 1 / (last + 1))

    @abstractmethod
    def _event(self) -> Event:
        """The event of a private run."""

    @abstractmethod
    def _release(self, people: NDArray[np.int64]) -> KeptKeys:
        """Choose by counts that are not negative."""

    @abstractmethod
    def _probabilities(self, people: NDArray[np.int64]) -> NDArray[np.float64]:
        """Keep probabilities in double precision."""


def out_of_reach() -> InvalidParameter:
    """The refusal of parameters under which no key of usual size would ever be named."""
    return InvalidParameter(
        code="keys_out_of_reach",
        expectation="a spend at which a key of ten million people would be found",
        remedy="Spend more epsilon or delta on the question, or bound people to fewer groups.",
    )
