"""How wrong a model gets: it is made again, of rows that it made itself, and compared with them.

A sample of the release stands in for the data, since its true counts are known. The mechanism runs
on it as it ran on the data, with the same spend, and its answers are compared with the sample's.
All of this is post-processing of the release. The errors found cover noise, what the mechanism
chose to measure, and how it filled in the rest, for tables that look like the release; they say
nothing of what the data has and the model does not, such as a dependence that was never measured;
of that, a graphical model keeps what its last measurements told (``misfit``).

Source: parametric bootstrap (Efron and Tibshirani 1993, chapter 6).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.unit import Row
from discreet.noise.randomness import SYSTEM
from discreet.queries.workload.coded_records import CodedRecords
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.progress import FitProgress, ProgressCallback

if TYPE_CHECKING:
    from discreet.synthetic.synthetic_release import SyntheticRelease


@dataclass(frozen=True, eq=False)
class SimulatedErrors:
    """Models that were made again, each with the counts it was made of."""

    made: tuple[tuple[CodedRecords, SyntheticModel], ...]

    def rms(self, attributes: Sequence[str], weights: Floats) -> float:
        """The root mean squared error of a weighted count by some attributes."""
        errors = []
        for counts, model in self.made:
            truth = float((counts.counts(attributes) * weights).sum())
            errors.append(float((model.marginal(attributes) * weights).sum()) - truth)
        return math.sqrt(math.fsum(error**2 for error in errors) / len(errors))

    def half_width(self, attributes: Sequence[str], weights: Floats, confidence: float) -> float:
        """Of an interval at ``confidence``, for errors about normal whose size is estimated."""
        return self.times(confidence) * self.rms(attributes, weights)

    def times(self, confidence: float) -> float:
        """How many times the error an interval extends at ``confidence``."""
        from scipy.stats import t

        return float(t.ppf((1 + confidence) / 2, len(self.made)))


def simulate(
    release: SyntheticRelease, *, runs: int, progress: ProgressCallback | None = None
) -> SimulatedErrors:
    """Make the model of a release again, of ``runs`` samples of its own."""
    again = release.again
    if again is None:
        raise InvalidParameter(
            code="mechanism_not_kept",
            expectation="a release that knows its mechanism; a file does not keep it",
            remedy="Ask the curator again, which is free, or pass errors=release.simulate() of "
            "the release that was saved.",
        )
    universe = release.encoding.universe
    made = []
    began = time.monotonic()
    for done in range(1, runs + 1):
        rows = np.asarray(release.model.sample(max(1, release.total), randomness=SYSTEM))
        counts = CodedRecords(universe, rows, Row())
        made.append((counts, again(counts)))
        if progress is not None:
            progress(FitProgress(done, done / runs, time.monotonic() - began))
    return SimulatedErrors(tuple(made))
