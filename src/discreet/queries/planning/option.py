"""One mechanism among those that a planner compares: when it fits, its error, how long it takes.

Times are rough: passes over the cells at a few nanoseconds each.

Source: 004b:A22.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest, SynopsisMechanism

PASS = 4e-9
"""Seconds for one cell in one pass."""
START = 2e-3
"""Seconds that every release takes."""


class Basis(Enum):
    """Where a predicted error comes from."""

    COMPUTED = "computed"
    BOUND = "bound"
    TRIAL = "trial on invented data"


@dataclass(frozen=True)
class Predicted:
    """An error of the request's objective, in records, and seconds.

    A trial has a standard error, and says how often it was run; it tells nothing of how far real
    data are from the invented ones.
    """

    error: float
    seconds: float
    basis: Basis
    standard_error: float = 0.0
    trials: int = 0


class MechanismOption(ABC):
    """One mechanism among those compared."""

    name: str

    @abstractmethod
    def unfit(self, request: ReleaseRequest) -> str | None:
        """Why it cannot serve, or nothing."""

    @abstractmethod
    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        """The mechanism, with its own parameters chosen."""

    @abstractmethod
    def seconds(self, request: ReleaseRequest) -> float:
        """About how long a release takes."""

    def predict(self, request: ReleaseRequest) -> Predicted:
        """What it will get wrong: computed where the mechanism can tell."""
        error = request.objective.error(make_cached_mechanism(self, request), request.workload)
        return Predicted(error, START + self.seconds(request), Basis.COMPUTED)

    def refined(self, request: ReleaseRequest, predicted: Predicted) -> Predicted | None:
        """The same from more trials; nothing where there are none, or enough."""
        return None


def make_cached_mechanism(option: MechanismOption, request: ReleaseRequest) -> Any:
    """The mechanism; searches for strategies take long, and are needed twice."""
    return _make_mechanism(option, request, paid_by(request))


def paid_by(request: ReleaseRequest) -> type[Guarantee] | None:
    """What pays for a spend: spends that differ in that alone are equal, and differ in noise."""
    return getattr(request.spend, "by", None)


@lru_cache(maxsize=64)
def _make_mechanism(
    option: MechanismOption, request: ReleaseRequest, by: type[Guarantee] | None
) -> Any:
    return request.make_mechanism(option.build(request), SYSTEM)


def mechanism_of(
    option: MechanismOption, request: ReleaseRequest, randomness: Source
) -> SynopsisMechanism:
    """The option's mechanism with this source of noise; what was searched for is used again."""
    known = make_cached_mechanism(option, request)
    if "randomness" in getattr(known, "__dataclass_fields__", ()):
        again: SynopsisMechanism = replace(known, randomness=randomness)
        return again
    return request.make_mechanism(option.build(request), randomness)


def refusal(option: MechanismOption, request: ReleaseRequest) -> str | None:
    """What the mechanism itself says against the request; no data is read."""
    try:
        make_cached_mechanism(option, request)
    except DiscreetError as refused:
        return str(refused).splitlines()[0]
    return None
