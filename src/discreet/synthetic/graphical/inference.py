"""Marginals of a graphical model: two passes over its junction tree.

Upwards, each clique's log-potential gathers its children's messages; what is left after summing
over what the clique adds is the message to its parent. The same sums give the clique's law given
its separator. Downwards, the parent's marginal over the separator times that law is the clique's
marginal. So each clique is exponentiated once and multiplied once.

Log-potentials may be minus infinity: such cells have no probability, whatever else is learnt.

Source: 004b:A14; modern-data:A3. Proof: tests against sums over all cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places


@dataclass(frozen=True)
class Placement:
    """Where a factor over some attributes lies within a clique."""

    node: int
    order: Places
    """How its axes are transposed to be in the clique's order."""
    shape: tuple[int, ...]
    """Its shape among the clique's axes, one where it has none."""
    back: Places
    """How the clique's order is transposed into the factor's."""
    kept: tuple[int, ...]
    """The factor's shape in the clique's order."""
    runs: tuple[int, ...]
    """The clique's shape with neighbouring axes joined that are all summed over, or all kept."""
    summed: Places
    """Those of the runs that are summed over."""

    @classmethod
    def of(cls, tree: JunctionTree, places: Places) -> Placement:
        """Within the smallest clique that holds the attributes; there must be one."""
        node = tree.holding(places)
        assert node is not None, places
        return cls.within(tree, node, places)

    @classmethod
    def within(cls, tree: JunctionTree, node: int, places: Places) -> Placement:
        """Within a given clique."""
        held = tree.nodes[node].places
        axes = [held.index(place) for place in places]
        order = tuple(int(i) for i in np.argsort(axes, kind="stable"))
        shape = tuple(tree.sizes[place] if place in places else 1 for place in held)
        kept = tuple(tree.sizes[place] for place in held if place in places)
        back = tuple(int(i) for i in np.argsort(order))
        runs = [(key, tree.cells(run)) for key, run in groupby(held, places.__contains__)]
        summed = tuple(i for i, (here, _) in enumerate(runs) if not here)
        return cls(node, order, shape, back, kept, tuple(size for _, size in runs), summed)

    def spread(self, factor: Floats) -> Floats:
        """The factor as a view that broadcasts over the clique."""
        return factor.transpose(self.order).reshape(self.shape)

    def gather(self, table: Floats) -> Floats:
        """A clique's table summed to the factor's attributes, in the factor's order."""
        return self.ordered(table).transpose(self.back)

    def ordered(self, table: Floats) -> Floats:
        """The same, in the clique's order.

        One axis after the other, the first first: NumPy adds whole rows then, which is many times
        as fast as a sum over several axes at once.
        """
        found = table.reshape(self.runs)
        for axis in self.summed:
            found = np.add.reduce(found, axis=axis, keepdims=True)
        return found.reshape(self.kept)


@dataclass(frozen=True, eq=False)
class CalibratedTree:
    """A model after both passes: every clique's marginal, and its law given its separator."""

    tree: JunctionTree
    log_mass: float
    """The logarithm of the sum of exp(log-potentials) over all cells."""
    conditionals: tuple[Floats, ...]
    """For each clique the law of what it adds, given its separator; rows without mass are zero."""
    marginals: tuple[Floats, ...]
    """For each clique its probabilities, axes in the clique's order."""

    def within(self, places: Places) -> Floats | None:
        """The marginal over some attributes, where a clique holds them together."""
        node = self.tree.holding(places)
        if node is None:
            return None
        return Placement.within(self.tree, node, places).gather(self.marginals[node])


class Passes:
    """Both passes for factors over given sets of attributes, prepared once and run often.

    Contract: each of ``sets`` lies within a clique of ``tree``. ``fixed`` are log-potentials that
    never change, such as structural zeros.
    """

    def __init__(
        self,
        tree: JunctionTree,
        sets: Sequence[Places],
        fixed: Mapping[Places, Floats] | None = None,
    ) -> None:
        """Find where each factor goes."""
        self.tree = tree
        self.sets = tuple(sets)
        self.placements = tuple(Placement.of(tree, places) for places in self.sets)
        self._shapes = [tuple(tree.sizes[p] for p in node.places) for node in tree.nodes]
        self._fixed: list[Floats | None] = [None] * len(tree.nodes)
        for places, factor in (fixed or {}).items():
            place = Placement.of(tree, places)
            before = self._fixed[place.node]
            added = np.broadcast_to(place.spread(factor), self._shapes[place.node])
            self._fixed[place.node] = added.copy() if before is None else before + added
        self._upward = [
            Placement.within(tree, node.parent, node.separator) if node.parent >= 0 else None
            for node in tree.nodes
        ]
        self._matrices = [
            (tree.cells(node.separator), tree.cells(node.rest)) for node in tree.nodes
        ]

    @cached_property
    def _factors(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.tree.nodes]
        for index, place in enumerate(self.placements):
            found[place.node].append(index)
        return found

    def calibrate(self, factors: Sequence[Floats]) -> CalibratedTree:
        """Run both passes for log-potentials, one for each set."""
        nodes = self.tree.nodes
        logs = [self._potential(node, factors) for node in range(len(nodes))]
        conditionals: list[Floats] = [np.empty(0)] * len(nodes)
        log_mass = 0.0
        for i in range(len(nodes) - 1, -1, -1):
            table = logs[i].reshape(self._matrices[i])
            top = table.max(axis=1)
            if not np.isfinite(top).all():
                top = np.where(np.isfinite(top), top, 0.0)
            table -= top[:, None]
            np.exp(table, out=table)
            sums = table.sum(axis=1)
            with np.errstate(divide="ignore"):
                message = top + np.log(sums)
            table /= np.where(sums > 0, sums, 1.0)[:, None]
            conditionals[i] = table
            above = self._upward[i]
            if above is None:
                log_mass += float(message[0])
            else:
                logs[above.node] += message.reshape(above.shape)
            logs[i] = np.empty(0)
        if log_mass == -np.inf:
            raise no_cells()
        marginals: list[Floats] = []
        for i, table in enumerate(conditionals):
            above = self._upward[i]
            if above is None:
                found = table
            else:
                weight = above.ordered(marginals[above.node]).reshape(-1, 1)
                found = table * weight
            marginals.append(found.reshape(self._shapes[i]))
        return CalibratedTree(self.tree, log_mass, tuple(conditionals), tuple(marginals))

    def expectations(self, found: CalibratedTree) -> list[Floats]:
        """The probabilities over each set."""
        return [place.gather(found.marginals[place.node]) for place in self.placements]

    def _potential(self, node: int, factors: Sequence[Floats]) -> Floats:
        fixed = self._fixed[node]
        table = np.zeros(self._shapes[node]) if fixed is None else fixed.copy()
        for index in self._factors[node]:
            table += self.placements[index].spread(factors[index])
        return table


def no_cells() -> InvalidParameter:
    """Structural zeros leave nothing."""
    return InvalidParameter(
        code="constraints_infeasible",
        expectation="structural zeros that leave at least one combination of all attributes",
        remedy="Remove one of the constraints that exclude each other.",
    )
