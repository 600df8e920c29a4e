"""Naming keys that nobody listed: rules that read how many people have each, and nothing else."""

from discreet.mechanisms.partition.gaussian import ConcentratedThreshold, GaussianThreshold
from discreet.mechanisms.partition.geometric import GeometricThreshold
from discreet.mechanisms.partition.optimal import OptimalSelection
from discreet.mechanisms.partition.plan import plan_counts, plan_names
from discreet.mechanisms.partition.rule import Kept, Rule

__all__ = [
    "ConcentratedThreshold",
    "GaussianThreshold",
    "GeometricThreshold",
    "Kept",
    "OptimalSelection",
    "Rule",
    "plan_counts",
    "plan_names",
]
