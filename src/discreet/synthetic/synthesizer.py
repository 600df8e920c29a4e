"""Synthesis of a table in memory, in the shape of scikit-learn: ``fit``, then ``sample``.

There is no curator here, and so no ledger: the release says what it costs, and adding up what was
spent on the same people is left to whoever calls. ``curator.synthesize`` does both.

Source: contract, "Spending" (no default price), "Units and neighbours" (no default unit).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.accounting.adaptive import filter_for
from discreet.accounting.adaptive.filter import ApproxFilter
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import Number
from discreet.core.unit import Person, PrivacyUnit, Replace, Row
from discreet.noise.randomness import SYSTEM, Source, random_id, require_source
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.workload import Workload
from discreet.release.guarantee import protection_text
from discreet.release.promise import promised
from discreet.synthetic.bounded_records import bounded_records, records_of, size_of
from discreet.synthetic.budget_split import spent_split
from discreet.synthetic.count_noise import CountNoise
from discreet.synthetic.encoding.constraints import Constraint
from discreet.synthetic.encoding.declared import column_of, without_missing
from discreet.synthetic.encoding.frame_columns import frame_columns
from discreet.synthetic.encoding.number_column import BINS, PrivateBins
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.mechanism_choice import (
    maker_for,
    require_leaves_model,
    usual_workload,
    with_progress,
)
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.private_groups import USUAL_SHARE
from discreet.synthetic.synthetic_release import SyntheticRelease
from discreet.synthetic.synthetic_table import SyntheticTable


@dataclass(kw_only=True)
class Synthesizer:
    """Fits a model of a table with a privacy guarantee, and samples rows from it.

    >>> import discreet as dp
    >>> table = {"sex": ["f", "m"] * 500, "age": [30, 60] * 500}
    >>> maker = Synthesizer(
    ...     columns={"sex": dp.Category(["f", "m"]), "age": dp.Integer(0, 99)},
    ...     unit=dp.Row(),
    ...     spend=dp.PureDP(epsilon=1),
    ... )
    >>> sorted(maker.fit(table).sample(10))
    ['age', 'sex']

    Attributes:
        columns: What is public of each column, by name; others are left out.
        unit: Whose privacy is protected.
        spend: The most that it may cost.
        mechanism: What makes the model; AIM unless it is said.
        constraints: What the owner knows to hold of every row.
        bins: Bins of numbers and days that say none themselves.
        never_missing: Columns that the owner knows to have a value in every row: samples have no
            missing ones. Real rows without a value there are left out, like those that break a
            constraint.
        ways: How many columns the marginals have that are kept; three, or two of wide tables.
        target: A column to be predicted, whose marginals matter most.
        bins_share: The part of the spend that privately chosen bins have.
        public: A table that everybody may see, from which the model starts.
        randomness: Where noise comes from; anything but the system's marks the release.
        progress: Told what is being done: public phases alone.
        release_: What ``fit`` left behind.
    """

    columns: Mapping[str, Any]
    unit: PrivacyUnit
    spend: Guarantee
    mechanism: Callable[..., Any] | None = None
    constraints: Sequence[Constraint] = ()
    bins: int | PrivateBins = BINS
    never_missing: Iterable[str] = ()
    ways: int | None = None
    target: str | None = None
    bins_share: Number = USUAL_SHARE
    public: Any = None
    randomness: Source = SYSTEM
    progress: Callable[..., None] | None = None
    release_: SyntheticRelease | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a price or a unit that is none: there is no default, and no way without."""
        if not isinstance(self.spend, Guarantee):
            raise InvalidParameter(
                code="spend_or_accuracy",
                expectation="spend=, a privacy guarantee; there is no default price",
                received=type(self.spend).__name__,
                remedy="Write spend=dp.ApproxDP(epsilon=1, delta=1e-6).",
            )
        if not isinstance(self.unit, Row | Person | Replace):
            raise InvalidParameter(
                code="not_a_unit",
                expectation="unit=, whose privacy is protected",
                received=type(self.unit).__name__,
                remedy='Write unit=dp.Row(), or dp.Person("patient_id", max_rows=20).',
            )
        require_source(self.randomness)

    def encoding(self) -> TableEncoding:
        """The columns as cells; by declarations alone."""
        made = {name: column_of(name, each, bins=self.bins) for name, each in self.columns.items()}
        return TableEncoding(without_missing(made, self.never_missing), tuple(self.constraints))

    def fit(self, table: Any) -> Synthesizer:
        """Count, with noise, and keep the model as ``release_``; returns itself."""
        encoding = self.encoding()
        workload = usual_workload(encoding.universe, self.ways)
        # What cannot be made, or costs too much, is refused before data.
        self._require_covered(self._mechanism(encoding, workload, NoisyRecordCount(), SYSTEM))
        names = [name for attribute in encoding.attributes for name in attribute.columns]
        person = self.unit if isinstance(self.unit, Person) else None
        read = frame_columns(table, [*names, *((person.id,) if person else ())])
        people = None if person is None else read[person.id]
        counts = bounded_records(encoding.universe, encoding.encode(read), self.unit, people)
        size = size_of(counts)
        mechanism = self._mechanism(encoding, workload, size, self.randomness)
        self._require_covered(mechanism)
        model = mechanism.release(counts)
        self.release_ = self._released(encoding, workload, size, mechanism, model)
        return self

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> SyntheticTable:
        """``n`` synthetic rows; without ``n`` as many as the noisy total."""
        return self._fitted().sample(n, randomness=randomness)

    def fit_sample(self, table: Any, n: int | None = None) -> SyntheticTable:
        """Fit and sample in one call."""
        return self.fit(table).sample(n)

    def _fitted(self) -> SyntheticRelease:
        if self.release_ is None:
            raise InvalidParameter(
                code="not_fitted",
                expectation="a model; `fit` makes one",
                remedy="Write synthesizer.fit(table).sample(1000).",
            )
        return self.release_

    def _mechanism(
        self, encoding: TableEncoding, workload: Workload, size: RecordCount, randomness: Source
    ) -> Any:
        make = maker_for(
            encoding,
            self.mechanism,
            target=self.target,
            share=self.bins_share,
            public=self.public,
        )
        make = with_progress(make, self.progress)
        made = make(
            workload=workload,
            spend=self.spend,
            size=size,
            records=records_of(self.unit),
            randomness=randomness,
        )
        require_leaves_model(made)
        return made

    def _require_covered(self, mechanism: Any) -> None:
        """Refuse a mechanism whose event costs more than the spend; test mode has no price."""
        if not self.randomness.private:
            return
        held = filter_for(self.spend)
        delta = None
        if isinstance(self.spend, ApproxDP) and isinstance(held, ApproxFilter):
            delta = self.spend.delta or None  # what adds up in rho has no delta of its own
        try:
            admitted = held.admits(mechanism.event, delta=delta)
        except DiscreetError:
            admitted = False
        if not admitted:
            raise InvalidParameter(
                code="spend_too_small",
                expectation="a mechanism whose event costs no more than the spend",
                received=type(mechanism).__name__,
                remedy="Pass a mechanism that takes its noise from the spend.",
            )

    def _released(
        self,
        encoding: TableEncoding,
        workload: Workload,
        size: RecordCount,
        mechanism: Any,
        model: SyntheticModel,
    ) -> SyntheticRelease:
        def again(counts: CodedRecords) -> SyntheticModel:
            known = PublicCount(len(counts.codes)) if isinstance(size, PublicCount) else size
            quiet = replace(self, progress=None)
            made: SyntheticModel = quiet._mechanism(encoding, workload, known, SYSTEM).release(
                counts
            )
            return made

        name = type(mechanism).__name__
        return SyntheticRelease(
            id=random_id(96),
            query=f"synthetic table by {name}: {', '.join(encoding.columns)}",
            encoding=encoding,
            model=model,
            guarantee=promised(self.spend, mechanism.event).per(self.unit),
            event=mechanism.event,
            budget_split=spent_split(mechanism, model),
            facts={
                "private": self.randomness.private,
                "protects": protection_text(self.unit),
                "mechanism": name,
                "columns": list(encoding.columns),
                "cells": encoding.universe.size,
                "ledger": None,
            },
            again=again,
            noise=CountNoise.of(mechanism, encoding),
        )
