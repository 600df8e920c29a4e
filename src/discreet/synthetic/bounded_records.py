"""Rows in memory as records of a universe, at most so many of each unit.

Source: ``discreet.core.source``; contract, "Bounding inside the engine".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.unit import Person, PrivacyUnit, Replace, Row, add_remove
from discreet.noise.randomness import SYSTEM
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.universe import Universe
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes
from discreet.synthetic.person_rows import kept_rows


def bounded_records(
    universe: Universe,
    codes: Codes,
    unit: PrivacyUnit,
    people: Sequence[object] | None = None,
) -> CodedRecords:
    """Bound what one unit has: one row, or ``unit.rows()`` of a person. Private.

    A row with no cell is left out. Where rows are exchanged, so that their number is public, it
    counts in the first cell.
    """
    outside = np.any(codes == OUTSIDE, axis=1)
    match unit:
        case Row():
            return CodedRecords(universe, codes[~outside], unit)
        case Replace(Row()):
            return CodedRecords(universe, np.where(outside[:, None], 0, codes), unit)
        case Person():
            assert people is not None
            inside = codes[~outside]
            owners = [each for each, out in zip(people, outside, strict=True) if not out]
            kept = kept_rows(inside, owners, max_rows=unit.rows(), salt=SYSTEM.bytes(16))
            return CodedRecords(universe, inside[kept], unit)
    raise InvalidParameter(
        code="not_a_table_unit",
        expectation="Row(), Replace(Row()) or Person(id, max_rows=...)",
        received=type(add_remove(unit)).__name__,
        remedy='Write Person("patient_id", max_rows=20), or Row() if each row is a person.',
    )


def records_of(unit: PrivacyUnit) -> int:
    """How many records one unit has at most."""
    return unit.rows() if isinstance(unit, Person) else 1


def size_of(records: CodedRecords) -> RecordCount:
    """How many records there are: public where they are exchanged, else to be bought."""
    if isinstance(records.unit, Replace):
        return PublicCount(len(records.codes))
    return NoisyRecordCount()
