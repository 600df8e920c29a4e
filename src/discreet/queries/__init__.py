"""Many linear queries at once: what they share, and the estimates that agree with each other.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.queries import analysts
    from discreet.queries.boosting.base import ExponentialNet, NoisySample
    from discreet.queries.boosting.boosting import BoostingForQueries
    from discreet.queries.boosting.fits import (
        LeastSquaresFit,
        LinearProgram,
        NearestOfNet,
        WeightsFit,
    )
    from discreet.queries.independent import IndependentNoise
    from discreet.queries.matrix.best import best_strategy
    from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
    from discreet.queries.matrix.mechanism import MatrixMechanism
    from discreet.queries.matrix.product import ProductStrategy
    from discreet.queries.matrix.reconstruction import LeastSquares, NonNegative
    from discreet.queries.matrix.strategy import Strategy, hierarchical, square_root, wavelet
    from discreet.queries.matrix.union import UnionStrategy, gaussian_union, laplace_union
    from discreet.queries.mwem.fitting import MeasuredQuery, Scaling, SmallSteps, replay, settle
    from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
    from discreet.queries.mwem.mwem import MWEM, AverageIterate, LastIterate, suggested_rounds
    from discreet.queries.mwem.rounds import MarginalRound, QueryRound
    from discreet.queries.net import NetMechanism, small_databases, small_db
    from discreet.queries.online.construction import OnlineConstruction
    from discreet.queries.online.iterative_construction import IterativeConstruction
    from discreet.queries.online.multiplicative_updaters import GapUpdater, MultiplicativeUpdater
    from discreet.queries.online.pmw import private_gap_weights, private_multiplicative_weights
    from discreet.queries.online.updaters import MedianUpdater, PerceptronUpdater, Watched
    from discreet.queries.operators import ProtectedCounts
    from discreet.queries.planning.contest import Contest
    from discreet.queries.planning.objectives import LargestDeviation, RootMeanSquare
    from discreet.queries.planning.plan import ReleasePlan, best_mechanism, plan
    from discreet.queries.projection import ProjectionMechanism
    from discreet.queries.record_count import NoisyRecordCount, PublicCount
    from discreet.queries.synopses.lp_synthesis import game_value, synthesise
    from discreet.queries.synopses.synopsis import Synopsis
    from discreet.queries.trees.dawa import DAWA
    from discreet.queries.trees.points import Points
    from discreet.queries.trees.privtree import PrivTree
    from discreet.queries.trees.quadtree import QuadTree
    from discreet.queries.usefulness import UsefulRuns, useful_runs
    from discreet.queries.workload.families import All, Each, Listed, Prefixes, Ranges
    from discreet.queries.workload.linear_query import Region, Weights, query_of
    from discreet.queries.workload.universe import Attribute, Universe
    from discreet.queries.workload.workload import Workload

__all__ = [
    "DAWA",
    "MWEM",
    "All",
    "Attribute",
    "AverageIterate",
    "BoostingForQueries",
    "Contest",
    "Each",
    "ExponentialNet",
    "GapUpdater",
    "IndependentNoise",
    "IterativeConstruction",
    "LargestDeviation",
    "LastIterate",
    "LeastSquares",
    "LeastSquaresFit",
    "LinearProgram",
    "Listed",
    "MarginalMechanism",
    "MarginalRound",
    "MatrixMechanism",
    "MeasuredQuery",
    "MedianUpdater",
    "MultiplicativeUpdater",
    "MultiplicativeWeights",
    "NearestOfNet",
    "NetMechanism",
    "NoisyRecordCount",
    "NoisySample",
    "NonNegative",
    "OnlineConstruction",
    "PerceptronUpdater",
    "Points",
    "Prefixes",
    "PrivTree",
    "ProductStrategy",
    "ProjectionMechanism",
    "ProtectedCounts",
    "PublicCount",
    "QuadTree",
    "QueryRound",
    "Ranges",
    "Region",
    "ReleasePlan",
    "RootMeanSquare",
    "Scaling",
    "SmallSteps",
    "Strategy",
    "Synopsis",
    "UnionStrategy",
    "Universe",
    "UsefulRuns",
    "Watched",
    "Weights",
    "WeightsFit",
    "Workload",
    "analysts",
    "best_mechanism",
    "best_strategy",
    "game_value",
    "gaussian_union",
    "hierarchical",
    "laplace_union",
    "plan",
    "private_gap_weights",
    "private_multiplicative_weights",
    "query_of",
    "replay",
    "settle",
    "small_databases",
    "small_db",
    "square_root",
    "suggested_rounds",
    "synthesise",
    "useful_runs",
    "wavelet",
]

_NAMES = {
    "boosting.base": ("ExponentialNet", "NoisySample"),
    "boosting.boosting": ("BoostingForQueries",),
    "boosting.fits": ("LeastSquaresFit", "LinearProgram", "NearestOfNet", "WeightsFit"),
    "independent": ("IndependentNoise",),
    "matrix.best": ("best_strategy",),
    "matrix.marginal_mechanism": ("MarginalMechanism",),
    "matrix.mechanism": ("MatrixMechanism",),
    "matrix.product": ("ProductStrategy",),
    "matrix.reconstruction": ("LeastSquares", "NonNegative"),
    "matrix.strategy": ("Strategy", "hierarchical", "square_root", "wavelet"),
    "matrix.union": ("UnionStrategy", "gaussian_union", "laplace_union"),
    "mwem.fitting": ("MeasuredQuery", "Scaling", "SmallSteps", "replay", "settle"),
    "mwem.multiplicative_weights": ("MultiplicativeWeights",),
    "mwem.mwem": ("MWEM", "AverageIterate", "LastIterate", "suggested_rounds"),
    "mwem.rounds": ("MarginalRound", "QueryRound"),
    "net": ("NetMechanism", "small_databases", "small_db"),
    "online.construction": ("OnlineConstruction",),
    "online.iterative_construction": ("IterativeConstruction",),
    "online.multiplicative_updaters": ("GapUpdater", "MultiplicativeUpdater"),
    "online.pmw": ("private_gap_weights", "private_multiplicative_weights"),
    "online.updaters": ("MedianUpdater", "PerceptronUpdater", "Watched"),
    "operators": ("ProtectedCounts",),
    "planning.contest": ("Contest",),
    "planning.objectives": ("LargestDeviation", "RootMeanSquare"),
    "planning.plan": ("ReleasePlan", "best_mechanism", "plan"),
    "projection": ("ProjectionMechanism",),
    "record_count": ("NoisyRecordCount", "PublicCount"),
    "synopses.lp_synthesis": ("game_value", "synthesise"),
    "synopses.synopsis": ("Synopsis",),
    "trees.dawa": ("DAWA",),
    "trees.points": ("Points",),
    "trees.privtree": ("PrivTree",),
    "trees.quadtree": ("QuadTree",),
    "workload.families": ("All", "Each", "Listed", "Prefixes", "Ranges"),
    "workload.linear_query": ("Region", "Weights", "query_of"),
    "usefulness": ("UsefulRuns", "useful_runs"),
    "workload.universe": ("Attribute", "Universe"),
    "workload.workload": ("Workload",),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES, modules=("analysts",))


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
