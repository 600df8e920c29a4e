"""The mechanisms that a planner compares: when each fits, its error, and how long it takes.

An error that follows from public quantities is computed. One that depends on data is predicted by
a trial on invented data of about the same size; it says so, and may be off by a factor of two.
Times are rough: passes over the cells at a few nanoseconds each.

Source: 004b:A22.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache, partial
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import PureDP
from discreet.noise.randomness import SYSTEM, Seeded, Source
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.union import gaussian_union, laplace_union
from discreet.queries.mwem.mwem import MWEM, suggested_rounds
from discreet.queries.mwem.rounds import MarginalRound, QueryRound
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest, SynopsisMechanism
from discreet.queries.planning.surrogate import rmse, surrogate
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.trees.dawa import DAWA
from discreet.queries.trees.privtree import PrivTree
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.families import All, Each, Prefixes, Ranges
from discreet.queries.workload.universe import LARGEST

_PASS = 4e-9
"""Seconds for one cell in one pass."""
_START = 2e-3
"""Seconds that every release takes."""
LONGEST_TRIAL = 60.0
"""Seconds: trials that would take longer are left out, and their errors unknown."""
_TRIALS = 3
_FEW = 3
_MOST_SETS = 16


class Basis(Enum):
    """Where a predicted error comes from."""

    COMPUTED = "computed"
    BOUND = "bound"
    TRIAL = "trial on invented data"


@dataclass(frozen=True)
class Predicted:
    """A root mean squared error of a query, in records, and seconds."""

    error: float
    seconds: float
    basis: Basis


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
        return Predicted(
            float(_made(self, request).rmse), _START + self.seconds(request), Basis.COMPUTED
        )


class _Tried(MechanismOption):
    """A mechanism whose error depends on data."""

    def predict(self, request: ReleaseRequest) -> Predicted:
        """A trial: seeded, so that the same request is always predicted the same."""
        assert request.about is not None
        counts = surrogate(request.workload.universe, request.about)
        errors = []
        for trial in range(_TRIALS):
            mechanism = request.made(self.build(request), Seeded(trial))
            errors.append(rmse(mechanism.release(counts), request.workload, counts))
        return Predicted(sorted(errors)[_TRIALS // 2], _START + self.seconds(request), Basis.TRIAL)

    def unfit(self, request: ReleaseRequest) -> str | None:
        """A number for each cell, and a guess of the number of records."""
        if request.workload.universe.size > LARGEST:
            return f"needs a number for each of {request.workload.universe.size} cells"
        if request.about is None:
            return "its error depends on the number of records: give a public guess, about="
        if _TRIALS * self.seconds(request) > LONGEST_TRIAL:
            return f"a trial would take {_TRIALS * self.seconds(request):.0f} seconds"
        return None


class IndependentOption(MechanismOption):
    """Noise on every answer."""

    name = "independent noise"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Weights in [0, 1]."""
        return _refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return IndependentNoise

    def seconds(self, request: ReleaseRequest) -> float:
        """One pass for each product, and the noise."""
        cells = min(request.workload.universe.size, LARGEST)
        return _PASS * (cells * len(request.workload.products) + 10 * request.workload.queries)


class MatrixOption(MechanismOption):
    """The matrix mechanism with an optimised product strategy."""

    name = "matrix mechanism"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """A number for each cell it looks at."""
        return _refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return MatrixMechanism

    def seconds(self, request: ReleaseRequest) -> float:
        """Two products with each attribute's strategy."""
        shape = request.workload.universe.shape
        return _PASS * min(request.workload.universe.size, LARGEST) * (4 + sum(shape) / 8)


class UnionOption(MechanismOption):
    """The matrix mechanism with a strategy for each set of attributes."""

    name = "union of strategies"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Several sets of attributes, and not too many."""
        sets = len({product.kept for product in request.workload.products})
        if sets == 1:
            return "for queries on several sets of attributes"
        if sets > _MOST_SETS:
            return f"for at most {_MOST_SETS} sets of attributes"
        return _refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        """A strategy for each, and a share of the spend in closed form."""
        search = laplace_union if isinstance(request.spend, PureDP) else gaussian_union
        return partial(MatrixMechanism, strategy=search(request.workload))

    def seconds(self, request: ReleaseRequest) -> float:
        """A count and two products for each set."""
        shape = request.workload.universe.shape
        cells = min(request.workload.universe.size, LARGEST) * len(request.workload.products)
        return _PASS * cells * (1 + max(shape) / 8)


class MarginalOption(MechanismOption):
    """The marginal mechanism: residuals of all marginals, measured together."""

    name = "marginal mechanism"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Marginals that fit into memory."""
        return _refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return MarginalMechanism

    def seconds(self, request: ReleaseRequest) -> float:
        """A count, noise and a few passes for each cell of each marginal and of its parts."""
        shape = request.workload.universe.shape
        cells = sum(
            math.prod(1 + shape[place] for place in product.kept)
            for product in request.workload.products
        )
        counted = min(request.workload.universe.size, LARGEST) * len(request.workload.products)
        return _PASS * (20 * cells + counted)


