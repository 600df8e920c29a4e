"""What a mechanism leaves behind: a stand-in for the data that answers at no further charge.

Source: 000a:A9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.event import Event
from discreet.queries.universe import Universe
from discreet.queries.workload import Workload

Floats = NDArray[np.float64]


class Synopsis(Protocol):
    """Answers workloads over its universe; deterministic, and free."""

    @property
    def universe(self) -> Universe:
        """What it knows about."""

    @property
    def event(self) -> Event:
        """What making it cost."""

    def answers(self, workload: Workload) -> Floats:
        """All answers of a workload, in its order."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Estimated counts of all cells of an explicit universe."""

    universe: Universe
    counts: Floats
    event: Event

    def answers(self, workload: Workload) -> Floats:
        """Sums of estimated counts."""
        return workload.answers(self.counts)
