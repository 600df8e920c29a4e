"""The law of one attribute given its parents, and a value drawn from it for every row.

Source: 004b:A13.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.noise import uniform_integers
from discreet.noise.randomness import Source
from discreet.queries.workload.stored_form import not_plain, packed, unpacked

_BITS = 52


@dataclass(frozen=True, eq=False)
class Conditional:
    """The law of one attribute given its parents: an axis for each parent, the last its own."""

    place: int
    parents: tuple[int, ...]
    table: Floats

    @property
    def places(self) -> tuple[int, ...]:
        """The attributes of the axes."""
        return (*self.parents, self.place)

    def draw(self, codes: NDArray[np.int64], randomness: Source) -> NDArray[np.int64]:
        """A value for each row, given the codes of its parents."""
        rows, (*shape, values) = len(codes), self.table.shape
        above = np.zeros(rows, dtype=np.int64)
        if shape:
            parts = tuple(codes[:, place] for place in self.parents)
            above = np.ravel_multi_index(parts, shape)
        cumulated = np.cumsum(self.table.reshape(-1, values), axis=1)
        line = (cumulated + np.arange(len(cumulated))[:, None]).ravel()
        drawn = uniform_integers(1 << _BITS, rows, randomness) / float(1 << _BITS)
        place = np.searchsorted(line, drawn + above, side="right")
        return np.asarray(np.clip(place - above * values, 0, values - 1))


def conditionals_to_list(conditionals: Iterable[Conditional]) -> list[Mapping[str, object]]:
    """Conditionals in order, for JSON."""
    return [
        {"place": each.place, "parents": list(each.parents), "table": packed(each.table)}
        for each in conditionals
    ]


def conditionals_from_list(
    entries: object, given: Iterable[int], shape: Sequence[int]
) -> tuple[Conditional, ...]:
    """The conditionals of all attributes but those that are ``given``; parents come first."""
    if not isinstance(entries, list):
        raise not_plain()
    found: list[Conditional] = []
    known = set(given)
    for entry in entries:
        match entry:
            case {"place": int() as place, "parents": list() as parents, "table": table}:
                each = Conditional(place, tuple(parents), unpacked(table))
            case _:
                raise not_plain()
        fits = place in range(len(shape)) and place not in known and set(each.parents) <= known
        if not fits or each.table.shape != tuple(shape[p] for p in each.places):
            raise not_plain()
        known.add(place)
        found.append(each)
    if len(known) < len(shape):
        raise not_plain()
    return tuple(found)
