"""A model over groups of cells, seen as one over the cells: shares of a group split its counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import Attribute, Universe
from discreet.synthetic.encoding.encoded_column import uniform
from discreet.synthetic.model import SyntheticModel, model_from_dict

KIND = "grouped/1"


@dataclass(frozen=True, eq=False)
class CellGroups:
    """For each cell of an attribute its group, and its share of that group's records."""

    group: NDArray[np.int64]
    share: Floats

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    @classmethod
    def of(cls, group: NDArray[np.int64], weights: Floats) -> CellGroups:
        """Shares by weights, of which negative ones count as zero; equal where none is left."""
        kept = np.maximum(weights, 0.0)
        sums = np.bincount(group, weights=kept)
        sizes = np.bincount(group)
        empty = sums[group] <= 0
        share = np.where(empty, 1 / sizes[group], kept / np.where(empty, 1.0, sums[group]))
        return cls(group, share)

    def split(self, table: Floats, axis: int) -> Floats:
        """Counts of groups on one axis as counts of cells."""
        shape = [1] * table.ndim
        shape[axis] = len(self.group)
        return np.take(table, self.group, axis=axis) * self.share.reshape(shape)

    def draw_cells(self, groups: NDArray[np.int64], randomness: Source) -> NDArray[np.int64]:
        """A cell for each group, by the shares."""
        order = np.argsort(self.group, kind="stable")
        ends = np.cumsum(self.share[order])
        first = np.searchsorted(self.group[order], np.arange(self.groups), side="left")
        last = np.searchsorted(self.group[order], np.arange(self.groups), side="right") - 1
        before = np.where(first > 0, ends[first - 1], 0.0)
        span = ends[last] - before
        at = before[groups] + uniform(len(groups), randomness) * span[groups]
        found = np.clip(np.searchsorted(ends, at, side="right"), first[groups], last[groups])
        return order[found].astype(np.int64)


@dataclass(frozen=True, eq=False)
class GroupedModel:
    """``inner`` knows groups of cells of some attributes; this model knows their cells.

    Assumptions: groups and shares were chosen from released counts.

    Guarantee: post-processing of what ``event`` paid for.

    Source: 004b:A14.
    """

    universe: Universe
    inner: SyntheticModel
    grouped: Mapping[str, CellGroups]
    event: Event
    split: Mapping[str, float] | None = None

    @property
    def total(self) -> float:
        return self.inner.total

    def marginal(self, names: Sequence[str]) -> Floats:
        table = self.inner.marginal(names)
        for axis, name in enumerate(names):
            if name in self.grouped:
                table = self.grouped[name].split(table, axis)
        return table

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> NDArray[np.int64]:
        rows = np.array(self.inner.sample(n, randomness=randomness))
        for name, groups in self.grouped.items():
            place = self.universe.place(name)
            rows[:, place] = groups.draw_cells(rows[:, place], randomness)
        return rows

    def to_dict(self) -> Mapping[str, object]:
        return {
            "model": KIND,
            "inner": dict(self.inner.to_dict()),
            "grouped": {
                name: {"group": each.group.tolist(), "share": each.share.tolist()}
                for name, each in self.grouped.items()
            },
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], universe: Universe, event: Event) -> GroupedModel:
        """The model that ``to_dict`` wrote."""
        try:
            grouped = {
                str(name): CellGroups(np.array(each["group"], np.int64), np.array(each["share"]))
                for name, each in plain["grouped"].items()
            }
            inner = model_from_dict(plain["inner"], coarser(universe, grouped), event)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise not_plain() from None
        return cls(universe, inner, grouped, event)

    @cached_property
    def measurements(self) -> Any:
        """None: what was measured is about groups."""
        return None


def coarser(universe: Universe, grouped: Mapping[str, CellGroups | int]) -> Universe:
    """The universe of the groups: by number."""
    sizes = {n: each if isinstance(each, int) else each.groups for n, each in grouped.items()}
    return Universe(
        tuple(
            Attribute(each.name, tuple(range(sizes[each.name]))) if each.name in sizes else each
            for each in universe.attributes
        )
    )


def stored_model(plain: Mapping[str, Any], universe: Universe, event: Event) -> SyntheticModel:
    """The model that ``plain`` described, grouped or not."""
    if plain.get("model") == KIND:
        return GroupedModel.from_dict(plain, universe, event)
    return model_from_dict(plain, universe, event)
