"""Bins from noisy counts that are paid for, then any mechanism on them.

The columns whose cells are to be put together are counted one by one, with noise, for a share of
the spend. Neighbouring cells then form a fixed number of bins with about equally many records. How
many bins there are is public, so what the mechanism behind will cost is known beforehand.

Guarantee: the event of the noisy counts and that of the mechanism, composed.

Source: contract, "Spending" (bounds from data are paid for), "Columns".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.domain import Categories, Domain
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, count, exact, probability
from discreet.core.unit import PrivacyUnit, Row
from discreet.mechanisms.for_spend import WholeNoise, deviation, noise_for, share_of
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import NoisyRecordCount, RecordCount, require_size
from discreet.queries.workload.cell_counts import Counted, marginal_counts
from discreet.queries.workload.families import All, Each
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product, Workload
from discreet.synthetic.budget_split import budget_split, spent_split
from discreet.synthetic.drawable import require_drawable
from discreet.synthetic.grouped_model import CellGroups, GroupedModel, coarser

USUAL_SHARE = Fraction(1, 10)


@dataclass(frozen=True)
class BinGrouping:
    """How many bins the cells of an attribute form.

    The last cell stays by itself, and is not among ``groups``, where it is that of ``missing``
    values.
    """

    attribute: str
    groups: int
    missing: bool

    @property
    def size(self) -> int:
        """Groups with that of missing values."""
        return self.groups + self.missing

    def chosen(self, noisy: Floats, deviation: float) -> CellGroups:
        """The groups that noisy counts of the cells suggest.

        A count shrinks by one deviation of its noise first: else the many cells of an empty tail
        would get all the noise that fell above zero.
        """
        noisy = np.maximum(noisy - deviation, 0.0)
        counts = noisy[:-1] if self.missing else noisy
        found = _bins(counts, self.groups)
        if self.missing:
            found = np.append(found, self.groups)
        return CellGroups.of(found, noisy)


@dataclass(frozen=True)
class PrivateGroups:
    """Groups cells by noisy counts for ``share`` of the spend; ``mechanism`` has the rest.

    Assumptions: as of the mechanisms for workloads: ``size`` says whether records are exchanged or
    added and removed, ``records`` bounds how many one unit has. All parameters are public.

    Guarantee: the event of one additive release of the cells' counts, and of the mechanism.

    Source: contract, "Spending". Proof: ``proofs/private_groups.md``.
    """

    workload: Workload
    spend: Guarantee
    mechanism: Callable[..., Any]
    groupings: tuple[BinGrouping, ...]
    share: Number = USUAL_SHARE
    size: RecordCount = field(default_factory=NoisyRecordCount)
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be grouped, and spends that nothing can keep."""
        require_size(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        probability("share", self.share)
        for each in self.groupings:
            shape = self.workload.universe.shape[self.workload.universe.place(each.attribute)]
            if not 1 <= each.size < shape:
                raise InvalidParameter(
                    code="parameter_out_of_range",
                    expectation=f"fewer groups than cells for {each.attribute!r}",
                    received=(each.size, shape),
                    remedy="Leave the cells as they are.",
                )
        require_drawable(self.noise)
        self.inner  # noqa: B018 -- refused now rather than when data is open

    @cached_property
    def noise(self) -> WholeNoise:
        """What is added to the count of every cell of the columns to be grouped."""
        moved = self.records * self.size.changed_cells
        columns = len(self.groupings)
        return noise_for(
            share_of(self.spend, exact(self.share)),
            l1=moved * columns,
            l2=sqrt_above(Fraction(moved**2 * columns)),
            randomness=self.randomness,
        )

    @cached_property
    def inner(self) -> Any:
        """The mechanism on the groups, with the rest of the spend."""
        return self.mechanism(
            workload=coarse_workload(self.workload, self._coarse),
            spend=share_of(self.spend, 1 - exact(self.share)),
            size=self.size,
            records=self.records,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        event: Event = self.noise.event + self.inner.event
        return event

    @property
    def budget_split(self) -> dict[str, float]:
        """The shares of the spend, by what they pay for."""
        return self._with_bins(budget_split(self.inner))

    def _with_bins(self, told: dict[str, float]) -> dict[str, float]:
        share = float(exact(self.share))
        return {"bins": share, **{name: (1 - share) * part for name, part in told.items()}}

    def release(self, counts: Counted) -> GroupedModel:
        """Count the columns with noise, group their cells, and run the mechanism."""
        universe = self.workload.universe
        exactly = [marginal_counts(counts, universe, [g.attribute]) for g in self.groupings]
        noisy = np.asarray(self.noise.release(np.concatenate(exactly)), dtype=np.float64)
        spread = deviation(self.noise)
        parts = np.split(noisy, np.cumsum([len(each) for each in exactly])[:-1])
        grouped = {
            each.attribute: each.chosen(part, spread)
            for each, part in zip(self.groupings, parts, strict=True)
        }
        model = self.inner.release(GroupedCounts(counts, universe, self._coarse, grouped))
        split = self._with_bins(spent_split(self.inner, model))
        return GroupedModel(universe, model, grouped, self.event, split)

    @cached_property
    def _coarse(self) -> Universe:
        return coarser(self.workload.universe, {g.attribute: g.size for g in self.groupings})


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """Counts of groups, added up from counts of cells; a ``CountSource``."""

    source: Counted
    fine: Universe
    universe: Universe
    grouped: dict[str, CellGroups]

    @property
    def unit(self) -> PrivacyUnit:
        """That of the source; rows where an array was counted."""
        return Row() if isinstance(self.source, np.ndarray) else self.source.unit

    def domain(self, column: str) -> Domain:
        return Categories(self.universe.attributes[self.universe.place(column)].values)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        table = marginal_counts(self.source, self.fine, columns)
        for axis, name in enumerate(columns):
            if name in self.grouped:
                groups = self.grouped[name]
                moved = np.moveaxis(table, axis, 0)
                sums = np.zeros((groups.groups, *moved.shape[1:]), dtype=np.int64)
                np.add.at(sums, groups.group, moved)
                table = np.moveaxis(sums, 0, axis)
        return table


def coarse_workload(workload: Workload, universe: Universe) -> Workload:
    """The same marginals of the groups; refused where something else is asked of them."""
    products = []
    for product in workload.products:
        families = list(product.families)
        for place, (family, size) in enumerate(zip(families, universe.shape, strict=True)):
            if family.size == size:
                continue
            if not isinstance(family, All | Each):
                raise InvalidParameter(
                    code="workload_misfit",
                    expectation="marginals, where cells are grouped privately",
                    received=type(family).__name__,
                    remedy="Give the column public bins.",
                )
            families[place] = type(family)(size)
        products.append(Product(tuple(families), product.weight))
    return Workload(universe, tuple(products))


def _bins(counts: Floats, groups: int) -> NDArray[np.int64]:
    """Neighbouring cells in exactly so many groups of about equal noisy counts."""
    cells = len(counts)
    upto = np.append(0.0, np.cumsum(np.maximum(counts, 0.0) + 1e-9))
    wanted = upto[-1] * np.arange(1, groups) / groups
    cuts = np.searchsorted((upto[1:] + upto[:-1]) / 2, wanted, side="left")
    # Strictly increasing, with a cell at least in each group, on both sides.
    for place in range(len(cuts)):
        least = cuts[place - 1] + 1 if place else 1
        cuts[place] = min(max(cuts[place], least), cells - (groups - 1 - place))
    return np.searchsorted(cuts, np.arange(cells), side="right").astype(np.int64)
