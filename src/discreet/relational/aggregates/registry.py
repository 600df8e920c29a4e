"""The aggregates that analysts may use, by the names of SQL. What is not here does not exist."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.relational.aggregates import (
    count,
    covariance,
    extremes,
    geometric_mean,
    mean,
    quantile,
    sum,
    variance,
)
from discreet.relational.aggregates.count import Count
from discreet.relational.aggregates.covariance import Correlation, Covariance
from discreet.relational.aggregates.extremes import MaximumAggregate, MinimumAggregate
from discreet.relational.aggregates.function import AggregateFunction
from discreet.relational.aggregates.geometric_mean import GeometricMean
from discreet.relational.aggregates.mean import Average
from discreet.relational.aggregates.quantile import QuantileAggregate
from discreet.relational.aggregates.sum import Sum
from discreet.relational.aggregates.variance import StandardDeviation, Variance

__all__ = [
    "FUNCTIONS",
    "NAMES",
    "Average",
    "Correlation",
    "Count",
    "Covariance",
    "GeometricMean",
    "MaximumAggregate",
    "MinimumAggregate",
    "QuantileAggregate",
    "StandardDeviation",
    "Sum",
    "Variance",
]

FUNCTIONS: tuple[AggregateFunction, ...] = (
    *count.FUNCTIONS,
    *sum.FUNCTIONS,
    *mean.FUNCTIONS,
    *geometric_mean.FUNCTIONS,
    *variance.FUNCTIONS,
    *quantile.FUNCTIONS,
    *extremes.FUNCTIONS,
    *covariance.FUNCTIONS,
)

NAMES: Mapping[str, AggregateFunction] = {
    name: function for function in FUNCTIONS for name in function.names
}
"""Every function by each of its names, in capitals."""
