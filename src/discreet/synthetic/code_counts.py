"""Counts of rows in memory by the attributes of a universe; a ``CountSource``.

Source: ``discreet.core.source``; contract, "Bounding inside the engine".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Categories, Domain
from discreet.core.errors import InvalidParameter
from discreet.core.unit import Person, PrivacyUnit, Replace, Row, add_remove
from discreet.noise.randomness import SYSTEM
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.universe import Universe
from discreet.synthetic.encoding.column import OUTSIDE, Codes
from discreet.synthetic.person_rows import kept_rows


@dataclass(frozen=True, eq=False)
class CodeCounts:
    """Rows as the numbers of their cells, a column for each attribute. Private.

    Contract: made by :meth:`of`, which keeps at most ``records`` rows of each unit.
    """

    universe: Universe
    codes: Codes
    unit: PrivacyUnit
    records: int

    @classmethod
    def of(
        cls,
        universe: Universe,
        codes: Codes,
        unit: PrivacyUnit,
        people: Sequence[object] | None = None,
    ) -> CodeCounts:
        """Bound what one unit has. A row with no cell is left out.

        Where rows are exchanged, so that their number is public, it counts in the first cell.
        """
        outside = np.any(codes == OUTSIDE, axis=1)
        match unit:
            case Row():
                return cls(universe, codes[~outside], unit, 1)
            case Replace(Row()):
                return cls(universe, np.where(outside[:, None], 0, codes), unit, 1)
            case Person():
                assert people is not None
                inside = codes[~outside]
                owners = [each for each, out in zip(people, outside, strict=True) if not out]
                rows = unit.rows()
                kept = kept_rows(inside, owners, max_rows=rows, salt=SYSTEM.bytes(16))
                return cls(universe, inside[kept], unit, rows)
        raise InvalidParameter(
            code="not_a_table_unit",
            expectation="Row(), Replace(Row()) or Person(id, max_rows=...)",
            received=type(add_remove(unit)).__name__,
            remedy='Write Person("patient_id", max_rows=20), or Row() if each row is a person.',
        )

    @property
    def size(self) -> RecordCount:
        """How many records there are: public where they are exchanged, else to be bought."""
        if isinstance(self.unit, Replace):
            return PublicCount(len(self.codes))
        return NoisyRecordCount()

    def domain(self, column: str) -> Domain:
        return Categories(self.universe.attributes[self.universe.place(column)].values)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        places = [self.universe.place(name) for name in columns]
        shape = tuple(self.universe.shape[place] for place in places)
        if not places:
            return np.array(len(self.codes), dtype=np.int64)
        flat = np.ravel_multi_index(tuple(self.codes[:, place] for place in places), shape)
        found = np.bincount(flat, minlength=math.prod(shape))
        return found.astype(np.int64).reshape(shape)
