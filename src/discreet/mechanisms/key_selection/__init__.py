"""Naming keys that nobody listed: rules that read how many people have each, and nothing else.

Their prices are in :mod:`discreet.accounting.key_selection`; how SQL uses them, in
``relational/planning/discovered_keys``.
"""

from discreet.mechanisms.key_selection.gaussian import ConcentratedThreshold, GaussianThreshold
from discreet.mechanisms.key_selection.geometric import GeometricThreshold
from discreet.mechanisms.key_selection.optimal import OptimalSelection
from discreet.mechanisms.key_selection.plan import plan_counts, plan_names
from discreet.mechanisms.key_selection.rule import KeptKeys, KeySelectionRule

__all__ = [
    "ConcentratedThreshold",
    "GaussianThreshold",
    "GeometricThreshold",
    "KeptKeys",
    "KeySelectionRule",
    "OptimalSelection",
    "plan_counts",
    "plan_names",
]
