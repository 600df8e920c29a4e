"""People and their rows in memory as codes, with at most so many rows for each person.

Which rows of a person are kept depends on this person's rows and fresh randomness alone.

Source: contract, "Bounding inside the engine".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.unit import Row
from discreet.noise import uniform_integers
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.universe import Universe


@dataclass(frozen=True, eq=False)
class OwnedRows:
    """Rows of a child table as codes, and the place of each row's owner among the people.

    Rows without an owner among them have a negative one, and are left out.
    """

    owners: NDArray[np.integer]
    codes: NDArray[np.integer]

    def __post_init__(self) -> None:
        """Refuse rows without owners, without showing any."""
        owners, codes = np.asarray(self.owners), np.asarray(self.codes)
        whole = all(np.issubdtype(each.dtype, np.integer) for each in (owners, codes))
        if not whole or owners.ndim != 1 or codes.ndim != 2 or len(owners) != len(codes):
            raise InvalidData(
                code="codes_outside",
                expectation="whole codes and one whole owner for each row of a child table",
                remedy="Pass the place of the owner in the table of people; -1 for none.",
            )

    def bounded(self, people: int, limit: int, randomness: Source = SYSTEM) -> OwnedRows:
        """At most ``limit`` rows of each person, each of them as likely to be kept."""
        owners = np.asarray(self.owners, dtype=np.int64)
        inside = np.flatnonzero((owners >= 0) & (owners < people))
        keys = uniform_integers(1 << 62, len(inside), randomness)
        order = inside[np.lexsort((keys, owners[inside]))]
        mine = owners[order]
        starts = np.searchsorted(mine, mine, side="left")
        kept = order[np.arange(len(order)) - starts < limit]
        return OwnedRows(owners[kept], np.asarray(self.codes)[kept])


@dataclass(frozen=True, eq=False)
class PersonTables:
    """A table of people as codes, one row each, and tables of rows that belong to them."""

    codes: NDArray[np.integer]
    children: Mapping[str, OwnedRows]

    def with_counts(
        self, universe: Universe, limits: Mapping[str, int], bounded: Mapping[str, OwnedRows]
    ) -> CodedRecords:
        """People with the number of their rows in each child table, as records of a universe."""
        columns = [np.asarray(self.codes)]
        for name in limits:
            rows = np.bincount(bounded[name].owners, minlength=len(self.codes))
            columns.append(rows[:, None])
        return CodedRecords(universe, np.concatenate(columns, axis=1), Row())

    def joined(self, universe: Universe, rows: OwnedRows, given: Sequence[int]) -> CodedRecords:
        """Rows of a child table, each with some attributes of its owner before its own."""
        above = np.asarray(self.codes)[rows.owners][:, list(given)]
        return CodedRecords(universe, np.concatenate([above, rows.codes], axis=1), Row())
