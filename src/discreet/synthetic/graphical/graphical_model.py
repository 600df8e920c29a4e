"""A graphical model of a table: what marginal-based synthesisers release.

Source: 004b:A14; modern-data:A3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.parameters import count
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.synopses.partial_tables import placed
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.synthetic.graphical.elimination import ModelMarginals
from discreet.synthetic.graphical.inference import CalibratedTree, Passes
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places
from discreet.synthetic.graphical.rows import sample_rows
from discreet.synthetic.merged import MergedValues, merged_from_dict


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """Log-potentials over sets of attributes; a :class:`~discreet.synthetic.model.SyntheticModel`.

    Where values were merged (``merged``), potentials are over the merged ones, and a merged value's
    count is shared evenly among those it stands for.

    Assumptions: it was made from released values only.

    Guarantee: marginals and rows are post-processing.

    Source: 004b:A14.
    """

    universe: Universe
    total: float
    event: Event
    potentials: Mapping[Places, Floats]
    merged: MergedValues
    max_size: int = 1 << 24
    split: Mapping[str, Fraction] | None = None
    """The shares of the spend, by what they paid for; whoever keeps the model keeps them."""
    misfit: float = 0.0
    """About the squared error of a pair's counts, all cells together, where it was not measured."""

    @cached_property
    def _calibrated(self) -> CalibratedTree:
        tree = JunctionTree.of(self.merged.sizes, self.potentials)
        tree.require_within(self.max_size, self.universe.names)
        sets = list(self.potentials)
        return Passes(tree, sets).calibrate([self.potentials[places] for places in sets])

    @cached_property
    def _marginals(self) -> ModelMarginals:
        return ModelMarginals(self._calibrated)

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The attributes that the model holds together, by name."""
        names = self.universe.names
        nodes = self._calibrated.tree.nodes
        return tuple(tuple(names[place] for place in sorted(node.places)) for node in nodes)

    def marginal(self, names: Sequence[str]) -> Floats:
        places = [self.universe.place(name) for name in names]
        return self.total * self.merged.spread(self._marginals(places), places)

    def measured_together(self, names: Sequence[str]) -> bool:
        """Whether one set that was measured holds all of these attributes."""
        wanted = {self.universe.place(name) for name in names}
        return any(wanted <= set(places) for places in self.potentials)

    def misfit_variance(self, names: Sequence[str], weights: Floats) -> float:
        """About the squared error of a weighted count by what the model leaves out of pairs.

        Columns by themselves were measured, so a pair errs in how its columns go together. To first
        order that moves the count by its product with the mean weight in each of the pair's cells,
        less the means of rows and columns; ``misfit`` lies in any such direction alike.
        """
        if not self.misfit:
            return 0.0
        table = np.maximum(self.marginal(names), 0.0) + 1e-9
        found = 0.0
        for pair in combinations(range(len(names)), 2):
            if self.measured_together([names[axis] for axis in pair]):
                continue
            others = tuple(axis for axis in range(len(names)) if axis not in pair)
            mean = (table * weights).sum(axis=others) / table.sum(axis=others)
            for axis in (0, 1):
                mean = mean - mean.mean(axis=axis, keepdims=True)
            ways = math.prod(max(1, size - 1) for size in mean.shape)
            found += self.misfit * float((mean**2).sum()) / ways
        return found

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> NDArray[np.int64]:
        rows = round(self.total) if n is None else count("n", n, least=0)
        return self.merged.split(sample_rows(self._calibrated, rows, randomness), randomness)

    def to_dict(self) -> Mapping[str, object]:
        """The potentials with the places of their attributes, and which values were merged."""
        return {
            "model": "graphical/1",
            "total": self.total,
            "potentials": [
                {"places": list(places), "values": packed(values)}
                for places, values in self.potentials.items()
            ],
            "merged": self.merged.to_dict(),
            "misfit": self.misfit,
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> GraphicalModel:
        """The model that ``plain`` described."""
        total, entries = plain.get("total"), plain.get("potentials")
        if not isinstance(total, float) or not total >= 1 or not isinstance(entries, list):
            raise not_plain()
        merged = merged_from_dict(plain.get("merged"), universe)
        potentials: dict[Places, Floats] = {}
        for entry in entries:
            if not isinstance(entry, Mapping):
                raise not_plain()
            places, _ = placed(entry.get("places"), universe)
            potentials[places] = unpacked(entry.get("values"))
            if potentials[places].shape != tuple(merged.sizes[place] for place in places):
                raise not_plain()
        misfit = plain.get("misfit", 0.0)  # files of before say nothing of it
        if not isinstance(misfit, float) or not 0 <= misfit < math.inf:
            raise not_plain()
        return cls(universe, total, event, potentials, merged, misfit=misfit)
