"""Keys that nobody listed: named once enough people brought one of them within a public interval.

Ticks are parted into intervals of ``every`` ticks. At the end of each, every key that has no name
yet is named with a probability that follows from how many people sent an event under it within the
interval. An event that counts lies in one interval and has one key, so a person with at most m
events is in at most m of all these counts, however many intervals there are: one price, of a
selection in which a person has m groups, covers the whole stream.

A key that was named is counted from the beginning of the stream: what its events were before is
added at the tick of its naming. Each event counts once, in its own tick or in that one.

Source: modern-data:P1; contract, "Columns" (discovered keys), "Spending" (streams). Proof:
``proofs/found-stream-keys.md``.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import Number, count, exact, probability
from discreet.mechanisms.grid import LIMIT
from discreet.mechanisms.key_selection.optimal import OptimalSelection
from discreet.noise.randomness import Source
from discreet.streams.live.limits import joined_tags, parted_tags
from discreet.streams.units import EventLevel, StreamUnit, UserLevel

_LONGEST = 256


@dataclass(frozen=True, kw_only=True)
class FoundKeys:
    """In place of a list: at most ``most`` keys, looked for after every ``every`` ticks.

    ``share`` of epsilon and half of delta pay for names. Below ``min_people`` no key is ever named.

    Attributes:
        most: How many keys are named at most; those that come after in the alphabet are not.
        every: Ticks in an interval. In longer ones more keys reach enough people.
        share: What part of epsilon is for names.
        min_people: A public minimum; it costs nothing.
    """

    most: int
    every: int
    share: Number = Fraction(1, 3)
    min_people: int = 1

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        for name in ("most", "every", "min_people"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        object.__setattr__(self, "share", exact(probability("share", self.share)))

    def parted(self, spend: Guarantee) -> tuple[ApproxDP, ApproxDP]:
        """What names cost, and what is left for counts."""
        if not isinstance(spend, ApproxDP) or not spend.delta:
            raise InvalidParameter(
                code="keys_need_delta",
                expectation="a spend with a delta for keys that nobody listed",
                received=spend,
                remedy="Write spend=dp.ApproxDP(epsilon=..., delta=...), with a delta well below "
                "one over the number of people; or list the keys.",
            )
        epsilon, half, share = exact(spend.epsilon), exact(spend.delta) / 2, exact(self.share)
        return (
            ApproxDP(epsilon=epsilon * share, delta=half, unit=spend.unit),
            ApproxDP(epsilon=epsilon * (1 - share), delta=half, unit=spend.unit, by=spend.by),
        )

    def rule(self, spend: Guarantee, unit: StreamUnit, randomness: Source) -> OptimalSelection:
        """How keys are named: one group for each event of a person.

        Refused where a unit bounds what counts at one tick: what was before a key's naming is
        counted at one tick, all of it.
        """
        if not isinstance(unit, EventLevel | UserLevel) or unit.per_tick != unit.events:
            raise InvalidParameter(
                code="stream_found_unit",
                expectation="EventLevel(), or UserLevel(...) without max_per_tick, for keys that "
                "nobody listed: what was before a key's naming counts at one tick",
                received=unit,
                remedy="Leave max_per_tick= out, or list the keys.",
            )
        names = self.parted(spend)[0]
        return OptimalSelection(
            epsilon=names.epsilon,
            delta=names.delta,
            groups=unit.events,
            min_people=self.min_people,
            randomness=randomness,
        )

    def to_dict(self) -> dict[str, Any]:
        """For the ledger, under names that never change."""
        share = str(exact(self.share))
        return {
            "most": self.most,
            "every": self.every,
            "share": share,
            "min_people": self.min_people,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> FoundKeys:
        """As the ledger has them."""
        return cls(**{**kept, "share": Fraction(kept["share"])})


class KeysByName:
    """What waits for its tick, and for a name.

    Contract: ``rule`` was paid for with as many groups as a person has events that count. What
    :meth:`close` names is durable before it is seen.
    """

    valued = False

    def __init__(self, found: FoundKeys, rule: OptimalSelection, last: int) -> None:
        """Know no key yet; ``last`` is the last tick."""
        self._found = found
        self._rule = rule
        self._last = last
        self.names: tuple[str, ...] = ()
        self._pending: dict[int, Tally[str]] = {}
        self._senders: dict[int, dict[str, set[bytes]]] = {}
        self._before: Tally[str] = Tally()
        self._interval: dict[str, set[bytes]] = {}
        self._single: Tally[str] = Tally()

    def place(self, key: str | None) -> str | None:
        """Every key that can be shown may be named one day."""
        return key if key is not None and len(key) <= _LONGEST and key.isprintable() else None

    def add(self, tick: int, place: str, person: bytes | None, value: float | None) -> None:
        """Count an event that was admitted in its tick; ``person`` is None where it is the unit."""
        self._pending.setdefault(tick, Tally())[place] += 1
        if person is not None:
            self._senders.setdefault(tick, {}).setdefault(place, set()).add(person)

    def settle(self) -> None:
        """Nothing is left to do."""

    def close(self, tick: int) -> NDArray[np.int64]:
        """The counts of a tick, by the order of names; ``most`` numbers, of which more get one."""
        counts = self._pending.pop(tick, Tally[str]())
        senders = self._senders.pop(tick, {})
        named = set(self.names)
        for key, number in counts.items():
            if key not in named:
                self._before[key] += number
                if key not in senders:  # the unit is one event
                    self._single[key] += number
        for key, people in senders.items():
            if key not in named:
                self._interval.setdefault(key, set()).update(people)
        for key in self._chosen() if self._ends(tick) else ():
            self.names = (*self.names, key)
            counts[key] = self._before.pop(key)
        numbers = np.zeros(self._found.most, dtype=np.int64)
        for place, key in enumerate(self.names):
            numbers[place] = min(LIMIT, counts.get(key, 0))
        return numbers

    def _ends(self, tick: int) -> bool:
        """Whether an interval ends with a tick."""
        return (tick + 1) % self._found.every == 0 or tick == self._last

    def _chosen(self) -> list[str]:
        """Keys that are named now, as many as there is room for; the interval is forgotten."""
        people = {**self._single, **{key: len(each) for key, each in self._interval.items()}}
        self._interval, self._single = {}, Tally()
        room = self._found.most - len(self.names)
        if not room or not people:
            return []
        keys = sorted(people)
        chosen = self._rule.release(np.array([people[key] for key in keys], dtype=np.int64)).chosen
        return [key for key, kept in zip(keys, chosen.tolist(), strict=True) if kept][:room]

    def state(self) -> dict[str, Any]:
        """For the encrypted state."""
        return {
            "names": list(self.names),
            "pending": {str(tick): dict(counts) for tick, counts in self._pending.items()},
            "senders": {
                str(tick): _join_tags_of_keys(people) for tick, people in self._senders.items()
            },
            "before": dict(self._before),
            "interval": _join_tags_of_keys(self._interval),
            "single": dict(self._single),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Be where the state was."""
        self.names = tuple(state["names"])
        self._pending = {int(tick): Tally(counts) for tick, counts in state["pending"].items()}
        self._senders = {
            int(tick): _split_tags_of_keys(people) for tick, people in state["senders"].items()
        }
        self._before = Tally(state["before"])
        self._interval = _split_tags_of_keys(state["interval"])
        self._single = Tally(state["single"])


def _join_tags_of_keys(people: Mapping[str, set[bytes]]) -> dict[str, str]:
    return {key: joined_tags(sorted(tags)) for key, tags in people.items()}


def _split_tags_of_keys(written: Mapping[str, str]) -> dict[str, set[bytes]]:
    return {key: set(parted_tags(tags)) for key, tags in written.items()}
