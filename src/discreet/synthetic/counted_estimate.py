"""A count of a synthetic release with its interval: how many records meet some conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import Floats
from discreet.release.format import percent
from discreet.synthetic.conditions import condition_weights
from discreet.synthetic.encoding.constraints import Condition
from discreet.synthetic.graphical.graphical_model import GraphicalModel
from discreet.synthetic.simulated_errors import SimulatedErrors

if TYPE_CHECKING:
    from discreet.synthetic.synthetic_release import SyntheticRelease

Where = Mapping[str, Condition]
"""For each column a list of values, or for a number ``Between(low, high)``."""


@dataclass(frozen=True)
class CountedEstimate:
    """An estimated number of records; ``share`` is that of all records.

    ``lower`` and ``upper`` hold at ``confidence`` over noise and the mechanism's choices, as
    simulated, and over what a model of marginals leaves out of pairs, as its own measurements tell;
    not over what nothing was measured of, such as how three columns go together. Where
    ``measured`` is false, no marginal was measured of all these columns together.
    """

    value: float
    lower: float
    upper: float
    share: float
    confidence: float
    measured: bool = True

    def __str__(self) -> str:
        ends = f"{percent(self.confidence)} interval {self.lower:,.0f} to {self.upper:,.0f}"
        apart = "" if self.measured else "; these columns were not measured together"
        return f"{self.value:,.0f} ({ends}, simulated{apart})"


def estimated(
    release: SyntheticRelease, where: Where, *, confidence: float, errors: SimulatedErrors
) -> CountedEstimate:
    """The count of a release under some conditions."""
    encoding = release.encoding
    places = encoding.needed(list(where)) or (0,)
    attributes = [encoding.attributes[place] for place in places]
    names = [each.name for each in attributes]
    shape = tuple(each.size for each in attributes)
    cells = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
    whole = np.zeros((len(cells), len(encoding.attributes)), dtype=np.int64)
    whole[:, list(places)] = cells
    codes = encoding.column_codes(whole)
    weights: Floats = np.ones(len(cells))
    for name, values in where.items():
        weights = weights * condition_weights(name, encoding.columns[name], values)[codes[name]]
    weights = weights.reshape(shape)
    model = release.model
    value = float((model.marginal(names) * weights).sum())
    half, measured = errors.half_width(names, weights, confidence), True
    if isinstance(model, GraphicalModel):
        misfit = errors.times(confidence) * math.sqrt(model.misfit_variance(names, weights))
        half, measured = math.hypot(half, misfit), model.measured_together(names)
    ends = max(0.0, value - half), max(0.0, value + half)
    return CountedEstimate(value, *ends, value / model.total, confidence, measured)
