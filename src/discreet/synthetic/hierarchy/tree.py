"""A hierarchy over a universe: its nodes in one order, their children, and blocks of leaves.

Values of an attribute are put in the order of their groups, so that the children of a node follow
each other on every level, and so do all leaves below it. Attributes that tell no nodes apart are
the *detail*: each node has a histogram over their cells.

Source: Abowd and others 2022, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.queries.workload.universe import LARGEST, Attribute, Universe
from discreet.synthetic.hierarchy.levels import Hierarchy, Key, Level

BLOCK = 1 << 20
"""Leaf cells that are counted and estimated together."""


@dataclass(frozen=True)
class LeafBlock:
    """Leaves from ``first`` to before ``last``, all of the children of some ``parents``."""

    within: dict[str, list[int]]
    first: int
    last: int
    parents: slice


@dataclass(frozen=True)
class _Axis:
    """One attribute: its values in the order of their groups, and the groups of each level."""

    order: Ints
    labels: tuple[tuple[object, ...], ...]
    members: tuple[Ints, ...]
    """How many children each group of a level has: groups of the next level, last values."""


@dataclass(frozen=True)
class Tree:
    """The nodes of a hierarchy over a universe. Nothing of the size of all leaf cells is made.

    Contract: refused if the universe lacks an attribute, if a value has no group, if groups do
    not lie in one another, or if one node's children have too many cells to be estimated at once.
    """

    hierarchy: Hierarchy
    universe: Universe
    block: int = BLOCK

    def __post_init__(self) -> None:
        """Refuse what cannot be estimated, before any data is seen."""
        for name in self.hierarchy.attributes:
            self.universe.place(name)
        *above, _ = (nodes * self.detail for nodes in self.nodes)
        widest = max(int(self.fans[-1].max()) * self.detail, *above)
        if widest > LARGEST:
            raise InvalidParameter(
                code="hierarchy_too_wide",
                expectation=f"at most {LARGEST} cells on each level above the last, and as many "
                "below each node",
                received=widest,
                remedy="Put a level between, or leave out an attribute of the detail.",
            )

    @cached_property
    def detail(self) -> int:
        """Cells of the histogram that each node has."""
        return math.prod(self.universe.shape[place] for place in self._detail_places)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes in the order in which blocks are counted: places, then detail."""
        others = (self.universe.names[place] for place in self._detail_places)
        return (*self.hierarchy.attributes, *others)

    @cached_property
    def fans(self) -> tuple[Ints, ...]:
        """The number of children of each node, by level; the last level has none."""
        found, above = [], 1
        for axis in self._axes:
            found.append(np.full(above, len(axis.labels[0]), dtype=np.int64))
            found += [np.tile(members, above) for members in axis.members]
            above *= len(axis.order)
        return tuple(found)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        return (1, *(int(fan.sum()) for fan in self.fans))

    @cached_property
    def starts(self) -> tuple[Ints, ...]:
        """Where the children of each node begin on the next level; ends where they end."""
        return tuple(np.concatenate([[0], np.cumsum(fan)]) for fan in self.fans)

    def node(self, level: int, key: Key) -> int:
        """The number of a node, by its labels."""
        axis, inner = self._where(level)
        sides = [*(len(each.order) for each in self._axes[:axis])]
        sides += [len(self._axes[axis].labels[inner])] if level else []
        places = []
        if len(key) == len(sides):
            for number, label in enumerate(key):
                depth = inner if number == axis else -1
                known = self._numbers[number][depth]
                places.append(known.get(label, -1))
        if len(places) < len(sides) or -1 in places:
            raise InvalidParameter(
                code="node_unknown",
                expectation=f"a node of level {self.hierarchy.names[level]!r}: a label for each of "
                f"{list(self.hierarchy.attributes[: axis + 1]) if level else []}",
                received=key,
                remedy="Write the label of its group or value; a tuple where there are several.",
            )
        return int(np.ravel_multi_index(places, sides)) if places else 0

    def keys(self, level: int) -> list[Key]:
        """The labels of all nodes of a level, in their order."""
        if level == 0:
            return [()]
        axis, inner = self._where(level)
        found: list[Key] = [()]
        for number, each in enumerate(self._axes[: axis + 1]):
            labels = each.labels[inner if number == axis else -1]
            found = [(*key, label) for key in found for label in labels]
        return found

    def summed(self, level: int, table: Ints) -> Ints:
        """Counts of a level's nodes from counts of those below, row by row."""
        return np.asarray(np.add.reduceat(table, self.starts[level][:-1], axis=0))

    def gathered(self, level: int, table: Floats) -> Floats:
        """Counts of a level's nodes from counts by the values of its attributes, an axis each."""
        axis, inner = self._where(level)
        for number, each in enumerate(self._axes[: axis + 1]):
            table = np.take(table, each.order, axis=number)
        rows = table.reshape(-1, 1)
        sides = len(self._axes[axis].labels)
        for deeper in range(level + sides - 1 - inner, level, -1):
            rows = np.add.reduceat(rows, self.starts[deeper - 1][:-1], axis=0)
        return np.asarray(rows[:, 0])

    def blocks(self) -> Iterator[LeafBlock]:
        """All leaves in order, in blocks of whole families, none larger than it must be."""
        whole = [(0, len(axis.order)) for axis in self._axes]
        for ranges in self._split(whole):
            sides = [len(axis.order) for axis in self._axes]
            first = int(np.ravel_multi_index([low for low, _ in ranges], sides))
            last = int(np.ravel_multi_index([high - 1 for _, high in ranges], sides)) + 1
            begin, end = np.searchsorted(self.starts[-1], [first, last])
            within = {
                name: axis.order[low:high].tolist()
                for name, axis, (low, high) in zip(
                    self.hierarchy.attributes, self._axes, ranges, strict=True
                )
                if high - low < len(axis.order) or not np.array_equal(axis.order, range(high))
            }
            yield LeafBlock(within, first, last, slice(int(begin), int(end)))

    def cells(self, leaves: Ints, detail: Ints) -> Ints:
        """The universe's cells of some leaves, each with a cell of its histogram."""
        strides = np.cumprod([1, *self.universe.shape[:0:-1]])[::-1]
        found = np.zeros(len(leaves), dtype=np.int64)
        sides = [len(axis.order) for axis in self._axes]
        for name, axis, part in zip(
            self.hierarchy.attributes, self._axes, np.unravel_index(leaves, sides), strict=True
        ):
            found += axis.order[part] * strides[self.universe.place(name)]
        shape = [self.universe.shape[place] for place in self._detail_places]
        if shape:
            parts = np.unravel_index(detail, shape)
            for place, part in zip(self._detail_places, parts, strict=True):
                found += part * strides[place]
        return found

    def _split(self, ranges: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        """Halve the first attribute that can be, until blocks are small."""
        cells = math.prod(high - low for low, high in ranges) * self.detail
        cut = self._find_cut(ranges) if cells > self.block else None
        if cut is None:
            yield ranges
            return
        number, place = cut
        low, high = ranges[number]
        yield from self._split([*ranges[:number], (low, place), *ranges[number + 1 :]])
        yield from self._split([*ranges[:number], (place, high), *ranges[number + 1 :]])

    def _find_cut(self, ranges: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """Where to cut: between values; of the last attribute, between families."""
        for number, (low, high) in enumerate(ranges):
            if high - low < 2:
                continue
            middle = (low + high) // 2
            if number < len(ranges) - 1:
                return number, middle
            members = self._axes[number].members
            ends = np.cumsum(members[-1]) if members else np.empty(0, dtype=np.int64)
            inside = ends[(ends > low) & (ends < high)]
            if len(inside):
                return number, int(inside[np.abs(inside - middle).argmin()])
        return None

    @cached_property
    def _detail_places(self) -> tuple[int, ...]:
        told = {self.universe.place(name) for name in self.hierarchy.attributes}
        return tuple(place for place in range(len(self.universe.shape)) if place not in told)

    @cached_property
    def _axes(self) -> tuple[_Axis, ...]:
        return tuple(
            _axis(
                self.universe.attributes[self.universe.place(name)],
                [level for level in self.hierarchy.levels if level.by == name],
            )
            for name in self.hierarchy.attributes
        )

    @cached_property
    def _numbers(self) -> list[list[dict[object, int]]]:
        return [
            [{label: place for place, label in enumerate(labels)} for labels in axis.labels]
            for axis in self._axes
        ]

    def _where(self, level: int) -> tuple[int, int]:
        """The attribute of a level, and which of its levels this is."""
        before = 1
        for number, axis in enumerate(self._axes):
            if level < before + len(axis.labels):
                return number, level - before
            before += len(axis.labels)
        raise AssertionError(level)


def _axis(attribute: Attribute, levels: Sequence[Level]) -> _Axis:
    """An attribute's values in the order of their groups, each group where it is first named."""
    groups = [(level, level.labels) for level in levels[:-1]]
    paths: list[tuple[object, ...]] = [
        tuple(_label(level, known, value) for level, known in groups) for value in attribute.values
    ]
    ranks: list[dict[object, int]] = [{} for _ in levels[:-1]]
    above: list[dict[object, object]] = [{} for _ in levels[:-1]]
    for path in paths:
        for depth, label in enumerate(path):
            ranks[depth].setdefault(label, len(ranks[depth]))
            if above[depth].setdefault(label, path[:depth]) != path[:depth]:
                raise InvalidParameter(
                    code="hierarchy_misfit",
                    expectation=f"each group of level {levels[depth].name!r} inside one of the "
                    "level above",
                    received=label,
                    remedy="Give groups that lie in several others a name in each.",
                )
    keyed = [tuple(ranks[depth][label] for depth, label in enumerate(path)) for path in paths]
    order = sorted(range(len(paths)), key=lambda code: (*keyed[code], code))
    labels: list[tuple[object, ...]] = [
        tuple(dict.fromkeys(paths[code][depth] for code in order))
        for depth in range(len(levels) - 1)
    ]
    labels.append(tuple(attribute.values[code] for code in order))
    members = []
    for depth in range(len(levels) - 1):
        finer = [
            (paths[code][depth], paths[code][depth + 1] if depth + 2 < len(levels) else code)
            for code in order
        ]
        tally = dict.fromkeys(labels[depth], 0)
        for label, _ in dict.fromkeys(finer):
            tally[label] += 1
        members.append(np.array(list(tally.values()), dtype=np.int64))
    return _Axis(np.array(order, dtype=np.int64), tuple(labels), tuple(members))


def _label(level: Level, known: dict[object, object], value: object) -> object:
    if value not in known:
        raise InvalidParameter(
            code="hierarchy_misfit",
            expectation=f"a group of level {level.name!r} for every value of {level.by!r}",
            received=value,
            remedy="Add it to the level's groups.",
        )
    return known[value]
