"""Marginals over attributes that no clique holds together, by eliminating all others.

Every attribute is added by one clique, its home. The law of some attributes is that of the lowest
clique above all their homes, times what the cliques on the way down say of each given its
separator. Messages are kept, so that thousands of marginals of one model share their parts.

Source: modern-data:A3 (the size is checked first).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.queries.workload.universe import LARGEST
from discreet.synthetic.graphical.inference import CalibratedTree
from discreet.synthetic.graphical.junction_tree import Places


class ModelMarginals:
    """Any marginal of a calibrated model, as probabilities in the order that is asked for.

    Contract: tables on the way have at most ``limit`` cells; a marginal that needs more is refused.
    """

    def __init__(self, model: CalibratedTree, limit: int = LARGEST) -> None:
        """Nothing is computed yet."""
        self.model = model
        self.limit = limit
        self._messages: dict[tuple[int, Places], Floats] = {}
        self._home = model.tree.home
        self._above: list[Places] = []
        for i, node in enumerate(model.tree.nodes):
            self._above.append((*(self._above[node.parent] if node.parent >= 0 else ()), i))

    def __call__(self, places: Sequence[int]) -> Floats:
        """Probabilities, one axis for each place."""
        wanted = tuple(places)
        held = self.model.within(wanted)
        if held is not None:
            return held
        self._require(wanted)
        roots: dict[int, list[int]] = {}
        for place in wanted:
            roots.setdefault(self._above[self._home[place]][0], []).append(place)
        found, axes = np.ones(()), []
        for together in roots.values():
            found = np.multiply.outer(found, self._connected(tuple(together)))
            axes += together
        return found.transpose([axes.index(place) for place in wanted])

    def _connected(self, places: Places) -> Floats:
        """The marginal over attributes of one tree."""
        held = self.model.within(places)
        if held is not None:
            return held
        paths = [self._above[self._home[place]] for place in places]
        shared = min(len(path) for path in paths)
        while len({path[:shared] for path in paths}) > 1:
            shared -= 1
        lowest = paths[0][shared - 1]
        return self._joined(lowest, self.model.marginals[lowest], places, list(places))

    def _joined(self, node: int, table: Floats, wanted: Places, shown: list[int]) -> Floats:
        """A clique's table with the messages about ``wanted`` from below, summed to ``shown``."""
        held = self.model.tree.nodes[node].places
        depth = len(self._above[node])
        below: dict[int, list[int]] = {}
        for place in wanted:
            path = self._above[self._home[place]]
            if len(path) > depth:
                below.setdefault(path[depth], []).append(place)
        found, axes = table, list(held)
        parts = list(below.items())
        for turn, (child, asked) in enumerate(parts):
            separator = self.model.tree.nodes[child].separator
            later = {p for c, _ in parts[turn + 1 :] for p in self.model.tree.nodes[c].separator}
            kept = [place for place in axes if place in later or place in shown]
            kept += [place for place in asked if place not in kept]
            self._require(tuple(kept))
            message = self._message(child, tuple(sorted(asked)))
            found = _contracted(found, axes, message, [*separator, *sorted(asked)], kept)
            axes = kept
        return _summed(found, axes, shown)

    def _message(self, node: int, wanted: Places) -> Floats:
        """The law of attributes at or below a clique, given its separator."""
        key = (node, wanted)
        if key not in self._messages:
            tree = self.model.tree
            shape = [tree.sizes[place] for place in tree.nodes[node].places]
            shown = [*tree.nodes[node].separator, *wanted]
            self._require(tuple(shown))
            table = self.model.conditionals[node].reshape(shape)
            self._messages[key] = self._joined(node, table, wanted, shown)
        return self._messages[key]

    def _require(self, places: Places) -> None:
        cells = math.prod(self.model.tree.sizes[place] for place in places)
        if cells > self.limit:
            raise InvalidParameter(
                code="marginal_too_large",
                expectation=f"a marginal that needs at most {self.limit} cells at a time",
                received=cells,
                remedy="Ask for fewer attributes at once, or count sampled rows.",
            )


def _contracted(
    first: Floats, left: list[int], second: Floats, right: list[int], kept: list[int]
) -> Floats:
    """The product of two tables, summed to ``kept``; as one matrix product where it can be."""
    both = set(left) & set(right)
    batch = [place for place in left if place in both and place in kept]
    inner = [place for place in left if place in both and place not in kept]
    # What only one of them has and nobody wants was summed before, or is summed here.
    rows = [place for place in left if place not in both and place in kept]
    columns = [place for place in right if place not in both and place in kept]
    a = _summed(first, left, [*batch, *rows, *inner])
    b = _summed(second, right, [*batch, *inner, *columns])
    size = dict(zip(left, first.shape, strict=True)) | dict(zip(right, second.shape, strict=True))
    blocks = math.prod(size[place] for place in batch)
    middle = math.prod(size[place] for place in inner)
    found = np.matmul(a.reshape(blocks, -1, middle), b.reshape(blocks, middle, -1))
    order = [*batch, *rows, *columns]
    shaped: Floats = found.reshape([size[place] for place in order])
    return shaped.transpose([order.index(place) for place in kept])


def _summed(table: Floats, axes: list[int], kept: list[int]) -> Floats:
    """A table summed to some of its attributes, in their order."""
    for axis, place in enumerate(axes):
        if place not in kept:
            table = np.add.reduce(table, axis=axis, keepdims=True)
    left = [place for place in axes if place in kept]
    shape = [side for side, place in zip(table.shape, axes, strict=True) if place in kept]
    return table.reshape(shape).transpose([left.index(place) for place in kept])
