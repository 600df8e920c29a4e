"""Numbers by keys that were listed: what waits for its tick of every one of them.

Once admitted an event is one unit of a count, or what it adds to a statistic, and nothing else: its
value is not kept beyond the batch in which it came.

Source: contract, "Spending" (streams). Proof: ``proofs/live-streams.md``.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.mechanisms.grid import LIMIT
from discreet.streams.live.rules import CountAs, LeaveOut
from discreet.streams.statistics.statistic import Statistic


class KeysByList:
    """The public list of keys; each has one number, or those of a statistic, at every tick."""

    def __init__(
        self,
        names: tuple[str, ...],
        unlisted: LeaveOut | CountAs,
        statistic: Statistic | None = None,
    ) -> None:
        """Refuse a list that has a key twice, or not the one that stands for all others."""
        self.names = names
        self._places = {key: place for place, key in enumerate(names)}
        if len(self._places) != len(names) or not names:
            raise InvalidParameter(
                code="stream_keys",
                expectation="a list of keys, each of them once",
                received=len(names),
                remedy='Write keys=["A", "B", "C"].',
            )
        self._other = None
        if isinstance(unlisted, CountAs):
            self._other = self._places.get(unlisted.key)
            if self._other is None:
                raise InvalidParameter(
                    code="stream_keys",
                    expectation="CountAs to name a key of the list",
                    received=unlisted.key,
                    remedy="Add it to keys=, or leave unlisted= out.",
                )
        self._statistic = statistic
        self._pending: dict[int, Tally[int]] = {}
        self._values: dict[tuple[int, int], list[float]] = {}

    @property
    def valued(self) -> bool:
        """Whether an event needs a value."""
        return self._statistic is not None

    def place(self, key: str | None) -> int | None:
        """Where events of a key count; None where nowhere."""
        return None if key is None else self._places.get(key, self._other)

    def add(self, tick: int, place: int, person: bytes | None, value: float | None) -> None:
        """Count an event that was admitted in its tick."""
        if self._statistic is None:
            self._pending.setdefault(tick, Tally())[place] += 1
        else:
            assert value is not None
            self._values.setdefault((tick, place), []).append(value)

    def add_counts(self, counts: Mapping[str, int], tick: int) -> int:
        """Add what was counted elsewhere; how many of it are about no key of the list."""
        assert self._statistic is None
        pending, unlisted = self._pending.setdefault(tick, Tally()), 0
        for key, count in counts.items():
            place = self.place(key)
            if place is None:
                unlisted += count
            else:
                pending[place] += count
        return unlisted

    def settle(self) -> None:
        """Turn the values of a batch into what they add; the values are kept no longer."""
        if self._statistic is None:
            return
        width = self._statistic.keys
        for (tick, place), values in self._values.items():
            pending = self._pending.setdefault(tick, Tally())
            added = self._statistic.increments(np.array(values))
            for offset in np.flatnonzero(added).tolist():
                pending[place * width + offset] += int(added[offset])
        self._values = {}

    def close(self, tick: int) -> NDArray[np.int64]:
        """The numbers of a tick, over all keys; nothing counts in it afterwards."""
        self._values = {}  # of a batch that was cut short, if there are any
        width = 1 if self._statistic is None else self._statistic.keys
        numbers = np.zeros(len(self.names) * width, dtype=np.int64)
        for place, number in self._pending.pop(tick, Tally[int]()).items():
            numbers[place] = max(-LIMIT, min(LIMIT, number))
        return numbers

    def state(self) -> dict[str, Any]:
        """For the encrypted state."""
        return {
            str(tick): [list(numbers.keys()), list(numbers.values())]
            for tick, numbers in self._pending.items()
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Be where the state was."""
        self._pending = {
            int(tick): Tally(dict(zip(places, numbers, strict=True)))
            for tick, (places, numbers) in state.items()
        }
