"""Rows of a child table in private bins: their own, and those of their owners' columns.

The bins of people's columns came out of the people's release; given them, rows are counted in
these. Own columns get bins from noisy counts for a share of the rows' spend. How many bins there
are is public, so what learning rows costs is known beforehand.

Source: contract, "Spending" (bounds from data are paid for). Proof: ``proofs/several_tables.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import RecordCount
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.budget_split import budget_split
from discreet.synthetic.conditional_network import ConditionalNetwork
from discreet.synthetic.grouped_model import CellGroups, GroupedModel, coarser
from discreet.synthetic.private_groups import (
    USUAL_SHARE,
    BinGrouping,
    GroupedCounts,
    PrivateGroups,
    coarse_workload,
)
from discreet.synthetic.privbayes import ConditionalPrivBayes

KIND = "grouped rows/1"


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """A law of rows by groups of cells, seen as one by the cells: for owners and rows alike.

    Assumptions: groups and shares were chosen from released counts.

    Guarantee: post-processing of what ``event`` paid for.

    Source: 004b:A13.
    """

    universe: Universe
    law: ConditionalNetwork
    grouped: Mapping[str, CellGroups]
    event: Event

    @property
    def given(self) -> tuple[int, ...]:
        """The places of what rows are given."""
        return self.law.given

    def sample_given(
        self, codes: NDArray[np.int64], *, randomness: Source = SYSTEM
    ) -> NDArray[np.int64]:
        """Rows of cells of the whole universe; ``codes`` has a column for each given attribute."""
        names = self.universe.names
        coarse = np.array(codes, dtype=np.int64)
        for column, place in enumerate(self.given):
            if names[place] in self.grouped:
                coarse[:, column] = self.grouped[names[place]].group[coarse[:, column]]
        found = self.law.sample_given(coarse, randomness=randomness)
        found[:, list(self.given)] = codes
        for name, groups in self.grouped.items():
            place = self.universe.place(name)
            if place not in self.given:
                found[:, place] = groups.draw_cells(found[:, place], randomness)
        return found

    def to_dict(self) -> Mapping[str, object]:
        """The law and the groups, for JSON."""
        return {
            "synopsis": KIND,
            "law": dict(self.law.to_dict()),
            "grouped": {
                name: {"group": each.group.tolist(), "share": each.share.tolist()}
                for name, each in self.grouped.items()
            },
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], universe: Universe, event: Event) -> GroupedRows:
        """The law that ``to_dict`` wrote."""
        try:
            grouped = {
                str(name): CellGroups(np.array(each["group"], np.int64), np.array(each["share"]))
                for name, each in plain["grouped"].items()
            }
            law = ConditionalNetwork.from_dict(plain["law"], coarser(universe, grouped), event)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise not_plain() from None
        return cls(universe, law, grouped, event)


RowsLaw = ConditionalNetwork | GroupedRows
"""How rows depend on their owner."""


@dataclass(frozen=True, kw_only=True)
class PrivateRows:
    """Learns the law of rows in bins: ``own`` are chosen here, ``above`` are people's.

    Assumptions: as for :class:`~discreet.synthetic.privbayes.ConditionalPrivBayes`. The groups that
    ``release`` gets were released; there are as many of them as ``above`` says.

    Guarantee: the event of :class:`~discreet.synthetic.private_groups.PrivateGroups` around
    :class:`~discreet.synthetic.privbayes.ConditionalPrivBayes`, or of the latter alone where no
    column of the rows is binned privately.

    Source: contract, "Spending". Proof: ``proofs/several_tables.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    given: tuple[str, ...]
    own: tuple[BinGrouping, ...] = ()
    above: tuple[BinGrouping, ...] = ()
    share: Number = USUAL_SHARE
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        _ = self.inner

    @cached_property
    def _half(self) -> Universe:
        """Owners by their bins, rows by their cells."""
        return coarser(self.workload.universe, {each.attribute: each.size for each in self.above})

    @cached_property
    def inner(self) -> Any:
        """What learns rows once their owners are in bins."""
        law: Callable[..., Any] = partial(ConditionalPrivBayes, given=self.given)
        if self.own:
            law = partial(PrivateGroups, mechanism=law, groupings=self.own, share=self.share)
        return law(
            workload=coarse_workload(self.workload, self._half),
            spend=self.spend,
            size=self.size,
            records=self.records,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        event: Event = self.inner.event
        return event

    @property
    def budget_split(self) -> dict[str, float]:
        """The shares of the spend, by what they pay for."""
        return budget_split(self.inner)

    def release(self, counts: Counted, groups: Mapping[str, CellGroups]) -> GroupedRows:
        """Learn rows by the bins of their owners, which ``groups`` has, and by their own."""
        universe = self.workload.universe
        above = {each.attribute: groups[each.attribute] for each in self.above}
        found = self.inner.release(GroupedCounts(counts, universe, self._half, above))
        own: Mapping[str, CellGroups] = {}
        if isinstance(found, GroupedModel):
            own, found = found.grouped, found.inner
        return GroupedRows(universe, found, {**above, **own}, self.event)


def law_from_dict(plain: Mapping[str, Any], universe: Universe, event: Event) -> RowsLaw:
    """The law that ``plain`` described, grouped or not."""
    kind = GroupedRows if plain.get("synopsis") == KIND else ConditionalNetwork
    return kind.from_dict(plain, universe, event)
