"""Combinations of values that cannot occur, as the owner declares them.

Source: 004b:A14; contract, "Columns" (declared, never read off the data).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.queries.workload.universe import Universe
from discreet.synthetic.graphical.inference import Passes
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places


@dataclass(frozen=True, eq=False)
class StructuralZeros:
    """Which combinations of some attributes' values are possible.

    >>> pregnant = StructuralZeros(("sex", "pregnant"), np.array([[True, False], [True, True]]))

    Assumptions: typed in by the owner; never computed from or checked against rows.

    Guarantee: a model that is given it never makes an impossible row. Real rows that are impossible
    count as they are, and are unlearnt by the model.

    Source: 004b:A14.
    """

    names: tuple[str, ...]
    possible: NDArray[np.bool_]

    def potential(self, universe: Universe) -> tuple[Places, Floats]:
        """Places in increasing order, and a log-potential of zero or minus infinity."""
        places = [universe.place(name) for name in self.names]
        table = np.asarray(self.possible)
        shape = tuple(universe.shape[place] for place in places)
        if table.shape != shape or table.dtype != np.bool_ or len(set(places)) < len(places):
            raise InvalidParameter(
                code="zeros_misfit",
                expectation=f"true or false for each combination, in the shape {shape}",
                received=(table.shape, str(table.dtype)),
                remedy="Pass an array of booleans with an axis for each attribute.",
            )
        order = np.argsort(places)
        logs = np.where(np.transpose(table, order), 0.0, -np.inf)
        return tuple(int(places[i]) for i in order), logs


def zero_potentials(
    zeros: Iterable[StructuralZeros], universe: Universe, max_size: int
) -> dict[Places, Floats]:
    """All declared zeros by their places, or a refusal where nothing is left.

    Whether something is left is decided from the declarations alone.
    """
    found: dict[Places, Floats] = {}
    for each in zeros:
        places, logs = each.potential(universe)
        found[places] = found[places] + logs if places in found else logs
    if found:
        tree = JunctionTree.of(universe.shape, found)
        tree.require_within(max_size, universe.names)
        Passes(tree, [], found).calibrate([])
    return found


def added(
    first: dict[Places, Floats], second: Sequence[tuple[Places, Floats]]
) -> dict[Places, Floats]:
    """Log-potentials of both, added where they are over the same attributes."""
    found = dict(first)
    for places, logs in second:
        found[places] = found[places] + logs if places in found else logs
    return found
