"""A mechanism fitted to a table in memory, in the shape of scikit-learn: ``fit``, then ``sample``.

Columns are the attributes of the mechanism's universe; their listed values are the cells. For
numbers in bins, days and constraints there is :class:`~discreet.synthetic.synthesizer.Synthesizer`;
for a ledger, ``curator.synthesize``.

Source: contract, "Spending", "Units and neighbours". Proof: ``proofs/synthesis.md``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.unit import Person, PrivacyUnit, Replace, Row
from discreet.noise.randomness import SYSTEM, Source, random_id
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.universe import Attribute
from discreet.queries.workload.workload import Workload
from discreet.release.guarantee import protection_text
from discreet.release.promise import promised
from discreet.synthetic.bounded_records import bounded_records
from discreet.synthetic.budget_split import spent_split
from discreet.synthetic.count_noise import CountNoise
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.frame_columns import frame_columns
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.synthetic_release import SyntheticRelease


class FitsTables:
    """What mechanisms share that can be fitted to a table in memory.

    Contract: the mechanism is a dataclass with these members; ``release`` leaves a model.
    """

    if TYPE_CHECKING:
        workload: Workload
        spend: Guarantee
        size: RecordCount
        records: int
        randomness: Source

        @property
        def event(self) -> Event:
            """What one release costs."""

        def release(self, counts: Counted) -> SyntheticModel:
            """Make the model."""

    def fit(self, table: Any, *, person: str | None = None) -> SyntheticRelease:
        """A synthetic release of a table that has the attributes as columns.

        Rows with a value that is not listed are left out; where rows are exchanged, they count in
        the first cell. ``person`` names the column that says whose a row is: of each person
        ``records`` rows count. Without it a row is a person. There is no ledger here: adding up
        what was spent on the same people is left to whoever calls.
        """
        unit = self._unit(person)
        universe = self.workload.universe
        encoding = TableEncoding({each.name: _column(each) for each in universe.attributes})
        read = frame_columns(table, [*universe.names, *(() if person is None else (person,))])
        owners = None if person is None else read[person]
        records = bounded_records(universe, encoding.encode(read), unit, owners)
        if isinstance(self.size, PublicCount) and self.size.records != len(records.codes):
            raise InvalidData(
                code="records_differ",
                expectation="as many rows as the mechanism was made for",
                remedy="Write size=PublicCount(len(table)).",
            )
        model, name = self.release(records), type(self).__name__
        return SyntheticRelease(
            id=random_id(96),
            query=f"synthetic table by {name}: {', '.join(universe.names)}",
            encoding=encoding,
            model=model,
            guarantee=promised(self.spend, self.event).per(unit),
            event=self.event,
            budget_split=spent_split(self, model),
            facts={
                "private": self.randomness.private,
                "protects": protection_text(unit),
                "mechanism": name,
                "columns": list(universe.names),
                "cells": universe.size,
                "ledger": None,
            },
            again=self._again,
            noise=CountNoise.of(self, encoding),
        )

    def _unit(self, person: str | None) -> PrivacyUnit:
        """Whom ``size`` and ``records`` protect."""
        exchanged = isinstance(self.size, PublicCount)
        if person is None and self.records == 1:
            return Replace(Row()) if exchanged else Row()
        if person is None or exchanged:
            raise InvalidParameter(
                code="not_a_table_unit",
                expectation="person=, the column that says whose a row is, where people have "
                "several records that come and go; none where rows are exchanged",
                received=(person, self.records),
                remedy='Write fit(table, person="patient_id") with size=NoisyRecordCount().',
            )
        return Person(person, max_rows=self.records)

    def _again(self, counts: CodedRecords) -> SyntheticModel:
        """The model of other rows, made as that of the table was."""
        known = self.size
        if isinstance(known, PublicCount):
            known = PublicCount(len(counts.codes))
        changed: dict[str, Any] = {"size": known, "randomness": SYSTEM}
        if hasattr(self, "progress"):
            changed["progress"] = None
        quiet: FitsTables = replace(self, **changed)  # type: ignore[type-var]
        return quiet.release(CodedRecords(self.workload.universe, counts.codes, Row()))


def _column(attribute: Attribute) -> CategoryColumn:
    """An attribute as a column whose cells have the same numbers."""
    column = CategoryColumn(attribute.values, missing=False)
    if column.labels != attribute.values:
        raise InvalidParameter(
            code="category_values",
            expectation=f"None, if it is a value of {attribute.name!r}, as the last",
            received=len(attribute.values),
            remedy="Build the universe with None at the end of the list.",
        )
    return column
