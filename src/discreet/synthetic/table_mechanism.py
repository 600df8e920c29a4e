"""What all mechanisms of marginals are made with, and what they refuse before they spend.

Source: 004b:A14; modern-data:A1, A2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import RecordCount, require_size
from discreet.queries.workload.workload import Workload
from discreet.synthetic.adaptive_spend import SpendTerms
from discreet.synthetic.graphical.estimation import Estimator
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places
from discreet.synthetic.progress import ProgressCallback
from discreet.synthetic.public_start import public_potentials
from discreet.synthetic.structural_zeros import StructuralZeros, added, zero_potentials
from discreet.synthetic.table_fit import FitsTables
from discreet.synthetic.workload_marginals import require_workload, workload_marginals

MAX_SIZE = 200_000
"""Cells of the junction tree unless more are permitted: seconds, not minutes, for each fit."""


@dataclass(frozen=True, kw_only=True)
class TableMechanism(FitsTables):
    """The parameters that mechanisms share which measure marginals.

    ``target`` names an attribute whose marginals matter most: MWEM measures no others, AIM and MST
    prefer them. ``max_size`` limits
    the cells of the model's junction tree, and so time and memory. ``zeros`` are combinations that
    cannot occur. ``public`` are rows of codes that everybody may see, from which the model starts;
    then no values are merged. ``progress`` is called after every step.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    records: int = 1
    randomness: Source = SYSTEM
    target: str | None = None
    max_size: int = MAX_SIZE
    zeros: Sequence[StructuralZeros] = ()
    public: NDArray[np.integer] | None = field(default=None, compare=False, repr=False)
    estimator: Estimator = field(default_factory=Estimator)
    progress: ProgressCallback | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_workload(self.workload)
        require_size(self.size)
        for name in ("records", "max_size"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        object.__setattr__(self, "zeros", tuple(self.zeros))
        columns = [(place,) for place in range(len(self._sizes))]
        tree = JunctionTree.of(self._sizes, columns)
        tree.require_within(self.max_size, self._names)
        _ = self._marginal_weights, self._zeros, self._base, self.terms
        self.terms.require_steps(self._least_share)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.workload.universe.shape

    @property
    def _names(self) -> tuple[str, ...]:
        return self.workload.universe.names

    @cached_property
    def _marginal_weights(self) -> dict[Places, float]:
        return workload_marginals(self.workload, self.target)

    @cached_property
    def _zeros(self) -> dict[Places, Floats]:
        return zero_potentials(self.zeros, self.workload.universe, self.max_size)

    @cached_property
    def _base(self) -> dict[Places, Floats]:
        """Log-potentials to start from: those of public rows, and structural zeros."""
        start = public_potentials(self.public, self.workload.universe, self.max_size)
        found = added(start, list(self._zeros.items()))
        if start and self._zeros:
            JunctionTree.of(self._sizes, found).require_within(self.max_size, self._names)
        return found

    @property
    def _steps(self) -> int:
        """About how many steps share the spend."""
        return 4 * len(self._sizes)

    @property
    def _least_share(self) -> Fraction:
        """The smallest share that any one step may have."""
        return Fraction(1, self._steps)

    @cached_property
    def terms(self) -> SpendTerms:
        """What the steps may cost together."""
        return SpendTerms(self.spend, self.size, self.records, self.randomness, self._steps)

    @property
    def event(self) -> Event:
        """What one release costs, whatever it turns out to measure."""
        return self.terms.event

    @property
    def _unmerged_places(self) -> set[int]:
        """Attributes whose values are not merged: constraints or public rows tell them apart."""
        return {place for places in self._base for place in places}


def too_few(attributes: int, method: str) -> InvalidParameter:
    """Refusal of a universe that is too small for a method."""
    return InvalidParameter(
        code="too_few_attributes",
        expectation=f"at least two attributes for {method}",
        received=attributes,
        remedy="Use IndependentMarginals for a single column.",
    )
