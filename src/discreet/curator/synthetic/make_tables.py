"""Making several synthetic tables: people and their rows, counted, bought and kept at once.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/several_tables.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import Guarantee
from discreet.curator.budget import as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.paid_before import PaidBefore
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.curator.synopsis.fingerprint import request_fingerprint
from discreet.curator.synopsis.make import is_own, synopsis_facts
from discreet.curator.synopsis.mechanism import GIVEN, mechanism_from
from discreet.curator.synopsis.universe import counts_of
from discreet.curator.synthetic.declared_columns import table_encoding
from discreet.curator.synthetic.tables_questions import (
    OwnedTable,
    keys_of,
    people_questions,
    rows_questions,
)
from discreet.mechanisms.for_spend import share_of
from discreet.noise.randomness import random_id
from discreet.queries.workload.workload import Workload
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.identity.identity import CanonicalText, any_snapshot, identity
from discreet.relational.plan.keyed_universe import universe_from
from discreet.release.promise import promised
from discreet.synthetic.encoding.constraints import Constraint
from discreet.synthetic.encoding.number_column import BINS, PrivateBins
from discreet.synthetic.grouped_model import GroupedModel
from discreet.synthetic.mechanism_choice import require_leaves_model
from discreet.synthetic.private_groups import PrivateGroups
from discreet.synthetic.privbayes import ConditionalPrivBayes, PrivBayes
from discreet.synthetic.tables.private_rows import PrivateRows
from discreet.synthetic.tables.stored_tables import models_from_dict
from discreet.synthetic.tables.tables_model import TablesModel
from discreet.synthetic.tables.tables_release import TablesRelease


@dataclass(frozen=True, eq=False)
class TablesRequest:
    """What is to be made of several tables: public parts alone."""

    context: Context
    parent: OwnedTable
    children: tuple[OwnedTable, ...]
    make: Callable[..., Any]
    people: TableCounts
    rows: tuple[TableCounts, ...]

    @classmethod
    def of(
        cls,
        context: Context,
        parent: str,
        children: Sequence[str],
        *,
        columns: Mapping[str, Sequence[str] | Mapping[str, Any]] | None = None,
        constraints: Mapping[str, Sequence[Constraint]] | None = None,
        bins: int | PrivateBins = BINS,
        mechanism: Callable[..., Any] | None = None,
    ) -> TablesRequest:
        """The request that declarations and these choices make; refusals here are free."""
        names = [] if isinstance(children, str) else list(children)
        own, rules = dict(columns or {}), dict(constraints or {})
        every = {parent, *names}
        if not names or len(every) <= len(names) or {*own, *rules} - every:
            raise InvalidParameter(
                code="tables_names",
                expectation="a table of people and at least one other table, each once",
                received=(parent, names, sorted({*own, *rules})),
                remedy='Write synthesize_tables("patients", ["visits"], spend=...).',
            )

        def owned(name: str) -> OwnedTable:
            rule = tuple(rules.get(name, ()))
            encoding = table_encoding(context, name, own.get(name), rule, bins)
            return OwnedTable.of(context, name, encoding)

        above, below = owned(parent), tuple(map(owned, names))
        if above.limit != 1:
            raise InvalidParameter(
                code="not_a_table_unit",
                expectation=f"one row for each person in {parent!r}",
                received=above.limit,
                remedy='Declare it with unit=dp.Person("patient_id", max_rows=1).',
            )

        def prepare_counts(questions: Sequence[str]) -> TableCounts:
            return counts_of(context, universe_from(questions, context.query))

        people = prepare_counts(people_questions(above, below))
        rows = tuple(prepare_counts(rows_questions(above, child)) for child in below)
        return cls(context, above, below, mechanism or PrivBayes, people, rows)

    @cached_property
    def tables(self) -> tuple[OwnedTable, ...]:
        """All of them, people first."""
        return (self.parent, *self.children)

    @cached_property
    def sources(self) -> tuple[TableCounts, ...]:
        """What counts people, then the rows of each child table; nothing is counted yet."""
        return (self.people, *self.rows)

    @property
    def words(self) -> str:
        """What is made, in words."""
        told = [f"{each.name} ({', '.join(each.encoding.columns)})" for each in self.tables]
        return f"synthetic tables: {'; '.join(told)}"

    def mechanisms(self, spend: Guarantee) -> tuple[Any, ...]:
        """Of people, then of each child table, for equal shares; reads public facts alone."""
        paid = share_of(self.context.budget.as_paid(spend), Fraction(1, len(self.tables)))
        asked: list[tuple[Callable[..., Any], int, TableCounts]]
        asked = [(self._people_maker(), 2, self.people)]
        asked += [
            (self._rows_maker(child), 1, source)
            for child, source in zip(self.children, self.rows, strict=True)
        ]
        made = tuple(
            mechanism_from(
                make,
                Workload.marginals(source.universe, ways),
                spend=paid,
                source=source,
                randomness=self.context.randomness,
            )
            for make, ways, source in asked
        )
        require_leaves_model(made[0])
        for _, _, source in asked:
            source.text(source.universe.names[:1])  # what cannot be written is refused now
        return made

    def _people_maker(self) -> Callable[..., Any]:
        """What makes the mechanism of people, private bins before it if there are any."""
        if not self.parent.groupings:
            return self.make
        return partial(PrivateGroups, mechanism=self.make, groupings=self.parent.groupings)

    def _rows_maker(self, child: OwnedTable) -> Callable[..., Any]:
        """What makes that of rows: in the bins of people, and in bins of their own."""
        given, above, own = self.parent.attributes, self.parent.groupings, child.groupings
        if above or own:
            return partial(PrivateRows, given=given, above=above, own=own)
        return partial(ConditionalPrivBayes, given=given)

    def identify_question(self, spend: Guarantee) -> Known:
        """Equal for the same synthesis of the same data; new each time where that is unsure."""
        asked = request_fingerprint(self.make, given=GIVEN)
        if asked is None:
            return Known(f"tables {random_id(96)}", anew=True)
        tables = frozenset().union(*(tables_read(each.query) for each in self.sources))
        columns = {each.name: each.encoding.to_dict() for each in self.tables}
        parts: dict[str, object] = {
            "mechanism": asked,
            "columns": json.dumps(columns, sort_keys=True),
            **{
                f"question {place}": CanonicalText.of(each.query)
                for place, each in enumerate(self.sources)
            },
            "spend": spend,
            "snapshot": self.context.snapshot(tables),
            "rows": self.context.declared_rows(tables),
        }
        return Known(
            identity("synthesize_tables", parts),
            any_snapshot=any_snapshot("synthesize_tables", parts),
            snapshots=self.context.snapshot_names(tables),
        )


def synthesize_tables(
    request: TablesRequest,
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None,
) -> TablesRelease:
    """Count, learn and keep all tables; or find those that the analyst already has."""
    context = request.context
    context.budget.check(spend)
    spend = as_written(spend)
    kept = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=spend,
            reads=tuple(each.query for each in request.sources),
            offer=lambda: tables_offer(request, request.mechanisms(spend)),
            own=is_own(request.make),
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: request.identify_question(spend),
            to_dict=_Kept.to_dict,
            from_dict=lambda stored: _Kept.from_dict(stored, request),
        ),
    )
    return TablesRelease(
        id=kept.number,
        query=request.words,
        parent=request.parent.name,
        keys=keys_of(request.tables),
        encodings={each.name: each.encoding for each in request.tables},
        model=kept.model,
        guarantee=promised(spend, kept.model.event).per(context.unit),
        event=kept.model.event,
        facts=_facts(request),
    )


def tables_offer(request: TablesRequest, mechanisms: Sequence[Any]) -> Offer[Callable[[], _Kept]]:
    """The mechanisms of all tables as they are offered: at one price, read in one snapshot."""
    event: Event = compose(tuple(each.event for each in mechanisms))

    def product() -> _Kept:
        with request.people.engine.snapshot():
            people = mechanisms[0].release(request.people)
            groups = people.grouped if isinstance(people, GroupedModel) else {}
            laws = [
                mechanism.release(source, groups)
                if isinstance(mechanism, PrivateRows)
                else mechanism.release(source)
                for mechanism, source in zip(mechanisms[1:], request.rows, strict=True)
            ]
        names = [child.name for child in request.children]
        return _Kept(random_id(96), TablesModel(people, dict(zip(names, laws, strict=True))))

    return Offer(product=product, event=event, detail={"mechanism": request.words})


@dataclass(frozen=True)
class _Kept:
    """What the ledger keeps of several tables."""

    number: str
    model: TablesModel

    def to_dict(self) -> dict[str, object]:
        return {"tables": self.number, **self.model.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], request: TablesRequest) -> _Kept:
        names = [child.name for child in request.children]
        rows = dict(zip(names, (each.universe for each in request.rows), strict=True))
        return cls(plain["tables"], models_from_dict(plain, request.people.universe, rows))


def _facts(request: TablesRequest) -> dict[str, Any]:
    """The public facts of the privacy statement."""
    told = synopsis_facts(request.context, request.people, mechanism=request.words, rmse=None)
    return {
        **told,
        "tables": [each.name for each in request.tables],
        "limits": {each.name: each.limit for each in request.tables},
    }
