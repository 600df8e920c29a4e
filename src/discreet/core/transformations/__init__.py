"""Transformations with proved stabilities: from tables to tables, parts and exact numbers.

Each checks its input space when built, needs no data to state its stability, and has no
data-dependent failure: what cannot be handled becomes None or is left out, row by row.
"""

from discreet.core.transformations.aggregates import count_rows, histogram, sum_rows
from discreet.core.transformations.cleaning import clamp_rows, drop_nulls, impute
from discreet.core.transformations.convert import (
    bound_contributions,
    bound_silos,
    change_one_to_add_remove,
)
from discreet.core.transformations.parts import partition, sample_and_aggregate, union
from discreet.core.transformations.rows import filter_rows, flat_map_rows, map_rows

__all__ = [
    "bound_contributions",
    "bound_silos",
    "change_one_to_add_remove",
    "clamp_rows",
    "count_rows",
    "drop_nulls",
    "filter_rows",
    "flat_map_rows",
    "histogram",
    "impute",
    "map_rows",
    "partition",
    "sample_and_aggregate",
    "sum_rows",
    "union",
]
