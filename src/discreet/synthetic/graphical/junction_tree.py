"""Junction trees: which attributes must be held together so that some sets of them can be.

Attributes that are measured together are neighbours. Eliminating attributes one by one, the
cheapest first, and joining the neighbours of each, gives cliques; each hangs below the clique that
holds its separator. Time and memory of everything that follows are those of the cliques' cells.

Sets of attributes are whole numbers with a bit for each place, so that thousands of candidate sets
can be tried in a round.

Source: 004b:A14; modern-data:A1, A3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.core.errors import InvalidParameter

Places = tuple[int, ...]
"""Positions of some attributes of a universe."""
NOWHERE: Places = ()


@dataclass(frozen=True)
class CliqueNode:
    """A clique of a junction tree: what it shares with its parent, and what it adds.

    ``separator`` is in the order of the parent's axes, so that messages need no transposition.
    """

    separator: Places
    rest: Places
    parent: int
    """The parent's position in the tree; -1 for a root."""

    @property
    def places(self) -> Places:
        """All attributes, in the order of the axes of its tables."""
        return self.separator + self.rest


@dataclass(frozen=True)
class JunctionTree:
    """Cliques in an order in which parents come first. Attributes that share none are roots."""

    sizes: tuple[int, ...]
    """How many values each attribute of the universe has."""
    nodes: tuple[CliqueNode, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Iterable[Places]) -> JunctionTree:
        """A tree in which each of ``sets`` lies within a clique, and every attribute in one."""
        given = list(sets)
        return cls.along(sizes, given, elimination_order(sizes, given))

    @classmethod
    def along(
        cls, sizes: Sequence[int], sets: Iterable[Places], order: Sequence[int]
    ) -> JunctionTree:
        """The tree that eliminating attributes in a given order leads to."""
        found = _neighbours_when_eliminated(adjacency(sizes, sets), order)
        turn = {place: i for i, place in enumerate(order)}
        separators: list[Places] = []
        rests: list[list[int]] = []
        parents: list[int] = []
        home: dict[int, int] = {}
        for place in reversed(order):
            beside = found[place]
            if not beside:
                parent, separator = -1, NOWHERE
            else:
                parent = home[min(_members(beside), key=turn.__getitem__)]
                above = (*separators[parent], *rests[parent])
                if len(above) == beside.bit_count():  # the parent holds no more: it grows
                    rests[parent].append(place)
                    home[place] = parent
                    continue
                separator = tuple(each for each in above if beside >> each & 1)
            home[place] = len(separators)
            separators.append(separator)
            rests.append([place])
            parents.append(parent)
        nodes = zip(separators, rests, parents, strict=True)
        return cls(tuple(sizes), tuple(CliqueNode(s, tuple(r), p) for s, r, p in nodes))

    def cells(self, places: Iterable[int]) -> int:
        """How many combinations some attributes have."""
        return math.prod(self.sizes[place] for place in places)

    @cached_property
    def size(self) -> int:
        """The cells of all cliques together."""
        return sum(self.cells(node.places) for node in self.nodes)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """Each clique as a set of bits."""
        return tuple(mask(node.places) for node in self.nodes)

    @cached_property
    def home(self) -> dict[int, int]:
        """The clique that adds each attribute."""
        return {place: i for i, node in enumerate(self.nodes) for place in node.rest}

    def holding(self, places: Iterable[int]) -> int | None:
        """A clique that holds some attributes together, if one does."""
        wanted = tuple(places)
        # The clique that adds the last of them holds the others too, if any clique does.
        last = max((self.home[place] for place in wanted), default=0)
        return last if mask(wanted) & ~self.masks[last] == 0 else None

    def require_within(self, limit: int, names: Sequence[str]) -> None:
        """Refuse a tree of more than ``limit`` cells, naming its largest clique."""
        if self.size <= limit:
            return
        largest = max(self.nodes, key=lambda node: self.cells(node.places))
        clique = tuple(names[place] for place in sorted(largest.places))
        raise InvalidParameter(
            code="junction_tree_too_large",
            expectation=f"a junction tree of at most {limit} cells",
            received=f"{self.size} cells, of which {self.cells(largest.places)} are the clique of "
            f"{', '.join(clique)}",
            remedy="Measure fewer attributes together, make bins coarser, or raise max_size.",
        )


def mask(places: Iterable[int]) -> int:
    """A set of places as bits."""
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def adjacency(sizes: Sequence[int], sets: Iterable[Places]) -> list[int]:
    """For each attribute those that are in some set with it."""
    beside = [0] * len(sizes)
    for places in sets:
        together = mask(places)
        for place in places:
            beside[place] |= together & ~(1 << place)
    return beside


def elimination_order(sizes: Sequence[int], sets: Iterable[Places]) -> tuple[int, ...]:
    """Greedily: whichever attribute makes the smallest clique goes first."""
    beside = adjacency(sizes, sets)
    logs = [math.log(size) for size in sizes]

    def weight(place: int) -> float:
        return logs[place] + sum(logs[each] for each in _members(beside[place]))

    left = dict.fromkeys(range(len(sizes)))
    weights = {place: weight(place) for place in left}
    order = []
    while left:
        place = min(left, key=weights.__getitem__)
        order.append(place)
        del left[place]
        changed = _eliminate(beside, place)
        for each in _members(changed):
            weights[each] = weight(each)
    return tuple(order)


class Elimination:
    """Attributes eliminated in an order: how large the tree is, and would be with one set more.

    Sizes here count each attribute's own clique, also one that lies within another; the tree's own
    size is never above it. With one set more, only the cliques on the way from the set's first
    attribute upwards change, so thousands of sets are tried in no time.
    """

    def __init__(self, sizes: Sequence[int], sets: Iterable[Places], order: Sequence[int]) -> None:
        """Eliminate once."""
        self._sizes = sizes
        self._turn = {place: i for i, place in enumerate(order)}
        self._later = _neighbours_when_eliminated(adjacency(sizes, sets), order)
        self._cells = {
            place: sizes[place] * math.prod(sizes[each] for each in _members(later))
            for place, later in self._later.items()
        }
        self.size = sum(self._cells.values())

    def with_one_more(self, places: Places) -> int:
        """The size if one more set had to lie within a clique, in the same order."""
        total = self.size
        place = min(places, key=self._turn.__getitem__)
        wanted = mask(places) & ~(1 << place)
        while more := wanted & ~self._later[place]:
            growth = math.prod(self._sizes[each] for each in _members(more))
            total += self._cells[place] * (growth - 1)
            above = wanted | self._later[place]
            place = min(_members(above), key=self._turn.__getitem__)
            wanted = above & ~(1 << place)
        return total


def _neighbours_when_eliminated(beside: list[int], order: Sequence[int]) -> dict[int, int]:
    graph, found = list(beside), {}
    for place in order:
        found[place] = graph[place]
        _eliminate(graph, place)
    return found


def _eliminate(graph: list[int], place: int) -> int:
    """Take an attribute out of a graph and join its neighbours, which are returned."""
    around = graph[place]
    for each in _members(around):
        graph[each] = (graph[each] | around) & ~(1 << place | 1 << each)
    return around


def _members(bits: int) -> list[int]:
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
