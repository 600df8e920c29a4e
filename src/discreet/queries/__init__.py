"""Many linear queries at once: what they share, and the estimates that agree with each other.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.queries import analysts
    from discreet.queries.boosting.boosting import BoostingForQueries
    from discreet.queries.independent import IndependentNoise
    from discreet.queries.matrix.best import best_strategy
    from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
    from discreet.queries.matrix.mechanism import MatrixMechanism
    from discreet.queries.matrix.reconstruction import LeastSquares, NonNegative
    from discreet.queries.mwem.mwem import MWEM, suggested_rounds
    from discreet.queries.net import NetMechanism, small_db
    from discreet.queries.online.construction import OnlineConstruction
    from discreet.queries.online.iterative_construction import IterativeConstruction
    from discreet.queries.online.pmw import private_gap_weights, private_multiplicative_weights
    from discreet.queries.planning.contest import Contest
    from discreet.queries.planning.objectives import LargestDeviation as LargestDeviation
    from discreet.queries.planning.objectives import RootMeanSquare as RootMeanSquare
    from discreet.queries.planning.plan import ReleasePlan, best_mechanism, plan
    from discreet.queries.projection import ProjectionMechanism
    from discreet.queries.record_count import NoisyRecordCount, PublicCount
    from discreet.queries.trees.dawa import DAWA
    from discreet.queries.trees.points import Points
    from discreet.queries.trees.privtree import PrivTree
    from discreet.queries.trees.quadtree import QuadTree
    from discreet.queries.workload.families import All, Each, Listed, Prefixes, Ranges
    from discreet.queries.workload.linear_query import Region, Weights, query_of
    from discreet.queries.workload.universe import Attribute, Universe
    from discreet.queries.workload.workload import Workload

__all__ = [
    "DAWA",
    "MWEM",
    "All",
    "Attribute",
    "BoostingForQueries",
    "Contest",
    "Each",
    "IndependentNoise",
    "IterativeConstruction",
    "LeastSquares",
    "Listed",
    "MarginalMechanism",
    "MatrixMechanism",
    "NetMechanism",
    "NoisyRecordCount",
    "NonNegative",
    "OnlineConstruction",
    "Points",
    "Prefixes",
    "PrivTree",
    "ProjectionMechanism",
    "PublicCount",
    "QuadTree",
    "Ranges",
    "Region",
    "ReleasePlan",
    "Universe",
    "Weights",
    "Workload",
    "analysts",
    "best_mechanism",
    "best_strategy",
    "plan",
    "private_gap_weights",
    "private_multiplicative_weights",
    "query_of",
    "small_db",
    "suggested_rounds",
]

_NAMES = {
    "boosting.boosting": ("BoostingForQueries",),
    "workload.families": ("All", "Each", "Listed", "Prefixes", "Ranges"),
    "independent": ("IndependentNoise",),
    "online.iterative_construction": ("IterativeConstruction",),
    "workload.linear_query": ("Region", "Weights", "query_of"),
    "matrix.best": ("best_strategy",),
    "matrix.marginal_mechanism": ("MarginalMechanism",),
    "matrix.mechanism": ("MatrixMechanism",),
    "matrix.reconstruction": ("LeastSquares", "NonNegative"),
    "mwem.mwem": ("MWEM", "suggested_rounds"),
    "net": ("NetMechanism", "small_db"),
    "online.construction": ("OnlineConstruction",),
    "planning.contest": ("Contest",),
    "planning.objectives": ("LargestDeviation", "RootMeanSquare"),
    "planning.plan": ("ReleasePlan", "best_mechanism", "plan"),
    "online.pmw": ("private_gap_weights", "private_multiplicative_weights"),
    "projection": ("ProjectionMechanism",),
    "record_count": ("NoisyRecordCount", "PublicCount"),
    "trees.dawa": ("DAWA",),
    "trees.points": ("Points",),
    "trees.privtree": ("PrivTree",),
    "trees.quadtree": ("QuadTree",),
    "workload.universe": ("Attribute", "Universe"),
    "workload.workload": ("Workload",),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES, modules=("analysts",))


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
