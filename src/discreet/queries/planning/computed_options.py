"""Mechanisms whose error follows from public quantities: it is computed, exactly.

Source: 004b:A22; modern-data:M3, M4.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

from discreet.core.guarantee import Guarantee
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.best import minimax_mechanism, union_mechanism
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.union import UnionStrategy
from discreet.queries.planning.objectives import RootMeanSquare
from discreet.queries.planning.option import PASS, MechanismOption, paid_by, refusal
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest
from discreet.queries.workload.universe import LARGEST

MOST_SETS = 16


class IndependentOption(MechanismOption):
    """Noise on every answer."""

    name = "independent noise"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Weights in [0, 1]."""
        return refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return IndependentNoise

    def seconds(self, request: ReleaseRequest) -> float:
        """One pass for each product, and the noise."""
        cells = min(request.workload.universe.size, LARGEST)
        return PASS * (cells * len(request.workload.products) + 10 * request.workload.queries)


class MatrixOption(MechanismOption):
    """The matrix mechanism with an optimised product strategy."""

    name = "matrix mechanism"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """A number for each cell it looks at."""
        return refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        """With a strategy for the objective."""
        if isinstance(request.objective, RootMeanSquare):
            return MatrixMechanism
        return partial(MatrixMechanism, strategy=_minimax(request, paid_by(request)))

    def seconds(self, request: ReleaseRequest) -> float:
        """Two products with each attribute's strategy."""
        shape = request.workload.universe.shape
        return PASS * min(request.workload.universe.size, LARGEST) * (4 + sum(shape) / 8)


class UnionOption(MechanismOption):
    """The matrix mechanism with a strategy for each set of attributes."""

    name = "union of strategies"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Several sets of attributes, and not too many."""
        sets = len({product.kept_places for product in request.workload.products})
        if sets == 1:
            return "for queries on several sets of attributes"
        if sets > MOST_SETS:
            return f"for at most {MOST_SETS} sets of attributes"
        return refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        """A strategy for each, and a share of the spend in closed form."""
        return partial(MatrixMechanism, strategy=_union(request, paid_by(request)))

    def seconds(self, request: ReleaseRequest) -> float:
        """A count and two products for each set."""
        shape = request.workload.universe.shape
        cells = min(request.workload.universe.size, LARGEST) * len(request.workload.products)
        return PASS * cells * (1 + max(shape) / 8)


class MarginalOption(MechanismOption):
    """The marginal mechanism: residuals of all marginals, measured together."""

    name = "marginal mechanism"

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Marginals that fit into memory."""
        return refusal(self, request)

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return MarginalMechanism

    def seconds(self, request: ReleaseRequest) -> float:
        """A count, noise and a few passes for each cell of each marginal and of its parts."""
        shape = request.workload.universe.shape
        cells = sum(
            math.prod(1 + shape[place] for place in product.kept_places)
            for product in request.workload.products
        )
        counted = min(request.workload.universe.size, LARGEST) * len(request.workload.products)
        return PASS * (20 * cells + counted)


@lru_cache(maxsize=64)
def _union(request: ReleaseRequest, by: type[Guarantee] | None) -> UnionStrategy:
    """Searched for once."""
    given = (request.workload, request.spend, request.size, request.records)
    found = union_mechanism(*given).strategy
    assert isinstance(found, UnionStrategy)
    return found


@lru_cache(maxsize=64)
def _minimax(
    request: ReleaseRequest, by: type[Guarantee] | None
) -> ProductStrategy | UnionStrategy:
    """Searched for once."""
    given = (request.workload, request.spend, request.size, request.records)
    found = minimax_mechanism(*given).strategy
    assert found is not None
    return found
