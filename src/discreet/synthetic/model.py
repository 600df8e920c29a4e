"""What a synthesiser leaves behind: a model of the table that answers and makes rows, freely.

Source: 004b:A14; 000a:A9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pkgutil import resolve_name
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import Universe


@runtime_checkable
class SyntheticModel(Protocol):
    """Estimated counts of every marginal of a universe, and rows that have about those counts.

    Assumptions: it was made from released values only.

    Guarantee: marginals and rows are post-processing: free, however many are made.

    Source: 004b:A14.
    """

    @property
    def universe(self) -> Universe:
        """What it knows about."""

    @property
    def total(self) -> float:
        """The number of records, noisy where it is not public; at least one."""

    @property
    def event(self) -> Event:
        """What making it cost."""

    def marginal(self, names: Sequence[str]) -> Floats:
        """Estimated counts by some attributes, one axis for each, in the order of ``names``."""

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> NDArray[np.int64]:
        """``n`` rows of codes, a column for each attribute; as many as the total if not given."""

    def to_dict(self) -> Mapping[str, object]:
        """Everything but universe and event, for JSON; :func:`model_from_dict` reads it."""


def model_from_dict(
    plain: Mapping[str, object], universe: Universe, event: Event
) -> SyntheticModel:
    """The model that ``plain`` described: the same estimates, bit for bit.

    Contract: ``universe`` is the one it was made for, and ``event`` what making it cost; both are
    kept by whoever keeps the model.
    """
    kind = plain.get("model")
    if kind not in _KINDS:
        raise not_plain()
    found: SyntheticModel = resolve_name(f"discreet.synthetic.{_KINDS[kind]}").from_dict(
        plain, universe, event
    )
    return found


_KINDS: dict[object, str] = {
    "bayesian network/1": "bayesian_network.BayesianNetwork",
    "cells/1": "hierarchy.cell_table.CellTable",
    "graphical/1": "graphical.graphical_model.GraphicalModel",
    "histogram/1": "full_histogram.HistogramModel",
}
"""Where the kinds live, by the names that are written: for ever."""
