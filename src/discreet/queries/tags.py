"""The names under which mechanisms for workloads, and what they take, are written down, for ever.

As in :mod:`discreet.mechanisms.tags`; a function is written with its parameters.
"""

from __future__ import annotations

from dataclasses import is_dataclass

from discreet.core.written import Form
from discreet.queries import independent, net, operators, projection, record_count
from discreet.queries.boosting import base, boosting, fits
from discreet.queries.matrix import (
    best,
    marginal_mechanism,
    marginal_strategy,
    mechanism,
    product,
    reconstruction,
    strategy,
    union,
)
from discreet.queries.mwem import fitting, multiplicative_weights, mwem
from discreet.queries.mwem import rounds as mwem_rounds
from discreet.queries.online import construction as online_construction
from discreet.queries.online import iterative_construction, multiplicative_updaters, pmw, updaters
from discreet.queries.planning import contest, objectives, plan
from discreet.queries.synopses import lp_synthesis, marginals
from discreet.queries.trees import dawa, points, privtree, quadtree
from discreet.queries.workload import families, linear_query, universe, workload

FORMS: dict[object, Form] = {
    base.ExponentialNet: Form("queries.boosting.base.ExponentialNet", "net"),
    base.NoisySample: Form("queries.boosting.base.NoisySample", "fit"),
    boosting.BoostingForQueries: Form(
        "queries.boosting.boosting.BoostingForQueries",
        "workload spend size sample base rounds advantage within drawing confidence records "
        "randomness",
    ),
    fits.LeastSquaresFit: Form("queries.boosting.fits.LeastSquares"),
    fits.LinearProgram: Form("queries.boosting.fits.LinearProgram"),
    fits.NearestOfNet: Form("queries.boosting.fits.NearestOfNet", "net"),
    fits.WeightsFit: Form("queries.boosting.fits.WeightsFit", "passes"),
    families.All: Form("queries.families.All", "size"),
    families.Each: Form("queries.families.Each", "size"),
    families.Listed: Form("queries.families.Listed", "rows"),
    families.Prefixes: Form("queries.families.Prefixes", "size"),
    families.Ranges: Form("queries.families.Ranges", "size"),
    fitting.MeasuredQuery: Form("queries.fitting.MeasuredQuery", "query answer spread"),
    fitting.Scaling: Form("queries.fitting.Scaling"),
    fitting.SmallSteps: Form("queries.fitting.SmallSteps"),
    fitting.replay: Form("queries.fitting.replay", "weights history stepping total passes"),
    fitting.settle: Form("queries.fitting.settle", "weights history stepping total passes"),
    multiplicative_updaters.GapUpdater: Form("queries.gap_updater.GapUpdater", "cells error start"),
    independent.IndependentNoise: Form(
        "queries.independent.IndependentNoise", "workload spend size records randomness"
    ),
    iterative_construction.IterativeConstruction: Form(
        "queries.iterative_construction.IterativeConstruction",
        "workload updater spend size records randomness",
    ),
    linear_query.Region: Form("queries.linear_query.Region", "shape box"),
    linear_query.Weights: Form("queries.linear_query.Weights", "values"),
    linear_query.query_of: Form("queries.linear_query.query_of", "workload index"),
    marginals.Marginals: Form("queries.marginals.Marginals", "sizes sets"),
    best.best_strategy: Form(
        "queries.matrix.best.best_strategy", "workload spend size records randomness"
    ),
    marginal_mechanism.MarginalMechanism: Form(
        "queries.matrix.marginal_mechanism.MarginalMechanism",
        "workload spend strategy size records randomness",
        later="choice",
    ),
    mechanism.MatrixMechanism: Form(
        "queries.matrix.mechanism.MatrixMechanism",
        "workload spend strategy size records reconstruction randomness",
    ),
    product.ProductStrategy: Form(
        "queries.matrix.product.ProductStrategy", "factors", later="total_known"
    ),
    reconstruction.LeastSquares: Form("queries.matrix.reconstruction.LeastSquares"),
    reconstruction.NonNegative: Form(
        "queries.matrix.reconstruction.NonNegative", "iterations tolerance"
    ),
    marginal_strategy.MarginalStrategy: Form("queries.matrix.residuals.MarginalStrategy", "tables"),
    strategy.Strategy: Form("queries.matrix.strategy.Strategy", "name steps places"),
    strategy.hierarchical: Form("queries.matrix.strategy.hierarchical", "size branches"),
    strategy.square_root: Form("queries.matrix.strategy.square_root", "size"),
    strategy.wavelet: Form("queries.matrix.strategy.wavelet", "size"),
    union.UnionStrategy: Form("queries.matrix.union.UnionStrategy", "parts weights"),
    union.gaussian_union: Form("queries.matrix.union.gaussian_union", "workload", "size"),
    union.laplace_union: Form("queries.matrix.union.laplace_union", "workload", "size"),
    mwem.AverageIterate: Form("queries.mwem.Average", "settling"),
    mwem.LastIterate: Form("queries.mwem.Last", "settling"),
    mwem.MWEM: Form(
        "queries.mwem.MWEM",
        "workload spend size rounds each selection iterate start passes records randomness",
    ),
    mwem.suggested_rounds: Form("queries.mwem.suggested_rounds", "spend records most cells"),
    mwem_rounds.MarginalRound: Form("queries.mwem_rounds.OneMarginal", "share stepping"),
    mwem_rounds.QueryRound: Form("queries.mwem_rounds.OneQuery", "share stepping"),
    multiplicative_weights.MultiplicativeWeights: Form(
        "queries.mwem.multiplicative_weights.MultiplicativeWeights"
    ),
    operators.ProtectedCounts: Form("queries.operators.ProtectedCounts"),
    net.NetMechanism: Form(
        "queries.net.NetMechanism", "workload net epsilon size records randomness"
    ),
    net.small_databases: Form("queries.net.small_databases", "cells rows"),
    net.small_db: Form(
        "queries.net.small_db", "workload error epsilon size records randomness", later="spend"
    ),
    online_construction.OnlineConstruction: Form(
        "queries.online_construction.OnlineConstruction",
        "updater spend size threshold cutoff records randomness",
    ),
    contest.Contest: Form(
        "queries.planning.contest.Contest", "workload spend size contenders part records randomness"
    ),
    objectives.LargestDeviation: Form("queries.planning.objectives.LargestDeviation"),
    objectives.RootMeanSquare: Form("queries.planning.objectives.RootMeanSquare"),
    plan.ReleasePlan: Form("queries.planning.plan.Plan", "request ranked unfit within"),
    plan.best_mechanism: Form(
        "queries.planning.plan.best_mechanism",
        "workload spend size records randomness about within",
        later="objective",
    ),
    plan.plan: Form(
        "queries.planning.plan.plan",
        "workload spend size records about within options",
        later="objective",
    ),
    pmw.private_gap_weights: Form(
        "queries.pmw.private_gap_weights",
        "cells spend size questions confidence about updates start records randomness",
    ),
    pmw.private_multiplicative_weights: Form(
        "queries.pmw.private_multiplicative_weights",
        "cells spend size questions confidence about start records randomness",
    ),
    projection.ProjectionMechanism: Form(
        "queries.projection.ProjectionMechanism",
        "workload spend size records iterations gap randomness",
    ),
    record_count.NoisyRecordCount: Form("queries.record_count.BoughtCount", "part"),
    record_count.PublicCount: Form("queries.record_count.PublicCount", "records"),
    lp_synthesis.game_value: Form("queries.synopses.lp_synthesis.game_value", "workload means"),
    lp_synthesis.synthesise: Form(
        "queries.synopses.lp_synthesis.synthesise", "workload means error"
    ),
    dawa.DAWA: Form("queries.trees.dawa.DAWA", "workload spend size part price records randomness"),
    points.Along: Form("queries.trees.points.Along", "codes before"),
    points.Points: Form("queries.trees.points.Points", "positions"),
    privtree.PrivTree: Form(
        "queries.trees.privtree.PrivTree",
        "workload spend size part threshold depth records randomness",
    ),
    quadtree.QuadTree: Form(
        "queries.trees.quadtree.QuadTree", "workload spend size depth records randomness"
    ),
    universe.Attribute: Form("queries.universe.Attribute", "name values"),
    universe.Universe: Form("queries.universe.Universe", "attributes"),
    updaters.MedianUpdater: Form("queries.updaters.MedianUpdater", "net error"),
    multiplicative_updaters.MultiplicativeUpdater: Form(
        "queries.updaters.MultiplicativeUpdater", "cells error start"
    ),
    updaters.PerceptronUpdater: Form(
        "queries.updaters.PerceptronUpdater", "cells error records squares"
    ),
    updaters.Watched: Form("queries.updaters.Watched"),
    workload.Product: Form("queries.workload.Product", "families weight"),
    workload.Workload: Form("queries.workload.Workload", "universe products"),
}

for _kind, _form in FORMS.items():
    if is_dataclass(_kind) and isinstance(_kind, type):
        _form.require_all(_kind, compared=False)