class MWEMOption(_Tried):
    """MWEM: by marginals where the workload is one of marginals, else by single queries."""

    name = "MWEM"

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        """With the suggested number of rounds."""
        families = [f for p in request.workload.products for f in p.families]
        marginals = all(isinstance(family, Each | All) for family in families)
        return partial(
            MWEM,
            rounds=self._rounds(request),
            each=MarginalRound() if marginals else QueryRound(),
        )

    def seconds(self, request: ReleaseRequest) -> float:
        """Each round answers all queries and replays its history."""
        rounds, workload = self._rounds(request), request.workload
        cells = workload.universe.size
        answers = cells * len(workload.universe.shape) + workload.queries
        return _PASS * rounds * (answers + rounds * cells)

    def _rounds(self, request: ReleaseRequest) -> int:
        assert request.about is not None
        many = len(request.workload.products)
        if many == 1:
            return suggested_rounds(
                request.spend, records=request.about, most=request.workload.queries
            )
        cells = request.workload.queries / many
        return suggested_rounds(request.spend, records=request.about, most=many, cells=cells)

    def unfit(self, request: ReleaseRequest) -> str | None:
        """As all that is tried; and weights in [0, 1]."""
        if request.about is None:
            return super().unfit(request)
        return _refusal(self, request) or super().unfit(request)


class TreeOption(_Tried):
    """A tree or a partition of ordered attributes, for ranges and prefixes on few of them."""

    def __init__(self, name: str, kind: MechanismBuilder) -> None:
        """One of the mechanisms in ``queries.trees``."""
        self.name = name
        self._kind = kind

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return self._kind

    def seconds(self, request: ReleaseRequest) -> float:
        """A few dozen passes over the cells, and the answers."""
        return _PASS * (100 * request.workload.universe.size + 30 * request.workload.queries)

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Ordered queries on up to three attributes."""
        families = [family for each in request.workload.products for family in each.families]
        if not any(isinstance(family, Prefixes | Ranges) for family in families):
            return "for ranges and prefixes of ordered values"
        if len(request.workload.universe.shape) > _FEW:
            return f"for at most {_FEW} attributes"
        return super().unfit(request) or _refusal(self, request)


class ProjectionOption(_Tried):
    """The projection mechanism: noise on all answers, then the nearest table."""

    name = "projection mechanism"

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return ProjectionMechanism

    def seconds(self, request: ReleaseRequest) -> float:
        """An answer and its transpose in each of a few hundred steps."""
        cells, many = request.workload.universe.size, len(request.workload.products)
        return _PASS * 600 * (cells * min(many, 8) + request.workload.queries)

    def predict(self, request: ReleaseRequest) -> Predicted:
        """A bound: a trial would take as long as the release."""
        assert request.about is not None
        error = float(_made(self, request).error_bound(request.about))
        return Predicted(error, _START + self.seconds(request), Basis.BOUND)

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Weights in [0, 1]; tables that fit into memory."""
        return super().unfit(request) or _refusal(self, request)


OPTIONS: tuple[MechanismOption, ...] = (
    *(IndependentOption(), MatrixOption(), UnionOption(), MarginalOption()),
    *(MWEMOption(), ProjectionOption()),
    *(TreeOption("DAWA", DAWA), TreeOption("PrivTree", PrivTree)),
    TreeOption("quad-tree", QuadTree),
)
"""All that a planner compares."""


@lru_cache(maxsize=64)
def _made(option: MechanismOption, request: ReleaseRequest) -> Any:
    """The mechanism; searches for strategies take long, and are needed twice."""
    return request.made(option.build(request), SYSTEM)


def mechanism_of(
    option: MechanismOption, request: ReleaseRequest, randomness: Source
) -> SynopsisMechanism:
    """The option's mechanism with this source of noise; what was searched for is used again."""
    known = _made(option, request)
    if "randomness" in getattr(known, "__dataclass_fields__", ()):
        made: SynopsisMechanism = replace(known, randomness=randomness)
        return made
    return request.made(option.build(request), randomness)


def _refusal(option: MechanismOption, request: ReleaseRequest) -> str | None:
    """What the mechanism itself says against the request; no data is read."""
    try:
        _made(option, request)
    except DiscreetError as refused:
        return str(refused).splitlines()[0]
    return None
