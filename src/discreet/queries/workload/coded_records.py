"""Records in memory as codes: counted by some attributes, or block by block.

Source: ``discreet.core.source``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Categories, Domain
from discreet.core.errors import InvalidData
from discreet.core.unit import PrivacyUnit
from discreet.queries.workload.universe import Universe


@dataclass(frozen=True, eq=False)
class CodedRecords:
    """Records as the places of their values, one row for each; a ``BlockCountSource``.

    Contract: ``codes`` has a column for each attribute of the universe. Whoever has several
    records is known to the mechanism, which bounds nobody's: pass ``records`` there.

    >>> from discreet.core.unit import Row
    >>> universe = Universe.of(a=[0, 1], b=["x", "y", "z"])
    >>> people = CodedRecords(universe, np.array([[0, 2], [1, 2]]), Row())
    >>> people.counts(["b"])
    array([0, 0, 2])
    """

    universe: Universe
    codes: NDArray[np.integer]
    unit: PrivacyUnit

    def __post_init__(self) -> None:
        """Refuse codes that are none, without showing any."""
        codes = np.asarray(self.codes)
        whole = np.issubdtype(codes.dtype, np.integer)
        fits = codes.ndim == 2 and codes.shape[1] == len(self.universe.shape)
        if not whole or not fits or (codes < 0).any() or (codes >= self.universe.shape).any():
            raise InvalidData(
                code="codes_outside",
                expectation="a column for each attribute, of places among its values",
                remedy="Drop or recode records with other values by a rule fixed in advance.",
            )
        # Column by column in memory, since counting reads columns.
        object.__setattr__(self, "codes", np.asfortranarray(codes))

    def domain(self, column: str) -> Domain:
        """The values of an attribute."""
        return Categories(self.universe.attributes[self.universe.place(column)].values)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Exact counts by some attributes, one axis each. Private: only noise may follow."""
        places = [self.universe.place(name) for name in columns]
        shape = tuple(self.universe.shape[place] for place in places)
        flat = np.zeros(len(self.codes), dtype=np.int64)
        for place, size in zip(places, shape, strict=True):
            flat = flat * size + self.codes[:, place]
        return np.bincount(flat, minlength=math.prod(shape)).reshape(shape).astype(np.int64)

    def block_counts(
        self, columns: Sequence[str], within: Mapping[str, Sequence[int]]
    ) -> NDArray[np.int64]:
        places = [self.universe.place(name) for name in columns]
        shape = []
        flat = np.zeros(len(self.codes), dtype=np.int64)
        for name, place in zip(columns, places, strict=True):
            size = self.universe.shape[place]
            wanted = np.asarray(within.get(name, range(size)), dtype=np.int64)
            number = np.full(size, -1, dtype=np.int64)
            number[wanted] = np.arange(len(wanted))
            found = number[self.codes[:, place]]
            flat = np.where((flat < 0) | (found < 0), -1, flat * len(wanted) + found)
            shape.append(len(wanted))
        inside = flat[flat >= 0]
        return np.bincount(inside, minlength=math.prod(shape)).reshape(shape).astype(np.int64)
