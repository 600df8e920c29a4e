"""Mechanisms whose error depends on data: tried on invented data of about the same size.

Trials are seeded, so that the same request is always predicted the same. They are run until what
they are compared with is told apart, or there are ``MOST_TRIALS`` of them. What invented data
predict may be off by a factor of two for real ones: a standard error says nothing of that.

Source: 004b:A22; analysts-verified:H8b.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from discreet.core.guarantee import Guarantee
from discreet.noise.randomness import Seeded
from discreet.queries.mwem.mwem import MWEM, suggested_rounds
from discreet.queries.mwem.rounds import MarginalRound, QueryRound
from discreet.queries.planning.objectives import RootMeanSquare
from discreet.queries.planning.option import (
    PASS,
    START,
    Basis,
    MechanismOption,
    Predicted,
    make_cached_mechanism,
    paid_by,
    refusal,
)
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest
from discreet.queries.planning.surrogate import rmse, surrogate
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.families import All, Each, Prefixes, Ranges
from discreet.queries.workload.universe import LARGEST

LONGEST_TRIAL = 60.0
"""Seconds: trials that would take longer are left out, and their errors unknown."""
FEWEST_TRIALS = 4
MOST_TRIALS = 64
_LONGER = 20.0
"""Seconds that all trials of one mechanism together may take."""
_FEW = 3


class TriedOption(MechanismOption):
    """A mechanism whose error depends on data."""

    def predict(self, request: ReleaseRequest) -> Predicted:
        """From a few trials."""
        return self._tried(request, FEWEST_TRIALS)

    def refined(self, request: ReleaseRequest, predicted: Predicted) -> Predicted | None:
        """From twice as many."""
        many = 2 * predicted.trials
        if predicted.basis is not Basis.TRIAL or many > MOST_TRIALS:
            return None
        return self._tried(request, many) if many * self.seconds(request) <= _LONGER else None

    def _tried(self, request: ReleaseRequest, many: int) -> Predicted:
        """The root of the mean squared error, and its standard error to first order."""
        by = paid_by(request)
        squares = np.array([_squared(self, request, by, trial) for trial in range(many)])
        error = math.sqrt(float(squares.mean()))
        spread = float(squares.std(ddof=1)) / math.sqrt(many)
        return Predicted(
            error,
            START + self.seconds(request),
            Basis.TRIAL,
            standard_error=spread / (2 * error) if error else 0.0,
            trials=many,
        )

    def unfit(self, request: ReleaseRequest) -> str | None:
        """A number for each cell, and a guess of the number of records."""
        if not isinstance(request.objective, RootMeanSquare):
            return "its largest deviation depends on data"
        if request.workload.universe.size > LARGEST:
            return f"needs a number for each of {request.workload.universe.size} cells"
        if request.about is None:
            return "its error depends on the number of records: give a public guess, about="
        if FEWEST_TRIALS * self.seconds(request) > LONGEST_TRIAL:
            return f"a trial would take {FEWEST_TRIALS * self.seconds(request):.0f} seconds"
        return None


@lru_cache(maxsize=2048)
def _squared(
    option: TriedOption, request: ReleaseRequest, by: type[Guarantee] | None, trial: int
) -> float:
    """The squared error of one trial."""
    assert request.about is not None
    counts = surrogate(request.workload.universe, request.about)
    mechanism = request.make_mechanism(option.build(request), Seeded(trial))
    return rmse(mechanism.release(counts), request.workload, counts) ** 2


class MWEMOption(TriedOption):
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
        return PASS * rounds * (answers + rounds * cells)

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
        return refusal(self, request) or super().unfit(request)


class TreeOption(TriedOption):
    """A tree or a partition of ordered attributes, for ranges and prefixes on few of them."""

    def __init__(self, name: str, kind: MechanismBuilder) -> None:
        """One of the mechanisms in ``queries.trees``."""
        self.name = name
        self._kind = kind

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return self._kind

    def seconds(self, request: ReleaseRequest) -> float:
        """A few dozen passes over the cells, and the answers."""
        return PASS * (100 * request.workload.universe.size + 30 * request.workload.queries)

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Ordered queries on up to three attributes."""
        return self._misfit(request) or super().unfit(request) or refusal(self, request)

    def _misfit(self, request: ReleaseRequest) -> str | None:
        families = [family for each in request.workload.products for family in each.families]
        if not any(isinstance(family, Prefixes | Ranges) for family in families):
            return "for ranges and prefixes of ordered values"
        if len(request.workload.universe.shape) > _FEW:
            return f"for at most {_FEW} attributes"
        return None


class QuadTreeOption(TreeOption):
    """The complete tree: its error is exact where its leaves are single cells."""

    def __init__(self) -> None:
        """The one tree that is the same for all data."""
        super().__init__("quad-tree", QuadTree)

    def predict(self, request: ReleaseRequest) -> Predicted:
        """Computed, or tried where records may lie unevenly in a leaf."""
        return (
            MechanismOption.predict(self, request)
            if self._exact(request)
            else (super().predict(request))
        )

    def refined(self, request: ReleaseRequest, predicted: Predicted) -> Predicted | None:
        return None if self._exact(request) else super().refined(request, predicted)

    def unfit(self, request: ReleaseRequest) -> str | None:
        """No guess of the number of records is needed where the error is exact."""
        if (reason := self._misfit(request)) is not None:
            return reason
        reason = refusal(self, request)
        return reason if reason is not None or self._exact(request) else super().unfit(request)

    def _exact(self, request: ReleaseRequest) -> bool:
        return bool(make_cached_mechanism(self, request).error_known)


class ProjectionOption(TriedOption):
    """The projection mechanism: noise on all answers, then the nearest table."""

    name = "projection mechanism"

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        return ProjectionMechanism

    def seconds(self, request: ReleaseRequest) -> float:
        """An answer and its transpose in each of a few hundred steps."""
        cells, many = request.workload.universe.size, len(request.workload.products)
        return PASS * 600 * (cells * min(many, 8) + request.workload.queries)

    def predict(self, request: ReleaseRequest) -> Predicted:
        """A bound: a trial would take as long as the release."""
        assert request.about is not None
        error = float(make_cached_mechanism(self, request).error_bound(request.about))
        return Predicted(error, START + self.seconds(request), Basis.BOUND)

    def unfit(self, request: ReleaseRequest) -> str | None:
        """Weights in [0, 1]; tables that fit into memory."""
        return super().unfit(request) or refusal(self, request)
