"""What a planner minimises: the mean error of all queries, or the error of the worst of them.

People who publish single cells want the worst one small: the mean hides it. For Gaussian noise the
least possible largest deviation is the factorisation norm gamma_2 of the workload.

Source: modern-data:M3, M4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from discreet.queries.workload.workload import Workload


class Objective(ABC):
    """A number in records that follows from a mechanism and a workload, before data is read."""

    name: str

    @abstractmethod
    def error(self, mechanism: Any, workload: Workload) -> float:
        """What it is for a mechanism that can tell."""


@dataclass(frozen=True)
class RootMeanSquare(Objective):
    """The root mean squared error of a query.

    Assumptions: errors of mechanisms follow from public things.

    Guarantee: a plan that minimises it is a function of public things.

    Source: modern-data:M3.
    """

    name = "root mean squared error"

    def error(self, mechanism: Any, workload: Workload) -> float:
        return float(mechanism.rmse)


@dataclass(frozen=True)
class LargestDeviation(Objective):
    """The standard deviation of the answer that is least exact.

    Assumptions: errors of mechanisms follow from public things.

    Guarantee: a plan that minimises it is a function of public things.

    Source: modern-data:M3, M4.
    """

    name = "largest standard deviation"

    def error(self, mechanism: Any, workload: Workload) -> float:
        return float(mechanism.deviations(workload).max())
