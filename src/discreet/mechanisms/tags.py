"""The names under which mechanisms are written down, for ever.

A name is the place that a class had when it was first written: a class may be renamed or moved, and
keeps it. A field that is renamed is written ``old:new``.

Source: contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from dataclasses import is_dataclass

from discreet.core.written import Form
from discreet.mechanisms import (
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    laplace,
    noise_choice,
    noisy_max,
    randomized_response,
    scores,
    truncated_geometric,
)
from discreet.mechanisms.key_selection import gaussian as partition_gaussian
from discreet.mechanisms.key_selection import geometric, optimal
from discreet.mechanisms.quantiles import (
    choice,
    extremes,
    joint,
    quantile,
    recursive,
    several,
    tree,
)
from discreet.mechanisms.sparse_vector import above_threshold, numeric_sparse, sparse

FORMS: dict[object, Form] = {
    discrete_gaussian.DiscreteGaussian: Form(
        "mechanisms.discrete_gaussian.DiscreteGaussian", "sensitivity randomness rho"
    ),
    discrete_laplace.DiscreteLaplace: Form(
        "mechanisms.discrete_laplace.DiscreteLaplace", "sensitivity randomness epsilon"
    ),
    exponential.Exponential: Form(
        "mechanisms.exponential.Exponential", "epsilon sensitivity scores randomness"
    ),
    exponential.PermuteAndFlip: Form(
        "mechanisms.exponential.PermuteAndFlip", "epsilon sensitivity scores randomness"
    ),
    gaussian.Gaussian: Form("mechanisms.gaussian.Gaussian", "sensitivity randomness epsilon delta"),
    laplace.Laplace: Form("mechanisms.laplace.Laplace", "sensitivity randomness epsilon"),
    noise_choice.AnyNoise: Form("mechanisms.noise_choice.AnyNoise"),
    noise_choice.GaussianNoise: Form("mechanisms.noise_choice.GaussianNoise"),
    noisy_max.NoisyMax: Form(
        "mechanisms.noisy_max.NoisyMax", "epsilon sensitivity scores randomness"
    ),
    partition_gaussian.GaussianThreshold: Form(
        "mechanisms.partition.gaussian.GaussianThreshold",
        "groups swaps least:min_people randomness epsilon delta",
    ),
    partition_gaussian.ConcentratedThreshold: Form(
        "mechanisms.partition.gaussian.ConcentratedThreshold",
        "groups swaps least:min_people randomness rho delta",
    ),
    geometric.GeometricThreshold: Form(
        "mechanisms.partition.geometric.GeometricThreshold",
        "groups swaps least:min_people randomness epsilon delta",
    ),
    optimal.OptimalSelection: Form(
        "mechanisms.partition.optimal.OptimalSelection",
        "groups swaps least:min_people randomness epsilon delta",
    ),
    extremes.Maximum: Form(
        "mechanisms.quantiles.extremes.Maximum", "candidates rank_sensitivity epsilon by randomness"
    ),
    extremes.Minimum: Form(
        "mechanisms.quantiles.extremes.Minimum", "candidates rank_sensitivity epsilon by randomness"
    ),
    joint.JointQuantiles: Form(
        "mechanisms.quantiles.joint.JointQuantiles",
        "levels candidates rank_sensitivity epsilon by randomness",
    ),
    quantile.Quantile: Form(
        "mechanisms.quantiles.quantile.Quantile",
        "candidates rank_sensitivity epsilon by randomness q",
    ),
    recursive.RecursiveQuantiles: Form(
        "mechanisms.quantiles.recursive.RecursiveQuantiles",
        "levels candidates rank_sensitivity epsilon by randomness places",
    ),
    several.IndependentQuantiles: Form(
        "mechanisms.quantiles.several.IndependentQuantiles",
        "levels candidates rank_sensitivity epsilon by randomness",
    ),
    tree.QuantileTree: Form(
        "mechanisms.quantiles.tree.QuantileTree",
        "levels candidates rank_sensitivity epsilon by randomness fan_out",
    ),
    randomized_response.RandomizedResponse: Form(
        "mechanisms.randomized_response.RandomizedResponse", "epsilon categories randomness"
    ),
    randomized_response.Warner: Form("mechanisms.randomized_response.Warner", "keep randomness"),
    above_threshold.AboveThreshold: Form(
        "mechanisms.sparse_vector.above_threshold.AboveThreshold",
        "epsilon threshold sensitivity scores randomness",
    ),
    sparse.Sparse: Form(
        "mechanisms.sparse_vector.sparse.Sparse",
        "epsilon_each cutoff threshold sensitivity scores randomness",
    ),
    numeric_sparse.NumericSparse: Form(
        "mechanisms.sparse_vector.sparse.NumericSparse",
        "epsilon cutoff threshold sensitivity scores randomness",
    ),
    truncated_geometric.TruncatedGeometric: Form(
        "mechanisms.truncated_geometric.TruncatedGeometric", "epsilon size randomness"
    ),
    scores.Scores: Form("mechanisms.scores.Scores"),
    choice.ByPermuteAndFlip: Form("mechanisms.quantiles.choice.ByPermuteAndFlip"),
    choice.ByExponential: Form("mechanisms.quantiles.choice.ByExponential"),
}

for _kind, _form in FORMS.items():
    if is_dataclass(_kind) and isinstance(_kind, type):
        _form.require_all(_kind, compared=False)
