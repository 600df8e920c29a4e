"""The exact law of a report, by following every coin of the real client to both sides."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.local.client import Client

WHOLE = 1 << 64
MANY = 64
"""Of larger uniform numbers only the first few are followed: they do not depend on the value, so
that ratios of what remains are those of whole reports."""


class Followed(Client):
    """Takes prescribed sides, then the first of each, and notes what else was possible."""

    def __init__(self, schema: str, sides: tuple[int, ...], memory: dict[str, Any] | None) -> None:
        super().__init__(schema, memory)
        self._sides = sides
        self.chance = Fraction(1)
        self.taken: list[int] = []
        self.left: list[tuple[int, ...]] = []

    def _check_chances(self) -> None:
        """Broken schemas are followed too: that is how they are found out."""

    def _side(self, chances: list[Fraction]) -> int:
        place = len(self.taken)
        if place < len(self._sides):
            side = self._sides[place]
        else:
            side = next(i for i, chance in enumerate(chances) if chance)
            more = (i for i, chance in enumerate(chances) if chance and i != side)
            self.left += [(*self.taken, i) for i in more]
        self.taken.append(side)
        self.chance *= chances[side]
        return side

    def _coins(self, chances: list[int]) -> list[bool]:
        heads = [Fraction(chance, WHOLE) for chance in chances]
        return [self._side([each, 1 - each]) == 0 for each in heads]

    def _uniform(self, below: int) -> int:
        return self._side([Fraction(1, below)] * (below if below <= MANY else 3))


def law(
    schema: str, index: int, *, reports: int = 1, memory: dict[str, Any] | None = None
) -> dict[str, Fraction]:
    """The chance of every sequence of so many reports about one value, by one client."""
    return course_law(schema, [index] * reports, memory=memory)


def course_law(
    schema: str, course: Sequence[int], *, memory: dict[str, Any] | None = None
) -> dict[str, Fraction]:
    """The chance of every sequence of reports about one value after the other, by one client."""
    found: dict[str, Fraction] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        client = Followed(schema, waiting.pop(), copy.deepcopy(memory))
        told = json.dumps([client._payload(index) for index in course])
        found[told] = found.get(told, Fraction(0)) + client.chance
        waiting += client.left
    return found


def worst_ratio(laws: list[dict[str, Fraction]]) -> Fraction:
    """The largest ratio of chances of one report under two values."""
    keys = set().union(*laws)
    assert all(set(each) == keys for each in laws)
    return max(max(each[key] for each in laws) / min(each[key] for each in laws) for key in keys)
