"""Several tables: people with the number of their rows, then rows that depend on their owner.

People are synthesised with one more attribute for each child table: how many rows they have in it,
up to a public limit. The rows of a child table are bounded, joined with attributes of their owner,
and their law given these attributes is learnt from tables of the joined rows. Synthetic people
then get as many rows as they should have, drawn for their own attributes: so counts per person
and dependence between people and rows are kept.

Source: 004b:A13 (the law of rows); contract, "Units and neighbours". Proof:
``proofs/several_tables.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, count, exact, positive
from discreet.mechanisms.for_spend import share_of
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import NoisyRecordCount, RecordCount
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.universe import Attribute, Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.privbayes import ConditionalPrivBayes, PrivBayes
from discreet.synthetic.tables.person_tables import PersonTables
from discreet.synthetic.tables.tables_model import TablesModel


class SynthesiserBuilder(Protocol):
    """A class of synthesisers, or one with some of its parameters given."""

    def __call__(
        self,
        *,
        workload: Workload,
        spend: Guarantee,
        size: RecordCount,
        records: int,
        randomness: Source,
    ) -> PeopleSynthesiser:
        """The synthesiser."""


class PeopleSynthesiser(Protocol):
    """Leaves a model of people at the price of one event."""

    @property
    def event(self) -> Event:
        """What one release costs."""

    def release(self, counts: Counted) -> SyntheticModel:
        """Make the model."""


@dataclass(frozen=True)
class ChildTable:
    """A table of rows that belong to people: at most ``limit`` of each person count.

    ``given`` are the attributes of people that rows may depend on; all of them if not given.
    ``share`` is this table's part of the spend beside those of the others; people have 1.

    Assumptions: attributes, limit and share are public.

    Guarantee: rows of a person beyond the limit are left out, by that person's rows alone.

    Source: contract, "Units and neighbours".
    """

    name: str
    universe: Universe
    limit: int
    given: tuple[str, ...] | None = None
    share: Number = 1

    def __post_init__(self) -> None:
        """Refuse limits and shares that are none."""
        object.__setattr__(self, "limit", count("limit", self.limit))
        positive("share", self.share)
        if self.given is not None:
            object.__setattr__(self, "given", tuple(self.given))


@dataclass(frozen=True)
class SeveralTables:
    """A table of people and child tables, synthesised under one spend for each person.

    ``parent`` has the attributes of people. ``mechanism`` synthesises people with the numbers of
    their rows; rows are learnt with :class:`~discreet.synthetic.privbayes.ConditionalPrivBayes`.

    Assumptions: neighbours have one person more or less, with all rows of that person. Each person
    is one row of the parent table. All parameters are public.

    Guarantee: the composition of the events of all tables, at the spend.

    Source: 004b:A13. Proof: ``proofs/several_tables.md``.
    """

    parent: Universe
    children: tuple[ChildTable, ...]
    spend: Guarantee
    mechanism: SynthesiserBuilder = PrivBayes
    degree: int = 3
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        object.__setattr__(self, "children", tuple(self.children))
        names = [child.name for child in self.children]
        taken = [*self.parent.names, *names]
        clash = {n for child in self.children for n in child.universe.names} & set(taken)
        if not names or len(set(taken)) < len(taken) or clash:
            raise InvalidParameter(
                code="tables_names",
                expectation="at least one child table, and a name of its own for each table and "
                "attribute",
                received=(taken, sorted(clash)),
                remedy="Rename attributes that people and rows share.",
            )
        _ = self.event

    @cached_property
    def people(self) -> Universe:
        """The attributes of people, and how many rows they have in each child table."""
        numbers = (Attribute(c.name, tuple(range(c.limit + 1))) for c in self.children)
        return Universe((*self.parent.attributes, *numbers))

    def list_given_places(self, child: ChildTable) -> tuple[int, ...]:
        """The places of the attributes of people that rows may depend on."""
        names = self.parent.names if child.given is None else child.given
        return tuple(map(self.parent.place, names))

    def joined(self, child: ChildTable) -> Universe:
        """Rows of a child table with the attributes of their owners."""
        above = (self.parent.attributes[place] for place in self.list_given_places(child))
        return Universe((*above, *child.universe.attributes))

    def _share(self, part: Number) -> Guarantee:
        whole = 1 + sum((exact(child.share) for child in self.children), Fraction(0))
        return share_of(self.spend, exact(part) / whole)

    @cached_property
    def parent_synthesiser(self) -> PeopleSynthesiser:
        """What synthesises people."""
        return self.mechanism(
            workload=Workload.marginals(self.people, 2),
            spend=self._share(1),
            size=NoisyRecordCount(),
            records=1,
            randomness=self.randomness,
        )

    @cached_property
    def child_synthesisers(self) -> tuple[ConditionalPrivBayes, ...]:
        """What learns the rows of each child table, of which a person has several."""
        return tuple(
            ConditionalPrivBayes(
                workload=Workload.marginals(self.joined(child), 1),
                spend=self._share(child.share),
                size=NoisyRecordCount(),
                degree=self.degree,
                records=child.limit,
                randomness=self.randomness,
                given=tuple(self.parent.names[place] for place in self.list_given_places(child)),
            )
            for child in self.children
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        rows = (each.event for each in self.child_synthesisers)
        return compose((self.parent_synthesiser.event, *rows))

    def release(self, data: PersonTables) -> TablesModel:
        """Bound the rows of each person, and learn all tables."""
        people = len(data.codes)
        bounded = {
            child.name: data.children[child.name].bounded(people, child.limit, self.randomness)
            for child in self.children
        }
        limits = {child.name: child.limit for child in self.children}
        parents = data.with_counts(self.people, limits, bounded)
        return self.release_counts(
            parents,
            {
                child.name: data.joined(
                    self.joined(child), bounded[child.name], self.list_given_places(child)
                )
                for child in self.children
            },
        )

    def release_counts(self, parents: Counted, rows: Mapping[str, Counted]) -> TablesModel:
        """Learn all tables from counts that somebody else makes.

        Contract: ``parents`` counts people over :attr:`people`; ``rows`` has, for each child
        table, counts of rows over :meth:`joined`, of at most ``limit`` rows of each person.
        """
        model = self.parent_synthesiser.release(parents)
        laws = {
            child.name: synthesiser.release(rows[child.name])
            for child, synthesiser in zip(self.children, self.child_synthesisers, strict=True)
        }
        return TablesModel(model, laws)
